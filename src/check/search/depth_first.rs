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
/// Bytes that the states on the way may take.
const BYTES_MAX: usize = 1 << 29;

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

/// A configuration on the way, with what is still to be tried from it.
struct Stop<S> {
    /// The step that led here.
    taken: Taken,
    places: Vec<ThreadPosition>,
    /// None where it takes too much room: it is made again if the search comes back.
    state: Option<S>,
    /// The best last.
    left: Vec<Choice>,
}

/// Thread and step, and which of the states that it allows; all, where that was not looked at yet.
type Choice = (usize, usize, Option<usize>);

/// The configurations that led to the last.
struct Way<S> {
    stops: Vec<Stop<S>>,
    /// Of the states.
    bytes: usize,
}

impl<O: Debug, M: Model<O>> DepthFirst<'_, O, M> {
    /// The steps of an order.
    ///
    /// # Errors
    /// Why none was found.
    pub fn find(&self) -> Result<Vec<Taken>, NoOrder> {
        let places = vec![ThreadPosition { index: 0, done: Places::EMPTY }; self.threads.len()];
        let mut way = Way { stops: Vec::new(), bytes: 0 };
        self.go_to(&mut way, places, (self.object.init(), (0, 0, 0, 0)));
        self.limits.go_on().map_err(NoOrder::Stopped)?;
        // Hashes of the configurations that were looked at. Two that share one cost a way, no more.
        let mut seen = FxHashSet::default();
        let (mut tries, mut choices) = (self.tries.max(1), 0_usize);
        while let Some(last) = way.stops.last_mut() {
            if self.is_over(&last.places) && self.may_end(&mut way) {
                return Ok(way.stops.into_iter().skip(1).map(|stop| stop.taken).collect());
            }
            let Some(choice) = way.stops.last_mut().and_then(|of| of.left.pop()) else {
                let state = way.stops.pop().and_then(|stop| stop.state);
                way.bytes -= state.map_or(0, |state| self.bytes(&state));
                continue;
            };
            choices += 1;
            if choices.is_multiple_of(CHOICES_BETWEEN_LOOKS) {
                self.limits.go_on().map_err(NoOrder::Stopped)?;
            }
            let Some((state, choice)) = self.chosen(&mut way, choice) else { continue };
            tries -= 1;
            if tries == 0 {
                return Err(NoOrder::TooLate);
            }
            let (places, taken) = self.after(&way, choice);
            if seen.insert(fingerprint(&places, &state)) {
                self.go_to(&mut way, places, (state, taken));
            }
        }
        Err(NoOrder::Missed)
    }

    /// The state after a choice; of several, the others are left for later.
    fn chosen(
        &self,
        way: &mut Way<M::State>,
        (thread, step, choice): Choice,
    ) -> Option<(M::State, (usize, usize, usize))> {
        let at = way.stops.last()?.places[thread].index as usize;
        let (mut next, operation) = (Vec::new(), &self.threads[thread][at].steps[step].operation);
        self.object.step(self.state(way), operation, &mut next);
        let choice = match choice {
            Some(choice) => choice,
            None => {
                let last = next.len().checked_sub(1)?;
                let others = (0..last).map(|other| (thread, step, Some(other)));
                way.stops.last_mut()?.left.extend(others);
                last
            }
        };
        Some((next.swap_remove(choice), (thread, step, choice)))
    }

    /// Goes on to a configuration. Where the states are too many, the older half goes.
    fn go_to(
        &self,
        way: &mut Way<M::State>,
        places: Vec<ThreadPosition>,
        (state, taken): (M::State, Taken),
    ) {
        way.bytes += self.bytes(&state);
        let left = self.look(&places, &state);
        way.stops.push(Stop { taken, places, state: Some(state), left });
        if way.bytes > BYTES_MAX.min(self.limits.memory_max) {
            let older = 1..(way.stops.len() / 2).max(1);
            let states = way.stops[older].iter_mut().filter_map(|stop| stop.state.take());
            way.bytes -= states.map(|state| self.bytes(&state)).sum::<usize>();
        }
    }

    /// The state of the last configuration.
    fn state<'s>(&self, way: &'s mut Way<M::State>) -> &'s M::State {
        let last = way.stops.len() - 1;
        let known = way.stops.iter().rposition(|stop| stop.state.is_some());
        let known = known.expect("that of the first is kept");
        if known < last {
            let mut state = way.stops[known].state.clone().expect("it is known");
            for stop in &way.stops[known + 1..] {
                state = self.next(&state, stop.taken);
            }
            way.bytes += self.bytes(&state);
            way.stops[last].state = Some(state);
        }
        way.stops[last].state.as_ref().expect("it is known by now")
    }

    fn bytes(&self, state: &M::State) -> usize {
        size_of::<M::State>() + self.object.weight(state)
    }

    /// The state after a step.
    fn next(&self, state: &M::State, (thread, at, step, choice): Taken) -> M::State {
        let mut next = Vec::new();
        self.object.step(state, &self.threads[thread][at].steps[step].operation, &mut next);
        next.swap_remove(choice)
    }

    /// The places after a step, and what is written down of it.
    fn after(
        &self,
        way: &Way<M::State>,
        (thread, step, choice): (usize, usize, usize),
    ) -> (Vec<ThreadPosition>, Taken) {
        let mut places = way.stops.last().expect("there is one").places.clone();
        let place = &mut places[thread];
        let at = place.index as usize;
        let operation = &self.threads[thread][at];
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
        (places, (thread, at, step, choice))
    }

    /// Whether all that must have happened has.
    fn is_over(&self, places: &[ThreadPosition]) -> bool {
        let over = |(thread, place): (&Vec<Boxed<O>>, &ThreadPosition)| {
            thread.get(place.index as usize).is_none_or(|next| next.end == NEVER)
        };
        self.threads.iter().zip(places).all(over)
    }

    /// Whether nothing is left where nothing may be.
    fn may_end(&self, way: &mut Way<M::State>) -> bool {
        !self.drained || self.object.is_empty(self.state(way))
    }

    /// What can be tried from a configuration, the best last.
    fn look(&self, places: &[ThreadPosition], state: &M::State) -> Vec<Choice> {
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
                        _ => return vec![(thread, at, Some(0))],
                    }
                }
                left.push((self.rank(operation, due, step.takes), (thread, at, None)));
            }
        }
        left.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        left.into_iter().map(|(_, choice)| choice).collect()
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

fn fingerprint<S: Hash>(places: &[ThreadPosition], state: &S) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (places, state).hash(&mut hasher);
    hasher.finish()
}
