//! Checks a history against the structure itself, or a class beside it: by the general search over
//! the orders in which its calls were made one at a time.

use super::consistency;
use super::data::witnesses::UNEXPLAINED_IN_STEPS;
use super::search::history::{run, unexplained};
use super::search::steps::Steps;
use super::undecided::Undecided;
use super::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, OperationId};
use crate::core::operation::Status;
use crate::model::{Itself, Spec};

/// Decides the history. Inconclusive where orders would be needed that were not run: the runs of
/// the history have noted which (`SequentialRuns::take_asked`).
pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    let Some(runs) = &history.runs else {
        return Verdict::Inconclusive(Undecided::NotRunAlone);
    };
    let steps = Steps::new(history, spec, None);
    let itself = Itself::new(history, spec);
    let (verdict, asked) = runs.while_asked(|| match all_wait(history) {
        // Of calls that other clients made.
        _ if spec.consistency.is_of_any_thread() => consistency::check(history, spec, limits),
        Some(first) if !itself.may_wait_at_once() => {
            Verdict::Violation(unexplained(first, Vec::new()))
        }
        Some(_) => Verdict::Consistent,
        None if !spec.is_linearizable() => consistency::check(history, spec, limits),
        None => run(history, spec, &steps, &itself, limits),
    });
    match verdict {
        Verdict::Violation(_) if asked > 0 => Verdict::Inconclusive(Undecided::OrdersNotRun),
        Verdict::Violation(witness) if spec.is_linearizable() && runs.have_steps() => {
            Verdict::Violation(Witness { rule: UNEXPLAINED_IN_STEPS, ..witness })
        }
        verdict => verdict,
    }
}

/// The first operation of a history all of whose calls wait for ever.
fn all_wait(history: &History) -> Option<OperationId> {
    let mut ids = history.ids().filter(|id| history.operation(*id).status == Status::Pending);
    ids.next().filter(|_| history.waits && ids.count() + 1 == history.len())
}
