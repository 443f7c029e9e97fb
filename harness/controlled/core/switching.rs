//! Asks the policy which thread is next, and switches to it. A deadlock is noticed here: no thread
//! can run, and none waits for a deadline. A thread that is switched to first takes the signals
//! that were sent to it.

use interlap::schedule::{Position, View};

use super::access::Whose;
use super::callbacks::callbacks;
use super::shared::SHARED;
use super::variables::{ENGINE, now};
use super::wait_kinds::Taken;
use super::waiting::{awaits_time, may_run, nobody_goes_on};
use super::{asking, control, pace, recorder, wakeups};
use crate::forked::stop_if_forked;

/// The policy's choice among the threads that can run. If there is none, time jumps to the next
/// deadline; without a deadline, it is a deadlock.
pub(super) fn choose(yields: bool) -> usize {
    let e = &ENGINE;
    while may_run() == 0 {
        let deadline = e.deadline_next.get();
        if deadline == u64::MAX || !awaits_time() {
            nobody_goes_on(callbacks().deadlock);
            continue;
        }
        e.skipped.set(e.skipped.get() + deadline.saturating_sub(now()));
        wakeups::expire();
    }
    // SAFETY: nobody else uses them now; the policy calls nothing of ours.
    let (policy, pending) = unsafe { (&mut *e.policy.get(), &*e.pending.get()) };
    let current = e.current.get();
    let own = &e.threads[current];
    let view = View {
        current,
        runnable: may_run(),
        yields,
        step: SHARED.step.get(),
        position: Position {
            call: own.boundaries.get(),
            steps: own.call_steps.get() + pace::passed() as u32,
            repeats: 0,
        },
        pending,
    };
    let next = policy.as_mut().expect("a round has a policy").next(&view);
    recorder::note(&view, next);
    next
}

/// Switches to another thread. On return, `from` has taken its signals.
pub(super) fn switch(from: usize, to: usize) -> Taken {
    let e = &ENGINE;
    note_switch(to);
    let controls = control::set_controls(false);
    e.carrier.get().switch(from, to);
    asking::answer(from);
    let taken = if wakeups::has_signal(from) { take_signals(from) } else { Taken::Nothing };
    control::set_controls(controls);
    taken
}

/// Takes signals under control, because handlers are the target's code.
#[cold]
pub(super) fn take_signals(thread: usize) -> Taken {
    control::set_controls(true);
    // A processor empties its store buffer before a handler runs.
    (callbacks().settle)(Whose::Own);
    (callbacks().take_signals)(thread)
}

pub(super) fn note_switch(to: usize) {
    // A forked child has copies of the other fibers, and must not run them.
    stop_if_forked();
    let e = &ENGINE;
    let own = &e.threads[e.current.get()];
    own.place.set(SHARED.place.replace(e.threads[to].place.get()));
    own.changed_at.set(pace::changed_at());
    e.current.set(to);
    e.runs_since.set(SHARED.step.get());
    if SHARED.buffers.get() {
        (callbacks().thread_runs)(to);
    }
    e.switches.set(e.switches.get() + 1);
    let mixed = e.schedule.get() ^ (SHARED.step.get() << 6 | to as u64);
    e.schedule.set(mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
}
