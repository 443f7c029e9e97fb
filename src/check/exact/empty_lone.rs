//! Finds the "empty" answers that overlap no other removal, earliest first.

use crate::check::data::merged;
use crate::check::data::merged::Turn;
use crate::check::data::small::Small;
use crate::core::history::{History, NEVER, Operation, OperationId};
use crate::core::operation::Status;

/// OperationIds of operations; few of them where a history is short.
pub type OperationIds = Small<OperationId>;

pub fn empty_answers(history: &History) -> OperationIds {
    let mut lone = OperationIds::new();
    // The last removal called, and its end if it may be one; the latest end of all before it.
    let (mut last, mut until, mut busy) = (None, NEVER, None);
    for Turn { id, operation, .. } in merged::by_call(history, |o| o.op.removes()) {
        let Operation { start, end, status, .. } = *operation;
        if until < start {
            lone.extend(last);
        }
        let alone = (status == Status::Empty) & busy.is_none_or(|end| end < start);
        (last, until) = (Some(id), if alone { end } else { NEVER });
        busy = busy.max(Some(end));
    }
    lone.extend(last.filter(|_| until != NEVER));
    lone
}
