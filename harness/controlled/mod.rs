//! The controlled engine: every schedule a function of its seed. One thread of the target runs at a
//! time; the target is compiled with `-fsanitize=thread`, whose calls come to us instead of to a
//! race detector, and libraries' calls of locks, threads, memory and time come to us because this
//! program defines them.
//!
//! A job comes in; rounds go out, through the record area's outbox. `engine` decides, `carrier`
//! switches, `hooks`, `heap` and `environment` are where the target comes in.

mod core;
mod interpose;
mod job;
mod state;
mod watch;

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interlap::plan::{Heap, Job, MemoryModel, PlainPoints, Plan};
use interlap::random::{Random, mix};
use interlap::schedule::{Outlook, Policy, Spec};
use interlap::trace::area::Stage;
use interlap::trace::frame::{Bye, Frame, RoundEnd, RoundStart, Steps};

use self::core::carrier::Carrier;
pub use self::core::engine;
use self::core::engine::Order;
use self::core::layout;
use crate::library::Target;
use crate::record::{Area, Pipe};
use crate::scenario;
use crate::workload::Shape;
use interpose::{environment, gate, hooks};
use job::round;
use state::buffers::Delay;
pub use state::growth;
use state::{buffers, globals_snapshot, heap, leaks};
use watch::{coverage, detect, libraries, trail, watchdog};

/// How a target says that this engine is not for it. The main program knows the words.
pub const CANNOT: &str = "cannot control:";

/// More than enough to look up where a thread stands, and to write what a round counted.
const SIGNAL_STACK_BYTES: usize = 512 << 10;

/// Parts of a round's seed.
const OF_POLICY: u64 = 1 << 40;
const OF_HEAP: u64 = OF_POLICY + 1;
const OF_WAKES: u64 = OF_POLICY + 2;
const OF_PLAIN: u64 = OF_POLICY + 3;
const OF_MEMORY: u64 = OF_POLICY + 4;

/// The round under way, for reports of faults.
static ROUND: AtomicU64 = AtomicU64::new(0);
static POLICY: Mutex<Option<Spec>> = Mutex::new(None);

fn round() -> u64 {
    ROUND.load(Ordering::Relaxed)
}

fn policy_name() -> String {
    let policy = POLICY.lock().expect("no thread panics holding it");
    policy.as_ref().map(Spec::name).unwrap_or_default()
}

/// Leaves control, for good: what follows is ours.
pub fn release() {
    hooks::set_controls(false);
}

/// Whether a thread with this stack pointer is under control and has used all of its stack.
pub fn is_stack_used_up(stack_pointer: u64) -> bool {
    layout::is_used_up(stack_pointer as usize)
}

/// The target is about to end the process, by this signal or 0, for what it did to this address or
/// 0: says what the round came to so far. Gives the place in the target's code, if it is known
/// better than by where the signal came. To be called by who runs, and only once.
///
/// A signal handler may call this: while the target is under control, no code of ours is
/// interrupted, so nothing that is needed here is in disorder but for what the target has
/// overwritten; then a second fault ends the process without these words. Nothing is said from
/// within the C library's own heap, whose lock is held then, nor by a child of the process, which
/// has the same pipe.
pub fn last_words(signal: i32, address: usize) -> Option<u64> {
    if !hooks::set_controls(false) || heap::is_in_libc() || crate::timebox::is_forked() {
        return None;
    }
    let place = engine::here();
    trail::crash(signal, address, place);
    let steps = detect::steps(&engine::counted());
    crate::record::send(&Frame::Cut(Box::new(steps)));
    (place != 0).then(|| place as u64 - 1)
}

extern "C" fn ends_process() {
    last_words(0, 0);
}

