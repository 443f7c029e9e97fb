//! A finding: a violation or a fault, with all that is needed to see it again.
//! It has a directory of its own, named by its signature, so that a bug found twice is one finding.
//!
//! - `action`: The actions of threads, as types: calls, answers, and accesses with their memory and
//!   values.
//! - `cross_engine`: How other engines reproduced a finding that rr recorded.
//! - `failure`: What is wrong in a finding: a violation of the model, or a fault of the target.
//! - `identity`: Decides whether two findings are the same one, of which the later may be smaller.
//! - `interleaving`: The interleaving of a finding: a table of what its threads did, step by step.
//! - `known/`: Known issues: decides by the patterns of a file which findings are known.
//! - `locations`: The source lines of a finding, the most telling first.
//! - `shown`: Chooses the operations of a finding that its report shows.
//! - `shrunk`: How a finding was shrunk: its size before and after, and how it was found.
//! - `signature`: The signature of a finding, which two sightings of one bug most likely share.
//! - `source_text`: Reads the text of the source lines that a finding names, if the files exist.
//! - `sources`: The user's files that a finding's target was compiled from, by which they are found
//!   again where the finding lies now, and by which a change shows.
//! - `stored`: The directory of a finding: its files, and how they are written and read.
//! - `trust`: Decides which findings were made here: a keyed mark shows it.
pub mod action;
pub mod cross_engine;
mod failure;
mod identity;
pub mod interleaving;
pub mod known;
pub mod locations;
mod shown;
mod shrunk;
pub mod signature;
pub mod source_text;
pub mod sources;
mod stored;
pub mod trust;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::check::{self, Limits, Witness};
use crate::core::files;
use crate::core::history::History;
use crate::core::plan::{Plan, RacePlaces};
use crate::core::random::mix;
use crate::model::Spec;
use crate::process::fault::Fault;
use crate::process::rr::locate::{CallMoments, Moment};
use cross_engine::{CrossEngine, RecordedAs};
use interleaving::Place;
use signature::Signature;
use sources::Sources;

pub use failure::{Circumstance, Escaped, Failure, FaultPlace, Synchronized};
pub use identity::Identity;
pub use shrunk::{Shrunk, Size};
pub use stored::{JSON_FILE, ORIGINAL_FILE, PAGE_FILE, REPORT_FILE, SCRIPT_FILE, Stored};

/// Raised whenever what is stored changes.
const FINDING_VERSION: u32 = 3;

/// The known issue that a finding shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownAs {
    pub name: String,
    /// A link to its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The adapter accepts it; no file has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_adapter: bool,
}

/// "lost value (https://example.org/1)".
impl fmt::Display for KnownAs {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let issue = self.issue.as_ref().map_or(String::new(), |issue| format!(" ({issue})"));
        write!(f, "{}{issue}", self.name)
    }
}

/// A recording by rr.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Limit of ticks in a time slice; 0: rr's own.
    pub ticks: u64,
    /// Where the operations of the report begin, in the report's order.
    pub places: Vec<CallMoments>,
    /// Its end, which is the moment of a fault.
    pub last: Option<Moment>,
    /// Of a hang, the last event at which every thread was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_end: Option<u64>,
    /// Why these are not known.
    pub trouble: Option<String>,
}

impl Recorded {
    /// Whether the recording was searched for the operations.
    pub fn is_located(&self) -> bool {
        !self.places.is_empty() || self.last.is_some()
    }
}

/// What is stored as `finding.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub version: u32,
    /// The name of its directory: target and hash of the signature.
    #[serde(deserialize_with = "files::name")]
    pub name: String,
    /// Equal for two sightings of one bug, as far as one can tell.
    #[serde(flatten, with = "signature::with_text")]
    pub signature: Signature,
    pub what: Failure,
    pub model: String,
    pub plan: Plan,
    /// What its target was compiled from; none of a bundled adapter, or if that is not known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
    pub round: u64,
    /// What the run had done at the first sighting.
    pub after_rounds: u64,
    pub after_seconds: f64,
    pub sightings: u64,
    /// Whether a rerun of its round in a fresh process showed it again; none if there was no rerun,
    /// as with native threads (see [`Shrunk::measured`]).
    #[serde(default)]
    pub confirmed: Option<bool>,
    /// Where it is not confirmed: the seconds in which neither its calls nor short rounds of its
    /// plan showed it again, if they were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_for: Option<f64>,
    /// Whether the controlled engine, too, can run its target.
    #[serde(default)]
    pub can_be_controlled: bool,
    /// The known issue that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownAs>,
    /// Of a finding that is none itself: the data races in its round, most likely its cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<Signature>,
    /// Of a data race: those before it in its round, and others that were known then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races_known: Vec<RacePlaces>,
    /// The directory of the known finding that it shows again, which was replayed before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<String>,
    /// Of the rr engine: its recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Of the rr engine: what other engines showed with its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_engine: Option<CrossEngine>,
    /// The recorded finding that this one reproduces with another engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_as: Option<RecordedAs>,
    /// How it was shrunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Box<Shrunk>>,
}

