//! Finds one order that explains a history, depth first: fast where there is one, however long the
//! history and however late it shows which of two operations came first. That there is none, it
//! never says.
//!
//! One position per thread, with a memory of where it has been (Lowe 2017). A legal read is taken
//! at once (see `frontier`), and so is a step of which the model says so. Of several writes those
//! go first whose values are wanted first, so that a queue seldom has to be rebuilt. Where an
//! operation that is due is a dead end, one operation is moved (see `mend`).

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet};

use super::mend::{Mend, Mended, Of, Run};
use crate::check::data::bits::Places;
use crate::check::undecided::Exhausted;
use crate::check::verdict::Limits;
use crate::core::history::{NEVER, OperationId};
use crate::model::Model;

/// Choices between two looks at the clock.
const CHOICES_BETWEEN_LOOKS: usize = 64;
/// Bytes that the configurations on the way may take, what they share counted each time. If they
/// take more, the newest stay (half of what has room, at most so many), and one of so many before.
const BYTES_MAX: usize = 1 << 25;
const NEWEST: usize = 1 << 10;
const KEPT_EVERY: usize = 64;
/// Steps before a dead end among which one operation is moved.
const MENDED_STEPS: usize = 1 << 12;
/// Steps that are tried for it: so many, and no more than this part of those that are left. Where
/// the search came further before, so many for each time that what is due was a dead end.
const MEND_TRIES: usize = 1 << 16;
const MEND_SHARE: usize = 16;
const MEND_AGAIN: usize = 1 << 10;

/// An operation with what it does.
pub struct Boxed<O> {
    pub id: OperationId,
    pub start: u64,
    pub end: u64,
    pub steps: Vec<Instant<O>>,
    /// When what it adds is taken: the first call that does.
    pub wanted: u64,
}

/// One instant of an operation.
pub struct Instant<O> {
    pub operation: O,
    /// The number of the operation's step that must take effect before.
    pub before: Option<usize>,
    /// It is tried before what adds.
    pub takes: bool,
}

/// What is searched.
pub struct DepthFirst<'w, O: Debug, M: Model<O>> {
    pub object: &'w M,
    /// What each thread did, in its order.
    pub threads: &'w [Vec<Boxed<O>>],
    /// The value added last is taken first.
    pub stack: bool,
    pub drained: bool,
    /// Steps that are tried, at most.
    pub tries: usize,
    pub limits: &'w Limits,
}

/// A step that was taken: thread, operation and step, and which of the states it allowed.
pub type Taken = (usize, usize, usize, usize);

/// Why there is no order.
pub enum NoOrder {
    /// It took too long.
    TooLate,
    /// All ways that were not cut off were tried.
    Missed,
    Stopped(Exhausted),
}

/// How far each thread is: operations over, and those steps of the next one that are done.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ThreadPosition {
    pub index: u32,
    pub done: Places<1>,
}

/// A step on the way, with what is still to be tried after it.
struct Stop<S> {
    /// The step that led here.
    taken: Taken,
    /// None where it takes too much room: it is made again if the search comes back.
    at: Option<At<S>>,
    /// The best last.
    left: Vec<Choice>,
}

/// A configuration.
#[derive(Clone, PartialEq)]
pub(super) struct At<S> {
    pub places: Vec<ThreadPosition>,
    pub state: S,
}

/// Thread and step, and which of the states that it allows; all, where that was not looked at yet.
type Choice = (u32, u32, Option<u32>);

/// The steps that led to the last configuration, and what was learned on the way there.
struct Way<S> {
    stops: Vec<Stop<S>>,
    /// Of the configurations that are kept.
    bytes: usize,
    /// Of so many from the first only some are kept.
    thinned: usize,
    /// Hashes of the configurations that were looked at. Two that share one cost a way, no more.
    seen: FxHashSet<u64>,
    /// How often each operation was due where nothing was left to try.
    dead_ends: FxHashMap<Of, usize>,
    /// Steps of the longest way that was a dead end.
    longest: usize,
    /// Steps that may still be tried.
    tries: usize,
}

impl<S> Way<S> {
    fn order(&self) -> Vec<Taken> {
        self.stops.iter().skip(1).map(|stop| stop.taken).collect()
    }
}

