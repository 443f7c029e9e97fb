//! The last thing that a thread did, where that was a fault that the engine saw coming: what is
//! known of it comes in, the row of the table that tells it goes out. The trail ends before, for
//! what the engine does not let happen is never noted as done.

use crate::finding::{FaultLine, What};
use crate::interleaving::{Row, What as Did};
use crate::trace::frame::DetectedKind;

/// None where it is not one thread's doing, or nobody knows whose.
pub(super) fn row(what: &What, step: u64) -> Option<Row> {
    let What::Fault { kind, thread, places, lines, .. } = what else { return None };
    let thread = (*thread)?;
    let text = words(kind.detected()?)?.to_string();
    // The others are of those that freed or allocated the block before.
    let of_fault =
        |line: &&FaultLine| places.first().is_none_or(|first| first.starts_with(&line.what));
    let place = lines.first().filter(of_fault).map(|line| line.place.clone());
    Some(Row {
        step,
        thread,
        what: Did::Act { text, times: 1, place },
        matters: true,
        is_news: true,
        crosses: false,
        delayed: false,
    })
}

fn words(kind: DetectedKind) -> Option<&'static str> {
    use DetectedKind::*;
    match kind {
        UseAfterFree => Some("accesses memory that was freed"),
        DoubleFree => Some("frees what was freed before"),
        BadFree => Some("frees what is no block"),
        OutOfBounds => Some("accesses memory outside of every block"),
        Hang => Some("computes without an end"),
        // Nobody's alone.
        Deadlock | Livelock => None,
    }
}
