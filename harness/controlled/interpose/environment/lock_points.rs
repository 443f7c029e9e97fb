//! The scheduling points of functions that acquire, release, wait or wake, with their entries in
//! the trail. Also counts looks at a clock since the last of them, which `time` limits.
//!
//! A thread runs alone between two scheduling points, so what follows a point is one atomic step.
//! An acquisition has one point before it. A release has one before it, so that others see the
//! lock held, and one after it, so that they see what the caller does next.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use interlap::trace::trail::Act;

use super::thread_ids::THREADS;
use crate::controlled::accesses;
use crate::controlled::core::access::{AccessEvent, Class, Effect, Made, Synchronizes};
use crate::controlled::core::engine;

/// Bytes at the start of a lock that every use of it needs.
const LOCK_BYTES: usize = size_of::<u32>();

/// Looks at a clock by each thread since it last did something else.
static CLOCK_LOOKS: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

pub(super) fn reset() {
    CLOCK_LOOKS.iter().for_each(|looks| looks.store(0, Relaxed));
}

/// Counts a look at a clock by the running thread; gives how many came before it.
pub(super) fn count_clock_look() -> u32 {
    CLOCK_LOOKS[engine::current()].fetch_add(1, Relaxed)
}

/// Before an acquisition or a wait: others run first, who may free what is at the address.
pub(super) fn before(address: usize, effect: Effect) {
    before_meeting(address, effect);
    if address != 0 {
        report_lock(Act::Acquire, address);
    }
}

/// As [`before`] where threads only meet, and there is nothing to acquire.
pub(super) fn before_meeting(address: usize, effect: Effect) {
    count_call();
    let event = AccessEvent::new(engine::current(), Class::Lock, effect, address);
    accesses::announce(&AccessEvent { size: LOCK_BYTES, ..event });
}

/// As [`before_meeting`] where the address need not be that of living memory.
pub(super) fn before_of_any(address: usize, effect: Effect) {
    count_call();
    accesses::pause(address, effect);
}

fn count_call() {
    engine::blocking_call();
    CLOCK_LOOKS[engine::current()].store(0, Relaxed);
}

/// The running thread has the lock, or what serves as one, that others released before.
pub(super) fn acquires(address: usize) {
    accesses::synchronizes(Synchronizes::Acquires, address);
}

/// The running thread gives it up.
pub(super) fn releases(address: usize) {
    accesses::synchronizes(Synchronizes::Releases, address);
}

/// Notes in the trail what the running thread does with a lock, or what serves as one.
pub(super) fn report_lock(act: Act, address: usize) {
    let event = AccessEvent::new(engine::current(), Class::Lock, Effect::None, address);
    accesses::made(&event, Made::only(act));
}

/// Notes in the trail that the running thread starts another one.
pub(super) fn report_start(number: usize) {
    let event = AccessEvent::new(engine::current(), Class::Lock, Effect::None, 0);
    accesses::made(&AccessEvent { size: number, ..event }, Made::only(Act::Start));
    accesses::synchronizes(Synchronizes::Starts, number);
}

/// After a release: wakes up to `most` of those that wait for `address`, and lets others run.
pub(super) fn released(address: usize, most: usize) {
    report_lock(Act::Release, address);
    releases(address);
    engine::wake(address, most);
    engine::changed();
    accesses::pause(address, Effect::None);
}

/// Wakes up to `most` of those that wait for `address`; gives how many.
pub(super) fn wake(address: usize, most: usize) -> usize {
    report_lock(Act::Wake, address);
    engine::wake(address, most)
}
