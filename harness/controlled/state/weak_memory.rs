//! Atomic accesses in the rounds where a load may read any store that C++ allows, not the last one
//! alone. Which those are is said by `happens_before`; here one of them is drawn, from the seed,
//! the thread and the number of its earlier accesses.
//!
//! Memory has the newest value of each location. A thread that spins reads that in the end: before
//! others go on, all stores become visible to all.

use std::cell::Cell;

use interlap::core::random::{Random, mix};
use interlap::schedule::THREADS_MAX;
use interlap::trace::frame::AccessKind;
use interlap::trace::trail::Act;

use super::happens_before::{Access, Found, HappensBefore, Order, Stored};
use super::races;
use super::store_buffers::{read, write};
use crate::controlled::core::access::{AccessEvent, Class, Effect, Made};
use crate::controlled::core::shared::SHARED;
use crate::controlled::core::{control, engine};
use crate::controlled::watch::fault_report::HeapAct;

/// How often the newest store is read where an older one could be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taste {
    /// Every other time; else one of the others.
    Even,
    /// Seven times of eight.
    New,
    /// One time of eight; else the oldest.
    Old,
}

struct Draws {
    seed: Cell<u64>,
    taste: Cell<Taste>,
    /// Of each thread.
    accesses: [Cell<u64>; THREADS_MAX],
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Draws {}

static DRAWS: Draws = Draws {
    seed: Cell::new(0),
    taste: Cell::new(Taste::Even),
    accesses: [const { Cell::new(0) }; THREADS_MAX],
};

/// A round begins, in which loads may read older stores, drawn from this seed, or not.
pub fn begin(seed: Option<u64>) {
    SHARED.weak.set(seed.is_some());
    if let Some(seed) = seed {
        DRAWS.seed.set(seed);
        DRAWS.taste.set(match seed % 4 {
            0 => Taste::New,
            1 => Taste::Old,
            _ => Taste::Even,
        });
        DRAWS.accesses.iter().for_each(|count| count.set(0));
    }
}

/// The seed of the draws of the thread's next access.
fn next_seed(thread: usize) -> u64 {
    let count = &DRAWS.accesses[thread];
    count.set(count.get() + 1);
    DRAWS.seed.get() ^ mix(count.get() << 8 | thread as u64)
}

/// Which one of so many stores is read, of which the last is the newest.
fn read_of(seed: u64, count: usize) -> usize {
    let others = count as u64 - 1;
    if others == 0 {
        return 0;
    }
    let mut random = Random::new(seed);
    let is_newest = match DRAWS.taste.get() {
        Taste::Even => random.one_in(2),
        Taste::New => !random.one_in(8),
        Taste::Old => random.one_in(8),
    };
    match (is_newest, DRAWS.taste.get()) {
        (true, _) => others as usize,
        (false, Taste::Old) => 0,
        (false, _) => random.below(others) as usize,
    }
}

/// Which one of so many places a store takes, or which store a read-modify-write reads. The last
/// one is the newest: whatever waits for a lock would else see it free for long.
fn place_of(seed: u64, count: usize) -> usize {
    let others = count as u64 - 1;
    if others == 0 {
        return 0;
    }
    let mut random = Random::new(seed);
    if random.one_in(4) { random.below(others) as usize } else { others as usize }
}

/// An atomic access of the target, by the running thread.
struct Now {
    event: AccessEvent,
    by: Order,
}

impl Now {
    fn new(address: usize, size: u32, effect: Effect, order: i32, place: usize) -> Now {
        let (thread, size, order) = (engine::current(), size as usize, order as u32);
        let event =
            AccessEvent { thread, address, size, class: Class::Atomic, effect, order, place };
        Now { event, by: Order::of(order) }
    }

    fn access(&self) -> Access<HeapAct> {
        races::access(&self.event, AccessKind::Atomic, self.event.effect.writes())
    }

    fn memory(&self) -> u64 {
        read(self.event.address, self.event.size as u32)
    }

