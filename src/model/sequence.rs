//! Sequential objects for the models fifo, lifo, deque and fifo-relaxed: value sequences.
//! The first three are one object, because the operation alone decides from which end it removes.

use std::collections::VecDeque;

use super::object::removed_max;
use super::{Call, Counts, Expect, Expected, Model};
use crate::core::operation::{Op, Status, listed_briefly};

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

/// A queue whose dequeue takes one of its `k` oldest values.
pub struct Relaxed {
    pub k: usize,
}

impl Relaxed {
    /// Every way to remove one of the `k` oldest values, which must equal `wanted` if given.
    fn taken(
        &self,
        values: &VecDeque<i64>,
        wanted: Option<i64>,
    ) -> impl Iterator<Item = VecDeque<i64>> {
        let oldest = values.iter().take(self.k).enumerate();
        let fits = oldest.filter(move |(_, value)| wanted.is_none_or(|wanted| wanted == **value));
        fits.map(|(at, _)| {
            let mut rest = values.clone();
            rest.remove(at);
            rest
        })
    }

    /// The first `k` are sorted: they may be removed in any order, so their order is no state.
    fn normalize(&self, values: &mut VecDeque<i64>) {
        let oldest = self.k.min(values.len());
        values.make_contiguous()[..oldest].sort_unstable();
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
            next.extend(self.taken(state, None));
        } else {
            let mut level = vec![state.clone()];
            for value in call.results {
                level = level.iter().flat_map(|values| self.taken(values, Some(*value))).collect();
            }
            next.append(&mut level);
        }
        next[first..].iter_mut().for_each(|values| self.normalize(values));
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
    fn expected(&self, state: &VecDeque<i64>, _: &Call) -> Expected {
        Expected::Values(state.iter().take(self.k).copied().collect())
    }
}