impl<O: Debug, M: Model<O>> DepthFirst<'_, O, M> {
    /// The steps of an order.
    ///
    /// # Errors
    /// Why none was found.
    pub fn find(&self) -> Result<Vec<Taken>, NoOrder> {
        let places = vec![ThreadPosition { index: 0, done: Places::EMPTY }; self.threads.len()];
        let mut way = Way {
            stops: Vec::new(),
            bytes: 0,
            thinned: 0,
            seen: FxHashSet::default(),
            dead_ends: FxHashMap::default(),
            longest: 0,
            tries: self.tries.max(1),
        };
        if self.go_to(&mut way, At { places, state: self.object.init() }, (0, 0, 0, 0)) {
            return Ok(Vec::new());
        }
        self.limits.go_on().map_err(NoOrder::Stopped)?;
        // Whether nothing was taken after the last configuration yet.
        let (mut is_leaf, mut choices) = (true, 0_usize);
        while let Some(last) = way.stops.last_mut() {
            let Some(choice) = last.left.pop() else {
                let mended = if is_leaf { self.mended(&mut way) } else { None };
                let Some((level, run)) = mended else {
                    is_leaf = false;
                    self.go_back(&mut way, 1);
                    continue;
                };
                if self.follow(&mut way, level, run) {
                    return Ok(way.order());
                }
                continue;
            };
            choices += 1;
            if choices.is_multiple_of(CHOICES_BETWEEN_LOOKS) {
                self.limits.go_on().map_err(NoOrder::Stopped)?;
            }
            let Some((at, taken)) = self.chosen(&mut way, choice) else { continue };
            way.tries = way.tries.saturating_sub(1);
            if way.tries == 0 {
                return Err(NoOrder::TooLate);
            }
            if way.seen.insert(fingerprint(&at)) {
                is_leaf = true;
                if self.go_to(&mut way, at, taken) {
                    return Ok(way.order());
                }
            }
        }
        Err(NoOrder::Missed)
    }

    /// Another order in place of that which ends here: the configuration up to which both are the
    /// same, and the steps from there.
    fn mended(&self, way: &mut Way<M::State>) -> Mended<M::State> {
        let due = self.due(self.at(way))?;
        let times = way.dead_ends.entry(due).or_default();
        *times += 1;
        let most = if way.stops.len() > way.longest { MEND_TRIES } else { MEND_AGAIN * *times };
        let is_tried = times.is_power_of_two() && self.operation(due).end != NEVER;
        way.longest = way.longest.max(way.stops.len());
        if !is_tried {
            return None;
        }
        // What came only because what is due could not is left out.
        let mut last = way.stops.len() - 1;
        let is_due = |stop: &Stop<_>| stop.at.as_ref().and_then(|at| self.due(at)) == Some(due);
        while last > 0 && is_due(&way.stops[last - 1]) {
            last -= 1;
        }
        let tries = most.min(MEND_TRIES).min(way.tries / MEND_SHARE);
        let is_new = &|at: &_| !way.seen.contains(&fingerprint(at));
        let at = self.configurations(way, (last, last));
        let mut mend = Mend { search: self, at: &at, taken: &[], due, is_new, tries };
        if mend.is_possible() {
            return None;
        }
        let first = last.saturating_sub(MENDED_STEPS.min(self.room(&at[0])));
        let at = self.configurations(way, (first, last));
        let taken: Vec<Taken> = way.stops[first + 1..=last].iter().map(|stop| stop.taken).collect();
        let mut mend = Mend { at: &at, taken: &taken, ..mend };
        let mended = mend.find();
        way.tries -= tries - mend.tries;
        mended.map(|(place, run)| (first + place, run))
    }

    /// The configurations between two levels.
    fn configurations(
        &self,
        way: &Way<M::State>,
        (first, last): (usize, usize),
    ) -> Vec<At<M::State>> {
        let known = (0..=first).rev().find(|level| way.stops[*level].at.is_some());
        let known = known.expect("the first is kept");
        let mut all: Vec<At<M::State>> = Vec::new();
        for stop in &way.stops[known..=last] {
            let made = || self.next(all.last().expect("one before is kept"), stop.taken);
            let at = stop.at.clone().or_else(made).expect("it was taken");
            all.push(at);
        }
        all.split_off(first - known)
    }

    /// Goes back to a level and takes these steps: says whether they lead to the end.
    fn follow(&self, way: &mut Way<M::State>, level: usize, run: Run<M::State>) -> bool {
        self.go_back(way, way.stops.len() - 1 - level);
        for (taken, at) in run {
            let last = way.stops.last_mut().expect("the first is kept");
            let is_it = |left: &Choice| (left.0 as usize, left.1 as usize) == (taken.0, taken.2);
            last.left.retain(|left| !is_it(left));
            way.seen.insert(fingerprint(&at));
            if self.go_to(way, at, taken) {
                return true;
            }
        }
        false
    }

    /// Leaves the last configurations.
    fn go_back(&self, way: &mut Way<M::State>, levels: usize) {
        let level = way.stops.len() - levels;
        for stop in way.stops.drain(level..) {
            way.bytes -= stop.at.map_or(0, |at| self.bytes(&at));
        }
        way.thinned = way.thinned.min(level);
    }

    /// The configuration after a choice; of several, the others are left for later.
    fn chosen(
        &self,
        way: &mut Way<M::State>,
        (thread, step, choice): Choice,
    ) -> Option<(At<M::State>, Taken)> {
        let from = self.at(way);
        let index = from.places[thread as usize].index as usize;
        let operation = &self.threads[thread as usize][index].steps[step as usize].operation;
        let mut next = Vec::new();
        self.object.step(&from.state, operation, &mut next);
        let last = next.len().checked_sub(1)?;
        let chosen = choice.map_or(last, |choice| choice as usize);
        let taken = (thread as usize, index, step as usize, chosen);
        let to = At { places: self.after(&from.places, taken), state: next.swap_remove(chosen) };
        if choice.is_none() {
            let others = (0..last as u32).map(|other| (thread, step, Some(other)));
            way.stops.last_mut()?.left.extend(others);
        }
        Some((to, taken))
    }

    /// Goes on to a configuration: says whether it is the end.
    fn go_to(&self, way: &mut Way<M::State>, at: At<M::State>, taken: Taken) -> bool {
        way.bytes += self.bytes(&at);
        let (left, is_end) = (self.look(&at), self.is_end(&at));
        let newest = NEWEST.min(self.room(&at) / 2).max(1);
        way.stops.push(Stop { taken, at: Some(at), left });
        if way.bytes > self.bytes_max() {
            let older = way.stops.len().saturating_sub(newest);
            for number in (way.thinned..older).filter(|number| number % KEPT_EVERY != 0) {
                let at = way.stops[number].at.take();
                way.bytes -= at.map_or(0, |at| self.bytes(&at));
            }
            way.thinned = way.thinned.max(older);
        }
        is_end
    }

    /// The last configuration.
    fn at<'s>(&self, way: &'s mut Way<M::State>) -> &'s At<M::State> {
        let last = way.stops.len() - 1;
        let known = way.stops.iter().rposition(|stop| stop.at.is_some());
        let known = known.expect("the first is kept");
        way.thinned = way.thinned.min(known);
        for number in known..last {
            let before = way.stops[number].at.as_ref().expect("it is known");
            let at = self.next(before, way.stops[number + 1].taken).expect("it was taken");
            way.bytes += self.bytes(&at);
            way.stops[number + 1].at = Some(at);
        }
        way.stops[last].at.as_ref().expect("it is known by now")
    }

    fn bytes_max(&self) -> usize {
        BYTES_MAX.min(self.limits.memory_max)
    }

    /// How many configurations like this may be kept.
    fn room(&self, at: &At<M::State>) -> usize {
        self.bytes_max() / self.bytes(at).max(1)
    }

    fn bytes(&self, At { places, state }: &At<M::State>) -> usize {
        size_of::<M::State>() + self.object.weight(state) + size_of_val(&places[..])
    }

    /// The configuration after a step; none where it cannot come.
    pub(super) fn next(&self, from: &At<M::State>, taken: Taken) -> Option<At<M::State>> {
        let ((thread, index, step, choice), mut next) = (taken, Vec::new());
        self.object.step(
            &from.state,
            &self.operation((thread, index)).steps[step].operation,
            &mut next,
        );
        let may_come = choice < next.len();
        may_come.then(|| At {
            places: self.after(&from.places, taken),
            state: next.swap_remove(choice),
        })
    }

    pub(super) fn operation(&self, (thread, index): Of) -> &Boxed<O> {
        &self.threads[thread][index]
    }

    /// What must come next: of the operations that are next in their threads, what ends first.
    fn due(&self, at: &At<M::State>) -> Option<Of> {
        let next = at.places.iter().map(|place| place.index as usize).enumerate();
        let is_left = |(thread, index): &Of| *index < self.threads[*thread].len();
        next.filter(is_left).min_by_key(|of| self.operation(*of).end)
    }

    /// The steps that a thread may take next.
    pub(super) fn steps_of(
        &self,
        at: &At<M::State>,
        thread: usize,
    ) -> impl Iterator<Item = (usize, &Instant<O>)> {
        let ThreadPosition { index, done } = at.places[thread].clone();
        let operation = self.threads[thread].get(index as usize);
        let steps = operation.map_or(&[][..], |operation| &operation.steps);
        steps.iter().enumerate().filter(move |(step, instant)| {
            let must_come = |before: &usize| {
                !done.contains(*before) && !self.object.repeats(&steps[*before].operation)
            };
            !done.contains(*step) && !instant.before.as_ref().is_some_and(must_come)
        })
    }

    /// The places after a step.
    pub(super) fn after(
        &self,
        before: &[ThreadPosition],
        (thread, index, step, _): Taken,
    ) -> Vec<ThreadPosition> {
        let mut places = before.to_vec();
        let (place, operation) = (&mut places[thread], &self.threads[thread][index]);
        let repeats = |step: usize| self.object.repeats(&operation.steps[step].operation);
        if !repeats(step) {
            place.done.insert(step);
        }
        if let Some(before) = operation.steps[step].before.filter(|before| repeats(*before)) {
            place.done.insert(before);
        }
        if place.done.len() == operation.steps.len() {
            *place = ThreadPosition { index: place.index + 1, done: Places::EMPTY };
        }
        places
    }

    /// Whether all that must have happened has, and nothing is left where nothing may be.
    fn is_end(&self, At { places, state }: &At<M::State>) -> bool {
        let over = |(thread, place): (&Vec<Boxed<O>>, &ThreadPosition)| {
            thread.get(place.index as usize).is_none_or(|next| next.end == NEVER)
        };
        let is_over = self.threads.iter().zip(places).all(over);
        is_over && (!self.drained || self.object.is_empty(state))
    }

    /// What can be tried from a configuration, the best last.
    fn look(&self, at: &At<M::State>) -> Vec<Choice> {
        let Some(due) = self.due(at).map(|due| self.operation(due)) else { return Vec::new() };
        if let Some(choice) = self.at_once(at, due) {
            return vec![choice];
        }
        // Steps that may wait are left out, but for those of what is due.
        let (mut left, mut open, mut of_due) = (Vec::new(), Vec::new(), Vec::new());
        for (thread, operation) in self.open(at, due) {
            for (number, step) in self.steps_of(at, thread) {
                let is_due = operation.id == due.id;
                let all = if is_due { &mut of_due } else { &mut open };
                all.push(&step.operation);
                let choice = (thread as u32, number as u32, None);
                left.push((self.rank(operation, due, step.takes), choice, is_due));
            }
        }
        let mut waits = vec![false; open.len()];
        self.object.may_wait(&at.state, &of_due, &open, &mut waits);
        let mut waits = waits.into_iter();
        left.retain(|(.., is_due)| *is_due || waits.next() == Some(false));
        left.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
        // In as much room as they need, since many are kept.
        left.iter().map(|(_, choice, _)| *choice).collect()
    }

    /// A step that may as well come now as later.
    fn at_once(&self, at: &At<M::State>, due: &Boxed<O>) -> Option<Choice> {
        let mut next = Vec::new();
        for (thread, _) in self.open(at, due) {
            for (number, step) in self.steps_of(at, thread) {
                let at_once = self.object.at_once(&at.state, &step.operation);
                if !at_once && !self.object.reads(&step.operation) {
                    continue;
                }
                next.clear();
                self.object.step(&at.state, &step.operation, &mut next);
                let chosen = next.iter().position(|state| at_once || *state == at.state);
                if let Some(chosen) = chosen {
                    return Some((thread as u32, number as u32, Some(chosen as u32)));
                }
            }
        }
        None
    }

    /// The next operation of each thread, if it may come before what is due returns.
    fn open<'s>(
        &'s self,
        at: &'s At<M::State>,
        due: &'s Boxed<O>,
    ) -> impl Iterator<Item = (usize, &'s Boxed<O>)> {
        let next = at.places.iter().enumerate().filter_map(|(thread, place)| {
            Some((thread, self.threads[thread].get(place.index as usize)?))
        });
        next.filter(|(_, operation)| operation.start <= due.end)
    }

    /// What to try first: the lowest.
    fn rank(&self, operation: &Boxed<O>, due: &Boxed<O>, takes: bool) -> (u8, u64) {
        let is_due = operation.id == due.id;
        match (operation.end == NEVER, takes) {
            (true, _) => (3, operation.start),
            (_, true) => (0, operation.end),
            _ if self.stack && is_due => (1, 0),
            _ if self.stack => (2, NEVER - operation.wanted),
            _ if operation.wanted <= due.wanted => (1, operation.wanted),
            _ => (2, operation.wanted),
        }
    }
}

fn fingerprint<S: Hash>(At { places, state }: &At<S>) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (places, state).hash(&mut hasher);
    hasher.finish()
}
