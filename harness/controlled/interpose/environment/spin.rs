//! `pthread_spin_*`. A thread that finds the lock held waits instead of spinning: to other threads
//! that is the same, and a deadlock is noticed at once. State is kept as glibc keeps it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libc::{EBUSY, c_int, pthread_spinlock_t};

use super::lock_points::{acquires, before, released};
use super::real;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait};

/// In glibc, a free lock: on x86 it counts down from 1, elsewhere it is a flag.
const FREE: u32 = if cfg!(target_arch = "x86_64") { 1 } else { 0 };
const HELD: u32 = 1 - FREE;

/// # Safety
/// `lock` points to an initialised spin lock.
unsafe fn state<'a>(lock: *mut pthread_spinlock_t) -> &'a AtomicU32 {
    // SAFETY: a spin lock is one word, which only one thread at a time looks at.
    unsafe { &*lock.cast::<AtomicU32>() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int {
    outside_control!(pthread_spin_lock(lock));
    before(lock.addr(), Effect::Write);
    // SAFETY: the caller's lock.
    let state = unsafe { state(lock) };
    while state.load(Relaxed) != FREE {
        engine::block(lock.addr(), Wait::Other, None);
    }
    state.store(HELD, Relaxed);
    acquires(lock.addr());
    engine::changed();
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int {
    outside_control!(pthread_spin_trylock(lock));
    before(lock.addr(), Effect::Write);
    // SAFETY: the caller's lock.
    let state = unsafe { state(lock) };
    if state.load(Relaxed) != FREE {
        return EBUSY;
    }
    state.store(HELD, Relaxed);
    acquires(lock.addr());
    engine::changed();
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int {
    outside_control!(pthread_spin_unlock(lock));
    before(lock.addr(), Effect::Write);
    // SAFETY: the caller's lock.
    unsafe { state(lock) }.store(FREE, Relaxed);
    released(lock.addr(), 1);
    0
}
