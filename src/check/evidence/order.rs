//! Finds one order that explains a history, and the first states it leaves. It is for showing: the
//! search may fail to find an order, and the verdict comes from the checker. Every order that it
//! finds is one, as the object took each step.
//!
//! Depth first, one position per thread, with a memory of where it has been (Lowe 2017). A legal
//! read is taken at once (see `search::frontier`). Of several writes those go first whose values
//! are taken first, so that a queue seldom has to be rebuilt.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::region::NotShown;
use super::shown_state;
use crate::check::data::bits::{Places, WORD};
use crate::check::data::empty_answers;
use crate::check::data::own::own;
use crate::check::data::scope::refuse;
use crate::check::data::values::{Values, added_by, taken_by};
use crate::check::search::history::{Task, with_object};
use crate::check::search::steps::{Step, Steps};
use crate::check::verdict::Limits;
use crate::core::history::{History, NEVER, OperationId};
use crate::model::{Call, Expect, Kind, Model, Spec};
use rustc_hash::FxHashSet;

/// Operations of the longest history that is tried.
const OPERATIONS_MAX: usize = 300_000;
/// Steps that are tried, for each operation and in all.
const TRIES_PER_OPERATION: usize = 40;
const TRIES_MIN: usize = 100_000;
/// Tries between two looks at the clock.
const TRIES_BETWEEN_LOOKS: usize = 64;
/// Bytes that the states on the way may take.
const BYTES_MAX: usize = 1 << 29;
/// States that are described, and characters of them in all.
const STATES_MAX: usize = 2_000;
const STATES_BYTES_MAX: usize = 200_000;

/// An order that explains a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// One operation of several steps may come several times. Operations that change nothing and
    /// promise nothing, and those that never happened, are not in it.
    pub operations: Vec<OperationId>,
    /// What each of the first ones left, in the model's words.
    pub states: Vec<String>,
}

/// An order of `history` that `spec` explains; or why none is given. The search ends where `limits`
/// are cancelled, and at their deadline.
pub fn order(history: &History, spec: &Spec, limits: &Limits) -> Result<Order, NotShown> {
    let history = &*own(history, spec).map_err(NotShown::Undecided)?;
    if let Some(why) = refuse(history, spec) {
        return Err(NotShown::Undecided(why));
    }
    if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) {
        return Err(NotShown::Transactions);
    }
    if !spec.is_linearizable() {
        return Err(NotShown::OtherOrders);
    }
    if history.len() > OPERATIONS_MAX {
        return Err(NotShown::TooLong(OPERATIONS_MAX));
    }
    let values = Values::from_history(history).ok();
    let steps = Steps::new(history, spec, values.as_ref());
    if !steps.knows_producers() {
        return Err(NotShown::AddedTwice);
    }
    with_object(history, spec, Seek { history, spec, steps: &steps, limits })
}

struct Seek<'a, 'b> {
    history: &'a History,
    spec: &'b Spec,
    steps: &'b Steps<'a>,
    limits: &'b Limits,
}

/// An operation with what it does.
struct Boxed<'a> {
    id: OperationId,
    start: u64,
    end: u64,
    steps: Vec<Step<'a>>,
    /// When what it adds is taken: the first call that does.
    wanted: u64,
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

impl<'a> Task<'a> for Seek<'a, '_> {
    type Output = Result<Order, NotShown>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Self::Output {
        let threads = self.threads();
        if threads.iter().flatten().any(|operation| operation.steps.len() > WORD) {
            return Err(NotShown::TooManySteps);
        }
        let mut way = DepthFirst {
            object,
            threads: &threads,
            stack: self.spec.kind == Kind::Lifo && !self.spec.is_relaxed(),
            drained: self.history.drained,
            seen: FxHashSet::default(),
            limits: self.limits,
        };
        let (path, mut order) = (way.find(self.history.len())?, Order::default());
        let (mut state, mut bytes, mut next) = (object.init(), 0, Vec::new());
        for (thread, place, step, choice) in path {
            let operation = &threads[thread][place];
            order.operations.push(operation.id);
            if order.states.len() < STATES_MAX && bytes < STATES_BYTES_MAX {
                object.step(&state, &operation.steps[step].call, &mut next);
                state = next.swap_remove(choice);
                next.clear();
                order.states.push(shown_state(self.spec.kind, object.describe_state(&state)));
                bytes += order.states.last().map_or(0, String::len);
            }
        }
        Ok(order)
    }
}

