//! The native engine: operating-system threads, bound to processors, started together. Under rr,
//! which runs one thread at a time, they sleep where they would otherwise spin.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::JoinHandle;

use crossbeam_utils::{Backoff, CachePadded};
use interlap::core::operation::Op;
use interlap::core::random::mix;
use interlap::trace::area::Stage;
use interlap::trace::records::size_max;

use crate::callers;
use crate::clock::Clock;
use crate::disturb::Disturber;
use crate::drain::{Known, drain, surplus};
use crate::fault;
use crate::library::{Local, Role, Structure, Target, abi};
use crate::parts::{self, Parts};
use crate::pipe::Pipe;
use crate::prepared::Prepared;
use crate::record::Area;
use crate::timebox::{Outcome, Timebox};
use crate::workload::{Caller, Shape, adds};

/// Calls in a row that a target may answer "unsupported" before a thread gives up.
const UNSUPPORTED_MAX: u64 = 10_000;

/// What all threads of a round share.
struct Round<'a> {
    target: &'a Target,
    structure: &'a Structure<'a>,
    area: &'a Area,
    shape: &'a Shape<'a>,
    clock: Clock,
    start: Start,
    /// How many values were passed to operations that add: bounds the calls of a drain.
    added: AtomicU64,
    /// How many values are inside, where the drain is to know.
    inside: AtomicI64,
    /// Held during each call of a sequential round.
    turn: Mutex<()>,
    /// In a long round.
    parts: Option<Parts<'a>>,
}

/// A round that came to its end.
pub struct Done {
    /// The structure was emptied.
    pub drained: bool,
    /// The round's beginning was sent already.
    pub in_parts: bool,
}

/// Where threads wait for each other before their first calls.
enum Start {
    /// How many are ready. They spin, so that all start at the same moment.
    Spin(CachePadded<AtomicU32>),
    /// Under rr: a thread that spins there does so to the end of its time slice.
    Sleep(Barrier),
}

/// Memory for the records of a drain in a long round, which sends them in parts.
const DRAIN_BYTES_MAX: usize = 8 << 20;

/// Runs one round; an error is the adapter's. All but the last part of a long round are sent
/// through `frames` and `pipe`.
pub fn run_round(
    target: &Target,
    area: &mut Area,
    pool: &mut Pool,
    shape: &Shape,
    setting: &Setting,
    (frames, pipe): (&mut Vec<u8>, &mut Pipe),
) -> Result<Done, String> {
    // Under rr, rounds are not sent in parts: nobody can use the recording of a long one.
    let calls = parts::calls_per_part(shape).filter(|_| !setting.recorded);
    area.begin(shape.round, shape.threads, record_bytes(shape, calls, &target.operations))
        .map_err(|error| format!("no memory for the records of a round: {error}"))?;
    crate::marker::interlap_round_begin(shape.round);
    area.set_stage(Stage::Create);
    let seed = mix(setting.seed ^ shape.round);
    let structure =
        target.create(setting.directory, (seed, shape.threads, shape.round as u32, false))?;
    area.set_stage(Stage::Calls);
    let round = Round {
        target,
        structure: &structure,
        area,
        shape,
        clock: setting.clock,
        start: match setting.recorded {
            true => Start::Sleep(Barrier::new(shape.threads as usize)),
            false => Start::Spin(CachePadded::new(AtomicU32::new(0))),
        },
        added: AtomicU64::new(0),
        inside: AtomicI64::new(0),
        turn: Mutex::new(()),
        parts: calls.map(|calls| Parts::new(shape, calls, &target.operations, frames, pipe)),
    };
    let disturb = |active| setting.disturber.inspect(|disturber| disturber.set_active(active));
    disturb(shape.disturbed);
    pool.run(shape.threads, shape.fresh, &|thread| run_thread(&round, thread));
    disturb(false);
    area.set_stage(Stage::Drain);
    let (drained, in_parts) = (drain_alone(&round), round.parts.is_some());
    area.set_stage(Stage::Destroy);
    drop(structure);
    Ok(Done { drained, in_parts })
}

