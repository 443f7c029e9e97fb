//! Store buffers, in the rounds that have them: a thread's atomic stores wait, seen by that thread
//! alone, before they reach memory, as on x86 processors. Source: Sewell, Sarkar, Owens, Zappa
//! Nardelli, Myreen: x86-TSO, a rigorous and usable programmer's model for x86 multiprocessors,
//! CACM 2010, section 3.2: stores leave in order, loads look at their own buffer first, locked
//! instructions and fences empty it.
//!
//! A thread's buffer is also emptied before its plain writes (which do not wait, and must not
//! overtake), before it calls the C library or frees memory, and all buffers before any thread
//! blocks, yields or is taken to spin. How long a store waits otherwise depends only on the seed,
//! the thread and the number of its earlier stores.

use std::cell::{Cell, UnsafeCell};

use interlap::core::random::mix;
use interlap::schedule::THREADS_MAX;
use interlap::trace::trail::Act;

use crate::controlled::core::access::{
    AccessEvent, Class, Effect, Listener, Made, RELAXED, SEQ_CST, Whose,
};
use crate::controlled::core::shared::SHARED;
use crate::controlled::core::{control, engine, layout};

/// Stores in one buffer at most: x86 processors have room for 42 and more.
const STORES_MAX: usize = 32;

/// A store waits for so many visits at most: there is one before and one after each scheduling
/// point at which its thread accesses memory, so that others may or may not run between the access
/// before it and its arrival in memory.
const VISITS_MAX: u32 = 64;

/// How long stores wait in a round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// As long as possible.
    Late,
    /// Each as drawn from this seed.
    Drawn(u64),
}

#[derive(Clone, Copy)]
struct Store {
    address: usize,
    size: u32,
    /// How many visits it still waits for.
    visits: u32,
    value: u64,
    order: u32,
    code: usize,
}

impl Store {
    fn overlaps(&self, address: usize, size: usize) -> bool {
        self.address < address + size && address < self.address + self.size as usize
    }
}

const NONE: Store = Store { address: 0, size: 0, visits: 0, value: 0, order: RELAXED, code: 0 };

struct Buffer {
    /// The oldest first.
    stores: UnsafeCell<[Store; STORES_MAX]>,
    count: Cell<usize>,
    /// Stores of the thread so far, in buffers or not.
    made: Cell<u64>,
}

struct Buffers {
    delay: Cell<Delay>,
    threads: [Buffer; THREADS_MAX],
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Buffers {}

static BUFFERS: Buffers = Buffers {
    delay: Cell::new(Delay::Late),
    threads: [const {
        Buffer {
            stores: UnsafeCell::new([NONE; STORES_MAX]),
            count: Cell::new(0),
            made: Cell::new(0),
        }
    }; THREADS_MAX],
};

/// A round begins, with store buffers or without.
pub fn begin(delay: Option<Delay>) {
    SHARED.buffers.set(delay.is_some());
    SHARED.holds_back.set(false);
    if let Some(delay) = delay {
        BUFFERS.delay.set(delay);
        for buffer in &BUFFERS.threads {
            buffer.count.set(0);
            buffer.made.set(0);
        }
    }
}

/// Whether the round has store buffers.
#[inline(always)]
pub fn are_used() -> bool {
    SHARED.buffers.get()
}

/// Lets atomic stores reach memory: at scheduling points when they have waited long enough, and
/// before an access or a fence that must not overtake them.
pub struct StoreBuffers;

impl Listener for StoreBuffers {
    #[inline(always)]
    fn arrives(event: &AccessEvent) {
        if SHARED.holds_back.get() && visits_buffer(event) {
            visit(event.thread);
        }
    }

    #[inline(always)]
    fn passes(event: &AccessEvent) {
        if SHARED.holds_back.get() {
            before_access(*event);
        }
    }

    #[inline(always)]
    fn holds_back() -> bool {
        SHARED.holds_back.get()
    }

