//! A history in the order of time. The threads' operations come in, the calls and returns of all
//! of them go out one by one, merged as they are asked for: nothing is copied or sorted. Knows no
//! models. Also counts how many operations overlapped one of another thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::history::{History, NEVER, Operation, OperationId, Thread};

/// Up to this many threads, looking at each one's next stamp is faster than a heap.
const SCAN_MAX: usize = 12;

/// Up to this, twice a stamp and one are a number.
const STAMP_MAX: u64 = (NEVER >> 1) - 1;

#[inline]
fn packed(time: u64, returns: bool) -> u64 {
    if time == NEVER { NEVER } else { time << 1 | u64::from(returns) }
}

/// The call or the return of an operation. An operation whose effect is open has no return.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub time: u64,
    pub returns: bool,
    pub id: OperationId,
    pub operation: &'a Operation,
}

/// The calls and returns of a history, oldest first. At equal stamps calls come before returns,
/// so that operations which touch overlap: one precedes another only if it ends before it starts.
pub struct Events<'a> {
    threads: &'a [Thread],
    cursors: Vec<Cursor>,
    /// Twice the next stamp of each thread, one more for a return; [`NEVER`] where there is none.
    /// One comparison without a branch then finds the earliest. Not kept where there is a heap.
    due: Vec<u64>,
    /// Where there are too many threads to scan, or too large stamps: the next event of each.
    heap: Option<BinaryHeap<Reverse<(u64, bool, u32)>>>,
}

#[derive(Clone, Copy, Default)]
struct Cursor {
    index: u32,
    returns: bool,
}

impl<'a> Events<'a> {
    pub fn new(history: &'a History) -> Events<'a> {
        let threads = &history.threads[..];
        let first = |thread: &Thread| thread.operations().first().map_or(NEVER, |o| o.start);
        let large = |thread: &Thread| {
            let last = thread.operations().last();
            last.is_some_and(|o| o.start > STAMP_MAX || (o.end > STAMP_MAX && o.end != NEVER))
        };
        let heap = (threads.len() > SCAN_MAX || threads.iter().any(large)).then(|| {
            let live = threads.iter().enumerate().filter(|(_, thread)| first(thread) != NEVER);
            live.map(|(at, thread)| Reverse((first(thread), false, at as u32))).collect()
        });
        let due = threads.iter().map(|thread| packed(first(thread), false)).collect();
        Events { threads, cursors: vec![Cursor::default(); threads.len()], due, heap }
    }

    /// The thread whose next event is the earliest.
    #[inline]
    fn earliest(&mut self) -> Option<usize> {
        if let Some(heap) = &mut self.heap {
            return heap.pop().map(|Reverse((_, _, thread))| thread as usize);
        }
        let (mut best, mut least) = (0, NEVER);
        for (thread, &due) in self.due.iter().enumerate() {
            (best, least) = if due < least { (thread, due) } else { (best, least) };
        }
        (least != NEVER).then_some(best)
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        let thread = self.earliest()?;
        let operations = self.threads[thread].operations();
        let Cursor { index, returns } = self.cursors[thread];
        let operation = &operations[index as usize];
        let event = Event {
            time: if returns { operation.end } else { operation.start },
            returns,
            id: OperationId { thread: thread as u32, index },
            operation,
        };
        let due = if returns {
            self.cursors[thread] = Cursor { index: index + 1, returns: false };
            operations.get(index as usize + 1).map_or(NEVER, |next| next.start)
        } else {
            self.cursors[thread].returns = true;
            operation.end
        };
        self.due[thread] = packed(due, !returns);
        if let Some(heap) = &mut self.heap
            && due != NEVER
        {
            heap.push(Reverse((due, !returns, thread as u32)));
        }
        Some(event)
    }
}

/// How much of a history ran at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    pub operations: usize,
    /// Operations that overlap at least one operation of another thread.
    pub overlapping: usize,
}

/// Counts the operations that overlap one of another thread.
pub fn overlap(history: &History) -> Overlap {
    let mut result = Overlap { operations: history.len(), overlapping: 0 };
    let mut open = 0;
    // The thread whose open operation has overlapped nothing yet: only an operation that was
    // called while nothing was open can be in that state, so there is at most one.
    let mut alone = None;
    for event in Events::new(history) {
        if event.returns {
            open -= 1;
            if alone == Some(event.id.thread) {
                alone = None;
            }
        } else if open == 0 {
            open = 1;
            alone = Some(event.id.thread);
        } else {
            open += 1;
            result.overlapping += 1 + usize::from(alone.take().is_some());
        }
    }
    result
}
