//! A queue to which some value was added twice, as a sequential object that knows the producer of
//! each value: the order of bulk results and the promise of `empty=count` are about producers.
//!
//! Where each producer has a queue, a removal chooses the producers of its values when it is
//! called, since the counts behind an "empty" answer are those of calls. From then on both promises
//! are rules of the object: no two choices need to be compared, and those that came to the same
//! queues are one state. A queue of one order has the producer of the first value decide, when it
//! is taken.

use std::collections::VecDeque;

use super::steps::call_of;
use crate::check::data::events::HistoryEvent;
use crate::check::data::small::Few;
use crate::check::data::values::{added_by, taken_by};
use crate::core::history::{History, Thread};
use crate::core::operation::Status;
use crate::model::{Bulk, Call, Empty, Kind, Model, Spec, removed_max};
use rustc_hash::{FxHashMap, FxHashSet};

/// A value and the thread that added it.
type Sourced = (i64, u32);

pub struct ProducerChoices<'a> {
    history: &'a History,
    spec: Spec,
    /// By value: the threads that add it, ascending.
    adders: FxHashMap<i64, Few<u32>>,
    /// The values that removals answered, and how many values may be removed in all.
    answered: FxHashSet<i64>,
    removed_max: usize,
    any_open: bool,
    /// By thread: whether it adds two values, at least, that results of several have. In runs
    /// alone: another's value is a run of its own.
    may_run: Vec<bool>,
}

/// What no removal will answer: nothing tells it apart.
const UNSEEN: Sourced = (0, u32::MAX);
/// The producer of a value of which nobody asks who added it.
const ANYBODY: u32 = u32::MAX - 1;

/// A removal has taken a value of a producer, and may have more of it to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Run {
    thread: u32,
    producer: u32,
    /// Another has taken one since: what the removal takes of it now is no run.
    is_over: bool,
}

/// What is inside, and what the calls under way have still to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queues {
    /// By producer; a single one where the queue has one order.
    queues: Vec<VecDeque<Sourced>>,
    /// How many were taken.
    taken: usize,
    /// By thread: what its removal has still to take, in the order of its result. The producer is
    /// not known where the queue has one order.
    rest: Vec<Vec<Sourced>>,
    /// By producer: whose removal has taken a value of it and has more of it to take. In runs
    /// alone, where the queue has no one order.
    holds: Vec<Option<u32>>,
    /// In runs alone, where the queue has one order: sorted.
    runs: Vec<Run>,
    /// By producer: how many more of its values were added than are being taken. Of counts alone.
    surplus: Vec<i64>,
    /// By thread: the producers of which there was a surplus at every instant of the call that will
    /// answer "empty".
    outnumbered: Vec<Vec<u32>>,
}

/// See [`ProducerChoices::may_run`].
fn may_run(history: &History) -> Vec<bool> {
    let mut together: FxHashSet<i64> = FxHashSet::default();
    for thread in &history.threads {
        let results = thread.operations().iter().map(|operation| taken_by(thread, operation));
        together.extend(results.filter(|values| values.len() > 1).flatten());
    }
    let adds_two = |thread: &Thread| {
        let added = thread.operations().iter().flat_map(|o| added_by(thread, o));
        added.filter(|value| together.contains(value)).nth(1).is_some()
    };
    history.threads.iter().map(adds_two).collect()
}

