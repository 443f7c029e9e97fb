//! Virtual threads as indices of tables, and as the C library names them.

pub(super) use interlap::schedule::THREADS_MAX as THREADS;

use crate::controlled::core::engine;

/// Index of whoever runs outside of control.
pub(super) const OUTSIDE: usize = THREADS;

/// Index of the running virtual thread, or [`OUTSIDE`].
pub(super) fn current_or_outside() -> usize {
    if engine::controls() { engine::current() } else { OUTSIDE }
}

/// What `gettid` gives on a virtual thread, and what a lock names as its owner: the same whatever
/// carries the thread. The kernel gives no such numbers (they end at 2^22).
pub(super) fn thread_id(thread: usize) -> u32 {
    0x4000_0000 + thread as u32
}

/// The virtual thread with this identifier.
pub(super) fn thread_with_id(id: u32) -> Option<usize> {
    id.checked_sub(thread_id(0)).map(|thread| thread as usize).filter(|&thread| thread < THREADS)
}
