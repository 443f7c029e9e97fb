//! Finds data races, in the rounds that look for them: a race ends its round, as a fault. What
//! orders accesses is in `happens_before`; here is which of them count, and who makes them.
//!
//! Threads of the round are ordered by their start and end as those of a program. Where code has no
//! hooks, it may order accesses unseen: then no race is looked for, nor where stores wait in store
//! buffers, as loads do not read the last store there. What orders accesses says as well which
//! stores a load may read (`weak_memory`): there, races are noticed, and told if that is wanted.

use std::cell::{Cell, UnsafeCell};
use std::sync::OnceLock;

use interlap::core::plan::RacePlaces;
use interlap::trace::frame::{AccessKind, Deed};
use interlap::trace::trail::Act;

use super::happens_before::{Access, HappensBefore, Order};
use super::heap;
use crate::controlled::core::access::{AccessEvent, Class, Listener, Made, Synchronizes, Whose};
use crate::controlled::core::shared::SHARED;
use crate::controlled::core::{control, engine, layout};
use crate::controlled::watch::fault_report::{self, HeapAct};
use crate::controlled::watch::{backtrace, libraries};

struct State {
    /// Races are told.
    is_wanted: Cell<bool>,
    /// What orders accesses is followed: for them, or for what loads may read.
    is_followed: Cell<bool>,
    /// Some accesses have raced since loads could last read older stores.
    has_raced: Cell<bool>,
    order: UnsafeCell<Option<HappensBefore<HeapAct>>>,
}

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for State {}

static STATE: State = State {
    is_wanted: Cell::new(false),
    is_followed: Cell::new(false),
    has_raced: Cell::new(false),
    order: UnsafeCell::new(None),
};

/// The races that do not end a round.
static KNOWN: OnceLock<Vec<RacePlaces>> = OnceLock::new();

/// To be called before the first round.
pub fn set_known(known: Vec<RacePlaces>) {
    KNOWN.set(known).expect("a process has one job");
}

/// A round begins, in which races are looked for, or not, and loads may read older stores, or not.
/// The first thread makes the structure.
pub fn begin(wanted: bool, weak: bool, first: usize) {
    let wanted = wanted && libraries::are_all_instrumented();
    STATE.is_wanted.set(wanted);
    STATE.is_followed.set(wanted || weak);
    STATE.has_raced.set(false);
    if STATE.is_followed.get() {
        // SAFETY: no thread of the target runs now.
        let order = unsafe { &mut *STATE.order.get() };
        order.get_or_insert_with(|| HappensBefore::new(is_known)).begin(first, weak);
    }
}

/// Looks for races.
pub struct Races;

impl Listener for Races {
    /// No hook reports that a plain access was made.
    #[inline(always)]
    fn passes(event: &AccessEvent) {
        if STATE.is_followed.get() && matches!(event.class, Class::Plain | Class::Volatile) {
            plain(*event);
        }
    }

    #[inline(always)]
    fn made(event: &AccessEvent, made: Made) {
        if STATE.is_followed.get() && control::controls() {
            note(*event, made.act);
        }
    }

    #[inline(always)]
    fn synchronizes(thread: usize, how: Synchronizes, object: usize) {
        if STATE.is_followed.get() {
            synchronize(thread, how, object);
        }
    }

    #[inline(always)]
    fn settles(whose: Whose) {
        if STATE.is_followed.get() && whose == Whose::All {
            with_order(HappensBefore::see_all);
        }
    }

    fn wants_plain() -> bool {
        STATE.is_followed.get()
    }

    fn wants_made() -> bool {
        STATE.is_followed.get()
    }
}

/// With what is known of the round. Its memory is the harness's own.
#[inline]
pub fn with_order<T>(look: impl FnOnce(&mut HappensBefore<HeapAct>) -> T) -> T {
    let controls = control::set_controls(false);
    // SAFETY: see State; `look` calls no hook.
    let order = unsafe { &mut *STATE.order.get() }.as_mut().expect("a round has begun");
    let seen = look(order);
    control::set_controls(controls);
    seen
}

/// Whether nothing can race with what is done now. Most of what makes a structure is done so.
#[inline]
fn is_alone() -> bool {
    // SAFETY: see State.
    unsafe { &*STATE.order.get() }.as_ref().is_some_and(HappensBefore::is_alone)
}

/// Memory of the target that no one else gives out: the heap, stacks, thread-local variables, and
/// the variables of its library.
fn is_looked_at(address: usize) -> bool {
    let is_fixed = layout::is_fixed(address) && !layout::is_mapping(address);
    is_fixed || libraries::is_of_target(address)
}

