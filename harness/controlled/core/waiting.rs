//! What is done where no thread can go on: that is a fault, or the thread that makes the structure
//! goes on. Threads can be held, so that one at a time runs; those that wait can be given up.

use super::pace;
use super::shared::SHARED;
use super::variables::{ENGINE, Status};
use super::wait_kinds::{Wait, Woken};
use super::wakeups::{each, has_signal, unblock};

/// Sets whether the thread that makes the structure, which waits, goes on where no other can.
pub fn watch(watches: bool) {
    ENGINE.watched.set(watches);
    ENGINE.untimed.set(0);
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

/// Whether time passes, as one of the threads that may run waits for it alone.
pub(super) fn awaits_time() -> bool {
    let e = &ENGINE;
    let waiting = e.blocked.get() & !e.held.get();
    !each(waiting & e.untimed.get()).any(may_be_woken) && each(waiting).any(has_deadline)
}

fn has_deadline(thread: usize) -> bool {
    matches!(ENGINE.threads[thread].status.get(), Status::Blocked { deadline: Some(_), .. })
}

/// Whether it waits for a time, and may be woken before; not if it only sleeps.
fn may_be_woken(thread: usize) -> bool {
    match ENGINE.threads[thread].status.get() {
        Status::Blocked { why, deadline, .. } => deadline.is_some() && why != Wait::Sleep,
        _ => false,
    }
}

fn callers() -> u64 {
    (1 << ENGINE.callers.get()) - 1
}

fn hold(threads: u64) {
    pace::settle();
    ENGINE.held.set(threads);
}

/// Of the callers only this one runs from now on. No time passes for it, so that another may wake
/// it, unless it waits for one already. That threads were stuck before is forgotten.
pub fn let_run(caller: usize) {
    let e = &ENGINE;
    hold(callers() & !(1 << caller));
    e.untimed.set(if has_deadline(caller) { 0 } else { 1 << caller });
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
    ENGINE.untimed.set(0);
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

/// Whether the caller runs, if only in vain.
pub fn is_running(caller: usize) -> bool {
    ENGINE.threads[caller].status.get() == Status::Runnable
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
