//! One round under control: a virtual thread creates the structure, starts the callers, waits for
//! them, drains and destroys. As in `crate::native`, but with virtual threads.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::path::Path;

use interlap::core::operation::Op;
use interlap::core::sequential_runs::ClientCall;
use interlap::trace::area::Stage;
use interlap::trace::records::size_max;
use smallvec::SmallVec;

use super::turns::{Order, Turn, Turns};
use crate::clock::Clock;
use crate::controlled::accesses;
use crate::controlled::core::access::Synchronizes;
use crate::controlled::core::engine::{self, RoundSettings, Wait};
use crate::controlled::core::waiting;
use crate::controlled::state::heap;
use crate::drain::{Known, drain, surplus};
use crate::fault;
use crate::library::{Structure, Target, abi};
use crate::record::Area;
use crate::timebox::{Outcome, Timebox};
use crate::workload::{Caller, Shape, adds};

/// Calls in a row that a target may answer "unsupported" before a thread gives up.
const UNSUPPORTED_MAX: u64 = 1_000;
/// The same of methods, which throw an exception for that.
const SKIPPED_MAX: u64 = 16;
/// Why calls of any thread cannot be asked for.
const OF_THREADS: &str = "consistency=quiescent and quasi let a thread's calls take effect in any \
                          order: they are not for a class with state of each thread (Local). Use \
                          consistency=sequential, or none";
/// More arguments than most calls have.
const ARGS_INLINE: usize = 16;

/// What differs between rounds of the same calls.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub directory: &'a Path,
    /// What `il_config.round` is to be.
    pub number: u32,
    /// Where the calls are made one at a time.
    pub order: Order<'a>,
    /// Calls that wait for ever end the round, and are no fault.
    pub may_wait: bool,
    /// Any thread may make any call.
    pub any_thread: bool,
    /// Bytes that are taken from the heap first, so that addresses are others, also in their order.
    pub heap_first: usize,
}

/// What all threads of a round share.
struct Round<'a> {
    target: &'a Target,
    area: &'a Area,
    shape: &'a Shape<'a>,
    run: Run<'a>,
    seed: u64,
    structure: Cell<*const Structure<'a>>,
    added: Cell<u64>,
    /// How many values are inside.
    inside: Cell<i64>,
    drained: Cell<bool>,
    problem: Cell<Option<String>>,
    turns: Turns<'a>,
    /// What each caller uses, on its stack; null before and after that.
    seats: Vec<Cell<*mut Seat<'a>>>,
    waits: Cell<bool>,
    effects: RefCell<Vec<Effect>>,
}

/// When a call that returned is likely to have taken effect: in a step.
pub type Effect = (u64, ClientCall);

/// What a caller uses for its calls: all that is freed if it never returns.
struct Seat<'a> {
    caller: Caller<'a>,
    timebox: Timebox<'a>,
    args: Vec<i64>,
    /// The arguments of the call, on the stack, whose accesses are not scheduling points.
    own: SmallVec<[i64; ARGS_INLINE]>,
}

/// A round that came to its end.
pub struct Done {
    pub drained: bool,
    /// Calls wait for ever: the structure is as they left it.
    pub waits: bool,
    /// Where the calls were made in an order.
    pub turns: Vec<Turn>,
    /// Of the calls that returned, where methods may wait.
    pub effects: Vec<Effect>,
    pub counted: engine::Counts,
}

