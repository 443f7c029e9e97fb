//! A queue that keeps the order of each producer, as a sequential object for the general search
//! whose state is two numbers a producer, however much the queue holds. It is for values that are
//! added once. `model::Producers` is the same with the values themselves, which people can read.
//!
//! A thread adds in its program order, and nothing after a call that may not have added its values;
//! so inside are its values from the one that is to be taken next up to the last that was added: a
//! range of their numbers.

use crate::check::data::small::Few;
use crate::check::data::values::Values;
use crate::core::history::History;
use crate::core::operation::Status;
use crate::model::{Call, Model, removed_max};

pub struct ProducerRanges<'a> {
    values: &'a Values,
    threads: usize,
}

/// The numbers of one producer's values that are inside; of an empty line the end of the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerRange {
    first: u32,
    end: u32,
}

type Ranges = Few<ProducerRange>;

impl ProducerRange {
    fn is_empty(&self) -> bool {
        self.first == self.end
    }
}

impl<'a> ProducerRanges<'a> {
    pub fn new(history: &History, values: &'a Values) -> ProducerRanges<'a> {
        ProducerRanges { values, threads: history.threads.len() }
    }

    /// One more value of its producer, the next in program order.
    fn add(&self, state: &mut Ranges, producer: u32, value: i64) {
        let number = self.values.added(producer as usize, value) as u32;
        let line = &mut state[producer as usize];
        if line.is_empty() {
            line.first = number;
        }
        line.end = number + 1;
    }

    /// Takes the first value of a line that is not empty.
    fn take(&self, state: &Ranges, producer: usize) -> Ranges {
        let mut rest = state.clone();
        let line = &mut rest[producer];
        // Numbers between may be those of values that were refused.
        let after = line.first as usize + 1..line.end as usize;
        line.first = self.values.next_used(after) as u32;
        rest
    }

    fn take_value(&self, state: &Ranges, value: i64) -> Option<Ranges> {
        let number = self.values.get(value)?;
        let producer = self.values.producer(number);
        let line = state[producer];
        let is_first = !line.is_empty() && line.first as usize == number;
        is_first.then(|| self.take(state, producer))
    }

    /// A call that may have had its whole effect, or the first part of it.
    fn step_open(&self, state: &Ranges, call: &Call, next: &mut Vec<Ranges>) {
        let mut more = state.clone();
        for value in call.added() {
            self.add(&mut more, call.id.thread, *value);
            next.push(more.clone());
        }
        let mut level = vec![state.clone()];
        let most = if call.op.removes() { removed_max(call.op, call.args) } else { 0 };
        for _ in 0..most {
            let mut lower: Vec<Ranges> = Vec::new();
            for state in &level {
                let some = (0..state.len()).filter(|at| !state[*at].is_empty());
                lower.extend(some.map(|at| self.take(state, at)));
            }
            lower.sort_unstable();
            lower.dedup();
            if lower.is_empty() {
                break;
            }
            next.extend(lower.iter().cloned());
            level = lower;
        }
    }
}

impl Model<Call<'_>> for ProducerRanges<'_> {
    type State = Ranges;

    fn init(&self) -> Ranges {
        Few::from_elem(ProducerRange::default(), self.threads)
    }

    fn step(&self, state: &Ranges, call: &Call, next: &mut Vec<Ranges>) {
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
            Status::Ok if call.op.removes() => {
                let mut values = call.results.iter();
                next.extend(values.try_fold(state.clone(), |s, v| self.take_value(&s, *v)));
            }
            _ => {
                let mut more = state.clone();
                call.added().iter().for_each(|value| self.add(&mut more, call.id.thread, *value));
                next.push(more);
            }
        }
    }

    fn is_empty(&self, state: &Ranges) -> bool {
        state.iter().all(ProducerRange::is_empty)
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Ranges) -> usize {
        if state.spilled() { size_of::<ProducerRange>() * state.len() } else { 0 }
    }
}
