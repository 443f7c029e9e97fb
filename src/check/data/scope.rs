//! Says which histories a model can judge at all: a foreign operation and a history that is too
//! long are refused before any checker sees them.

use crate::check::undecided::Undecided;
use crate::core::history::{History, Thread};
use crate::core::operation::Op;
use crate::model::{Kind, Spec};

/// Operations in one history: each has two events, numbered by 32 bits.
const OPERATIONS_MAX: usize = 1 << 31;

/// Whether this is the history of a stream: a log of which batches are appended.
pub fn is_stream(history: &History, spec: &Spec) -> bool {
    let of_streams = |thread: &Thread| thread.ops().iter().any(Op::is_of_streams);
    spec.kind == Kind::Log && history.threads.iter().any(of_streams)
}

/// Why the model cannot judge this history, if so.
pub fn refuse(history: &History, spec: &Spec) -> Option<Undecided> {
    if history.len() > OPERATIONS_MAX {
        return Some(Undecided::TooLong(OPERATIONS_MAX));
    }
    let mut ops = history.threads.iter().flat_map(|thread| thread.ops().iter());
    if let Some(foreign) = ops.find(|op| !spec.accepts(*op)) {
        return Some(Undecided::Foreign(spec.kind, foreign));
    }
    if is_stream(history, spec) {
        let other = |op: &Op| matches!(op, Op::LogAppend | Op::LogRead);
        let mut ops = history.threads.iter().flat_map(|thread| thread.ops().iter());
        if let Some(op) = ops.find(other) {
            return Some(Undecided::NotOfStreams(op));
        }
    }
    None
}
