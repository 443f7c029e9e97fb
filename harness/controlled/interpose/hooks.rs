//! Reports accesses of instrumented code, for the hooks in hooks.c.

use interlap::trace::trail::Act;

use crate::controlled::accesses;
use crate::controlled::core::access::{AccessEvent, Class, Effect, Made, RELAXED};
use crate::controlled::core::engine;
use crate::controlled::state::heap;

/// Kinds of accesses, as in hooks.h.
const READ: u32 = 1;
const UPDATE: u32 = 3;

#[inline(always)]
fn effect_of(number: u32) -> Effect {
    match number {
        READ => Effect::Read,
        UPDATE => Effect::Update,
        _ => Effect::Write,
    }
}

/// An atomic access; the caller makes it when this returns.
#[unsafe(no_mangle)]
extern "C" fn il_access(address: usize, size: u32, access: u32, order: u32, place: usize) {
    let (thread, class, effect) = (engine::current(), Class::Atomic, effect_of(access));
    let size = size as usize;
    accesses::announce(&AccessEvent { thread, address, size, class, effect, order, place });
}

/// A volatile access, likewise.
#[unsafe(no_mangle)]
extern "C" fn il_volatile(address: usize, size: usize, access: u32, place: usize) {
    accesses::announce(&of_memory(Class::Volatile, address, size, access, place));
}

#[unsafe(no_mangle)]
extern "C" fn il_plain(address: usize, size: usize, access: u32, place: usize) {
    accesses::announce(&of_memory(Class::Plain, address, size, access, place));
}

#[inline(always)]
fn of_memory(class: Class, address: usize, size: usize, access: u32, place: usize) -> AccessEvent {
    let (thread, effect, order) = (engine::current(), effect_of(access), RELAXED);
    AccessEvent { thread, address, size, class, effect, order, place }
}

#[unsafe(no_mangle)]
extern "C" fn il_fence(order: u32, place: usize) {
    let event = AccessEvent::new(engine::current(), Class::Fence, Effect::None, 0);
    accesses::announce(&AccessEvent { order, place, ..event });
}

/// An atomic access that was made: what was there before and after.
#[unsafe(no_mangle)]
extern "C" fn il_made(
    act: u32,
    address: usize,
    size: u32,
    order: u32,
    before: u64,
    after: u64,
    place: usize,
) {
    let act = Act::ALL[act as usize];
    let (class, effect) = match act {
        Act::Load => (Class::Atomic, Effect::Read),
        Act::Store => (Class::Atomic, Effect::Write),
        Act::Fence => (Class::Fence, Effect::None),
        _ => (Class::Atomic, Effect::Update),
    };
    let (thread, size) = (engine::current(), size as usize);
    let event = AccessEvent { thread, address, size, class, effect, order, place };
    accesses::made(&event, Made { act, before, after });
}

/// A plain access of memory that hooks.h has found not to be allocated.
#[unsafe(no_mangle)]
extern "C" fn il_bad_access(address: usize, size: u32, access: u32, place: usize) {
    heap::bad_access(of_memory(Class::Plain, address, size as usize, access, place));
}
