//! Wakes waiting threads: by another thread, at a deadline, or for a signal.

use std::sync::atomic::{AtomicU64, Ordering};

use interlap::schedule::THREADS_MAX;

use super::pace;
use super::variables::{ENGINE, Status, now};
use super::wait_kinds::Woken;

/// Bit t: thread t has a signal to take.
static SIGNALLED: AtomicU64 = AtomicU64::new(0);

/// Sets whether a thread has a signal to take, which it does when it is next switched to.
pub fn set_signalled(thread: usize, has_signal: bool) {
    match has_signal {
        true => SIGNALLED.fetch_or(1 << thread, Ordering::Relaxed),
        false => SIGNALLED.fetch_and(!(1 << thread), Ordering::Relaxed),
    };
}

/// No thread has a signal to take.
pub fn clear_signalled() {
    SIGNALLED.store(0, Ordering::Relaxed);
}

/// Whether a thread has a signal to take.
#[inline(always)]
pub fn has_signal(thread: usize) -> bool {
    SIGNALLED.load(Ordering::Relaxed) >> thread & 1 != 0
}

/// Lets a waiting thread run until it has taken its signals.
pub fn interrupt(thread: usize) {
    let e = &ENGINE;
    pace::settle();
    e.runnable.set(e.runnable.get() | 1 << thread);
}

/// Wakes up to `most` threads that wait for `on`, chosen by the seed; gives how many.
pub fn wake(on: usize, most: usize) -> usize {
    let e = &ENGINE;
    let mut waiting = 0u64;
    for at in each(e.blocked.get()) {
        if matches!(e.threads[at].status.get(), Status::Blocked { on: other, .. } if other == on) {
            waiting |= 1 << at;
        }
    }
    let mut woken = 0;
    while waiting != 0 && woken < most {
        let mut rest = waiting;
        // SAFETY: nobody else uses it now.
        if let Some(random) = unsafe { &mut *e.wakes.get() } {
            for _ in 0..random.below(waiting.count_ones().into()) {
                rest &= rest - 1;
            }
        }
        let thread = rest.trailing_zeros() as usize;
        waiting &= !(1 << thread);
        unblock(thread, Woken::Up);
        woken += 1;
    }
    woken
}

pub(super) fn unblock(thread: usize, woken: Woken) {
    let e = &ENGINE;
    pace::settle();
    e.threads[thread].status.set(Status::Runnable);
    e.threads[thread].woken.set(woken);
    e.threads[thread].idle.set(0);
    e.runnable.set(e.runnable.get() | 1 << thread);
    e.blocked.set(e.blocked.get() & !(1 << thread));
}

/// The threads of a set.
pub(super) fn each(mut threads: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let thread = threads.trailing_zeros() as usize;
        threads &= threads.wrapping_sub(1);
        (thread < THREADS_MAX).then_some(thread)
    })
}

/// Wakes the threads whose deadline has come.
pub(super) fn expire() {
    let e = &ENGINE;
    let now = now();
    let mut next = u64::MAX;
    for at in each(e.blocked.get()) {
        if let Status::Blocked { deadline: Some(deadline), .. } = e.threads[at].status.get() {
            if deadline <= now {
                unblock(at, Woken::Timeout);
            } else {
                next = next.min(deadline);
            }
        }
    }
    e.deadline_next.set(next);
    e.limit_next.set(0);
}
