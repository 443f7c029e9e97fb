//! How many scheduling points may pass without a decision: as long as the policy would let the
//! thread go on and no limit is near, a point is only counted. The counts are booked before
//! anything that depends on them changes, so rounds are the same as with a decision at every point,
//! as under a debugger.

use super::control;
use super::variables::{ENGINE, STEP_NANOSECONDS, now};
use crate::marker;

/// After so many steps in a row in which it changes nothing, a thread is taken to spin and lets
/// others go first; and again after so many more.
pub(super) const IDLE_STEPS_MAX: u32 = 100;
pub(super) const IDLE_STEPS_AGAIN: u32 = 20;

/// After so many steps of one call, its thread lets others go first now and then, even if it
/// changes memory: it may wait for a thread that the policy would never choose, and then the loop
/// is the schedule's fault, not the target's.
pub(super) const CALL_STEPS_MAX: u32 = 1_000;

/// If threads change memory, they may take so many times the steps of a livelock until a call
/// returns.
pub(super) const BUSY_FACTOR: u64 = 100;

/// Counts a step.
#[inline(always)]
pub(super) fn next_step() -> u64 {
    let step = ENGINE.step.get() + 1;
    ENGINE.step.set(step);
    step
}

/// Lets the point of this step pass, if it may; whether it did.
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

/// Whether the policy is asked even at points that may pass.
#[inline(always)]
pub(super) fn asks_at_each() -> bool {
    ENGINE.pace.asks_at_each.get()
}

/// Counts a step that is no point. Limits are counted in steps, so one point less may pass.
#[inline(always)]
pub(super) fn tick() {
    let pace = &ENGINE.pace;
    if pace.free.get() != 0 {
        for count in [&pace.free, &pace.granted, &pace.idle_base] {
            count.set(count.get() - 1);
        }
    }
}

/// Points that have passed and are not booked yet.
#[inline]
pub(super) fn passed() -> u64 {
    ENGINE.pace.granted.get() - ENGINE.pace.free.get()
}

/// Books the points that have passed; none may pass until the next [`grant`].
#[inline]
pub(super) fn settle() {
    book_passed();
    ENGINE.pace.granted.set(0);
    ENGINE.pace.free.set(0);
}

/// Books the points that have passed; the others still may.
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

/// Determines how many points may pass, now that the current thread goes on.
#[inline]
pub(super) fn grant() {
    // A debugger may ask to stop at any step.
    if marker::is_debugged() {
        return;
    }
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    // SAFETY: nobody else uses it now; see `Engine`.
    let Some(policy) = (unsafe { &*e.policy.get() }) else { return };
    let asks = e.runnable.get() != 1 << e.current.get() && !e.whole_calls.get();
    // Such a policy needs to know the pending access of each thread.
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

/// Points until the nearest limit.
fn of_limits() -> u64 {
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    let limits = [
        IDLE_STEPS_MAX.saturating_sub(own.idle.get()).into(),
        CALL_STEPS_MAX.saturating_sub(own.call_steps.get()).into(),
        (e.steps_max.get() + e.changed_at.get()).saturating_sub(e.step.get()),
        (e.steps_max.get() * BUSY_FACTOR + e.boundary_at.get()).saturating_sub(e.step.get()),
        // The step that reaches the deadline must not pass.
        (e.deadline_next.get().saturating_sub(now()) / STEP_NANOSECONDS).saturating_sub(1),
    ];
    limits.into_iter().min().unwrap_or(0)
}
