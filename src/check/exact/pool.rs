//! Checks a pool of which some removal has no answer, exactly. [`super::fifo`] decides the others.
//!
//! Such a removal may have taken values that nobody else took, up to as many as it asked for, at
//! any time after its call: a matter of numbers alone. An "empty" answer is right at an instant at
//! which no value that was taken is certainly inside, and no more of the others have been added
//! than removals without an answer may have taken. Different answers do not hinder each other: the
//! values go in the order in which they were added to those removals in the order of their calls
//! (Hall's condition, of sets within each other).

use super::removals::{self, Taken};
use crate::check::data::empty_answers::{OpenRemovals, must_be_true};
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::small::Few;
use crate::check::data::values::{Bits, Values, added_by, taken_by};
use crate::check::data::witnesses;
use crate::check::search::history::{left_over, unexplained};
use crate::check::verdict::Witness;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Status;
use crate::model::{Spec, removed_max};

/// What is inside at the instant at hand.
struct Inside<'a> {
    history: &'a History,
    values: &'a Values,
    table: &'a [Taken],
    /// Which of those that are taken for certain are certainly inside, and how many that are.
    held: Bits,
    count: usize,
    /// How many of the others were added, and how many of them may have gone.
    left: usize,
    asked: usize,
}

impl Inside<'_> {
    fn called(&mut self, event: &HistoryEvent) {
        let thread = &self.history.threads[event.id.thread as usize];
        if event.operation.op.removes() && event.operation.status.is_open() {
            let most = removed_max(event.operation.op, self.history.args(event.id));
            self.asked = self.asked.saturating_add(most);
        }
        for value in taken_by(thread, event.operation) {
            let number = self.values.get(*value).expect("the table of removals has checked it");
            self.count -= usize::from(self.held.contains(number));
        }
    }

    fn returned(&mut self, event: &HistoryEvent) {
        let thread = event.id.thread as usize;
        for value in added_by(&self.history.threads[thread], event.operation) {
            let number = self.values.added(thread, *value);
            let taken = self.table[number].start;
            self.left += usize::from(taken == NEVER);
            if taken != NEVER && taken > event.time {
                self.held.insert(number);
                self.count += 1;
            }
        }
    }

    fn may_be_empty(&self) -> bool {
        self.count == 0 && self.left <= self.asked
    }
}

/// Whether every value was added before it was taken.
fn too_early(history: &History, values: &Values, table: &[Taken]) -> Result<(), Witness> {
    for (at, thread) in history.threads.iter().enumerate() {
        for operation in thread.operations() {
            let is_early = |value: &&i64| table[values.added(at, **value)].end < operation.start;
            if let Some(value) = added_by(thread, operation).iter().find(is_early) {
                return Err(witnesses::from_nowhere(history, *value));
            }
        }
    }
    Ok(())
}

/// The first answer that cannot be explained, of distinct values.
pub fn judge(history: &History, spec: &Spec, values: &Values) -> Result<(), Witness> {
    let table = removals::removals(history, values).map_err(|broken| broken.witness)?.table;
    too_early(history, values, &table)?;
    let held = Bits::new(values.len());
    let mut inside = Inside { history, values, table: &table, held, count: 0, left: 0, asked: 0 };
    let (mut under_way, mut last_empty): (Few<OperationId>, _) = (Few::new(), None);
    let mut removals = OpenRemovals::new(history.threads.len());
    for event in Events::new(history) {
        let (id, removes) = (event.id, event.operation.op.removes());
        if !event.returns {
            under_way.push(id);
            inside.called(&event);
            if removes {
                removals.call(id.thread);
            }
            continue;
        }
        let lone = removes && removals.returns(id.thread);
        under_way.retain(|other| *other != id);
        if inside.may_be_empty() {
            last_empty = Some(event.time);
        }
        inside.returned(&event);
        let is_promised = event.operation.status == Status::Empty && must_be_true(spec, lone);
        if is_promised && last_empty < Some(event.operation.start) {
            under_way.sort_unstable();
            return Err(unexplained(id, under_way.to_vec()));
        }
    }
    match history.drained && inside.left > inside.asked {
        true => Err(left_over(history)),
        false => Ok(()),
    }
}
