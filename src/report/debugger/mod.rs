//! Writes the files that a debugger needs for a finding's round or recording, into the finding's
//! directory. `crate::cli` starts the debugger.
//!
//! - `gdb`: Writes the gdb script of a finding.

pub mod gdb;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::binary::atomics;
use crate::core::files;
use crate::core::history::Unit;
use crate::core::interner::Interner;
use crate::core::plan::{Carrier, Engine, Job, Plan};
use crate::finding::{Failure, SCRIPT_FILE, Stored};
use crate::process::fault::FaultKind;
use crate::process::rr;
use crate::trace::frame::DetectedKind;
use crate::view::timeline;
use gdb::{Operation, Program, Script};

const JOB_FILE: &str = "debug.json";
/// The directory for files that the target writes.
const FILES: &str = "debug-files";

/// Processor time without a step that counts as a hang in a debugger.
const PATIENCE_MILLISECONDS: u64 = 3_600_000;
/// The same if the finding is a hang.
const HANG_MILLISECONDS: u64 = 2_500;

/// Writes the job and gdb's script for a finding of the controlled engine.
pub fn write(stored: &Stored, library: &Path, harness: &Path) -> Result<()> {
    let directory = std::path::absolute(&stored.directory)
        .with_context(|| format!("cannot resolve {}", stored.directory.display()))?;
    let job = job(stored, library, &directory)?;
    let job_file = directory.join(JOB_FILE);
    save(&job_file, &serde_json::to_vec_pretty(&job)?)?;
    let script = script(stored, harness.to_path_buf(), job_file);
    save(&directory.join(SCRIPT_FILE), script.text().as_bytes())
}

/// Writes gdb's script for a finding with a recording by rr.
pub fn write_recorded(stored: &Stored) -> Result<()> {
    let places = stored.finding.recorded.as_ref().map(|recorded| &recorded.places[..]);
    let event = |at: usize| {
        let begin = places.and_then(|places| places.get(at)?.begin)?;
        Some(rr::script::event_before(begin.event))
    };
    let operations = operations(stored).enumerate();
    let script = Script {
        title: title(stored),
        program: Program::Recording {
            hang: stored.finding.recorded.as_ref().and_then(|recorded| recorded.before_end),
        },
        operations: operations
            .map(|(at, operation)| Operation { event: event(at), ..operation })
            .collect(),
    };
    save(&stored.directory.join(SCRIPT_FILE), script.text().as_bytes())
}

fn title(stored: &Stored) -> String {
    format!("{} ({})", stored.finding.name, stored.finding.signature)
}

/// The compiled adapter that the job in this directory names.
pub fn library(directory: &Path) -> Option<PathBuf> {
    let job = std::fs::read(directory.join(JOB_FILE)).ok()?;
    serde_json::from_slice::<Job>(&job).ok().map(|job| job.library)
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    files::replace(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// A job of that round alone, on threads of the operating system, which debuggers know.
fn job(stored: &Stored, library: &Path, directory: &Path) -> Result<Job> {
    let finding = &stored.finding;
    let mut plan: Plan = finding.plan.clone();
    plan.control.carrier = Carrier::Thread;
    let hangs = matches!(
        finding.what,
        Failure::Fault { kind: FaultKind::Detected(DetectedKind::Hang), .. }
    );
    let weakened = atomics::weakened(library, &plan.control.weaken)?;
    Ok(Job {
        plan,
        library: library.to_path_buf(),
        round_first: finding.round,
        round_step: 1,
        round_end: Some(finding.round + 1),
        hang_milliseconds: if hangs { HANG_MILLISECONDS } else { PATIENCE_MILLISECONDS },
        milliseconds_max: None,
        races_known: finding.races_known.clone(),
        weakened,
        judges: false,
        directory: directory.join(FILES),
    })
}

fn script(stored: &Stored, harness: PathBuf, job: PathBuf) -> Script {
    let finding = &stored.finding;
    let ends = matches!(finding.what, Failure::Fault { kind: FaultKind::Exit(_), .. });
    Script {
        title: title(stored),
        program: Program::Controlled { harness, job, ends },
        operations: operations(stored).collect(),
    }
}

/// The operations that a report shows, with the stamps as they are.
fn operations(stored: &Stored) -> impl Iterator<Item = Operation> {
    let (history, ids) = (&stored.round.history, stored.shown());
    let stamps = Unit { factor: 1.0, name: "", is_absolute: true };
    let words = timeline::legend(history, &ids, None, stamps, &Interner::default());
    ids.into_iter().zip(words).map(|(id, words)| {
        let operation = history.operation(id);
        Operation { start: operation.start, words, method: operation.op.name(), event: None }
    })
}

/// Where the user wants to stop.
pub enum Stop {
    /// The operation with this number, from 1.
    Operation(usize),
    Step(u64),
    /// At the fault; of a violation at the first operation.
    AtFailure,
}

/// Arguments of gdb for a finding whose files were [written](write).
pub fn arguments(stored: &Stored, stop: &Stop) -> Result<Vec<String>> {
    if stored.finding.plan.engine != Engine::Controlled {
        bail!("only what the controlled engine found can be stopped");
    }
    let count = stored.shown().len();
    let command = match (stop, &stored.finding.what) {
        (Stop::Operation(k), _) if (1..=count).contains(k) => format!("interlap-op {k}"),
        (Stop::Operation(_), _) if count == 0 => {
            bail!("this finding names no operations; leave --op out")
        }
        (Stop::Operation(_), _) => {
            let last = ('A'..='Z').nth(count - 1).unwrap_or('Z');
            bail!("this finding's operations are A to {last} (`interlap show` has the picture)")
        }
        (Stop::Step(step), _) => format!("interlap-step {step}"),
        (Stop::AtFailure, Failure::Fault { .. }) => "interlap-fault".to_string(),
        (Stop::AtFailure, Failure::Violation { .. }) => "interlap-op A".to_string(),
    };
    let script = stored.directory.join(SCRIPT_FILE).display().to_string();
    Ok(["-q", "-x", &script, "-ex", &command].map(str::to_string).to_vec())
}
