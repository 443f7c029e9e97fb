//! The memory orders of the target's atomic accesses: takes some weaker than they are written, and
//! notes which accesses were made, where the job asks for either.

use std::cell::UnsafeCell;
use std::sync::OnceLock;

use interlap::core::memory_order::{MemoryOrder, Ordered, OrderedAccess};
use interlap::core::plan::Job;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::controlled::core::control;
use crate::controlled::core::shared::SHARED;
use crate::controlled::watch::{coverage, libraries};

struct Noted(UnsafeCell<Option<FxHashSet<OrderedAccess>>>);

// SAFETY: used by the thread that runs under control alone, as the engine.
unsafe impl Sync for Noted {}

/// The accesses that were made; none: nobody asks for them.
static NOTED: Noted = Noted(UnsafeCell::new(None));

/// What is weakened, by its place in memory.
static WEAKENED: OnceLock<FxHashMap<(u64, Ordered), (MemoryOrder, MemoryOrder)>> = OnceLock::new();

/// To be called before the first round.
pub fn begin(job: &Job) {
    let weakened = job.weakened.iter().map(|weakened| {
        let OrderedAccess { address, of, order } = weakened.access;
        ((address, of), (order, weakened.to))
    });
    WEAKENED.set(weakened.collect()).expect("a process has one job");
    let notes = job.plan.control.notes_orders;
    // SAFETY: no thread of the target runs now.
    unsafe { *NOTED.0.get() = notes.then(FxHashSet::default) };
    SHARED.orders.set(notes || !job.weakened.is_empty());
}

/// The accesses that were made so far, in order.
pub fn noted() -> Vec<OrderedAccess> {
    // SAFETY: see Noted.
    let noted = unsafe { &*NOTED.0.get() };
    let mut all: Vec<OrderedAccess> = noted.iter().flatten().copied().collect();
    all.sort_unstable();
    all
}

/// For hooks.c, where `SHARED.orders` says so: the order in which an atomic access at `place` is
/// made, of which it is written with this one.
#[unsafe(no_mangle)]
extern "C" fn il_order(of: u32, written: i32, place: usize) -> i32 {
    let of = Ordered::ALL[of as usize];
    let Some(order) = MemoryOrder::from_number(written as u32) else { return written };
    if !libraries::is_target_code(place) {
        return written;
    }
    let access = OrderedAccess { address: coverage::address_in_file(place - 1), of, order };
    // SAFETY: see Noted.
    if let Some(noted) = unsafe { &mut *NOTED.0.get() } {
        let controls = control::set_controls(false);
        noted.insert(access);
        control::set_controls(controls);
    }
    let weakened = WEAKENED.get().and_then(|all| all.get(&(access.address, of)));
    weakened.filter(|(from, _)| *from == order).map_or(written, |(_, to)| *to as i32)
}