    /// Reports that an older store is read.
    fn found(&self, found: Found) -> u64 {
        if let Some(newest) = found.hides {
            let made = Made { act: Act::ReadsOld, before: found.value, after: newest };
            engine::made(&self.event, made);
        }
        found.value
    }
}

/// With what is known of the round; the access is the last one of the round if it races.
fn ask<T>(now: &Now, ask: impl FnOnce(&mut HappensBefore<HeapAct>) -> (T, races::Raced)) -> T {
    let (answer, raced) = races::with_order(ask);
    races::report(raced, now.access());
    answer
}

/// Whether the running thread's accesses are made here.
fn is_weak() -> bool {
    races::with_order(|order| order.is_weak())
}

/// For hooks.c: the value that the running thread loads.
#[unsafe(no_mangle)]
extern "C" fn il_weak_load(address: usize, size: u32, order: i32, place: usize) -> u64 {
    if !is_weak() {
        return read(address, size);
    }
    let now = Now::new(address, size, Effect::Read, order, place);
    let (access, memory, by) = (now.access(), now.memory(), now.by);
    let seed = next_seed(now.event.thread);
    let choose = &mut |count| read_of(seed, count);
    let found = ask(&now, |order| order.loads(access, by, memory, choose));
    now.found(found)
}

/// For hooks.c: whether memory keeps its value, as this store comes before the one that has made
/// it; if not, the caller makes it.
#[unsafe(no_mangle)]
extern "C" fn il_weak_store(
    address: usize,
    size: u32,
    value: u64,
    order: i32,
    place: usize,
) -> i32 {
    if !is_weak() {
        return 0;
    }
    let now = Now::new(address, size, Effect::Write, order, place);
    let (access, memory, by) = (now.access(), now.memory(), now.by);
    let seed = next_seed(now.event.thread);
    let choose = &mut |count| place_of(seed, count);
    let stored = ask(&now, |order| order.stores(access, by, (memory, value), choose));
    if stored == Stored::Newest {
        return 0;
    }
    engine::made(&now.event, Made { act: Act::StoresOld, before: memory, after: value });
    1
}

/// For hooks.c: the value that a read-modify-write reads; [`il_weak_update`] is next.
#[unsafe(no_mangle)]
extern "C" fn il_weak_read(address: usize, size: u32, order: i32, place: usize) -> u64 {
    if !is_weak() {
        return read(address, size);
    }
    let now = Now::new(address, size, Effect::Update, order, place);
    let (access, memory, by) = (now.access(), now.memory(), now.by);
    let seed = next_seed(now.event.thread);
    let choose = &mut |count| place_of(seed, count);
    let found = races::with_order(|order| order.begins_update(access, by, memory, choose));
    now.found(found)
}

/// For hooks.c: it stores this.
#[unsafe(no_mangle)]
extern "C" fn il_weak_update(address: usize, size: u32, value: u64, order: i32, place: usize) {
    let stored = if is_weak() {
        let now = Now::new(address, size, Effect::Update, order, place);
        let (access, by) = (now.access(), now.by);
        ask(&now, |order| order.ends_update(access, by, value))
    } else {
        Stored::Newest
    };
    if stored == Stored::Newest {
        put(address, size, value);
    }
}

fn put(address: usize, size: u32, value: u64) {
    if read(address, size) != value {
        control::set_changed();
    }
    write(address, size, value);
}

/// For hooks.c: a compare-exchange. Whether it was made; `expected` is then what it has found.
///
/// # Safety
/// `expected` can be read and written.
#[unsafe(no_mangle)]
unsafe extern "C" fn il_weak_compare(
    address: usize,
    size: u32,
    expected: *mut u64,
    value: u64,
    orders: u32,
    place: usize,
) -> i32 {
    let (order, failed) = ((orders & 0xff) as i32, orders >> 8 & 0xff);
    // SAFETY: the caller's promise.
    let expected = unsafe { &mut *expected };
    if !is_weak() {
        let found = read(address, size);
        let is_made = found == *expected;
        if is_made {
            put(address, size, value);
        }
        *expected = found;
        return is_made.into();
    }
    let now = Now::new(address, size, Effect::Update, order, place);
    let (access, memory) = (now.access(), now.memory());
    let seed = next_seed(now.event.thread);
    let fails = orders & MAY_FAIL != 0 && Random::new(mix(seed)).one_in(16);
    let choose = &mut |count| place_of(seed, count);
    let (by, values) = ((now.by, Order::of(failed)), (memory, *expected));
    let (found, is_made) = ask(&now, |order| {
        let (found, is_made, raced) = order.compares(access, by, values, fails, choose);
        ((found, is_made), raced)
    });
    *expected = now.found(found);
    if is_made {
        let stored = ask(&now, |order| order.ends_update(access, by.0, value));
        if stored == Stored::Newest {
            put(address, size, value);
        }
    }
    is_made.into()
}

/// Of the orders of a compare-exchange: it is a weak one.
const MAY_FAIL: u32 = 1 << 16;

/// For hooks.c: an access of 16 bytes was made, which is always of the newest values. `before` has
/// those before it.
///
/// # Safety
/// `before` has two words.
#[unsafe(no_mangle)]
unsafe extern "C" fn il_weak_words(
    address: usize,
    writes: i32,
    order: i32,
    before: *const u64,
    place: usize,
) {
    if !is_weak() {
        return;
    }
    let effect = if writes != 0 { Effect::Update } else { Effect::Read };
    let now = Now::new(address, 16, effect, order, place);
    let (access, by) = (now.access(), now.by);
    let words = [0, 1].map(|at| {
        // SAFETY: the caller's promise.
        let before = unsafe { *before.add(at) };
        (before, read(address + 8 * at, 8))
    });
    ask(&now, |order| ((), order.updates_words(access, by, words)));
}
