//! The drain: after all threads are done, one thread takes out or reads all that is left, so that a
//! lost value shows.

use interlap::core::operation::{Op, Status};

use crate::library::Role;
use crate::timebox::Outcome;
use crate::workload::Shape;

/// A drain makes so many calls more than values were added.
pub const SURPLUS: u64 = 16;

/// Keys that are read between the parts of a round at most.
pub const KEYS_READ_MAX: u64 = 1 << 12;

/// The calls of the drain.
enum Drain {
    /// Removes one by one until the answer is empty.
    UntilEmpty(Op),
    /// Reads every key.
    EachKey(Op),
    /// Reads a log from its first record to its end.
    EachRecord,
    /// Reads every key in one transaction.
    InTransaction,
    /// Reads once.
    Once(Op),
    /// The target offers no such operation.
    Nothing,
}

impl Drain {
    fn from_operations(operations: &[(Op, Role)]) -> Drain {
        let offers = |op: &Op| operations.iter().any(|(offered, _)| offered == op);
        use Op::*;
        let removers = [Dequeue, Pop, DequeTake, DequeSteal, PriorityPoll, DequeueBulk];
        if let Some(op) = removers.into_iter().find(offers) {
            return Drain::UntilEmpty(op);
        }
        if let Some(op) = [SetContains, MapGet, KvGet, SetRemove].into_iter().find(offers) {
            return Drain::EachKey(op);
        }
        if offers(&StoreBegin) && offers(&StoreRead) {
            return Drain::InTransaction;
        }
        if offers(&LogRead) {
            return Drain::EachRecord;
        }
        let once = [RegisterRead, CounterRead, LogCheckTail, SetSize].into_iter().find(offers);
        once.map_or(Drain::Nothing, Drain::Once)
    }
}

/// The thread that may empty a structure while the others of a round wait, if any may.
pub fn emptier(operations: &[(Op, Role)], threads: u32) -> Option<u32> {
    let Drain::UntilEmpty(removes) = Drain::from_operations(operations) else { return None };
    let of_it = operations.iter().filter(|(op, _)| *op == removes);
    of_it.flat_map(|(_, role)| (0..threads).find(|thread| role.admits(*thread))).next()
}

/// The thread that may read all keys of a store in one transaction, if any may and there are not
/// too many.
pub fn store_reader(operations: &[(Op, Role)], shape: &Shape) -> Option<u32> {
    if !matches!(Drain::from_operations(operations), Drain::InTransaction)
        || shape.keys() > KEYS_READ_MAX
    {
        return None;
    }
    let wanted = [Op::StoreBegin, Op::StoreRead, Op::StoreCommit];
    let may = |thread: &u32, wanted: Op| {
        operations.iter().any(|(op, role)| *op == wanted && role.admits(*thread))
    };
    (0..shape.threads).find(|thread| wanted.iter().all(|op| may(thread, *op)))
}

/// Drains the structure while no other thread calls it; whether it was emptied.
pub fn drain(
    operations: &[(Op, Role)],
    shape: &Shape,
    added: u64,
    call: &mut dyn FnMut(Op, &[i64]) -> Outcome,
) -> bool {
    match Drain::from_operations(operations) {
        Drain::UntilEmpty(op) => {
            let most = [shape.values_per_call() as i64];
            let args = if op == Op::DequeueBulk { &most[..] } else { &[] };
            // A broken structure may give values for ever; a few more than were added prove it.
            for _ in 0..added + SURPLUS {
                match call(op, args) {
                    Outcome::Recorded(Status::Ok) => {}
                    outcome => return outcome == Outcome::Recorded(Status::Empty),
                }
            }
        }
        Drain::EachKey(op) => {
            for key in 0..shape.keys() as i64 {
                call(op, &[key]);
            }
        }
        Drain::EachRecord => {
            for position in 0..(added + SURPLUS) as i64 {
                if call(Op::LogRead, &[position]) != Outcome::Recorded(Status::Ok) {
                    break;
                }
            }
        }
        Drain::InTransaction => {
            call(Op::StoreBegin, &[]);
            for key in 0..shape.keys() as i64 {
                call(Op::StoreRead, &[key]);
            }
            call(Op::StoreCommit, &[]);
        }
        Drain::Once(op) => {
            call(op, &[]);
        }
        Drain::Nothing => {}
    }
    false
}
