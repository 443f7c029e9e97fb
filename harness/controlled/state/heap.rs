//! The target's heap: an arena at a fixed address, taken anew for each round. Sizes come in,
//! addresses go out that depend on nothing but the calls before. Each 16 bytes have a byte of
//! shadow that says whether they are allocated, so that an access to freed memory, a second free
//! and a free of something else are noticed at once. Knows nothing of schedules; what is wrong is
//! told to `detect`.

use std::cell::Cell;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use interlap::trace::trail::Act;

use crate::controlled::core::engine;
use crate::controlled::core::layout::{
    self, ARENA, ARENA_BYTES, GRANULE, SHADOW, STORAGE, STORAGE_BYTES,
};
use crate::controlled::interpose::hooks;
use crate::controlled::state::buffers;
use crate::controlled::watch::{detect, trail};

/// Shadow: never handed out in this round (or a block's head), allocated, freed. hooks.c has the
/// same numbers.
const NOTHING: u8 = 0;
const ALLOCATED: u8 = 1;
const FREED: u8 = 2;
/// With a number of bytes: of these 16, so many are allocated.
const PARTLY: u8 = 0x10;

/// What new memory holds: a pattern, since what an earlier round left would make this one depend
/// on it.
const JUNK: u8 = 0xa5;

/// A limit that says that there is no arena: rr puts other memory at its addresses.
const NO_ARENA: usize = 0;

/// Size classes: see `room_of`.
const CLASSES: usize = 33 + 64;
const FREED_MAGIC: u64 = 0x6672_6565_6421_2121;
const BLOCK_MAGIC: u64 = 0x626c_6f63_6b21_2121;

/// Whether `malloc` takes from the arena: not (0), where the target calls it (1), or even where
/// the C library and the loader do, for themselves ([`ALL`]). Read by allocator.c.
#[unsafe(no_mangle)]
static il_allocates: AtomicU8 = AtomicU8::new(0);
/// The C library's allocator is at work for the thread under control. Written by allocator.c.
#[unsafe(no_mangle)]
static il_in_libc: AtomicU8 = AtomicU8::new(0);

const ALL: u8 = 2;

/// What lies before each block.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    /// Bytes asked for.
    size: usize,
    /// Bytes of the block, a multiple of 16.
    room: usize,
    /// Who allocated it, and who freed it, as `detect::Actor` packs them, with the code's address.
    allocated: detect::Act,
    freed: detect::Act,
    /// The next free block of this class; of an allocated one, [`REACHED`] or nothing.
    next: usize,
    magic: u64,
}
const REACHED: usize = 1;
const HEAD: usize = size_of::<Head>();
const _: () = assert!(HEAD.is_multiple_of(GRANULE));

