//! Finds when each value was removed, and three violations that need no order: a value that was
//! never added, one that was removed twice, and one that was lost.

use crate::check::data::filter::passing;
use crate::check::data::small::Small;
use crate::check::data::values::{Values, added_by, taken_by};
use crate::check::data::witnesses;
use crate::check::verdict::Witness;
use crate::core::history::{History, NEVER, Operation, OperationId, Thread};
use crate::core::operation::{Op, Status};

/// The timebox of a removal.
#[derive(Clone, Copy)]
pub struct Taken {
    /// [`NEVER`] where the value was not taken.
    pub start: u64,
    pub end: u64,
}

/// What a specialised checker found.
pub struct Broken {
    pub witness: Witness,
    /// Whether a removal without an answer could be the explanation after all.
    pub excusable: bool,
}

impl Broken {
    pub fn certain(witness: Witness) -> Broken {
        Broken { witness, excusable: false }
    }

    pub fn excusable(witness: Witness) -> Broken {
        Broken { witness, excusable: true }
    }
}

/// What was taken when.
pub struct Removals {
    /// The timebox in which each value was taken, by its number.
    pub table: Small<Taken>,
    /// Whether some answer was "empty".
    pub any_empty: bool,
    /// Whether some operation took several values.
    pub any_bulk: bool,
}

/// When each value was removed. Fails where one was never added, or was removed twice.
pub fn removals(history: &History, values: &Values) -> Result<Removals, Broken> {
    let mut kept = Small::from_elem(Taken { start: NEVER, end: NEVER }, values.len());
    let table = &mut kept[..];
    let (mut any_empty, mut any_bulk) = (false, false);
    for thread in &history.threads {
        let takes = |operation: &Operation| {
            let removes = operation.op.removes();
            any_empty |= removes & (operation.status == Status::Empty);
            removes & (operation.status == Status::Ok)
        };
        for (_, operation) in passing(thread.operations(), takes) {
            let taken = thread.results(operation);
            any_bulk |= taken.len() > 1;
            for &value in taken {
                let Some(number) = values.get(value) else {
                    return Err(Broken::certain(witnesses::from_nowhere(history, value)));
                };
                if table[number].start != NEVER {
                    return Err(Broken::certain(witnesses::taken_twice(history, value)));
                }
                table[number] = Taken { start: operation.start, end: operation.end };
            }
        }
    }
    Ok(Removals { table: kept, any_empty, any_bulk })
}

/// Whether some removal has no answer: it may have taken a value that nobody saw.
pub fn any_open(history: &History) -> bool {
    let last = history.threads.iter().filter_map(|thread| thread.operations().last());
    last.into_iter().any(|last| last.status.is_open() && last.op.removes())
}

/// Whether some operation moves more than one value, or may.
pub fn any_bulk(history: &History) -> bool {
    let bulk = [Op::EnqueueBulk, Op::DequeueBulk];
    let may = |thread: &&Thread| bulk.iter().any(|op| thread.ops().contains(*op));
    history.threads.iter().filter(may).any(|thread| {
        thread.operations().iter().any(|operation| {
            let open_bulk = operation.status.is_open()
                && operation.op == Op::DequeueBulk
                && thread.args(operation)[0] > 1;
            open_bulk
                || taken_by(thread, operation).len() > 1
                || added_by(thread, operation).len() > 1
        })
    })
}

/// The first value whose addition was answered and which was never taken, if the structure was
/// emptied afterwards.
pub fn lost(history: &History, values: &Values, table: &[Taken]) -> Result<(), Broken> {
    if !history.drained {
        return Ok(());
    }
    for (at, thread) in history.threads.iter().enumerate() {
        for (index, operation) in thread.operations().iter().enumerate() {
            if operation.status != Status::Ok {
                continue;
            }
            for &value in added_by(thread, operation) {
                let number = values.added(at, value);
                if table[number].start == NEVER {
                    let add = OperationId { thread: at as u32, index: index as u32 };
                    return Err(Broken::excusable(witnesses::lost(add, value)));
                }
            }
        }
    }
    Ok(())
}

/// Fails where a removed value was never added, a value was removed twice, or one was lost. The
/// order does not matter.
pub fn judge(history: &History, values: &Values) -> Result<(), Broken> {
    let table = removals(history, values)?.table;
    lost(history, values, &table)
}
