//! Says whether a round that looks like a livelock is none: its threads still make progress.
//!
//! Threads that wait for each other look at the same places again and again. Those that go through
//! a large table, or a long list, look at new ones.

use std::cell::{Cell, UnsafeCell};

use super::callbacks::callbacks;
use super::pace::BUSY_FACTOR;
use super::shared::SHARED;
use super::variables::ENGINE;

/// A thread that allocates or frees so many blocks on balance makes progress.
const BLOCKS_MIN: u64 = 64;

/// Threads are watched for this share of the steps of a livelock, and then again.
const WATCH_SHARE: u64 = 10;

/// They make progress if one step of so many looks at a new place.
const NEW_SHARE: u64 = 100;

/// Bits of the set of places.
const BITS: usize = 1 << 22;

/// The places that were looked at since memory changed last.
struct Places {
    /// A set that may hold more than what was put in: then a round that makes progress looks like
    /// a livelock sooner, never the other way round.
    bits: UnsafeCell<[u64; BITS / 64]>,
    /// The step of that change, plain accesses aside.
    since: Cell<u64>,
    steps: Cell<u64>,
    /// The steps of them that looked at a new place.
    new: Cell<u64>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Places {}

impl Places {
    fn forget_counts(&self) {
        self.steps.set(0);
        self.new.set(0);
    }
}

static PLACES: Places = Places {
    bits: UnsafeCell::new([0; BITS / 64]),
    since: Cell::new(u64::MAX),
    steps: Cell::new(0),
    new: Cell::new(0),
};

/// To be called before a round.
pub fn begin() {
    PLACES.since.set(u64::MAX);
}

/// Whether the round still makes progress: blocks were allocated or freed on balance, as where a
/// large table is filled; or threads look at new places; or the thread that creates, drains and
/// destroys, which waits for no other, takes long. To be called at each step beyond the limits,
/// which is the `since`-th without a sign of progress and uses `address`.
#[cold]
pub(super) fn is_made(step: u64, since: u64, address: u64) -> bool {
    let e = &ENGINE;
    let blocks = (callbacks().live_blocks)();
    if e.blocks.replace(blocks).abs_diff(blocks) >= BLOCKS_MIN {
        SHARED.changed_at.set(step);
        e.boundary_at.set(step);
        return true;
    }
    let is_long = since > e.steps_max.get() * BUSY_FACTOR;
    !is_long && (e.current.get() == e.callers.get() || looks_at_new_places(address))
}

fn looks_at_new_places(address: u64) -> bool {
    let (e, places) = (&ENGINE, &PLACES);
    // Plain accesses that are points move that step on, though they change nothing.
    let changed_at = SHARED.changed_at.get().wrapping_sub(e.plain.get());
    if places.since.replace(changed_at) != changed_at {
        // SAFETY: as for `Sync`.
        unsafe { (*places.bits.get()).fill(0) };
        places.forget_counts();
    }
    let place = address.wrapping_add(e.current.get() as u64) as usize;
    let bit = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS.ilog2());
    // SAFETY: as for `Sync`; `bit` has as many bits as an index has.
    let word = unsafe { &mut (*places.bits.get())[bit / 64] };
    places.new.set(places.new.get() + u64::from(*word >> (bit % 64) & 1 == 0));
    *word |= 1 << (bit % 64);
    places.steps.set(places.steps.get() + 1);
    if places.steps.get() < e.steps_max.get() / WATCH_SHARE {
        return true;
    }
    let progress = places.new.get() * NEW_SHARE >= places.steps.get();
    places.forget_counts();
    progress
}
