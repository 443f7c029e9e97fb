//! Threads that wait: for each other, for a lock of the environment's, for virtual time. A thread
//! that is not runnable is known to the policy no more until somebody wakes it.

use interlap::schedule::THREADS_MAX;
use interlap::trace::trail::Act;

use super::engine::{ENGINE, State, now};
use super::switching::{choose, switch};
use super::{pace, stop};
use crate::controlled::interpose::environment::sending::{self, Taken};
use crate::controlled::state::buffers;
use crate::controlled::watch::trail;

/// Where memory of a program can be. Other keys of waits are below or above.
const MEMORY: std::ops::Range<usize> = 1 << 12..1 << 47;

/// Why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Mutex,
    ReadLock,
    WriteLock,
    Condition,
    Semaphore,
    Barrier,
    Once,
    Futex,
    Join,
    Sleep,
    Signal,
    Other,
}

impl Wait {
    /// Whether signals that its thread took end the wait.
    fn is_ended_by(self, taken: Taken) -> bool {
        match self {
            Wait::Semaphore | Wait::Futex => taken == Taken::Interrupted,
            Wait::Signal => taken != Taken::Nothing,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// By another thread.
    Up,
    Timeout,
    /// Its thread has taken a signal that ends the wait.
    BySignal,
}

/// What `block` is given to wait for the end of a thread.
pub fn join_key(thread: usize) -> usize {
    thread + 1
}

/// Blocks the running thread until `wake` picks it or virtual time reaches `deadline`.
pub fn block(on: usize, why: Wait, deadline: Option<u64>) -> Woken {
    let e = &ENGINE;
    buffers::drain_all();
    pace::settle();
    // Threads, times and signals are no memory.
    let place = if MEMORY.contains(&on) { on } else { 0 };
    trail::note_lock(Act::Block, place);
    let me = e.current.get();
    let own = &e.threads[me];
    own.state.set(State::Blocked { on, why, deadline });
    e.runnable.set(e.runnable.get() & !(1 << me));
    e.blocked.set(e.blocked.get() | 1 << me);
    if let Some(deadline) = deadline {
        e.deadline_next.set(e.deadline_next.get().min(deadline));
    }
    stop::look(pace::next_step());
    loop {
        let next = choose(false);
        let taken = match next == me {
            true if sending::has_any(me) => sending::take(me),
            true => Taken::Nothing,
            false => switch(me, next),
        };
        if own.state.get() == State::Runnable {
            return own.woken.get();
        }
        // It ran to take a signal.
        if why.is_ended_by(taken) {
            unblock(me, Woken::BySignal);
            return Woken::BySignal;
        }
        pace::settle();
        e.runnable.set(e.runnable.get() & !(1 << me));
    }
}

/// Lets a thread that waits run until it has taken its signals.
pub fn interrupt(thread: usize) {
    let e = &ENGINE;
    pace::settle();
    e.runnable.set(e.runnable.get() | 1 << thread);
}

/// Wakes up to `most` threads that wait for `on`, chosen by the seed; how many.
pub fn wake(on: usize, most: usize) -> usize {
    let e = &ENGINE;
    let mut waiting = 0u64;
    for at in each(e.blocked.get()) {
        if matches!(e.threads[at].state.get(), State::Blocked { on: other, .. } if other == on) {
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

fn unblock(thread: usize, woken: Woken) {
    let e = &ENGINE;
    pace::settle();
    e.threads[thread].state.set(State::Runnable);
    e.threads[thread].woken.set(woken);
    e.threads[thread].idle.set(0);
    e.runnable.set(e.runnable.get() | 1 << thread);
    e.blocked.set(e.blocked.get() & !(1 << thread));
}

/// The threads of a set.
fn each(mut threads: u64) -> impl Iterator<Item = usize> {
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
        if let State::Blocked { deadline: Some(deadline), .. } = e.threads[at].state.get() {
            if deadline <= now {
                unblock(at, Woken::Timeout);
            } else {
                next = next.min(deadline);
            }
        }
    }
    e.deadline_next.set(next);
}