    #[inline(always)]
    fn settles(whose: Whose) {
        if are_used() {
            match whose {
                Whose::Own => drain_of(engine::current()),
                Whose::All => (0..THREADS_MAX).for_each(drain_of),
            }
        }
    }
}

/// A thread runs from now on.
pub fn thread_runs(thread: usize) {
    let buffer = BUFFERS.threads.get(thread);
    SHARED.holds_back.set(buffer.is_some_and(|buffer| buffer.count.get() != 0));
}

/// A thread has so many stores in its buffer now.
fn set_count(thread: usize, count: usize) {
    BUFFERS.threads[thread].count.set(count);
    thread_runs(engine::current());
}

#[inline(always)]
fn visits_buffer(event: &AccessEvent) -> bool {
    matches!(event.class, Class::Atomic | Class::Volatile | Class::Fence)
}

#[cold]
fn before_access(event: AccessEvent) {
    if visits_buffer(&event) {
        visit(event.thread);
    }
    match event.class {
        Class::Plain | Class::Volatile => serve_from_memory(&event),
        Class::Atomic if event.effect == Effect::Update => drain_of(event.thread),
        Class::Fence if event.order == SEQ_CST => drain_of(event.thread),
        // Another thread may get the block at once.
        Class::Allocate | Class::Free => drain_of(event.thread),
        Class::Atomic | Class::Fence | Class::Lock | Class::Pause => {}
    }
}

/// A plain or volatile access, which reads or writes memory itself. It must find its thread's
/// stores, and a write must not overtake them. A write to the thread's own stack may: other threads
/// get its address only by a later store.
fn serve_from_memory(event: &AccessEvent) {
    let AccessEvent { thread, address, size, .. } = *event;
    let may_overtake = event.effect.writes() && !layout::is_stack_of(thread, address);
    if may_overtake || newest_of(thread, address, size).is_some() {
        drain_of(thread);
    }
}

/// The newest store in the thread's buffer that overlaps these bytes.
fn newest_of(thread: usize, address: usize, size: usize) -> Option<Store> {
    let own = &BUFFERS.threads[thread];
    // SAFETY: see Buffers.
    let stores = unsafe { &(&*own.stores.get())[..own.count.get()] };
    stores.iter().rfind(|store| store.overlaps(address, size)).copied()
}

#[cold]
fn visit(thread: usize) {
    let own = &BUFFERS.threads[thread];
    // SAFETY: see Buffers.
    let stores = unsafe { &mut (&mut *own.stores.get())[..own.count.get()] };
    stores.iter_mut().for_each(|store| store.visits = store.visits.saturating_sub(1));
    // Stores leave in order: one that waits longer holds back those behind it.
    let due = stores.iter().take_while(|store| store.visits == 0).count();
    (0..due).for_each(|_| drain_one(thread));
}

#[cold]
fn drain_of(thread: usize) {
    while BUFFERS.threads[thread].count.get() != 0 {
        drain_one(thread);
    }
}

/// The oldest store of a thread's buffer reaches memory.
fn drain_one(thread: usize) {
    let own = &BUFFERS.threads[thread];
    let count = own.count.get();
    // SAFETY: see Buffers.
    let stores = unsafe { &mut *own.stores.get() };
    let store = stores[0];
    stores.copy_within(1..count, 0);
    set_count(thread, count - 1);
    let Store { address, size, value, .. } = store;
    let before = read(address, size);
    if before != value {
        control::set_changed();
    }
    write(address, size, value);
    report(thread, Act::Drain, store, before);
}

/// For hooks.c: whether this store waits in the running thread's buffer; if not, the caller makes
/// it.
#[unsafe(no_mangle)]
extern "C" fn il_buffer(address: usize, size: u32, value: u64, order: i32, code: usize) -> i32 {
    let thread = engine::current();
    // The thread that creates, drains and destroys runs alone.
    let order = order as u32;
    let is_delayed = order != SEQ_CST && engine::controls() && thread != engine::callers();
    let own = &BUFFERS.threads[thread];
    let visits = if is_delayed { visits_of(thread, own.made.get()) } else { 0 };
    own.made.set(own.made.get() + 1);
    if !is_delayed || (visits == 0 && own.count.get() == 0) {
        drain_of(thread);
        return 0;
    }
    if own.count.get() == STORES_MAX {
        drain_one(thread);
    }
    let before = newest(thread, address, size).unwrap_or_else(|| read(address, size));
    // SAFETY: see Buffers.
    let stores = unsafe { &mut *own.stores.get() };
    let store = Store { address, size, visits, value, order, code };
    stores[own.count.get()] = store;
    set_count(thread, own.count.get() + 1);
    report(thread, Act::Buffer, store, before);
    1
}

/// Reports a store that has entered its buffer or reached memory.
fn report(thread: usize, act: Act, store: Store, before: u64) {
    let event = AccessEvent {
        thread,
        address: store.address,
        size: store.size as usize,
        class: Class::Atomic,
        effect: Effect::Write,
        order: store.order,
        place: store.code,
    };
    engine::made(&event, Made { act, before, after: store.value });
}

/// How many visits a thread's store of this number waits for: none, a few, or as many as can be.
fn visits_of(thread: usize, number: u64) -> u32 {
    let Delay::Drawn(seed) = BUFFERS.delay.get() else { return VISITS_MAX };
    let drawn = mix(seed ^ mix(number << 8 | thread as u64));
    match drawn % 4 {
        0 => 0,
        1 => 1 + (drawn >> 8) as u32 % 8,
        _ => VISITS_MAX,
    }
}

/// The value that the thread's own buffer has for exactly these bytes.
fn newest(thread: usize, address: usize, size: u32) -> Option<u64> {
    let last = newest_of(thread, address, size as usize)?;
    if (last.address, last.size) == (address, size) {
        return Some(last.value);
    }
    // Partial overlap: processors, too, wait until the store is in memory.
    drain_of(thread);
    None
}

/// For hooks.c: the value that the running thread loads.
#[unsafe(no_mangle)]
extern "C" fn il_forwarded(address: usize, size: u32) -> u64 {
    newest(engine::current(), address, size).unwrap_or_else(|| read(address, size))
}

/// For hooks.c: before a load of 16 bytes, which no buffer serves, and which the processor executes
/// as a compare-exchange.
#[unsafe(no_mangle)]
extern "C" fn il_load16(address: usize) {
    let event = AccessEvent::new(engine::current(), Class::Atomic, Effect::Update, address);
    serve_from_memory(&AccessEvent { size: 16, ..event });
}

/// Reads memory, of a size that atomic accesses of up to 8 bytes have.
pub(super) fn read(address: usize, size: u32) -> u64 {
    let at = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: the target is accessing it, or has, atomically: it is aligned and mapped (see
    // [`Whose::All`] for what is unmapped).
    unsafe {
        match size {
            1 => at.read_volatile().into(),
            2 => at.cast::<u16>().read_volatile().into(),
            4 => at.cast::<u32>().read_volatile().into(),
            _ => at.cast::<u64>().read_volatile(),
        }
    }
}

pub(super) fn write(address: usize, size: u32, value: u64) {
    let at = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: as in `read`; the target has written there by now, as far as it knows.
    unsafe {
        match size {
            1 => at.write_volatile(value as u8),
            2 => at.cast::<u16>().write_volatile(value as u16),
            4 => at.cast::<u32>().write_volatile(value as u32),
            _ => at.cast::<u64>().write_volatile(value),
        }
    }
}
