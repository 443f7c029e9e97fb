//! Numbers the values that a history adds to a queue, stack or deque: dense, those of one thread
//! consecutive and in its program order. A history that adds one value twice has no such numbers.

use smallvec::SmallVec;

use super::filter::passing;
use super::small::{Few, SmallMap};
use crate::core::history::{History, Operation, Thread};
use crate::core::operation::{Op, Status};
use crate::model::added;
use rustc_hash::FxHashSet;

/// A bit per number.
pub struct Bits(SmallVec<[u64; 4]>);

impl Bits {
    /// At least so many, none of them set.
    pub fn new(count: usize) -> Bits {
        Bits(SmallVec::from_elem(0, count.div_ceil(64)))
    }

    pub fn len(&self) -> usize {
        64 * self.0.len()
    }

    #[inline]
    pub fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Of any number, however large.
    #[inline]
    pub fn has(&self, at: u64) -> bool {
        at < self.len() as u64 && self.contains(at as usize)
    }

    #[inline]
    pub fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub fn toggle(&mut self, at: usize) {
        self.0[at / 64] ^= 1 << (at % 64);
    }

    pub fn words(&self) -> &[u64] {
        &self.0
    }
}

/// The values that removals have for answers.
pub fn taken_values(history: &History) -> FxHashSet<i64> {
    let taken = history.threads.iter().flat_map(|thread| {
        thread.operations().iter().flat_map(move |operation| taken_by(thread, operation))
    });
    taken.copied().collect()
}

/// The numbers of the added values.
pub struct Values {
    /// By thread, where each adds ascending values from a compact range of its own: the range.
    ranges: Few<Range>,
    /// The same in the order of their values, without empty ones.
    sorted: Few<Range>,
    /// Otherwise: every value's number.
    numbers: Option<SmallMap<i64, u32>>,
    /// Which numbers are in use; none where all are.
    used: Option<Bits>,
    /// The first number of each thread, and the end of the last.
    first: Few<u32>,
}

/// The values from `low` on, `len` of them.
#[derive(Clone, Copy)]
struct Range {
    low: i64,
    len: u64,
    /// The number of the first.
    first: u32,
}

/// Some value was added twice.
#[derive(Debug)]
pub struct AddedTwice;

/// The values that `operation` adds, or may add where its effect is open.
#[inline]
pub fn added_by<'a>(thread: &'a Thread, operation: &'a Operation) -> &'a [i64] {
    added(operation.op, operation.status, thread.args(operation), thread.results(operation))
}

/// The values that `operation` took out.
#[inline]
pub fn taken_by<'a>(thread: &'a Thread, operation: &'a Operation) -> &'a [i64] {
    if operation.op.removes() { thread.results(operation) } else { &[] }
}

/// The lowest of the values that a thread adds, how many numbers from there on they take, and how
/// many they are; none unless they ascend without large gaps.
fn compact(thread: &Thread) -> Option<(i64, u64, u64)> {
    let operations = thread.operations();
    let adds = |operation: &&Operation| !added_by(thread, operation).is_empty();
    let Some(first) = operations.iter().find(adds) else { return Some((0, 0, 0)) };
    let low = added_by(thread, first)[0];
    let mut ascent = Ascent { low, ascends: true, len: 0, count: 0 };
    if thread.ops().contains(Op::EnqueueBulk) {
        let all = operations.iter().flat_map(|operation| added_by(thread, operation));
        all.for_each(|value| ascent.add(*value, true));
    } else {
        for operation in operations {
            let adds = operation.op.adds() & (operation.status != Status::Full);
            ascent.add(operation.lone_value(), adds);
        }
    }
    let Ascent { ascends, len, count, .. } = ascent;
    (ascends && len <= 4 * count + 64).then_some((low, len, count))
}

/// Whether values ascend.
struct Ascent {
    low: i64,
    ascends: bool,
    /// One more than the last value less the lowest.
    len: u64,
    count: u64,
}

impl Ascent {
    /// The next value, if it `counts`: without a branch, since that is hard to foresee.
    #[inline]
    fn add(&mut self, value: i64, counts: bool) {
        let offset = value.wrapping_sub(self.low) as u64;
        // What is this far from the lowest is too far anyway.
        let follows = (offset >= self.len) & (offset < 1 << 40);
        self.ascends &= !counts | follows;
        self.len = if counts { offset.wrapping_add(1) } else { self.len };
        self.count += u64::from(counts);
    }
}

