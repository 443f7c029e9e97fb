//! How threads begin and end.

use std::ffi::c_void;

use interlap::schedule::THREADS_MAX;

use super::access::Whose;
use super::callbacks::callbacks;
use super::carrier::OUTSIDE;
use super::switching::{choose, note_switch, take_signals};
use super::variables::{ENGINE, Start, Status, current, has_ended};
use super::wait_kinds::join_key;
use super::{control, pace, wakeups};

/// Prepares a thread; it runs when it is chosen.
pub(super) fn begin(
    thread: usize,
    start: Start,
    argument: *mut c_void,
    of_target: bool,
) -> std::io::Result<()> {
    let e = &ENGINE;
    let controls = control::set_controls(false);
    let prepared = e.carrier.get().prepare(thread);
    control::set_controls(controls);
    prepared?;
    let new = &e.threads[thread];
    new.start.set(Some(start));
    new.argument.set(argument);
    new.of_target.set(of_target);
    new.begun.set(false);
    new.status.set(Status::Runnable);
    (callbacks().thread_begins)(thread);
    pace::settle();
    e.runnable.set(e.runnable.get() | 1 << thread);
    Ok(())
}

/// Starts the caller with this number.
pub fn start_caller(thread: usize, start: Start, argument: *mut c_void) -> std::io::Result<()> {
    begin(thread, start, argument, false)
}

/// Starts a thread of the target; none if there are too many, or no memory.
pub fn spawn(start: Start, argument: *mut c_void) -> Option<usize> {
    let e = &ENGINE;
    let next = e.next_thread.get();
    let ended = |thread: &usize| has_ended(*thread) && (callbacks().is_number_free)(*thread);
    // Numbers of ended threads are reused only when all others are taken, so that a late use of a
    // descriptor shows.
    let thread = match next < THREADS_MAX {
        true => next,
        false => (e.callers.get() + 1..THREADS_MAX).find(ended)?,
    };
    begin(thread, start, argument, true).ok()?;
    e.next_thread.set(next.max(thread + 1));
    Some(thread)
}

/// Runs a virtual thread, on its own stack.
pub fn run_thread() -> ! {
    let own = &ENGINE.threads[current()];
    own.begun.set(true);
    if wakeups::has_signal(current()) {
        take_signals(current());
    }
    control::set_controls(own.of_target.get());
    let start = own.start.get().expect("a thread is begun with a function");
    start(own.argument.get());
    exit_thread()
}

/// Ends the running thread.
pub fn exit_thread() -> ! {
    let e = &ENGINE;
    let me = e.current.get();
    control::set_controls(true);
    (callbacks().thread_ends)();
    control::set_controls(false);
    (callbacks().settle)(Whose::Own);
    pace::settle();
    e.threads[me].status.set(Status::None);
    e.runnable.set(e.runnable.get() & !(1 << me));
    wakeups::wake(join_key(me), usize::MAX);
    if me == e.callers.get() {
        e.current.set(OUTSIDE);
        e.carrier.get().switch_after_end(me, OUTSIDE);
    }
    let next = choose(false);
    note_switch(next);
    e.carrier.get().switch_after_end(me, next)
}
