//! Scheduling points: counts a step, compares it with the limits (a livelock is noticed here), and
//! asks the policy which thread goes on. `pace` lets most points pass without that.

use std::sync::atomic::{AtomicBool, Ordering};

use interlap::schedule::{Access, Pending};

use super::access::{AccessEvent, Class, Listener, Whose};
use super::callbacks::callbacks;
use super::pace::{BUSY_FACTOR, CALL_STEPS_MAX, IDLE_STEPS_AGAIN, IDLE_STEPS_MAX};
use super::shared::SHARED;
use super::switching::{choose, switch};
use super::variables::{ENGINE, now};
use super::waiting::nobody_goes_on;
use super::{control, debugger_stops, layout, pace, progress, wakeups};

/// Plain accesses that may be scheduling points in one round. Without a limit, the filling of a
/// large table would look like a livelock.
const PLAIN_MAX: u64 = 1 << 20;

/// Plain accesses are scheduling points, too.
static PLAIN_POINTS: AtomicBool = AtomicBool::new(false);

/// To be called before a round: whether plain accesses are scheduling points in it.
pub fn set_plain_points(points: bool) {
    PLAIN_POINTS.store(points, Ordering::Relaxed);
}

/// Makes each access a scheduling point.
pub struct Points;

impl Listener for Points {
    #[inline(always)]
    fn arrives(event: &AccessEvent) {
        let access = event.effect.pending();
        match event.class {
            Class::Plain => {
                if PLAIN_POINTS.load(Ordering::Relaxed) && !layout::is_stack(event.address) {
                    plain_point(event.address, access);
                }
                return;
            }
            Class::Atomic | Class::Volatile | Class::Fence => {
                SHARED.atomics.set(SHARED.atomics.get() + 1);
                SHARED.place.set(event.place);
            }
            Class::Allocate | Class::Free | Class::Lock | Class::Pause => {}
        }
        point(event.address, access);
    }

    fn wants_plain() -> bool {
        PLAIN_POINTS.load(Ordering::Relaxed)
    }
}

/// A scheduling point before an access.
#[inline(always)]
pub(super) fn point(address: usize, access: Access) {
    let step = pace::next_step();
    let pending = || Pending { address: address as u64, access };
    if !pace::is_free(step) {
        take_step(step, pending(), false, false);
    } else if pace::asks_at_each() {
        ask(pending());
    }
}

/// A scheduling point before a plain access, unless there were very many. Its step does not count
/// towards a livelock.
fn plain_point(address: usize, access: Access) {
    let e = &ENGINE;
    if e.plain.get() == PLAIN_MAX {
        return;
    }
    for count in [&e.plain, &SHARED.changed_at, &e.boundary_at, &e.runs_since] {
        count.set(count.get() + 1);
    }
    point(address, access);
}

/// A scheduling point at which the others go first.
pub fn yield_now() {
    let step = pace::next_step();
    take_step(step, Pending::default(), true, false);
}

pub(super) fn take_step(step: u64, pending: Pending, mut yields: bool, between_calls: bool) {
    let e = &ENGINE;
    pace::settle();
    debugger_stops::check(step);
    let me = e.current.get();
    let own = &e.threads[me];
    if control::take_changed() {
        own.idle.set(0);
        SHARED.changed_at.set(step);
    } else {
        own.idle.set(own.idle.get() + 1);
        if own.idle.get() > IDLE_STEPS_MAX {
            own.idle.set(IDLE_STEPS_MAX - IDLE_STEPS_AGAIN);
            yields = true;
        }
    }
    own.call_steps.set(own.call_steps.get() + 1);
    yields |= own.call_steps.get() > CALL_STEPS_MAX && gives_way();
    if yields {
        // Buffered stores reach memory before other threads spin in vain.
        (callbacks().settle)(Whose::All);
    }
    if step >= e.limit_next.get() && compare_limits(step, pending.address) {
        yields = true;
    }
    // SAFETY: nobody else uses it now; see `Engine`.
    unsafe { (*e.pending.get())[me] = pending };
    let holds = e.whole_calls.get() && !between_calls && !yields;
    if e.runnable.get() != 1 << me && !holds {
        let next = choose(yields);
        if next != me {
            if !yields {
                debugger_stops::preempted(me, next);
            }
            switch(me, next);
        }
    }
    pace::grant();
}

/// Notices a livelock, and wakes the threads whose deadline has come. Whether the running thread
/// may no longer run.
#[cold]
fn compare_limits(step: u64, address: u64) -> bool {
    let e = &ENGINE;
    // A signal handler may have taken later steps since this one was counted.
    let idle_steps = step.saturating_sub(SHARED.changed_at.get());
    let busy_steps = step.saturating_sub(e.boundary_at.get());
    let is_in_vain = (idle_steps > e.steps_max.get()
        || busy_steps > e.steps_max.get() * BUSY_FACTOR)
        && !progress::is_made(step, idle_steps.max(busy_steps), address);
    if is_in_vain {
        // What threads wait for may change unseen: the report says so.
        if !(callbacks().sees_all)() {
            (callbacks().livelock)();
        }
        nobody_goes_on(callbacks().livelock);
    }
    if now() >= e.deadline_next.get() {
        wakeups::expire();
    }
    is_in_vain
}

/// A point at which only the policy is asked, and no limit is near.
#[inline(never)]
fn ask(pending: Pending) {
    let e = &ENGINE;
    let me = e.current.get();
    // SAFETY: nobody else uses it now; see `Engine`.
    unsafe { (*e.pending.get())[me] = pending };
    if e.runnable.get() == 1 << me || e.whole_calls.get() {
        return;
    }
    let next = choose(false);
    if next != me {
        pace::settle();
        debugger_stops::preempted(me, next);
        switch(me, next);
        pace::grant();
    }
}

/// Whether a thread whose call takes long lets others go first now. It is random because threads
/// that try, fail and undo could stay in step for ever if all turns were equally long.
#[cold]
fn gives_way() -> bool {
    // SAFETY: nobody else uses it now; see `Engine`.
    let random = unsafe { &mut *ENGINE.wakes.get() };
    random.as_mut().is_some_and(|random| random.one_in(IDLE_STEPS_AGAIN.into()))
}

/// Memory that others may wait for has changed.
pub fn changed() {
    control::take_changed();
    pace::changed();
    SHARED.changed_at.set(SHARED.step.get());
}

/// Sets whether only the running thread runs, even at scheduling points; gives the old value.
pub fn set_exclusive(whole: bool) -> bool {
    pace::settle();
    ENGINE.whole_calls.replace(whole)
}