impl Values {
    pub fn from_history(history: &History) -> Result<Values, AddedTwice> {
        match Values::dense(history) {
            Some(values) => Ok(values),
            None => Values::hashed(history),
        }
    }

    fn dense(history: &History) -> Option<Values> {
        let (mut ranges, mut first) = (Few::<Range>::new(), Few::new());
        let (mut end, mut gaps) = (0u32, false);
        for thread in &history.threads {
            let (low, len, count) = compact(thread)?;
            ranges.push(Range { low, len, first: end });
            first.push(end);
            end = end.checked_add(u32::try_from(len).ok()?)?;
            gaps |= len != count;
        }
        first.push(end);
        let mut sorted = ranges.clone();
        sorted.retain(|range| range.len > 0);
        sorted.sort_unstable_by_key(|range| range.low);
        let apart = |two: &[Range]| two[1].low.wrapping_sub(two[0].low) as u64 >= two[0].len;
        if !sorted.windows(2).all(apart) {
            return None;
        }
        let mut values = Values { ranges, sorted, numbers: None, used: None, first };
        if gaps {
            values.used = Some(values.used_by(history));
        }
        Some(values)
    }

    /// The numbers of the values that are added.
    fn used_by(&self, history: &History) -> Bits {
        let mut used = Bits::new(self.len());
        for (at, thread) in history.threads.iter().enumerate() {
            for (_, operation) in passing(thread.operations(), |operation| operation.op.adds()) {
                let values = added_by(thread, operation);
                values.iter().for_each(|value| used.insert(self.added(at, *value)));
            }
        }
        used
    }

    fn hashed(history: &History) -> Result<Values, AddedTwice> {
        let (mut numbers, mut first) = (SmallMap::new(), Few::new());
        for thread in &history.threads {
            first.push(numbers.len() as u32);
            for value in thread.operations().iter().flat_map(|o| added_by(thread, o)) {
                let number = numbers.len() as u32;
                if numbers.insert(*value, number).is_some() {
                    return Err(AddedTwice);
                }
            }
        }
        first.push(numbers.len() as u32);
        let none = Few::new;
        Ok(Values { ranges: none(), sorted: none(), numbers: Some(numbers), used: None, first })
    }

    /// The number of a value, if it was or may have been added.
    #[inline]
    pub fn get(&self, value: i64) -> Option<usize> {
        if let Some(numbers) = &self.numbers {
            return numbers.get(&value).map(|number| number as usize);
        }
        let at = self.sorted.iter().map(|range| usize::from(range.low <= value)).sum::<usize>();
        let range = self.sorted[at.checked_sub(1)?];
        let offset = value.wrapping_sub(range.low) as u64;
        let number = range.first as usize + offset as usize;
        (offset < range.len && self.is_used(number)).then_some(number)
    }

    #[inline]
    fn is_used(&self, number: usize) -> bool {
        self.used.as_ref().is_none_or(|used| used.contains(number))
    }

    /// The number of a value that `thread` adds.
    #[inline]
    pub fn added(&self, thread: usize, value: i64) -> usize {
        match &self.numbers {
            Some(numbers) => numbers.get(&value).expect("it is added") as usize,
            None => {
                let range = self.ranges[thread];
                range.first as usize + value.wrapping_sub(range.low) as usize
            }
        }
    }

    /// One more than the highest number.
    pub fn len(&self) -> usize {
        *self.first.last().expect("an end after the last thread") as usize
    }

    /// The thread that adds the value with this number.
    #[inline]
    pub fn producer(&self, number: usize) -> usize {
        self.first.partition_point(|first| *first as usize <= number) - 1
    }

    /// The first of these numbers that belongs to a value; if none does, their end.
    pub fn next_used(&self, mut numbers: std::ops::Range<usize>) -> usize {
        let end = numbers.end;
        numbers.find(|number| self.is_used(*number)).unwrap_or(end)
    }

    /// Whether any of these numbers belongs to a value.
    pub fn any_used(&self, numbers: std::ops::Range<usize>) -> bool {
        self.next_used(numbers.clone()) < numbers.end
    }
}
