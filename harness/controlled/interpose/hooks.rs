//! Where instrumented code comes in (from hooks.c), and the switch that says whether it is under
//! control: it is while the target's code runs on a virtual thread, not in the harness's own.
//! The one place that sees address, size, kind and memory order of every access; in rounds with
//! store buffers (`buffers`) it says when these are looked at, and emptied.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use interlap::schedule::Access;

use crate::controlled::core::{engine, layout};
use crate::controlled::state::{buffers, heap};
use crate::controlled::watch::{coverage, trail};

#[unsafe(no_mangle)]
static il_controls: AtomicU8 = AtomicU8::new(0);
/// A store has changed memory since the last scheduling point.
#[unsafe(no_mangle)]
static il_changed: AtomicU8 = AtomicU8::new(0);
/// Plain accesses are scheduling points, too.
static PLAIN_POINTS: AtomicBool = AtomicBool::new(false);
/// [`il_plain`] is to be called at plain accesses.
#[unsafe(no_mangle)]
static il_plain_calls: AtomicU8 = AtomicU8::new(0);

#[inline(always)]
pub fn controls() -> bool {
    il_controls.load(Ordering::Relaxed) != 0
}

/// Says whether the code that runs now is the target's, and so its memory the arena's; gives what
/// it was.
#[inline]
pub fn set_controls(controls: bool) -> bool {
    heap::set_allocates(controls);
    let before = self::controls();
    // Not a swap, which would lock the bus: only the thread that runs sets it.
    il_controls.store(controls.into(), Ordering::Relaxed);
    before
}

/// Whether plain accesses are scheduling points. To be called when the round has its trail and its
/// store buffers, if it is to have them: these, too, are told of each.
pub fn set_plain(points: bool) {
    PLAIN_POINTS.store(points, Ordering::Relaxed);
    let told = points || trail::is_wanted() || buffers::are_used();
    il_plain_calls.store(told.into(), Ordering::Relaxed);
}

/// What waited in a store buffer has changed memory.
pub fn set_changed() {
    il_changed.store(1, Ordering::Relaxed);
}

#[inline(always)]
pub fn take_changed() -> bool {
    let changed = il_changed.load(Ordering::Relaxed) != 0;
    if changed {
        il_changed.store(0, Ordering::Relaxed);
    }
    changed
}

/// What hooks.h calls an access.
const READ: u32 = 1;
const UPDATE: u32 = 3;

fn access_of(number: u32) -> Access {
    if number == READ { Access::Read } else { Access::Write }
}

/// An atomic or volatile access; the caller makes it when this returns.
#[unsafe(no_mangle)]
extern "C" fn il_access(address: usize, size: u32, access: u32, _order: u32, caller: usize) {
    engine::count_atomic(caller);
    point(address, access_of(access));
    if !layout::is_stack(address) {
        // Another thread may have freed it meanwhile.
        if heap::is_bad(address, size as usize) {
            heap::bad_access(address, size as usize, access != READ, caller);
        }
        if coverage::counts() {
            coverage::access(address, access != READ, engine::current(), caller);
        }
    }
    if access == UPDATE {
        buffers::drain();
    }
}

#[inline(always)]
fn point(address: usize, access: Access) {
    buffers::look();
    engine::point(address, access);
    buffers::look();
}

#[unsafe(no_mangle)]
extern "C" fn il_fence(order: u32, caller: usize) {
    engine::count_atomic(caller);
    point(0, Access::None);
    if order == buffers::SEQ_CST {
        buffers::drain();
    }
}

#[unsafe(no_mangle)]
extern "C" fn il_plain(address: usize, size: usize, access: u32, caller: usize) {
    if PLAIN_POINTS.load(Ordering::Relaxed) && !layout::is_stack(address) {
        engine::plain_point(address, access_of(access));
    }
    if buffers::are_used() {
        buffers::il_unbuffered(address, size, access);
    }
    trail::plain(address, size, access != READ, caller);
}

/// A volatile access was permitted, and comes now.
#[unsafe(no_mangle)]
extern "C" fn il_volatile(address: usize, size: usize, access: u32, caller: usize) {
    trail::plain(address, size, access != READ, caller);
}
