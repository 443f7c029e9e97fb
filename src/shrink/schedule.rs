//! The same calls with fewer preemptions: the best round so far comes in, and is replaced by ones
//! whose schedule takes the turn less often from a thread that could go on. Changes no call.

use anyhow::Result;

use super::search::{Search, Shown};
use crate::plan::Plan;
use crate::schedule::{Spec, Switch};

/// Policies that preempt little, each with the preemptions that are good enough to stop at.
const FRUGAL: [(Spec, u64); 7] = [
    (Spec::Delay { delays: 0 }, 0),
    (Spec::Stall, 1),
    (Spec::Delay { delays: 1 }, 1),
    (Spec::Pct { depth: 2 }, 1),
    (Spec::Delay { delays: 2 }, 2),
    (Spec::Pct { depth: 3 }, 2),
    (Spec::Delay { delays: 3 }, 3),
];
/// Schedules that each of them gets at first: the few steps that matter must be met.
const SCHEDULES_FIRST: u64 = 3_000;
/// Without any delay there are but the orders of the threads to choose from.
const SCHEDULES_IN_TURN: u64 = 100;

pub(super) fn fewer_preemptions(search: &Search, best: &mut Shown, schedules: u64) -> Result<()> {
    frugal(search, best, SCHEDULES_FIRST)?;
    fewer_switches(search, best)?;
    if schedules > SCHEDULES_FIRST {
        frugal(search, best, schedules)?;
        fewer_switches(search, best)?;
    }
    Ok(())
}

/// Looks for the same finding with policies that preempt little.
fn frugal(search: &Search, best: &mut Shown, schedules: u64) -> Result<()> {
    for (policy, enough) in FRUGAL {
        if best.cost().0 <= enough || search.is_over() {
            break;
        }
        let plan = with_policy(&best.plan, &policy.to_string());
        let schedules = if enough == 0 { SCHEDULES_IN_TURN } else { schedules };
        let Some(shown) = search.look(&plan, 0..schedules, enough)? else { continue };
        if shown.list().is_none() {
            // A target that kills its process takes the schedule along: the policy that delays
            // least is all there is to know.
            *best = shown;
            break;
        }
        if shown.cost() < best.cost() {
            *best = shown;
        }
    }
    Ok(())
}

/// Follows the recorded list instead of a policy, and leaves out switches of it, many at a time
/// first. What is left is recorded anew, because a switch may have become idle, and steps are
/// counted otherwise.
fn fewer_switches(search: &Search, best: &mut Shown) -> Result<()> {
    let Some(list) = best.list() else { return Ok(()) };
    let plan = with_policy(&best.plan, list);
    let alone = best.round()..best.round() + 1;
    let Some(listed) = search.look(&plan, alone, 0)? else { return Ok(()) };
    *best = listed;
    let mut size = switches(best).len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < switches(best).len() && !search.is_over() {
            let mut fewer = switches(best);
            fewer.drain(at..(at + size).min(fewer.len()));
            let plan = with_policy(&best.plan, &Spec::List(fewer).to_string());
            match search.look(&plan, best.round()..best.round() + 1, 0)? {
                Some(shown) if shown.cost() < best.cost() => adopt(best, shown),
                _ => at += size,
            }
        }
        size /= 2;
    }
    Ok(())
}

/// The plan's list is the one that was recorded.
fn adopt(best: &mut Shown, shown: Shown) {
    *best = shown;
    if let Some(list) = best.list() {
        best.plan = with_policy(&best.plan, list);
    }
}

fn switches(shown: &Shown) -> Vec<Switch> {
    match shown.list().map(str::parse) {
        Some(Ok(Spec::List(switches))) => switches,
        _ => Vec::new(),
    }
}

fn with_policy(plan: &Plan, policy: &str) -> Plan {
    let mut plan = plan.clone();
    plan.control.policy = Some(policy.to_string());
    plan
}
