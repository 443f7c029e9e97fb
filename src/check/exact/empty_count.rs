//! Checks the "count" promise of an empty answer: per producer, at some instant of the call, no
//! more enqueues had returned than successful dequeues had been called. It is no linearizability
//! condition: it does not ask which value a dequeue takes. A dequeue without an answer counts as
//! one of every producer.

use super::removals::Broken;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::values::{Values, added_by, taken_by};
use crate::check::explanation::{Explanation, OfValues};
use crate::check::verdict::Witness;
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};

/// By producer: the surplus of returned enqueues, and since when it has been positive.
struct Surpluses(Vec<(i64, u64)>);

impl Surpluses {
    #[inline]
    fn add(&mut self, producer: usize, change: i64, now: u64) {
        let (surplus, since) = &mut self.0[producer];
        if *surplus <= 0 && *surplus + change > 0 {
            *since = now;
        }
        *surplus += change;
    }

    /// The first producer with a surplus at every instant from `start` until now.
    fn lasting(&self, start: u64) -> Option<usize> {
        self.0.iter().position(|(surplus, since)| *surplus > 0 && *since < start)
    }

    fn called(&mut self, history: &History, values: &Values, event: HistoryEvent) {
        let thread = &history.threads[event.id.thread as usize];
        for &value in taken_by(thread, event.operation) {
            let number = values.get(value).expect("the table of removals has checked it");
            self.add(values.producer(number), -1, event.time);
        }
        if event.operation.op.removes() && event.operation.status.is_open() {
            let bulk = event.operation.op == Op::DequeueBulk;
            let most = if bulk { thread.args(event.operation)[0].max(0) } else { 1 };
            (0..self.0.len()).for_each(|producer| self.add(producer, -most, event.time));
        }
    }
}

pub fn judge(history: &History, values: &Values) -> Result<(), Broken> {
    let mut surpluses = Surpluses(vec![(0, 0); history.threads.len()]);
    for event in Events::new(history) {
        if !event.returns {
            surpluses.called(history, values, event);
        } else if event.operation.status == Status::Empty {
            if let Some(producer) = surpluses.lasting(event.operation.start) {
                return Err(Broken::certain(outnumbered(history, event.id, producer)));
            }
        } else {
            let thread = &history.threads[event.id.thread as usize];
            let added = added_by(thread, event.operation).len() as i64;
            surpluses.add(event.id.thread as usize, added, event.time);
        }
    }
    Ok(())
}

/// During all of an "empty" call, a producer had added more than was being taken.
fn outnumbered(history: &History, empty: OperationId, producer: usize) -> Witness {
    let start = history.operation(empty).start;
    let adds = history.threads[producer].operations();
    let last = adds.iter().rposition(|add| add.op.adds() && add.end < start);
    let index = last.expect("a surplus has an addition") as u32;
    let addition = OperationId { thread: producer as u32, index };
    let explanation =
        Explanation::Values(OfValues::EmptyWhileOutnumbered { removal: empty, addition });
    Witness::new("empty-while-full", explanation, vec![addition, empty])
}
