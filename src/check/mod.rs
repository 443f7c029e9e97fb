//! Decides whether some order of a history's operations, respecting their timeboxes, explains every
//! answer under a model. History and model come in, a [`Verdict`] goes out. Knows nothing of
//! traces, targets, reports or the command line.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::history::{History, OperationId};
use crate::model::Spec;

/// The answer of a check. Never a bool: a check that gave up has not found the history good.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Some order explains every answer.
    Consistent,
    /// No order does.
    Violation(Witness),
    /// Not decided, and why.
    Inconclusive(String),
}

/// The few operations that cannot be explained together, and the rule they break.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Stable short name of the rule, part of a finding's signature: "fifo-order", "lost", ...
    pub rule: &'static str,
    /// One or two sentences that name the operations' values and why no order explains them.
    pub explanation: String,
    /// The operations, in the order in which the explanation needs them.
    pub operations: Vec<OperationId>,
}

/// What a check may spend. A check that reaches a limit is inconclusive.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Configurations the general search may hold at once.
    pub configurations_max: usize,
    /// Configurations the general search may visit in all.
    pub steps_max: u64,
    /// Set from outside to stop a check early.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { configurations_max: 1 << 20, steps_max: 50_000_000, cancelled: None }
    }
}
