//! Numbers the keys of a set in order, and sums over runs of them.

use std::ops::RangeInclusive;

use crate::check::data::small::{SMALL, Small};
use crate::core::history::History;
use crate::core::operation::Op;

/// Places of keys, in their order.
// There is one for each check: a box would ask for memory.
#[allow(clippy::large_enum_variant)]
pub enum Index {
    /// Key less the lowest, where many keys are close together.
    Dense {
        low: i64,
        len: usize,
    },
    Sorted(Small<i64>),
}

impl Index {
    /// Of all keys that are inserted, removed or looked for one by one.
    pub fn new(history: &History) -> Index {
        let single = |op: Op| matches!(op, Op::SetInsert | Op::SetRemove | Op::SetContains);
        let keys = || {
            history.threads.iter().flat_map(move |thread| {
                let operations = thread.operations().iter().filter(move |o| single(o.op));
                operations.map(|operation| thread.args(operation)[0])
            })
        };
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        keys().for_each(|key| (low, high) = (low.min(key), high.max(key)));
        let span = high.wrapping_sub(low) as u64;
        if low > high {
            return Index::Sorted(Small::new());
        }
        if history.len() > SMALL && span <= 16 * history.len() as u64 + 1024 {
            return Index::Dense { low, len: span as usize + 1 };
        }
        let mut sorted: Small<i64> = keys().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Index::Sorted(sorted)
    }

    pub fn len(&self) -> usize {
        match self {
            Index::Dense { len, .. } => *len,
            Index::Sorted(keys) => keys.len(),
        }
    }

    /// The key's place; none where no operation names it.
    #[inline]
    pub fn at(&self, key: i64) -> Option<usize> {
        match self {
            Index::Dense { low, len } => {
                let at = usize::try_from(key.checked_sub(*low)?).ok()?;
                (at < *len).then_some(at)
            }
            Index::Sorted(keys) => keys.binary_search(&key).ok(),
        }
    }

    /// The places of these keys: the first, and the one after the last.
    #[inline]
    pub fn range(&self, range: RangeInclusive<i64>) -> (usize, usize) {
        let (low, high) = (*range.start(), *range.end());
        let before = |key: i64| match self {
            Index::Dense { low, len } => {
                let at = i128::from(key) - i128::from(*low);
                at.clamp(0, *len as i128) as usize
            }
            Index::Sorted(keys) => keys.partition_point(|other| *other < key),
        };
        let end = high.checked_add(1).map_or(self.len(), before);
        (before(low).min(end), end)
    }
}

/// Sums of the numbers at the first so many places (Fenwick 1994).
pub struct Sums(Small<i64>);

impl Sums {
    pub fn new(places: usize) -> Sums {
        Sums(Small::from_elem(0, places))
    }

    pub fn add(&mut self, place: usize, by: i64) {
        let mut at = place;
        while at < self.0.len() {
            self.0[at] += by;
            at |= at + 1;
        }
    }

    /// The sum at all places before `end`.
    pub fn upto(&self, mut end: usize) -> i64 {
        let mut sum = 0;
        while end > 0 {
            sum += self.0[end - 1];
            end &= end - 1;
        }
        sum
    }
}
