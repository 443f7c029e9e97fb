//! The history as it was known at some time: without later calls, and without the answers of the
//! calls under way then.

use crate::core::history::{History, NEVER, OperationId, Thread};
use crate::core::operation::Status;

/// What was known at `time`.
pub fn until(history: &History, time: u64) -> History {
    let mut before = History { drained: false, waits: false, ..history.without_threads() };
    for (at, thread) in history.threads.iter().enumerate() {
        before.threads.push(Thread::new(thread.client));
        let called = thread.operations().iter().take_while(|operation| operation.start <= time);
        for (index, operation) in called.enumerate() {
            let id = OperationId { thread: at as u32, index: index as u32 };
            let mut entry = history.entry(id);
            // One that returned without an answer is known to say no more.
            if operation.end > time && operation.status != Status::Unknown {
                (entry.status, entry.end, entry.results) = (Status::Pending, NEVER, &[]);
            }
            before.threads[at].push(entry).expect("they follow each other as they did");
        }
    }
    before
}
