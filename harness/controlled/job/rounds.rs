//! Runs the rounds of a job, each from the same state, and sends them through the record area's
//! outbox. What differs between rounds (policy, heap, plain points, store buffers) is drawn from
//! the plan's seed and the round's number.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use interlap::core::plan::{Carrier, Control, Heap, Job, MemoryModel, PlainPoints, Plan, Races};
use interlap::core::random::{Random, mix};
use interlap::model::{Kind, Spec as Model};
use interlap::schedule::{Policy, RoundSize, Spec};
use interlap::trace::area::Stage;
use interlap::trace::frame::{Bye, Frame, Problem, RoundEnd, RoundStart, Steps, write_judged};
use interlap::trace::judged::{Judgement, is_sampled};

use super::judge::Judge;
use super::round::{self, Run};
use super::turns::Order;
use crate::controlled::accesses;
use crate::controlled::core::engine::RoundSettings;
use crate::controlled::core::{current_round, points};
use crate::controlled::interpose::environment;
use crate::controlled::state::store_buffers::{self, Delay};
use crate::controlled::state::{globals_snapshot, growth, heap, leaks, orders, races, weak_memory};
use crate::controlled::watch::{coverage, fault_report, libraries, trail, watchdog};
use crate::library::Target;
use crate::pipe::Pipe;
use crate::record::Area;
use crate::scenario;
use crate::workload::Shape;

/// What is drawn for a round, as parts of its seed.
const OF_POLICY: u64 = 1 << 40;
const OF_HEAP: u64 = OF_POLICY + 1;
const OF_WAKES: u64 = OF_POLICY + 2;
const OF_PLAIN: u64 = OF_POLICY + 3;
const OF_MEMORY: u64 = OF_POLICY + 4;
const OF_RACES: u64 = OF_POLICY + 5;

/// Half of these have store buffers or older stores, of those after them a quarter: where a fence
/// is missing, that shows soon, and where none is, little time is lost.
const ROUNDS_FIRST: u64 = 512;

/// Of how many rounds one has store buffers, and one older stores.
fn share(round: u64) -> u64 {
    if round < ROUNDS_FIRST { 4 } else { 8 }
}

/// Runs the rounds of the job; gives the last frame.
pub fn rounds(
    job: &Job,
    target: &Target,
    base: u64,
    area: &mut Area,
    pipe: &mut Pipe,
) -> io::Result<Frame> {
    coverage::set_library(base as usize, libraries::target_last());
    let watched = watchdog::Watched {
        limit: Duration::from_millis(job.hang_milliseconds),
        leak_bytes: job.plan.leak_bytes(),
        touched: growth::resident,
        signal: environment::signals::signal_carrier,
    };
    if let Err(error) = watchdog::start(watched) {
        let what = format!("no clock of processor time: {error}");
        return Ok(Frame::Problem(Problem::uncontrolled(what)));
    }
    let schedules = match Schedules::new(&job.plan) {
        Ok(schedules) => schedules,
        Err(error) => return Ok(Frame::Problem(format!("policy: {error}").into())),
    };
    let fits = scenario::check(&job.plan, &target.operations);
    if let Err(what) = fits.and_then(|()| has_its_model(job, target)) {
        return Ok(Frame::Problem(what.into()));
    }
    environment::signals::take_mask_over();
    growth::begin(job);
    races::set_known(job.races_known.clone());
    orders::begin(job);
    environment::time_stamp::make_virtual();
    let bye = all(job, target, &schedules, area, pipe);
    area.flush(pipe)?;
    match bye {
        Ok(bye) => Ok(Frame::Bye(Bye { orders: orders::noted(), ..bye })),
        Err(Stopped::Problem(what)) => Ok(growth::problem(what.into())),
        Err(Stopped::Pipe(error)) => Err(error),
    }
}

/// Why the rounds do not go on.
enum Stopped {
    Problem(String),
    Pipe(io::Error),
}

impl From<String> for Stopped {
    fn from(problem: String) -> Stopped {
        Stopped::Problem(problem)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Pipe(error)
    }
}

