//! Checks that a target offers the calls of a plan's scenario: a stored plan may have been changed,
//! and so may the target.

use interlap::core::operation::{Op, Status};
use interlap::core::plan::{BULK_MAX, Plan, Scenario};
use interlap::trace::area::THREADS_MAX;

use crate::library::Role;

/// An error if the target cannot be called as the plan's scenarios say.
pub fn check(plan: &Plan, operations: &[(Op, Role)]) -> Result<(), String> {
    plan.scenarios.iter().try_for_each(|scenario| check_one(scenario, operations))
}

fn check_one(scenario: &Scenario, operations: &[(Op, Role)]) -> Result<(), String> {
    if scenario.threads.is_empty() || scenario.threads.len() > THREADS_MAX {
        return Err(format!("a scenario of {} threads", scenario.threads.len()));
    }
    for (thread, calls) in (0..).zip(&scenario.threads) {
        for call in calls {
            let (op, name, values) = (call.op, call.op.name(), call.values());
            if !operations.iter().any(|(offered, role)| *offered == op && role.admits(thread)) {
                return Err(format!("a scenario in which thread {thread} calls {name}"));
            }
            op.validate(&call.args, Status::Pending, &[])
                .map_err(|what| format!("a scenario with {what}"))?;
            if values > scenario.values.min(BULK_MAX) {
                return Err(format!("a scenario with {name} of {values} values"));
            }
        }
    }
    Ok(())
}
