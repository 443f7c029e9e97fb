//! What has been exercised: pairs of a place in the target's code that wrote and a place that read
//! what it wrote, on two threads. Accesses come in; pairs not seen before in this process go out
//! with the round. A pair's number is the same in all processes: places count from where the
//! library lies.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use interlap::random::mix;

use super::layout;

const WRITERS: usize = 1 << 12;
const SEEN_BITS: usize = 1 << 18;
/// Most new pairs of one round; others are new in the next.
const NEW_MAX: usize = 64;

#[derive(Clone, Copy)]
struct Writer {
    /// What it wrote to: see `key`.
    key: usize,
    round: u64,
    place: usize,
    thread: usize,
}

struct Coverage {
    round: Cell<u64>,
    writers: UnsafeCell<[Writer; WRITERS]>,
    seen: UnsafeCell<[u64; SEEN_BITS / 64]>,
    new: UnsafeCell<[u64; NEW_MAX]>,
    new_count: Cell<usize>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Coverage {}

static COVERAGE: Coverage = Coverage {
    round: Cell::new(0),
    writers: UnsafeCell::new([Writer { key: 0, round: 0, place: 0, thread: 0 }; WRITERS]),
    seen: UnsafeCell::new([0; SEEN_BITS / 64]),
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
    COVERAGE.round.set(COVERAGE.round.get() + 1);
    COVERAGE.new_count.set(0);
}

/// The pairs of this round that are new.
pub fn new_pairs() -> Vec<u64> {
    // SAFETY: no thread of the target runs now, or the caller is the one that does.
    unsafe { (&*COVERAGE.new.get())[..COVERAGE.new_count.get()].to_vec() }
}

/// The address, as a number that is the same in all processes: libraries lie elsewhere in each.
#[inline]
fn key(address: usize) -> usize {
    let relative = address.wrapping_sub(BASE.load(Ordering::Relaxed));
    if layout::is_fixed(address) { address } else { relative }
}

/// An access of shared memory by an instruction before `place`.
#[inline]
pub fn access(address: usize, write: bool, thread: usize, place: usize) {
    let c = &COVERAGE;
    let key = key(address);
    let slot = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    // SAFETY: see Coverage.
    let writer = unsafe { &mut (*c.writers.get())[slot as usize] };
    let known = writer.key == key && writer.round == c.round.get();
    if known && writer.thread != thread {
        pair(writer.place, place);
    }
    if write {
        *writer = Writer { key, round: c.round.get(), place, thread };
    }
}

/// How far behind the library's start the place is. A function that ends with an access, as its
/// last jump, returns to whoever called it, which may be the harness: that is no place.
fn number_of(place: usize) -> u64 {
    let offset = place.wrapping_sub(BASE.load(Ordering::Relaxed)) as u64;
    if offset >> 32 == 0 { offset } else { 0 }
}

#[inline]
fn pair(writer: usize, reader: usize) {
    let c = &COVERAGE;
    let number = mix(number_of(writer).rotate_left(32) ^ number_of(reader));
    let bit = number as usize % SEEN_BITS;
    // SAFETY: see Coverage.
    let (seen, new) = unsafe { (&mut *c.seen.get(), &mut *c.new.get()) };
    let at = c.new_count.get();
    if seen[bit / 64] & 1 << (bit % 64) == 0 && at < NEW_MAX {
        seen[bit / 64] |= 1 << (bit % 64);
        new[at] = number;
        c.new_count.set(at + 1);
    }
}