/// Carries out one round.
pub fn run(
    target: &Target,
    area: &mut Area,
    shape: &Shape,
    run: Run,
    settings: RoundSettings,
) -> Result<Done, String> {
    let room = (abi::IL_RESULT_ROOM as usize).max(shape.values_per_call());
    let bytes = shape.calls as usize * size_max(shape.values_per_call()) + size_max(2 * room);
    let values = shape.calls as usize * shape.values_per_call() * shape.threads as usize;
    let drain_bytes = (values + surplus(shape) as usize) * size_max(1) + size_max(2 * room);
    area.begin(shape.round, shape.threads, bytes.max(drain_bytes))
        .map_err(|error| format!("no memory for the records of a round: {error}"))?;
    let round = Round {
        target,
        area,
        shape,
        run,
        seed: settings.seed,
        structure: Cell::new(std::ptr::null()),
        added: Cell::new(0),
        inside: Cell::new(0),
        drained: Cell::new(false),
        problem: Cell::new(None),
        turns: Turns::new(run.order, shape.threads),
        seats: (0..shape.threads).map(|_| Cell::new(std::ptr::null_mut())).collect(),
        waits: Cell::new(false),
        effects: RefCell::default(),
    };
    let argument = (&raw const round).cast_mut().cast();
    let counted = engine::run(settings, main_thread, argument)
        .map_err(|error| format!("cannot control: no thread: {error}"))?;
    match round.problem.take() {
        Some(problem) => Err(problem),
        None => {
            let (drained, waits) = (round.drained.get(), round.waits.get());
            let (turns, effects) = (round.turns.take(), round.effects.take());
            Ok(Done { drained, waits, turns, effects, counted })
        }
    }
}

extern "C-unwind" fn main_thread(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `run` passes its Round, which lives until the round has ended.
    let round = unsafe { &*argument.cast::<Round>() };
    if let Err(problem) = round.carry_out(argument) {
        round.problem.set(Some(problem));
    }
    std::ptr::null_mut()
}

extern "C-unwind" fn caller_thread(argument: *mut c_void) -> *mut c_void {
    // SAFETY: as above; callers end before the round does.
    let round = unsafe { &*argument.cast::<Round>() };
    // SAFETY: set before the callers start, and the structure outlives them.
    let structure = unsafe { &*round.structure.get() };
    round.call(structure, engine::current() as u32);
    std::ptr::null_mut()
}

impl<'a> Round<'a> {
    fn carry_out(&'a self, argument: *mut c_void) -> Result<(), String> {
        let (shape, threads) = (self.shape, self.shape.threads);
        fault::set_thread(threads);
        self.enter_stage(Stage::Create);
        if self.run.heap_first > 0 {
            heap::allocate(self.run.heap_first, 16, 0);
            heap::turn_around();
        }
        let config = (self.seed, threads, self.run.number, shape.of_model());
        let structure = self.target.create(self.run.directory, config)?;
        self.structure.set((&raw const structure).cast());
        self.enter_stage(Stage::Calls);
        for thread in 0..threads as usize {
            accesses::synchronizes(Synchronizes::Starts, thread);
            engine::start_caller(thread, caller_thread, argument)
                .map_err(|error| format!("cannot control: no thread: {error}"))?;
        }
        waiting::watch(self.run.may_wait);
        if self.run.order.is_given() {
            self.turns.give();
        }
        if !self.join_callers() {
            self.give_up_callers();
            // Calls are inside it, so it cannot be destroyed. Its memory is the round's.
            std::mem::forget(structure);
            self.area.set_stage(Stage::Idle);
            return Ok(());
        }
        waiting::watch(false);
        let callers = 0..threads as usize;
        callers.for_each(|caller| accesses::synchronizes(Synchronizes::Joins, caller));
        self.enter_stage(Stage::Drain);
        if shape.drains {
            self.drain(&structure);
        }
        self.enter_stage(Stage::Destroy);
        drop(structure);
        self.area.set_stage(Stage::Idle);
        Ok(())
    }

    /// Waits for the callers. Whether they have ended: otherwise none of them can go on.
    fn join_callers(&self) -> bool {
        for thread in 0..self.shape.threads as usize {
            while !engine::has_ended(thread) {
                engine::block(engine::join_key(thread), Wait::Join, None);
                if waiting::take_stuck() {
                    return false;
                }
            }
        }
        true
    }

    fn give_up_callers(&self) {
        waiting::give_up_others();
        self.waits.set(true);
        for thread in 0..self.shape.threads {
            self.leave_seat(thread);
        }
    }

    /// Frees what a caller used, if it has not done so.
    fn leave_seat(&self, thread: u32) {
        let seat = self.seats[thread as usize].replace(std::ptr::null_mut());
        if !seat.is_null() {
            // SAFETY: made in `call`, on the stack of the caller, which has made its last call or
            // never runs again; its stack is used again only in the next round.
            unsafe { seat.drop_in_place() };
        }
    }

