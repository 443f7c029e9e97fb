//! Checks a queue that keeps the order of each producer. Exact unless a bulk operation is one
//! atomic step or a dequeue has no answer; then a broken rule is a violation, and the general
//! search decides the rest.
//!
//! A producer is a thread. Its enqueues are totally ordered, so its queue is in order exactly if no
//! value's dequeue ends before the dequeue of an earlier one starts: a running maximum decides.
//! Queues of different producers are independent objects; linearizability is local (Herlihy and
//! Wing 1990). Only a "strong" empty answer reads them all at once.
//!
//! On 24 operations of 3 threads it is 12 times as fast as the general search (bench `checking`).

use super::cover::{Inside, covering};
use super::empty_lone::OperationIds;
use super::removals::{Broken, Removals, Taken};
use super::{bulk_order, empty_count, empty_lone, removals};
use crate::check::data::filter::passing;
use crate::check::data::merged::Turn;
use crate::check::data::values::{Values, added_by};
use crate::check::data::{merged, witnesses};
use crate::core::history::{History, NEVER, Operation, OperationId};
use crate::core::operation::Status;
use crate::model::{Empty, Spec};

/// The first broken rule, if any.
pub fn judge(history: &History, spec: &Spec, values: &Values) -> Result<(), Broken> {
    let Removals { table, any_empty, any_bulk } = removals::removals(history, values)?;
    if any_bulk {
        bulk_order::judge(history, spec, values)?;
    }
    // Calls that share a timebox lie in several threads, so that a thread is no whole producer.
    if any_empty && spec.empty == Empty::Count && !history.has_blocks() {
        empty_count::judge(history, values)?;
    }
    removals::lost(history, values, &table)?;
    let lone = if any_empty && matches!(spec.empty, Empty::Lone | Empty::Count) {
        empty_lone::empty_answers(history)
    } else {
        OperationIds::new()
    };
    for producer in 0..history.threads.len() {
        order(history, values, &table, producer, &lone)?;
    }
    if any_empty && spec.empty >= Empty::Identity {
        empty_answers(history, spec, values, &table)?;
    }
    Ok(())
}

/// Whether the values of one producer were taken in the order in which it added them, and none was
/// inside during an "empty" answer of `lone`. While such a call is open no other takes anything, so
/// a value that was inside when it began and is taken after it ended was inside throughout: the
/// running maximum that decides the order decides this too.
fn order(
    history: &History,
    values: &Values,
    table: &[Taken],
    producer: usize,
    lone: &[OperationId],
) -> Result<(), Broken> {
    let thread = &history.threads[producer];
    // Of the values so far, the latest start of a dequeue, and the value.
    let mut latest = (0, 0);
    let mut lone = lone.iter().map(|id| (*id, history.operation(*id))).peekable();
    let wrong = |id, value| Broken::excusable(witnesses::empty_while_full(history, id, &[value]));
    for (_, operation) in passing(thread.operations(), |operation| operation.op.adds()) {
        while let Some((id, empty)) = lone.next_if(|(_, empty)| empty.start <= operation.end) {
            if latest.0 > empty.end {
                return Err(wrong(id, latest.1));
            }
        }
        for &value in added_by(thread, operation) {
            let taken = table[values.added(producer, value)];
            if taken.end < operation.start {
                return Err(Broken::certain(witnesses::from_nowhere(history, value)));
            }
            if taken.end < latest.0 {
                let witness = witnesses::overtaken(history, [latest.1, value], true);
                return Err(Broken { witness, excusable: latest.0 == NEVER });
            }
            if taken.start > latest.0 {
                latest = (taken.start, value);
            }
        }
    }
    match lone.find(|(_, empty)| latest.0 > empty.end) {
        Some((id, _)) => Err(wrong(id, latest.1)),
        None => Ok(()),
    }
}

/// Whether every "empty" answer can be right: one walk over the returns.
fn empty_answers(
    history: &History,
    spec: &Spec,
    values: &Values,
    table: &[Taken],
) -> Result<(), Broken> {
    // One common instant is asked for, or one for each producer.
    let common = spec.empty == Empty::Strong;
    let mut inside = Inside::new(if common { 1 } else { history.threads.len() });
    let moves = |o: &Operation| o.op.adds() | (o.status == Status::Empty);
    for Turn { id, operation, .. } in merged::by_return(history, moves) {
        let at = id.thread as usize;
        if operation.op.adds() {
            for &value in added_by(&history.threads[at], operation) {
                let taken = table[values.added(at, value)];
                inside.added(if common { 0 } else { at }, operation.end, taken);
            }
        } else if let Some(group) = inside.covered(operation.start, operation.end) {
            let among = |thread, _| common || thread == group;
            let span = (operation.start, operation.end);
            let inside = covering(history, values, table, span, among);
            return Err(Broken::excusable(witnesses::empty_while_full(history, id, &inside)));
        }
    }
    Ok(())
}
