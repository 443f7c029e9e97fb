//! A run: jobs side by side, each a thread with a harness (see [`worker`]), and one that collects
//! what they find (see [`collect`]). A plan and limits come in; findings on disk and a summary go
//! out. What happens on the way is told to an [`Observer`]; nothing is printed here.
//!
//! - `adapter_lint`: Warns about adapters that can add values but not remove them, or the reverse.
//! - `collect`: Collects what the jobs of a run send: findings, statistics, and why the run ended.
//! - `engine`: Chooses the engine that drives a target, and another one where the first has no hold
//!   on it.
//! - `exercise/`: What a run exercised: operations with their answers and arguments, and overlaps
//!   of them.
//! - `finding_recording`: Stores a finding's recording beside it and locates the finding's
//!   operations in it.
//! - `job_recordings`: The recordings of one job of the rr engine, one for each harness process.
//! - `judge`: Checks rounds on a thread of low priority.
//! - `online_round`: Checks a long round while it runs, part by part.
//! - `oversubscription`: Notices when native rounds with more threads than processors crawl.
//! - `progress_curve`: The growth of a run's counts over time, as a bounded number of points.
//! - `recording_dirs`: Temporary directories for the recordings of a run, and removal of those of
//!   killed runs.
//! - `rerun`: Reruns a round in a fresh process, or searches a range of rounds for sightings.
//! - `saturation`: Estimates how many distinct hashes a run has seen, in all and recently.
//! - `statistics`: The statistics of a run: totals, and what was new recently.
//! - `worker/`: One job of a run: harness after harness over its own rounds, each round judged
//!   here.

mod adapter_lint;
mod collect;

pub mod engine;
pub mod exercise;
mod finding_recording;
mod job_recordings;
pub mod judge;
pub mod online_round;
mod oversubscription;
mod progress_curve;
mod recording_dirs;
mod rerun;
pub mod saturation;
mod statistics;
mod worker;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, Plan, Shard};
use crate::finding::Stored;
use crate::finding::known::KnownIssues;
use crate::finding::signature::Signature;
use crate::model::Spec;
use crate::trace::frame::Hello;
use collect::Collector;
use worker::{Lane, Note, Worker};

pub use finding_recording::locate;
pub use progress_curve::Point;
pub use rerun::{Searched, rerun, search};
pub use statistics::{Coverage, Grown, Policy, Statistics};
pub use worker::Sighting;

/// Notes that may wait to be collected, so that a run whose every round is a finding does not pile
/// them up.
const NOTES_MAX: usize = 64;

/// What is wanted of a run besides its plan.
#[derive(Clone)]
pub struct Options {
    pub plan: Plan,
    /// Harness processes at a time, each with rounds of its own.
    pub jobs: u64,
    /// Which of the plan's rounds are this run's.
    pub shard: Shard,
    /// The compiled adapter and the harness program.
    pub library: PathBuf,
    pub harness: PathBuf,
    pub duration_max: Option<Duration>,
    /// One past the last round.
    pub rounds_max: Option<u64>,
    /// Distinct findings after which the run ends; known ones do not count.
    pub findings_max: usize,
    /// Time without any progress that counts as a hang.
    pub hang_max: Duration,
    /// What is known already; empty if nothing is.
    pub known: KnownIssues,
    /// Where findings go, a directory each.
    pub directory: PathBuf,
    /// File for the record of every round.
    pub trace: Option<PathBuf>,
    /// Set from outside to end the run; what was found is kept.
    pub stop: Arc<AtomicBool>,
    /// End as soon as a finding with this signature is seen.
    pub wanted: Option<Signature>,
    /// Time after which a run in which the engine saw next to nothing of a target with prebuilt
    /// libraries ends with [`Uncontrolled::Prebuilt`]; none: never.
    pub leave_after: Option<Duration>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Time,
    Rounds,
    Findings,
    /// The wanted finding was seen.
    Wanted,
    Stopped,
    /// The target does not follow its model even when called from one thread at a time.
    NotSequential,
}

/// What a run leaves behind.
pub struct Summary {
    pub hello: Box<Hello>,
    pub model: Spec,
    pub statistics: Statistics,
    /// The pairs that `statistics` counts, sorted.
    pub pairs: Vec<u64>,
    /// How the counts grew.
    pub curve: Vec<Point>,
    /// Each distinct finding, in the order of their first sightings.
    pub findings: Vec<Stored>,
    pub ending: Ending,
}

impl Summary {
    /// Found, if anything was that is not known; not decided, if no round was, or none over in
    /// time.
    pub fn outcome(&self) -> Outcome {
        let undecided: u64 = self.statistics.inconclusive.values().sum();
        let nothing_new = self.findings.iter().all(|stored| stored.finding.known.is_some());
        match (nothing_new, undecided) {
            (false, _) => Outcome::Found,
            (true, undecided) if undecided > 0 && undecided == self.statistics.rounds => {
                Outcome::NotDecided
            }
            (true, _) if self.has_no_round() => Outcome::NotDecided,
            (true, _) => Outcome::NothingFound,
        }
    }

