//! Sequential objects for the models fifo, lifo and deque, and for these relaxed: value sequences.
//! Queue, stack and deque are one object, because the operation alone decides from which end it
//! removes.

use std::collections::VecDeque;
use std::ops::Range;

use super::object::removed_max;
use super::{Call, Counts, Expect, Expected, Model};
use crate::core::operation::{Family, Op, Status, listed_briefly};

/// Queue, stack or deque: values are added at the back. `dequeue` and `steal` remove from the
/// front, `pop` and `take` from the back.
pub struct Sequence;

fn takes_front(op: Op) -> bool {
    matches!(op, Op::Dequeue | Op::DequeueBulk | Op::DequeSteal)
}

fn take(values: &mut VecDeque<i64>, op: Op) -> Option<i64> {
    if takes_front(op) { values.pop_front() } else { values.pop_back() }
}

impl Sequence {
    /// An open call may have added any prefix of its values, or removed any number up to its limit.
    fn step_open(&self, state: &VecDeque<i64>, call: &Call, next: &mut Vec<VecDeque<i64>>) {
        let mut values = state.clone();
        for value in call.added() {
            values.push_back(*value);
            next.push(values.clone());
        }
        if call.op.removes() {
            for _ in 0..removed_max(call.op, call.args) {
                if take(&mut values, call.op).is_none() {
                    break;
                }
                next.push(values.clone());
            }
        }
    }
}

impl Model<Call<'_>> for Sequence {
    type State = VecDeque<i64>;

    fn init(&self) -> VecDeque<i64> {
        VecDeque::new()
    }

    fn step(&self, state: &VecDeque<i64>, call: &Call, next: &mut Vec<VecDeque<i64>>) {
        match call.status {
            Status::Pending | Status::Unknown => self.step_open(state, call, next),
            Status::Empty if !state.is_empty() => {}
            Status::Ok if call.op.removes() => {
                let mut values = state.clone();
                if call.results.iter().all(|value| take(&mut values, call.op) == Some(*value)) {
                    next.push(values);
                }
            }
            _ => {
                let mut values = state.clone();
                values.extend(call.added());
                next.push(values);
            }
        }
    }

    fn is_empty(&self, state: &VecDeque<i64>) -> bool {
        state.is_empty()
    }

    fn describe_state(&self, state: &VecDeque<i64>) -> String {
        format!("[{}]", listed_briefly(state.iter()))
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        8 * state.len()
    }
}

impl Counts<Call<'_>> for Sequence {
    fn count(&self, state: &VecDeque<i64>) -> usize {
        state.len()
    }
}

impl Expect<Call<'_>> for Sequence {
    fn expected(&self, state: &VecDeque<i64>, call: &Call) -> Expected {
        let mut values = state.clone();
        let count = call.results.len().max(1);
        Expected::Values((0..count).map_while(|_| take(&mut values, call.op)).collect())
    }
}

/// A queue, stack or deque whose removals take one of the `k` values at their end.
pub struct Relaxed {
    pub k: usize,
}

impl Relaxed {
    /// The places of the values that this operation may remove.
    fn choices(&self, values: &VecDeque<i64>, op: Op) -> Range<usize> {
        match takes_front(op) {
            true => 0..self.k.min(values.len()),
            false => values.len().saturating_sub(self.k)..values.len(),
        }
    }

    /// Every way to remove a value, which must equal `wanted` if given.
    fn taken(
        &self,
        values: &VecDeque<i64>,
        op: Op,
        wanted: Option<i64>,
    ) -> impl Iterator<Item = VecDeque<i64>> {
        let fits = move |at: &usize| wanted.is_none_or(|wanted| wanted == values[*at]);
        self.choices(values, op).filter(fits).map(|at| {
            let mut rest = values.clone();
            rest.remove(at);
            rest
        })
    }

    /// The first `k` of a queue are sorted: they may be removed in any order, so their order is no
    /// state. Elsewhere it is: it says which of them others cover first.
    fn normalize(&self, values: &mut VecDeque<i64>, op: Op) {
        if op.family() == Family::Queue {
            let oldest = self.k.min(values.len());
            values.make_contiguous()[..oldest].sort_unstable();
        }
    }
}

impl Model<Call<'_>> for Relaxed {
    type State = VecDeque<i64>;

    fn init(&self) -> VecDeque<i64> {
        VecDeque::new()
    }

    /// The checker passes the removals of an open bulk dequeue one by one.
    fn step(&self, state: &VecDeque<i64>, call: &Call, next: &mut Vec<VecDeque<i64>>) {
        let first = next.len();
        if !call.op.removes() || call.status == Status::Empty {
            Sequence.step(state, call, next);
        } else if call.status.is_open() {
            next.extend(self.taken(state, call.op, None));
        } else {
            let mut level = vec![state.clone()];
            for value in call.results {
                let taken = |values| self.taken(values, call.op, Some(*value));
                level = level.iter().flat_map(taken).collect();
            }
            next.append(&mut level);
        }
        next[first..].iter_mut().for_each(|values| self.normalize(values, call.op));
    }

    fn is_empty(&self, state: &VecDeque<i64>) -> bool {
        state.is_empty()
    }

    fn describe_state(&self, state: &VecDeque<i64>) -> String {
        format!("[{}]", listed_briefly(state.iter()))
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        8 * state.len()
    }
}

impl Counts<Call<'_>> for Relaxed {
    fn count(&self, state: &VecDeque<i64>) -> usize {
        state.len()
    }
}

impl Expect<Call<'_>> for Relaxed {
    fn expected(&self, state: &VecDeque<i64>, call: &Call) -> Expected {
        Expected::Values(self.choices(state, call.op).map(|at| state[at]).collect())
    }
}
