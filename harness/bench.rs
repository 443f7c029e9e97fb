//! Measures what calls of a target cost on one thread, in nanoseconds: in a timebox and without
//! (`benches/native.rs`), and those of whole rounds without any engine (`benches/peers.rs`).

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use interlap::core::operation::Op;
use interlap::core::plan::{self, Job};
use interlap::trace::records::size_max;
use serde::Serialize;

use crate::clock::Clock;
use crate::library::{Local, Structure, Target, abi, host};
use crate::marker::{interlap_op_begin, interlap_op_end};
use crate::prepared::{Block, Prepared};
use crate::record::Recorded;
use crate::timebox::{Outcome, Timebox};
use crate::workload::{Caller, Shape};

/// Short enough that some repeats are undisturbed on a shared machine.
const CALLS: usize = 200_000;
const REPEATS: usize = 150;
const BLOCK_CALLS: u64 = 64;

/// Nanoseconds per call.
#[derive(Serialize)]
struct Figures {
    clock: plan::Clock,
    /// The call alone; in its box, recorded; in blocks that share a box, as threads that run free
    /// make it; the two fenced stamps alone.
    bare: Samples,
    recorded: Samples,
    free: Samples,
    stamps: Samples,
    /// The stamps, each passed to its marker.
    marked: Samples,
    /// Costs of the two markers and of the whole box: differences of minima, because other
    /// processes only add to a time.
    markers: f64,
    timebox: f64,
}

#[derive(Serialize)]
struct Samples {
    min: f64,
    median: f64,
}

impl Samples {
    fn from_nanoseconds(mut samples: Vec<f64>) -> Samples {
        samples.sort_by(f64::total_cmp);
        Samples { min: samples[0], median: samples[samples.len() / 2] }
    }
}

/// Prints the figures of a target that offers an operation without arguments, as JSON.
pub fn run(library: &Path) -> Result<(), String> {
    let target = Target::load(library, None).map_err(|problem| problem.to_string())?;
    let (clock, info) = Clock::choose(plan::Clock::Auto);
    let structure = target.create(Path::new("/nonexistent"), (0, 1, 0, false))?;
    let local = structure.enter(0);
    let op = target.operations[0].0;
    // As in the engine, the records' memory is touched before the first call.
    let mut bytes = vec![1; CALLS * size_max(1) + size_max(abi::IL_RESULT_ROOM as usize)];
    let [mut bare, mut recorded, mut free, mut stamps, mut marked] = [const { Vec::new() }; 5];
    let prepared = Prepared::repeated(op, CALLS);
    for _ in 0..REPEATS {
        stamps.push(time(|| bare_stamps(clock)));
        marked.push(time(|| marked_stamps(clock)));
        bare.push(time(|| bare_calls(&target, &structure, &local, op)));
        recorded.push(recorded_calls(&target, &structure, &local, op, clock, &mut bytes)?);
        free.push(free_calls(&target, &structure, &local, &prepared, clock, &mut bytes));
    }
    let [bare, recorded, free, stamps, marked] =
        [bare, recorded, free, stamps, marked].map(Samples::from_nanoseconds);
    let (markers, timebox) = (marked.min - stamps.min, recorded.min - bare.min);
    let clock = info.clock;
    let figures = Figures { clock, bare, recorded, free, stamps, marked, markers, timebox };
    println!("{}", serde_json::to_string(&figures).map_err(|error| error.to_string())?);
    Ok(())
}

fn bare_stamps(clock: Clock) {
    for _ in 0..CALLS {
        black_box((clock.open(), clock.close()));
    }
}

fn marked_stamps(clock: Clock) {
    for call in 0..CALLS as u64 {
        let start = clock.open();
        interlap_op_begin(0, call, start);
        let end = clock.close();
        interlap_op_end(0, call, end);
        black_box((start, end));
    }
}

fn bare_calls(target: &Target, structure: &Structure, local: &Local, op: Op) {
    let calls = (0..CALLS).map(|_| (op, &[][..]));
    make_bare(target, structure, local, calls);
}