    fn enter_stage(&self, stage: Stage) {
        self.area.set_stage(if self.shape.of_model() { Stage::Model } else { stage });
    }

    fn timebox(&self, thread: u32) -> Timebox<'_> {
        // SAFETY: each thread of the round takes its own memory, once; the drain takes that of
        // thread `threads`, which no caller has.
        let bytes = unsafe { self.area.thread_bytes(thread) };
        let bulk = self.shape.values_per_call() as u64;
        Timebox::new(Clock::Steps, thread, bulk, bytes, self.area.recorded(thread))
    }

    /// The calls of one thread.
    fn call(&self, structure: &Structure, thread: u32) {
        fault::set_thread(thread);
        let mut seat = MaybeUninit::uninit();
        let seat: *mut Seat = seat.write(self.seat(thread));
        self.seats[thread as usize].set(seat.cast());
        // SAFETY: written above. Others use it only after `leave_seat`, or when this thread does
        // not run any more.
        let Seat { caller, timebox, args, own } = unsafe { &mut *seat };
        let local = self.turns.enter(thread, || structure.enter(thread));
        let is_refused = self.run.any_thread && !local.pointer().is_null();
        if is_refused {
            self.problem.set(Some(OF_THREADS.to_string()));
        }
        let calls = if caller.is_idle() || is_refused { 0 } else { self.shape.calls };
        let (mut made, mut unsupported) = (0, 0);
        let throws = self.shape.offers_methods();
        let unsupported_max = if throws { SKIPPED_MAX } else { UNSUPPORTED_MAX };
        while made < calls && unsupported < unsupported_max {
            let Some(left_out) = self.turns.begin(thread) else { break };
            for _ in 0..left_out {
                caller.next(args);
            }
            let Some(op) = caller.next(args) else { break };
            own.clear();
            own.extend_from_slice(args);
            let outcome = loop {
                timebox.expect(caller.answer());
                engine::boundary();
                let outcome = timebox.perform(self.target, structure, &local, op, own);
                // A model that does nothing, and does not wait, says that the answer is wrong.
                let is_wrong = self.shape.of_model() && !timebox.waits();
                if outcome != Outcome::Unsupported || !self.turns.refused(thread, is_wrong) {
                    break outcome;
                }
            };
            match outcome {
                Outcome::Recorded(status) => {
                    self.note_effect(ClientCall { client: thread, index: made as u32, choice: 0 });
                    caller.observe(op, args, status, timebox.results());
                    (made, unsupported) = (made + 1, 0);
                    self.count_added(op, args);
                    self.inside.set(self.inside.get() + timebox.growth(op, args, outcome));
                    self.turns.end();
                }
                Outcome::Unsupported => {
                    caller.withdraw();
                    unsupported += 1;
                }
                Outcome::NoRoom => break,
            }
        }
        engine::boundary();
        drop(local);
        self.leave_seat(thread);
    }

    /// The running thread has just made this call.
    fn note_effect(&self, call: ClientCall) {
        if self.run.may_wait && !self.run.order.is_given() {
            self.effects.borrow_mut().push((engine::effect_at(), call));
        }
    }

    fn seat(&self, thread: u32) -> Seat<'_> {
        Seat {
            caller: Caller::new(self.shape, thread),
            timebox: self.timebox(thread),
            args: Vec::with_capacity(self.shape.values_per_call().max(3)),
            own: SmallVec::new(),
        }
    }

    fn count_added(&self, op: Op, args: &[i64]) {
        let added = if adds(op) { args.len() as u64 } else { 0 };
        self.added.set(self.added.get() + added);
    }

    fn drain(&self, structure: &Structure) {
        let thread = self.shape.threads;
        let local = structure.enter(thread);
        let mut timebox = self.timebox(thread);
        let mut call = |op, args: &[i64]| {
            let outcome = timebox.perform(self.target, structure, &local, op, args);
            (outcome, timebox.growth(op, args, outcome))
        };
        let known = Known {
            added: self.added.get(),
            inside: self.inside.get(),
            may_wait: self.target.lists_methods,
        };
        let drained = drain(&self.target.operations, self.shape, known, &mut call);
        self.drained.set(drained);
    }
}
