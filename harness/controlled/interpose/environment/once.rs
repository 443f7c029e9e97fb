//! `pthread_once`, on which `std::call_once` is built. State is kept as glibc keeps it: 0, 1 while
//! the routine runs (with the count of forks in the upper bits), 2 once it has run. And the guards
//! of static variables of functions, which stay the C++ library's: what it stores is not seen.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libc::c_int;

use super::lock_points::{acquires, before, released, releases};
use super::real::{self, Routine};
use crate::controlled::accesses;
use crate::controlled::core::access::{Effect, Synchronizes};
use crate::controlled::core::engine::{self, Wait};

const NEVER: u32 = 0;
const RUNNING: u32 = 1;
const DONE: u32 = 2;

/// Sets the state at the end of the routine, also where an exception leaves it.
struct Run<'a> {
    state: &'a AtomicU32,
    becomes: u32,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.state.store(self.becomes, Relaxed);
        released(std::ptr::from_ref(self.state).addr(), usize::MAX);
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_once(once: *mut c_int, routine: Routine) -> c_int {
    outside_control!(pthread_once(once, routine));
    before(once.addr(), Effect::Write);
    // SAFETY: the caller's control word, which only one thread at a time looks at.
    let state = unsafe { &*once.cast::<AtomicU32>() };
    while state.load(Relaxed) & RUNNING != 0 {
        engine::block(once.addr(), Wait::Once, None);
    }
    // Also where a routine that an exception ended has run before.
    acquires(once.addr());
    if state.load(Relaxed) == NEVER {
        state.store(RUNNING, Relaxed);
        engine::changed();
        let mut run = Run { state, becomes: NEVER };
        routine();
        run.becomes = DONE;
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_guard_acquire(guard: *mut u64) -> c_int {
    outside_control!(__cxa_guard_acquire(guard));
    // SAFETY: the caller's guard.
    let is_first = unsafe { real::__cxa_guard_acquire(guard) };
    acquires(guard.addr());
    is_first
}

/// An exception has ended the making of the variable.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_guard_abort(guard: *mut u64) {
    outside_control!(__cxa_guard_abort(guard));
    releases(guard.addr());
    // SAFETY: the caller's guard.
    unsafe { real::__cxa_guard_abort(guard) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __cxa_guard_release(guard: *mut u64) {
    outside_control!(__cxa_guard_release(guard));
    releases(guard.addr());
    // The compiler's code loads the first byte, and does not call if that is set.
    accesses::synchronizes(Synchronizes::Stores, guard.addr());
    // SAFETY: the caller's guard.
    unsafe { real::__cxa_guard_release(guard) }
}
