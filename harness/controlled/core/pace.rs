//! How many scheduling points may pass uninspected: as long as the policy would let the thread go
//! on and no limit is near, a point only counts. What was counted is booked before anything that
//! depends on it changes, so that rounds are the same as if every point had been inspected, as it
//! is under a debugger.

use super::control;
use super::variables::{ENGINE, STEP_NANOSECONDS, now};
use crate::marker;

/// Steps in a row in which a thread changes nothing, after which it is taken to spin and lets
/// others go first; then again after so many.
pub(super) const IDLE_STEPS_MAX: u32 = 100;
pub(super) const IDLE_STEPS_AGAIN: u32 = 20;

/// Steps of one call after which its thread lets others go first now and then, even if it changes
/// memory: what it waits for may be the work of a thread that the policy would never choose, and
/// then the loop is the schedule's fault, not the target's.
pub(super) const CALL_STEPS_MAX: u32 = 1_000;

/// Calls may take so many times the steps that count as a livelock until one returns, if they
/// change memory.
pub(super) const BUSY_FACTOR: u64 = 100;

/// Counts a step.
#[inline(always)]
pub(super) fn next_step() -> u64 {
    let step = ENGINE.step.get() + 1;
    ENGINE.step.set(step);
    step
}

/// Whether the point of this step may pass; if so, it has.
#[inline(always)]
pub(super) fn is_free(step: u64) -> bool {
    let pace = &ENGINE.pace;
    let Some(free) = pace.free.get().checked_sub(1) else { return false };
    pace.free.set(free);
    if control::take_changed() {
        pace.idle_base.set(free);
        ENGINE.changed_at.set(step);
    }
    true
}

/// Whether the policy is to be asked at points that may pass.
#[inline(always)]
pub(super) fn asks_at_each() -> bool {
    ENGINE.pace.asks_at_each.get()
}

/// A step that is no point: limits are steps, so there is one point less.
#[inline(always)]
pub(super) fn tick() {
    let pace = &ENGINE.pace;
    if pace.free.get() != 0 {
        for count in [&pace.free, &pace.granted, &pace.idle_base] {
            count.set(count.get() - 1);
        }
    }
}

/// Points that have passed and are not booked.
#[inline]
pub(super) fn passed() -> u64 {
    ENGINE.pace.granted.get() - ENGINE.pace.free.get()
}

/// Books the points that have passed; the next one is looked at.
#[inline]
pub(super) fn settle() {
    book_passed();
    ENGINE.pace.granted.set(0);
    ENGINE.pace.free.set(0);
}

/// Books the points that have passed; those that still may do so.
#[inline]
pub(super) fn book_passed() {
    let pace = &ENGINE.pace;
    let free = pace.free.get();
    let passed = pace.granted.replace(free) - free;
    if passed != 0 {
        book(passed);
    }
}

/// The current thread has changed something.
pub(super) fn changed() {
    let e = &ENGINE;
    book_passed();
    e.threads[e.current.get()].idle.set(0);
    ENGINE.pace.idle_base.set(ENGINE.pace.free.get());
}

fn book(passed: u64) {
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    own.call_steps.set(own.call_steps.get() + passed as u32);
    own.idle.set((ENGINE.pace.idle_base.get() - ENGINE.pace.free.get()) as u32);
    if !ENGINE.pace.asks.get() {
        return;
    }
    // SAFETY: nobody else uses it now; see `Engine`.
    if let Some(policy) = unsafe { &mut *e.policy.get() } {
        policy.skip(e.current.get(), passed);
    }
}

/// Lets points pass, now that the current thread goes on.
#[inline]
pub(super) fn grant() {
    // Whoever looks on may ask for any step to stop at.
    if marker::is_debugged() {
        return;
    }
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    // SAFETY: nobody else uses it now; see `Engine`.
    let Some(policy) = (unsafe { &*e.policy.get() }) else { return };
    let asks = e.runnable.get() != 1 << e.current.get() && !e.whole_calls.get();
    // It will want to know what each thread was last about to do.
    let at_each = policy.uses_accesses();
    let quiet = match asks && !at_each {
        true => policy.decided_ahead(e.current.get(), e.step.get()),
        false => u64::MAX,
    };
    if quiet != 0 {
        let free = quiet.min(of_limits());
        ENGINE.pace.idle_base.set(u64::from(own.idle.get()) + free);
        ENGINE.pace.asks.set(asks && !at_each);
        ENGINE.pace.asks_at_each.set(at_each);
        ENGINE.pace.free.set(free);
        ENGINE.pace.granted.set(free);
    }
}

/// Points until something has to be looked at whoever runs.
fn of_limits() -> u64 {
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    let limits = [
        IDLE_STEPS_MAX.saturating_sub(own.idle.get()).into(),
        CALL_STEPS_MAX.saturating_sub(own.call_steps.get()).into(),
        (e.steps_max.get() + e.changed_at.get()).saturating_sub(e.step.get()),
        (e.steps_max.get() * BUSY_FACTOR + e.boundary_at.get()).saturating_sub(e.step.get()),
        // The step that reaches the deadline is looked at.
        (e.deadline_next.get().saturating_sub(now()) / STEP_NANOSECONDS).saturating_sub(1),
    ];
    limits.into_iter().min().unwrap_or(0)
}
