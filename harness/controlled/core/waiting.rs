//! What is done where no thread can go on: that is a fault, or the thread that makes the structure
//! goes on. Threads can be held, so that one at a time runs; those that wait can be given up.

use super::pace;
use super::shared::SHARED;
use super::variables::{ENGINE, Status};
use super::wait_kinds::Woken;
use super::wakeups::{each, has_signal, unblock};

/// Sets whether the thread that makes the structure, which waits, goes on where no other can.
pub fn watch(watches: bool) {
    ENGINE.watched.set(watches);
    ENGINE.stuck.set(false);
}

/// Whether it went on for that reason since this was last asked.
pub fn take_stuck() -> bool {
    ENGINE.stuck.take()
}

/// No thread can go on, or those that can do so in vain: the one that watches is next, or `report`
/// reports it as a fault.
#[cold]
pub(super) fn nobody_goes_on(report: fn() -> !) {
    let e = &ENGINE;
    if !e.watched.get() {
        report();
    }
    e.stuck.set(true);
    hold(!(1 << e.callers.get()));
    unblock(e.callers.get(), Woken::Up);
}

/// The threads that can run, and may.
#[inline(always)]
pub(super) fn may_run() -> u64 {
    ENGINE.runnable.get() & !ENGINE.held.get()
}

/// Whether one of the threads that may run waits for a time.
pub(super) fn awaits_time() -> bool {
    let e = &ENGINE;
    let has_deadline = |thread: usize| {
        matches!(e.threads[thread].status.get(), Status::Blocked { deadline: Some(_), .. })
    };
    each(e.blocked.get() & !e.held.get()).any(has_deadline)
}

fn callers() -> u64 {
    (1 << ENGINE.callers.get()) - 1
}

fn hold(threads: u64) {
    pace::settle();
    ENGINE.held.set(threads);
}

/// Of the callers only this one runs from now on. That threads were stuck before is forgotten.
pub fn let_run(caller: usize) {
    let e = &ENGINE;
    hold(callers() & !(1 << caller));
    e.stuck.set(false);
    e.threads[caller].idle.set(0);
    for last in [&SHARED.changed_at, &e.boundary_at] {
        last.set(SHARED.step.get());
    }
    e.limit_next.set(0);
}

/// All callers run from now on.
pub fn let_all_run() {
    hold(0);
    ENGINE.stuck.set(false);
}

/// Whether the caller would go on if it ran: it was woken, or is not blocked at all.
pub fn may_go_on(caller: usize) -> bool {
    match ENGINE.threads[caller].status.get() {
        Status::Blocked { deadline: None, .. } => has_signal(caller),
        Status::Blocked { .. } | Status::Runnable => true,
        Status::None => false,
    }
}

/// All other threads count as ended, and never run again. Their stacks stay as they are until the
/// next round. Only of fibers: a real thread would stay inside its call.
pub fn give_up_others() {
    let e = &ENGINE;
    hold(0);
    let own = 1 << e.current.get();
    for other in each(!own & (e.runnable.get() | e.blocked.get())) {
        e.threads[other].status.set(Status::None);
    }
    for threads in [&e.runnable, &e.blocked] {
        threads.set(threads.get() & own);
    }
}
