//! What a structure answered when the calls of a round were made one at a time, in several orders.
//! The orders are a tree of their common beginnings. An order names calls of clients, which are
//! made, or go on if they wait; a client may leave calls out. (The two parts of a call that waits
//! are the request and the follow-up of Scherer and Scott, DISC 2004.)

use std::collections::BTreeSet;
use std::sync::Mutex;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::operation::{Op, Status};

/// A beginning of an order: the number of its last call, 0 before the first.
pub type Beginning = u32;

/// A call of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientCall {
    pub client: u32,
    /// Its number among those of the client, from 0.
    pub index: u32,
}

/// A call with what it answered after a beginning, where it was made or went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequentialCall {
    pub client: u32,
    pub index: u32,
    pub op: Op,
    pub args: Vec<i64>,
    /// [`Status::Pending`] where the call waits: for another thread, or until it can be made.
    /// [`Status::Unknown`] where it is not known, and is not that of the history.
    pub status: Status,
    pub results: Vec<i64>,
    /// The clients whose calls wait, and could go on after this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awake: Vec<u32>,
}

impl SequentialCall {
    pub fn of(&self) -> ClientCall {
        ClientCall { client: self.client, index: self.index }
    }

    pub fn waits(&self) -> bool {
        self.status == Status::Pending
    }
}

/// The runs of one round, and which others would be needed to decide it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(Beginning, SequentialCall)>", into = "Vec<(Beginning, SequentialCall)>")]
pub struct SequentialRuns {
    /// By number, from 1: what was before, and the call.
    calls: Vec<(Beginning, SequentialCall)>,
    next: FxHashMap<(Beginning, ClientCall), Beginning>,
    /// Orders that were asked for and not run.
    asked: Mutex<BTreeSet<Vec<ClientCall>>>,
}

impl SequentialRuns {
    /// The call that ended this beginning; none before the first.
    pub fn call(&self, beginning: Beginning) -> Option<&SequentialCall> {
        Some(&self.calls.get((beginning as usize).checked_sub(1)?)?.1)
    }

    /// The calls of a beginning, the first first.
    pub fn calls(&self, beginning: Beginning) -> Vec<&SequentialCall> {
        let (mut calls, mut at) = (Vec::new(), beginning);
        while let Some(call) = self.call(at) {
            calls.push(call);
            at = self.calls[at as usize - 1].0;
        }
        calls.reverse();
        calls
    }

    /// What comes after a beginning if this call is made next, or goes on. Where no run knows,
    /// notes the order as one that was asked for.
    pub fn after(
        &self,
        beginning: Beginning,
        of: ClientCall,
        call: (Op, &[i64]),
    ) -> Option<Beginning> {
        // Of a part of a history the client may have made other calls before.
        let is_same =
            |next: &Beginning| self.call(*next).is_some_and(|of| (of.op, &of.args[..]) == call);
        let known = self.next.get(&(beginning, of)).copied().filter(is_same);
        if known.is_none() {
            let before = self.calls(beginning).into_iter().map(SequentialCall::of);
            self.asked().insert(before.chain([of]).collect());
        }
        known
    }

    /// Whether a run has this beginning.
    pub fn has(&self, order: &[ClientCall]) -> bool {
        let step = |at: Beginning, of: &ClientCall| self.next.get(&(at, *of)).copied();
        order.iter().try_fold(0, step).is_some()
    }

    /// Adds a run: its calls in their order.
    pub fn add(&mut self, run: impl IntoIterator<Item = SequentialCall>) {
        let mut at = 0;
        for call in run {
            let next = self.calls.len() as Beginning + 1;
            let known = *self.next.entry((at, call.of())).or_insert(next);
            if known == next {
                self.calls.push((at, call));
            }
            at = known;
        }
    }

    /// How many calls were made in all, those of common beginnings once.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, BTreeSet<Vec<ClientCall>>> {
        self.asked.lock().expect("no thread panics while it holds it")
    }

    /// The result of a search, and how many orders it asked for that were not run.
    pub fn while_asked<T>(&self, search: impl FnOnce() -> T) -> (T, usize) {
        let before = self.take_asked();
        let found = search();
        let mut asked = self.asked();
        let count = asked.len();
        asked.extend(before);
        (found, count)
    }

    /// Takes the orders that were asked for and not run since the last time.
    pub fn take_asked(&self) -> BTreeSet<Vec<ClientCall>> {
        std::mem::take(&mut self.asked())
    }
}

impl From<Vec<(Beginning, SequentialCall)>> for SequentialRuns {
    /// A call whose beginning does not come before it is dropped: no order leads to it.
    fn from(calls: Vec<(Beginning, SequentialCall)>) -> SequentialRuns {
        let mut runs = SequentialRuns::default();
        for (number, (before, call)) in (1..).zip(&calls) {
            if *before < number {
                runs.next.entry((*before, call.of())).or_insert(number);
            }
        }
        runs.calls = calls;
        runs
    }
}

impl From<SequentialRuns> for Vec<(Beginning, SequentialCall)> {
    fn from(runs: SequentialRuns) -> Vec<(Beginning, SequentialCall)> {
        runs.calls
    }
}

impl Clone for SequentialRuns {
    /// Nothing was asked of the copy.
    fn clone(&self) -> SequentialRuns {
        SequentialRuns {
            calls: self.calls.clone(),
            next: self.next.clone(),
            asked: Mutex::default(),
        }
    }
}

impl PartialEq for SequentialRuns {
    /// Whether they have the same calls.
    fn eq(&self, other: &SequentialRuns) -> bool {
        self.calls == other.calls
    }
}
