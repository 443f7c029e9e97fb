//! Detects a child that the target forked: it has one thread only, and must not go on as a harness.

use std::sync::atomic::{AtomicBool, Ordering};

static FORKED: AtomicBool = AtomicBool::new(false);

/// To be called once: from then on, forked children are detected.
pub fn watch() {
    unsafe extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

/// Whether this is a child that the target forked.
#[inline(always)]
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Ends the process if it is a child that the target forked.
#[inline(always)]
pub fn stop_if_forked() {
    if is_forked() {
        // SAFETY: ends the child at once, without running the parent's exit handlers in it.
        unsafe { libc::_exit(0) }
    }
}
