//! What a structure answered when the calls of a round were made one at a time, in several orders.
//! The orders are a tree of their common beginnings. An order names calls of clients, which are
//! made, or go on if they wait; a client may leave calls out. (The two parts of a call that waits
//! are the request and the follow-up of Scherer and Scott, DISC 2004.)
//!
//! A model may make a call in several ways, which are numbered.
//!
//! Where a model says its state, or the memory of a structure is known, beginnings that lead to
//! the same are one, if each client has come as far: what comes after them is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::operation::{Op, Status};
use super::random::Random;

/// A beginning of an order: the number of its last call, 0 before the first.
pub type Beginning = u32;

/// A call of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientCall {
    pub client: u32,
    /// Its number among those of the client, from 0.
    pub index: u32,
    /// In which way the model makes it, where there are several: from 0.
    pub choice: u32,
}

/// A call with what it answered after a beginning, where it was made or went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequentialCall {
    pub client: u32,
    pub index: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub choice: u32,
    /// The choices after 0 that there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub choice_last: u32,
    pub op: Op,
    pub args: Vec<i64>,
    /// [`Status::Pending`] where the call waits: for another thread, or until it can be made.
    /// [`Status::Unknown`] where it is not known, and is not that of the history.
    pub status: Status,
    pub results: Vec<i64>,
    /// It waits for nothing: what it did so far is a step, and others' may come before the next.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_step: bool,
    /// The clients whose calls wait, and could go on after this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awake: Vec<u32>,
    /// The state after this, as text, where the model says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// A hash of all that decides later answers, where no call waits and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

impl SequentialCall {
    pub fn of(&self) -> ClientCall {
        ClientCall { client: self.client, index: self.index, choice: self.choice }
    }

    pub fn waits(&self) -> bool {
        self.status == Status::Pending
    }

    /// Whether the other is the same call, with the same answer.
    pub fn agrees(&self, other: &SequentialCall) -> bool {
        let told = |of: &SequentialCall| (of.of(), of.choice_last, of.op, of.status, of.is_step);
        told(self) == told(other)
            && (&self.args, &self.results, &self.awake)
                == (&other.args, &other.results, &other.awake)
    }

    /// What tells it apart from others after which as much was done; none where nothing does.
    fn state(&self) -> Option<State> {
        // A call that waits in vain has not come further.
        let said = self.state.clone().filter(|_| !self.waits()).map(State::Said);
        said.or(self.memory.map(State::Memory))
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    Said(String),
    Memory(u64),
}

/// What tells apart beginnings of which the state is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Known {
    state: State,
    /// The number of each client's last call, and whether it waits.
    progress: Vec<(u32, u32, bool)>,
    awake: Vec<u32>,
}

/// The runs of one round, and which others would be needed to decide it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(Beginning, SequentialCall)>", into = "Vec<(Beginning, SequentialCall)>")]
pub struct SequentialRuns {
    /// By number, from 1: what was before, and the call.
    calls: Vec<(Beginning, SequentialCall)>,
    /// By number, from 1: the beginning that the call ends, whose number is that of the first such.
    ended: Vec<Beginning>,
    /// The number of the call that is made after a beginning.
    next: FxHashMap<(Beginning, ClientCall), u32>,
    /// Beginnings of which the state is known.
    known: FxHashMap<Known, Beginning>,
    /// Calls were answered otherwise after one beginning: what seemed to be equal is not.
    disagree: bool,
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
    ) -> Option<(Beginning, &SequentialCall)> {
        let made = self.next.get(&(beginning, of)).map(|number| *number as usize - 1);
        let made = made.map(|at| (self.ended[at], &self.calls[at].1));
        // Of a part of a history the client may have made other calls before.
        let known = made.filter(|(_, made)| (made.op, &made.args[..]) == call);
        if known.is_none() {
            let before = self.calls(beginning).into_iter().map(SequentialCall::of);
            self.asked().insert(before.chain([of]).collect());
        }
        known
    }

    /// Whether a run has this beginning.
    pub fn has(&self, order: &[ClientCall]) -> bool {
        let step = |at: Beginning, of: &ClientCall| {
            self.next.get(&(at, *of)).map(|number| self.ended[*number as usize - 1])
        };
        order.iter().try_fold(0, step).is_some()
    }

    /// Whether some call took effect in several steps.
    pub fn have_steps(&self) -> bool {
        self.calls.iter().any(|(_, call)| call.is_step)
    }

    /// Adds a run: its calls in their order.
    pub fn add(&mut self, run: impl IntoIterator<Item = SequentialCall>) {
        let mut at = 0;
        for call in run {
            let number = match self.next.get(&(at, call.of())) {
                None => self.push(at, call),
                Some(number) => {
                    self.disagree |= !self.calls[*number as usize - 1].1.agrees(&call);
                    *number
                }
            };
            at = self.ended[number as usize - 1];
        }
    }

    /// Whether runs that came to the same state, so far as it is known, went on differently.
    pub fn disagree(&self) -> bool {
        self.disagree
    }

    /// Orders of which each call is known after what is one with the calls before it; few of them
    /// were run as a whole. To run them shows whether that is right.
    pub fn draw(&self, random: &mut Random, count: usize) -> Vec<Vec<ClientCall>> {
        let mut next: BTreeMap<Beginning, Vec<(ClientCall, Beginning)>> = BTreeMap::new();
        for ((before, call), number) in &self.next {
            next.entry(*before).or_default().push((*call, self.ended[*number as usize - 1]));
        }
        next.values_mut().for_each(|calls| calls.sort_unstable());
        let mut order = || {
            let (mut order, mut at) = (Vec::new(), 0);
            while let Some(calls) = next.get(&at) {
                let (call, after) = calls[random.below(calls.len() as u64) as usize];
                order.push(call);
                at = after;
            }
            order
        };
        (0..count).map(|_| order()).collect()
    }

    /// Appends a call that comes after this beginning, and gives its number.
    fn push(&mut self, before: Beginning, call: SequentialCall) -> u32 {
        let number = self.calls.len() as u32 + 1;
        let state = call.state();
        self.next.entry((before, call.of())).or_insert(number);
        self.calls.push((before, call));
        self.ended.push(number);
        if let Some(state) = state {
            let known = self.known(number, state);
            let first = *self.known.entry(known).or_insert(number);
            *self.ended.last_mut().expect("pushed above") = first;
        }
        number
    }

    /// What tells apart this beginning, with this state.
    fn known(&self, beginning: Beginning, state: State) -> Known {
        let calls = self.calls(beginning);
        let mut last: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
        for call in &calls {
            last.insert(call.client, (call.index, call.waits()));
        }
        let awake = calls.last().map(|call| call.awake.clone()).unwrap_or_default();
        let progress = last.into_iter().map(|(client, (index, waits))| (client, index, waits));
        Known { state, progress: progress.collect(), awake }
    }

    /// The calls that led to what another beginning had led to, by that beginning.
    pub fn repeated(&self) -> impl Iterator<Item = Beginning> {
        let all = (1..).zip(self.ended.iter().copied());
        all.filter(|(number, ended)| number != ended).map(|(_, ended)| ended)
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
        for (number, (before, call)) in (1..).zip(calls) {
            if before < number {
                runs.push(before, call);
            } else {
                runs.calls.push((0, call));
                runs.ended.push(number);
            }
        }
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
            ended: self.ended.clone(),
            next: self.next.clone(),
            known: self.known.clone(),
            disagree: self.disagree,
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
