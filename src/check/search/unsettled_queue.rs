//! A queue as a sequential object that settles the order of its values as late as it can: when one
//! is taken. Until then only what is surely older counts: how the additions that overlap took turns
//! is no state, so that a search does not try all their orders.
//!
//! A value is older than another if its addition had returned before that of the other was called,
//! or if it comes first in one bulk call; where each producer has a queue, if one producer added it
//! first. Where one of the `k` oldest may be taken, others can be older than what is taken: those
//! that surely are, fewer than `k`. From then on they are settled, the oldest of all. It would not
//! help to settle more: what need not be older can as well be younger, in every order that follows.
//! The order of settled values does not matter, since each may be taken at once.
//!
//! A removal without an answer is a number of slots: values that it may take. One takes a slot when
//! it is in the way of an answer, no earlier; but where values are counted, when it is removed.
//!
//! Where an answer says how many values are inside, it matters which had come in by then: these are
//! older than all that come in later (epochs).
//!
//! Of an atomic bulk call the values are neighbours, which this object does not know; each
//! producer's are in any case.

use super::early::counts_slots;
use super::leaving::Leaving;
use crate::check::data::events::Events;
use crate::check::data::small::Few;
use crate::check::data::values::{added_by, taken_by};
use crate::core::history::History;
use crate::core::operation::Status;
use crate::model::{Bulk, Call, Kind, Model, Spec, removed_max, taken_up_to};
use rustc_hash::FxHashMap;

/// No producer in particular.
const ANYBODY: u32 = u32::MAX;

pub struct UnsettledQueue {
    /// What the number of values inside promises.
    spec: Spec,
    /// Whether removals without an answer are slots.
    counts_slots: bool,
    k: usize,
    has_one_order: bool,
    /// Whether values of a bulk call that are next to each other are more than each of them.
    has_runs: bool,
    /// By thread and operation: which call that adds values it is, in the order of their starts.
    calls: Vec<Vec<u32>>,
    /// By call: how many calls start before it returns, and its thread.
    ends: Vec<u32>,
    producers: Vec<u32>,
    /// By value: how often it is added, without the times that a removal has it for an answer.
    surplus: FxHashMap<i64, i64>,
    /// How many more are added than are an answer.
    untaken: usize,
    /// When the values leave, where values are counted and one tells what others may do.
    leaving: Option<Leaving>,
}

/// A value inside, and the call that added it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Added {
    /// How often the values were counted before, as far as that orders those that are inside.
    epoch: u32,
    call: u32,
    value: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inside {
    /// Values that are older than all others, fewer than `k` besides those that are gone; sorted.
    settled: Few<i64>,
    /// How many of the settled values removals without an answer have taken, whichever they are.
    gone: u32,
    /// How many values removals without an answer may take, those that are gone among them.
    slots: u32,
    /// By epoch and call; of one call in its order.
    others: Vec<Added>,
    /// That of the values that come in next.
    epoch: u32,
}

impl UnsettledQueue {
    pub fn new(history: &History, spec: &Spec) -> UnsettledQueue {
        let counts = history.threads.iter().map(|thread| thread.operations().len());
        let mut queue = UnsettledQueue {
            spec: *spec,
            counts_slots: counts_slots(history, spec),
            k: if spec.kind == Kind::FifoRelaxed { spec.k as usize } else { 1 },
            has_one_order: spec.kind != Kind::FifoPerProducer,
            has_runs: spec.bulk == Bulk::Run,
            calls: counts.map(|count| vec![u32::MAX; count]).collect(),
            ends: Vec::new(),
            producers: Vec::new(),
            surplus: FxHashMap::default(),
            untaken: 0,
            leaving: Leaving::new(history, spec),
        };
        for event in Events::new(history) {
            let thread = &history.threads[event.id.thread as usize];
            let call = &mut queue.calls[event.id.thread as usize][event.id.index as usize];
            if event.returns {
                let started = queue.ends.len() as u32;
                queue.ends.get_mut(*call as usize).into_iter().for_each(|end| *end = started);
                continue;
            }
            for value in taken_by(thread, event.operation) {
                *queue.surplus.entry(*value).or_insert(0) -= 1;
            }
            for value in added_by(thread, event.operation) {
                *queue.surplus.entry(*value).or_insert(0) += 1;
            }
            if event.operation.op.adds() {
                *call = queue.ends.len() as u32;
                queue.ends.push(u32::MAX);
                queue.producers.push(event.id.thread);
            }
        }
        queue.untaken = queue.surplus.values().map(|surplus| (*surplus).max(0) as usize).sum();
        queue
    }

