//! Reports faults: sends a frame to the main program, and ends the process. They are detected in
//! `state::heap` (bad accesses and frees), `core::switching` (deadlocks), `core::points`
//! (livelocks) and `watchdog` (hangs).

use std::cmp::Ordering;

use interlap::core::plan::RacePlaces;
use interlap::trace::frame::{
    Awaited, Deed, Detected, DetectedKind, Frame, Place, Steps, Wait as Waits, When, Who,
};
use interlap::trace::trail::{AROUND_MAX, Act};

use super::{backtrace, coverage, libraries, trail};
use crate::controlled::core::engine::{self, Wait};
use crate::controlled::core::{control, current_round};

/// What a thread did to a block of memory, and where.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct HeapAct {
    /// Return address.
    code: usize,
    thread: u16,
    /// Whether the thread was in a call of the structure.
    calling: bool,
    /// How many calls the thread had begun.
    call: u32,
}

impl HeapAct {
    /// What the running thread does now, to be reported.
    fn reported(code: usize) -> HeapAct {
        let act = HeapAct::now(code);
        control::set_controls(false);
        // Where a library called, the adapter's code that led there is of more use.
        let code = if libraries::is_target_code(code) { code } else { backtrace::here() };
        HeapAct { code, ..act }
    }

    /// What the running thread does now.
    pub fn now(code: usize) -> HeapAct {
        let thread = engine::current();
        let of_caller = thread < engine::callers() + 1;
        let (call, calling) = if of_caller { engine::calls(thread) } else { (0, false) };
        HeapAct { code, thread: thread as u16, calling, call }
    }

    /// Whether code of the target did it, not of a library that the target called.
    pub fn is_by_target(self) -> bool {
        libraries::is_target_code(self.code)
    }

    fn who(self) -> Who {
        who(self.thread.into(), self.call, self.calling)
    }
}

fn who(thread: usize, call: u32, calling: bool) -> Who {
    let when = match thread.cmp(&engine::callers()) {
        Ordering::Less if call == 0 => When::BeforeCalls,
        Ordering::Less if calling => When::InCall(call),
        Ordering::Less => When::AfterCall(call),
        Ordering::Equal => When::Keeper,
        Ordering::Greater => When::OfTarget,
    };
    Who { thread: thread as u32, when }
}

/// `code` is a return address; the place is the call before it.
fn place(who: Who, deed: Deed, code: usize) -> Place {
    Place { who, deed, code: before(code), around: Vec::new() }
}

/// What the running thread does, with the calling functions.
fn place_now(act: HeapAct, deed: Deed) -> Place {
    let around: [usize; AROUND_MAX] = backtrace::callers_of(act.code);
    let around = around.into_iter().filter_map(before).collect();
    Place { around, ..place(act.who(), deed, act.code) }
}

/// What some thread did to the block, with the calling functions if there is a trail.
fn place_then(act: HeapAct, deed: Deed, (did, block): (Act, usize)) -> Place {
    let around = trail::callers_of_last(did, block, act.code);
    let around = around.unwrap_or_default().into_iter().filter_map(before).collect();
    Place { around, ..place(act.who(), deed, act.code) }
}

fn before(code: usize) -> Option<u64> {
    (code != 0).then(|| code as u64 - 1)
}

/// Where two accesses are, the earlier one first, of which the running thread makes the later one.
pub fn race_places([earlier, now]: [HeapAct; 2]) -> RacePlaces {
    let in_file = |act: HeapAct| match libraries::is_target_code(act.code) {
        true => coverage::address_in_file(act.code - 1),
        false => 0,
    };
    let (now, earlier) = (in_file(HeapAct::reported(now.code)), in_file(earlier));
    [now.min(earlier), now.max(earlier)]
}

/// Two accesses to memory that nothing orders, the earlier one first, and who made them.
pub fn data_race([(earlier, then), (now, deed)]: [(HeapAct, Deed); 2]) -> ! {
    let act = HeapAct::reported(now.code);
    let (did, address) = match then {
        Deed::Raced { writes: true, address, .. } => (Act::Write, address),
        Deed::Raced { address, .. } => (Act::Read, address),
        _ => (Act::Free, 0),
    };
    let before = place_then(earlier, then, (did, address as usize));
    let places = vec![place_now(act, deed), before];
    fault(DetectedKind::DataRace, Some(act.thread.into()), places)
}

pub fn use_after_free(address: usize, block: usize, freed: HeapAct, write: bool, code: usize) -> ! {
    let now = HeapAct::reported(code);
    let (address, offset) = (address as u64, (address - block) as u64);
    let places = vec![
        place_now(now, Deed::AccessedFreed { writes: write, address, offset }),
        place_then(freed, Deed::HadFreed { block: block as u64 }, (Act::Free, block)),
    ];
    fault(DetectedKind::UseAfterFree, Some(now.thread.into()), places)
}

