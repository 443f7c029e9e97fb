//! What is wrong in a finding: a violation of the model, or a fault of the target.

use serde::{Deserialize, Serialize};

use super::interleaving::{Action, Call, Memory, Place};
use super::locations::Occurrence;
use crate::check::{Explanation, Partials};
use crate::core::history::{History, OperationId};
use crate::core::operation::Status;
use crate::model::Spec;
use crate::process::fault::{Exception, Fault, FaultKind, Hang};
use crate::trace::area::Stage;
use crate::trace::frame::{Deed, When, Who};

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// No order of the operations explains the answers.
    Violation {
        rule: String,
        explanation: Explanation,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        circumstance: Option<Circumstance>,
        operations: Vec<OperationId>,
        /// How far the history can be explained; none if the violation is not one of order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partials: Option<Box<Partials>>,
        /// The models that promise less than the model, and allow the history.
        #[serde(default, rename = "allowed_by", skip_serializing_if = "Vec::is_empty")]
        weaker: Vec<Spec>,
    },
    /// The target ended its process, hangs, or misused memory.
    Fault {
        kind: FaultKind,
        stage: Stage,
        /// The thread at fault, if it is known and only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u32>,
        /// The number of the thread that drains.
        drain: u32,
        /// Of a crash: the address that could not be accessed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<u64>,
        /// Of a crash: its source line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<Box<Place>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hang: Option<Hang>,
        /// Steps of the controlled engine before the fault.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<u64>,
        /// The events that led to the fault, the fault itself first, where the engine detected it.
        /// Of a hang of native threads: where those are that the target holds up.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<FaultPlace>,
        /// The exception that ended the process, and the call that it came out of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exception: Option<Box<Escaped>>,
        /// What the target printed about the fault.
        message: Option<String>,
    },
}

/// An exception that nobody caught.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Escaped {
    #[serde(flatten)]
    pub exception: Exception,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

/// What must be known about the history of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circumstance {
    /// Its calls did not overlap.
    NoOverlap,
    /// Of the first calls that returned, so many were pruned while the round was checked.
    Pruned { returned: u64, pruned: u64 },
}

/// An event that led to a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultPlace {
    pub who: Who,
    pub deed: Deed,
    /// The call during which it happened, if that is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The name of its memory, if that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Its source line, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Place>,
    /// Of a data race, once it is explained: how its thread synchronized last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronized: Option<Box<Synchronized>>,
}

/// What a thread did last by which other threads may be ordered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Synchronized {
    /// None: it has not.
    pub did: Option<Action>,
    pub line: Option<Place>,
}

impl Failure {
    /// `lines`: the source lines of the fault and of its places, with their text.
    pub fn fault(fault: &Fault, lines: Vec<Option<Place>>) -> Failure {
        let mut lines = lines.into_iter();
        let line = lines.next().flatten().map(Box::new);
        let places = fault.places.iter().map(|place| FaultPlace {
            who: place.who,
            deed: place.deed,
            call: call_of(&fault.history, place.who, place.deed),
            memory: None,
            line: lines.next().flatten(),
            synchronized: None,
        });
        Failure::Fault {
            kind: fault.kind,
            stage: fault.stage,
            thread: fault.thread,
            drain: fault.threads,
            address: fault.address,
            line,
            hang: fault.hang,
            steps: fault.steps.as_ref().map(|steps| steps.steps),
            places: places.collect(),
            exception: fault.exception.clone().map(|exception| {
                let call = fault.thread.and_then(|thread| last_call(&fault.history, thread));
                Box::new(Escaped { exception, call })
            }),
            message: fault.message(),
        }
    }

    /// The known source lines of a fault, its own first.
    pub fn lines(&self) -> Vec<(Occurrence<'_>, &Place)> {
        let Failure::Fault { kind, line, places, .. } = self else { return Vec::new() };
        let crash = line.iter().map(|line| (Occurrence::Crashed, &**line));
        let at = |place| Occurrence::Place(place, *kind);
        let places = places.iter().filter_map(|place| Some((at(place), place.line.as_ref()?)));
        crash.chain(places).collect()
    }
}

/// The call during which a place was: where that may have been earlier, only one of a data race has
/// its number.
fn call_of(history: &History, who: Who, deed: Deed) -> Option<Call> {
    let (Deed::Raced { .. }, When::InCall(number)) = (deed, who.when) else {
        return call_under_way(history, who);
    };
    let threads = history.threads.iter().filter(|own| own.client == who.thread);
    let mut calls = threads.flat_map(|own| own.operations().iter().map(move |made| (own, made)));
    let (own, made) = calls.nth(number as usize - 1)?;
    Some(Call { op: made.op, args: own.args(made).to_vec() })
}

/// The last call of the thread, if it is this one and has not returned.
fn call_under_way(history: &History, who: Who) -> Option<Call> {
    let When::InCall(number) = who.when else { return None };
    let threads = history.threads.iter().filter(|own| own.client == who.thread);
    let calls = threads.map(|own| own.operations().len()).sum::<usize>();
    last_call(history, who.thread).filter(|_| calls == number as usize)
}

/// The last call of the thread, if it has not returned.
fn last_call(history: &History, thread: u32) -> Option<Call> {
    let own = history.threads.iter().filter(|own| own.client == thread);
    let mut last = own.filter_map(|own| Some((own, own.operations().last()?)));
    let (own, last) = last.find(|(_, last)| last.status == Status::Pending)?;
    Some(Call { op: last.op, args: own.args(last).to_vec() })
}
