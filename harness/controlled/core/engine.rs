//! Runs a round, and re-exports what other rooms use of the files beside this one. At each
//! scheduling point a policy names the thread that runs next; the number of the step is the time.

use std::ffi::c_void;

use interlap::core::plan;
use interlap::core::random::Random;

use interlap::schedule::{Pending, Policy};

pub use super::asking::ask;
pub use super::blocking::block;
use super::callbacks::callbacks;
pub use super::callbacks::{holder, made};
pub use super::calls::{boundary, call_begins, call_ends, calls, effect_at};
use super::carrier::{Carrier, OUTSIDE};
pub use super::carrier::{pthread, thread_of};
pub use super::control::controls;
use super::lifetimes::{begin, run_thread};
pub use super::lifetimes::{exit_thread, spawn, start_caller};
pub use super::points::{changed, set_exclusive, yield_now};
pub use super::recorder::recorded;
use super::shared::SHARED;
use super::variables::{ENGINE, Start, Status};
pub use super::variables::{callers, current, has_ended, now, step};
pub use super::wait_kinds::{Taken, Wait, Woken, join_key};
pub use super::wakeups::{clear_signalled, has_signal, interrupt, set_signalled, wake};
use super::{control, debugger_stops, pace, progress, recorder, waiting};

/// How a round is to be scheduled.
pub struct RoundSettings {
    pub policy: Policy,
    /// Seed of everything random but the policy.
    pub seed: u64,
    /// Threads that call; the one with this number makes, drains and destroys the structure.
    pub callers: usize,
    pub steps_max: u64,
    pub whole_calls: bool,
    /// Whether the schedule is recorded.
    pub records: bool,
    /// The virtual time at which it begins, in nanoseconds.
    pub time: u64,
}

/// What a round has counted.
pub struct Counts {
    pub steps: u64,
    pub switches: u64,
    pub schedule: u64,
    pub atomics: u64,
    pub blocking: u64,
    /// Threads that the target started and that have not ended.
    pub left_running: usize,
}

/// To be called before the first round.
pub fn set_carrier(wish: plan::Carrier) -> std::io::Result<()> {
    ENGINE.carrier.set(Carrier::choose(wish, run_thread)?);
    Ok(())
}

/// Runs a round: the thread `settings.callers` runs `main(argument)`, which starts the others.
pub fn run(settings: RoundSettings, main: Start, argument: *mut c_void) -> std::io::Result<Counts> {
    let e = &ENGINE;
    // The others are unused since they were last reset.
    let used = e.next_thread.get();
    for thread in &e.threads[..used] {
        thread.status.set(Status::None);
        thread.idle.set(0);
        thread.changed_at.set(0);
        thread.call_steps.set(0);
        thread.calls.set(0);
        thread.boundaries.set(0);
        thread.place.set(0);
    }
    for count in [&SHARED.step, &SHARED.changed_at, &SHARED.atomics, &e.plain] {
        count.set(0);
    }
    for count in [&e.switches, &e.schedule, &e.blocking, &e.runnable, &e.blocked, &e.held] {
        count.set(0);
    }
    e.skipped.set(settings.time);
    pace::settle();
    SHARED.place.set(0);
    waiting::watch(false);
    e.boundary_at.set(0);
    e.blocks.set(0);
    e.deadline_next.set(u64::MAX);
    e.limit_next.set(0);
    e.steps_max.set(settings.steps_max);
    e.whole_calls.set(settings.whole_calls);
    e.callers.set(settings.callers);
    e.next_thread.set(settings.callers + 1);
    // SAFETY: outside of all rounds nobody else uses them.
    unsafe {
        *e.policy.get() = Some(settings.policy);
        *e.wakes.get() = Some(Random::new(settings.seed));
        let pending = &mut *e.pending.get();
        pending[..used].fill(Pending::default());
    }
    progress::begin();
    recorder::begin(settings.records);
    debugger_stops::round_begins();
    begin(settings.callers, main, argument, false)?;
    e.current.set(settings.callers);
    e.runs_since.set(0);
    e.carrier.get().switch(OUTSIDE, settings.callers);
    let left_running = (e.runnable.get() | e.blocked.get()).count_ones() as usize;
    Ok(Counts { left_running, ..counted() })
}

/// Ends the process: the target does what this engine cannot control.
pub fn cannot_control(what: &str) -> ! {
    control::set_controls(false);
    (callbacks().cannot_control)(what)
}

/// Counts a step that is no scheduling point: a stamp.
#[inline]
pub fn tick() -> u64 {
    let step = pace::next_step();
    pace::tick();
    debugger_stops::check(step);
    step
}

/// Counts a call that may block.
pub fn blocking_call() {
    ENGINE.blocking.set(ENGINE.blocking.get() + 1);
}

/// What the round has counted so far.
pub fn counted() -> Counts {
    let e = &ENGINE;
    Counts {
        steps: SHARED.step.get(),
        switches: e.switches.get(),
        schedule: e.schedule.get(),
        atomics: SHARED.atomics.get(),
        blocking: e.blocking.get(),
        left_running: 0,
    }
}

/// A thread that has begun and not ended.
pub struct Alive {
    pub thread: usize,
    /// Why it waits, and for which address or key.
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
        let place = if at == current() { SHARED.place.get() } else { thread.place.get() };
        Some(Alive { thread: at, waits, place })
    })
}
