//! Sequential object for the model fifo-per-producer: one queue per producing thread.
//! Each call is atomic here; the checker splits a bulk call whose parts are not.

use std::collections::VecDeque;

use super::object::{removed_max, taken_up_to};
use super::{Call, Counts, Expect, Expected, Model};
use crate::core::operation::{Status, listed_briefly};

type Queues = Vec<VecDeque<i64>>;

/// One queue per producing thread; a dequeue takes the oldest value of any of them.
pub struct Producers {
    /// How many threads there are.
    pub threads: usize,
}

/// Every way to remove one value, which must equal `wanted` if given, from the front of a queue.
fn taken(queues: &Queues, wanted: Option<i64>) -> impl Iterator<Item = Queues> + '_ {
    let fronts = queues.iter().enumerate().filter_map(|(at, queue)| Some((at, *queue.front()?)));
    fronts.filter(move |(_, front)| wanted.is_none_or(|value| value == *front)).map(|(at, _)| {
        let mut rest = queues.clone();
        rest[at].pop_front();
        rest
    })
}

impl Producers {
    fn step_open(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
        let mut queues = state.clone();
        for value in call.added() {
            queues[call.id.thread as usize].push_back(*value);
            next.push(queues.clone());
        }
        if call.op.removes() {
            let any = |queues: &Queues, pass_on: &mut dyn FnMut(Queues)| {
                taken(queues, None).for_each(pass_on);
            };
            taken_up_to(state, removed_max(call.op, call.args), any, next);
        }
    }

    /// A value that is first in two queues, because it was added twice, may come from either.
    fn step_removal(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
        let mut level = vec![state.clone()];
        for value in call.results {
            level = level.iter().flat_map(|queues| taken(queues, Some(*value))).collect();
        }
        next.append(&mut level);
    }
}

impl Model<Call<'_>> for Producers {
    type State = Queues;

    fn init(&self) -> Queues {
        vec![VecDeque::new(); self.threads]
    }

    fn step(&self, state: &Queues, call: &Call, next: &mut Vec<Queues>) {
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
                let mut queues = state.clone();
                queues[call.id.thread as usize].extend(call.added());
                next.push(queues);
            }
        }
    }

    fn is_empty(&self, state: &Queues) -> bool {
        state.iter().all(VecDeque::is_empty)
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn describe_state(&self, state: &Queues) -> String {
        let queues = state.iter().map(|queue| format!("[{}]", listed_briefly(queue.iter())));
        format!("[{}]", queues.collect::<Vec<_>>().join(", "))
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.iter().map(|queue| 32 + 8 * queue.len()).sum()
    }
}

impl Counts<Call<'_>> for Producers {
    fn count(&self, state: &Queues) -> usize {
        state.iter().map(VecDeque::len).sum()
    }
}

impl Expect<Call<'_>> for Producers {
    fn expected(&self, state: &Queues, _: &Call) -> Expected {
        let fronts = state.iter().filter_map(|queue| queue.front().copied());
        Expected::Values(fronts.collect())
    }
}
