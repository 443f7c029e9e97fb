//! The target's heap: an arena at a fixed address, emptied for each round, so that addresses depend
//! only on the round's earlier calls. Each 16 bytes have a byte of shadow that says whether they
//! are allocated. So a use after free, a double free, a bad free and an access out of bounds are
//! detected here at once; `watch::fault_report` reports them.

use std::cell::Cell;
use std::ptr;

use interlap::schedule::THREADS_MAX;
use interlap::trace::trail::NEW_BLOCK_BYTE;

use crate::controlled::core::access::{AccessEvent, Class, Listener};
use crate::controlled::core::control;
use crate::controlled::core::layout::{
    self, ARENA, ARENA_BYTES, GRANULE, SHADOW, STORAGE, STORAGE_BYTES,
};
use crate::controlled::watch::{backtrace, fault_report};

/// States in the shadow: unused in this round (or a block's head), allocated, freed. hooks.h has
/// the same numbers.
const NOTHING: u8 = 0;
const ALLOCATED: u8 = 1;
const FREED: u8 = 2;
/// Plus n: the first n of the 16 bytes are allocated.
const PARTLY: u8 = 0x10;

/// The limit where there is no arena: rr may map other memory at its addresses.
const NO_ARENA: usize = 0;

/// Size classes: see `room_of`.
const CLASSES: usize = 33 + 64;
/// Blocks of each size that come in the other order.
const TURNED: usize = 16;
const FREED_MAGIC: u64 = 0x6672_6565_6421_2121;
const BLOCK_MAGIC: u64 = 0x626c_6f63_6b21_2121;

/// The header before each block.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    /// Bytes asked for.
    size: usize,
    /// Bytes of the block, a multiple of 16.
    room: usize,
    /// The block's allocation and its free.
    allocated: fault_report::HeapAct,
    freed: fault_report::HeapAct,
    /// In a freed block, the next free one of its class; in an allocated one, [`REACHED`] or 0.
    next: usize,
    magic: u64,
}
const REACHED: usize = 1;
const HEAD: usize = size_of::<Head>();
const _: () = assert!(HEAD.is_multiple_of(GRANULE));

/// All state of the arena.
struct Arena {
    /// First unused address.
    end: Cell<usize>,
    /// `end` before the first round.
    base: Cell<usize>,
    /// Highest value of `end`.
    limit: Cell<usize>,
    /// Bytes that the plan lets the target have, which may be more than the arena.
    promised: Cell<usize>,
    reuse: Cell<bool>,
    free: [Cell<usize>; CLASSES],
    live_blocks: Cell<u64>,
    live_bytes: Cell<u64>,
    storage: Cell<usize>,
}

// SAFETY: only the thread that runs under control uses it, and the one that holds the token in
// place of it: never two at a time.
unsafe impl Sync for Arena {}

static HEAP: Arena = Arena {
    end: Cell::new(ARENA),
    base: Cell::new(ARENA),
    limit: Cell::new(NO_ARENA),
    promised: Cell::new(0),
    reuse: Cell::new(false),
    free: [const { Cell::new(0) }; CLASSES],
    live_blocks: Cell::new(0),
    live_bytes: Cell::new(0),
    storage: Cell::new(0),
};

/// Blocks still allocated, and their bytes.
pub fn live() -> (u64, u64) {
    (HEAP.live_blocks.get(), HEAP.live_bytes.get())
}

/// The arena is mapped; the target gets no more memory than this.
pub fn set_limit(mib: u64) {
    let bytes = usize::try_from(mib << 20).unwrap_or(usize::MAX);
    HEAP.promised.set(bytes);
    HEAP.limit.set(ARENA + bytes.min(ARENA_BYTES));
}

/// The allocated block of this round that contains the address, with its size.
pub fn block_of(address: usize) -> Option<(usize, usize)> {
    if !(HEAP.base.get()..HEAP.end.get()).contains(&address) || !is_allocated(shadow(address)) {
        return None;
    }
    let mut block = address & !(GRANULE - 1);
    while is_allocated(shadow(block - GRANULE)) {
        block -= GRANULE;
    }
    let Head { size, magic, .. } = head(block);
    // The target may have overwritten this head.
    (magic == BLOCK_MAGIC && block + size <= HEAP.end.get()).then_some((block, size))
}