pub fn double_free(block: usize, freed: HeapAct, code: usize) -> ! {
    let now = HeapAct::reported(code);
    let places = vec![
        place_now(now, Deed::FreedAgain { block: block as u64 }),
        place_then(freed, Deed::HadFreed { block: block as u64 }, (Act::Free, block)),
    ];
    fault(DetectedKind::DoubleFree, Some(now.thread.into()), places)
}

pub fn bad_free(address: usize, code: usize) -> ! {
    let now = HeapAct::reported(code);
    let deed = Deed::FreedNoBlock { address: address as u64 };
    fault(DetectedKind::BadFree, Some(now.thread.into()), vec![place_now(now, deed)])
}

/// `near`: the block before the address, its size and its allocation.
pub fn out_of_bounds(
    address: usize,
    near: Option<(usize, usize, HeapAct)>,
    write: bool,
    code: usize,
) -> ! {
    let now = HeapAct::reported(code);
    let places = match near {
        Some((block, size, allocated)) => {
            let (offset, bytes) = ((address - block) as u64, size as u64);
            let deed = Deed::AccessedBehind { writes: write, offset, bytes };
            let before = Deed::HadAllocated { block: block as u64 };
            vec![place_now(now, deed), place_then(allocated, before, (Act::Allocate, block))]
        }
        None => vec![place_now(now, Deed::AccessedBetween { writes: write })],
    };
    fault(DetectedKind::OutOfBounds, Some(now.thread.into()), places)
}

/// A round that does not end. Where some code has no hooks, what threads wait for may change
/// unseen.
pub fn livelock() -> ! {
    control::set_controls(false);
    if let Some(unseen) = libraries::unseen() {
        engine::cannot_control(&format!(
            "code of {unseen}, which has no hooks: a round takes very many steps, and whether it \
             comes to an end is not seen"
        ));
    }
    fault(DetectedKind::Livelock, None, all_places(0))
}

/// The running thread computes without end. Called by a signal handler.
pub fn hang() -> ! {
    let me = engine::current();
    fault(DetectedKind::Hang, Some(me as u32), all_places(me))
}

pub fn deadlock() -> ! {
    fault(DetectedKind::Deadlock, None, all_places(0))
}

/// Where each thread is, and what it waits for; this thread first.
fn all_places(first: usize) -> Vec<Place> {
    control::set_controls(false);
    let mut threads = backtrace::all_threads();
    // The thread that created the structure only waits for the callers.
    let is_idle = |at: &backtrace::ThreadPlace| {
        let joins = matches!(at.waits, Some((Wait::Join, _)));
        joins && at.thread == engine::callers() && at.frames.is_empty()
    };
    if !threads.iter().all(is_idle) {
        threads.retain(|at| !is_idle(at));
    }
    threads.sort_by_key(|at| (at.thread != first, at.thread));
    let places = threads.into_iter().map(|at| {
        let (call, calling) = engine::calls(at.thread);
        let deed = at.waits.map_or(Deed::Runs, |(why, on)| {
            let holder = engine::holder(why, on).map(|holder| holder as u32);
            Deed::Waits(Waits { on: awaited(why), address: on as u64, holder })
        });
        let mut frames = at.frames.into_iter();
        let innermost = place(who(at.thread, call, calling), deed, frames.next().unwrap_or(0));
        Place { around: frames.filter_map(before).collect(), ..innermost }
    });
    places.collect()
}

fn awaited(why: Wait) -> Awaited {
    match why {
        Wait::Mutex => Awaited::Mutex,
        Wait::ReadLock => Awaited::ReadLock,
        Wait::WriteLock => Awaited::WriteLock,
        Wait::Condition => Awaited::Condition,
        Wait::Semaphore => Awaited::Semaphore,
        Wait::Barrier => Awaited::Barrier,
        Wait::Once => Awaited::Once,
        Wait::Futex => Awaited::Futex,
        Wait::Join => Awaited::Join,
        Wait::Sleep => Awaited::Time,
        Wait::Signal => Awaited::Signal,
        Wait::Other => Awaited::Other,
    }
}

/// Reports to the main program, and ends the process.
fn fault(kind: DetectedKind, thread: Option<u32>, places: Vec<Place>) -> ! {
    control::set_controls(false);
    crate::fault::note_growth();
    crate::marker::interlap_fault();
    let round = current_round::number();
    let steps = Box::new(steps(&engine::counted()));
    let detected = Detected { kind, round, thread, places, steps };
    crate::pipe::send_last(&Frame::Fault(detected))
}

/// What a round has counted, as a part of a frame. Leaks are left to the caller.
pub fn steps(counted: &engine::Counts) -> Steps {
    Steps {
        policy: current_round::policy_name(),
        steps: counted.steps,
        switches: counted.switches,
        schedule: counted.schedule,
        atomics: counted.atomics,
        blocking: counted.blocking,
        pairs: coverage::new_pairs(),
        leaked_blocks: 0,
        leaked_bytes: 0,
        recorded: engine::recorded(),
        trail: trail::taken(),
    }
}