impl Finding {
    pub fn violation(
        witness: &Witness,
        circumstance: Option<Circumstance>,
        history: &History,
        plan: &Plan,
        model: &str,
    ) -> Finding {
        let operations = witness.operations.iter().map(|id| history.operation(*id).op);
        let signature = Signature::violation(witness.rule, operations);
        let what = Failure::Violation {
            rule: witness.rule.to_string(),
            explanation: *witness.explanation.clone(),
            circumstance,
            operations: witness.operations.clone(),
            partials: None,
            weaker: Vec::new(),
        };
        Finding::new(what, signature, plan, model)
    }

    /// Adds how far the history of a violation can be explained, and which weaker promises allow
    /// it.
    pub fn add_evidence(&mut self, history: &History, model: &Spec, limits: &Limits) {
        if let Failure::Violation { operations, partials, weaker, .. } = &mut self.what {
            *partials = check::partials(history, model, operations, limits).ok().map(Box::new);
            *weaker = check::weaker(history, model, limits);
        }
    }

    /// `lines`: see [`Failure::fault`].
    pub fn fault(fault: &Fault, lines: Vec<Option<Place>>, plan: &Plan, model: &str) -> Finding {
        Finding::new(Failure::fault(fault, lines), Signature::fault(fault), plan, model)
    }

    /// The signature with which it was found, before it was shrunk.
    pub fn first_signature(&self) -> &Signature {
        self.shrunk.as_ref().map_or(&self.signature, |shrunk| &shrunk.signature)
    }

    fn new(what: Failure, signature: Signature, plan: &Plan, model: &str) -> Finding {
        let name = format!("{}-{:04x}", plan.target_name(), hash(&signature.to_string()) & 0xffff);
        Finding {
            version: FINDING_VERSION,
            name,
            signature,
            what,
            model: model.to_string(),
            plan: plan.clone(),
            sources: Sources::default(),
            round: 0,
            after_rounds: 0,
            after_seconds: 0.0,
            sightings: 1,
            confirmed: None,
            missed_for: None,
            can_be_controlled: false,
            known: None,
            races: Vec::new(),
            races_known: Vec::new(),
            regression: None,
            recorded: None,
            cross_engine: None,
            recorded_as: None,
            shrunk: None,
        }
    }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::fault::FaultKind;

    #[test]
    fn a_finding_whose_name_leads_elsewhere_is_refused() {
        let fault = Fault::new(FaultKind::Signal(libc::SIGABRT), String::new(), 3);
        let finding = Finding::fault(&fault, Vec::new(), &Plan::new("q", 1), "fifo");
        let read = |name: &str| {
            let named = Finding { name: name.to_string(), ..finding.clone() };
            let text = serde_json::to_string(&named).expect("all is text");
            serde_json::from_str::<Finding>(&text).is_ok()
        };
        assert!(read("q-12ab") && read("q-12ab/smaller"));
        assert!(!["../x", "/x", "a/../b", "..", "."].into_iter().any(read));
    }

    #[test]
    fn two_sightings_of_one_crash_have_one_signature() {
        let fault = |output: &str| {
            let fault = Fault::new(FaultKind::Signal(libc::SIGABRT), output.to_string(), 3);
            Finding::fault(&fault, Vec::new(), &Plan::new("dir/queue.cpp", 1), "fifo")
        };
        let (one, two) =
            (fault("q: q.h:11: f: Assertion `a'"), fault("q: q.h:8: f: Assertion `a'"));
        assert_eq!(one.name, two.name);
        assert!(one.name.starts_with("queue-"));
        assert_ne!(one.name, fault("q: q.h:8: f: Assertion `b'").name);
    }
}
