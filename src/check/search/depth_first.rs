//! Finds one order that explains a history, depth first: fast where there is one, however long the
//! history and however late it shows which of two operations came first. That there is none, it
//! never says.
//!
//! One position per thread, with a memory of where it has been (Lowe 2017). A legal read is taken
//! at once (see `frontier`). Of several writes those go first whose values are wanted first, so
//! that a queue seldom has to be rebuilt.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHashSet;

use crate::check::data::bits::Places;
use crate::check::undecided::Exhausted;
use crate::check::verdict::Limits;
use crate::core::history::{NEVER, OperationId};
use crate::model::Model;

/// Choices between two looks at the clock.
const CHOICES_BETWEEN_LOOKS: usize = 64;
/// Bytes that the configurations on the way may take, what they share counted each time. If they
/// take more, the newest stay, and one of so many before.
const BYTES_MAX: usize = 1 << 25;
const NEWEST: usize = 1 << 10;
const KEPT_EVERY: usize = 64;

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
struct ThreadPosition {
    index: u32,
    done: Places<1>,
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
#[derive(Clone)]
struct At<S> {
    places: Vec<ThreadPosition>,
    state: S,
}

/// Thread and step, and which of the states that it allows; all, where that was not looked at yet.
type Choice = (u32, u32, Option<u32>);

/// The steps that led to the last configuration.
struct Way<S> {
    stops: Vec<Stop<S>>,
    /// Of the configurations that are kept.
    bytes: usize,
    /// Of so many from the first only some are kept.
    thinned: usize,
}

impl<O: Debug, M: Model<O>> DepthFirst<'_, O, M> {
    /// The steps of an order.
    ///
    /// # Errors
    /// Why none was found.
    pub fn find(&self) -> Result<Vec<Taken>, NoOrder> {
        let places = vec![ThreadPosition { index: 0, done: Places::EMPTY }; self.threads.len()];
        let mut way = Way { stops: Vec::new(), bytes: 0, thinned: 0 };
        if self.go_to(&mut way, At { places, state: self.object.init() }, (0, 0, 0, 0)) {
            return Ok(Vec::new());
        }
        self.limits.go_on().map_err(NoOrder::Stopped)?;
        // Hashes of the configurations that were looked at. Two that share one cost a way, no more.
        let mut seen = FxHashSet::default();
        let (mut tries, mut choices) = (self.tries.max(1), 0_usize);
        while let Some(last) = way.stops.last_mut() {
            let Some(choice) = last.left.pop() else {
                let at = way.stops.pop().and_then(|stop| stop.at);
                way.bytes -= at.map_or(0, |at| self.bytes(&at));
                continue;
            };
            choices += 1;
            if choices.is_multiple_of(CHOICES_BETWEEN_LOOKS) {
                self.limits.go_on().map_err(NoOrder::Stopped)?;
            }
            let Some((at, taken)) = self.chosen(&mut way, choice) else { continue };
            tries -= 1;
            if tries == 0 {
                return Err(NoOrder::TooLate);
            }
            if seen.insert(fingerprint(&at)) && self.go_to(&mut way, at, taken) {
                return Ok(way.stops.iter().skip(1).map(|stop| stop.taken).collect());
            }
        }
        Err(NoOrder::Missed)
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
        way.stops.push(Stop { taken, at: Some(at), left });
        if way.bytes > BYTES_MAX.min(self.limits.memory_max) {
            let older = way.stops.len().saturating_sub(NEWEST);
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
            let at = self.next(before, way.stops[number + 1].taken);
            way.bytes += self.bytes(&at);
            way.stops[number + 1].at = Some(at);
        }
        way.stops[last].at.as_ref().expect("it is known by now")
    }

    fn bytes(&self, At { places, state }: &At<M::State>) -> usize {
        size_of::<M::State>() + self.object.weight(state) + size_of_val(&places[..])
    }

    /// The configuration after a step.
    fn next(&self, from: &At<M::State>, taken: Taken) -> At<M::State> {
        let ((thread, index, step, choice), mut next) = (taken, Vec::new());
        let operation = &self.threads[thread][index].steps[step].operation;
        self.object.step(&from.state, operation, &mut next);
        At { places: self.after(&from.places, taken), state: next.swap_remove(choice) }
    }

    /// The places after a step.
    fn after(
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
    fn look(&self, At { places, state }: &At<M::State>) -> Vec<Choice> {
        let open = || {
            let each = self.threads.iter().zip(places).enumerate();
            each.filter_map(|(at, (thread, place))| {
                thread.get(place.index as usize).map(|next| (at, &place.done, next))
            })
        };
        let (mut left, mut next) = (Vec::new(), Vec::new());
        let Some(due) = open().min_by_key(|(_, _, next)| next.end) else { return Vec::new() };
        let due = due.2;
        for (thread, done, operation) in open().filter(|(_, _, next)| next.start <= due.end) {
            for (at, step) in operation.steps.iter().enumerate() {
                let must_come = |before: &usize| {
                    let of = &operation.steps[*before].operation;
                    !done.contains(*before) && !self.object.repeats(of)
                };
                if done.contains(at) || step.before.as_ref().is_some_and(must_come) {
                    continue;
                }
                if self.object.reads(&step.operation) {
                    next.clear();
                    self.object.step(state, &step.operation, &mut next);
                    match next.len() {
                        0 => continue,
                        _ => return vec![(thread as u32, at as u32, Some(0))],
                    }
                }
                let choice = (thread as u32, at as u32, None);
                left.push((self.rank(operation, due, step.takes), choice));
            }
        }
        left.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        // In as much room as they need, since many are kept.
        left.iter().map(|(_, choice)| *choice).collect()
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
