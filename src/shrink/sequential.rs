//! Minimizes findings of sequential rounds, which make one call at a time.
//! The result lists the calls on one thread. Such a round is deterministic, so each candidate runs
//! once.

use anyhow::Result;

use super::Smallest;
use super::minimize_calls::{Reducer, Trial};
use super::search::{Search, Shown};
use crate::core::plan::{Plan, Scenario};
use crate::core::scenario;
use crate::finding::{Size, Stored};

/// Runs each candidate once.
struct Once<'a>(&'a Search);

impl Trial for Once<'_> {
    fn try_each(&mut self, plan: &Plan, _: &Shown) -> Result<Vec<Option<Shown>>> {
        self.0.look_at_each(plan, 1)
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}

/// The smallest round that shows the finding; none if it does not recur. An error may be the
/// target's: it may refuse some calls if one thread makes all of them.
pub(super) fn shrink(
    search: &Search,
    stored: &Stored,
    report: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let mut plan = stored.finding.plan.clone();
    if plan.scenarios.is_empty() {
        plan.scenarios = vec![in_order(stored)];
    }
    plan.control.policy = None;
    let Some(first) = search.look(&plan, 0..1, u64::MAX)? else { return Ok(None) };
    let mut reducer = Reducer::new(Once(search), first.clone(), report);
    loop {
        let before = reducer.best.scenario().clone();
        reducer.reduce();
        if *reducer.best.scenario() == before || search.is_over() {
            break;
        }
    }
    let best = reducer.best;
    search.finish();
    for best in [best, first] {
        if let Some(shown) = search.look_anyway(&best.plan, best.round())? {
            return Ok(Some(Smallest { size: shown.size(), shown, measured: None }));
        }
    }
    Ok(None)
}

/// All calls of the round, including those of the drain, on one thread.
fn in_order(stored: &Stored) -> Scenario {
    let callers = stored.round.start.threads;
    let Scenario { threads, keys, values, .. } =
        scenario::from_history(&stored.round.history, callers);
    let calls = threads.into_iter().flatten().collect();
    Scenario { threads: vec![calls], keys, values, sequential: true, ..Scenario::default() }
}
