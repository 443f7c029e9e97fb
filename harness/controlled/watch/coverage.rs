//! Coverage: pairs of a place in the target's code that wrote and a place that read what it wrote,
//! on two threads. Pairs that are new in this process are sent with the round. A pair's number is
//! the same in all processes, because places are offsets in the library.

use std::cell::{Cell, UnsafeCell};
use std::hint::select_unpredictable;
use std::sync::atomic::{AtomicUsize, Ordering};

use interlap::core::random::mix;

use crate::controlled::core::access::{AccessEvent, Class, Listener};
use crate::controlled::core::{engine, layout};

const WRITERS_LOG: u32 = 9;
const SEEN_BITS_LOG: u32 = 18;
/// New pairs of one round at most; others count as new in a later one.
const NEW_MAX: usize = 64;

/// So many rounds of a process are counted, then one in [`ROUNDS_PART`]: by then new pairs are
/// rare, and the search for them is a tenth of a round's cost.
const ROUNDS_FIRST: u32 = 1024;
const ROUNDS_PART: u64 = 4;

/// Bits of an address.
const KEY_BITS: u32 = 48;

/// The last write to an address. Small and few, so that all stay in the nearest cache.
#[derive(Clone, Copy)]
struct Writer {
    /// The [`key`] of the address; above it the thread.
    word: u64,
    /// The place; above it the round.
    tail: u64,
}

struct Pairs {
    round: Cell<u32>,
    counts: Cell<bool>,
    writers: UnsafeCell<[Writer; 1 << WRITERS_LOG]>,
    seen: UnsafeCell<[u64; 1 << (SEEN_BITS_LOG - 6)]>,
    new: UnsafeCell<[u64; NEW_MAX]>,
    new_count: Cell<usize>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Pairs {}

static COVERAGE: Pairs = Pairs {
    round: Cell::new(0),
    counts: Cell::new(false),
    writers: UnsafeCell::new([Writer { word: 0, tail: 0 }; 1 << WRITERS_LOG]),
    seen: UnsafeCell::new([0; 1 << (SEEN_BITS_LOG - 6)]),
    new: UnsafeCell::new([0; NEW_MAX]),
    new_count: Cell::new(0),
};

/// Address and size of the target's library.
static BASE: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

pub fn set_library(base: usize, end: usize) {
    BASE.store(base, Ordering::Relaxed);
    BYTES.store(end.saturating_sub(base), Ordering::Relaxed);
}

/// Counts nothing in the round that has begun, as if it had not.
pub fn leave_out() {
    let c = &COVERAGE;
    c.counts.set(false);
    c.round.set(c.round.get().wrapping_sub(1));
}

/// A round begins. Later rounds are counted by their drawn number, not by their own: policies take
/// turns by the round's number, and each must be counted sometimes.
pub fn begin(drawn: u64) {
    let c = &COVERAGE;
    c.counts.set(c.round.get() < ROUNDS_FIRST || drawn.is_multiple_of(ROUNDS_PART));
    c.round.set(c.round.get().wrapping_add(1));
    c.new_count.set(0);
}

/// Counts pairs of places.
pub struct Coverage;

impl Listener for Coverage {
    #[inline(always)]
    fn passes(event: &AccessEvent) {
        if matches!(event.class, Class::Atomic | Class::Volatile)
            && COVERAGE.counts.get()
            && !layout::is_stack(event.address)
        {
            access(event.address, event.effect.writes(), event.thread, event.place);
        }
    }

    fn wants_atomic() -> bool {
        COVERAGE.counts.get()
    }
}

/// The pairs of this round that are new.
pub fn new_pairs() -> Vec<u64> {
    // SAFETY: no thread of the target runs now, or the caller is the one that does.
    unsafe { (&*COVERAGE.new.get())[..COVERAGE.new_count.get()].to_vec() }
}

/// The address as a number that is the same in all processes: relative for the target's library,
/// which is loaded anywhere. None for the memory of other libraries.
#[inline]
fn key(address: usize) -> Option<u64> {
    let relative = address.wrapping_sub(BASE.load(Ordering::Relaxed));
    let fixed = layout::is_fixed(address);
    let key = if fixed { address } else { relative };
    let known = fixed || relative < BYTES.load(Ordering::Relaxed);
    known.then_some(key as u64 & ((1 << KEY_BITS) - 1))
}

/// An access of shared memory by the instruction before `place`. Whether another thread wrote last,
/// and whether this is a write, is unpredictable, so nothing branches on it.
#[inline]
fn access(address: usize, write: bool, thread: usize, place: usize) {
    let c = &COVERAGE;
    // Whether threads share memory of another library is not known, so it counts as a wait.
    let Some(key) = key(address) else { return engine::blocking_call() };
    let place = number_of(place);
    // SAFETY: see Pairs.
    let (writers, seen) = unsafe { (&mut *c.writers.get(), &*c.seen.get()) };
    let writer = &mut writers[scatter(key, WRITERS_LOG)];
    let round = u64::from(c.round.get()) << 32;
    let own = Writer { word: (thread as u64) << KEY_BITS | key, tail: round | u64::from(place) };
    let places = writer.tail << 32 | u64::from(place);
    let bit = scatter(places, SEEN_BITS_LOG);
    let (differs, is_own) = (writer.word ^ own.word, writer.word == own.word);
    let other_key_or_round = differs << (64 - KEY_BITS) | (writer.tail ^ own.tail) >> 32;
    let is_pair = other_key_or_round | u64::from(is_own) == 0;
    // Reads word 0 of `seen` for what is no pair, so that few words are read and stay cached.
    let known = seen[select_unpredictable(is_pair, bit / 64, 0)] >> (bit % 64);
    if is_pair & (known & 1 == 0) {
        note(places, bit);
    }
    writer.word = select_unpredictable(write, own.word, writer.word);
    writer.tail = select_unpredictable(write, own.tail, writer.tail);
}

/// The place as an address in the library's file; 0 where it is not in it.
pub fn address_in_file(place: usize) -> u64 {
    number_of(place).into()
}

/// The place that has this address in the library's file; 0 of 0.
pub fn address_from_file(address: u64) -> usize {
    match address {
        0 => 0,
        address => BASE.load(Ordering::Relaxed) + address as usize,
    }
}

/// The place as an offset in the library; 0 if it is not in it, as after a tail call: the hook then
/// returns to the function's caller, which may be the harness.
#[inline]
fn number_of(place: usize) -> u32 {
    u32::try_from(place.wrapping_sub(BASE.load(Ordering::Relaxed))).unwrap_or(0)
}

#[cold]
fn note(places: u64, bit: usize) {
    let c = &COVERAGE;
    let at = c.new_count.get();
    if at < NEW_MAX {
        // SAFETY: see Pairs.
        let (seen, new) = unsafe { (&mut *c.seen.get(), &mut *c.new.get()) };
        seen[bit / 64] |= 1 << (bit % 64);
        new[at] = mix(places);
        c.new_count.set(at + 1);
    }
}

/// Hashes to a number of so many bits.
#[inline]
fn scatter(number: u64, bits: u32) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}
