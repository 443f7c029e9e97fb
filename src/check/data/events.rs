//! Lists the invocations and responses of a history in the order of time. The threads are merged as
//! the events are asked for: nothing is copied or sorted.

use super::earliest::EarliestThread;
use super::small::Few;
use crate::core::history::{History, NEVER, Operation, OperationId};

/// The call or the return of an operation. An operation whose effect is open has no return.
#[derive(Clone, Copy, Debug)]
pub struct HistoryEvent<'a> {
    pub time: u64,
    pub returns: bool,
    pub id: OperationId,
    pub operation: &'a Operation,
}

/// The calls and returns of a history, oldest first. At equal stamps calls come before returns,
/// so that operations which touch overlap: one precedes another only if it ends before it starts.
pub struct Events<'a> {
    /// By thread: its operations from the one at hand on.
    threads: Few<ThreadCursor<'a>>,
    least: EarliestThread,
}

struct ThreadCursor<'a> {
    operations: &'a [Operation],
    index: u32,
    /// Whether the operation at hand has been called.
    called: bool,
}

impl<'a> Events<'a> {
    pub fn new(history: &'a History) -> Events<'a> {
        let mut least = EarliestThread::new(history);
        for (at, thread) in history.threads.iter().enumerate() {
            least.set(at, thread.operations().first().map_or(NEVER, |o| o.start), false);
        }
        let threads = history.threads.iter();
        let line = |operations| ThreadCursor { operations, index: 0, called: false };
        Events { threads: threads.map(|thread| line(thread.operations())).collect(), least }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = HistoryEvent<'a>;

    #[inline]
    fn next(&mut self) -> Option<HistoryEvent<'a>> {
        let thread = self.least.next()?;
        let line = &mut self.threads[thread];
        let (index, returns) = (line.index, line.called);
        let operation = &line.operations[index as usize];
        let after = index + u32::from(returns);
        let next = line.operations.get(after as usize);
        // After its call comes an operation's return, after that the next one's call.
        let due = next.map_or(NEVER, |next| if returns { next.start } else { next.end });
        (line.index, line.called) = (after, !returns);
        self.least.set(thread, due, !returns);
        let time = if returns { operation.end } else { operation.start };
        let id = OperationId { thread: thread as u32, index };
        Some(HistoryEvent { time, returns, id, operation })
    }
}