/// As [`block_of`], unless an earlier call gave it. To be called only after a round, because it
/// marks blocks.
pub fn reach(address: usize) -> Option<(usize, usize)> {
    let (block, size) = block_of(address)?;
    let reached = head(block);
    if reached.next == REACHED {
        return None;
    }
    set_head(block, Head { next: REACHED, ..reached });
    Some((block, size))
}

/// The allocated blocks of this round in the order of their addresses, with their sizes.
pub fn blocks() -> impl Iterator<Item = (usize, usize)> {
    let granules = (HEAP.base.get()..HEAP.end.get()).step_by(GRANULE);
    // Before each block lies its head, which is not allocated.
    let starts =
        granules.filter(|at| is_allocated(shadow(*at)) && !is_allocated(shadow(at - GRANULE)));
    starts.filter_map(block_of)
}

/// Keeps everything that is allocated now for all rounds. Addresses and sizes of that and of its
/// shadow.
pub fn keep_loaded() -> [(usize, usize); 2] {
    HEAP.base.set(HEAP.end.get());
    let bytes = HEAP.end.get() - ARENA;
    [(ARENA, bytes), (SHADOW, bytes / GRANULE)]
}

/// Forgets the blocks of the last round.
pub fn reset(reuse: bool) {
    let (base, end) = (HEAP.base.get(), HEAP.end.get());
    let shadow: *mut u8 = ptr::with_exposed_provenance_mut(SHADOW + (base - ARENA) / GRANULE);
    // SAFETY: the shadow of what the last round had; mapped.
    unsafe { ptr::write_bytes(shadow, NOTHING, (end - base) / GRANULE) };
    HEAP.end.set(base);
    HEAP.reuse.set(reuse);
    HEAP.free.iter().for_each(|class| class.set(0));
    HEAP.live_blocks.set(0);
    HEAP.live_bytes.set(0);
}

/// Lets the next blocks of each size come one below the other instead of above, for some.
pub fn turn_around() {
    for (class, last) in HEAP.free.iter().enumerate().take(33).skip(1) {
        for _ in 0..TURNED {
            let room = class * GRANULE;
            let Some(block) = take(room, GRANULE) else { return };
            let (act, next) = (fault_report::HeapAct::default(), last.get());
            let magic = FREED_MAGIC;
            set_head(block, Head { size: room, room, allocated: act, freed: act, next, magic });
            last.set(block);
        }
    }
}

/// Runs `make` while `malloc` gives out the thread-local storage of `thread`: see
/// `globals_snapshot::place_storage`.
pub fn in_storage(thread: usize, make: impl FnOnce()) {
    HEAP.storage.set(layout::storage(thread));
    control::with_all_from_arena(make);
    HEAP.storage.set(0);
}

/// Bytes and size class of a block: one class for each 16 bytes up to 512, then for powers of two.
fn room_of(size: usize) -> (usize, usize) {
    let granules = size.div_ceil(GRANULE).max(1);
    if granules <= 32 {
        return (granules * GRANULE, granules);
    }
    let room = granules.next_power_of_two();
    (room * GRANULE, 33 + room.trailing_zeros() as usize)
}

/// Whether `malloc` gives out thread-local storage now: see [`in_storage`].
pub fn gives_storage() -> bool {
    HEAP.storage.get() != 0
}

/// Whether a block's size or alignment is too large for the arena.
pub fn is_too_large(size: usize, alignment: usize) -> bool {
    size > ARENA_BYTES / 4 || alignment > ARENA_BYTES / 4
}

/// Whether the plan lets the target have this block, and more memory than the arena has.
pub fn has_promised(size: usize) -> bool {
    size < HEAP.promised.get() && HEAP.promised.get() > ARENA_BYTES
}

