//! The functions of other rooms that the engine calls: a table, which `job::load` registers, so
//! that the engine names none of these rooms.

use std::sync::OnceLock;

use super::access::{AccessEvent, Made, Whose};
use super::wait_kinds::{Taken, Wait};

pub struct Callbacks {
    /// Places the thread-local variables of a virtual thread; runs on its real thread.
    pub place_variables: fn(usize),
    /// Resets the thread-local variables of a thread to those of a new one.
    pub renew_variables: fn(usize),
    pub thread_begins: fn(usize),
    /// The running thread ends, and is still under control.
    pub thread_ends: fn(),
    /// Whether the number of a thread that has ended may be given to another.
    pub is_number_free: fn(usize) -> bool,
    /// The running thread takes the signals that were sent to it.
    pub take_signals: fn(usize) -> Taken,
    /// A thread runs from now on, in a round with store buffers.
    pub thread_runs: fn(usize),
    /// Stores in store buffers are to reach memory.
    pub settle: fn(Whose),
    /// Reports an access that was made to the listeners, otherwise than by a hook.
    pub made: fn(&AccessEvent, Made),
    /// Whether hooks report every access of the target.
    pub sees_all: fn() -> bool,
    /// How many blocks of memory the target has.
    pub live_blocks: fn() -> u64,
    /// The innermost return address into the target's code, on the caller's stack; 0: not known.
    pub here: fn() -> usize,
    /// Which thread holds what another waits for, where that is known.
    pub holder: fn(Wait, usize) -> Option<usize>,
    /// Report a fault that the engine has noticed, and end the process.
    pub livelock: fn() -> !,
    pub deadlock: fn() -> !,
    /// Ends the process: the target uses something that the engine cannot control.
    pub cannot_control: fn(&str) -> !,
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// To be called once in a process, before the target is loaded.
pub fn register(callbacks: Callbacks) {
    let _ = CALLBACKS.set(callbacks);
}

#[inline]
pub(super) fn callbacks() -> &'static Callbacks {
    CALLBACKS.get().expect("registered before the target is loaded")
}

/// Reports an access to the listeners that a listener itself made, such as a store buffer.
pub fn made(event: &AccessEvent, made: Made) {
    (callbacks().made)(event, made);
}

/// Which thread holds what another waits for, where that is known.
pub fn holder(why: Wait, on: usize) -> Option<usize> {
    (callbacks().holder)(why, on)
}
