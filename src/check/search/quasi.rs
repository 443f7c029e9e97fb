//! Searches for an order in which each operation is at most so many places from where it is in some
//! linearization: quasi-linearizability, with one factor for all operations (Afek, Korland,
//! Yanovsky, OPODIS 2010).
//!
//! The search makes linearizations, as always. The object is that many operations behind them, and
//! then takes one of those that may stand at its next place.

use super::frontier::{MANY, Search, or_wider};
use super::history::{Task, with_object};
use super::position::Position;
use super::steps::{Step, Steps};
use crate::check::data::empty_answers::must_be_true;
use crate::check::data::events::Events;
use crate::check::data::small::Few;
use crate::check::data::values::Values;
use crate::check::undecided::{Exhausted, Undecided};
use crate::check::verdict::Limits;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Status;
use crate::model::{Call, Expect, Model, Spec};

/// Whether there is such an order. `spec` is none of transactions.
pub fn is_quasi_linearizable(
    (history, factor): (&History, u32),
    spec: &Spec,
    limits: &Limits,
) -> Result<bool, Undecided> {
    let values = Values::from_history(history).ok();
    let steps = Steps::new(history, spec, values.as_ref());
    if !steps.knows_producers() {
        return Err(Undecided::ProducersUnknown);
    }
    let task = Shifts { history, factor: factor as usize, spec, steps: &steps, limits };
    with_object(history, spec, task).map_err(Undecided::Exhausted)
}

struct Shifts<'a, 'b> {
    history: &'a History,
    factor: usize,
    spec: &'b Spec,
    steps: &'b Steps<'a>,
    limits: &'b Limits,
}

impl<'a> Task<'a> for Shifts<'a, '_> {
    type Output = Result<bool, Exhausted>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Result<bool, Exhausted> {
        let behind = Behind { object, factor: self.factor, drained: self.history.drained };
        or_wider(self.exists::<M, 1>(&behind), || self.exists::<M, MANY>(&behind))
    }
}

impl<'a> Shifts<'a, '_> {
    fn exists<M: Model<Call<'a>>, const WORDS: usize>(
        &self,
        behind: &Behind<M>,
    ) -> Result<bool, Exhausted> {
        let mut search: Search<_, _, WORDS> = Search::new(behind, self.limits);
        let mut position = Position::new(behind.init());
        let mut parts: Few<Step> = Few::new();
        for event in Events::new(self.history) {
            if event.returns {
                if !position.respond(&mut search, event.id)? {
                    return Ok(false);
                }
                continue;
            }
            self.steps.fill(event.id, &mut parts);
            let operation = self.history.operation(event.id);
            // Which answers are lone depends on the time.
            if operation.status == Status::Empty && !must_be_true(self.spec, false) {
                parts.clear();
            }
            let steps = parts.iter().map(|step| (step.call, step.before));
            match operation.end {
                NEVER => position.invoke_pending(&mut search, event.id, steps)?,
                _ => drop(position.invoke(&mut search, event.id, steps)?),
            }
        }
        search.can_be_empty(&position.frontier)
    }
}

/// An object that is behind a linearization.
struct Behind<'m, M> {
    object: &'m M,
    factor: usize,
    drained: bool,
}

/// A call that the object has not taken.
#[derive(Clone, Copy, Debug)]
struct Left<'a> {
    call: Call<'a>,
    /// How many places its place in the linearization is before the object's next one; less than 0
    /// if it comes after that.
    late: isize,
}

impl PartialEq for Left<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Left<'_> {}

impl std::hash::Hash for Left<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl<'a> Left<'a> {
    fn key(&self) -> (OperationId, Option<u32>, &'a [i64], &'a [i64], isize) {
        let Call { id, queue, args, results, .. } = self.call;
        (id, queue, args, results, self.late)
    }
}

/// The state of the object, and the calls that it has not taken, in the order of the linearization.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shifted<'a, S> {
    state: S,
    left: Few<Left<'a>>,
}

impl<M> Behind<'_, M> {
    /// What there may be after the object has taken one more call.
    fn take<'a>(&self, from: &Shifted<'a, M::State>, next: &mut Vec<Shifted<'a, M::State>>)
    where
        M: Model<Call<'a>>,
    {
        let factor = self.factor as isize;
        // One that can be taken at no later place is the only one.
        let is_due = from.left.first().is_some_and(|first| first.late == factor);
        let may_be_next = if is_due { 1 } else { from.left.len() };
        let mut states = Vec::new();
        for at in 0..may_be_next {
            self.object.step(&from.state, &from.left[at].call, &mut states);
            let mut left = from.left.clone();
            left.remove(at);
            left.iter_mut().for_each(|left| left.late += 1);
            next.extend(states.drain(..).map(|state| Shifted { state, left: left.clone() }));
        }
    }
}

impl<'a, M: Model<Call<'a>>> Model<Call<'a>> for Behind<'_, M> {
    type State = Shifted<'a, M::State>;

    fn init(&self) -> Self::State {
        Shifted { state: self.object.init(), left: Few::new() }
    }

    fn step(&self, from: &Self::State, call: &Call<'a>, next: &mut Vec<Self::State>) {
        let mut to = from.clone();
        to.left.push(Left { call: *call, late: -(from.left.len() as isize) });
        if to.left.len() > self.factor { self.take(&to, next) } else { next.push(to) }
    }

    fn repeats(&self, step: &Call<'a>) -> bool {
        self.object.repeats(step)
    }

    /// Whether the object can take all that are left, and may then be left so.
    fn is_empty(&self, at: &Self::State) -> bool {
        if at.left.is_empty() {
            return !self.drained || self.object.is_empty(&at.state);
        }
        let mut next = Vec::new();
        self.take(at, &mut next);
        next.iter().any(|state| self.is_empty(state))
    }

    fn weight(&self, at: &Self::State) -> usize {
        self.object.weight(&at.state) + at.left.len() * size_of::<Left>()
    }
}
