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

/// Steps that are tried, for each operation and in all.
const TRIES_PER_OPERATION: usize = 40;
const TRIES_MIN: usize = 100_000;
/// Tries between two looks at the clock.
const TRIES_BETWEEN_LOOKS: usize = 64;
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
struct Choices<S> {
    places: Vec<ThreadPosition>,
    state: S,
    /// Thread and step with the state it leads to, the best last.
    left: Vec<(usize, usize, S)>,
}

impl<O: Debug, M: Model<O>> DepthFirst<'_, O, M> {
    /// The steps of an order.
    ///
    /// # Errors
    /// Why none was found.
    pub fn find(&self) -> Result<Vec<Taken>, NoOrder> {
        let operations: usize = self.threads.iter().map(Vec::len).sum();
        let none = vec![ThreadPosition { index: 0, done: Places::EMPTY }; self.threads.len()];
        let first = Choices { places: none, state: self.object.init(), left: Vec::new() };
        let mut path: Vec<(Choices<M::State>, Taken, usize)> = Vec::new();
        path.push((self.look(first), (0, 0, 0, 0), 0));
        self.limits.go_on().map_err(NoOrder::Stopped)?;
        // Hashes of the configurations that were looked at. Two that share one cost a way, no more.
        let mut seen = FxHashSet::default();
        let (mut tries, mut bytes) = (operations * TRIES_PER_OPERATION + TRIES_MIN, 0usize);
        while let Some((choices, ..)) = path.last_mut() {
            if self.is_end(choices) {
                return Ok(path.into_iter().skip(1).map(|(_, taken, _)| taken).collect());
            }
            let Some((thread, step, state)) = choices.left.pop() else {
                bytes -= path.pop().map_or(0, |(.., weight)| weight);
                continue;
            };
            tries -= 1;
            if tries == 0 || bytes > BYTES_MAX.min(self.limits.memory_max) {
                return Err(NoOrder::TooLate);
            }
            if tries.is_multiple_of(TRIES_BETWEEN_LOOKS) {
                self.limits.go_on().map_err(NoOrder::Stopped)?;
            }
            let (places, taken) = self.after(choices, thread, step, &state);
            if seen.insert(fingerprint(&places, &state)) {
                let each = size_of::<M::State>() + self.object.weight(&state);
                let choices = self.look(Choices { places, state, left: Vec::new() });
                let weight = each * (1 + choices.left.len());
                bytes += weight;
                path.push((choices, taken, weight));
            }
        }
        Err(NoOrder::Missed)
    }

    /// The places after a step, and what is written down of it.
    fn after(
        &self,
        choices: &Choices<M::State>,
        thread: usize,
        step: usize,
        state: &M::State,
    ) -> (Vec<ThreadPosition>, Taken) {
        let mut places = choices.places.clone();
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
        let mut next = Vec::new();
        self.object.step(&choices.state, &operation.steps[step].operation, &mut next);
        let choice = next.iter().position(|other| other == state).expect("it led here");
        (places, (thread, at, step, choice))
    }

    /// Whether all that must have happened has, and nothing is left where nothing may be.
    fn is_end(&self, choices: &Choices<M::State>) -> bool {
        let over = |(thread, place): (&Vec<Boxed<O>>, &ThreadPosition)| {
            thread.get(place.index as usize).is_none_or(|next| next.end == NEVER)
        };
        self.threads.iter().zip(&choices.places).all(over)
            && (!self.drained || self.object.is_empty(&choices.state))
    }

    /// Adds what can be tried from a configuration.
    fn look(&self, mut choices: Choices<M::State>) -> Choices<M::State> {
        let open = || {
            let each = self.threads.iter().zip(&choices.places).enumerate();
            each.filter_map(|(at, (thread, place))| {
                thread.get(place.index as usize).map(|next| (at, &place.done, next))
            })
        };
        let Some(due) = open().min_by_key(|(_, _, next)| next.end) else { return choices };
        let due = due.2;
        let (mut left, mut next) = (Vec::new(), Vec::new());
        for (thread, done, operation) in open().filter(|(_, _, next)| next.start <= due.end) {
            for (at, step) in operation.steps.iter().enumerate() {
                let must_come = |before: &usize| {
                    let of = &operation.steps[*before].operation;
                    !done.contains(*before) && !self.object.repeats(of)
                };
                if done.contains(at) || step.before.as_ref().is_some_and(must_come) {
                    continue;
                }
                self.object.step(&choices.state, &step.operation, &mut next);
                if self.object.reads(&step.operation) && !next.is_empty() {
                    choices.left = vec![(thread, at, next.swap_remove(0))];
                    return choices;
                }
                let rank = self.rank(operation, due, step.takes);
                left.extend(next.drain(..).map(|state| (rank, (thread, at, state))));
            }
        }
        left.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        choices.left = left.into_iter().map(|(_, choice)| choice).collect();
        choices
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

fn fingerprint<S: Hash>(places: &[ThreadPosition], state: &S) -> u128 {
    let half = |salt: u64| {
        let mut hasher = std::hash::DefaultHasher::new();
        (salt, places, state).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}