/// Carries out the rounds one after the other, until another process is to go on.
fn all(
    job: &Job,
    target: &Target,
    schedules: &Schedules,
    area: &mut Area,
    pipe: &mut Pipe,
) -> Result<Bye, Stopped> {
    let mut judge = Judge::new(job, target)?;
    let may_wait = judge.as_ref().is_some_and(Judge::is_alone) || may_wait(job, target);
    let mut frames = Vec::new();
    let numbers =
        (job.round_first..job.round_end.unwrap_or(u64::MAX)).step_by(job.round_step as usize);
    for (rounds, number) in (1..).zip(numbers) {
        let shape = Shape::draw(&job.plan, &target.operations, &target.info, number);
        let spec = schedules.of_round(number);
        let done = one(job, target, area, &shape, (&spec, may_wait))?;
        area.set_stage(Stage::Sent);
        // The next round must not find threads of this one, or mappings that it changed.
        let mut outlived = done.counted.left_running > 0 || environment::mappings::are_changed();
        match judge.as_mut().filter(|judge| judge.is_alone()) {
            Some(judge) if !outlived => {
                let judgement = write_with_runs(job, &shape, &done, judge, area, &mut frames)?;
                if judgement == Some(Judgement::Violation) && done.waits {
                    // The same round again, which reports that its calls wait, and ends there.
                    one(job, target, area, &shape, (&spec, false))?;
                    return Err("goes another way the second time".to_string().into());
                }
                area.set_stage(Stage::Sent);
                outlived = judge.left_running() || environment::mappings::are_changed();
            }
            _ => write_round(&shape, &done, judge.as_mut(), area, &mut frames)?,
        }
        area.post(&mut frames, pipe)?;
        let grown = growth::check(rounds);
        if outlived || grown.is_some() {
            return Ok(Bye::new(Some(number + job.round_step), grown));
        }
    }
    Ok(Bye::new(None, None))
}

/// Whether methods may wait for ever: neither a model that is a program of its own nor that of a
/// family can say which.
fn may_wait(job: &Job, target: &Target) -> bool {
    let model = job.plan.model.as_ref().unwrap_or(&target.info.model).parse::<Model>();
    let is_run = model.is_ok_and(|model| model.kind.is_run());
    target.lists_methods && !is_run && job.plan.control.carrier == Carrier::Fiber
}

/// An error if the model is a class that the target lacks.
fn has_its_model(job: &Job, target: &Target) -> Result<(), String> {
    let model = job.plan.model.as_ref().unwrap_or(&target.info.model);
    let is_class = model.parse().is_ok_and(|model: Model| model.kind == Kind::Class);
    match is_class && !target.has_model {
        true => Err("has no sequential model for the model class: add INTERLAP_MODEL(...)".into()),
        false => Ok(()),
    }
}

/// How the rounds of a plan are scheduled.
struct Schedules {
    seed: u64,
    policy: Option<Spec>,
    /// The schedule of each scenario.
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
            Some(spec) => spec.for_round(self.seed, round),
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
    (spec, may_wait): (&Spec, bool),
) -> Result<round::Done, String> {
    current_round::set(shape.round, spec);
    let settings = prepare(job, shape, spec);
    let (directory, number) = (&*job.directory, shape.round as u32);
    let (order, any_thread, heap_first) = (Order::default(), false, 0);
    let run = Run { directory, number, order, may_wait, any_thread, heap_first };
    round::run(target, area, shape, run, settings)
}

/// Restores the state that each round starts from; draws how this one is scheduled.
pub fn prepare(job: &Job, shape: &Shape, spec: &Spec) -> RoundSettings {
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
    heap::reset(reuse);
    environment::mappings::reset(globals_snapshot::data());
    globals_snapshot::restore();
    environment::reset(part(OF_WAKES));
    trail::begin(control.trail);
    let memory = match shape.sequential || !libraries::are_all_instrumented() {
        true => Memory::Sc,
        false => memory_of(control, shape.round, part(OF_MEMORY)),
    };
    store_buffers::begin(memory.delay());
    weak_memory::begin(memory.seed());
    let is_weak = memory.seed().is_some();
    let looks = looks_for_races(control, shape, part(OF_RACES), is_weak);
    races::begin(looks, is_weak, shape.threads as usize);
    points::set_plain_points(plain_points);
    coverage::begin(part(OF_WAKES));
    accesses::round_begins();
    let callers = shape.threads as usize;
    let outlook = RoundSize { threads: callers, operations: shape.operations() };
    RoundSettings {
        policy: Policy::new(spec, part(OF_POLICY), &outlook),
        seed: part(OF_WAKES),
        callers,
        steps_max: control.steps_max,
        whole_calls: shape.sequential,
        records: control.records,
        time: 0,
    }
}

/// Whether a round tells of data races. `drawn` is the round's; `is_weak`: they are noticed anyway.
fn looks_for_races(control: &Control, shape: &Shape, drawn: u64, is_weak: bool) -> bool {
    let is_wanted = match control.races {
        Races::All => true,
        Races::Off => false,
        Races::Some if control.all_seq_cst => Random::new(drawn).one_in(share(shape.round)),
        Races::Some => is_weak || Random::new(drawn).one_in(32),
    };
    // A model need not be made for threads.
    is_wanted && !shape.sequential && !store_buffers::are_used()
}

/// What loads may read in a round.
#[derive(Clone, Copy)]
enum Memory {
    Sc,
    Tso(Delay),
    /// Drawn from this seed.
    C11(u64),
}

