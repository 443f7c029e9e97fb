//! `sem_*` of POSIX. The value is the first 32 bits of a semaphore, as in glibc on little-endian
//! 64-bit machines; `sem_init`, `sem_open` and `sem_destroy` stay the C library's.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libc::{EAGAIN, EINTR, EOVERFLOW, ETIMEDOUT, c_int, clockid_t, sem_t, timespec};

use super::errno::fails;
use super::lock_points::{acquires, before, released};
use super::{real, time};
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait, Woken};

const VALUE_MAX: u32 = i32::MAX as u32;

/// # Safety
/// `semaphore` points to an initialised semaphore.
unsafe fn value<'a>(semaphore: *mut sem_t) -> &'a AtomicU32 {
    // SAFETY: a semaphore begins with its value, which only one thread at a time looks at.
    unsafe { &*semaphore.cast::<AtomicU32>() }
}

/// Decrements the value, unless it is 0.
fn try_decrement(value: &AtomicU32) -> bool {
    let taken = value.load(Relaxed) != 0;
    if taken {
        value.fetch_sub(1, Relaxed);
        acquires(std::ptr::from_ref(value).addr());
        engine::changed();
    }
    taken
}

fn wait(value: &AtomicU32, deadline: Option<u64>) -> c_int {
    let address = std::ptr::from_ref(value).addr();
    before(address, Effect::Write);
    while !try_decrement(value) {
        match engine::block(address, Wait::Semaphore, deadline) {
            Woken::Up => {}
            Woken::Timeout => return fails(ETIMEDOUT),
            Woken::BySignal => return fails(EINTR),
        }
    }
    0
}

/// # Safety
/// As for `sem_clockwait`.
unsafe fn wait_until(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's time.
    match unsafe { time::deadline(clock, until) } {
        // SAFETY: the caller's semaphore.
        Ok(deadline) => wait(unsafe { value(semaphore) }, deadline),
        Err(error) => fails(error),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_wait(semaphore: *mut sem_t) -> c_int {
    outside_control!(sem_wait(semaphore));
    // SAFETY: the caller's semaphore.
    wait(unsafe { value(semaphore) }, None)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_trywait(semaphore: *mut sem_t) -> c_int {
    outside_control!(sem_trywait(semaphore));
    before(semaphore.addr(), Effect::Write);
    // SAFETY: the caller's semaphore.
    if try_decrement(unsafe { value(semaphore) }) { 0 } else { fails(EAGAIN) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
    outside_control!(sem_timedwait(semaphore, until));
    // SAFETY: the caller's arguments.
    unsafe { wait_until(semaphore, libc::CLOCK_REALTIME, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_clockwait(
    semaphore: *mut sem_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    outside_control!(sem_clockwait(semaphore, clock, until));
    // SAFETY: the caller's arguments.
    unsafe { wait_until(semaphore, clock, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_post(semaphore: *mut sem_t) -> c_int {
    outside_control!(sem_post(semaphore));
    before(semaphore.addr(), Effect::Write);
    // SAFETY: the caller's semaphore.
    let value = unsafe { value(semaphore) };
    if value.load(Relaxed) >= VALUE_MAX {
        return fails(EOVERFLOW);
    }
    value.fetch_add(1, Relaxed);
    released(semaphore.addr(), 1);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sem_getvalue(semaphore: *mut sem_t, into: *mut c_int) -> c_int {
    outside_control!(sem_getvalue(semaphore, into));
    before(semaphore.addr(), Effect::Read);
    // SAFETY: the caller's semaphore, and where it wants the value.
    unsafe { *into = value(semaphore).load(Relaxed) as c_int };
    0
}