/// Gives the calling thread, on which all fibers run, a stack for signals that has room for
/// [`last_words`].
fn widen_signal_stack() -> io::Result<()> {
    let memory = Box::leak(vec![0u8; SIGNAL_STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t {
        ss_sp: memory.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: SIGNAL_STACK_BYTES,
    };
    // SAFETY: memory that stays, and of which nobody else knows.
    match unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Address space needed beyond the target's own.
pub const RESERVED_MIB: u64 = layout::RESERVED_MIB;

/// Loads the target so that it can be controlled; gives also what is to be said of it.
pub fn load(library: &Path, plan: &Plan) -> Result<(Target, Vec<String>), String> {
    let control = &plan.control;
    let cannot = |error: io::Error| format!("{CANNOT} {error}");
    layout::reserve().map_err(cannot)?;
    widen_signal_stack().map_err(cannot)?;
    // SAFETY: a function of this program.
    unsafe { libc::atexit(ends_process) };
    heap::set_limit(plan.memory_mib_max);
    engine::set_carrier(Carrier::choose(control.carrier).map_err(cannot)?);
    environment::time_stamp::install();
    environment::machine::set();
    // The C++ library's own memory must not be the target's, so it is loaded before.
    crate::library::load_cxx_library();
    libraries::note_system();
    set_up_unwinder();
    heap::set_allocates(true);
    environment::set_loads(true);
    let threads = threads_now();
    let target = Target::load(library);
    heap::set_allocates(false);
    environment::set_loads(false);
    let target = target?.map_functions(gate::wrap);
    if !(0..50).any(|_| no_more_than(threads)) {
        return Err(format!("{CANNOT} a target that starts a thread when it is loaded"));
    }
    environment::settings::remember();
    environment::process::remember();
    globals_snapshot::remember().map_err(|what| format!("{CANNOT} {what}"))?;
    Ok((target, libraries::note_target(library)))
}

/// The first exception of a process sets up the compiler's own library, through `pthread_once`.
/// That library's variables are not put back, so only a process's first round with an exception
/// would have those steps, and a finding of a later one would not come back alone.
fn set_up_unwinder() {
    let thrown = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(())));
    debug_assert!(thrown.is_err());
}

/// Threads of this process.
fn threads_now() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, |tasks| tasks.count())
}

/// Whether there are so many threads; if not, one that is about to end has a moment to do so.
fn no_more_than(threads: usize) -> bool {
    let none = threads_now() <= threads;
    if !none {
        std::thread::sleep(Duration::from_millis(2));
    }
    none
}

/// What to tell of libraries without hooks.
pub fn warning(unhooked: &[String]) -> Option<String> {
    if unhooked.is_empty() {
        return None;
    }
    let names = unhooked.join(", ");
    Some(format!(
        "the controlled engine is blind to the code of {names}, which was compiled without its \
         hooks: no thread is switched inside it. Compile the library's sources into the adapter, \
         or the library itself with -fsanitize=thread and link it without; or use --engine native"
    ))
}

/// Carries out the rounds of the job; gives the last frame.
pub fn rounds(
    job: &Job,
    target: &Target,
    base: u64,
    area: &mut Area,
    pipe: &mut Pipe,
) -> io::Result<Frame> {
    coverage::set_library(base as usize, libraries::target_last());
    if let Err(error) = watchdog::start(Duration::from_millis(job.hang_milliseconds)) {
        return Ok(Frame::Problem(format!("{CANNOT} no clock of processor time: {error}")));
    }
    let schedules = match Schedules::new(&job.plan) {
        Ok(schedules) => schedules,
        Err(error) => return Ok(Frame::Problem(format!("policy: {error}"))),
    };
    if let Err(what) = scenario::check(&job.plan, &target.operations) {
        return Ok(Frame::Problem(what));
    }
    let mut frames = Vec::new();
    environment::sending::start();
    growth::begin(job);
    let numbers =
        (job.round_first..job.round_end.unwrap_or(u64::MAX)).step_by(job.round_step as usize);
    for (rounds, number) in (1..).zip(numbers) {
        let shape = Shape::draw(&job.plan, &target.operations, &target.info, number);
        let spec = schedules.of_round(number);
        let done = match one(job, target, area, &shape, &spec) {
            Ok(done) => done,
            Err(problem) => {
                area.flush(pipe)?;
                return Ok(growth::problem(problem));
            }
        };
        area.set_stage(Stage::Sent);
        write_round(&shape, &done, area, &mut frames)?;
        area.post(&mut frames, pipe)?;
        let grown = growth::look(rounds);
        // Threads that outlive their round would be in the way of the next, and so would be what it
        // did to memory that was mapped before.
        let outlived = done.counted.left_running > 0 || environment::mappings::are_changed();
        if outlived || grown.is_some() {
            area.flush(pipe)?;
            return Ok(Frame::Bye(Bye { next_round: Some(number + job.round_step), grown }));
        }
    }
    area.flush(pipe)?;
    Ok(Frame::Bye(Bye { next_round: None, grown: None }))
}

/// How the rounds of a plan are scheduled.
struct Schedules {
    seed: u64,
    policy: Option<Spec>,
    /// Of each scenario.
    own: Vec<Option<Spec>>,
}

