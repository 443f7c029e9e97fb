//! The "empty" answers that overlap no other operation that takes out. A history comes in, their
//! names go out, earliest first. Needs no merged events: of each other thread only the operation
//! around the answer counts.

use crate::history::{History, NEVER, OperationId};
use crate::operation::Status;

/// Where each thread stands in the search, which goes forward in time.
fn overlapped(history: &History, cursors: &mut [usize], id: OperationId) -> bool {
    let empty = history.operation(id);
    let others = (0..cursors.len()).filter(|at| *at != id.thread as usize);
    others.into_iter().any(|at| {
        let operations = history.threads[at].operations();
        let cursor = &mut cursors[at];
        while operations.get(*cursor).is_some_and(|o| o.end < empty.start) {
            *cursor += 1;
        }
        let around = operations[*cursor..].iter().take_while(|o| o.start <= empty.end);
        around.into_iter().any(|o| o.op.removes())
    })
}

pub fn empty_answers(history: &History) -> Vec<OperationId> {
    let mut lone = Vec::new();
    for (at, thread) in history.threads.iter().enumerate() {
        let mut cursors = vec![0; history.threads.len()];
        for (index, operation) in thread.operations().iter().enumerate() {
            let id = OperationId { thread: at as u32, index: index as u32 };
            let empty = operation.status == Status::Empty && operation.end != NEVER;
            if empty && !overlapped(history, &mut cursors, id) {
                lone.push(id);
            }
        }
    }
    lone.sort_unstable_by_key(|id| history.operation(*id).start);
    lone
}