impl Memory {
    /// How long stores wait in store buffers, if there are any.
    fn delay(self) -> Option<Delay> {
        match self {
            Memory::Tso(delay) => Some(delay),
            _ => None,
        }
    }

    fn seed(self) -> Option<u64> {
        match self {
            Memory::C11(seed) => Some(seed),
            _ => None,
        }
    }
}

/// `drawn` is the round's.
fn memory_of(control: &Control, round: u64, drawn: u64) -> Memory {
    let mut random = Random::new(drawn);
    let model = match control.memory_model {
        MemoryModel::Some if control.all_seq_cst => MemoryModel::Sc,
        MemoryModel::Some => match random.below(share(round)) {
            0 => MemoryModel::Tso,
            1 => MemoryModel::C11,
            _ => MemoryModel::Sc,
        },
        model => model,
    };
    match model {
        MemoryModel::Sc | MemoryModel::Some => Memory::Sc,
        MemoryModel::TsoLate => Memory::Tso(Delay::Late),
        MemoryModel::Tso if random.one_in(2) => Memory::Tso(Delay::Late),
        MemoryModel::Tso => Memory::Tso(Delay::Drawn(random.bits())),
        MemoryModel::C11 => Memory::C11(random.bits()),
    }
}

/// Appends what is to be sent of a round: what is counted of it, if it is consistent and not in the
/// sample; else all of it.
fn write_round(
    shape: &Shape,
    done: &round::Done,
    judge: Option<&mut Judge>,
    area: &mut Area,
    frames: &mut Vec<u8>,
) -> io::Result<()> {
    let steps = steps(done);
    // Where the structure is its own model, it cannot be called again now.
    let mut judge = judge.filter(|judge| !judge.is_alone());
    let judgement = match &mut judge {
        Some(judge) => judge.judge(shape, done, area).map_err(io::Error::other)?,
        None => None,
    };
    match judge {
        Some(judge) if judgement == Some(Judgement::Consistent) && !is_sampled(shape.round) => {
            write_judged(frames, &judge.judged(shape, steps))
        }
        _ => write_whole(shape, done.drained, steps, judgement, area, frames),
    }
}

/// What was counted in a round.
fn steps(done: &round::Done) -> Steps {
    // A thread that still runs, or waits, may hold addresses of blocks that are not scanned.
    let (leaked_blocks, leaked_bytes) = match done.waits || done.counted.left_running > 0 {
        true => (0, 0),
        false => leaks::lost(),
    };
    Steps { leaked_blocks, leaked_bytes, ..fault_report::steps(&done.counted) }
}

/// As [`write_round`], where the structure is its own model: with what it answers to the calls one
/// at a time. Gives what was made of the round.
fn write_with_runs(
    job: &Job,
    shape: &Shape,
    done: &round::Done,
    judge: &mut Judge,
    area: &mut Area,
    frames: &mut Vec<u8>,
) -> Result<Option<Judgement>, Stopped> {
    let (steps, before) = (steps(done), frames.len());
    // The records of other runs take their place.
    write_start(shape, area, frames)?;
    let judgement = judge.judge(shape, done, area)?;
    let is_counted = job.judges && !shape.sequential && !is_sampled(shape.round);
    if is_counted && judgement == Some(Judgement::Consistent) {
        frames.truncate(before);
        write_judged(frames, &judge.judged(shape, steps))?;
        return Ok(judgement);
    }
    if let Some(runs) = judge.runs() {
        interlap::trace::frame::write(frames, &Frame::Runs(Arc::clone(runs)))?;
    }
    let sent = judgement.filter(|_| !shape.sequential);
    write_end(shape, done.drained, steps, sent, frames)?;
    Ok(judgement)
}

fn write_whole(
    shape: &Shape,
    drained: bool,
    steps: Steps,
    judgement: Option<Judgement>,
    area: &mut Area,
    frames: &mut Vec<u8>,
) -> io::Result<()> {
    write_start(shape, area, frames)?;
    write_end(shape, drained, steps, judgement, frames)
}

/// The beginning of a round, and its records.
fn write_start(shape: &Shape, area: &mut Area, frames: &mut Vec<u8>) -> io::Result<()> {
    let start = Frame::Round(RoundStart {
        round: shape.round,
        threads: shape.threads,
        calls: shape.calls,
        sequential: shape.sequential,
        fresh: true,
    });
    interlap::trace::frame::write(frames, &start)?;
    area.write_records(frames)
}

fn write_end(
    shape: &Shape,
    drained: bool,
    steps: Steps,
    judgement: Option<Judgement>,
    frames: &mut Vec<u8>,
) -> io::Result<()> {
    let steps = Some(Box::new(steps));
    let end = RoundEnd { steps, judgement, ..RoundEnd::new(shape.round, drained) };
    interlap::trace::frame::write(frames, &Frame::End(end))
}