/// All state of the arena.
struct Arena {
    /// First address not handed out.
    end: Cell<usize>,
    /// What was handed out before the first round.
    base: Cell<usize>,
    /// As far as it may go.
    limit: Cell<usize>,
    /// Bytes that the target may have elsewhere than here.
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

/// Whether what runs is within the C library's own allocator.
pub fn is_in_libc() -> bool {
    il_in_libc.load(Ordering::Relaxed) != 0
}

/// Blocks still allocated, and their bytes.
pub fn live() -> (u64, u64) {
    (HEAP.live_blocks.get(), HEAP.live_bytes.get())
}

/// The arena is there; the target gets no more memory than this.
pub fn set_limit(mib: u64) {
    let bytes = usize::try_from(mib << 20).unwrap_or(usize::MAX);
    HEAP.promised.set(bytes);
    HEAP.limit.set(ARENA + bytes.min(ARENA_BYTES));
}

/// The block of this round that holds the address, with its size, unless it was asked for before.
/// Only after a round: what is noted in the block would be in the way of its next use.
pub fn reach(address: usize) -> Option<(usize, usize)> {
    let allocated = |at: usize| !matches!(shadow(at), NOTHING | FREED);
    if !(HEAP.base.get()..HEAP.end.get()).contains(&address) || !allocated(address) {
        return None;
    }
    let mut block = address & !(GRANULE - 1);
    while allocated(block - GRANULE) {
        block -= GRANULE;
    }
    let mut reached = head(block);
    // The target may have written past a block, over this head.
    let whole = reached.magic == BLOCK_MAGIC && block + reached.size <= HEAP.end.get();
    if !whole || reached.next == REACHED {
        return None;
    }
    reached.next = REACHED;
    set_head(block, reached);
    Some((block, reached.size))
}

/// Lets `malloc` take from the arena, or not; gives what it was.
#[inline]
pub fn set_allocates(allocates: bool) -> bool {
    let before = il_allocates.load(Ordering::Relaxed) != 0;
    il_allocates.store(allocates.into(), Ordering::Relaxed);
    before
}

/// Everything that was allocated until now belongs to all rounds. Where it and its shadow are, and
/// their sizes.
pub fn at_load() -> [(usize, usize); 2] {
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

/// Runs `make` while `malloc` hands out all of the thread-local storage of `thread`, from its
/// beginning: see `globals_snapshot::touch`.
pub fn in_storage(thread: usize, make: impl FnOnce()) {
    HEAP.storage.set(layout::storage(thread));
    let before = il_allocates.swap(ALL, Ordering::Relaxed);
    make();
    il_allocates.store(before, Ordering::Relaxed);
    HEAP.storage.set(0);
}

/// Sizes of up to 512 bytes have a class each; above, each power of two.
fn room_of(size: usize) -> (usize, usize) {
    let granules = size.div_ceil(GRANULE).max(1);
    if granules <= 32 {
        return (granules * GRANULE, granules);
    }
    let room = granules.next_power_of_two();
    (room * GRANULE, 33 + room.trailing_zeros() as usize)
}

/// For allocator.c: a block, or null where the arena is full.
#[unsafe(no_mangle)]
extern "C" fn il_allocate(size: usize, alignment: usize, caller: usize) -> *mut u8 {
    if HEAP.storage.get() != 0 {
        return take_storage(size, alignment.max(64));
    }
    if size > ARENA_BYTES / 4 || alignment > ARENA_BYTES / 4 {
        return refuse(size);
    }
    if hooks::controls() {
        engine::point(0, interlap::schedule::Access::None);
        buffers::drain();
    }
    let (room, class) = room_of(size);
    let block = match HEAP.free[class].get() {
        block if block != 0 && alignment <= GRANULE => {
            HEAP.free[class].set(head(block).next);
            block
        }
        _ => match take(room, alignment) {
            Some(block) => block,
            None => return refuse(size),
        },
    };
    let new = Head {
        size,
        room,
        allocated: detect::Act::now(caller),
        freed: detect::Act::default(),
        next: 0,
        magic: BLOCK_MAGIC,
    };
    set_head(block, new);
    mark_allocated(block, size);
    HEAP.live_blocks.set(HEAP.live_blocks.get() + 1);
    HEAP.live_bytes.set(HEAP.live_bytes.get() + size as u64);
    let pointer: *mut u8 = ptr::with_exposed_provenance_mut(block);
    // SAFETY: a block of `room` bytes that belongs to nobody yet.
    unsafe { ptr::write_bytes(pointer, JUNK, room) };
    trail::note(Act::Allocate, block, size, (0, 0), caller);
    pointer
}

/// No memory; where there would be some without the engine, the run ends instead.
#[cold]
fn refuse(size: usize) -> *mut u8 {
    if hooks::controls() && size < HEAP.promised.get() && HEAP.promised.get() > ARENA_BYTES {
        engine::cannot_control(&match size > ARENA_BYTES / 4 {
            true => format!("a block of {} MiB", size >> 20),
            false => format!("more memory in a round than {} MiB", ARENA_BYTES >> 20),
        });
    }
    ptr::null_mut()
}

/// New memory behind all blocks: room for the head, then the block.
fn take(room: usize, alignment: usize) -> Option<usize> {
    let block = (HEAP.end.get() + HEAD).next_multiple_of(alignment.max(GRANULE));
    let end = block.checked_add(room)?;
    if end > HEAP.limit.get() {
        return None;
    }
    HEAP.end.set(end);
    Some(block)
}

/// None where the thread's part is full, which the loader tells before it ends the process.
fn take_storage(size: usize, alignment: usize) -> *mut u8 {
    let from = HEAP.storage.get();
    let (at, part_end) =
        (from.next_multiple_of(alignment), (from + 1).next_multiple_of(STORAGE_BYTES));
    if size >= part_end - at {
        return ptr::null_mut();
    }
    HEAP.storage.set(at + size);
    ptr::with_exposed_provenance_mut(at)
}

/// For allocator.c: frees a block; 0 if it is none of the arena's.
#[unsafe(no_mangle)]
extern "C" fn il_release(block: *mut u8, caller: usize) -> i32 {
    let address = block.expose_provenance();
    if HEAP.limit.get() == NO_ARENA {
        return 0;
    }
    if address.wrapping_sub(STORAGE) < STORAGE_BYTES * 64 {
        return 1;
    }
    if address.wrapping_sub(ARENA) >= ARENA_BYTES {
        return 0;
    }
    if hooks::controls() {
        engine::point(address, interlap::schedule::Access::Write);
        // Another thread may get the block at once.
        buffers::drain();
        check_free(address, caller);
        trail::note(Act::Free, address, head(address).size, (0, 0), caller);
    }
    let mut freed = head(address);
    if freed.magic != BLOCK_MAGIC {
        return 1;
    }
    HEAP.live_blocks.set(HEAP.live_blocks.get().saturating_sub(1));
    HEAP.live_bytes.set(HEAP.live_bytes.get().saturating_sub(freed.size as u64));
    freed.freed = detect::Act::now(caller);
    freed.magic = FREED_MAGIC;
    mark(address, freed.room, FREED);
    let (_, class) = room_of(freed.room);
    // A block of the load is never handed out again: rounds put its content back.
    if HEAP.reuse.get() && address >= HEAP.base.get() {
        freed.next = HEAP.free[class].replace(address);
    }
    set_head(address, freed);
    1
}

fn check_free(address: usize, caller: usize) {
    let start = address.is_multiple_of(GRANULE) && address >= ARENA + HEAD;
    let magic = if start { head(address).magic } else { 0 };
    match (magic, shadow(address)) {
        (BLOCK_MAGIC, shadow) if is_allocated(shadow) => {}
        (FREED_MAGIC, FREED) => detect::double_free(address, head(address).freed, caller),
        _ => detect::bad_free(address, caller),
    }
}

/// For allocator.c: the size of a block of the arena.
#[unsafe(no_mangle)]
extern "C" fn il_block_size(block: *const u8) -> usize {
    let address = block.expose_provenance();
    let ours = HEAP.limit.get() != NO_ARENA && address.wrapping_sub(ARENA) < ARENA_BYTES;
    if ours { head(address).size.max(1) } else { 0 }
}

/// For hooks.c: an access to arena memory that is not allocated. Under `reuse` the block may have
/// been handed out again; then the access looks good, as it does without interlap.
#[unsafe(no_mangle)]
extern "C" fn il_bad_access(address: usize, size: u32, access: u32, caller: usize) {
    bad_access(address, size as usize, access == 2, caller);
}

pub fn bad_access(address: usize, size: usize, write: bool, caller: usize) -> ! {
    match freed_block(address).or_else(|| freed_block(address + size - 1)) {
        Some(block) => detect::use_after_free(address, block, head(block).freed, write, caller),
        None => {
            // The byte that is wrong may be the last.
            let wrong = if is_bad(address, 1) { address } else { address + size - 1 };
            let near = block_before(wrong);
            let near = near.map(|block| (block, head(block).size, head(block).allocated));
            detect::out_of_bounds(wrong, near, write, caller)
        }
    }
}

/// The start of the freed block that holds the address.
fn freed_block(address: usize) -> Option<usize> {
    let mut at = address & !(GRANULE - 1);
    while shadow(at) == FREED {
        at -= GRANULE;
    }
    let block = at + GRANULE;
    (block <= address && head(block).magic == FREED_MAGIC).then_some(block)
}

/// The block that is allocated and ends shortly before the address.
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
pub fn is_bad(address: usize, size: usize) -> bool {
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

/// Marks the bytes of a new block, and no more.
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

/// For allocator.c: what `operator new` does when there is no memory. The C++ library's own throws.
#[unsafe(no_mangle)]
extern "C-unwind" fn il_cxx_new_failed(_size: usize) -> *mut u8 {
    type New = extern "C-unwind" fn(usize) -> *mut u8;
    // SAFETY: takes a handle of the C++ library, which the caller has loaded, and looks a name up.
    let found = unsafe {
        let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD;
        let library = libc::dlopen(c"libstdc++.so.6".as_ptr(), flags);
        libc::dlsym(library, c"_Znwm".as_ptr())
    };
    let new = match (!found.is_null()).then(|| found.expose_provenance()) {
        // SAFETY: `operator new(size_t)` has this type.
        Some(new) => unsafe { std::mem::transmute::<usize, New>(new) },
        None => crate::record::abandon("out of memory".to_string()),
    };
    // The exception, too, goes back to code that is under control.
    let _controls = Controls(hooks::set_controls(false));
    // More than there can be, so that it throws std::bad_alloc.
    new(isize::MAX as usize)
}

/// Sets control back to what it was, however the function is left.
struct Controls(bool);

impl Drop for Controls {
    fn drop(&mut self) {
        hooks::set_controls(self.0);
    }
}

/// For allocator.c: `malloc_usable_size` of the C library.
#[unsafe(no_mangle)]
extern "C" fn il_libc_usable_size(block: *mut u8) -> usize {
    match next(c"malloc_usable_size") {
        Some(function) => {
            // SAFETY: the function of this name has this type; `block` is the C library's.
            unsafe {
                let function =
                    std::mem::transmute::<usize, extern "C" fn(*mut u8) -> usize>(function);
                function(block)
            }
        }
        None => 0,
    }
}

/// The definition that ours hides.
fn next(name: &CStr) -> Option<usize> {
    // SAFETY: looks a name up, and changes nothing.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then(|| found.expose_provenance())
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    use super::*;

    unsafe extern "C" {
        fn __tsan_write8(at: *mut c_void);
    }

    /// As under rr, which maps memory anywhere, while hooked code runs.
    #[test]
    fn without_an_arena_its_addresses_are_anybodys() {
        let (at, bytes) = (ptr::with_exposed_provenance_mut(ARENA + GRANULE), 4096);
        let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
        let page = ptr::with_exposed_provenance_mut(ARENA);
        // SAFETY: a new mapping where none is; the hook looks at no memory but the arena's shadow,
        // which is what this is about.
        unsafe {
            mmap_anonymous(page, bytes, ProtFlags::READ | ProtFlags::WRITE, flags).expect("room");
            __tsan_write8(at);
        }
        assert_eq!((il_release(at.cast(), 0), il_block_size(at.cast())), (0, 0));
        // SAFETY: the mapping made above, of which nothing is left in use.
        unsafe { munmap(page, bytes) }.expect("it is mapped");
    }
}
