//! `pthread_mutex_*`: normal, recursive, error-checking and adaptive mutexes; robust ones as normal
//! ones. The seed decides which waiting thread is next.
//!
//! To unlock a mutex that is not locked does nothing, and any thread may unlock a normal one, as in
//! glibc where that is defined.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use interlap::trace::trail::Act;
use libc::{EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT, c_int, clockid_t, pthread_mutex_t, timespec};

use super::lock_points::{acquires, before, releases, report_lock};
use super::thread_ids::thread_id;
use super::{real, time};
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait, Woken};

const RECURSIVE: u32 = libc::PTHREAD_MUTEX_RECURSIVE as u32;
const ERROR_CHECKING: u32 = libc::PTHREAD_MUTEX_ERRORCHECK as u32;
/// The bits of `kind` that say which of these it is.
const TYPE: u32 = 3;
/// The bit of `kind` that says that `lock` also holds a priority, which is not supported.
const PRIORITY_CEILING: u32 = 64;
/// All bits of `kind` that have a meaning in glibc.
const KINDS: u32 = 0x3ff;

/// `struct __pthread_mutex_s` of glibc on 64-bit machines, as far as it is used here.
#[repr(C)]
pub(super) struct Mutex {
    lock: AtomicU32,
    count: AtomicU32,
    owner: AtomicU32,
    users: AtomicU32,
    kind: AtomicU32,
}

impl Mutex {
    /// # Safety
    /// `mutex` points to an initialised mutex.
    pub unsafe fn at<'a>(mutex: *mut pthread_mutex_t) -> &'a Mutex {
        // SAFETY: a mutex begins with these words, which only one thread at a time looks at.
        unsafe { &*mutex.cast::<Mutex>() }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn kind(&self) -> u32 {
        let kind = self.kind.load(Relaxed);
        if kind & PRIORITY_CEILING != 0 {
            engine::cannot_control("a mutex with a priority ceiling");
        }
        kind & TYPE
    }

    /// Whether the kind is one of glibc's: false where something else was written over the mutex.
    fn is_whole(&self) -> bool {
        self.kind.load(Relaxed) & !KINDS == 0
    }

    fn is_locked(&self) -> bool {
        self.lock.load(Relaxed) != 0
    }

    fn is_own(&self) -> bool {
        self.is_locked() && self.owner.load(Relaxed) == thread_id(engine::current())
    }

    fn take(&self) {
        self.lock.store(1, Relaxed);
        self.count.store(u32::from(self.kind() == RECURSIVE), Relaxed);
        self.owner.store(thread_id(engine::current()), Relaxed);
        self.users.store(1, Relaxed);
        acquires(self.address());
        engine::changed();
    }

    /// The answer to a lock by the thread that holds the mutex already; none: it waits.
    fn lock_again(&self) -> Option<c_int> {
        match self.kind() {
            _ if !self.is_own() => None,
            RECURSIVE => {
                self.count.fetch_add(1, Relaxed);
                Some(0)
            }
            ERROR_CHECKING => Some(EDEADLK),
            _ => None,
        }
    }

    /// Acquires without a scheduling point of its own, unless it must wait.
    pub fn acquire(&self, deadline: Option<u64>) -> c_int {
        if let Some(answer) = self.lock_again() {
            return answer;
        }
        while self.is_locked() {
            if engine::block(self.address(), Wait::Mutex, deadline) == Woken::Timeout {
                return ETIMEDOUT;
            }
        }
        self.take();
        0
    }

    /// Releases without a scheduling point, and wakes one that waits.
    pub fn release(&self) -> c_int {
        let checks = matches!(self.kind(), RECURSIVE | ERROR_CHECKING);
        if checks && !self.is_own() {
            return EPERM;
        }
        if !self.is_locked() {
            return 0;
        }
        if self.count.load(Relaxed) > 1 && self.kind() == RECURSIVE {
            self.count.fetch_sub(1, Relaxed);
            return 0;
        }
        for word in [&self.lock, &self.count, &self.owner, &self.users] {
            word.store(0, Relaxed);
        }
        report_lock(Act::Release, self.address());
        releases(self.address());
        engine::wake(self.address(), 1);
        engine::changed();
        0
    }

    pub fn lock(&self, deadline: Option<u64>) -> c_int {
        before(self.address(), Effect::Write);
        if !self.is_whole() {
            return EINVAL;
        }
        self.acquire(deadline)
    }

    pub fn try_lock(&self) -> c_int {
        before(self.address(), Effect::Write);
        if !self.is_whole() {
            return EINVAL;
        }
        let recursive = self.kind() == RECURSIVE;
        match self.is_locked() {
            true if recursive && self.is_own() => self.lock_again().unwrap_or(EBUSY),
            true => EBUSY,
            false => {
                self.take();
                0
            }
        }
    }

    pub fn unlock(&self) -> c_int {
        before(self.address(), Effect::Write);
        if !self.is_whole() {
            return EINVAL;
        }
        let answer = self.release();
        accesses::pause(self.address(), Effect::None);
        answer
    }
}

/// The [`thread_id`] of the holder of a mutex that a thread waits for; 0: nobody.
pub(super) fn owner(address: usize) -> u32 {
    // SAFETY: a thread waits for it, so it is there.
    unsafe { Mutex::at(std::ptr::with_exposed_provenance_mut(address)) }.owner.load(Relaxed)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    outside_control!(pthread_mutex_lock(mutex));
    // SAFETY: the caller's mutex.
    unsafe { Mutex::at(mutex) }.lock(None)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    outside_control!(pthread_mutex_trylock(mutex));
    // SAFETY: the caller's mutex.
    unsafe { Mutex::at(mutex) }.try_lock()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_timedlock(
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_mutex_timedlock(mutex, until));
    // SAFETY: the caller's arguments.
    unsafe { lock_until(mutex, libc::CLOCK_REALTIME, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_mutex_clocklock(mutex, clock, until));
    // SAFETY: the caller's arguments.
    unsafe { lock_until(mutex, clock, until) }
}

/// # Safety
/// As for `pthread_mutex_clocklock`.
unsafe fn lock_until(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's time.
    match unsafe { time::deadline(clock, until) } {
        // SAFETY: the caller's mutex.
        Ok(deadline) => unsafe { Mutex::at(mutex) }.lock(deadline),
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    outside_control!(pthread_mutex_unlock(mutex));
    // SAFETY: the caller's mutex.
    unsafe { Mutex::at(mutex) }.unlock()
}
