//! Measures the cost of a timebox: the same calls of a target with and without a box, on one
//! thread, in nanoseconds per call. `benches/native.rs` starts it.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use interlap::core::operation::Op;
use interlap::core::plan;
use interlap::trace::records::size_max;
use serde::Serialize;

use crate::clock::Clock;
use crate::library::{Local, Structure, Target, abi, host};
use crate::marker::{interlap_op_begin, interlap_op_end};
use crate::prepared::Prepared;
use crate::record::Recorded;
use crate::timebox::{Outcome, Timebox};

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
    let target = Target::load(library).map_err(|problem| problem.to_string())?;
    let (clock, info) = Clock::choose(plan::Clock::Auto);
    let structure = target.create(Path::new("/nonexistent"), 0, 1, 0)?;
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
    let mut results = [0; abi::IL_RESULT_ROOM as usize];
    for _ in 0..CALLS {
        let mut call = abi::il_call {
            op: op as u32,
            status: abi::IL_OK,
            args: std::ptr::null(),
            results: results.as_mut_ptr(),
            arg_count: 0,
            result_room: abi::IL_RESULT_ROOM,
            result_count: 0,
            thread: 0,
            host: host(),
            start: 0,
            end: 0,
        };
        // SAFETY: structure, local and the call with its results are alive; the operation takes
        // no arguments. The target of the benchmark calls no box functions.
        unsafe { target.call_function()(structure.pointer(), local.pointer(), &mut call) };
        black_box(&call);
    }
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