/// Allocates a block for the caller at `place`; none where the arena is full.
#[inline]
pub fn allocate(size: usize, alignment: usize, place: usize) -> Option<usize> {
    let (room, class) = room_of(size);
    let block = match HEAP.free[class].get() {
        block if block != 0 && alignment <= GRANULE => {
            HEAP.free[class].set(head(block).next);
            block
        }
        _ => take(room, alignment)?,
    };
    let new = Head {
        size,
        room,
        allocated: fault_report::HeapAct::now(place),
        freed: fault_report::HeapAct::default(),
        next: 0,
        magic: BLOCK_MAGIC,
    };
    set_head(block, new);
    mark_allocated(block, size);
    HEAP.live_blocks.set(HEAP.live_blocks.get() + 1);
    HEAP.live_bytes.set(HEAP.live_bytes.get() + size as u64);
    let pointer: *mut u8 = ptr::with_exposed_provenance_mut(block);
    // SAFETY: a block of `room` bytes that belongs to nobody yet.
    unsafe { ptr::write_bytes(pointer, NEW_BLOCK_BYTE, room) };
    Some(block)
}

/// Extends the arena by a head and a block.
fn take(room: usize, alignment: usize) -> Option<usize> {
    let block = (HEAP.end.get() + HEAD).next_multiple_of(alignment.max(GRANULE));
    let end = block.checked_add(room)?;
    if end > HEAP.limit.get() {
        return None;
    }
    HEAP.end.set(end);
    Some(block)
}

/// Allocates thread-local storage; null where the thread's part is full: the loader then reports
/// that and ends the process.
pub fn take_storage(size: usize, alignment: usize) -> *mut u8 {
    let from = HEAP.storage.get();
    let (at, part_end) =
        (from.next_multiple_of(alignment), (from + 1).next_multiple_of(STORAGE_BYTES));
    if size >= part_end - at {
        return ptr::null_mut();
    }
    HEAP.storage.set(at + size);
    ptr::with_exposed_provenance_mut(at)
}

/// Whose memory an address is.
pub enum Memory {
    Arena,
    /// Thread-local storage that the loader made.
    Storage,
    Other,
}

#[inline]
pub fn memory_of(address: usize) -> Memory {
    if HEAP.limit.get() == NO_ARENA {
        return Memory::Other;
    }
    if address.wrapping_sub(ARENA) < ARENA_BYTES {
        return Memory::Arena;
    }
    match address.wrapping_sub(STORAGE) < STORAGE_BYTES * THREADS_MAX {
        true => Memory::Storage,
        false => Memory::Other,
    }
}

/// Frees a block of the arena, for the caller at `place`.
#[inline]
pub fn release(address: usize, place: usize) {
    let mut freed = head(address);
    if freed.magic != BLOCK_MAGIC {
        return;
    }
    HEAP.live_blocks.set(HEAP.live_blocks.get().saturating_sub(1));
    HEAP.live_bytes.set(HEAP.live_bytes.get().saturating_sub(freed.size as u64));
    freed.freed = fault_report::HeapAct::now(place);
    freed.magic = FREED_MAGIC;
    mark(address, freed.room, FREED);
    let (_, class) = room_of(freed.room);
    // A block that was allocated while the target was loaded is restored for each round.
    if HEAP.reuse.get() && address >= HEAP.base.get() {
        freed.next = HEAP.free[class].replace(address);
    }
    set_head(address, freed);
}

/// Whether code of the target allocated the block.
pub fn is_by_target(address: usize) -> bool {
    head(address).allocated.is_by_target()
}

/// The size of a block of the arena, as it was asked for.
pub fn size_of_block(address: usize) -> usize {
    head(address).size
}

fn check_free(address: usize, caller: usize) {
    let start = address.is_multiple_of(GRANULE) && address >= ARENA + HEAD;
    let magic = if start { head(address).magic } else { 0 };
    match (magic, shadow(address)) {
        (BLOCK_MAGIC, shadow) if is_allocated(shadow) => {}
        (FREED_MAGIC, FREED) => fault_report::double_free(address, head(address).freed, caller),
        _ => fault_report::bad_free(address, caller),
    }
}

/// Checks that accessed memory is allocated, and that a freed address is a block. Where freed
/// blocks are reused, an access through an old pointer may look good, as it does without interlap.
pub struct HeapChecks;