    /// The values of a call come in.
    pub fn add(&self, state: &Inside, call: &Call) -> Inside {
        let number = self.calls[call.id.thread as usize][call.id.index as usize];
        let mut after = state.clone();
        let epoch = after.epoch;
        let at = after.others.partition_point(|a| (a.epoch, a.call) <= (epoch, number));
        let values = call.added().iter();
        let added = values.map(|value| Added { epoch, call: number, value: *value });
        after.others.splice(at..at, added);
        after
    }

    /// The values are counted: what comes in from now on is younger than all that is inside. None
    /// where some of that leaves too early.
    fn counted(&self, state: &Inside, call: &Call) -> Option<Inside> {
        let values = || state.settled.iter().chain(state.others.iter().map(|added| &added.value));
        if let Some(leaving) = &self.leaving
            && !leaving.allows(values(), call.id)
        {
            return None;
        }
        let mut after = state.clone();
        after.epoch += u32::from(self.has_one_order);
        after.number_epochs();
        Some(after)
    }

    /// Whether a value is surely older than one of another call.
    fn is_before(&self, older: &Added, younger: &Added) -> bool {
        let (call, later) = (older.call, younger.call);
        match self.has_one_order {
            true => {
                let came_first = older.epoch < younger.epoch && call != later;
                came_first || self.ends[call as usize] <= later
            }
            false => {
                call < later && self.producers[call as usize] == self.producers[later as usize]
            }
        }
    }

    /// The value at a place of `others` is taken; all that are older are settled, or gone where
    /// they would be too many.
    fn take(&self, state: &Inside, at: usize) -> Option<Inside> {
        let taken = &state.others[at];
        let mut after = Inside { others: Vec::new(), ..state.clone() };
        for (place, other) in state.others.iter().enumerate() {
            if self.is_before(other, taken) || other.call == taken.call && place < at {
                after.settled.push(other.value);
            } else if place != at {
                after.others.push(*other);
            }
        }
        let too_many = (after.settled.len() as u32).saturating_sub(self.k as u32 - 1);
        after.gone = after.gone.max(too_many);
        self.tidied(after)
    }

    /// One state for all that are the same; none if more is gone than can be.
    fn tidied(&self, mut state: Inside) -> Option<Inside> {
        state.settled.sort_unstable();
        state.number_epochs();
        if state.gone as usize == state.settled.len() {
            if !state.settled.drain(..).all(|value| self.is_left(value)) {
                return None;
            }
            state.slots = state.slots.checked_sub(state.gone)?;
            state.gone = 0;
        }
        (state.gone <= state.slots).then_some(state)
    }

