//! Minimizes the preemptions of a round without changing its calls.

use anyhow::Result;

use super::minimize_calls::BATCH;
use super::search::{Search, Shown};
use crate::core::plan::{Plan, Scenario};
use crate::schedule::Spec;

/// Policies with few preemptions. The search stops if the best has at most the number beside.
const FRUGAL: [(Spec, u64); 7] = [
    (Spec::Delay { delays: 0 }, 0),
    (Spec::Stall, 1),
    (Spec::Delay { delays: 1 }, 1),
    (Spec::Pct { depth: 2 }, 1),
    (Spec::Delay { delays: 2 }, 2),
    (Spec::Pct { depth: 3 }, 2),
    (Spec::Delay { delays: 3 }, 3),
];
/// Schedules for each of them at first: enough to hit the few steps that matter.
const SCHEDULES_FIRST: u64 = 3_000;
/// Schedules without delays: only the order of the threads differs.
const SCHEDULES_IN_TURN: u64 = 100;
/// Rounds for each list of turns: other draws of a round, besides the schedule, may matter.
const ROUNDS_OF_TURNS: u64 = 4;

pub(super) fn fewer_preemptions(search: &Search, best: &mut Shown, schedules: u64) -> Result<()> {
    frugal(search, best, SCHEDULES_FIRST)?;
    fewer_turns(search, best)?;
    if schedules > SCHEDULES_FIRST {
        frugal(search, best, schedules)?;
        fewer_turns(search, best)?;
    }
    Ok(())
}

/// Searches for the same finding with policies that preempt little.
fn frugal(search: &Search, best: &mut Shown, schedules: u64) -> Result<()> {
    for (policy, enough) in FRUGAL {
        if best.cost().0 <= enough || search.is_over() {
            break;
        }
        let plan = with_policy(&best.plan, &policy.to_string());
        let schedules = if enough == 0 { SCHEDULES_IN_TURN } else { schedules };
        let Some(shown) = search.look(&plan, 0..schedules, enough)? else { continue };
        if shown.list().is_none() {
            // A target that killed its process left no schedule: then the first policy that shows
            // the finding, which preempts least, is the best known.
            *best = shown;
            break;
        }
        if shown.cost() < best.cost() {
            *best = shown;
        }
    }
    Ok(())
}

/// Removes turns of the recorded schedule, many at a time first. Then follows the list of its
/// switches, which is recorded again because a turn may have no effect any more.
pub(super) fn fewer_turns(search: &Search, best: &mut Shown) -> Result<()> {
    let Some(turns) = best.turns() else { return Ok(()) };
    let mut size = turns.len().div_ceil(2);
    while size > 0 && !search.is_over() {
        if !without_some(search, best, size)? {
            size /= 2;
        }
    }
    let Some(list) = best.list() else { return Ok(()) };
    let plan = with_policy(&best.plan, list);
    if let Some(listed) = search.look(&plan, best.round()..best.round() + 1, 0)? {
        *best = listed;
    }
    Ok(())
}

/// Removes `size` turns in a row, where that gives the best schedule. Returns whether it helped.
fn without_some(search: &Search, best: &mut Shown, size: usize) -> Result<bool> {
    let turns = best.turns().unwrap_or_default();
    let without = |at: usize| {
        let fewer = [&turns[..at], &turns[(at + size).min(turns.len())..]].concat();
        let schedule = Some(Spec::Turns(fewer).to_string());
        Scenario { schedule, ..best.scenario().clone() }
    };
    let places: Vec<usize> = (0..turns.len()).step_by(size).collect();
    let mut plan = best.plan.clone();
    plan.control.policy = None;
    let mut better = None::<Shown>;
    for places in places.chunks(BATCH) {
        if search.is_over() {
            break;
        }
        plan.scenarios = places.iter().map(|at| without(*at)).collect();
        let found = search.look_at_each(&plan, ROUNDS_OF_TURNS)?;
        let found = found.into_iter().flatten().chain(better.take());
        better = found.min_by_key(Shown::cost);
    }
    match better {
        Some(better) if better.cost() < best.cost() => {
            *best = better;
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn with_policy(plan: &Plan, policy: &str) -> Plan {
    let mut plan = plan.clone();
    plan.control.policy = Some(policy.to_string());
    plan.scenarios.iter_mut().for_each(|scenario| scenario.schedule = None);
    plan
}
