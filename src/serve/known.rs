//! A user's model of operations that are known by numbers, as a program is asked about them.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::question::Told;
use super::wanted::Values;
use crate::core::history::OperationId;
use crate::core::journal::Journal;
use crate::model::Model;

pub struct Whole<O> {
    pub operation: O,
    pub values: Values,
    pub steps: u32,
}

/// An operation that is known by the number of its first step, or one step.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    Whole(u32),
    Step(u32),
}

/// The model of operations that are known by numbers, before a history of these.
pub struct ByNumber<'s, O, M> {
    pub model: &'s M,
    pub wholes: &'s FxHashMap<u32, Whole<O>>,
    pub steps: &'s [O],
    /// How many were taken.
    pub taken: &'s AtomicU64,
    pub history: Vec<&'s O>,
}

impl<O: Debug, M: Model<O>> ByNumber<'_, O, M> {
    fn of(&self, known: &Known) -> &O {
        match known {
            Known::Whole(first) => &self.wholes[first].operation,
            Known::Step(number) => &self.steps[*number as usize],
        }
    }
}

impl<O: Debug, M: Model<O>> Model<Known> for ByNumber<'_, O, M> {
    type State = M::State;

    fn init(&self) -> M::State {
        self.model.init_for(&mut self.history.iter().copied())
    }
    fn step(&self, state: &M::State, operation: &Known, next: &mut Vec<M::State>) {
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.model.step(state, self.of(operation), next);
    }
    fn is_empty(&self, state: &M::State) -> bool {
        self.model.is_empty(state)
    }
    fn part(&self, operation: &Known) -> Option<impl Eq + Hash + Debug> {
        self.model.part(self.of(operation))
    }
    fn reads(&self, operation: &Known) -> bool {
        self.model.reads(self.of(operation))
    }
    fn at_once(&self, state: &M::State, step: &Known) -> bool {
        self.model.at_once(state, self.of(step))
    }
    fn is_too_late(&self, state: &M::State, operation: &Known) -> bool {
        self.model.is_too_late(state, self.of(operation))
    }
    fn may_wait(&self, state: &M::State, due: &[&Known], open: &[&Known], waits: &mut [bool]) {
        let of = |known: &[&Known]| known.iter().map(|known| self.of(known)).collect::<Vec<_>>();
        self.model.may_wait(state, &of(due), &of(open), waits);
    }
    fn split(&self, operation: &Known, steps: &mut Vec<Known>) {
        let Known::Whole(first) = *operation else { return };
        let count = self.wholes[&first].steps;
        steps.extend((first..first + count).map(Known::Step));
    }
    fn repeats(&self, step: &Known) -> bool {
        self.model.repeats(self.of(step))
    }
    fn describe_state(&self, state: &M::State) -> String {
        self.model.describe_state(state)
    }
    fn weight(&self, state: &M::State) -> usize {
        self.model.weight(state)
    }
}

/// The operations by numbers, their names as they were asked for, and the state before.
pub fn journal(told: Told) -> (Journal<Known>, impl Fn(OperationId) -> OperationId, u32) {
    let (mut journal, mut named) = (Journal::default(), FxHashMap::default());
    journal.drained = told.drained;
    for (thread, index, step, start, end) in told.operations {
        let id = journal.push(thread, Known::Whole(step), start, end).expect("as it was recorded");
        named.insert(id, OperationId { thread, index });
    }
    (journal, move |id| named[&id], told.state)
}