impl Listener for HeapChecks {
    /// Plain accesses are checked inline, in hooks.h: in most rounds no listener wants them.
    #[inline(always)]
    fn passes(event: &AccessEvent) {
        match event.class {
            // Checked here because another thread may have freed it at the scheduling point.
            Class::Atomic | Class::Volatile | Class::Lock => {
                if is_bad(event.address, event.size) {
                    bad_access(*event);
                }
            }
            Class::Free => check_free(event.address, event.place),
            Class::Plain | Class::Fence | Class::Allocate | Class::Pause => {}
        }
    }
}

/// Reports an access to arena memory that is not allocated.
#[cold]
pub fn bad_access(event: AccessEvent) -> ! {
    let (address, size, writes) = (event.address, event.size, event.effect.writes());
    let place = match event.place {
        // Out of control, because the unwinder takes a lock.
        0 => {
            control::set_controls(false);
            backtrace::here()
        }
        place => place,
    };
    match freed_block(address).or_else(|| freed_block(address + size - 1)) {
        Some(block) => {
            fault_report::use_after_free(address, block, head(block).freed, writes, place)
        }
        None => {
            // The first byte may be good and the last one bad.
            let wrong = if is_bad(address, 1) { address } else { address + size - 1 };
            let near = block_before(wrong);
            let near = near.map(|block| (block, head(block).size, head(block).allocated));
            fault_report::out_of_bounds(wrong, near, writes, place)
        }
    }
}

/// The start of the freed block that contains the address.
fn freed_block(address: usize) -> Option<usize> {
    let mut at = address & !(GRANULE - 1);
    while shadow(at) == FREED {
        at -= GRANULE;
    }
    let block = at + GRANULE;
    (block <= address && head(block).magic == FREED_MAGIC).then_some(block)
}

/// The allocated block that ends shortly before the address.
fn block_before(address: usize) -> Option<usize> {
    const NEAR: usize = 16 * GRANULE;
    let first = address & !(GRANULE - 1);
    let mut at = first;
    while !is_allocated(shadow(at)) {
        at -= GRANULE;
        if at < ARENA || first - at > NEAR {
            return None;
        }
    }
    while at >= ARENA && is_allocated(shadow(at)) {
        at -= GRANULE;
    }
    let block = at + GRANULE;
    (head(block).magic == BLOCK_MAGIC).then_some(block)
}

fn is_allocated(shadow: u8) -> bool {
    shadow == ALLOCATED || shadow & PARTLY != 0
}

/// Whether the address is in the arena and not allocated.
#[inline]
fn is_bad(address: usize, size: usize) -> bool {
    let inside = address.wrapping_sub(ARENA) < ARENA_BYTES;
    let end = address + size - 1;
    let bad = |at| {
        let shadow = shadow(at);
        shadow != ALLOCATED
            && (shadow & PARTLY == 0 || at % GRANULE >= usize::from(shadow % PARTLY))
    };
    inside && (bad(address) || bad(end))
}

#[inline]
fn shadow(address: usize) -> u8 {
    let shadow: *const u8 = ptr::with_exposed_provenance(SHADOW + (address - ARENA) / GRANULE);
    // SAFETY: the shadow of an address in the arena.
    unsafe { shadow.read() }
}

/// Marks the bytes of a new block as allocated.
fn mark_allocated(block: usize, size: usize) {
    let whole = size / GRANULE * GRANULE;
    mark(block, whole, ALLOCATED);
    let rest = size % GRANULE;
    if rest != 0 || size == 0 {
        mark(block + whole, GRANULE, PARTLY | rest as u8);
    }
}

fn mark(block: usize, room: usize, state: u8) {
    let shadow: *mut u8 = ptr::with_exposed_provenance_mut(SHADOW + (block - ARENA) / GRANULE);
    // SAFETY: the shadow of a block in the arena.
    unsafe { ptr::write_bytes(shadow, state, room / GRANULE) };
}

fn head(block: usize) -> Head {
    let head: *const Head = ptr::with_exposed_provenance(block - HEAD);
    // SAFETY: in the arena, aligned to 16, any bytes are a Head.
    unsafe { head.read() }
}

fn set_head(block: usize, value: Head) {
    let head: *mut Head = ptr::with_exposed_provenance_mut(block - HEAD);
    // SAFETY: as above; the bytes before a block are its head.
    unsafe { head.write(value) }
}