    /// Whether time was over before any round was.
    pub fn has_no_round(&self) -> bool {
        self.ending == Ending::Time && self.statistics.rounds == 0 && self.findings.is_empty()
    }
}

/// Why the controlled engine is of no use for a target.
#[derive(Debug, thiserror::Error)]
pub enum Uncontrolled {
    #[error(
        "the controlled engine is blind to this target: in no round did it see an atomic access \
         or a lock. What the threads share is then accessed by inline assembly or by code in a \
         prebuilt library, between whose instructions no thread can be switched. Build the \
         library's sources into the adapter, use the compiler's atomics (std::atomic, __atomic) \
         instead of assembly, or use --engine native. What comes of sharing without any of these \
         shows with --plain-points"
    )]
    Blind,
    /// What stands in the way, in words.
    #[error("cannot control: {0}; or use --engine native, which needs no hold on the target")]
    Refused(String),
    #[error(
        "in {rounds} rounds the controlled engine saw next to no access by which one thread \
         noticed another ({pairs} pairs): what they share is {libraries}'s, which has no hooks"
    )]
    Prebuilt { libraries: String, rounds: u64, pairs: u64, elapsed: Duration },
}

impl Uncontrolled {
    /// The part of the run's time that is gone.
    pub fn spent(&self) -> Duration {
        match self {
            Uncontrolled::Prebuilt { elapsed, .. } => *elapsed,
            Uncontrolled::Blind | Uncontrolled::Refused(_) => Duration::ZERO,
        }
    }
}

/// Where a run's findings go, and what happens on the way.
pub trait Observer {
    fn started(&mut self, hello: &Hello, model: &Spec);
    fn progressed(&mut self, statistics: &Statistics);
    /// Writes the directory of a finding, over an earlier sighting of the same one.
    ///
    /// # Errors
    /// If it cannot be written. The finding is told all the same.
    fn save(&mut self, stored: &Stored, options: &Options) -> Result<()>;
    /// A finding that was not seen before in this run. It was saved.
    fn found(&mut self, stored: &Stored);
    fn warned(&mut self, warning: &str);
}

/// Carries the plan out.
pub fn fuzz(options: &Options, observer: &mut dyn Observer) -> Result<Summary> {
    let scratch = scratch_of(options)?;
    let quit = AtomicBool::new(false);
    let collector = Collector::new(options, observer, scratch.path(), &quit);
    let (sender, notes) = sync_channel(NOTES_MAX);
    std::thread::scope(|scope| {
        for job in 0..options.jobs {
            let (sender, quit, scratch) = (sender.clone(), &quit, scratch.path());
            let scratch = scratch.join(format!("job-{job}"));
            let lane = options.lane(job);
            scope.spawn(move || {
                let done = std::fs::create_dir(&scratch)
                    .context("cannot make a temporary directory")
                    .and_then(|()| {
                        let mut tell = |note| send(&sender, note, quit);
                        Worker::new(options, lane, &scratch, &mut tell).run()
                    });
                let _ = sender.send(Note::Ended(done));
            });
        }
        drop(sender);
        let summary = collector.collect(notes, options.jobs);
        // After an error the jobs do not know yet that nobody listens.
        quit.store(true, Ordering::Relaxed);
        summary
    })
}

/// Whether more notes are wanted.
fn send(sender: &SyncSender<Note>, note: Note, quit: &AtomicBool) -> bool {
    let is_idle = matches!(&note, Note::Tally(tally) if tally.is_empty());
    (is_idle || sender.send(note).is_ok()) && !quit.load(Ordering::Relaxed)
}

impl Options {
    /// The rounds of job `job`: those of shard i of n are i, i + n, i + 2n, ..., dealt out in turn,
    /// so that a shard is the same on a machine with more jobs.
    fn lane(&self, job: u64) -> Lane {
        let Shard { index, count } = self.shard;
        Lane { first: index + count * job, step: count * self.jobs, end: self.rounds_max }
    }
}

/// Recordings lie on the disk of the findings, so that a finding's need not be copied.
fn scratch_of(options: &Options) -> Result<TempDir> {
    if options.plan.engine != Engine::Rr {
        return scratch();
    }
    let out = &options.directory;
    recording_dirs::directory_in(out)
        .with_context(|| format!("cannot make a directory for recordings in {}", out.display()))
}

/// Whether findings could be written there. Asked before a run, which would lose the first one.
pub fn check_directory(directory: &Path) -> Result<()> {
    let attempt = || -> std::io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        // About as much as the smallest finding takes.
        file.write_all(&[b' '; 1 << 16])
    };
    attempt().with_context(|| {
        let directory = directory.display();
        format!("cannot write to {directory}, where findings go; name another with --out DIR")
    })
}

fn scratch() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("interlap-")
        .tempdir()
        .context("cannot make a temporary directory")
}
