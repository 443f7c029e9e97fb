//! The answer of a check, its witness, and what a check may spend.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::explanation::Explanation;
use super::undecided::{Exhausted, Undecided};
use crate::core::history::OperationId;

/// The answer of a check. Never a bool: a check that gave up has not found the history good.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Some order explains every answer.
    Consistent,
    /// No order does.
    Violation(Witness),
    /// Not decided, and why.
    Inconclusive(Undecided),
}

/// The few operations that cannot be explained together, and the rule they break.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Stable short name of the rule, part of a finding's signature: "fifo-order", "lost", ...
    pub rule: &'static str,
    /// Boxed: most results have none.
    pub explanation: Box<Explanation>,
    /// The operations, in the order in which the explanation needs them.
    pub operations: Vec<OperationId>,
}

impl Witness {
    pub fn new(
        rule: &'static str,
        explanation: Explanation,
        operations: Vec<OperationId>,
    ) -> Witness {
        Witness { rule, explanation: Box::new(explanation), operations }
    }
}

/// What a check may spend. A check that reaches a limit is inconclusive.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Configurations the general search may hold at once.
    pub configurations_max: usize,
    /// Configurations the general search may visit in all; those of large states count more.
    pub steps_max: u64,
    /// Bytes that the general search may take, as far as it can tell (see
    /// [`Model::weight`](crate::model::Model::weight)).
    pub memory_max: usize,
    /// Threads that may judge independent parts of a history at once: of a user's model, and the
    /// keys of a map or kv, where the history is long.
    pub jobs: usize,
    /// Set from outside to stop a check early.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// When a check gives up whatever it has spent.
    pub deadline: Option<Instant>,
}

impl Limits {
    /// These limits, which also end where `outer` ends: when it is cancelled, and at its deadline.
    pub(super) fn within(self, outer: &Limits) -> Limits {
        Limits { cancelled: outer.cancelled.clone(), deadline: outer.deadline, ..self }
    }

    /// Fails where a check must end, whatever it has spent.
    pub(super) fn go_on(&self) -> Result<(), Exhausted> {
        if self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Exhausted::Cancelled);
        }
        if self.is_late() { Err(Exhausted::Deadline) } else { Ok(()) }
    }

    /// Whether the deadline has come.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            configurations_max: 1 << 20,
            steps_max: 50_000_000,
            memory_max: 2 << 30,
            jobs: 1,
            cancelled: None,
            deadline: None,
        }
    }
}

/// What can say whether it explains a history of type `H`: a [`Spec`] by its own checker, a user's
/// [`Model`] by the general search.
pub trait Explains<H: ?Sized> {
    /// The verdict on `history`. Use [`check`], which reads better.
    fn verdict(&self, history: &H, limits: &Limits) -> Verdict;
}
