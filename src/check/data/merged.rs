//! Lists the operations of all threads in the order of their invocations, or of their responses. It
//! takes less than half the steps of [`super::events`], for checkers that need only one of the two
//! orders. A thread's operations are in order already, so they are merged as they are asked for:
//! nothing is copied or sorted.

use super::earliest::EarliestThread;
use super::filter::{Passing, passing};
use super::small::Few;
use crate::core::history::{History, NEVER, Operation, OperationId, Thread};

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
    threads: Few<ThreadCursor<'a, W>>,
    least: EarliestThread,
}

/// A thread's next operation, and those after it.
struct ThreadCursor<'a, W> {
    next: Option<(usize, &'a Operation)>,
    later: Passing<'a, Operation, W>,
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

impl<'a, S: Fn(&Operation) -> u64, W: Fn(&Operation) -> bool + Copy> Merged<'a, S, W> {
    fn new(history: &'a History, stamp: S, wanted: W) -> Self {
        let line = |thread: &'a Thread| {
            let mut later = passing(thread.operations(), wanted);
            ThreadCursor { next: later.next(), later }
        };
        let threads: Few<ThreadCursor<W>> = history.threads.iter().map(line).collect();
        let mut least = EarliestThread::new(history);
        for (at, line) in threads.iter().enumerate() {
            least.set(at, line.next.map_or(NEVER, |(_, operation)| stamp(operation)), false);
        }
        Merged { stamp, threads, least }
    }
}

impl<'a, S: Fn(&Operation) -> u64, W: Fn(&Operation) -> bool + Copy> Iterator for Merged<'a, S, W> {
    type Item = Turn<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Turn<'a>> {
        let thread = self.least.next()?;
        let line = &mut self.threads[thread];
        let (index, operation) = line.next.expect("its stamp was due");
        line.next = line.later.next();
        let next = line.next.map(|(_, operation)| operation);
        self.least.set(thread, next.map_or(NEVER, &self.stamp), false);
        let id = OperationId { thread: thread as u32, index: index as u32 };
        Some(Turn { id, operation, next })
    }
}