/// Bytes that one thread's records may take, in a round with parts of so many calls or without.
fn record_bytes(shape: &Shape, part: Option<u64>, operations: &[(Op, Role)]) -> usize {
    let room = (abi::IL_RESULT_ROOM as usize).max(shape.values_per_call());
    let over = part.map_or(0, |_| parts::calls_over(operations, shape));
    let calls = (part.unwrap_or(shape.calls) + over) as usize;
    let bytes = calls * size_max(shape.values_per_call()) + size_max(2 * room);
    let values = shape.calls as usize * shape.values_per_call() * shape.threads as usize;
    let drain_bytes = (values + surplus(shape) as usize) * size_max(1) + size_max(2 * room);
    let drain_max = if part.is_some() { DRAIN_BYTES_MAX } else { usize::MAX };
    bytes.max(drain_bytes.min(drain_max))
}

/// What stays the same from round to round.
pub struct Setting<'a> {
    pub seed: u64,
    pub clock: Clock,
    pub directory: &'a Path,
    pub disturber: Option<&'a Disturber>,
    /// The process runs under rr.
    pub recorded: bool,
}

impl Round<'_> {
    fn timebox(&self, thread: u32) -> Timebox<'_> {
        // SAFETY: each thread of the round takes its own memory, once; the drain takes that of
        // thread `threads`, which no caller has.
        let bytes = unsafe { self.area.thread_bytes(thread) };
        let bulk = self.shape.values_per_call() as u64;
        Timebox::new(self.clock, thread, bulk, bytes, self.area.recorded(thread))
    }

    /// Lets one call happen at a time. The unused stamp keeps the processor from reading the next
    /// box's opening stamp before the turn is taken, which would make boxes overlap.
    fn take_turn(&self) -> impl Drop + '_ {
        let turn = self.turn.lock().expect("no thread panics holding it");
        self.clock.close();
        turn
    }

    /// Waits until every thread is ready. Spinning threads yield after a while, because there may
    /// be fewer processors.
    fn wait_for_all(&self) {
        match &self.start {
            Start::Spin(ready) => {
                ready.fetch_add(1, Ordering::AcqRel);
                let backoff = Backoff::new();
                while ready.load(Ordering::Acquire) < self.shape.threads {
                    backoff.snooze();
                }
            }
            Start::Sleep(barrier) => {
                barrier.wait();
            }
        }
    }
}

fn run_thread(round: &Round, thread: u32) {
    fault::set_thread(thread);
    let mut caller = Caller::new(round.shape, thread);
    let mut timebox = round.timebox(thread);
    let free = round.shape.block.filter(|_| round.parts.is_none());
    let free = free.map(|most| (most, Prepared::draw(&mut caller, round.shape.calls)));
    let _caller = callers::Caller::enter(thread);
    let local = round.area.at_edge(thread, || round.structure.enter(thread));
    let delay = caller.start_delay(round.shape);
    round.wait_for_all();
    pause(delay);
    match free {
        Some((most, calls)) => run_free(round, &calls, most, &mut timebox, &local),
        None => run_boxed(round, thread, &mut caller, &mut timebox, &local),
    }
    round.area.at_edge(thread, || drop(local));
}

/// Makes the calls of a thread, each in a timebox of its own.
fn run_boxed(
    round: &Round,
    thread: u32,
    caller: &mut Caller,
    timebox: &mut Timebox,
    local: &Local,
) {
    let mut args = Vec::with_capacity(round.shape.values_per_call().max(3));
    let all = round.shape.calls;
    let part = round.parts.as_ref().map_or(all, |parts| parts.calls);
    let mut share = Share { made: 0, unsupported: 0, added: 0, inside: 0, over: caller.is_idle() };
    let mut end = 0;
    while end < all {
        end = all.min(end + part);
        share.call_until(end, round, caller, timebox, local, &mut args);
        round.added.fetch_add(std::mem::take(&mut share.added), Ordering::Relaxed);
        round.inside.fetch_add(std::mem::take(&mut share.inside), Ordering::Relaxed);
        if let Some(parts) = round.parts.as_ref().filter(|_| end < all) {
            let empty = || _ = drain_all(round, local, timebox);
            parts.meet(thread, round.area, &round.added, empty);
            timebox.rewind();
        }
    }
}

