//! A line of values that grows at its back: queue, stack and deque. Calls come in, the line they
//! leave behind goes out; which end a call takes from is a matter of the operation alone. Does not
//! know which of the three it is. Also the relaxed queue, which takes from near its front.

use std::collections::VecDeque;

use super::object::most;
use super::{Call, Expect, Model};
use crate::core::operation::{Op, Status, listed_briefly};

/// Queue, stack or deque: values are added at the back, taken by `dequeue` and `steal` from the
/// front, by `pop` and `take` from the back.
pub struct Sequence;

fn takes_front(op: Op) -> bool {
    matches!(op, Op::Dequeue | Op::DequeueBulk | Op::DequeSteal)
}

fn take(line: &mut VecDeque<i64>, op: Op) -> Option<i64> {
    if takes_front(op) { line.pop_front() } else { line.pop_back() }
}

impl Sequence {
    /// Every prefix of an open call's values may have been added, any number it may take taken.
    fn step_open(&self, state: &VecDeque<i64>, call: &Call, next: &mut Vec<VecDeque<i64>>) {
        let mut line = state.clone();
        for value in call.added() {
            line.push_back(*value);
            next.push(line.clone());
        }
        if call.op.removes() {
            for _ in 0..most(call) {
                if take(&mut line, call.op).is_none() {
                    break;
                }
                next.push(line.clone());
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
                let mut line = state.clone();
                if call.results.iter().all(|value| take(&mut line, call.op) == Some(*value)) {
                    next.push(line);
                }
            }
            _ => {
                let mut line = state.clone();
                line.extend(call.added());
                next.push(line);
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

impl Expect<Call<'_>> for Sequence {
    fn expected(&self, state: &VecDeque<i64>, call: &Call) -> String {
        let mut line = state.clone();
        let count = call.results.len().max(1);
        let values: Vec<_> = (0..count).map_while(|_| take(&mut line, call.op)).collect();
        super::object::values_or_empty(&values)
    }
}

/// A queue whose dequeue takes one of its `k` oldest values.
pub struct Relaxed {
    pub k: usize,
}

impl Relaxed {
    /// Every way to take one value, `wanted` if one is, that may leave next.
    fn taken(
        &self,
        line: &VecDeque<i64>,
        wanted: Option<i64>,
    ) -> impl Iterator<Item = VecDeque<i64>> {
        let near = line.iter().take(self.k).enumerate();
        let able = near.filter(move |(_, value)| wanted.is_none_or(|wanted| wanted == **value));
        able.map(|(at, _)| {
            let mut rest = line.clone();
            rest.remove(at);
            rest
        })
    }

    /// The first `k` may leave in any order.
    fn normalize(&self, line: &mut VecDeque<i64>) {
        let near = self.k.min(line.len());
        line.make_contiguous()[..near].sort_unstable();
    }
}

impl Model<Call<'_>> for Relaxed {
    type State = VecDeque<i64>;

    fn init(&self) -> VecDeque<i64> {
        VecDeque::new()
    }

    /// An open bulk dequeue is given step by step.
    fn step(&self, state: &VecDeque<i64>, call: &Call, next: &mut Vec<VecDeque<i64>>) {
        let first = next.len();
        if !call.op.removes() || call.status == Status::Empty {
            Sequence.step(state, call, next);
        } else if call.status.is_open() {
            next.extend(self.taken(state, None));
        } else {
            let mut level = vec![state.clone()];
            for value in call.results {
                level = level.iter().flat_map(|line| self.taken(line, Some(*value))).collect();
            }
            next.append(&mut level);
        }
        next[first..].iter_mut().for_each(|line| self.normalize(line));
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

impl Expect<Call<'_>> for Relaxed {
    fn expected(&self, state: &VecDeque<i64>, _: &Call) -> String {
        let oldest: Vec<_> = state.iter().take(self.k).copied().collect();
        super::object::values_or_empty(&oldest)
    }
}
