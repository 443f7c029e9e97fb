//! Searches newly drawn rounds of few calls for one that shows the finding.
//! Removing calls one by one stops at a local minimum, often one call too many. If a few calls can
//! show the finding, random ones soon do.

use anyhow::Result;

use super::search::{ROUND_FIRST, Search, Shown};
use crate::core::plan::{Control, Plan};

/// Most threads, and calls of each, in the order of the search.
const SHAPES: [(u32, u64); 4] = [(2, 2), (2, 3), (3, 2), (3, 3)];
/// Rounds of each shape before the next shape.
const ROUNDS: u64 = 20_000;

pub(super) struct ShortRounds {
    /// Without scenarios, so that calls are drawn.
    plan: Plan,
    next: u64,
}

impl ShortRounds {
    /// `found_with` is the plan that found it, without listed calls.
    pub fn new(found_with: &Plan) -> ShortRounds {
        let mut plan = found_with.clone();
        plan.scenarios.clear();
        plan.control.records = true;
        ShortRounds { plan, next: ROUND_FIRST }
    }

    /// Searches, until the search is over, for a round with fewer calls than `best`, and prefers
    /// one with at most `enough` preemptions. Later searches use other rounds.
    pub fn look(&mut self, search: &Search, best: &Shown, enough: u64) -> Result<Option<Shown>> {
        self.look_below(search, &best.plan.control, best.scenario().calls(), enough)
    }

    /// The same with fewer than `below` calls and the heap and steps of `control`.
    pub fn look_below(
        &mut self,
        search: &Search,
        control: &Control,
        below: usize,
        enough: u64,
    ) -> Result<Option<Shown>> {
        self.plan.control.heap = control.heap;
        self.plan.control.steps_max = control.steps_max;
        while !search.is_over() {
            for (threads, calls) in SHAPES {
                if u64::from(threads) * calls >= below as u64 + calls {
                    continue;
                }
                let plan = Plan { threads, calls: Some(calls), ..self.plan.clone() };
                let rounds = self.next..self.next + ROUNDS;
                self.next = rounds.end;
                if let Some(shown) = search.look(&plan, rounds, enough)? {
                    return Ok(Some(shown));
                }
                if search.is_over() {
                    break;
                }
            }
        }
        Ok(None)
    }
}