/// How far a thread is with its share of a round.
struct Share {
    made: u64,
    /// Calls in a row that the target did not support.
    unsupported: u64,
    added: u64,
    /// What it changed the number of values inside by, where the drain is to know.
    inside: i64,
    /// There is nothing more to do.
    over: bool,
}

impl Share {
    /// Makes calls up to the number `end`; where the round has more, up to the end of a
    /// transaction.
    #[inline]
    fn call_until(
        &mut self,
        end: u64,
        round: &Round,
        caller: &mut Caller,
        timebox: &mut Timebox,
        local: &Local,
        args: &mut Vec<i64>,
    ) {
        let all = round.shape.calls;
        while !self.over && (self.made < end || self.made < all && caller.is_in_transaction()) {
            let Some(op) = caller.next(args) else {
                self.over = true;
                break;
            };
            pause(caller.pause());
            let turn = round.shape.sequential.then(|| round.take_turn());
            let outcome = timebox.perform(round.target, round.structure, local, op, args);
            drop(turn);
            match outcome {
                Outcome::Recorded(status) => {
                    caller.observe(op, args, status, timebox.results());
                    if round.shape.empty_says_nothing {
                        self.inside += timebox.growth(op, args, outcome);
                    }
                    (self.made, self.unsupported) = (self.made + 1, 0);
                }
                Outcome::Unsupported => {
                    caller.withdraw();
                    self.unsupported += 1;
                    self.over = self.unsupported == UNSUPPORTED_MAX;
                }
                Outcome::NoRoom => self.over = true,
            }
            self.added += if adds(op) { args.len() as u64 } else { 0 };
        }
    }
}

/// Makes the calls of a thread that runs free, in blocks of so many.
fn run_free(round: &Round, calls: &Prepared, most: u64, timebox: &mut Timebox, local: &Local) {
    let (target, structure) = (round.target, round.structure);
    let (mut inside, results) = (0, round.shape.values_per_call());
    for block in calls.blocks(most) {
        inside += match block.single() {
            Some((op, args)) => {
                let outcome = timebox.perform(target, structure, local, op, args);
                timebox.growth(op, args, outcome)
            }
            None => timebox.perform_block(target, structure, local, block, results),
        };
    }
    round.added.fetch_add(calls.added(), Ordering::Relaxed);
    round.inside.fetch_add(inside, Ordering::Relaxed);
}

#[inline]
fn pause(turns: u64) {
    for _ in 0..turns {
        std::hint::spin_loop();
    }
}

/// Drains the structure at the end of the round; whether it was emptied.
fn drain_alone(round: &Round) -> bool {
    let thread = round.shape.threads;
    fault::set_thread(thread);
    let local = round.structure.enter(thread);
    drain_all(round, &local, &mut round.timebox(thread))
}

/// Drains the structure while no other thread calls it.
fn drain_all(round: &Round, local: &Local, timebox: &mut Timebox) -> bool {
    let mut call = |op, args: &[i64]| {
        if let Some(parts) = round.parts.as_ref().filter(|_| !timebox.has_room(args.len())) {
            parts.send(round.area, Stage::Drain);
            timebox.rewind();
        }
        let outcome = timebox.perform(round.target, round.structure, local, op, args);
        let growth = timebox.growth(op, args, outcome);
        round.inside.fetch_add(growth, Ordering::Relaxed);
        (outcome, growth)
    };
    let known = Known {
        added: round.added.load(Ordering::Relaxed),
        inside: round.inside.load(Ordering::Relaxed),
        // A thread that waits for ever hangs.
        may_wait: false,
    };
    drain(&round.target.operations, round.shape, known, &mut call)
}

