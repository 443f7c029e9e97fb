//! What the engine shares with the hooks in C: hooks.h has the same fields. A hook lets a
//! scheduling point pass by itself where nobody is to be asked, which is most often so.

use std::cell::Cell;
use std::sync::atomic::AtomicU8;

/// On one line of the processor's cache. Flags are atomic where threads that the engine does not
/// run, as those of the harness, may read them.
#[repr(C, align(64))]
pub struct Shared {
    /// Scheduling points that may still pass.
    pub(super) free: Cell<u64>,
    /// The number of the step under way.
    pub(super) step: Cell<u64>,
    /// The running thread's idle steps are this less the points that may still pass.
    pub(super) idle_base: Cell<u64>,
    /// Step of the last change of memory by any thread.
    pub(super) changed_at: Cell<u64>,
    /// Atomic and volatile accesses, and fences, of the round.
    pub(super) atomics: Cell<u64>,
    /// Code address of the running thread's last scheduling point.
    pub(super) place: Cell<usize>,
    /// Whether the code that runs now is the target's.
    pub(super) controls: AtomicU8,
    /// Whether `malloc` takes from the arena: never (0), where the target calls it (1), or also
    /// where the C library and the loader do, for themselves (2).
    pub(super) allocates: AtomicU8,
    /// A store has changed memory since the last scheduling point.
    pub(super) changed: AtomicU8,
    /// The policy is asked at each of the points that may pass, but limits are not compared.
    pub(super) asks_at_each: Cell<bool>,
    /// Which accesses listeners want in this round, beside what points need themselves.
    pub wants_plain: Cell<bool>,
    pub wants_atomic: Cell<bool>,
    pub wants_made: Cell<bool>,
    /// Whether stores may wait in store buffers in this round; whether any of the running thread
    /// do now.
    pub buffers: Cell<bool>,
    pub holds_back: Cell<bool>,
    /// Whether loads may read older stores than the last one in this round.
    pub weak: Cell<bool>,
    /// Whether somebody wants to know the memory orders of accesses, or to change them.
    pub orders: Cell<bool>,
}

const _: () = assert!(std::mem::offset_of!(Shared, orders) == 58, "as in hooks.h");

// SAFETY: as the engine's variables, but for the atomic ones: by one thread at a time.
unsafe impl Sync for Shared {}

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static il_shared: Shared = Shared {
    free: Cell::new(0),
    step: Cell::new(0),
    idle_base: Cell::new(0),
    changed_at: Cell::new(0),
    atomics: Cell::new(0),
    place: Cell::new(0),
    controls: AtomicU8::new(0),
    allocates: AtomicU8::new(0),
    changed: AtomicU8::new(0),
    asks_at_each: Cell::new(false),
    wants_plain: Cell::new(false),
    wants_atomic: Cell::new(false),
    wants_made: Cell::new(false),
    buffers: Cell::new(false),
    holds_back: Cell::new(false),
    weak: Cell::new(false),
    orders: Cell::new(false),
};

pub use il_shared as SHARED;
