//! `pthread_barrier_wait` and `pthread_barrier_destroy`; `pthread_barrier_init` stays the C
//! library's. State is kept in glibc's words: how many arrived, how many of those may go on, how
//! many left.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libc::{PTHREAD_BARRIER_SERIAL_THREAD, c_int, pthread_barrier_t};

use super::lock_points::{self, acquires, before, before_meeting, releases};
use super::real;
use crate::controlled::accesses;
use crate::controlled::core::access::Effect;
use crate::controlled::core::engine::{self, Wait};

/// `struct pthread_barrier` of glibc.
#[repr(C)]
struct Barrier {
    arrived: AtomicU32,
    admitted: AtomicU32,
    count: u32,
    _shared: u32,
    left: AtomicU32,
}

impl Barrier {
    /// # Safety
    /// `barrier` points to an initialised barrier.
    unsafe fn at<'a>(barrier: *mut pthread_barrier_t) -> &'a Barrier {
        // SAFETY: a barrier begins with these words, which only one thread at a time looks at.
        unsafe { &*barrier.cast::<Barrier>() }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn wait(&self) -> c_int {
        before_meeting(self.address(), Effect::Write);
        releases(self.address());
        let own = self.arrived.fetch_add(1, Relaxed) + 1;
        let last = own >= self.admitted.load(Relaxed) + self.count;
        if last {
            self.admitted.fetch_add(self.count, Relaxed);
            lock_points::wake(self.address(), usize::MAX);
        }
        engine::changed();
        while self.admitted.load(Relaxed) < own {
            engine::block(self.address(), Wait::Barrier, None);
        }
        acquires(self.address());
        self.leave();
        accesses::pause(self.address(), Effect::None);
        if last { PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
    }

    /// The last to leave begins the count anew, so that it never overflows, and wakes a thread that
    /// waits to destroy the barrier.
    fn leave(&self) {
        if self.left.fetch_add(1, Relaxed) + 1 == self.arrived.load(Relaxed) {
            for word in [&self.arrived, &self.admitted, &self.left] {
                word.store(0, Relaxed);
            }
            engine::wake(self.address(), usize::MAX);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    outside_control!(pthread_barrier_wait(barrier));
    // SAFETY: the caller's barrier.
    unsafe { Barrier::at(barrier) }.wait()
}

/// Allowed as soon as one thread has passed; waits for the others to leave, as glibc does.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    outside_control!(pthread_barrier_destroy(barrier));
    before(barrier.addr(), Effect::Write);
    // SAFETY: the caller's barrier.
    let state = unsafe { Barrier::at(barrier) };
    while state.arrived.load(Relaxed) != 0 {
        engine::block(state.address(), Wait::Barrier, None);
    }
    0
}
