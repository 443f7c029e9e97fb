//! What a computation takes: CPU seconds of all its threads, and the most memory beyond what was
//! held before.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use nix::time::{ClockId, clock_gettime};

/// Counts what is allocated now, and the most that ever was. A program that names it as its global
/// allocator learns of memory; in others the figure is zero.
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(held, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

pub struct Measured<T> {
    pub value: T,
    pub seconds: f64,
    pub bytes: usize,
}

impl<T> Measured<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Measured<U> {
        Measured { value: change(self.value), seconds: self.seconds, bytes: self.bytes }
    }
}

fn cpu_seconds() -> f64 {
    let clock = ClockId::CLOCK_PROCESS_CPUTIME_ID;
    let time = clock_gettime(clock).expect("every process has this clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

pub fn measure<T>(compute: impl FnOnce() -> T) -> Measured<T> {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = cpu_seconds();
    let value = compute();
    let seconds = cpu_seconds() - start;
    Measured { value, seconds, bytes: PEAK.load(Relaxed).saturating_sub(before) }
}
