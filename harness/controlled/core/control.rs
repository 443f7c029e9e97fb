//! Whether the code that runs now is the target's ("under control"): then hooks and interposed
//! functions call the engine, and memory comes from the arena. The harness's own code uses the C
//! library directly. Also whether memory has changed since the last scheduling point.

use std::sync::atomic::Ordering;

use super::shared::SHARED;

/// `malloc` takes from the arena even for the C library and the loader.
const ALL: u8 = 2;

#[inline(always)]
pub fn controls() -> bool {
    SHARED.controls.load(Ordering::Relaxed) != 0
}

/// Sets whether the code that runs now is the target's, and `malloc` with it; gives the old value.
#[inline]
pub fn set_controls(controls: bool) -> bool {
    set_allocates(controls);
    let before = self::controls();
    // Not an atomic swap, which is slower: only the running thread sets it.
    SHARED.controls.store(controls.into(), Ordering::Relaxed);
    before
}

/// Lets `malloc` take from the arena, or not.
#[inline]
pub fn set_allocates(allocates: bool) {
    SHARED.allocates.store(allocates.into(), Ordering::Relaxed);
}

/// Runs `make` while `malloc` takes from the arena even for the C library and the loader.
pub fn with_all_from_arena(make: impl FnOnce()) {
    let before = SHARED.allocates.swap(ALL, Ordering::Relaxed);
    make();
    SHARED.allocates.store(before, Ordering::Relaxed);
}

/// Memory has changed, other than by a store in hooks.c.
pub fn set_changed() {
    SHARED.changed.store(1, Ordering::Relaxed);
}

/// Whether memory has changed since the last scheduling point.
pub fn has_changed() -> bool {
    SHARED.changed.load(Ordering::Relaxed) != 0
}

/// Whether memory has changed since this was last asked.
#[inline(always)]
pub fn take_changed() -> bool {
    let changed = SHARED.changed.load(Ordering::Relaxed) != 0;
    if changed {
        SHARED.changed.store(0, Ordering::Relaxed);
    }
    changed
}
