//! `pthread_rwlock_*`. Neither readers nor writers are preferred, so a seed may starve either.
//! State is kept as glibc keeps it, so that a lock may be used under control and outside of it in
//! turn.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libc::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, c_int, clockid_t, pthread_rwlock_t, timespec};

use super::lock_points::{acquires, before, released};
use super::thread_ids::thread_id;
use super::{real, time};
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait, Woken};

/// Bits of `readers` below the count: it is the writers' turn; a writer holds the lock.
const WRITE_PHASE: u32 = 1;
const WRITE_LOCKED: u32 = 2;
/// One reader in `readers`.
const READER: u32 = 8;

/// `struct __pthread_rwlock_arch_t` of glibc on 64-bit machines, as far as it is used here.
#[repr(C)]
struct Lock {
    readers: AtomicU32,
    _writers: u32,
    write_phase: AtomicU32,
    write_locked: AtomicU32,
    _pad: [u32; 2],
    writer: AtomicU32,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Read,
    Write,
}

impl Lock {
    /// # Safety
    /// `lock` points to an initialised lock.
    unsafe fn at<'a>(lock: *mut pthread_rwlock_t) -> &'a Lock {
        // SAFETY: a lock begins with these words, which only one thread at a time looks at.
        unsafe { &*lock.cast::<Lock>() }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn has_writer(&self) -> bool {
        self.readers.load(Relaxed) & WRITE_LOCKED != 0
    }

    fn has_readers(&self) -> bool {
        self.readers.load(Relaxed) >= READER
    }

    fn admits(&self, mode: Mode) -> bool {
        !self.has_writer() && (mode == Mode::Read || !self.has_readers())
    }

    fn take(&self, mode: Mode) {
        match mode {
            Mode::Read => {
                let readers = self.readers.load(Relaxed) & !WRITE_PHASE;
                self.readers.store(readers + READER, Relaxed);
                self.write_phase.store(0, Relaxed);
            }
            Mode::Write => {
                self.readers.store(WRITE_PHASE | WRITE_LOCKED, Relaxed);
                self.write_phase.store(1, Relaxed);
                self.write_locked.store(1, Relaxed);
                self.writer.store(thread_id(engine::current()), Relaxed);
            }
        }
        acquires(self.address());
        engine::changed();
    }

    fn lock(&self, mode: Mode, deadline: Option<u64>) -> c_int {
        before(self.address(), Effect::Write);
        if self.has_writer() && self.writer.load(Relaxed) == thread_id(engine::current()) {
            return EDEADLK;
        }
        let why = if mode == Mode::Read { Wait::ReadLock } else { Wait::WriteLock };
        while !self.admits(mode) {
            if engine::block(self.address(), why, deadline) == Woken::Timeout {
                return ETIMEDOUT;
            }
        }
        self.take(mode);
        0
    }

    fn try_lock(&self, mode: Mode) -> c_int {
        before(self.address(), Effect::Write);
        if !self.admits(mode) {
            return EBUSY;
        }
        self.take(mode);
        0
    }

    fn unlock(&self) -> c_int {
        before(self.address(), Effect::Write);
        if self.has_writer() {
            self.writer.store(0, Relaxed);
            self.write_locked.store(0, Relaxed);
            self.readers.store(WRITE_PHASE, Relaxed);
        } else if self.has_readers() {
            self.readers.fetch_sub(READER, Relaxed);
        } else {
            return EPERM;
        }
        // Readers and writers wait for one address. Whoever is not admitted waits again.
        released(self.address(), usize::MAX);
        0
    }
}

/// # Safety
/// `lock` points to an initialised lock, `until` to a time.
unsafe fn lock_until(
    lock: *mut pthread_rwlock_t,
    mode: Mode,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's time.
    match unsafe { time::deadline(clock, until) } {
        // SAFETY: the caller's lock.
        Ok(deadline) => unsafe { Lock::at(lock) }.lock(mode, deadline),
        Err(error) => error,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
    outside_control!(pthread_rwlock_rdlock(lock));
    // SAFETY: the caller's lock.
    unsafe { Lock::at(lock) }.lock(Mode::Read, None)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
    outside_control!(pthread_rwlock_wrlock(lock));
    // SAFETY: the caller's lock.
    unsafe { Lock::at(lock) }.lock(Mode::Write, None)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
    outside_control!(pthread_rwlock_tryrdlock(lock));
    // SAFETY: the caller's lock.
    unsafe { Lock::at(lock) }.try_lock(Mode::Read)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
    outside_control!(pthread_rwlock_trywrlock(lock));
    // SAFETY: the caller's lock.
    unsafe { Lock::at(lock) }.try_lock(Mode::Write)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_timedrdlock(
    lock: *mut pthread_rwlock_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_rwlock_timedrdlock(lock, until));
    // SAFETY: the caller's arguments.
    unsafe { lock_until(lock, Mode::Read, libc::CLOCK_REALTIME, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_timedwrlock(
    lock: *mut pthread_rwlock_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_rwlock_timedwrlock(lock, until));
    // SAFETY: the caller's arguments.
    unsafe { lock_until(lock, Mode::Write, libc::CLOCK_REALTIME, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_clockrdlock(
    lock: *mut pthread_rwlock_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_rwlock_clockrdlock(lock, clock, until));
    // SAFETY: the caller's arguments.
    unsafe { lock_until(lock, Mode::Read, clock, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_clockwrlock(
    lock: *mut pthread_rwlock_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    outside_control!(pthread_rwlock_clockwrlock(lock, clock, until));
    // SAFETY: the caller's arguments.
    unsafe { lock_until(lock, Mode::Write, clock, until) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
    outside_control!(pthread_rwlock_unlock(lock));
    // SAFETY: the caller's lock.
    unsafe { Lock::at(lock) }.unlock()
}
