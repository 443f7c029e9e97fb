//! What an operation of a range set asks of the set: to change a key, or to find so many.

use smallvec::SmallVec;

use crate::check::exact::keys::Index;
use crate::core::history::{Operation, Thread};
use crate::core::operation::{Op, Status};
use crate::model::bounds;

#[derive(Clone)]
pub enum Want {
    /// Insert (1) or remove (-1) the key.
    Change { key: usize, by: i64 },
    /// Find so many keys from `from` up to and without `to`, and all of `present`.
    Read { from: usize, to: usize, count: Bound, present: Present },
}

/// The keys of a list that was answered, by their places.
pub type Present = SmallVec<[usize; 4]>;

#[derive(Clone, Copy)]
pub enum Bound {
    Exactly(i64),
    AtMost(i64),
    Never,
}

impl Want {
    /// Whether the key is one of those that the operation changes or counts.
    #[inline]
    pub fn counts(&self, key: usize) -> bool {
        match self {
            Want::Change { key: own, .. } => *own == key,
            Want::Read { from, to, .. } => (*from..*to).contains(&key),
        }
    }

    #[inline]
    pub fn lists(&self, key: usize) -> bool {
        match self {
            Want::Change { .. } => false,
            Want::Read { present, .. } => present.contains(&key),
        }
    }
}

/// Whether an operation has an effect or an answer: without an answer only changes matter.
pub fn matters(operation: &Operation) -> bool {
    !operation.status.is_open() || matches!(operation.op, Op::SetInsert | Op::SetRemove)
}

/// Of an operation that matters, all of whose single keys are in the index.
pub fn want(thread: &Thread, operation: &Operation, index: &Index) -> Want {
    let (op, args, results) = (operation.op, thread.args(operation), thread.results(operation));
    let status = operation.status;
    if matches!(op, Op::SetInsert | Op::SetRemove) && (status == Status::Ok || status.is_open()) {
        let key = index.at(args[0]).expect("it is a single key");
        return Want::Change { key, by: if op == Op::SetInsert { 1 } else { -1 } };
    }
    let result = results.first().copied();
    let keys = match op {
        Op::SetSelect => result.and_then(|key| Some(i64::MIN..=key.checked_sub(1)?)),
        _ => bounds(op, args),
    };
    let (mut from, mut to) = keys.map_or((0, 0), |keys| index.range(keys));
    let count = match (op, status) {
        (Op::SetInsert, _) | (Op::SetContains, Status::Ok) => Bound::Exactly(1),
        (Op::SetRemove | Op::SetContains, _) => Bound::Exactly(0),
        (Op::SetRangeList, _) if results.is_sorted_by(|a, b| a < b) => {
            Bound::Exactly(results.len() as i64)
        }
        (Op::SetRangeList, _) => Bound::Never,
        (Op::SetSelect, Status::Failed) => {
            (from, to) = (0, index.len());
            // None where at most so many keys are in the set; a negative number says nothing.
            Bound::AtMost(if args[0] < 0 { i64::MAX } else { args[0] })
        }
        (Op::SetSelect, _) => Bound::Exactly(args[0]),
        _ => result.map_or(Bound::Never, Bound::Exactly),
    };
    let listed = if matches!(op, Op::SetSelect | Op::SetRangeList) { results } else { &[] };
    let present: Option<Present> = listed.iter().map(|key| index.at(*key)).collect();
    let inside =
        op == Op::SetSelect || present.iter().flatten().all(|key| (from..to).contains(key));
    match present.filter(|_| inside) {
        Some(present) => Want::Read { from, to, count, present },
        None => Want::Read { from, to, count: Bound::Never, present: Present::new() },
    }
}
