//! The beginnings and ends of calls of the structure, which the engine counts.

use interlap::schedule::{Access, Pending};

use super::pace;
use super::points::{changed, point, take_step};
use super::shared::SHARED;
use super::variables::{ENGINE, current};

/// Between two calls of the structure.
pub fn boundary() {
    changed();
    let own = &ENGINE.threads[current()];
    own.call_steps.set(0);
    own.boundaries.set(own.boundaries.get() + 1);
    ENGINE.boundary_at.set(SHARED.step.get());
    if ENGINE.whole_calls.get() {
        pace::settle();
        let step = pace::next_step();
        return take_step(step, Pending::default(), false, true);
    }
    point(0, Access::None);
}

pub fn call_begins() {
    let calls = &ENGINE.threads[current()].calls;
    calls.set(calls.get() + 1);
}

/// A call that returns is progress, also of the thread that drains.
pub fn call_ends() {
    ENGINE.threads[current()].effect_at.set(pace::changed_at());
    for last in [&SHARED.changed_at, &ENGINE.boundary_at] {
        last.set(SHARED.step.get());
    }
    // SAFETY: nobody else uses it now; see `Engine`.
    let policy = || unsafe { &mut *ENGINE.policy.get() }.as_mut();
    if policy().is_some_and(|policy| policy.uses_operations()) {
        pace::settle();
        policy().into_iter().for_each(|policy| policy.operation_ended(current()));
    }
}

/// The step at which the running thread's last call last changed memory, or its thread before it.
pub fn effect_at() -> u64 {
    ENGINE.threads[current()].effect_at.get()
}

/// How many calls of the structure a thread has begun, and whether the latest is under way.
pub fn calls(thread: usize) -> (u32, bool) {
    let thread = &ENGINE.threads[thread];
    (thread.calls.get(), thread.boundaries.get() == thread.calls.get())
}