impl<'a> ProducerChoices<'a> {
    pub fn new(history: &'a History, spec: &Spec) -> ProducerChoices<'a> {
        let mut adders: FxHashMap<i64, Few<u32>> = FxHashMap::default();
        for (at, thread) in (0..).zip(&history.threads) {
            for value in thread.operations().iter().flat_map(|o| added_by(thread, o)) {
                let adders = adders.entry(*value).or_default();
                if adders.last() != Some(&at) {
                    adders.push(at);
                }
            }
        }
        let mut choices = ProducerChoices {
            history,
            spec: *spec,
            adders,
            answered: FxHashSet::default(),
            removed_max: 0,
            any_open: false,
            may_run: Vec::new(),
        };
        if spec.bulk == Bulk::Run {
            choices.may_run = may_run(history);
        }
        for id in history.ids() {
            let call = call_of(history, id);
            let is_open = call.op.removes() && call.status.is_open();
            let taken = if call.op.removes() { call.results } else { &[] };
            choices.answered.extend(taken);
            choices.any_open |= is_open;
            let most = if is_open { removed_max(&call) } else { taken.len() };
            choices.removed_max = choices.removed_max.saturating_add(most);
        }
        choices
    }

    fn counts(&self) -> bool {
        self.spec.empty == Empty::Count
    }

    fn has_one_order(&self) -> bool {
        self.spec.kind != Kind::FifoPerProducer
    }

    fn add(&self, state: &mut Queues, producer: u32, value: i64) {
        if !self.has_one_order() {
            return state.queues[producer as usize].push_back((value, producer));
        }
        // No removal takes the value: so many are before it, or no answer has it. Such values are
        // all the same, so that they share states.
        let is_behind = state.taken + state.queues[0].len() >= self.removed_max;
        let is_unseen = is_behind || !self.any_open && !self.answered.contains(&value);
        let may_run = self.may_run.get(producer as usize).is_some_and(|may_run| *may_run);
        let producer = if may_run { producer } else { ANYBODY };
        state.queues[0].push_back(if is_unseen { UNSEEN } else { (value, producer) });
    }

    /// Takes the first value of a queue, unless it is another removal's to take: `by` a removal
    /// with an answer, or an open one.
    fn take(&self, state: &Queues, queue: usize, by: Option<u32>) -> Option<(Sourced, Queues)> {
        let mut after = state.clone();
        let first = after.queues[queue].pop_front()?;
        after.taken += 1;
        let is_over = |run: &Run| (Some(run.thread), run.producer) == (by, first.1) && run.is_over;
        if after.runs.iter().any(is_over) {
            return None;
        }
        let others = after.runs.iter_mut().filter(|run| Some(run.thread) != by);
        others.filter(|run| run.producer == first.1).for_each(|run| run.is_over = true);
        let holder = state.holds.get(first.1 as usize).copied().flatten();
        (holder.is_none() || holder == by).then_some((first, after))
    }

    /// The removal of `thread` takes `value`, which must be the first, from whoever added it.
    fn take_first(&self, state: &Queues, thread: u32, value: i64) -> Option<Queues> {
        let (first, mut after) = self.take(state, 0, Some(thread))?;
        if first.0 != value || first == UNSEEN {
            return None;
        }
        after.rest[thread as usize].remove(0);
        if self.spec.bulk == Bulk::Run && first.1 != ANYBODY {
            let run = Run { thread, producer: first.1, is_over: false };
            if let Err(at) = after.runs.binary_search(&run) {
                after.runs.insert(at, run);
            }
            let Queues { runs, rest, .. } = &mut after;
            let may_add = |run: &Run, value: &i64| {
                self.adders.get(value).is_some_and(|adders| adders.contains(&run.producer))
            };
            runs.retain(|run| {
                rest[run.thread as usize].iter().any(|(value, _)| may_add(run, value))
            });
        }
        Some(after)
    }

    /// Every way in which the removal of `thread` takes `value`.
    fn take_chosen(&self, state: &Queues, thread: u32, value: i64, next: &mut Vec<Queues>) {
        if self.has_one_order() {
            next.extend(self.take_first(state, thread, value));
            return;
        }
        let rest = &state.rest[thread as usize];
        for (at, &(wanted, producer)) in rest.iter().enumerate() {
            let is_first = !rest[..at].iter().any(|(_, other)| *other == producer);
            if wanted != value || !is_first {
                continue;
            }
            let taken = self.take(state, producer as usize, Some(thread));
            let Some((first, mut after)) = taken else { continue };
            if first != (value, producer) {
                continue;
            }
            let rest = &mut after.rest[thread as usize];
            rest.remove(at);
            if let Some(holder) = after.holds.get_mut(producer as usize) {
                let has_more = rest.iter().any(|(_, other)| *other == producer);
                *holder = has_more.then_some(thread);
            }
            next.push(after);
        }
    }

    /// A removal without an answer takes any number of values up to `most`.
    fn take_any(&self, state: &Queues, most: usize, next: &mut Vec<Queues>) {
        let mut level = vec![state.clone()];
        for _ in 0..most {
            let mut lower: Vec<Queues> = Vec::new();
            for state in &level {
                let taken = (0..state.queues.len()).filter_map(|at| self.take(state, at, None));
                for (_, after) in taken {
                    if !lower.contains(&after) {
                        lower.push(after);
                    }
                }
            }
            if lower.is_empty() {
                break;
            }
            next.extend(lower.iter().cloned());
            level = lower;
        }
    }

    fn step_addition(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
        let mut more = state.clone();
        for value in call.added() {
            self.add(&mut more, call.thread, *value);
            if call.status.is_open() {
                next.push(more.clone());
            }
        }
        if !call.status.is_open() {
            next.push(more);
        }
    }
}

/// What events do to the queues, beyond the steps of their calls.
impl ProducerChoices<'_> {
    /// Appends the states after an event; if they were more than `most`, some of them, but more.
    pub fn event(&self, event: &HistoryEvent, state: &Queues, most: usize, next: &mut Vec<Queues>) {
        let (operation, at) = (event.operation, event.id.thread as usize);
        let thread = &self.history.threads[at];
        let answers_empty = operation.op.removes() && operation.status == Status::Empty;
        let mut after = state.clone();
        match event.returns {
            true if answers_empty => {
                if state.outnumbered.get(at).is_some_and(|producers| !producers.is_empty()) {
                    return;
                }
            }
            true => {
                let added = added_by(thread, operation).len() as i64;
                after.surplus.get_mut(at).into_iter().for_each(|surplus| *surplus += added);
            }
            false if answers_empty && self.counts() => {
                let all = 0..after.surplus.len() as u32;
                after.outnumbered[at] = all.filter(|p| after.surplus[*p as usize] > 0).collect();
            }
            false if operation.op.removes() && operation.status.is_open() => {
                let args = thread.args(operation);
                let most = args.first().map_or(1, |most| (*most).max(0));
                after.surplus.iter_mut().for_each(|surplus| *surplus -= most);
                after.look_again();
            }
            false => {
                let taken = taken_by(thread, operation);
                return self.choose(taken, at, state, most, next);
            }
        }
        next.push(after);
    }

