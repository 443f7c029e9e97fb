//! What has been exercised: pairs of a place in the target's code that wrote and a place that read
//! what it wrote, on two threads. Accesses come in; pairs not seen before in this process go out
//! with the round. A pair's number is the same in all processes: places count from where the
//! library lies.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use interlap::random::mix;

const WRITERS_LOG: u32 = 9;
const SEEN_BITS_LOG: u32 = 18;
/// Most new pairs of one round; others are new in the next.
const NEW_MAX: usize = 64;

/// Who wrote to an address last. Small, and few: all of them stay in the nearest cache.
#[derive(Clone, Copy)]
struct Writer {
    /// The address; the thread is above its 48 bits.
    word: u64,
    round: u32,
    place: u32,
}

struct Coverage {
    round: Cell<u32>,
    writers: UnsafeCell<[Writer; 1 << WRITERS_LOG]>,
    seen: UnsafeCell<[u64; 1 << (SEEN_BITS_LOG - 6)]>,
    new: UnsafeCell<[u64; NEW_MAX]>,
    new_count: Cell<usize>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Coverage {}

static COVERAGE: Coverage = Coverage {
    round: Cell::new(0),
    writers: UnsafeCell::new([Writer { word: 0, round: 0, place: 0 }; 1 << WRITERS_LOG]),
    seen: UnsafeCell::new([0; 1 << (SEEN_BITS_LOG - 6)]),
    new: UnsafeCell::new([0; NEW_MAX]),
    new_count: Cell::new(0),
};

/// Where the target's library lies.
static BASE: AtomicUsize = AtomicUsize::new(0);

pub fn set_base(base: usize) {
    BASE.store(base, Ordering::Relaxed);
}

/// A round begins.
pub fn begin() {
    COVERAGE.round.set(COVERAGE.round.get().wrapping_add(1));
    COVERAGE.new_count.set(0);
}

/// The pairs of this round that are new.
pub fn new_pairs() -> Vec<u64> {
    // SAFETY: no thread of the target runs now, or the caller is the one that does.
    unsafe { (&*COVERAGE.new.get())[..COVERAGE.new_count.get()].to_vec() }
}

/// An access of shared memory by an instruction before `place`.
#[inline]
pub fn access(address: usize, write: bool, thread: usize, place: usize) {
    let c = &COVERAGE;
    let place = place.wrapping_sub(BASE.load(Ordering::Relaxed)) as u32;
    let slot = scatter(address as u64, WRITERS_LOG);
    // SAFETY: see Coverage.
    let writer = unsafe { &mut (*c.writers.get())[slot] };
    let (word, round) = ((thread as u64) << 48 | address as u64, c.round.get());
    let same_address = (writer.word ^ word) << 16 == 0;
    if same_address && writer.word != word && writer.round == round {
        pair(writer.place, place);
    }
    if write {
        *writer = Writer { word, round, place };
    }
}

#[inline]
fn pair(writer: u32, reader: u32) {
    let c = &COVERAGE;
    let places = u64::from(writer) << 32 | u64::from(reader);
    let bit = scatter(places, SEEN_BITS_LOG);
    // SAFETY: see Coverage.
    let (seen, new) = unsafe { (&mut *c.seen.get(), &mut *c.new.get()) };
    let at = c.new_count.get();
    if seen[bit / 64] & 1 << (bit % 64) == 0 && at < NEW_MAX {
        seen[bit / 64] |= 1 << (bit % 64);
        new[at] = mix(places);
        c.new_count.set(at + 1);
    }
}

/// A number of so many bits.
#[inline]
fn scatter(number: u64, bits: u32) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}
