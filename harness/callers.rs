//! The threads that call the structure now, by their kernel numbers: for those that send signals.

use std::sync::atomic::{AtomicI32, Ordering};

use interlap::trace::area::THREADS_MAX;

/// 0: none.
static CALLERS: [AtomicI32; THREADS_MAX] = [const { AtomicI32::new(0) }; THREADS_MAX];

/// Marks the current thread as a caller until dropped.
pub struct Caller(usize);

impl Caller {
    pub fn enter(thread: u32) -> Caller {
        CALLERS[thread as usize].store(own_number(), Ordering::Relaxed);
        Caller(thread as usize)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        CALLERS[self.0].store(0, Ordering::Relaxed);
    }
}

/// The callers' numbers. Safe in a signal handler.
pub fn all() -> impl Iterator<Item = i32> {
    CALLERS.iter().map(|number| number.load(Ordering::Relaxed)).filter(|number| *number != 0)
}

/// Sends a signal to a thread of this process. One that has ended meanwhile is an error that
/// changes nothing. Safe in a signal handler.
pub fn signal(thread: i32, signal: i32) {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: takes plain numbers.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
}

/// The kernel's number of the calling thread.
pub fn own_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}
