//! A queue to which some value was added twice, as a sequential object that knows the producer of
//! each value: the order of bulk results and the promise of `empty=count` are about producers.
//!
//! A removal chooses the producer of a value when it takes it: then it is none of those that come
//! before it in the result, and where results come in runs, another removal that takes a value of
//! it ends the run. So of each value that is still to be taken the state has the producers that it
//! cannot be of. Only the counts behind an "empty" answer are those of calls: for them, a removal
//! chooses when it is called how many values it takes of whom.

use super::early::counts_slots;
use super::unsettled_queue::{Inside, UnsettledQueue};
use crate::check::data::events::HistoryEvent;
use crate::check::data::small::Few;
use crate::check::data::values::{added_by, taken_by};
use crate::core::history::{History, Thread};
use crate::core::operation::Status;
use crate::model::{Bulk, Call, Empty, Kind, Model, Spec, removed_max, taken_up_to};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many values of each producer, by producer.
type Shares = Few<(u32, u32)>;

pub struct ProducerChoices<'a> {
    history: &'a History,
    queue: UnsettledQueue,
    counts_slots: bool,
    spec: Spec,
    /// By value: the threads that add it, ascending.
    adders: FxHashMap<i64, Few<u32>>,
    /// By thread: whether it adds two values, at least, that results of several have. In runs
    /// alone: another's value is a run of its own.
    may_run: Vec<bool>,
}

/// A value that a removal has still to take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Wanted {
    value: i64,
    /// Those of its adders whose it cannot be; sorted.
    not_of: Few<u32>,
}

