//! Operations of all threads one by one, in the order in which they were called or returned. The
//! threads' operations come in with a test of which are wanted; each thread's are in order already,
//! so they are merged as they are asked for: nothing is copied or sorted. Less than half the steps
//! of [`super::events`], for checkers that need only one of the two orders. Knows no models.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;

use super::sift::{Sift, sift};
use crate::history::{History, NEVER, Operation, OperationId, Thread};

/// Bits of a thread's number where each one's next stamp is looked at.
const THREAD_BITS: u32 = 4;
const THREADS_MAX: usize = 1 << THREAD_BITS;
/// Up to this, a stamp leaves room for them.
const STAMP_MAX: u64 = (NEVER >> THREAD_BITS) - 1;

/// An operation, in its turn.
pub struct Turn<'a> {
    pub id: OperationId,
    pub operation: &'a Operation,
    /// The thread's next one that is wanted.
    pub next: Option<&'a Operation>,
}

/// Operations by their stamp, least first, those of the first thread first at equal stamps. Without
/// those whose stamp is [`NEVER`].
pub struct Merged<'a, S, W> {
    stamp: S,
    threads: SmallVec<[Line<'a, W>; 8]>,
    /// The stamp of each thread's next operation with the thread's number in the low bits:
    /// comparisons without branches find the least. So many count, in fours.
    due: [u64; THREADS_MAX],
    fours: usize,
    /// Instead, where there are too many threads or too large stamps.
    heap: Option<BinaryHeap<Reverse<(u64, u32)>>>,
}

/// A thread's next operation, and those after it.
struct Line<'a, W> {
    next: Option<(usize, &'a Operation)>,
    later: Sift<'a, Operation, W>,
}

/// Operations in the order in which they were called.
pub fn by_call(
    history: &History,
    wanted: impl Fn(&Operation) -> bool + Copy,
) -> impl Iterator<Item = Turn<'_>> {
    Merged::new(history, |operation| operation.start, wanted)
}

/// Operations in the order in which they returned, without those that did not.
pub fn by_return(
    history: &History,
    wanted: impl Fn(&Operation) -> bool + Copy,
) -> impl Iterator<Item = Turn<'_>> {
    Merged::new(history, |operation| operation.end, wanted)
}

#[inline]
fn packed(stamp: u64, thread: usize) -> u64 {
    if stamp == NEVER { NEVER } else { stamp << THREAD_BITS | thread as u64 }
}

impl<'a, S: Fn(&Operation) -> u64, W: Fn(&Operation) -> bool + Copy> Merged<'a, S, W> {
    fn new(history: &'a History, stamp: S, wanted: W) -> Self {
        let line = |thread: &'a Thread| {
            let mut later = sift(thread.operations(), wanted);
            Line { next: later.next(), later }
        };
        let threads: SmallVec<[Line<W>; 8]> = history.threads.iter().map(line).collect();
        let large = |thread: &Thread| {
            let last = thread.operations().last();
            last.is_some_and(|o| if o.end == NEVER { o.start } else { o.end } > STAMP_MAX)
        };
        let first = |line: &Line<W>| line.next.map_or(NEVER, |(_, operation)| stamp(operation));
        let (mut due, fours) = ([NEVER; THREADS_MAX], threads.len().div_ceil(4));
        if threads.len() > THREADS_MAX || history.threads.iter().any(large) {
            let firsts = threads.iter().zip(0..).map(|(line, at)| (first(line), at));
            let heap = Some(firsts.filter(|(due, _)| *due != NEVER).map(Reverse).collect());
            return Merged { stamp, threads, due, fours, heap };
        }
        for (at, line) in threads.iter().enumerate() {
            due[at] = packed(first(line), at);
        }
        Merged { stamp, threads, due, fours, heap: None }
    }

    /// The thread whose next operation has the least stamp.
    #[inline]
    fn least(&mut self) -> Option<usize> {
        if let Some(heap) = &mut self.heap {
            return heap.pop().map(|Reverse((_, thread))| thread as usize);
        }
        let mut least = NEVER;
        for four in self.due.as_chunks::<4>().0.iter().take(self.fours) {
            least = least.min(four[0].min(four[1]).min(four[2].min(four[3])));
        }
        (least != NEVER).then_some(least as usize % THREADS_MAX)
    }
}

impl<'a, S: Fn(&Operation) -> u64, W: Fn(&Operation) -> bool + Copy> Iterator
    for Merged<'a, S, W>
{
    type Item = Turn<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Turn<'a>> {
        let thread = self.least()?;
        let line = &mut self.threads[thread];
        let (index, operation) = line.next.expect("its stamp was due");
        line.next = line.later.next();
        let next = line.next.map(|(_, operation)| operation);
        let stamp = next.map_or(NEVER, &self.stamp);
        match &mut self.heap {
            None => self.due[thread] = packed(stamp, thread),
            Some(heap) if stamp != NEVER => heap.push(Reverse((stamp, thread as u32))),
            Some(_) => {}
        }
        let id = OperationId { thread: thread as u32, index: index as u32 };
        Some(Turn { id, operation, next })
    }
}
