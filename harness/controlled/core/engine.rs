//! The engine: one thread of the target runs at a time, and at each scheduling point a policy says
//! who is next. Hooks (`hooks`, `heap`, `environment`) come in with what a thread is about to do
//! and go out when it may; time is the number of the step. Where the points come from is their
//! business, how threads are switched the carrier's, who is next the policy's.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;

use interlap::random::Random;
pub use interlap::schedule::Access;
use interlap::schedule::{Pending, Policy, THREADS_MAX};

pub use super::recorder::recorded;
use super::switching::{choose, note_switch, switch, take_signals};
pub use super::waiting::{Wait, Woken, block, interrupt, join_key, wake};
use super::{pace, recorder, stop, waiting};
pub use crate::controlled::watch::backtrace::{Doing, around, doing, here, unhooked_here};

use crate::controlled::core::carrier::{self, Carrier, OUTSIDE};
use crate::controlled::interpose::environment::{self, sending};
use crate::controlled::interpose::hooks;
use crate::controlled::state::{buffers, heap};
use crate::controlled::watch::{coverage, detect};

/// Virtual time of one step, in nanoseconds.
pub(super) const STEP_NANOSECONDS: u64 = 1_000;

/// Steps in a row in which a thread changes nothing, after which it is taken to spin and lets
/// others go first; then again after so many.
pub(super) const IDLE_STEPS_MAX: u32 = 100;
const IDLE_STEPS_AGAIN: u32 = 20;

/// Steps of one call after which its thread lets others go first now and then, even if it changes
/// memory: what it waits for may be the work of a thread that the policy would never choose, and
/// then the loop is the schedule's fault, not the target's.
pub(super) const CALL_STEPS_MAX: u32 = 1_000;

/// Calls may take so many times the steps that count as a livelock until one returns, if they
/// change memory.
pub(super) const BUSY_FACTOR: u64 = 100;

/// Plain accesses of a round that are scheduling points, where they are: filling a table takes a
/// step for each, and nobody is to be accused of that.
const PLAIN_MAX: u64 = 1 << 20;

