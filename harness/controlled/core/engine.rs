//! Carries out a round, and gathers what other rooms may use of the files beside this one. One
//! thread of the target runs at a time; at each scheduling point a policy says which is next; time
//! is the number of the step.

use std::ffi::c_void;

use interlap::core::plan;
use interlap::core::random::Random;

use interlap::schedule::{Pending, Policy};

pub use super::asking::ask;
pub use super::blocking::block;
use super::callbacks::callbacks;
pub use super::callbacks::{holder, made};
pub use super::calls::{boundary, call_begins, call_ends, calls};
use super::carrier::{Carrier, OUTSIDE};
pub use super::carrier::{pthread, thread_of};
pub use super::control::controls;
use super::lives::{begin, run_thread};
pub use super::lives::{exit_thread, spawn, start_caller};
pub use super::points::{changed, hold, yield_now};
pub use super::recorder::recorded;
use super::variables::{ENGINE, Start, Status};
pub use super::variables::{callers, current, has_ended, now, step};
pub use super::waiting::{clear_signalled, has_signal, interrupt, set_signalled, wake};
pub use super::waits::{Taken, Wait, Woken, join_key};
use super::{control, pace, recorder, stop};

/// How a round is to be scheduled.
pub struct Order {
    pub policy: Policy,
    /// Of everything random that is not the policy's.
    pub seed: u64,
    /// Threads that call; the one with this number makes, drains and destroys the structure.
    pub callers: usize,
    pub steps_max: u64,
    pub whole_calls: bool,
    /// Whether the schedule is recorded.
    pub records: bool,
}

/// What a round came to.
pub struct Outcome {
    pub steps: u64,
    pub switches: u64,
    pub schedule: u64,
    pub atomics: u64,
    pub blocking: u64,
    /// Threads that the target started and that have not ended.
    pub left_running: usize,
}

/// Before the first round: what threads run on.
pub fn set_carrier(wish: plan::Carrier) -> std::io::Result<()> {
    ENGINE.carrier.set(Carrier::choose(wish, run_thread)?);
    Ok(())
}

/// Carries out a round: the thread `order.callers` runs `main(argument)`, and whatever it starts.
pub fn run(order: Order, main: Start, argument: *mut c_void) -> std::io::Result<Outcome> {
    let e = &ENGINE;
    // The others were not used since this was last done for them.
    let used = e.next_thread.get();
    for thread in &e.threads[..used] {
        thread.status.set(Status::None);
        thread.idle.set(0);
        thread.call_steps.set(0);
        thread.calls.set(0);
        thread.boundaries.set(0);
        thread.place.set(0);
    }
    for count in [&e.step, &e.switches, &e.schedule, &e.changed_at, &e.skipped, &e.plain] {
        count.set(0);
    }
    for count in [&e.atomics, &e.blocking, &e.runnable, &e.blocked] {
        count.set(0);
    }
    pace::settle();
    e.place.set(0);
    e.boundary_at.set(0);
    e.blocks.set(0);
    e.deadline_next.set(u64::MAX);
    e.steps_max.set(order.steps_max);
    e.whole_calls.set(order.whole_calls);
    e.callers.set(order.callers);
    e.next_thread.set(order.callers + 1);
    // SAFETY: outside of all rounds nobody else uses them.
    unsafe {
        *e.policy.get() = Some(order.policy);
        *e.wakes.get() = Some(Random::new(order.seed));
        let pending = &mut *e.pending.get();
        pending[..used].fill(Pending::default());
    }
    recorder::begin(order.records);
    stop::round_begins();
    begin(order.callers, main, argument, false)?;
    e.current.set(order.callers);
    e.carrier.get().switch(OUTSIDE, order.callers);
    Ok(Outcome {
        steps: e.step.get(),
        switches: e.switches.get(),
        schedule: e.schedule.get(),
        atomics: e.atomics.get(),
        blocking: e.blocking.get(),
        left_running: (e.runnable.get() | e.blocked.get()).count_ones() as usize,
    })
}

/// Ends the process: the target does what this engine cannot control.
pub fn cannot_control(what: &str) -> ! {
    control::set_controls(false);
    (callbacks().cannot_control)(what)
}

/// Takes a step that is no scheduling point: a stamp.
#[inline]
pub fn tick() -> u64 {
    let step = pace::next_step();
    pace::tick();
    stop::look(step);
    step
}

/// Counts a call that may block.
pub fn blocking_call() {
    ENGINE.blocking.set(ENGINE.blocking.get() + 1);
}

/// What the round has counted so far.
pub fn counted() -> Outcome {
    let e = &ENGINE;
    Outcome {
        steps: e.step.get(),
        switches: e.switches.get(),
        schedule: e.schedule.get(),
        atomics: e.atomics.get(),
        blocking: e.blocking.get(),
        left_running: 0,
    }
}

/// A thread that has begun and not ended.
pub struct Alive {
    pub thread: usize,
    /// Why it waits, and for what.
    pub waits: Option<(Wait, usize)>,
    /// Code of its last scheduling point.
    pub place: usize,
}

pub fn alive() -> impl Iterator<Item = Alive> {
    ENGINE.threads.iter().enumerate().filter_map(|(at, thread)| {
        let waits = match thread.status.get() {
            Status::None => return None,
            Status::Runnable => None,
            Status::Blocked { on, why, .. } => Some((why, on)),
        };
        let place = if at == current() { ENGINE.place.get() } else { thread.place.get() };
        Some(Alive { thread: at, waits, place })
    })
}
