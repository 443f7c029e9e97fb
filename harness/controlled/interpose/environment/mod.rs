//! The interposed functions of the C library: those through which the target's threads meet, wait,
//! start, end, sleep, or learn what differs between runs. The linker prefers the definitions here
//! to those of the C library, for targets and for the C++ library alike (the harness is linked with
//! -rdynamic). Outside of control each calls the function that it replaces (`real`).
//!
//! A lock keeps its state where glibc keeps it, in its own memory, so static initialisers, copies
//! and memory used again need no care, and nothing here holds a list of locks. Nothing here depends
//! on an address, on real time, or on what carries the threads.
//!
//! Each file names only those before it (held by tests/tidy/harness.rs):
//!
//! - `real`: the functions that those here replace
//! - `errno`, `thread_ids`, `loader` (libraries), `lock_points` (scheduling points), `time`: what
//!   the others share
//! - Locks: `barrier`, `mutex`, `rwlock`, `spin`, `semaphore`, `condition`, `once`
//! - Threads: `keys` (values of each thread), `threads` (start, join, end), `thread_exit`
//!   (`pthread_exit`), `forking`, `c11` (locks and threads of C11)
//! - Signals: `signal_handlers`, `signal_queue` (what they carry), `signals` (masks, who gets one),
//!   `signal_waits`
//! - The process: `random`, `machine` (processors, resources), `mappings` (memory), `process`
//!   (directory, file mask, locale), `environ` (environment variables), `time_stamp` (the
//!   processor's counter)
//! - System calls: `blocking_calls` (those that wait for a file or a socket), `futex` (`syscall`)

#[macro_use]
mod real;
mod barrier;
mod blocking_calls;
mod c11;
mod condition;
pub mod environ;
mod errno;
mod forking;
mod futex;
mod keys;
mod loader;
mod lock_points;
pub mod machine;
pub mod mappings;
mod mutex;
mod once;
pub mod process;
mod random;
mod rwlock;
mod semaphore;
mod signal_handlers;
mod signal_queue;
mod signal_waits;
pub mod signals;
mod spin;
mod thread_exit;
mod thread_ids;
pub mod threads;
mod time;
pub mod time_stamp;

use crate::controlled::core::engine::Wait;

/// Before and after the target is loaded: what it maps then, and handlers that it installs, are
/// kept from then on as they are under control.
pub fn set_loading_target(loading: bool) {
    loader::set_loading_target(loading);
    if !loading {
        mappings::note_loaded();
    }
}

/// Forgets what belongs to one round. Allocates nothing. `seed` decides what the target's sources
/// of random numbers give.
pub fn reset(seed: u64) {
    random::reset(seed);
    lock_points::reset();
    threads::reset();
    forking::reset();
    futex::reset();
    signals::reset();
    environ::reset();
    process::reset();
}

/// Which virtual thread holds what another waits for; none where that is not known.
pub fn holder(why: Wait, address: usize) -> Option<usize> {
    if why != Wait::Mutex {
        return None;
    }
    thread_ids::thread_with_id(mutex::owner(address))
}
