//! One round under control: a virtual thread creates the structure, starts the callers, waits for
//! them, drains and destroys. As in `crate::native`, but with virtual threads.

use std::cell::Cell;
use std::ffi::c_void;
use std::path::Path;

use interlap::core::operation::Op;
use interlap::trace::area::Stage;
use interlap::trace::records::size_max;
use smallvec::SmallVec;

use crate::clock::Clock;
use crate::controlled::core::engine::{self, RoundSettings, Wait};
use crate::drain::{drain, surplus};
use crate::fault;
use crate::library::{Structure, Target, abi};
use crate::record::Area;
use crate::timebox::{Outcome, Timebox};
use crate::workload::{Caller, Shape, adds};

/// Calls in a row that a target may answer "unsupported" before a thread gives up.
const UNSUPPORTED_MAX: u64 = 1_000;
/// The same of methods, which throw an exception for that.
const SKIPPED_MAX: u64 = 16;
/// More arguments than most calls have.
const ARGS_INLINE: usize = 16;

/// What all threads of a round share.
struct Round<'a> {
    target: &'a Target,
    area: &'a Area,
    shape: &'a Shape<'a>,
    directory: &'a Path,
    number: u32,
    seed: u64,
    structure: Cell<*const Structure<'a>>,
    added: Cell<u64>,
    /// How many values are inside.
    inside: Cell<i64>,
    drained: Cell<bool>,
    problem: Cell<Option<String>>,
    /// How many calls of the scenario's order are over.
    turns: Cell<usize>,
    /// The one that was not made, if any: the target refused it, or there was no room.
    refused: Cell<Option<usize>>,
}

/// A round that came to its end.
pub struct Done {
    pub drained: bool,
    /// The place in the scenario's order of a call that was not made; none after it was.
    pub refused: Option<usize>,
    pub counted: engine::Counts,
}

/// Carries out one round. `structure` is what `il_config.round` is to be.
pub fn run(
    target: &Target,
    area: &mut Area,
    shape: &Shape,
    (directory, structure): (&Path, u32),
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
        directory,
        number: structure,
        seed: settings.seed,
        structure: Cell::new(std::ptr::null()),
        added: Cell::new(0),
        inside: Cell::new(0),
        drained: Cell::new(false),
        problem: Cell::new(None),
        turns: Cell::new(0),
        refused: Cell::new(None),
    };
    let argument = (&raw const round).cast_mut().cast();
    let counted = engine::run(settings, main_thread, argument)
        .map_err(|error| format!("cannot control: no thread: {error}"))?;
    match round.problem.take() {
        Some(problem) => Err(problem),
        None => {
            let (drained, refused) = (round.drained.get(), round.refused.get());
            Ok(Done { drained, refused, counted })
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
        let config = (self.seed, threads, self.number, shape.of_model());
        let structure = self.target.create(self.directory, config)?;
        self.structure.set((&raw const structure).cast());
        self.enter_stage(Stage::Calls);
        for thread in 0..threads as usize {
            engine::start_caller(thread, caller_thread, argument)
                .map_err(|error| format!("cannot control: no thread: {error}"))?;
        }
        for thread in 0..threads as usize {
            while !engine::has_ended(thread) {
                engine::block(engine::join_key(thread), Wait::Join, None);
            }
        }
        self.enter_stage(Stage::Drain);
        if shape.drains {
            self.drain(&structure);
        }
        self.enter_stage(Stage::Destroy);
        drop(structure);
        self.area.set_stage(Stage::Idle);
        Ok(())
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
        let mut caller = Caller::new(self.shape, thread);
        let mut timebox = self.timebox(thread);
        let mut args = Vec::with_capacity(self.shape.values_per_call().max(3));
        let local = structure.enter(thread);
        let calls = if caller.is_idle() { 0 } else { self.shape.calls };
        let (mut made, mut unsupported) = (0, 0);
        let throws = self.shape.offers_methods();
        let unsupported_max = if throws { SKIPPED_MAX } else { UNSUPPORTED_MAX };
        while made < calls && unsupported < unsupported_max {
            let Some(op) = caller.next(&mut args) else { break };
            // On the stack, whose accesses are not scheduling points.
            let own: SmallVec<[i64; ARGS_INLINE]> = args.as_slice().into();
            if !self.await_turn(thread) {
                break;
            }
            timebox.expect(caller.answer());
            engine::boundary();
            let outcome = timebox.perform(self.target, structure, &local, op, &own);
            match outcome {
                Outcome::Recorded(status) => {
                    caller.observe(op, &args, status, timebox.results());
                    (made, unsupported) = (made + 1, 0);
                    self.count_added(op, &args);
                    self.inside.set(self.inside.get() + timebox.growth(op, &args, outcome));
                }
                Outcome::Unsupported => {
                    caller.withdraw();
                    unsupported += 1;
                }
                Outcome::NoRoom => {
                    self.end_turn(false);
                    break;
                }
            }
            self.end_turn(outcome != Outcome::Unsupported);
        }
        engine::boundary();
    }

    /// Waits until the thread is the next in the scenario's order, if it has one. Returns whether
    /// it goes on: not after a call that was not made.
    fn await_turn(&self, thread: u32) -> bool {
        let order = self.shape.order();
        while self.refused.get().is_none() {
            match order.get(self.turns.get()) {
                Some(next) if *next != thread => {
                    engine::block(self.turns.as_ptr() as usize, Wait::Other, None);
                }
                _ => return true,
            }
        }
        false
    }

    fn end_turn(&self, is_made: bool) {
        if self.shape.order().is_empty() {
            return;
        }
        if !is_made {
            self.refused.set(Some(self.turns.get()));
        }
        self.turns.set(self.turns.get() + 1);
        engine::wake(self.turns.as_ptr() as usize, usize::MAX);
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
        let (operations, added) = (&self.target.operations, self.added.get());
        let values = (added, self.inside.get());
        self.drained.set(drain(operations, self.shape, values, &mut call));
    }
}
