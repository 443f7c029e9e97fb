//! A queue that keeps the order of each producer: one line of values per producing thread. Calls
//! come in, the lines they leave behind go out. Does not know whether the parts of a bulk call
//! happen at one instant: each call it is given does.

use std::collections::VecDeque;

use super::object::{most, values_or_empty};
use super::{Call, Expect, Model};
use crate::core::operation::{Status, listed_briefly};

type Lines = Vec<VecDeque<i64>>;

/// One queue per producing thread; a dequeue takes the oldest value of any of them.
pub struct Producers {
    /// How many threads there are.
    pub threads: usize,
}

/// Every way to take one value that `wanted` accepts from the front of a line.
fn taken(lines: &Lines, wanted: Option<i64>) -> impl Iterator<Item = Lines> + '_ {
    let fronts = lines.iter().enumerate().filter_map(|(at, line)| Some((at, *line.front()?)));
    fronts.filter(move |(_, front)| wanted.is_none_or(|value| value == *front)).map(|(at, _)| {
        let mut rest = lines.clone();
        rest[at].pop_front();
        rest
    })
}

impl Producers {
    fn step_open(&self, state: &Lines, call: &Call, next: &mut Vec<Lines>) {
        let mut lines = state.clone();
        for value in call.added() {
            lines[call.thread as usize].push_back(*value);
            next.push(lines.clone());
        }
        if call.op.removes() {
            let mut level = vec![state.clone()];
            for _ in 0..most(call) {
                let mut lower: Vec<Lines> = Vec::new();
                for rest in level.iter().flat_map(|lines| taken(lines, None)) {
                    if !lower.contains(&rest) {
                        lower.push(rest);
                    }
                }
                if lower.is_empty() {
                    break;
                }
                next.extend(lower.iter().cloned());
                level = lower;
            }
        }
    }

    /// A value that stands first in two lines (it was added twice) may come from either.
    fn step_removal(&self, state: &Lines, call: &Call, next: &mut Vec<Lines>) {
        let mut level = vec![state.clone()];
        for value in call.results {
            level = level.iter().flat_map(|lines| taken(lines, Some(*value))).collect();
        }
        next.append(&mut level);
    }
}

impl Model<Call<'_>> for Producers {
    type State = Lines;

    fn init(&self) -> Lines {
        vec![VecDeque::new(); self.threads]
    }

    fn step(&self, state: &Lines, call: &Call, next: &mut Vec<Lines>) {
        match call.status {
            Status::Pending | Status::Unknown => self.step_open(state, call, next),
            Status::Empty => {
                let empty = match call.queue {
                    Some(queue) => state[queue as usize].is_empty(),
                    None => self.is_empty(state),
                };
                if empty {
                    next.push(state.clone());
                }
            }
            Status::Ok if call.op.removes() => self.step_removal(state, call, next),
            _ => {
                let mut lines = state.clone();
                lines[call.thread as usize].extend(call.added());
                next.push(lines);
            }
        }
    }

    fn is_empty(&self, state: &Lines) -> bool {
        state.iter().all(VecDeque::is_empty)
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn describe_state(&self, state: &Lines) -> String {
        let lines = state.iter().map(|line| format!("[{}]", listed_briefly(line.iter())));
        format!("[{}]", lines.collect::<Vec<_>>().join(", "))
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.iter().map(|line| 32 + 8 * line.len()).sum()
    }
}

impl Expect<Call<'_>> for Producers {
    fn expected(&self, state: &Lines, _: &Call) -> String {
        let fronts: Vec<_> = state.iter().filter_map(|line| line.front().copied()).collect();
        values_or_empty(&fronts)
    }
}
