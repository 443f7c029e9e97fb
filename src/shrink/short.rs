//! Short rounds: the plan of a finding comes in, a round of few calls, drawn anew, that shows the
//! same goes out. Leaving out calls ends where none can go by itself, which is often a call more
//! than is needed; of few calls, any that show the finding are soon met.

use anyhow::Result;

use super::search::{Search, Shown};
use crate::core::plan::{Control, Plan};

/// Most threads, and calls of each: few of both, then more of either.
const SHAPES: [(u32, u64); 4] = [(2, 2), (2, 3), (3, 2), (3, 3)];
/// Rounds of each shape before the next has its turn.
const ROUNDS: u64 = 20_000;
/// Rounds before this may be special: the first make one call at a time.
const ROUND_FIRST: u64 = 1 << 10;

pub(super) struct Short {
    /// Draws its calls.
    plan: Plan,
    next: u64,
}

impl Short {
    /// Of the plan as it found it: one that lists no calls.
    pub fn new(found_with: &Plan) -> Short {
        let mut plan = found_with.clone();
        plan.scenarios.clear();
        plan.control.records = true;
        Short { plan, next: ROUND_FIRST }
    }

    /// Looks until then for a round with fewer calls than `best`, and few preemptions if it meets
    /// several; never the same rounds twice.
    pub fn look(&mut self, search: &Search, best: &Shown, enough: u64) -> Result<Option<Shown>> {
        self.look_below(search, &best.plan.control, best.scenario().calls(), enough)
    }

    /// The same with fewer calls than so many, controlled so.
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
