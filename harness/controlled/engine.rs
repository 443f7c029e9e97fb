//! Stands in for the engine: the functions that the environment calls, without an engine behind
//! them. Nothing is ever under control.
#![allow(dead_code)]

use std::ffi::c_void;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    None,
    Read,
    Write,
}

/// Why a thread goes on after [`block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    Signal,
    Timeout,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Mutex,
    ReadLock,
    WriteLock,
    Condition,
    Semaphore,
    Barrier,
    Once,
    Futex,
    Join,
    Sleep,
    Other,
}

/// Whether the caller is the target's code under the controlled engine.
#[inline(always)]
pub fn controls() -> bool {
    false
}

/// The running virtual thread, 0..64.
pub fn current() -> usize {
    unimplemented!()
}

/// A scheduling point before an access.
pub fn point(_address: usize, _access: Access) {
    unimplemented!()
}

/// A scheduling point; the others go first.
pub fn yield_now() {
    unimplemented!()
}

/// Memory that others may spin on or wait for has changed.
pub fn changed() {
    unimplemented!()
}

/// Blocks the current thread until `wake(on, ..)` picks it or virtual time reaches `deadline`.
pub fn block(_on: usize, _why: Wait, _deadline: Option<u64>) -> Woken {
    unimplemented!()
}

/// Wakes up to `most` threads that wait for `on`; how many. No scheduling point.
pub fn wake(_on: usize, _most: usize) -> usize {
    unimplemented!()
}

/// Virtual nanoseconds since the round began.
pub fn now() -> u64 {
    unimplemented!()
}

/// Counts a call of a lock or of another function that may block.
pub fn blocking_call() {
    unimplemented!()
}

/// Starts a virtual thread; none if there are too many. No scheduling point: the caller runs on,
/// and the new thread not before the next one. A thread whose number is handed out is one for which
/// `environment::threads::may_be_reused` holds. Exceptions pass through `start`, so that one that
/// nobody catches ends the process with the words of the C++ library.
pub fn spawn(
    _start: extern "C-unwind" fn(*mut c_void) -> *mut c_void,
    _argument: *mut c_void,
) -> Option<usize> {
    unimplemented!()
}

/// What `pthread_self` gives on a virtual thread.
pub fn pthread(_thread: usize) -> libc::pthread_t {
    unimplemented!()
}

/// The virtual thread with this descriptor.
pub fn thread_of(_pthread: libc::pthread_t) -> Option<usize> {
    unimplemented!()
}

/// Ends the current virtual thread after its destructors.
pub fn exit_thread() -> ! {
    unimplemented!()
}

/// Ends the process: the target does what this engine cannot control.
pub fn cannot_control(_what: &str) -> ! {
    unimplemented!()
}