pub fn access(event: &AccessEvent, kind: AccessKind, writes: bool) -> Access<HeapAct> {
    let AccessEvent { thread, address, size, place, .. } = *event;
    let (thread, size) = (thread as u16, u32::try_from(size).unwrap_or(u32::MAX));
    Access { thread, address, size, kind, writes, told: HeapAct::now(place) }
}

fn is_known(earlier: &Access<HeapAct>, now: &Access<HeapAct>) -> bool {
    let places = || fault_report::race_places([earlier.told, now.told]);
    let is_known = KNOWN.get().is_some_and(|known| !known.is_empty() && known.contains(&places()));
    if is_known {
        STATE.has_raced.set(true);
    }
    is_known
}

#[inline]
fn plain(event: AccessEvent) {
    if !control::controls() || event.size == 0 || is_alone() {
        return;
    }
    if event.effect.writes() && SHARED.weak.get() {
        with_order(|order| order.overwrites(event.address, event.size));
    }
    if is_looked_at(event.address) {
        let kind = match event.class {
            Class::Volatile => AccessKind::Volatile,
            _ => AccessKind::Plain,
        };
        let access = access(&event, kind, event.effect.writes());
        report(with_order(|order| order.plain(access)), access);
    }
}

#[inline(never)]
fn note(event: AccessEvent, act: Act) {
    let AccessEvent { thread, address, size, order: number, .. } = event;
    let (by, updates) = (Order::of(number), act != Act::Store);
    let (access, raced) = match act {
        // Made by `weak_memory`.
        Act::Load
        | Act::FailedCompareExchange
        | Act::Store
        | Act::ReadModifyWrite
        | Act::CompareExchange
            if SHARED.weak.get() =>
        {
            return;
        }
        Act::Load | Act::FailedCompareExchange => {
            let access = access(&event, AccessKind::Atomic, false);
            (access, with_order(|order| order.atomic(access, false, by)))
        }
        Act::Store | Act::ReadModifyWrite | Act::CompareExchange => {
            let access = access(&event, AccessKind::Atomic, true);
            (access, with_order(|order| order.atomic(access, updates, by)))
        }
        Act::Free if size > 0 => {
            let access = access(&event, AccessKind::Plain, true);
            // What the C++ library allocates, it frees by counts of references that have no hooks.
            if !access.told.is_by_target() || !heap::is_by_target(address) {
                return;
            }
            (access, with_order(|order| order.frees(access)))
        }
        Act::Fence => return with_order(|order| order.fence(thread, by)),
        Act::Allocate => return with_order(|order| order.forget(address, size)),
        _ => return,
    };
    report(raced, access);
}

#[cold]
fn synchronize(thread: usize, how: Synchronizes, object: usize) {
    with_order(|order| match how {
        Synchronizes::Acquires => order.acquires(thread, object),
        Synchronizes::Releases => order.releases(thread, object),
        Synchronizes::AcquiresAll => order.acquires_all(thread),
        Synchronizes::MeetsAll => order.meets_all(thread),
        Synchronizes::Stores => order.stores_byte(thread, object),
        Synchronizes::Stamps => order.meets_calls(thread),
        Synchronizes::Starts => order.starts(thread, object),
        Synchronizes::Joins => {
            order.joins(thread, object);
            if engine::alive().all(|other| other.thread == thread) {
                order.is_left(thread);
            }
        }
    });
}

/// With what an access races, if with any.
pub type Raced = Result<(), Access<HeapAct>>;

/// Tells of a race. What C++ says of a program ends with the first one: after one that is known, or
/// that nobody wants to be told of, loads read the last stores again.
#[inline]
pub fn report(raced: Raced, now: Access<HeapAct>) {
    if raced.is_err() || STATE.has_raced.get() {
        tell(raced, now);
    }
}

#[cold]
fn tell(raced: Raced, now: Access<HeapAct>) {
    let counts = STATE.is_wanted.get() || SHARED.weak.get();
    if raced.is_err() && counts && !now.is_atomic() && backtrace::is_called_back() {
        // Whoever called it, as the last owner of an object, may have ordered it unseen.
        return;
    }
    match raced {
        Err(first) if STATE.is_wanted.get() => {
            fault_report::data_race([first, now].map(|access| (access.told, deed(access))));
        }
        Err(_) => STATE.has_raced.set(true),
        Ok(()) => {}
    }
    if STATE.has_raced.get() {
        read_last_stores();
    }
}

/// Loads read the last stores from now on, to the end of the round.
pub fn read_last_stores() {
    if SHARED.weak.replace(false) {
        with_order(HappensBefore::ends_weak);
    }
}

fn deed(access: Access<HeapAct>) -> Deed {
    let Access { writes, kind, address, size, .. } = access;
    Deed::Raced { writes, kind, address: address as u64, size: size.into() }
}
