//! Whether the code that runs now is the target's ("under control"): then hooks and interposed
//! functions call the engine, and memory comes from the arena. The harness's own code uses the C
//! library directly. Also whether memory has changed since the last scheduling point. hooks.h and
//! allocator.c read these flags.

use std::sync::atomic::{AtomicU8, Ordering};

#[unsafe(no_mangle)]
static il_controls: AtomicU8 = AtomicU8::new(0);
/// A store has changed memory since the last scheduling point. Set by hooks.c, too.
#[unsafe(no_mangle)]
static il_changed: AtomicU8 = AtomicU8::new(0);
/// Whether `malloc` takes from the arena: never (0), where the target calls it (1), or also where
/// the C library and the loader do, for themselves ([`ALL`]).
#[unsafe(no_mangle)]
static il_allocates: AtomicU8 = AtomicU8::new(0);

const ALL: u8 = 2;

#[inline(always)]
pub fn controls() -> bool {
    il_controls.load(Ordering::Relaxed) != 0
}

/// Sets whether the code that runs now is the target's, and `malloc` with it; gives the old value.
#[inline]
pub fn set_controls(controls: bool) -> bool {
    set_allocates(controls);
    let before = self::controls();
    // Not an atomic swap, which is slower: only the running thread sets it.
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

/// Memory has changed, other than by a store in hooks.c.
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
