//! Where instrumented code comes in (from hooks.c), and the switch that says whether it is under
//! control: it is while the target's code runs on a virtual thread, not in the harness's own.
//! The one place that sees address, size, kind and memory order of every access: a memory model
//! weaker than sequential consistency would decide here what a load returns.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use interlap::schedule::Access;

use super::{coverage, engine, heap, layout, trail};

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

/// Whether plain accesses are scheduling points, and whether the round's trail is noted.
pub fn set_plain(points: bool, trails: bool) {
    PLAIN_POINTS.store(points, Ordering::Relaxed);
    il_plain_calls.store((points || trails).into(), Ordering::Relaxed);
}

#[inline(always)]
pub fn take_changed() -> bool {
    let changed = il_changed.load(Ordering::Relaxed) != 0;
    if changed {
        il_changed.store(0, Ordering::Relaxed);
    }
    changed
}

fn access_of(number: u32) -> Access {
    if number == 2 { Access::Write } else { Access::Read }
}

/// An atomic or volatile access; the caller makes it when this returns.
#[unsafe(no_mangle)]
extern "C" fn il_access(address: usize, size: u32, access: u32, _order: u32, caller: usize) {
    engine::count_atomic(caller);
    if !layout::is_stack(address) {
        engine::point(address, access_of(access));
        // Another thread may have freed it meanwhile.
        if heap::is_bad(address, size as usize) {
            heap::bad_access(address, size as usize, access == 2, caller);
        }
        if coverage::counts() {
            coverage::access(address, access == 2, engine::current(), caller);
        }
        return;
    }
    engine::point(address, access_of(access));
}

#[unsafe(no_mangle)]
extern "C" fn il_fence(_order: u32, caller: usize) {
    engine::count_atomic(caller);
    engine::point(0, Access::None);
}

#[unsafe(no_mangle)]
extern "C" fn il_plain(address: usize, size: usize, access: u32, caller: usize) {
    if PLAIN_POINTS.load(Ordering::Relaxed) && !layout::is_stack(address) {
        engine::plain_point(address, access_of(access));
    }
    trail::plain(address, size, access == 2, caller);
}

/// A volatile access was permitted, and comes now.
#[unsafe(no_mangle)]
extern "C" fn il_volatile(address: usize, size: usize, access: u32, caller: usize) {
    trail::plain(address, size, access == 2, caller);
}
