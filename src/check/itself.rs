//! Checks a history against the structure itself, or a class beside it: by the general search over
//! the orders in which its calls were made one at a time.

use super::search::history::run;
use super::search::steps::Steps;
use super::undecided::Undecided;
use super::verdict::{Limits, Verdict};
use crate::core::history::History;
use crate::model::{Itself, Spec};

/// Decides the history. Inconclusive where orders would be needed that were not run: the runs of
/// the history have noted which (`SequentialRuns::take_asked`).
pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    let Some(runs) = &history.runs else {
        return Verdict::Inconclusive(Undecided::NotRunAlone);
    };
    let steps = Steps::new(history, spec, None);
    let (verdict, asked) =
        runs.while_asked(|| run(history, spec, &steps, &Itself::new(history), limits));
    match verdict {
        Verdict::Violation(_) if asked > 0 => Verdict::Inconclusive(Undecided::OrdersNotRun),
        verdict => verdict,
    }
}
