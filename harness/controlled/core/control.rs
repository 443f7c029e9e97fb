//! Whether the code that runs now is the target's. While it is (under control), its hooks and its
//! calls of the C library come to the engine, and its memory from the arena; the harness's own code
//! goes straight to the C library. Also says whether memory has changed since the last scheduling
//! point. hooks.h and allocator.c read these numbers.

use std::sync::atomic::{AtomicU8, Ordering};

#[unsafe(no_mangle)]
static il_controls: AtomicU8 = AtomicU8::new(0);
/// A store has changed memory since the last scheduling point. Set by hooks.c, too.
#[unsafe(no_mangle)]
static il_changed: AtomicU8 = AtomicU8::new(0);
/// Whether `malloc` takes from the arena: not (0), where the target calls it (1), or even where
/// the C library and the loader do, for themselves ([`ALL`]).
#[unsafe(no_mangle)]
static il_allocates: AtomicU8 = AtomicU8::new(0);

const ALL: u8 = 2;

#[inline(always)]
pub fn controls() -> bool {
    il_controls.load(Ordering::Relaxed) != 0
}

/// Says whether the code that runs now is the target's, and so its memory the arena's; gives what
/// it was.
#[inline]
pub fn set_controls(controls: bool) -> bool {
    set_allocates(controls);
    let before = self::controls();
    // Not a swap, which would lock the bus: only the thread that runs sets it.
    il_controls.store(controls.into(), Ordering::Relaxed);
    before
}

/// Lets `malloc` take from the arena, or not.
#[inline]
pub fn set_allocates(allocates: bool) {
    il_allocates.store(allocates.into(), Ordering::Relaxed);
}

/// Runs `make` while `malloc` takes from the arena even for the C library and the loader.
pub fn with_all_from_arena(make: impl FnOnce()) {
    let before = il_allocates.swap(ALL, Ordering::Relaxed);
    make();
    il_allocates.store(before, Ordering::Relaxed);
}

/// Memory has changed, otherwise than by a store that hooks.c makes.
pub fn set_changed() {
    il_changed.store(1, Ordering::Relaxed);
}

/// Whether memory has changed since this was last asked.
#[inline(always)]
pub fn take_changed() -> bool {
    let changed = il_changed.load(Ordering::Relaxed) != 0;
    if changed {
        il_changed.store(0, Ordering::Relaxed);
    }
    changed
}
