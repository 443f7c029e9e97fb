//! The engine's state: of the round under way, and of each of its threads. Only the files of this
//! room change it.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;

use interlap::core::random::Random;
use interlap::schedule::{Access, Pending, Policy, THREADS_MAX};

use super::carrier::{Carrier, OUTSIDE};
use super::shared::SHARED;
use super::wait_kinds::{Wait, Woken};

/// Virtual time of one step, in nanoseconds.
pub(super) const STEP_NANOSECONDS: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Not begun, or ended.
    None,
    Runnable,
    Blocked {
        on: usize,
        why: Wait,
        deadline: Option<u64>,
    },
}

/// The first function of a thread.
pub type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

pub(super) struct Thread {
    pub(super) status: Cell<Status>,
    pub(super) woken: Cell<Woken>,
    pub(super) start: Cell<Option<Start>>,
    pub(super) argument: Cell<*mut c_void>,
    /// Its first function has been entered.
    pub(super) begun: Cell<bool>,
    /// Started by the target, not by the harness.
    pub(super) of_target: Cell<bool>,
    /// Steps since it last changed memory.
    pub(super) idle: Cell<u32>,
    /// The first step after its last change of memory, as far as it was noted: see `pace`.
    pub(super) changed_at: Cell<u64>,
    /// The same when its last call returned.
    pub(super) effect_at: Cell<u64>,
    /// Steps since its last operation boundary.
    pub(super) call_steps: Cell<u32>,
    /// Calls of the structure it has begun.
    pub(super) calls: Cell<u32>,
    /// Operation boundaries that it has reached.
    pub(super) boundaries: Cell<u32>,
    /// Code address of its last scheduling point, while it does not run.
    pub(super) place: Cell<usize>,
}

pub(super) struct Engine {
    pub(super) carrier: Cell<Carrier>,
    pub(super) threads: [Thread; THREADS_MAX],
    pub(super) runnable: Cell<u64>,
    pub(super) blocked: Cell<u64>,
    /// Threads that may not run, though they could.
    pub(super) held: Cell<u64>,
    /// Threads for which no time passes while they wait.
    pub(super) untimed: Cell<u64>,
    /// Whether the thread that makes the structure goes on where no other can.
    pub(super) watched: Cell<bool>,
    /// It did.
    pub(super) stuck: Cell<bool>,
    pub(super) current: Cell<usize>,
    /// Step at which that began to run.
    pub(super) runs_since: Cell<u64>,
    /// Points that might pass when they were granted, without the stamps taken since.
    pub(super) granted: Cell<u64>,
    /// The policy would be asked at each of these points.
    pub(super) asks: Cell<bool>,
    pub(super) switches: Cell<u64>,
    pub(super) schedule: Cell<u64>,
    /// Step of the last operation boundary of any thread.
    pub(super) boundary_at: Cell<u64>,
    /// Plain accesses that were scheduling points.
    pub(super) plain: Cell<u64>,
    /// Virtual nanoseconds before the first step, and skipped while all threads were blocked.
    pub(super) skipped: Cell<u64>,
    pub(super) deadline_next: Cell<u64>,
    /// No limit but those of a thread's own steps is reached before this step.
    pub(super) limit_next: Cell<u64>,
    pub(super) steps_max: Cell<u64>,
    /// Live blocks of memory when progress was last checked.
    pub(super) blocks: Cell<u64>,
    /// Only operation boundaries are scheduling points, so calls do not overlap. Also set while a
    /// signal handler of the target runs.
    pub(super) whole_calls: Cell<bool>,
    pub(super) pending: UnsafeCell<[Pending; THREADS_MAX]>,
    pub(super) policy: UnsafeCell<Option<Policy>>,
    pub(super) wakes: UnsafeCell<Option<Random>>,
    /// Number of the thread that creates, drains and destroys; callers are below, the target's own
    /// threads above.
    pub(super) callers: Cell<usize>,
    /// One past the highest number that a thread of the round has had.
    pub(super) next_thread: Cell<usize>,
    pub(super) blocking: Cell<u64>,
}

// SAFETY: used by the thread that runs under control, or outside of rounds by the harness's: never
// by two at a time, and passed on with release and acquire where these are two real threads.
unsafe impl Sync for Engine {}

pub(super) static ENGINE: Engine = Engine {
    carrier: Cell::new(Carrier::Fiber),
    threads: [const {
        Thread {
            status: Cell::new(Status::None),
            woken: Cell::new(Woken::Up),
            start: Cell::new(None),
            argument: Cell::new(std::ptr::null_mut()),
            begun: Cell::new(false),
            of_target: Cell::new(false),
            idle: Cell::new(0),
            changed_at: Cell::new(0),
            effect_at: Cell::new(0),
            call_steps: Cell::new(0),
            calls: Cell::new(0),
            boundaries: Cell::new(0),
            place: Cell::new(0),
        }
    }; THREADS_MAX],
    runnable: Cell::new(0),
    blocked: Cell::new(0),
    held: Cell::new(0),
    untimed: Cell::new(0),
    watched: Cell::new(false),
    stuck: Cell::new(false),
    current: Cell::new(OUTSIDE),
    runs_since: Cell::new(0),
    granted: Cell::new(0),
    asks: Cell::new(false),
    switches: Cell::new(0),
    schedule: Cell::new(0),
    boundary_at: Cell::new(0),
    plain: Cell::new(0),
    skipped: Cell::new(0),
    deadline_next: Cell::new(u64::MAX),
    limit_next: Cell::new(0),
    steps_max: Cell::new(0),
    blocks: Cell::new(0),
    whole_calls: Cell::new(false),
    pending: UnsafeCell::new([Pending { address: 0, access: Access::None }; THREADS_MAX]),
    policy: UnsafeCell::new(None),
    wakes: UnsafeCell::new(None),
    callers: Cell::new(0),
    next_thread: Cell::new(0),
    blocking: Cell::new(0),
};

#[inline(always)]
pub fn current() -> usize {
    ENGINE.current.get()
}

/// The number of the step under way.
pub fn step() -> u64 {
    SHARED.step.get()
}

/// Virtual nanoseconds since the round began.
pub fn now() -> u64 {
    SHARED.step.get() * STEP_NANOSECONDS + ENGINE.skipped.get()
}

/// How many threads call; the next one creates, drains and destroys.
pub fn callers() -> usize {
    ENGINE.callers.get()
}

/// Whether a thread has ended.
pub fn has_ended(thread: usize) -> bool {
    ENGINE.threads[thread].status.get() == Status::None
}
