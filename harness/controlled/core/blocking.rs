//! Blocks the running thread until another wakes it, virtual time reaches a deadline, or a signal
//! ends the wait.

use interlap::trace::trail::Act;

use super::access::{AccessEvent, Class, Effect, Made, Whose};
use super::callbacks::{self, callbacks};
use super::switching::{choose, switch};
use super::variables::{ENGINE, Status};
use super::wait_kinds::{Taken, Wait, Woken};
use super::wakeups::{has_signal, unblock};
use super::{debugger_stops, pace};

/// Addresses that memory of a program can have. Other keys of waits are below or above.
const MEMORY: std::ops::Range<usize> = 1 << 12..1 << 47;

/// Blocks the running thread until `wake` picks it or virtual time reaches `deadline`.
pub fn block(on: usize, why: Wait, deadline: Option<u64>) -> Woken {
    let e = &ENGINE;
    (callbacks().settle)(Whose::All);
    pace::settle();
    // Waits for threads, times and signals have keys that are no addresses.
    let place = if MEMORY.contains(&on) { on } else { 0 };
    let me = e.current.get();
    let event = AccessEvent::new(me, Class::Lock, Effect::None, place);
    callbacks::made(&event, Made::only(Act::Block));
    let own = &e.threads[me];
    own.status.set(Status::Blocked { on, why, deadline });
    e.runnable.set(e.runnable.get() & !(1 << me));
    e.blocked.set(e.blocked.get() | 1 << me);
    if let Some(deadline) = deadline {
        e.deadline_next.set(e.deadline_next.get().min(deadline));
        e.limit_next.set(0);
    }
    debugger_stops::check(pace::next_step());
    loop {
        let next = choose(false);
        let taken = match next == me {
            true if has_signal(me) => (callbacks().take_signals)(me),
            true => Taken::Nothing,
            false => switch(me, next),
        };
        if own.status.get() == Status::Runnable {
            return own.woken.get();
        }
        // The thread was switched to only to take a signal.
        if why.is_ended_by(taken) {
            unblock(me, Woken::BySignal);
            return Woken::BySignal;
        }
        pace::settle();
        e.runnable.set(e.runnable.get() & !(1 << me));
    }
}
