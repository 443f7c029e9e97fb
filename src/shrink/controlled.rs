//! Shrinking by the controlled engine: a finding comes in, the same with fewer calls and fewer
//! preemptions goes out, as a plan that lists its calls and its switches and gives the identical
//! round each time.
//!
//! What is left of the calls is scheduled anew, many times, half of them near the schedule that
//! showed it with more calls: it still shows the finding, or it does not count. Then the calls
//! stay, and the schedule with the fewest preemptions is looked for: few delays first (Emmi,
//! Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011), then turns of the best are left out
//! (Jalbert, Sen: A Trace Simplification Technique for Effective Debugging of Concurrent Programs,
//! FSE 2010).

use std::time::{Duration, Instant};

use anyhow::Result;

use super::calls::{Reducer, Trial};
use super::search::{Search, Shown};
use super::{Smallest, schedule};
use crate::finding::{Finding, Size, Stored};
use crate::fuzz::Options;
use crate::plan::{Heap, Plan};
use crate::scenario;

/// Schedules that each candidate gets, level by level: most need few, and what the first level
/// leaves is small, so that the next is affordable.
const SCHEDULES: [u64; 4] = [300, 2_000, 10_000, 50_000];
/// The same for the first candidate, which has all calls, where the recorded schedule does not fit.
const SCHEDULES_FIRST: u64 = 10_000;
/// The part of the time in which turns of the schedule may be left out first, in percent.
const TURNS_PERCENT: u32 = 20;
/// The part of the time that a level may leave out calls, in percent: fewer preemptions need the
/// rest.
const CALLS_PERCENT: u32 = 60;
/// A candidate's round may take so many times the steps that the finding's took, and at least so
/// many, before it counts as a livelock: many candidates of a broken structure never end.
const STEPS_FACTOR: u64 = 20;
const STEPS_MIN: u64 = 2_000;
/// Time for the last run, which is done even when all time is used up.
const FINISH_MAX: Duration = Duration::from_secs(60);

/// Gives each candidate so many schedules.
struct Schedules<'a> {
    search: &'a Search,
    each: u64,
}

impl Trial for Schedules<'_> {
    fn try_each(&mut self, plan: &Plan, _: &Shown) -> Result<Vec<Option<Shown>>> {
        self.search.look_at_each(plan, self.each)
    }

    fn is_over(&self) -> bool {
        self.search.is_over()
    }
}

/// The smallest round that shows the finding; none where the finding does not recur.
pub(super) fn shrink(
    stored: &Stored,
    options: &Options,
    budget: Duration,
    tell: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let until = Instant::now() + budget;
    let search = Search::new(&stored.finding, options, until)?;
    let Some(best) = first(&search, stored)? else { return Ok(None) };
    let mut best = with_its_heap(&search, best)?;
    // Of a schedule that has only what matters, more is left when calls are left out.
    search.set_until(Instant::now() + budget * TURNS_PERCENT / 100);
    schedule::fewer_turns(&search, &mut best)?;
    search.set_until(until);
    let trial = Schedules { search: &search, each: 0 };
    let mut reducer = Reducer::new(trial, best, tell);
    let mut smallest = None::<Shown>;
    for schedules in SCHEDULES {
        let before = reducer.best.size();
        level(&search, &mut reducer, schedules, until)?;
        // Fewer calls may need more preemptions: what is easier to follow is kept.
        let best = &reducer.best;
        let weight = best.size().weight();
        if smallest.as_ref().is_none_or(|smallest| weight <= smallest.size().weight()) {
            smallest = Some(best.clone());
        }
        let stuck = schedules >= SCHEDULES_FIRST && best.size() == before;
        if stuck || search.is_over() {
            break;
        }
    }
    finish(&search, smallest.unwrap_or(reducer.best))
}

fn level(
    search: &Search,
    reducer: &mut Reducer<Schedules>,
    schedules: u64,
    until: Instant,
) -> Result<()> {
    let now = Instant::now();
    let left = until.saturating_duration_since(now);
    search.set_until(now + left * CALLS_PERCENT / 100);
    reducer.trial.each = schedules;
    reducer.reduce();
    search.set_until(until);
    schedule::fewer_preemptions(search, &mut reducer.best, schedules)?;
    reducer.told();
    Ok(())
}

/// The finding's round with its calls listed; not yet smaller.
fn first(search: &Search, stored: &Stored) -> Result<Option<Shown>> {
    let Finding { plan, round, .. } = &stored.finding;
    let alone = *round..*round + 1;
    let mut plan = plan.clone();
    plan.control.records = true;
    let Some(recorded) = search.look(&plan, alone.clone(), u64::MAX)? else { return Ok(None) };
    if !plan.scenarios.is_empty() {
        return Ok(Some(recorded));
    }
    let round = &recorded.sighting.round;
    plan.scenarios = vec![scenario::of(&round.history, round.start.threads)];
    if let (Some(steps), false) = (&round.end.steps, search.is_about_steps()) {
        let enough = (steps.steps * STEPS_FACTOR).max(STEPS_MIN);
        plan.control.steps_max = plan.control.steps_max.min(enough);
    }
    // Of the same seed and number, the round has the same schedule, unless the target refused some
    // calls, which are not listed.
    if let Some(same) = search.look(&plan, alone, u64::MAX)? {
        return Ok(Some(same));
    }
    plan.control.policy = None;
    search.look(&plan, 0..SCHEDULES_FIRST, u64::MAX)
}

/// The same with the kind of heap that its round drew, so that candidates need not draw it again.
fn with_its_heap(search: &Search, shown: Shown) -> Result<Shown> {
    let mut plan = shown.plan.clone();
    if plan.control.heap != Heap::Some {
        return Ok(shown);
    }
    for heap in [Heap::Keep, Heap::Reuse] {
        plan.control.heap = heap;
        if let Some(same) = search.look(&plan, shown.round()..shown.round() + 1, u64::MAX)? {
            return Ok(same);
        }
    }
    Ok(shown)
}

/// The best, run once more as it will be stored: it must be the identical round.
fn finish(search: &Search, best: Shown) -> Result<Option<Smallest>> {
    search.set_until(Instant::now() + FINISH_MAX);
    let mut plan = best.plan.clone();
    plan.control.records = false;
    let last = search.look_anyway(&plan, best.round())?;
    let same = last.filter(|last| last.sighting.round.history == best.sighting.round.history);
    // What a schedule costs is known of rounds that were recorded.
    let size = best.size();
    Ok(same.map(|shown| Smallest { shown, size, measured: None }))
}