/// A thread's share of a round, on its way to a pooled thread.
struct Task {
    share: &'static (dyn Fn(u32) + Sync),
    thread: u32,
    done: Sender<()>,
}

/// The threads that rounds run on: kept between rounds, or created for one round.
pub struct Pool {
    processors: Arc<Vec<usize>>,
    patience: Patience,
    kept: Vec<(Sender<Task>, JoinHandle<()>)>,
}

impl Pool {
    /// With `pin`, binds threads in turn to the processors that this process may use. `recorded` by
    /// rr, threads that wait sleep at once.
    pub fn new(pin: bool, recorded: bool) -> Pool {
        let set = rustix::thread::sched_getaffinity(None).ok();
        let allowed = |set: rustix::thread::CpuSet| {
            (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
        };
        let processors = set.filter(|_| pin).map(allowed).unwrap_or_default();
        let patience = if recorded { Patience::Sleep } else { Patience::Spin };
        Pool { processors: Arc::new(processors), patience, kept: Vec::new() }
    }

    /// Runs `share(0)` .. `share(threads - 1)`, each on a thread of its own, until all are done.
    fn run(&mut self, threads: u32, fresh: bool, share: &(dyn Fn(u32) + Sync)) {
        if fresh {
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let processors = Arc::clone(&self.processors);
                    let work = move || {
                        pin(&processors, thread);
                        share(thread);
                    };
                    builder(thread).spawn_scoped(scope, work).expect("room for a thread");
                }
            });
            return;
        }
        while self.kept.len() < threads as usize {
            self.add_thread();
        }
        // SAFETY: only the lifetime changes. This function returns after all tasks that hold
        // `share`: it waits for one message from each, sent after its last use. A panic aborts (see
        // main), so no task outlives a frame that unwinds.
        let share: &'static (dyn Fn(u32) + Sync) = unsafe { std::mem::transmute(share) };
        let (done, all_done) = channel();
        for (thread, (tasks, _)) in (0..threads).zip(&self.kept) {
            let task = Task { share, thread, done: done.clone() };
            tasks.send(task).expect("a pooled thread waits for tasks until the pool is dropped");
        }
        for _ in 0..threads {
            self.patience.receive(&all_done).expect("each task sends one message");
        }
    }

    fn add_thread(&mut self) {
        let (tasks, inbox) = channel::<Task>();
        let (processors, index) = (Arc::clone(&self.processors), self.kept.len() as u32);
        let patience = self.patience;
        let work = move || {
            pin(&processors, index);
            while let Some(task) = patience.receive(&inbox) {
                (task.share)(task.thread);
                let _ = task.done.send(());
            }
        };
        let handle = builder(index).spawn(work).expect("room for a thread");
        self.kept.push((tasks, handle));
    }
}

/// Threads with stacks as large as the C library's, not as Rust's. Debuggers show their names.
fn builder(thread: u32) -> std::thread::Builder {
    std::thread::Builder::new().name(format!("thread {thread}")).stack_size(8 << 20)
}

impl Drop for Pool {
    /// Ends the threads, so that the target's thread-exit code runs before the process ends.
    fn drop(&mut self) {
        for (tasks, handle) in self.kept.drain(..) {
            drop(tasks);
            let _ = handle.join();
        }
    }
}

/// How threads wait for messages.
#[derive(Clone, Copy)]
enum Patience {
    /// They spin before they sleep, because short rounds follow each other faster than a thread
    /// wakes up.
    Spin,
    Sleep,
}

impl Patience {
    /// The next message; none when all senders are gone.
    fn receive<T>(self, inbox: &Receiver<T>) -> Option<T> {
        let backoff = Backoff::new();
        while matches!(self, Patience::Spin) && !backoff.is_completed() {
            if let Ok(message) = inbox.try_recv() {
                return Some(message);
            }
            backoff.snooze();
        }
        inbox.recv().ok()
    }
}

fn pin(processors: &[usize], thread: u32) {
    if processors.is_empty() {
        return;
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(processors[thread as usize % processors.len()]);
    // Without this, the kernel chooses the processor, which is as correct.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
