//! Calls that wait for a signal. `sigwait` and its kin take a blocked one, without its handler;
//! `sigsuspend` and `pause` return when a handler has run. A wait for a signal that no thread of
//! the process sends is a deadlock.

use libc::{EAGAIN, EINTR, c_int, siginfo_t, sigset_t, timespec};

use super::errno::{fails, set_errno};
use super::lock_points::before;
use super::signal_queue::Sent;
use super::signals::{self, Set, wait_key};
use super::{real, time};
use crate::controlled::accesses;
use crate::controlled::core::access::{Effect, Synchronizes};
use crate::controlled::core::engine::{self, Taken, Wait, Woken};

/// Waits for a signal of the set and takes it, or gives an error.
fn await_one(set: Set, deadline: Option<u64>) -> Result<Sent, c_int> {
    before(0, Effect::None);
    let me = engine::current();
    loop {
        if let Some(sent) = signals::remove(me, set) {
            accesses::synchronizes(Synchronizes::AcquiresAll, 0);
            return Ok(sent);
        }
        if deadline.is_some_and(|deadline| deadline <= engine::now()) {
            return Err(EAGAIN);
        }
        signals::set_awaited(me, set);
        let woken = engine::block(wait_key(me), Wait::Signal, deadline);
        signals::set_awaited(me, 0);
        if woken == Woken::BySignal {
            return Err(EINTR);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
    outside_control!(sigwait(set, signal));
    // SAFETY: the caller's set.
    let set = unsafe { signals::word(set).read() };
    loop {
        match await_one(set, None) {
            // SAFETY: where the caller wants the number.
            Ok(sent) => unsafe { *signal = sent.signal },
            // As in the C library, a handler does not end this wait.
            Err(EINTR) => continue,
            Err(error) => return error,
        }
        return 0;
    }
}

/// The number of the signal that came, or -1.
///
/// # Safety
/// `set` points to a set, `into` to room for what is known of the signal, unless it is null.
unsafe fn wait_for(set: *const sigset_t, into: *mut siginfo_t, deadline: Option<u64>) -> c_int {
    // SAFETY: the caller's set.
    match await_one(unsafe { signals::word(set).read() }, deadline) {
        Ok(sent) => {
            if !into.is_null() {
                // SAFETY: where the caller wants it.
                unsafe { *into = sent.siginfo() };
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
    // SAFETY: the caller's arguments.
    unsafe {
        match time::after_timeout(timeout) {
            Ok(deadline) => wait_for(set, into, deadline),
            Err(error) => fails(error),
        }
    }
}

/// Waits until a handler has run, unless one has already.
fn await_handler(ran: bool) -> c_int {
    let me = engine::current();
    let mut ran = ran;
    while !ran {
        ran = engine::block(wait_key(me), Wait::Signal, None) == Woken::BySignal;
    }
    fails(EINTR)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    outside_control!(sigsuspend(mask));
    before(0, Effect::None);
    // SAFETY: the caller's set.
    let mask = unsafe { signals::word(mask).read() };
    let (old, taken) = signals::replace_mask(mask);
    let answer = await_handler(taken != Taken::Nothing);
    signals::replace_mask(old);
    set_errno(EINTR);
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pause() -> c_int {
    outside_control!(pause());
    before(0, Effect::None);
    await_handler(false)
}