/// What is inside, and what the calls under way have still to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queues {
    inside: Inside,
    /// By thread: what its removal has still to take, in the order of its result.
    rest: Vec<Vec<Wanted>>,
    /// In runs alone: the thread whose removal has taken a value of a producer, and may have more
    /// of it to take; sorted.
    runs: Vec<(u32, u32)>,
    /// By producer: how many more of its values were added than are being taken. Of counts alone.
    surplus: Vec<i64>,
    /// By thread: how many more its removal takes of whom. Of counts alone.
    shares: Vec<Shares>,
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
        let queue = UnsettledQueue::new(history, spec);
        let may_run = if spec.bulk == Bulk::Run { may_run(history) } else { Vec::new() };
        let counts_slots = counts_slots(history, spec);
        ProducerChoices { history, queue, counts_slots, spec: *spec, adders, may_run }
    }

    fn counts(&self) -> bool {
        self.spec.empty == Empty::Count
    }

    fn has_one_order(&self) -> bool {
        self.spec.kind != Kind::FifoPerProducer
    }

    /// Every way in which the removal of the thread `by` takes a value that `fits`; an open one, if
    /// none.
    fn taken(
        &self,
        state: &Queues,
        by: Option<u32>,
        fits: impl Fn(i64) -> bool,
        mut pass_on: impl FnMut(u32, Queues),
    ) {
        self.queue.taken(&state.inside, fits, |producer, inside| {
            let after = self.without_runs(state, inside, Some((producer, by)));
            after.into_iter().for_each(|after| pass_on(producer, after));
        });
    }

    /// Values have left; one of them, of this producer, was taken by a thread. It ends the runs of
    /// all others.
    fn without_runs(
        &self,
        state: &Queues,
        inside: Inside,
        taken: Option<(u32, Option<u32>)>,
    ) -> Option<Queues> {
        let mut after = Queues { inside, ..state.clone() };
        let ends = |(thread, producer): (u32, u32)| {
            let own = taken.is_some_and(|(of, by)| of == producer && by == Some(thread));
            let count = |inside| self.queue.count_of(inside, producer);
            count(&state.inside) > count(&after.inside) + usize::from(own)
        };
        for (thread, producer) in after.runs.extract_if(.., |run| ends(*run)) {
            let rest = &mut after.rest[thread as usize];
            if !rest.iter_mut().all(|wanted| self.exclude(wanted, producer)) {
                return None;
            }
        }
        Some(after)
    }

    /// The value is not one of this producer. Says whether it can be of another.
    fn exclude(&self, wanted: &mut Wanted, producer: u32) -> bool {
        let adders = self.adders.get(&wanted.value).map_or(&[][..], |adders| adders);
        if let Err(at) = wanted.not_of.binary_search(&producer)
            && adders.contains(&producer)
        {
            wanted.not_of.insert(at, producer);
        }
        wanted.not_of.len() < adders.len()
    }

    /// Every way in which the removal of `thread` takes `value`.
    fn take_chosen(&self, state: &Queues, thread: u32, value: i64, next: &mut Vec<Queues>) {
        self.taken(
            state,
            Some(thread),
            |other| other == value,
            |producer, after| {
                let rest = &after.rest[thread as usize];
                let fits =
                    |at: usize| rest[at].value == value && !rest[at].not_of.contains(&producer);
                let places = if self.has_one_order() { 0..1 } else { 0..rest.len() };
                // Of equal neighbours it makes no difference whose is whose.
                let places = places.filter(|at| fits(*at) && (*at == 0 || !fits(at - 1)));
                next.extend(places.filter_map(|at| self.taken_as(&after, thread, at, producer)));
            },
        );
    }

    /// The removal of `thread` has taken the value at a place of the rest, of this producer.
    fn taken_as(&self, after: &Queues, thread: u32, at: usize, producer: u32) -> Option<Queues> {
        let mut after = after.clone();
        let Queues { rest, runs, shares, .. } = &mut after;
        if let Some(shares) = shares.get_mut(thread as usize) {
            let share = shares.iter().position(|(of, _)| *of == producer)?;
            shares[share].1 -= 1;
            shares.retain(|(_, count)| *count > 0);
        }
        let own = &mut rest[thread as usize];
        own.remove(at);
        if !own[..at].iter_mut().all(|wanted| self.exclude(wanted, producer)) {
            return None;
        }
        if self.may_run.get(producer as usize).is_some_and(|may_run| *may_run) {
            if let Err(at) = runs.binary_search(&(thread, producer)) {
                runs.insert(at, (thread, producer));
            }
            runs.retain(|(thread, producer)| {
                rest[*thread as usize].iter().any(|wanted| self.may_be_of(wanted, *producer))
            });
        }
        Some(after)
    }

    fn may_be_of(&self, wanted: &Wanted, producer: u32) -> bool {
        let adders = self.adders.get(&wanted.value);
        adders.is_some_and(|adders| adders.contains(&producer))
            && !wanted.not_of.contains(&producer)
    }

    /// Of an addition without an answer, any part from the first value on may have happened.
    fn step_addition(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
        let with =
            |call: &Call| Queues { inside: self.queue.add(&state.inside, call), ..state.clone() };
        if !call.status.is_open() {
            return next.push(with(call));
        }
        for count in 1..=call.added().len() {
            next.push(with(&Call { args: &call.args[..count], ..*call }));
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

    /// What a removal is to take; of counts, with every choice of how many values of whom.
    fn choose(
        &self,
        taken: &[i64],
        thread: usize,
        state: &Queues,
        most: usize,
        next: &mut Vec<Queues>,
    ) {
        let mut after = state.clone();
        let wanted = |value: &i64| Wanted { value: *value, not_of: Few::new() };
        after.rest[thread] = taken.iter().map(wanted).collect();
        if !self.counts() {
            return next.push(after);
        }
        let mut choices: FxHashSet<Shares> = FxHashSet::from_iter([Few::new()]);
        for value in taken {
            let adders = self.adders.get(value).map_or(&[][..], |adders| adders);
            let longer = choices.iter().flat_map(|shares| {
                adders.iter().map(|adder| with_one_more(shares.clone(), *adder))
            });
            let mut more = FxHashSet::default();
            for shares in longer {
                more.insert(shares);
                // Different ones, so that whoever asked for them notices that some are missing.
                if more.len() > most {
                    break;
                }
            }
            choices = more;
        }
        for shares in choices {
            let mut after = after.clone();
            for (producer, count) in &shares {
                after.surplus[*producer as usize] -= i64::from(*count);
            }
            after.shares[thread] = shares;
            after.look_again();
            next.push(after);
        }
    }
}

fn with_one_more(mut shares: Shares, producer: u32) -> Shares {
    match shares.binary_search_by_key(&producer, |(of, _)| *of) {
        Ok(at) => shares[at].1 += 1,
        Err(at) => shares.insert(at, (producer, 1)),
    }
    shares
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
            inside: Inside::default(),
            rest: vec![Vec::new(); threads],
            runs: Vec::new(),
            surplus: vec![0; of(self.counts())],
            shares: vec![Few::new(); of(self.counts())],
            outnumbered: vec![Vec::new(); of(self.counts())],
        }
    }

    fn step(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
        if call.op.says_count(call.status) {
            let mut counted = Vec::new();
            self.queue.step(&state.inside, call, &mut counted);
            next.extend(counted.into_iter().map(|inside| Queues { inside, ..state.clone() }));
        } else if call.status == Status::Empty {
            let inside = self.queue.emptied(&state.inside, call.queue);
            next.extend(inside.and_then(|inside| self.without_runs(state, inside, None)));
        } else if !call.op.removes() {
            self.step_addition(state, call, next);
        } else if call.status.is_open() && self.counts_slots {
            let inside = self.queue.with_slots(&state.inside, removed_max(call.op, call.args));
            next.push(Queues { inside, ..state.clone() });
        } else if call.status.is_open() {
            let taken = |state: &Queues, pass_on: &mut dyn FnMut(Queues)| {
                let is_left = |value| self.queue.is_left(value);
                self.taken(state, None, is_left, |_, after| pass_on(after));
            };
            taken_up_to(state, removed_max(call.op, call.args), taken, next);
        } else {
            let mut level = vec![state.clone()];
            for value in call.results {
                let mut after = Vec::new();
                for state in &level {
                    self.take_chosen(state, call.id.thread, *value, &mut after);
                }
                level = after;
            }
            next.append(&mut level);
        }
    }

    fn is_empty(&self, state: &Queues) -> bool {
        self.queue.is_empty(&state.inside)
    }

    fn reads(&self, call: &Call) -> bool {
        self.queue.reads(call)
    }

    fn weight(&self, state: &Queues) -> usize {
        let inside = self.queue.weight(&state.inside);
        let rest = state.rest.iter().map(|rest| 24 + size_of::<Wanted>() * rest.len());
        inside + rest.sum::<usize>() + 32 * state.surplus.len() + 8 * state.runs.len()
    }
}
