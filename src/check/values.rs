//! Small numbers for the values that a history adds to a queue, stack or deque. The history comes
//! in; a number for every added value goes out, dense, those of one thread consecutive and in its
//! program order. Histories that add one value twice have no such numbers.

use super::hash::FastMap;
use crate::history::{History, Operation, Thread};
use crate::model::added;

/// A bit per number.
pub struct Bits(Vec<u64>);

impl Bits {
    pub fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    #[inline]
    pub fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
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

/// The numbers of the added values.
pub struct Values {
    /// Where every thread adds ascending values from a compact range of its own: the ranges.
    ranges: Vec<Range>,
    /// Otherwise: every value's number.
    numbers: Option<FastMap<i64, u32>>,
    /// Which numbers are in use; a compact range may have gaps.
    used: Bits,
    /// The first number of each thread, and the end of the last.
    first: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Range {
    low: i64,
    /// Highest value less the lowest.
    span: u64,
    first: u32,
}

/// Some value was added twice.
#[derive(Debug)]
pub struct AddedTwice;

/// The values that `operation` adds, or may add where its effect is open.
#[inline]
pub fn added_by<'a>(thread: &'a Thread, operation: &Operation) -> &'a [i64] {
    added(operation.op, operation.status, thread.args(operation), thread.results(operation))
}

/// The values that `operation` took out.
#[inline]
pub fn taken_by<'a>(thread: &'a Thread, operation: &Operation) -> &'a [i64] {
    if operation.op.removes() { thread.results(operation) } else { &[] }
}

/// The range of the values that a thread adds, if they ascend without large gaps.
fn compact(thread: &Thread) -> Option<Option<(i64, u64)>> {
    let mut values = thread.operations().iter().flat_map(|o| added_by(thread, o)).copied();
    let Some(low) = values.next() else { return Some(None) };
    let (mut high, mut count) = (low, 1);
    for value in values {
        if value <= high {
            return None;
        }
        high = value;
        count += 1;
    }
    let span = high.wrapping_sub(low) as u64;
    (span <= 4 * count + 64).then_some(Some((low, span)))
}

impl Values {
    pub fn of(history: &History) -> Result<Values, AddedTwice> {
        let compact: Option<Vec<_>> = history.threads.iter().map(compact).collect();
        match compact.and_then(|ranges| Values::dense(history, &ranges)) {
            Some(values) => Ok(values),
            None => Values::hashed(history),
        }
    }

    fn dense(history: &History, compact: &[Option<(i64, u64)>]) -> Option<Values> {
        let (mut ranges, mut first, mut next) = (Vec::new(), Vec::new(), 0u64);
        for range in compact {
            first.push(u32::try_from(next).ok()?);
            if let Some((low, span)) = *range {
                ranges.push(Range { low, span, first: next as u32 });
                next += span + 1;
            }
        }
        first.push(u32::try_from(next).ok()?);
        ranges.sort_unstable_by_key(|range| range.low);
        let apart = |two: &[Range]| two[1].low.wrapping_sub(two[0].low) as u64 > two[0].span;
        if !ranges.windows(2).all(apart) {
            return None;
        }
        let mut values = Values { ranges, numbers: None, used: Bits::new(next as usize), first };
        for thread in &history.threads {
            for value in thread.operations().iter().flat_map(|o| added_by(thread, o)) {
                let number = values.number(*value).expect("every range holds its values");
                values.used.insert(number as usize);
            }
        }
        Some(values)
    }

    fn hashed(history: &History) -> Result<Values, AddedTwice> {
        let (mut numbers, mut first) = (FastMap::default(), Vec::new());
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
        let mut used = Bits::new(numbers.len());
        (0..numbers.len()).for_each(|number| used.insert(number));
        Ok(Values { ranges: Vec::new(), numbers: Some(numbers), used, first })
    }

    #[inline]
    fn number(&self, value: i64) -> Option<u32> {
        if let Some(numbers) = &self.numbers {
            return numbers.get(&value).copied();
        }
        for range in &self.ranges {
            let offset = value.wrapping_sub(range.low) as u64;
            if offset <= range.span {
                return Some(range.first + offset as u32);
            }
        }
        None
    }

    /// The number of a value, if it was or may have been added.
    #[inline]
    pub fn get(&self, value: i64) -> Option<usize> {
        let number = self.number(value)? as usize;
        self.used.contains(number).then_some(number)
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

    /// Whether any of these numbers belongs to a value.
    pub fn any_used(&self, mut numbers: std::ops::Range<usize>) -> bool {
        numbers.any(|number| self.used.contains(number))
    }
}
