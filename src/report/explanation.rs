//! Says in a few sentences what is wrong in a finding.

use crate::core::history::{History, OperationId};
use crate::core::interner::Interner;
use crate::core::operation::Family;
use crate::finding::{Circumstance, Failure, Stored};
use crate::report::words;
use crate::view::explanation::sentences;

/// What is wrong in it.
pub fn of_finding(stored: &Stored) -> String {
    let history = &stored.round.history;
    match &stored.finding.what {
        Failure::Violation { explanation, circumstance, .. } => {
            let more = circumstance.as_ref().map(|of| format!(" {}", about(of, history)));
            let sentences = sentences(explanation, history, &Interner::default());
            sentences + &more.unwrap_or_default() + &uninitialised(stored)
        }
        fault @ Failure::Fault { .. } => words::fault(fault),
    }
}

/// A sentence about the answers that are no values.
fn uninitialised(stored: &Stored) -> String {
    let values: Vec<String> = stored.uninitialised().iter().map(i64::to_string).collect();
    match &values[..] {
        [] => String::new(),
        [value] => format!(" {value} is no value: it is uninitialised memory of the heap."),
        values => format!(" {} are no values: they are uninitialised memory.", values.join(", ")),
    }
}

fn about(circumstance: &Circumstance, history: &History) -> String {
    match circumstance {
        Circumstance::NoOverlap => {
            "The calls did not overlap: the structure fails even without concurrency, or the \
             adapter or the model it names does not fit it."
                .to_string()
        }
        Circumstance::Pruned { returned, pruned } => {
            let is_store = |id: OperationId| history.operation(id).op.family() == Family::Store;
            let substitute = match history.ids().next().is_some_and(is_store) {
                true => "a transaction with the same writes is shown",
                false => "one of them is shown as a call with the same effect",
            };
            format!(
                "The round was checked while it ran: of its first {returned} calls {pruned} were \
                 pruned from this history, because they are explained and only their effect \
                 matters. Where no other call shows that effect, {substitute}."
            )
        }
    }
}