    /// Every way to take one of the oldest values, which `fits`: passes on its producer and what is
    /// inside then.
    pub fn taken(
        &self,
        state: &Inside,
        fits: impl Fn(i64) -> bool,
        mut pass_on: impl FnMut(u32, Inside),
    ) {
        let Inside { settled, others, gone, slots, .. } = state;
        for (at, value) in settled.iter().enumerate().filter(|_| settled.len() > *gone as usize) {
            if fits(*value) && (at == 0 || settled[at - 1] != *value) {
                let mut after = state.clone();
                after.settled.remove(at);
                self.tidied(after).into_iter().for_each(|after| pass_on(ANYBODY, after));
            }
        }
        let most = self.k + *slots as usize - settled.len();
        for (at, added) in others.iter().enumerate().filter(|(_, added)| fits(added.value)) {
            let older = others.iter().filter(|other| self.is_before(other, added));
            let older = older.take(most).count();
            if older == most && self.has_one_order {
                // There are as many before those that come after.
                break;
            }
            let own = others[..at].iter().filter(|other| other.call == added.call);
            // Of equal values of one call the first is as good as any, unless what follows counts.
            let is_first = self.has_runs || !own.clone().any(|other| other.value == added.value);
            if is_first && older + own.count() < most {
                let producer = self.producers[added.call as usize];
                self.take(state, at).into_iter().for_each(|after| pass_on(producer, after));
            }
        }
    }

    /// Removals without an answer take all values of one producer, or of all. None where they
    /// cannot.
    pub fn emptied(&self, state: &Inside, producer: Option<u32>) -> Option<Inside> {
        let is_of = |added: &Added| {
            producer.is_none_or(|producer| self.producers[added.call as usize] == producer)
        };
        let mut after = state.clone();
        let gone = after.others.extract_if(.., |added| is_of(added)).count();
        let gone = (gone + after.settled.drain(..).count()) as u32;
        after.gone = 0;
        after.slots = after.slots.checked_sub(gone)?;
        after.number_epochs();
        Some(after)
    }

    /// How many values of a producer are inside.
    pub fn count_of(&self, state: &Inside, producer: u32) -> usize {
        let of = |added: &&Added| self.producers[added.call as usize] == producer;
        state.others.iter().filter(of).count()
    }

    /// A removal without an answer may take so many values.
    pub fn with_slots(&self, state: &Inside, more: usize) -> Inside {
        let slots = (state.slots as usize).saturating_add(more).min(self.untaken);
        Inside { slots: slots as u32, ..state.clone() }
    }

    /// Whether a removal without an answer may have taken the value: no other needs it.
    pub fn is_left(&self, value: i64) -> bool {
        self.surplus.get(&value).is_some_and(|surplus| *surplus > 0)
    }
}

impl Inside {
    /// Numbers the epochs of what is inside from 0 on.
    fn number_epochs(&mut self) {
        if self.epoch == 0 {
            return;
        }
        let (mut number, mut last) = (0, self.others.first().map_or(self.epoch, |a| a.epoch));
        for added in &mut self.others {
            number += u32::from(added.epoch > last);
            last = std::mem::replace(&mut added.epoch, number);
        }
        self.epoch = number + u32::from(self.epoch > last);
    }
}

impl Model<Call<'_>> for UnsettledQueue {
    type State = Inside;

    fn init(&self) -> Inside {
        Inside::default()
    }

    /// Each value that a call removes is a step.
    fn step(&self, state: &Inside, call: &Call, next: &mut Vec<Inside>) {
        if let Some(claim) = self.spec.claim(call) {
            let count = (state.settled.len() + state.others.len()) as i64;
            if claim.fits(count, count) {
                next.extend(self.counted(state, call));
            }
        } else if call.status == Status::Empty {
            next.extend(self.emptied(state, call.queue));
        } else if !call.op.removes() {
            next.push(self.add(state, call));
        } else if call.status.is_open() && self.counts_slots {
            next.push(self.with_slots(state, removed_max(call.op, call.args)));
        } else if call.status.is_open() {
            let taken = |state: &Inside, pass_on: &mut dyn FnMut(Inside)| {
                self.taken(state, |value| self.is_left(value), |_, after| pass_on(after));
            };
            taken_up_to(state, removed_max(call.op, call.args), taken, next);
        } else {
            self.taken(state, |value| call.results == [value], |_, after| next.push(after));
        }
    }

    fn is_empty(&self, state: &Inside) -> bool {
        self.emptied(state, None).is_some()
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Inside) -> usize {
        size_of::<Added>() * state.others.capacity()
    }
}
