//! Calls that wait for a signal. `sigwait` and its kin take one that is blocked and was sent to
//! their thread or to any, without its handler; `sigsuspend` and `pause` return when a handler has
//! run. A signal that nobody in the process sends never comes: then it is a deadlock.

use libc::{EAGAIN, EINTR, c_int, siginfo_t, sigset_t, timespec};

use super::queued::Sent;
use super::sending::{self, Set};
use super::{THREADS, before, engine, fails, real, time};
use crate::controlled::core::access::Effect;
use engine::{Taken, Wait, Woken};

/// Keys of these waits: one a thread, outside of all memory.
const SIGNALS: usize = usize::MAX - 6 * THREADS;

pub(super) fn key(thread: usize) -> usize {
    SIGNALS + thread
}

/// Waits for a signal of the set and takes it, or gives an error.
fn await_one(set: Set, deadline: Option<u64>) -> Result<Sent, c_int> {
    before(0, Effect::None);
    let me = engine::current();
    loop {
        if let Some(sent) = sending::remove(me, set) {
            return Ok(sent);
        }
        if deadline.is_some_and(|deadline| deadline <= engine::now()) {
            return Err(EAGAIN);
        }
        sending::set_awaited(me, set);
        let woken = engine::block(key(me), Wait::Signal, deadline);
        sending::set_awaited(me, 0);
        if woken == Woken::BySignal {
            return Err(EINTR);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
    outside_control!(sigwait(set, signal));
    // SAFETY: the caller's set.
    let set = unsafe { sending::word(set).read() };
    loop {
        match await_one(set, None) {
            // SAFETY: where the caller wants the number.
            Ok(sent) => unsafe { *signal = sent.signal },
            // As the C library has it: a handler does not end this wait.
            Err(EINTR) => continue,
            Err(error) => return error,
        }
        return 0;
    }
}

/// The signal that came, or -1.
///
/// # Safety
/// `set` points to a set, `into` to room for what is known of the signal, unless it is null.
unsafe fn wait_for(set: *const sigset_t, into: *mut siginfo_t, deadline: Option<u64>) -> c_int {
    // SAFETY: the caller's set.
    match await_one(unsafe { sending::word(set).read() }, deadline) {
        Ok(sent) => {
            if !into.is_null() {
                // SAFETY: where the caller wants it.
                unsafe { *into = sent.info() };
            }
            sent.signal
        }
        Err(error) => fails(error),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigwaitinfo(set: *const sigset_t, into: *mut siginfo_t) -> c_int {
    outside_control!(sigwaitinfo(set, into));
    // SAFETY: the caller's arguments.
    unsafe { wait_for(set, into, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigtimedwait(
    set: *const sigset_t,
    into: *mut siginfo_t,
    timeout: *const timespec,
) -> c_int {
    outside_control!(sigtimedwait(set, into, timeout));
    // SAFETY: the caller's arguments; no timeout is none.
    unsafe {
        let deadline = match timeout.is_null() {
            true => Ok(None),
            false => time::after_duration(timeout),
        };
        match deadline {
            Ok(deadline) => wait_for(set, into, deadline),
            Err(error) => fails(error),
        }
    }
}

/// Waits until a handler has run, if none ran before.
fn await_handler(ran: bool) -> c_int {
    let me = engine::current();
    let mut ran = ran;
    while !ran {
        ran = engine::block(key(me), Wait::Signal, None) == Woken::BySignal;
    }
    fails(EINTR)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    outside_control!(sigsuspend(mask));
    before(0, Effect::None);
    // SAFETY: the caller's set.
    let mask = unsafe { sending::word(mask).read() };
    let (old, taken) = sending::replace_mask(mask);
    let answer = await_handler(taken != Taken::Nothing);
    sending::replace_mask(old);
    super::set_errno(EINTR);
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pause() -> c_int {
    outside_control!(pause());
    before(0, Effect::None);
    await_handler(false)
}
