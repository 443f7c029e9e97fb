//! Finds data races, in the rounds that look for them: a race ends its round, as a fault. What
//! orders accesses is in `happens_before`; here is which of them count, and who makes them.
//!
//! Threads of the round are ordered by their start and end as those of a program. Where code has no
//! hooks, it may order accesses unseen: then no race is looked for, nor where stores wait in store
//! buffers, as loads do not read the last store there.

use std::cell::{Cell, UnsafeCell};

use interlap::trace::trail::Act;

use super::happens_before::{Access, HappensBefore, Order};
use crate::controlled::core::access::{AccessEvent, Class, Listener, Made, Synchronizes};
use crate::controlled::core::{control, engine, layout};
use crate::controlled::watch::fault_report::{self, Accessed};
use crate::controlled::watch::libraries;

struct State {
    is_wanted: Cell<bool>,
    /// The thread that makes and destroys the structure, when no caller runs. Those before it call.
    keeper: Cell<usize>,
    /// It has taken note that the callers have ended.
    has_joined: Cell<bool>,
    order: UnsafeCell<Option<HappensBefore<Accessed>>>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for State {}

static STATE: State = State {
    is_wanted: Cell::new(false),
    keeper: Cell::new(0),
    has_joined: Cell::new(false),
    order: UnsafeCell::new(None),
};

/// A round begins, in which races are looked for, or not.
pub fn begin(wanted: bool, callers: usize) {
    STATE.is_wanted.set(wanted && libraries::are_all_instrumented());
    STATE.keeper.set(callers);
    STATE.has_joined.set(false);
    if STATE.is_wanted.get() {
        // SAFETY: no thread of the target runs now.
        let order = unsafe { &mut *STATE.order.get() };
        order.get_or_insert_with(HappensBefore::new).begin(callers);
    }
}

/// Looks for races.
pub struct Races;

impl Listener for Races {
    /// No hook reports that a plain access was made.
    #[inline(always)]
    fn passes(event: &AccessEvent) {
        if STATE.is_wanted.get() && matches!(event.class, Class::Plain | Class::Volatile) {
            plain(*event);
        }
    }

    #[inline(always)]
    fn made(event: &AccessEvent, made: Made) {
        if STATE.is_wanted.get() && control::controls() {
            note(*event, made.act);
        }
    }

    #[inline(always)]
    fn synchronizes(thread: usize, how: Synchronizes, object: usize) {
        if STATE.is_wanted.get() {
            synchronize(thread, how, object);
        }
    }

    fn wants_plain() -> bool {
        STATE.is_wanted.get()
    }

    fn wants_made() -> bool {
        STATE.is_wanted.get()
    }
}

/// With what is known of the round, and the thread in it. Its memory is the harness's own.
fn with_order<T>(thread: usize, look: impl FnOnce(&mut HappensBefore<Accessed>) -> T) -> T {
    let controls = control::set_controls(false);
    // SAFETY: see State; `look` calls no hook.
    let order = unsafe { &mut *STATE.order.get() }.as_mut().expect("a round has begun");
    let keeper = STATE.keeper.get();
    if thread < keeper && !order.knows(thread) {
        order.starts(keeper, thread);
    }
    let is_after = thread == keeper && (0..keeper).any(|caller| order.knows(caller));
    if is_after && !STATE.has_joined.replace(true) {
        let ended = (0..keeper).filter(|caller| engine::has_ended(*caller));
        ended.for_each(|caller| order.joins(keeper, caller));
    }
    let seen = look(order);
    control::set_controls(controls);
    seen
}

/// Memory of the target that no one else gives out: the heap, stacks, thread-local variables, and
/// the variables of its library.
fn is_known(address: usize) -> bool {
    let is_fixed = layout::is_fixed(address) && !layout::is_mapping(address);
    is_fixed || libraries::is_of_target(address)
}

fn access(event: &AccessEvent, is_atomic: bool, writes: bool) -> Access<Accessed> {
    let AccessEvent { thread, address, size, place, .. } = *event;
    let told = Accessed::now(address, size, (is_atomic, writes), place);
    Access { thread, address, size, is_atomic, writes, told }
}

#[cold]
fn plain(event: AccessEvent) {
    if control::controls() && event.size > 0 && is_known(event.address) {
        let access = access(&event, false, event.effect.writes());
        report(with_order(event.thread, |order| order.plain(access)), access);
    }
}

#[cold]
fn note(event: AccessEvent, act: Act) {
    let AccessEvent { thread, address, size, order: number, .. } = event;
    let (by, updates) = (Order::of(number), act != Act::Store);
    let (access, raced) = match act {
        Act::Load | Act::FailedCompareExchange => {
            let access = access(&event, true, false);
            (access, with_order(thread, |order| order.atomic(access, false, by)))
        }
        Act::Store | Act::ReadModifyWrite | Act::CompareExchange => {
            let access = access(&event, true, true);
            (access, with_order(thread, |order| order.atomic(access, updates, by)))
        }
        Act::Free if size > 0 => {
            let access = access(&event, false, true);
            (access, with_order(thread, |order| order.frees(access)))
        }
        Act::Fence => return with_order(thread, |order| order.fence(thread, by)),
        Act::Allocate => return with_order(thread, |order| order.forget(address, size)),
        _ => return,
    };
    report(raced, access);
}

#[cold]
fn synchronize(thread: usize, how: Synchronizes, object: usize) {
    with_order(thread, |order| match how {
        Synchronizes::Acquires => order.acquires(thread, object),
        Synchronizes::Releases => order.releases(thread, object),
        Synchronizes::AcquiresAll => order.acquires_all(thread),
        Synchronizes::Stores => order.stores_byte(thread, object),
        Synchronizes::Starts => order.starts(thread, object),
    });
}

fn report(raced: Result<(), Access<Accessed>>, now: Access<Accessed>) {
    if let Err(first) = raced {
        fault_report::data_race(first.told, now.told);
    }
}
