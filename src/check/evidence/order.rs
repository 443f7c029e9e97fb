//! Finds one order that explains a history (`search::depth_first`), and the first states it leaves.
//! It is for showing: the search may fail to find an order, and the verdict comes from the checker.
//! Every order that it finds is one, as the object took each step.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::region::NotShown;
use super::shown_state;
use crate::check::data::bits::WORD;
use crate::check::data::empty_answers;
use crate::check::data::own::own;
use crate::check::data::scope::refuse;
use crate::check::data::values::{Values, added_by, taken_by};
use crate::check::search::depth_first::{Boxed, DepthFirst, Instant, NoOrder};
use crate::check::search::history::{Task, with_object};
use crate::check::search::steps::{Step, Steps};
use crate::check::verdict::Limits;
use crate::core::history::{History, NEVER, OperationId};
use crate::model::{Call, Expect, Kind, Spec};

/// Operations of the longest history that is tried.
const OPERATIONS_MAX: usize = 300_000;
/// Steps that are tried, for each operation and in all.
const TRIES_PER_OPERATION: usize = 40;
const TRIES_MIN: usize = 100_000;
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

impl<'a> Task<'a> for Seek<'a, '_> {
    type Output = Result<Order, NotShown>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Self::Output {
        let threads = self.threads();
        if threads.iter().flatten().any(|operation| operation.steps.len() > WORD) {
            return Err(NotShown::TooManySteps);
        }
        let way = DepthFirst {
            object,
            threads: &threads,
            stack: self.spec.kind == Kind::Lifo && !self.spec.is_relaxed(),
            drained: self.history.drained,
            tries: self.history.len() * TRIES_PER_OPERATION + TRIES_MIN,
            limits: self.limits,
        };
        let path = way.find().map_err(|none| match none {
            NoOrder::TooLate => NotShown::OrderTooLate,
            NoOrder::Missed => NotShown::OrderMissed,
            NoOrder::Stopped(why) => why.into(),
        })?;
        let mut order = Order::default();
        let (mut state, mut bytes, mut next) = (object.init(), 0, Vec::new());
        for (thread, place, step, choice) in path {
            let operation = &threads[thread][place];
            order.operations.push(operation.id);
            if order.states.len() < STATES_MAX && bytes < STATES_BYTES_MAX {
                object.step(&state, &operation.steps[step].operation, &mut next);
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
    fn threads(&self) -> Vec<Vec<Boxed<Call<'a>>>> {
        let instant = |Step { call, before }: Step<'a>| {
            let takes = call.op.removes();
            Instant { operation: call, before, takes }
        };
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
                    steps: parts.drain(..).map(instant).collect(),
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
