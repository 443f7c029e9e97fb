//! How many scheduling points may pass without a decision: as long as the policy would let the
//! thread go on and no limit is near, a point is only counted. The counts are booked before
//! anything that depends on them changes, so rounds are the same as with a decision at every point,
//! as under a debugger.

use super::control;
use super::shared::SHARED;
use super::variables::{ENGINE, STEP_NANOSECONDS};
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
    let step = SHARED.step.get() + 1;
    SHARED.step.set(step);
    step
}

/// Lets the point of this step pass, if it may; whether it did.
#[inline(always)]
pub(super) fn is_free(step: u64) -> bool {
    let Some(free) = SHARED.free.get().checked_sub(1) else { return false };
    SHARED.free.set(free);
    if control::take_changed() {
        SHARED.idle_base.set(free);
        SHARED.changed_at.set(step);
    }
    true
}

/// Whether the policy is asked even at points that may pass.
#[inline(always)]
pub(super) fn asks_at_each() -> bool {
    SHARED.asks_at_each.get()
}

/// Counts a step that is no point. Limits are counted in steps, so one point less may pass.
#[inline(always)]
pub(super) fn tick() {
    if SHARED.free.get() != 0 {
        for count in [&SHARED.free, &ENGINE.granted, &SHARED.idle_base] {
            count.set(count.get() - 1);
        }
    }
}

/// Points that have passed and are not booked yet.
#[inline]
pub(super) fn passed() -> u64 {
    ENGINE.granted.get() - SHARED.free.get()
}

/// Books the points that have passed; none may pass until the next [`grant`].
#[inline]
pub(super) fn settle() {
    book_passed();
    ENGINE.granted.set(0);
    SHARED.free.set(0);
}

/// Books the points that have passed; the others still may.
#[inline]
pub(super) fn book_passed() {
    let free = SHARED.free.get();
    let passed = ENGINE.granted.replace(free) - free;
    if passed != 0 {
        book(passed);
    }
}

/// The current thread has changed something.
pub(super) fn changed() {
    let e = &ENGINE;
    book_passed();
    let own = &e.threads[e.current.get()];
    own.idle.set(0);
    own.changed_at.set(SHARED.step.get() + 1);
    SHARED.idle_base.set(SHARED.free.get());
}

/// The first step after the current thread's last change of memory.
#[inline]
pub(super) fn changed_at() -> u64 {
    let (e, of_any) = (&ENGINE, SHARED.changed_at.get());
    if control::has_changed() {
        return SHARED.step.get() + 1;
    }
    let own = e.threads[e.current.get()].changed_at.get();
    if of_any > e.runs_since.get() { own.max(of_any) } else { own }
}

fn book(passed: u64) {
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    own.call_steps.set(own.call_steps.get() + passed as u32);
    own.idle.set((SHARED.idle_base.get() - SHARED.free.get()) as u32);
    if !ENGINE.asks.get() {
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
        true => policy.decided_ahead(e.current.get(), SHARED.step.get()),
        false => u64::MAX,
    };
    if quiet != 0 {
        let free = quiet.min(of_limits());
        SHARED.idle_base.set(u64::from(own.idle.get()) + free);
        ENGINE.asks.set(asks && !at_each);
        SHARED.asks_at_each.set(at_each);
        SHARED.free.set(free);
        ENGINE.granted.set(free);
    }
}

/// Points until the nearest limit.
#[inline]
fn of_limits() -> u64 {
    let (e, step) = (&ENGINE, SHARED.step.get());
    let own = &e.threads[e.current.get()];
    if step >= e.limit_next.get() {
        e.limit_next.set(limit_next());
    }
    // The step that reaches a limit must not pass.
    let common = e.limit_next.get().saturating_sub(step + 1);
    let idle = IDLE_STEPS_MAX.saturating_sub(own.idle.get());
    let of_call = CALL_STEPS_MAX.saturating_sub(own.call_steps.get());
    common.min(idle.min(of_call).into())
}

/// The step at which a livelock may have to be noticed, or a deadline comes. Changes of memory and
/// ends of calls only move it away.
#[cold]
fn limit_next() -> u64 {
    let e = &ENGINE;
    let until_deadline = e.deadline_next.get().saturating_sub(e.skipped.get());
    let limits = [
        SHARED.changed_at.get() + e.steps_max.get() + 1,
        e.boundary_at.get() + e.steps_max.get() * BUSY_FACTOR + 1,
        until_deadline.div_ceil(STEP_NANOSECONDS),
    ];
    limits.into_iter().min().unwrap_or(0)
}
