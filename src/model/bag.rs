//! Sequential objects for the models pool and priority queue: multisets of values.
//! A pool removes any of its values, a priority queue one of its smallest. Equal values are
//! interchangeable.

use super::object::{removed_max, taken_up_to};
use super::{Call, Counts, Expect, Expected, Model};
use crate::core::operation::{Op, Status};

/// A pool or a priority queue, depending on the operations.
pub struct Bag {
    /// A poll removes one of so many smallest values.
    pub k: usize,
}

/// Descending, so that the smallest is taken from the end.
type Values = Vec<i64>;

fn insert(values: &mut Values, value: i64) {
    let at = values.partition_point(|other| *other > value);
    values.insert(at, value);
}

impl Bag {
    /// Index of the first value that the operation may remove.
    fn first_choice(&self, values: &Values, op: Op) -> usize {
        if op == Op::PriorityPoll { values.len().saturating_sub(self.k) } else { 0 }
    }

    fn take(&self, values: &mut Values, op: Op, wanted: i64) -> bool {
        let from = self.first_choice(values, op);
        let found = values[from..].iter().position(|value| *value == wanted);
        found.map(|at| values.remove(from + at)).is_some()
    }

    /// Appends the states after an open call that removes: it may have taken any number of values,
    /// up to as many as it asks for.
    fn take_any(&self, state: &Values, call: &Call, next: &mut Vec<Values>) {
        let any = |values: &Values, pass_on: &mut dyn FnMut(Values)| {
            for at in self.first_choice(values, call.op)..values.len() {
                let mut values = values.clone();
                values.remove(at);
                pass_on(values);
            }
        };
        taken_up_to(state, removed_max(call.op, call.args), any, next);
    }
}

impl Model<Call<'_>> for Bag {
    type State = Values;

    fn init(&self) -> Values {
        Vec::new()
    }

    fn step(&self, state: &Values, call: &Call, next: &mut Vec<Values>) {
        let mut values = state.clone();
        match call.status {
            status if status.is_open() && call.op.removes() => self.take_any(state, call, next),
            status if status.is_open() => {
                for value in call.added() {
                    insert(&mut values, *value);
                    next.push(values.clone());
                }
            }
            Status::Empty => next.extend(values.is_empty().then_some(values)),
            _ if call.op.removes() => {
                if call.results.iter().all(|value| self.take(&mut values, call.op, *value)) {
                    next.push(values);
                }
            }
            _ => {
                call.added().iter().for_each(|value| insert(&mut values, *value));
                next.push(values);
            }
        }
    }

    /// Of a pool, where values matter to each other only where it must be empty. An addition waits
    /// until its value is to be taken. A removal waits unless it takes what must leave first of
    /// all: where all values have to leave, their order makes no difference.
    fn may_wait(&self, state: &Values, due: &[&Call], open: &[&Call], waits: &mut [bool]) {
        let has_to_be_empty =
            due.is_empty() || open.iter().any(|open| open.status == Status::Empty);
        for (call, waits) in open.iter().zip(waits) {
            let takes = |value| call.status.is_open() || call.results.contains(value);
            *waits = match call.op {
                Op::PriorityInsert | Op::PriorityPoll => false,
                op if op.removes() => !has_to_be_empty || !state.first().is_some_and(takes),
                _ => !due.iter().any(|due| due.results.iter().any(|v| call.added().contains(v))),
            };
        }
    }

    fn is_empty(&self, state: &Values) -> bool {
        state.is_empty()
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        8 * state.capacity()
    }
}

impl Counts<Call<'_>> for Bag {
    fn count(&self, state: &Values) -> usize {
        state.len()
    }
}

impl Expect<Call<'_>> for Bag {
    fn expected(&self, state: &Values, call: &Call) -> Expected {
        match &state[self.first_choice(state, call.op)..] {
            [first, .., last] => Expected::Between(*last, *first),
            values => Expected::Values(values.to_vec()),
        }
    }
}
