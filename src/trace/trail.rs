//! The trail of a round: the events of its threads, step by step, where the plan asks for it.
//! The harness records it; `crate::explain` makes the interleaving of a report from it.

use serde::{Deserialize, Serialize};

/// Maximum number of events of a trail. If there are more, those in the middle are dropped.
pub const EVENTS_MAX: usize = 1 << 18;
/// Maximum number of calling functions of an event.
pub const AROUND_MAX: usize = 4;
/// Of a longer trail, so many of the first events are kept; the others are the last ones.
pub const EVENTS_FIRST: usize = EVENTS_MAX / 2;

/// The byte with which the harness fills a new block of the heap. What an earlier round left there
/// would make a round depend on it.
pub const NEW_BLOCK_BYTE: u8 = 0xa5;

/// Whether a value of so many bytes is what a new block is filled with.
pub fn is_new_memory(value: u64, size: u32) -> bool {
    value.to_le_bytes()[..size.clamp(1, 8) as usize].iter().all(|byte| *byte == NEW_BLOCK_BYTE)
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// An atomic or volatile load.
    Load,
    Store,
    /// A read-modify-write other than a compare-exchange.
    #[serde(rename = "Exchange")]
    ReadModifyWrite,
    /// A failed one changes nothing.
    #[serde(rename = "Swap")]
    CompareExchange,
    #[serde(rename = "FailedSwap")]
    FailedCompareExchange,
    Fence,
    /// A plain read.
    Read,
    Write,
    /// Of `size` bytes at `address`, in the heap.
    Allocate,
    Free,
    /// A request for a lock or something similar.
    Acquire,
    Release,
    /// The thread blocks until another one wakes it; `address` is what it waits for, if that is in
    /// memory.
    Block,
    /// Wakes the threads that wait for `address`.
    Wake,
    /// Signal number `size` ends the process, for an access to `address` if that is not 0.
    Crash,
    /// A store enters its thread's store buffer: other threads do not see it yet.
    Buffer,
    /// A store leaves its store buffer and reaches memory.
    Drain,
    /// Starts thread number `size`, which is the target's own.
    Start,
    /// The next access of the thread reads the value `before`, which is older than `after`, that of
    /// memory: it does not see that store yet.
    ReadsOld,
    /// A store of `after` that comes before the one of `before` in the order of the location's
    /// stores: memory keeps that.
    StoresOld,
}

impl Act {
    /// In the order of the numbers that hooks.c uses.
    pub const ALL: [Act; 20] = [
        Act::Load,
        Act::Store,
        Act::ReadModifyWrite,
        Act::CompareExchange,
        Act::FailedCompareExchange,
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
        Act::Start,
        Act::ReadsOld,
        Act::StoresOld,
    ];
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The last step before the event.
    pub step: u64,
    /// Callers come first, then the thread that drains, then the target's own threads.
    pub thread: u32,
    /// How many calls of the structure the thread had begun; 0 for the target's own threads.
    pub call: u32,
    pub act: Act,
    /// 0: none.
    pub address: u64,
    pub size: u32,
    /// The first 8 bytes of memory before and after. For a failed compare-exchange, `after` is the
    /// expected value.
    pub before: u64,
    pub after: u64,
    /// The return address, as an address in the library's file; 0: not known.
    pub code: u64,
    /// Return addresses of the calling functions in the library, the innermost first, filled up
    /// with 0. Only the first [`EVENTS_FIRST`] events have them.
    #[serde(default)]
    pub around: [u64; AROUND_MAX],
}