/// Blocks of memory that a thread which gets nowhere does not gain or lose on balance.
const BLOCKS_MIN: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controlled) enum State {
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

pub(in crate::controlled) struct Thread {
    pub(in crate::controlled) state: Cell<State>,
    pub(in crate::controlled) woken: Cell<Woken>,
    pub(in crate::controlled) start: Cell<Option<Start>>,
    pub(in crate::controlled) argument: Cell<*mut c_void>,
    /// Its first function has been entered.
    pub(in crate::controlled) begun: Cell<bool>,
    /// The target's own thread, as opposed to one that the harness calls it from.
    pub(in crate::controlled) of_target: Cell<bool>,
    /// Steps since it last changed memory.
    pub(in crate::controlled) idle: Cell<u32>,
    /// Steps since its last operation boundary.
    pub(in crate::controlled) call_steps: Cell<u32>,
    /// Calls of the structure it has begun.
    pub(in crate::controlled) calls: Cell<u32>,
    /// Operation boundaries it has come to.
    pub(in crate::controlled) boundaries: Cell<u32>,
    /// Code of its last scheduling point, while it does not run.
    pub(in crate::controlled) place: Cell<usize>,
}

pub(in crate::controlled) struct Engine {
    pub(in crate::controlled) carrier: Cell<Carrier>,
    pub(in crate::controlled) threads: [Thread; THREADS_MAX],
    pub(in crate::controlled) runnable: Cell<u64>,
    pub(in crate::controlled) blocked: Cell<u64>,
    pub(in crate::controlled) current: Cell<usize>,
    /// Code of the current thread's last scheduling point.
    pub(in crate::controlled) place: Cell<usize>,
    pub(in crate::controlled) step: Cell<u64>,
    pub(in crate::controlled) pace: pace::Pace,
    pub(in crate::controlled) switches: Cell<u64>,
    pub(in crate::controlled) schedule: Cell<u64>,
    /// Step of the last change of memory by any thread.
    pub(in crate::controlled) changed_at: Cell<u64>,
    /// Step of the last operation boundary of any thread.
    pub(in crate::controlled) boundary_at: Cell<u64>,
    /// Plain accesses that were scheduling points.
    pub(in crate::controlled) plain: Cell<u64>,
    /// What blocked threads skipped, in virtual nanoseconds.
    pub(in crate::controlled) skipped: Cell<u64>,
    pub(in crate::controlled) deadline_next: Cell<u64>,
    pub(in crate::controlled) steps_max: Cell<u64>,
    /// Live blocks of memory when it was last asked whether the target gets on.
    pub(in crate::controlled) blocks: Cell<u64>,
    /// Only operation boundaries are scheduling points: calls do not overlap. Signal handlers of
    /// the target are run like this, too.
    pub(in crate::controlled) whole_calls: Cell<bool>,
    pub(in crate::controlled) pending: UnsafeCell<[Pending; THREADS_MAX]>,
    pub(in crate::controlled) policy: UnsafeCell<Option<Policy>>,
    pub(in crate::controlled) wakes: UnsafeCell<Option<Random>>,
    /// Where callers end and the target's own threads begin.
    pub(in crate::controlled) callers: Cell<usize>,
    /// Every round starts with this many or more threads ended.
    pub(in crate::controlled) next_thread: Cell<usize>,
    pub(in crate::controlled) atomics: Cell<u64>,
    pub(in crate::controlled) blocking: Cell<u64>,
}

// SAFETY: used by the thread that runs under control, or by the one outside while none does: never
// by two at a time, and passed on with release and acquire where these are two real threads.
unsafe impl Sync for Engine {}

pub(in crate::controlled) static ENGINE: Engine = Engine {
    carrier: Cell::new(Carrier::Fiber),
    threads: [const {
        Thread {
            state: Cell::new(State::None),
            woken: Cell::new(Woken::Up),
            start: Cell::new(None),
            argument: Cell::new(std::ptr::null_mut()),
            begun: Cell::new(false),
            of_target: Cell::new(false),
            idle: Cell::new(0),
            call_steps: Cell::new(0),
            calls: Cell::new(0),
            boundaries: Cell::new(0),
            place: Cell::new(0),
        }
    }; THREADS_MAX],
    runnable: Cell::new(0),
    blocked: Cell::new(0),
    current: Cell::new(OUTSIDE),
    place: Cell::new(0),
    step: Cell::new(0),
    pace: pace::Pace::new(),
    switches: Cell::new(0),
    schedule: Cell::new(0),
    changed_at: Cell::new(0),
    boundary_at: Cell::new(0),
    plain: Cell::new(0),
    skipped: Cell::new(0),
    deadline_next: Cell::new(u64::MAX),
    steps_max: Cell::new(0),
    blocks: Cell::new(0),
    whole_calls: Cell::new(false),
    pending: UnsafeCell::new([Pending { address: 0, access: Access::None }; THREADS_MAX]),
    policy: UnsafeCell::new(None),
    wakes: UnsafeCell::new(None),
    callers: Cell::new(0),
    next_thread: Cell::new(0),
    atomics: Cell::new(0),
    blocking: Cell::new(0),
};

/// How a round is to be scheduled.
pub struct Order {
    pub policy: Policy,
    /// Of everything random that is not the policy's.
    pub seed: u64,
    /// Threads that call; the one with this number makes, drains and destroys the structure.
    pub callers: usize,
    pub steps_max: u64,
    pub whole_calls: bool,
    /// Whether the schedule is recorded.
    pub records: bool,
}

/// What a round came to.
pub struct Outcome {
    pub steps: u64,
    pub switches: u64,
    pub schedule: u64,
    pub atomics: u64,
    pub blocking: u64,
    /// Threads that the target started and that have not ended.
    pub left_running: usize,
}

pub fn set_carrier(carrier: Carrier) {
    ENGINE.carrier.set(carrier);
}

/// Carries out a round: the thread `order.callers` runs `main(argument)`, and whatever it starts.
pub fn run(order: Order, main: Start, argument: *mut c_void) -> std::io::Result<Outcome> {
    let e = &ENGINE;
    // The others were not used since this was last done for them.
    let used = e.next_thread.get();
    for thread in &e.threads[..used] {
        thread.state.set(State::None);
        thread.idle.set(0);
        thread.call_steps.set(0);
        thread.calls.set(0);
        thread.boundaries.set(0);
        thread.place.set(0);
    }
    for count in [&e.step, &e.switches, &e.schedule, &e.changed_at, &e.skipped, &e.plain] {
        count.set(0);
    }
    for count in [&e.atomics, &e.blocking, &e.runnable, &e.blocked] {
        count.set(0);
    }
    pace::settle();
    e.place.set(0);
    e.boundary_at.set(0);
    e.blocks.set(0);
    e.deadline_next.set(u64::MAX);
    e.steps_max.set(order.steps_max);
    e.whole_calls.set(order.whole_calls);
    e.callers.set(order.callers);
    e.next_thread.set(order.callers + 1);
    // SAFETY: outside of all rounds nobody else uses them.
    unsafe {
        *e.policy.get() = Some(order.policy);
        *e.wakes.get() = Some(Random::new(order.seed));
        let pending = &mut *e.pending.get();
        pending[..used].fill(Pending::default());
    }
    coverage::begin(order.seed);
    recorder::begin(order.records);
    stop::round_begins();
    begin(order.callers, main, argument, false)?;
    e.current.set(order.callers);
    e.carrier.get().switch(OUTSIDE, order.callers);
    Ok(Outcome {
        steps: e.step.get(),
        switches: e.switches.get(),
        schedule: e.schedule.get(),
        atomics: e.atomics.get(),
        blocking: e.blocking.get(),
        left_running: (e.runnable.get() | e.blocked.get()).count_ones() as usize,
    })
}

/// Readies a thread; it runs when it is chosen.
fn begin(
    thread: usize,
    start: Start,
    argument: *mut c_void,
    of_target: bool,
) -> std::io::Result<()> {
    let e = &ENGINE;
    let controls = hooks::set_controls(false);
    let prepared = e.carrier.get().prepare(thread);
    hooks::set_controls(controls);
    prepared?;
    let new = &e.threads[thread];
    new.start.set(Some(start));
    new.argument.set(argument);
    new.of_target.set(of_target);
    new.begun.set(false);
    new.state.set(State::Runnable);
    sending::thread_begins(thread);
    pace::settle();
    e.runnable.set(e.runnable.get() | 1 << thread);
    Ok(())
}

/// Starts the caller with this number.
pub fn start_caller(thread: usize, start: Start, argument: *mut c_void) -> std::io::Result<()> {
    begin(thread, start, argument, false)
}

/// Starts a thread of the target; none if there are too many, or no memory.
pub fn spawn(start: Start, argument: *mut c_void) -> Option<usize> {
    let e = &ENGINE;
    let next = e.next_thread.get();
    let ended = |thread: &usize| has_ended(*thread) && environment::threads::may_be_reused(*thread);
    // Threads that have ended serve again only when all others are taken: a descriptor that is
    // used too late then shows.
    let thread = match next < THREADS_MAX {
        true => next,
        false => (e.callers.get() + 1..THREADS_MAX).find(ended)?,
    };
    begin(thread, start, argument, true).ok()?;
    e.next_thread.set(next.max(thread + 1));
    Some(thread)
}

/// The life of a virtual thread, on its own stack.
pub fn run_thread() -> ! {
    let own = &ENGINE.threads[current()];
    own.begun.set(true);
    if sending::has_any(current()) {
        take_signals(current());
    }
    hooks::set_controls(own.of_target.get());
    let start = own.start.get().expect("a thread is begun with a function");
    start(own.argument.get());
    exit_thread()
}

/// Ends the running thread.
pub fn exit_thread() -> ! {
    let e = &ENGINE;
    let me = e.current.get();
    hooks::set_controls(true);
    environment::threads::thread_ends();
    hooks::set_controls(false);
    buffers::drain();
    pace::settle();
    e.threads[me].state.set(State::None);
    e.runnable.set(e.runnable.get() & !(1 << me));
    wake(join_key(me), usize::MAX);
    if me == e.callers.get() {
        e.current.set(OUTSIDE);
        e.carrier.get().leave(me, OUTSIDE);
    }
    let next = choose(false);
    note_switch(next);
    e.carrier.get().leave(me, next)
}

/// Whether a thread has ended.
pub fn has_ended(thread: usize) -> bool {
    ENGINE.threads[thread].state.get() == State::None
}

#[inline(always)]
pub fn current() -> usize {
    ENGINE.current.get()
}

#[inline(always)]
pub fn controls() -> bool {
    hooks::controls()
}

/// Ends the process: the target does what this engine cannot control.
pub fn cannot_control(what: &str) -> ! {
    hooks::set_controls(false);
    crate::record::abandon(format!("{} the target uses {what}", crate::controlled::CANNOT))
}

pub fn pthread(thread: usize) -> libc::pthread_t {
    carrier::pthread(thread)
}

pub fn thread_of(pthread: libc::pthread_t) -> Option<usize> {
    carrier::thread_of(pthread)
}

/// How many calls of the structure a thread has begun, and whether it is in the latest.
pub fn calls(thread: usize) -> (u32, bool) {
    let thread = &ENGINE.threads[thread];
    (thread.calls.get(), thread.boundaries.get() == thread.calls.get())
}

/// A stamp: later than all before it, stores included.
#[inline]
pub fn tick() -> u64 {
    buffers::drain_at_point();
    let step = pace::next_step();
    pace::tick();
    stop::look(step);
    step
}

/// The number of the step under way.
pub fn step() -> u64 {
    ENGINE.step.get()
}

/// Virtual nanoseconds since the round began.
pub fn now() -> u64 {
    ENGINE.step.get() * STEP_NANOSECONDS + ENGINE.skipped.get()
}

pub fn blocking_call() {
    ENGINE.blocking.set(ENGINE.blocking.get() + 1);
}

pub fn count_atomic(place: usize) {
    ENGINE.atomics.set(ENGINE.atomics.get() + 1);
    ENGINE.place.set(place);
}

/// Memory that others may wait for has changed.
pub fn changed() {
    hooks::take_changed();
    pace::changed();
    ENGINE.changed_at.set(ENGINE.step.get());
}

/// Lets no other thread run at scheduling points, or does again; gives what it was.
pub fn hold(whole: bool) -> bool {
    pace::settle();
    ENGINE.whole_calls.replace(whole)
}

/// Between two calls of the structure.
pub fn boundary() {
    changed();
    let own = &ENGINE.threads[current()];
    own.call_steps.set(0);
    own.boundaries.set(own.boundaries.get() + 1);
    ENGINE.boundary_at.set(ENGINE.step.get());
    if ENGINE.whole_calls.get() {
        pace::settle();
        let step = pace::next_step();
        return take_step(step, Pending::default(), false, true);
    }
    point(0, Access::None);
}

pub fn call_begins() {
    let calls = &ENGINE.threads[current()].calls;
    calls.set(calls.get() + 1);
}

pub fn call_ends() {
    // SAFETY: nobody else uses it now; see `Engine`.
    let policy = || unsafe { &mut *ENGINE.policy.get() }.as_mut();
    if policy().is_some_and(|policy| policy.heeds_operations()) {
        pace::settle();
        policy().into_iter().for_each(|policy| policy.operation_ended(current()));
    }
}

/// A scheduling point before an access.
#[inline(always)]
pub fn point(address: usize, access: Access) {
    let step = pace::next_step();
    let pending = || Pending { address: address as u64, access };
    if !pace::is_free(step) {
        take_step(step, pending(), false, false);
    } else if pace::asks_at_each() {
        ask(pending());
    }
}

/// A scheduling point before a plain access, unless there were very many. It is work, not waiting:
/// its step does not count towards a livelock.
pub fn plain_point(address: usize, access: Access) {
    let e = &ENGINE;
    if e.plain.get() == PLAIN_MAX {
        return;
    }
    for count in [&e.plain, &e.changed_at, &e.boundary_at] {
        count.set(count.get() + 1);
    }
    point(address, access);
}

/// A scheduling point at which the others go first.
pub fn yield_now() {
    let step = pace::next_step();
    take_step(step, Pending::default(), true, false);
}

fn take_step(step: u64, pending: Pending, mut yields: bool, between_calls: bool) {
    let e = &ENGINE;
    pace::settle();
    stop::look(step);
    let me = e.current.get();
    let own = &e.threads[me];
    if hooks::take_changed() {
        own.idle.set(0);
        e.changed_at.set(step);
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
        // Stores leave sooner than anybody has waited.
        buffers::drain_all();
    }
    // A signal handler may have taken later steps since this one was counted.
    let idle_steps = step.saturating_sub(e.changed_at.get());
    let busy_steps = step.saturating_sub(e.boundary_at.get());
    if (idle_steps > e.steps_max.get() || busy_steps > e.steps_max.get() * BUSY_FACTOR)
        && !gets_on(step, idle_steps.max(busy_steps))
    {
        detect::livelock(step);
    }
    if now() >= e.deadline_next.get() {
        waiting::expire();
    }
    // SAFETY: nobody else uses it now; see `Engine`.
    unsafe { (*e.pending.get())[me] = pending };
    let holds = e.whole_calls.get() && !between_calls && !yields;
    if e.runnable.get() != 1 << me && !holds {
        let next = choose(yields);
        if next != me {
            if !yields {
                stop::preempted(me, next);
            }
            switch(me, next);
        }
    }
    pace::grant();
}

/// Whether what looks like a livelock is none: blocks were allocated or freed on balance, as where
/// a large table is filled before anybody sees it; or who creates, drains or destroys has no other
/// thread to wait for, and takes its time.
#[cold]
fn gets_on(step: u64, since: u64) -> bool {
    let e = &ENGINE;
    let blocks = heap::live().0;
    if e.blocks.replace(blocks).abs_diff(blocks) >= BLOCKS_MIN {
        e.changed_at.set(step);
        e.boundary_at.set(step);
        return true;
    }
    e.current.get() == e.callers.get() && since <= e.steps_max.get() * BUSY_FACTOR
}

/// A point at which nothing but the policy is to be asked.
#[inline]
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
        stop::preempted(me, next);
        switch(me, next);
        pace::grant();
    }
}

/// Whether a thread whose call takes long lets others go first now: at random, because threads that
/// try, fail and undo in turn could stay in step for ever if all turns were equally long.
#[cold]
fn gives_way() -> bool {
    // SAFETY: nobody else uses it now; see `Engine`.
    let random = unsafe { &mut *ENGINE.wakes.get() };
    random.as_mut().is_some_and(|random| random.one_in(IDLE_STEPS_AGAIN.into()))
}

/// What the round has counted so far.
pub fn counted() -> Outcome {
    let e = &ENGINE;
    Outcome {
        steps: e.step.get(),
        switches: e.switches.get(),
        schedule: e.schedule.get(),
        atomics: e.atomics.get(),
        blocking: e.blocking.get(),
        left_running: 0,
    }
}

/// Which threads call; the next makes, drains and destroys.
pub fn callers() -> usize {
    ENGINE.callers.get()
}
