//! What the engine has other rooms do: a table of functions that is registered when the target is
//! loaded. The engine itself names none of these rooms.

use std::sync::OnceLock;

use super::access::{AccessEvent, Made, Whose};
use super::waits::{Taken, Wait};

pub struct Callbacks {
    /// Places the thread-local variables of a thread, on the carrier's thread that lends them.
    pub place_variables: fn(usize),
    /// Makes the thread-local variables of a thread as they are in a new one.
    pub renew_variables: fn(usize),
    pub thread_begins: fn(usize),
    /// The running thread ends, and is still under control.
    pub thread_ends: fn(),
    /// Whether the number of a thread that has ended may be given to another.
    pub is_number_free: fn(usize) -> bool,
    /// The running thread takes the signals that were sent to it.
    pub take_signals: fn(usize) -> Taken,
    /// What threads hold back of their stores is to reach memory.
    pub settle: fn(Whose),
    /// Tells the listeners of an access that was made, otherwise than by a hook.
    pub made: fn(&AccessEvent, Made),
    /// How many blocks of memory the target has.
    pub live_blocks: fn() -> u64,
    /// Where the target's code goes on, on the stack of the caller; 0: not known.
    pub here: fn() -> usize,
    /// Which thread holds what another waits for, where that can be told.
    pub holder: fn(Wait, usize) -> Option<usize>,
    /// Report a fault that the engine has noticed, and end the process.
    pub livelock: fn(u64) -> !,
    pub deadlock: fn() -> !,
    /// Ends the process: the target uses this, which cannot be controlled.
    pub cannot_control: fn(&str) -> !,
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// Before the target is loaded, once in a process.
pub fn register(callbacks: Callbacks) {
    let _ = CALLBACKS.set(callbacks);
}

#[inline]
pub(super) fn callbacks() -> &'static Callbacks {
    CALLBACKS.get().expect("registered before the target is loaded")
}

/// Tells the listeners of an access that was made by a listener, such as a store buffer.
pub fn made(event: &AccessEvent, made: Made) {
    (callbacks().made)(event, made);
}

/// Which thread holds what another waits for, where that can be told.
pub fn holder(why: Wait, on: usize) -> Option<usize> {
    (callbacks().holder)(why, on)
}
