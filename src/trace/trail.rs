//! The trail of a round: what its threads did, step by step, where the plan asks for it. Knows
//! nothing of how it is noted nor of what it is good for.

use serde::{Deserialize, Serialize};

/// Most events of a trail. Of more, those in the middle are not kept.
pub const EVENTS_MAX: usize = 1 << 16;
/// Most functions around an event that are told.
pub const AROUND_MAX: usize = 4;
/// So many are the first ones, all others the last.
pub const EVENTS_FIRST: usize = EVENTS_MAX / 2;

/// What a thread did, with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Of atomic or volatile memory.
    Load,
    Store,
    /// A read-modify-write that is no comparison.
    Exchange,
    /// Compare and exchange; one that failed changed nothing.
    Swap,
    FailedSwap,
    Fence,
    /// Of memory that is neither atomic nor volatile.
    Read,
    Write,
    /// `size` bytes at `address`, from the heap and back to it.
    Allocate,
    Free,
    /// It asks for a lock, or waits for something of the kind.
    Acquire,
    Release,
    /// It cannot go on until another thread lets it; `address` is what it waits for, if that is in
    /// memory.
    Block,
    /// It wakes those that wait for this.
    Wake,
    /// Signal number `size`, on what it did to `address` or by itself, ends the process.
    Crash,
    /// A store that waits in its thread's store buffer: others do not see it yet.
    Buffer,
    /// What waited there is in memory.
    Drain,
}

impl Act {
    /// All of them, in the order of their numbers: the hooks know these.
    pub const ALL: [Act; 17] = [
        Act::Load,
        Act::Store,
        Act::Exchange,
        Act::Swap,
        Act::FailedSwap,
        Act::Fence,
        Act::Read,
        Act::Write,
        Act::Allocate,
        Act::Free,
        Act::Acquire,
        Act::Release,
        Act::Block,
        Act::Wake,
        Act::Crash,
        Act::Buffer,
        Act::Drain,
    ];
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The last step before it.
    pub step: u64,
    /// The thread's number; those behind the callers and the one that drains are the target's own.
    pub thread: u32,
    /// How many calls of the structure it had begun; 0 outside of them.
    pub call: u32,
    pub act: Act,
    /// 0: none.
    pub address: u64,
    pub size: u32,
    /// What was in memory before and after, at most 8 bytes of it. Of a failed comparison `after`
    /// is what it expected.
    pub before: u64,
    pub after: u64,
    /// The code, as an address in the library's file, where it goes on; 0: not known.
    pub code: u64,
    /// Where the functions of the library around it go on, the innermost first; 0: no more. Of the
    /// first [`EVENTS_FIRST`].
    #[serde(default)]
    pub around: [u64; AROUND_MAX],
}
