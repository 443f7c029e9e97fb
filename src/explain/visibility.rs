//! Marks the events of a trail that matter: those by which threads can notice each other while
//! certain calls are under way.

use std::ops::{Range, RangeInclusive};

use rustc_hash::FxHashMap;

use super::decisive;
use crate::trace::trail::{Act, Event};

/// Of a large copy, so many bytes are compared.
const BYTES_MAX: u64 = 1 << 12;

/// The threads that used a byte of memory while the calls were under way.
#[derive(Default)]
struct Use {
    /// A bit for each thread.
    users: u64,
    writers: u64,
}

impl Use {
    /// Whether several threads use the byte and one of them changes it.
    fn is_contended(&self) -> bool {
        self.users.count_ones() > 1 && self.writers != 0
    }
}

/// The thread of a call, and its steps from invocation to response.
pub struct CallSpan {
    pub thread: u32,
    pub steps: RangeInclusive<u64>,
}

impl CallSpan {
    /// Whether the event is part of the call.
    pub fn has(&self, event: &Event) -> bool {
        self.thread == event.thread && self.steps.contains(&event.step)
    }
}

/// What matters about an event.
#[derive(Clone, Copy, Default)]
pub struct Mark {
    pub matters: bool,
    /// Whether it matters and does more than read what its thread already knows.
    pub is_news: bool,
    /// Whether it matters and the explanation depends on it (see [`decisive`](super::decisive)).
    pub decides: bool,
}

pub fn mark(trail: &[Event], calls: &[CallSpan]) -> Vec<Mark> {
    let meanwhile = |event: &Event| calls.iter().any(|call| call.has(event));
    let mut uses: FxHashMap<u64, Use> = FxHashMap::default();
    for event in trail.iter().filter(|event| meanwhile(event)) {
        let thread = 1u64 << (event.thread % 64);
        for byte in bytes(event) {
            let used = uses.entry(byte).or_default();
            used.users |= thread;
            if changes_memory(event) {
                used.writers |= thread;
            }
        }
    }
    let mut known = Known::default();
    let contended = |byte| uses.get(&byte).is_some_and(Use::is_contended);
    let decisive = decisive::events(trail, calls, &contended);
    let mark = |(at, event): (usize, &Event)| match event.act {
        // The thread may be noticed at any time.
        Act::Start => Mark { matters: true, is_news: true, decides: false },
        _ if !meanwhile(event) => Mark::default(),
        Act::Fence | Act::Allocate => Mark::default(),
        Act::Acquire | Act::Release | Act::Block | Act::Wake | Act::Crash => {
            Mark { matters: true, is_news: true, decides: decisive[at] }
        }
        _ => {
            let (is_news, contended) = (known.note(event), bytes(event).any(contended));
            let decides = contended && decisive[at];
            let is_news = contended && is_news || decides;
            // An atomic load matters even if it finds nothing new.
            let is_atomic_read = contended && matches!(event.act, Act::Load | Act::ReadsOld);
            Mark { matters: is_news || is_atomic_read, is_news, decides }
        }
    };
    trail.iter().enumerate().map(mark).collect()
}

/// The bytes that each thread has read or written and no other thread has changed since. Reading
/// one of them again is no news.
#[derive(Default)]
struct Known {
    /// For each byte a bit for each thread that knows it.
    knowing: FxHashMap<u64, u64>,
}

impl Known {
    /// Whether the event is more than a read of bytes that its thread knows.
    fn note(&mut self, event: &Event) -> bool {
        let thread = 1u64 << (event.thread % 64);
        let mut is_new = !matches!(event.act, Act::Load | Act::Read | Act::ReadsOld);
        for byte in bytes(event) {
            let knowing = self.knowing.entry(byte).or_default();
            is_new |= *knowing & thread == 0;
            *knowing = if changes_memory(event) { thread } else { *knowing | thread };
        }
        is_new
    }
}

pub fn changes_memory(event: &Event) -> bool {
    match event.act {
        Act::Store
        | Act::Write
        | Act::ReadModifyWrite
        | Act::CompareExchange
        | Act::Drain
        | Act::Free => true,
        // Memory changes when the store is drained.
        Act::Buffer => false,
        Act::ReadsOld | Act::StoresOld => false,
        Act::Load | Act::Read | Act::FailedCompareExchange | Act::Fence | Act::Allocate => false,
        Act::Acquire | Act::Release | Act::Block | Act::Wake | Act::Crash => false,
        Act::Start => false,
    }
}

/// The bytes of memory that the event uses; none of new memory, which no other thread knows yet.
pub fn bytes(event: &Event) -> Range<u64> {
    let locks = matches!(event.act, Act::Acquire | Act::Release | Act::Block | Act::Wake);
    let is_unshared = matches!(event.act, Act::Allocate | Act::Crash | Act::Start);
    let none = event.address == 0 || is_unshared || locks;
    let bytes = if none { 0 } else { u64::from(event.size.max(1)).min(BYTES_MAX) };
    event.address..event.address.saturating_add(bytes)
}
