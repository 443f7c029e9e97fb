//! The drain: after all threads are done, one thread reads all that is left, so that loss shows.

use interlap::core::operation::{Op, Status};

use crate::library::Role;
use crate::timebox::Outcome;
use crate::workload::Shape;

/// Calls of a drain beyond one for each value that was added.
pub const SURPLUS: u64 = 16;

/// Most keys that are read between the parts of a round.
pub const TOLD_MAX: u64 = 1 << 12;

/// The calls of the drain: what tells everything that is still inside.
enum Drain {
    /// Remove one by one until the answer is empty.
    UntilEmpty(Op),
    /// Look at every key.
    EachKey(Op),
    /// Read a log from its first record on until nothing is there.
    EachRecord,
    /// Read every key in a transaction.
    InTransaction,
    /// Look once.
    Once(Op),
    /// The target offers nothing to look with.
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

/// The thread that may read all that a store holds in one transaction, if any may and there is not
/// too much.
pub fn teller(operations: &[(Op, Role)], shape: &Shape) -> Option<u32> {
    if !matches!(Drain::from_operations(operations), Drain::InTransaction)
        || shape.keys() > TOLD_MAX
    {
        return None;
    }
    let wanted = [Op::StoreBegin, Op::StoreRead, Op::StoreCommit];
    let may = |thread: &u32, wanted: Op| {
        operations.iter().any(|(op, role)| *op == wanted && role.admits(*thread))
    };
    (0..shape.threads).find(|thread| wanted.iter().all(|op| may(thread, *op)))
}

/// Reads all that is left, alone. Whether the structure was emptied.
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
            // A broken structure may hand out values for ever; a few more than went in prove it.
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