impl Schedules {
    fn new(plan: &Plan) -> Result<Schedules, String> {
        let parse = |text: Option<&str>| text.map(str::parse::<Spec>).transpose();
        let own = plan.scenarios.iter().map(|scenario| parse(scenario.schedule.as_deref()));
        let own = own.collect::<Result<_, _>>()?;
        Ok(Schedules { seed: plan.seed, policy: parse(plan.control.policy.as_deref())?, own })
    }

    fn of_round(&self, round: u64) -> Spec {
        let turn = round.checked_rem(self.own.len() as u64);
        let own = turn.and_then(|turn| self.own[turn as usize].as_ref());
        match self.policy.as_ref().or(own) {
            Some(spec) => spec.of_round(self.seed, round),
            None => Spec::drawn(self.seed, round),
        }
    }
}

/// One round.
fn one(
    job: &Job,
    target: &Target,
    area: &mut Area,
    shape: &Shape,
    spec: &Spec,
) -> Result<round::Done, String> {
    ROUND.store(shape.round, Ordering::Relaxed);
    let order = ready(job, shape, spec);
    let reads_counter = globals_snapshot::reads_counter();
    if reads_counter {
        environment::time_stamp::set_virtual(true);
    }
    let done = round::run(target, area, shape, &job.directory, order);
    if reads_counter {
        environment::time_stamp::set_virtual(false);
    }
    done
}

/// Puts everything back to how each round finds it; how this one is to be scheduled.
fn ready(job: &Job, shape: &Shape, spec: &Spec) -> Order {
    let control = &job.plan.control;
    let part = |part: u64| mix(job.plan.seed ^ mix(shape.round ^ part));
    let reuse = match control.heap {
        Heap::Reuse => true,
        Heap::Keep => false,
        Heap::Some => Random::new(part(OF_HEAP)).one_in(2),
    };
    let plain_points = match control.plain_points {
        PlainPoints::All => true,
        PlainPoints::None => false,
        PlainPoints::Some => Random::new(part(OF_PLAIN)).one_in(8),
    };
    *POLICY.lock().expect("no thread panics holding it") = Some(spec.clone());
    heap::reset(reuse);
    globals_snapshot::restore();
    environment::reset(part(OF_WAKES));
    trail::begin(control.trail);
    let delay = delay_of(control.memory_model, part(OF_MEMORY));
    buffers::begin(delay.filter(|_| !shape.sequential && libraries::all_have_hooks()));
    hooks::set_plain(plain_points);
    let callers = shape.threads as usize;
    let outlook = Outlook { threads: callers, operations: shape.operations() };
    Order {
        policy: Policy::new(spec, part(OF_POLICY), &outlook),
        seed: part(OF_WAKES),
        callers,
        steps_max: control.steps_max,
        whole_calls: shape.sequential,
        records: control.records,
    }
}

/// How long stores wait in store buffers in a round, if it has any. `drawn` is the round's.
fn delay_of(model: MemoryModel, drawn: u64) -> Option<Delay> {
    let mut random = Random::new(drawn);
    match model {
        MemoryModel::Sc => None,
        MemoryModel::Some if !random.one_in(8) => None,
        MemoryModel::TsoLate => Some(Delay::Late),
        MemoryModel::Some | MemoryModel::Tso => {
            Some(if random.one_in(2) { Delay::Late } else { Delay::Drawn(random.bits()) })
        }
    }
}

fn write_round(
    shape: &Shape,
    done: &round::Done,
    area: &mut Area,
    frames: &mut Vec<u8>,
) -> io::Result<()> {
    let start = Frame::Round(RoundStart {
        round: shape.round,
        threads: shape.threads,
        calls: shape.calls,
        sequential: shape.sequential,
        fresh: true,
    });
    interlap::trace::frame::write(frames, &start)?;
    area.write_records(frames)?;
    // A thread that still runs may hold memory where nobody looks.
    let (leaked_blocks, leaked_bytes) = match done.counted.left_running {
        0 => leaks::lost(),
        _ => (0, 0),
    };
    let steps = Steps { leaked_blocks, leaked_bytes, ..detect::steps(&done.counted) };
    let (round, drained, steps) = (shape.round, done.drained, Some(Box::new(steps)));
    let end = RoundEnd { round, drained, fault: None, steps };
    interlap::trace::frame::write(frames, &Frame::End(end))
}
