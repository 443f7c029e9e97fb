//! The environment of a target under control: every function of the C library through which its
//! threads meet, wait, start, end, sleep, or learn what is not the same in each run. The linker
//! prefers the definitions here to those of the C library, for targets and for the C++ library
//! alike (the harness is linked with -rdynamic). Outside of control each calls the function that it
//! replaces (`real`).
//!
//! A lock keeps its state where glibc keeps it, in its own memory, so static initialisers, copies
//! and memory used again need no care, and nothing here holds a list of locks. Nothing here depends
//! on an address, on real time, or on what carries the threads.
//!
//! A thread runs alone between two scheduling points, so what follows a point is one atomic step.
//! Each acquisition has one point before it; each release one before it, so that others see the
//! lock held, and one after it, so that they see what the caller does next.
//!
//! - Locks: `mutex`, `rwlock`, `spin`, `semaphore`, `condition`, `barrier`, `once`, `futex`
//! - Threads: `threads` (start, join, end), `c11` (the same of C11), `leaving` (`pthread_exit`),
//!   `keys` (values of each thread), `forking`
//! - Signals: `sending` (masks, who gets one), `signals` (handlers), `signal_waits`, `queued` (what
//!   they carry)
//! - Time and chance: `time`, `time_stamp` (the processor's counter), `random`
//! - The process: `mappings` (memory), `loader` (libraries), `process` (directory, file mask,
//!   locale), `settings` (environment variables), `machine` (processors, resources)
//! - `blocking_calls`: system calls that wait for a file or a socket
//! - `real`: the functions that those here replace

#[macro_use]
mod real;
mod barrier;
mod blocking_calls;
mod c11;
mod condition;
mod forking;
mod futex;
mod keys;
mod leaving;
mod loader;
pub mod machine;
pub mod mappings;
mod mutex;
mod once;
pub mod process;
mod queued;
mod random;
mod rwlock;
mod semaphore;
pub mod sending;
pub mod settings;
mod signal_waits;
mod signals;
mod spin;
pub mod threads;
mod time;
pub mod time_stamp;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use interlap::trace::trail::Act;
use libc::c_int;

use crate::controlled::accesses;
use crate::controlled::core::access::{AccessEvent, Class, Effect, Made};
use crate::controlled::core::engine;

/// Virtual threads; the engine's limit.
const THREADS: usize = 64;

/// Bytes at the start of a lock that every use of it needs.
const WORD: usize = size_of::<u32>();

/// Number of a virtual thread, or this: outside of control.
const OUTSIDE: usize = THREADS;

/// The target is being loaded.
static LOADS: AtomicBool = AtomicBool::new(false);

/// Before and after the target is loaded: what it maps then, and handlers that it installs, are
/// kept from then on as they are under control.
pub fn set_loads(loads: bool) {
    LOADS.store(loads, Relaxed);
    if !loads {
        mappings::note_loaded();
    }
}

fn loads() -> bool {
    LOADS.load(Relaxed)
}

/// Forgets what belongs to one round. Allocates nothing. `seed` decides what the target's sources
/// of random numbers give.
pub fn reset(seed: u64) {
    random::reset(seed);
    time::reset();
    threads::reset();
    forking::reset();
    futex::reset();
    sending::reset();
    settings::reset();
    process::reset();
}

/// Number of the running virtual thread, [`OUTSIDE`] outside of control.
fn row() -> usize {
    if engine::controls() { engine::current() } else { OUTSIDE }
}

/// What `gettid` gives on a virtual thread, and what a lock names as its owner: the same whatever
/// carries the thread. The kernel gives no such numbers (they end at 2^22).
fn identity(thread: usize) -> u32 {
    0x4000_0000 + thread as u32
}

/// At the start of each function that acquires or waits: counts it, and lets others run first, who
/// may free what is at the address.
fn before(address: usize, effect: Effect) {
    before_meeting(address, effect);
    if address != 0 {
        report_lock(Act::Acquire, address);
    }
}

/// The same where threads only meet, and there is nothing to acquire.
fn before_meeting(address: usize, effect: Effect) {
    before_point();
    let event = AccessEvent::new(engine::current(), Class::Lock, effect, address);
    accesses::comes(&AccessEvent { size: WORD, ..event });
}

/// The same where the address need not be that of living memory.
fn before_of_any(address: usize, effect: Effect) {
    before_point();
    accesses::pause(address, effect);
}

fn before_point() {
    engine::blocking_call();
    time::did_something();
}

/// What the running thread does with a lock, or what serves as one.
fn report_lock(act: Act, address: usize) {
    let event = AccessEvent::new(engine::current(), Class::Lock, Effect::None, address);
    accesses::made(&event, Made::only(act));
}

/// After a release: wakes up to `most` of those that wait for `address`, and lets others run.
fn released(address: usize, most: usize) {
    report_lock(Act::Release, address);
    engine::wake(address, most);
    engine::changed();
    accesses::pause(address, Effect::None);
}

/// Wakes up to `most` of those that wait for `address`; how many.
fn wake(address: usize, most: usize) -> usize {
    report_lock(Act::Wake, address);
    engine::wake(address, most)
}

/// Which virtual thread holds what another waits for, where that can be told.
pub fn holder(why: engine::Wait, address: usize) -> Option<usize> {
    let owner = match why {
        engine::Wait::Mutex => mutex::owner(address),
        _ => return None,
    };
    owner.checked_sub(identity(0)).map(|thread| thread as usize)
}

fn set_errno(error: c_int) {
    // SAFETY: gives the calling thread's errno, which is always there.
    unsafe { *libc::__errno_location() = error };
}

/// The answer of a function that reports errors through errno.
fn fails(error: c_int) -> c_int {
    set_errno(error);
    -1
}