impl<'a> Seek<'a, '_> {
    /// What each thread did that has steps, in its order.
    fn threads(&self) -> Vec<Vec<Boxed<'a>>> {
        let taken = self.taken();
        let not_promised = empty_answers::not_promised(self.history, self.spec);
        let mut parts = SmallVec::new();
        let mut threads = Vec::new();
        for (at, thread) in self.history.threads.iter().enumerate() {
            let mut boxes = Vec::new();
            for (index, operation) in thread.operations().iter().enumerate() {
                let id = OperationId { thread: at as u32, index: index as u32 };
                self.steps.fill(id, &mut parts);
                if parts.is_empty() || not_promised.contains(&id) {
                    continue;
                }
                let added = added_by(thread, operation).iter();
                let wanted = added.map(|value| taken.get(value).copied().unwrap_or(NEVER)).min();
                boxes.push(Boxed {
                    id,
                    start: operation.start,
                    end: operation.end,
                    steps: parts.drain(..).collect(),
                    wanted: wanted.unwrap_or(operation.end),
                });
            }
            threads.push(boxes);
        }
        threads
    }

    /// When the first call that takes each value ends.
    fn taken(&self) -> HashMap<i64, u64> {
        let mut taken = HashMap::new();
        for thread in &self.history.threads {
            for operation in thread.operations() {
                for value in taken_by(thread, operation) {
                    let end = taken.entry(*value).or_insert(operation.end);
                    *end = operation.end.min(*end);
                }
            }
        }
        taken
    }
}

/// A step that was taken: thread, operation and step, and which of the states it allowed.
type Taken = (usize, usize, usize, usize);

struct DepthFirst<'w, 'a, M: Model<Call<'a>>> {
    object: &'w M,
    threads: &'w [Vec<Boxed<'a>>],
    /// The value added last is taken first.
    stack: bool,
    drained: bool,
    /// Hashes of the configurations that were looked at. Two that share one cost a way, no more.
    seen: FxHashSet<u128>,
    limits: &'w Limits,
}

impl<'a, M: Model<Call<'a>>> DepthFirst<'_, 'a, M> {
    fn find(&mut self, operations: usize) -> Result<Vec<Taken>, NotShown> {
        let none = vec![ThreadPosition { index: 0, done: Places::EMPTY }; self.threads.len()];
        let first = Choices { places: none, state: self.object.init(), left: Vec::new() };
        let mut path: Vec<(Choices<M::State>, Taken, usize)> = Vec::new();
        path.push((self.look(first), (0, 0, 0, 0), 0));
        self.limits.go_on()?;
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
            if tries == 0 || bytes > BYTES_MAX {
                return Err(NotShown::OrderTooLate);
            }
            if tries.is_multiple_of(TRIES_BETWEEN_LOOKS) {
                self.limits.go_on()?;
            }
            let (places, taken) = self.after(choices, thread, step, &state);
            if self.seen.insert(fingerprint(&places, &state)) {
                let each = size_of::<M::State>() + self.object.weight(&state);
                let choices = self.look(Choices { places, state, left: Vec::new() });
                let weight = each * (1 + choices.left.len());
                bytes += weight;
                path.push((choices, taken, weight));
            }
        }
        Err(NotShown::OrderMissed)
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
        let repeats = |step: usize| self.object.repeats(&operation.steps[step].call);
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
        self.object.step(&choices.state, &operation.steps[step].call, &mut next);
        let choice = next.iter().position(|other| other == state).expect("it led here");
        (places, (thread, at, step, choice))
    }

    /// Whether all that must have happened has, and nothing is left where nothing may be.
    fn is_end(&self, choices: &Choices<M::State>) -> bool {
        let over = |(thread, place): (&Vec<Boxed>, &ThreadPosition)| {
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
                    !done.contains(*before) && !self.object.repeats(&operation.steps[*before].call)
                };
                if done.contains(at) || step.before.as_ref().is_some_and(must_come) {
                    continue;
                }
                self.object.step(&choices.state, &step.call, &mut next);
                if self.object.reads(&step.call) && !next.is_empty() {
                    choices.left = vec![(thread, at, next.swap_remove(0))];
                    return choices;
                }
                let rank = self.rank(operation, due, step.call.op.removes());
                left.extend(next.drain(..).map(|state| (rank, (thread, at, state))));
            }
        }
        left.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        choices.left = left.into_iter().map(|(_, choice)| choice).collect();
        choices
    }

    /// What to try first: the lowest.
    fn rank(&self, operation: &Boxed, due: &Boxed, removes: bool) -> (u8, u64) {
        let is_due = operation.id == due.id;
        match (operation.end == NEVER, removes) {
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
