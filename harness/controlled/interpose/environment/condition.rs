//! `pthread_cond_*`. A wait releases its mutex and blocks in one step. There are no spurious
//! wake-ups; the seed decides which waiting thread a signal wakes. A condition variable has no
//! state here: the engine knows who waits for its address.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libc::{
    CLOCK_MONOTONIC, CLOCK_REALTIME, ETIMEDOUT, c_int, clockid_t, pthread_cond_t, pthread_mutex_t,
    timespec,
};

use super::lock_points::{self, before_meeting};
use super::mutex::Mutex;
use super::{real, time};
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait, Woken};

/// The bit of glibc's word `__wrefs` that says that waits are measured by CLOCK_MONOTONIC.
const MONOTONIC: u32 = 2;

/// # Safety
/// Both point to initialised objects.
pub(super) unsafe fn wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Option<u64>,
) -> c_int {
    // SAFETY: the caller's mutex.
    let mutex = unsafe { Mutex::at(mutex) };
    before_meeting(condition.addr(), Effect::Write);
    let released = mutex.release();
    if released != 0 {
        return released;
    }
    let woken = engine::block(condition.addr(), Wait::Condition, deadline);
    let acquired = mutex.acquire(None);
    if acquired == 0 && woken == Woken::Timeout { ETIMEDOUT } else { acquired }
}

pub(super) fn wake(condition: *mut pthread_cond_t, most: usize) -> c_int {
    before_meeting(condition.addr(), Effect::Write);
    lock_points::wake(condition.addr(), most);
    engine::changed();
    accesses::pause(condition.addr(), Effect::None);
    0
}

/// The clock of `pthread_cond_timedwait` on this condition variable.
///
/// # Safety
/// `condition` points to an initialised condition variable.
unsafe fn clock_of(condition: *mut pthread_cond_t) -> clockid_t {
    // SAFETY: the word lies inside the object, as it was found there in another one.
    let word = unsafe { *condition.cast::<u32>().add(clock_word()) };
    if word & MONOTONIC != 0 { CLOCK_MONOTONIC } else { CLOCK_REALTIME }
}

/// Which 32-bit word of a condition variable names its clock. Versions of glibc differ, so one is
/// made to find out.
fn clock_word() -> usize {
    static WORD: AtomicUsize = AtomicUsize::new(usize::MAX);
    if WORD.load(Relaxed) == usize::MAX {
        const WORDS: usize = size_of::<pthread_cond_t>() / size_of::<u32>();
        // SAFETY: both are made of integers, initialised before use, and free of resources.
        let words: [u32; WORDS] = unsafe {
            let mut attributes = std::mem::zeroed();
            let mut condition = std::mem::zeroed();
            libc::pthread_condattr_init(&mut attributes);
            libc::pthread_condattr_setclock(&mut attributes, CLOCK_MONOTONIC);
            libc::pthread_cond_init(&mut condition, &attributes);
            std::mem::transmute::<pthread_cond_t, [u32; WORDS]>(condition)
        };
        let found = words.iter().position(|&word| word == MONOTONIC);
        WORD.store(
            found.unwrap_or_else(|| engine::cannot_control("this libc's condvars")),
            Relaxed,
        );
    }
    WORD.load(Relaxed)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    outside_control!(pthread_cond_wait(condition, mutex));
    // SAFETY: the caller's arguments.
    unsafe { wait(condition, mutex, None) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_cond_timedwait(condition, mutex, until));
    // SAFETY: the caller's arguments.
    unsafe { wait_until(condition, mutex, clock_of(condition), until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_clockwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_cond_clockwait(condition, mutex, clock, until));
    // SAFETY: the caller's arguments.
    unsafe { wait_until(condition, mutex, clock, until) }
}

/// # Safety
/// As for `pthread_cond_clockwait`.
pub(super) unsafe fn wait_until(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's time.
    match unsafe { time::deadline(clock, until) } {
        // SAFETY: the caller's objects.
        Ok(deadline) => unsafe { wait(condition, mutex, deadline) },
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
    outside_control!(pthread_cond_signal(condition));
    wake(condition, 1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
    outside_control!(pthread_cond_broadcast(condition));
    wake(condition, usize::MAX)
}
