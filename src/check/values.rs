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
    /// By thread, where each adds ascending values from a compact range of its own: the range.
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
pub fn added_by<'a>(thread: &'a Thread, operation: &'a Operation) -> &'a [i64] {
    added(operation.op, operation.status, thread.args(operation), thread.results(operation))
}

/// The values that `operation` took out.
#[inline]
pub fn taken_by<'a>(thread: &'a Thread, operation: &'a Operation) -> &'a [i64] {
    if operation.op.removes() { thread.results(operation) } else { &[] }
}

/// The range of the values that a thread adds, if they ascend without large gaps. Marks them in
/// `used`, from its end on.
fn compact(thread: &Thread, used: &mut Vec<u64>) -> Option<Range> {
    let base = used.len();
    let mut range = Range { low: 0, span: 0, first: u32::try_from(64 * base).ok()? };
    used.push(0);
    let mut count = 0;
    for operation in thread.operations() {
        for &value in added_by(thread, operation) {
            if count == 0 {
                range.low = value;
            }
            let offset = value.wrapping_sub(range.low) as u64;
            if (count > 0 && offset <= range.span) || offset > 4 * count + 64 {
                return None;
            }
            range.span = offset;
            count += 1;
            let word = base + (offset / 64) as usize;
            if word >= used.len() {
                used.resize(word + 1, 0);
            }
            used[word] |= 1 << (offset % 64);
        }
    }
    Some(range)
}

impl Values {
    pub fn of(history: &History) -> Result<Values, AddedTwice> {
        match Values::dense(history) {
            Some(values) => Ok(values),
            None => Values::hashed(history),
        }
    }

    fn dense(history: &History) -> Option<Values> {
        let (mut ranges, mut used) = (Vec::with_capacity(history.threads.len()), Vec::new());
        for thread in &history.threads {
            ranges.push(compact(thread, &mut used)?);
        }
        let mut first: Vec<u32> = ranges.iter().map(|range| range.first).collect();
        first.push(u32::try_from(64 * used.len()).ok()?);
        let used = Bits(used);
        let mut sorted: Vec<&Range> =
            ranges.iter().filter(|range| used.contains(range.first as usize)).collect();
        sorted.sort_unstable_by_key(|range| range.low);
        let apart = |two: &[&Range]| two[1].low.wrapping_sub(two[0].low) as u64 > two[0].span;
        if !sorted.windows(2).all(apart) {
            return None;
        }
        Some(Values { ranges, numbers: None, used, first })
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

    /// The number of a value, if it was or may have been added.
    #[inline]
    pub fn get(&self, value: i64) -> Option<usize> {
        if let Some(numbers) = &self.numbers {
            return numbers.get(&value).map(|number| *number as usize);
        }
        for range in &self.ranges {
            let offset = value.wrapping_sub(range.low) as u64;
            if offset <= range.span {
                let number = range.first as usize + offset as usize;
                if self.used.contains(number) {
                    return Some(number);
                }
            }
        }
        None
    }

    /// The number of a value that `thread` adds.
    #[inline]
    pub fn added(&self, thread: usize, value: i64) -> usize {
        match &self.numbers {
            Some(numbers) => numbers[&value] as usize,
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

    /// Whether any of these numbers belongs to a value.
    pub fn any_used(&self, mut numbers: std::ops::Range<usize>) -> bool {
        numbers.any(|number| self.used.contains(number))
    }
}
