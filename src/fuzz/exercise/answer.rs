//! Says which answers a call is expected to give, and classifies its arguments and its keys.

use serde::{Deserialize, Serialize};

use crate::core::answer::AnswerKind;
use crate::core::history::{Operation, Thread};
use crate::core::operation::{Family, Op, Status};

/// The answers that every target gives if it is called often enough. `bounded`: the structure has a
/// capacity.
pub fn expected(op: Op, bounded: bool) -> Vec<AnswerKind> {
    use Op::*;
    let (done, failed, empty) = (AnswerKind::Done, AnswerKind::Failed, AnswerKind::Empty);
    match op {
        DequeueBulk => vec![done, AnswerKind::Part, empty],
        _ if op.removes() => vec![done, empty],
        Method(method) if method.may_say_no() => vec![done, empty],
        LogRead => vec![done, empty],
        MapGet | StoreRead | SetSelect => vec![done, failed],
        _ if op.is_question() => vec![done, failed],
        _ if op.adds() && bounded => vec![done, AnswerKind::Full],
        // Some maps answer that a key was absent, others only that it was put.
        MapPut => Vec::new(),
        // A store need not answer that the removed key was absent.
        _ => vec![done],
    }
}

/// The meaning of a call's first argument, or of the number of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    Key,
    /// The number of values of a bulk call.
    Size,
    /// The number of keys in a range.
    Width,
    /// The position of a log's record, or the rank of a key.
    Position,
    Amount,
}

/// What is counted for an operation; none for values that are added, because all of them differ.
pub fn measure(op: Op) -> Option<Measure> {
    use Op::*;
    match op {
        EnqueueBulk | DequeueBulk => Some(Measure::Size),
        SetRangeCount | SetRangeList => Some(Measure::Width),
        SetSelect | LogRead => Some(Measure::Position),
        CounterAdd => Some(Measure::Amount),
        SetRank => Some(Measure::Key),
        _ if has_key(op) => Some(Measure::Key),
        _ => None,
    }
}

/// The number that is counted for a call with these arguments.
#[inline]
pub fn measured(op: Op, args: &[i64]) -> Option<u64> {
    let value = match (measure(op)?, args) {
        (Measure::Size, _) if op == Op::EnqueueBulk => args.len() as i64,
        (Measure::Width, [low, high]) => high.saturating_sub(*low).saturating_add(1),
        (_, [first, ..]) => *first,
        _ => return None,
    };
    u64::try_from(value).ok()
}

/// By how many elements a call that returned made the structure larger; none if it does not add or
/// remove elements. A put that replaced a value counts as if it added one.
#[inline]
pub fn change(thread: &Thread, operation: &Operation) -> Option<i64> {
    use Op::*;
    let added = match operation.op {
        EnqueueBulk => thread.results(operation).first().copied().unwrap_or(0),
        DequeueBulk => -(thread.results(operation).len() as i64),
        SetRemove | MapRemove => -1,
        SetInsert | MapInsertIfAbsent | MapPut | LogAppend => 1,
        op if op.adds() => 1,
        op if op.removes() => -1,
        _ => return None,
    };
    Some(if matches!(operation.status, Status::Ok | Status::Done) { added } else { 0 })
}

/// Whether a call concerns the one key that is its first argument.
pub fn has_key(op: Op) -> bool {
    use Op::*;
    matches!(op.family(), Family::Map | Family::Kv)
        || matches!(op, SetInsert | SetRemove | SetContains)
        || matches!(op, StoreRead | StoreWrite | StoreRemove)
}

/// Whether each call of the operation concerns some keys only.
pub fn has_keys(op: Op) -> bool {
    has_key(op) || matches!(op, Op::SetRangeCount | Op::SetRangeList | Op::SetRank)
}

/// The first and the last key that a call concerns; all if it has no keys.
#[inline]
pub fn keys(op: Op, args: &[i64]) -> (i64, i64) {
    match args {
        [key, ..] if has_key(op) => (*key, *key),
        [low, high] if matches!(op, Op::SetRangeCount | Op::SetRangeList) => (*low, *high),
        // The rank is the number of keys below.
        [key] if op == Op::SetRank => (i64::MIN, key.saturating_sub(1)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Each small number has a bucket; larger ones share one: 17 to 32, 33 to 64, ...
pub const BUCKETS: usize = EXACT as usize + 61;
/// The largest number with a bucket of its own, a power of two.
const EXACT: u64 = 16;

/// The bucket of a number.
#[inline]
pub fn bucket(value: u64) -> usize {
    match value {
        ..=EXACT => value as usize,
        _ => (EXACT + 1) as usize + ((value - 1).ilog2() - EXACT.ilog2()) as usize,
    }
}

/// The least and the largest number in a bucket.
pub fn bounds(bucket: usize) -> (u64, u64) {
    let Some(above) = (bucket as u64).checked_sub(EXACT + 1) else {
        return (bucket as u64, bucket as u64);
    };
    let low = EXACT << above;
    (low + 1, low.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_within_the_bounds_of_its_bucket() {
        let near = (4..63).flat_map(|bits| [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
        for value in (0..300).chain(near).chain([u64::MAX / 2, i64::MAX as u64]) {
            let (low, high) = bounds(bucket(value));
            assert!((low..=high).contains(&value), "{value}: {low} to {high}");
            assert!(bucket(value) < BUCKETS);
        }
        assert_eq!((bounds(bucket(16)), bounds(bucket(17))), ((16, 16), (17, 32)));
    }

    #[test]
    fn every_expected_answer_is_one_that_the_operation_may_give() {
        for &op in Op::ALL {
            for outcome in expected(op, true) {
                let status = match outcome {
                    AnswerKind::Done | AnswerKind::Part => Status::Ok,
                    AnswerKind::Empty => Status::Empty,
                    AnswerKind::Full => Status::Full,
                    _ => Status::Failed,
                };
                let args = |count| vec![5i64; count];
                let fits = |n, k| op.validate(&args(n), status, &vec![1; k]).is_ok();
                assert!((0..=5).any(|n| (0..5).any(|k| fits(n, k))), "{op:?} {outcome:?}");
            }
        }
    }
}