    /// Every choice of producers for the values that a removal takes.
    fn choose(
        &self,
        taken: &[i64],
        thread: usize,
        state: &Queues,
        most: usize,
        next: &mut Vec<Queues>,
    ) {
        if self.has_one_order() {
            let mut after = state.clone();
            after.rest[thread] = taken.iter().map(|value| (*value, u32::MAX)).collect();
            return next.push(after);
        }
        let mut choices: Vec<Vec<Sourced>> = vec![Vec::new()];
        for value in taken {
            let adders = self.adders.get(value).map_or(&[][..], |adders| adders);
            let longer = choices.iter().flat_map(|choice| {
                // Of equal neighbours it makes no difference whose is whose.
                let last = choice.last().filter(|last| last.0 == *value);
                let from = adders.partition_point(|adder| last.is_some_and(|l| *adder < l.1));
                adders[from..].iter().map(|adder| {
                    let more = [(*value, *adder)];
                    choice.iter().copied().chain(more).collect::<Vec<Sourced>>()
                })
            });
            choices = longer.take(most + 1).collect();
        }
        for choice in choices {
            let mut after = state.clone();
            for (_, producer) in &choice {
                after.surplus.get_mut(*producer as usize).into_iter().for_each(|s| *s -= 1);
            }
            after.rest[thread] = choice;
            after.look_again();
            next.push(after);
        }
    }
}

impl Queues {
    /// Producers that have no surplus now had none at some instant of the calls under way.
    fn look_again(&mut self) {
        for producers in &mut self.outnumbered {
            producers.retain(|producer| self.surplus[*producer as usize] > 0);
        }
    }
}

impl Model<Call<'_>> for ProducerChoices<'_> {
    type State = Queues;

    fn init(&self) -> Queues {
        let threads = self.history.threads.len();
        let of = |has_them: bool| if has_them { threads } else { 0 };
        Queues {
            queues: vec![VecDeque::new(); if self.has_one_order() { 1 } else { threads }],
            taken: 0,
            rest: vec![Vec::new(); threads],
            holds: vec![None; of(self.spec.bulk == Bulk::Run && !self.has_one_order())],
            runs: Vec::new(),
            surplus: vec![0; of(self.counts())],
            outnumbered: vec![Vec::new(); of(self.counts())],
        }
    }

    fn step(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
        if call.status == Status::Empty {
            let is_empty = match call.queue {
                Some(queue) => state.queues[queue as usize].is_empty(),
                None => self.is_empty(state),
            };
            next.extend(is_empty.then(|| state.clone()));
        } else if !call.op.removes() {
            self.step_addition(state, call, next);
        } else if call.status.is_open() {
            self.take_any(state, removed_max(call), next);
        } else {
            let mut level = vec![state.clone()];
            for value in call.results {
                let mut after = Vec::new();
                for state in &level {
                    self.take_chosen(state, call.thread, *value, &mut after);
                }
                level = after;
            }
            next.append(&mut level);
        }
    }

    fn is_empty(&self, state: &Queues) -> bool {
        state.queues.iter().all(VecDeque::is_empty)
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Queues) -> usize {
        let inside = state.queues.iter().map(|queue| 32 + 16 * queue.len()).sum::<usize>();
        let rest = state.rest.iter().map(|rest| 24 + 16 * rest.len()).sum::<usize>();
        inside + rest + 32 * state.surplus.len() + 8 * (state.holds.len() + 2 * state.runs.len())
    }
}