/// Makes calls of few results, without boxes.
fn make_bare<'a>(
    target: &Target,
    structure: &Structure,
    local: &Local,
    calls: impl Iterator<Item = (Op, &'a [i64])>,
) {
    let mut results = [0; abi::IL_RESULT_ROOM as usize];
    for (op, args) in calls {
        let mut call = abi::il_call {
            op: op.code().into(),
            status: abi::IL_OK,
            args: args.as_ptr(),
            results: results.as_mut_ptr(),
            arg_count: args.len() as u32,
            result_room: abi::IL_RESULT_ROOM,
            result_count: 0,
            thread: 0,
            host: host(),
            start: 0,
            end: 0,
        };
        // SAFETY: structure, local and the call with its arguments and results are alive. The
        // targets of benchmarks call no box functions.
        unsafe { target.call_function()(structure.pointer(), local.pointer(), &mut call) };
        black_box(&call);
    }
}

/// Prints how long the calls of a round take by themselves, and with them the creation and the
/// destruction of the structure: the calls of all threads on one, without engine, boxes and
/// records. Where the target has hooks, they do no more than to find that nobody listens.
pub fn rounds(job: &Job) -> Result<(), String> {
    let target = Target::load(&job.library, job.plan.model.as_deref())
        .map_err(|problem| problem.to_string())?;
    let numbers = job.round_first..job.round_end.ok_or("a job without end")?;
    let rounds: Vec<Vec<Prepared>> = numbers
        .map(|round| {
            let shape = Shape::draw(&job.plan, &target.operations, &target.info, round);
            let callers = (0..shape.threads).map(|thread| Caller::new(&shape, thread));
            callers.map(|mut caller| Prepared::draw(&mut caller, shape.calls)).collect()
        })
        .collect();
    let mut fastest = f64::INFINITY;
    for _ in 0..REPEATS {
        let started = Instant::now();
        for threads in &rounds {
            let structure = target.create(&job.directory, (0, threads.len() as u32, 0, false))?;
            for (thread, calls) in threads.iter().enumerate() {
                let local = structure.enter(thread as u32);
                let calls = calls.blocks(u64::MAX).flat_map(Block::calls);
                make_bare(&target, &structure, &local, calls);
            }
        }
        fastest = fastest.min(started.elapsed().as_nanos() as f64 / rounds.len() as f64);
    }
    println!("{fastest}");
    Ok(())
}

/// Calls as a thread of a round makes them, without the drawing.
fn recorded_calls(
    target: &Target,
    structure: &Structure,
    local: &Local,
    op: Op,
    clock: Clock,
    bytes: &mut [u8],
) -> Result<f64, String> {
    let (len, seal) = Default::default();
    let recorded = Recorded::new(&len, &seal);
    let mut timebox = Timebox::new(clock, 0, 1, bytes, recorded);
    let mut outcome = Outcome::Unsupported;
    let nanoseconds = time(|| {
        for _ in 0..CALLS {
            outcome = timebox.perform(target, structure, local, op, &[]);
        }
    });
    match outcome {
        Outcome::Recorded(_) => Ok(nanoseconds),
        outcome => Err(format!("the target cannot be used for this: {outcome:?}")),
    }
}

/// Calls as a thread that runs free makes them.
fn free_calls(
    target: &Target,
    structure: &Structure,
    local: &Local,
    prepared: &Prepared,
    clock: Clock,
    bytes: &mut [u8],
) -> f64 {
    let (len, seal) = Default::default();
    let mut timebox = Timebox::new(clock, 0, 1, bytes, Recorded::new(&len, &seal));
    time(|| {
        for block in prepared.blocks(BLOCK_CALLS) {
            timebox.perform_block(target, structure, local, block, 1);
        }
    })
}

fn time(calls: impl FnOnce()) -> f64 {
    let started = Instant::now();
    calls();
    started.elapsed().as_nanos() as f64 / CALLS as f64
}
