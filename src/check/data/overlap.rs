//! Counts the operations of a history that overlap one of another thread.

use super::events::Events;
use crate::core::history::History;

/// How much of a history ran at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    pub operations: usize,
    /// Operations that overlap at least one operation of another thread.
    pub overlapping: usize,
}

impl Overlap {
    /// Adds the counts of another history.
    pub fn add(&mut self, other: Overlap) {
        self.operations += other.operations;
        self.overlapping += other.overlapping;
    }
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
