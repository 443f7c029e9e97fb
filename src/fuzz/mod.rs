//! Runs a plan: jobs in parallel, each a thread with a harness process ([`worker`]), and a
//! collector of their findings ([`collect`]). Nothing is printed here: an [`Observer`] saves
//! findings and shows progress.
//!
//! - `adapter_lint`: Warns about methods of an adapter that are never called, and about containers
//!   that can add values but not remove them, or the reverse: the author may have misnamed a
//!   method.
//! - `again`: Runs the plan of a stored finding again, perhaps with changed code.
//! - `check_thread`: Checks rounds, for native threads on a thread of low priority.
//! - `collect`: Collects the findings and statistics that the jobs of a run send, and decides when
//!   the run ends.
//! - `engine`: Chooses the engine for a target, and falls back to native threads where it cannot be
//!   controlled.
//! - `exercise/`: Counts what a run exercised: operations with their answers and arguments, and
//!   their overlaps.
//! - `finding_recording`: Stores a finding's recording beside it and locates the finding's
//!   operations in it.
//! - `job_recordings`: Manages the recordings of one job of the rr engine, one for each harness
//!   process.
//! - `online_round`: Checks a long round while it runs, part by part.
//! - `oversubscription`: Warns once when native rounds with more threads than processors are far
//!   slower than others.
//! - `progress_curve`: Keeps the growth of a run's counts over time as a bounded number of points.
//! - `recording_dirs`: Creates the temporary directory for a run's recordings, and removes those of
//!   killed runs.
//! - `rerun`: Reruns a round in a fresh process, or searches a range of rounds for sightings.
//! - `saturation`: Estimates how many distinct hashes a run has seen, in all and recently.
//! - `statistics/`: Adds up the statistics of a run: totals, and what was new recently.
//! - `worker/`: Runs one job: starts a harness for its rounds, another one after each end, and
//!   checks each round.

mod adapter_lint;
mod again;
mod collect;

pub mod check_thread;
pub mod engine;
pub mod exercise;
mod finding_recording;
mod job_recordings;
pub mod online_round;
mod oversubscription;
mod progress_curve;
mod recording_dirs;
mod rerun;
pub mod saturation;
mod statistics;
mod worker;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::core::memory_order::OrderedAccess;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, Plan, Shard};
use crate::core::time_limit::TimeLimit;
use crate::finding::known::KnownIssues;
use crate::finding::signature::Signature;
use crate::finding::sources::Sources;
use crate::finding::trust::{Key, Trusted};
use crate::finding::{Failure, Stored};
use crate::model::{OtherType, Spec};
use crate::trace::frame::{Growth, Hello};
use crate::trace::kept::Keep;
use collect::Collector;
use worker::{JobRounds, Message, Worker};

pub use again::{Again, OwnRound, Regressions, Shown, again, rounds_enough};
pub use finding_recording::locate;
pub use progress_curve::Point;
pub use rerun::{Searched, rerun, search};
pub use statistics::{Coverage, Grown, Policy, Statistics, Untested};
pub use worker::Sighting;

/// Most messages that wait to be collected: a run whose every round is a finding must not queue
/// them without limit.
const MESSAGES_MAX: usize = 64;

/// The options of a run.
#[derive(Clone)]
pub struct Options {
    pub plan: Plan,
    /// What the plan names may be run.
    pub trusted: Trusted,
    /// Marks findings as made here; none: they get no mark.
    pub key: Option<Key>,
    /// The number of harness processes at a time.
    pub jobs: u64,
    /// The part of the plan's rounds that this run does.
    pub shard: Shard,
    /// The compiled adapter and the harness program.
    pub library: PathBuf,
    pub harness: PathBuf,
    /// The user's files that it was compiled from.
    pub sources: Sources,
    /// Bounds all that the run does. It is begun when the target is loaded, which on a busy machine
    /// can take a while.
    pub time: TimeLimit,
    /// One past the last round.
    pub rounds_max: Option<u64>,
    /// The number of distinct findings, without known ones, after which the run ends.
    pub findings_max: usize,
    /// Time without any progress that counts as a hang.
    pub hang_max: Duration,
    /// Known issues; may be empty.
    pub known: KnownIssues,
    /// Known findings that were replayed before, and show again: the first findings of the run.
    pub regressions: Arc<Vec<Stored>>,
    /// The directory for findings, which get a directory each.
    pub directory: PathBuf,
    /// Where the histories of rounds are kept.
    pub keep: Option<Keep>,
    /// Set by the caller to end the run; its findings are kept.
    pub stop: Arc<AtomicBool>,
    /// End as soon as a finding with this signature is seen.
    pub wanted: Option<Signature>,
    /// Time after which the run ends with [`Uncontrolled::Prebuilt`] if the controlled engine saw
    /// almost no access of a target with prebuilt libraries, or with
    /// [`Uncontrolled::NothingShared`]; none: never.
    pub leave_after: Option<Duration>,
    /// Whether the controlled engine can run the target, with fewer options perhaps.
    pub can_be_controlled: bool,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// The result of a run.
pub struct Summary {
    pub hello: Box<Hello>,
    pub model: Spec,
    pub statistics: Statistics,
    /// The pairs of accesses that `statistics` counts, sorted.
    pub pairs: Vec<u64>,
    /// The atomic accesses that were made, if the plan asks for them.
    pub orders: BTreeSet<OrderedAccess>,
    /// The growth of the counts over time.
    pub curve: Vec<Point>,
    /// The distinct findings, in the order of their first sightings.
    pub findings: Vec<Stored>,
    pub ending: Ending,
}

impl Summary {
    pub fn outcome(&self) -> Outcome {
        let is_new = |stored: &Stored| stored.finding.known.is_none();
        self.statistics.outcome(self.findings.iter().any(is_new))
    }
}

/// Why the controlled engine cannot drive a target.
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
    /// The reason as text.
    #[error("cannot control: {0}; or use --engine native, which needs no hold on the target")]
    Refused(String),
    #[error(
        "in {rounds} rounds the controlled engine saw next to no access by which one thread \
         noticed another ({pairs} pairs): what they share is {libraries}'s, which has no hooks"
    )]
    Prebuilt { libraries: String, rounds: u64, pairs: u64, elapsed: Duration },
    #[error(
        "in {rounds} rounds the controlled engine saw no access by which one thread noticed \
         another, no lock and no wait: what the threads share is then accessed by inline assembly \
         or by code without hooks, between whose instructions no thread can be switched"
    )]
    NothingShared { rounds: u64, elapsed: Duration },
}

impl Uncontrolled {
    /// The time that the attempt took.
    pub fn spent(&self) -> Duration {
        match self {
            Uncontrolled::Prebuilt { elapsed, .. }
            | Uncontrolled::NothingShared { elapsed, .. } => *elapsed,
            Uncontrolled::Blind | Uncontrolled::Refused(_) => Duration::ZERO,
        }
    }
}

/// The target ended its process while it was loaded.
#[derive(Debug, thiserror::Error)]
#[error("adapter {adapter}: the target failed before its first round")]
pub struct FailedAtLoad {
    pub adapter: String,
    pub fault: Failure,
    /// What it printed.
    pub output: String,
}

/// What a run warns of.
#[derive(Debug)]
pub enum Warning {
    /// A fault that may not be its round's doing: the round is carried out again in a fresh
    /// process. `grown`: the process had grown in earlier rounds; otherwise it was killed.
    Doubtful { round: u64, fault: Box<Failure>, grown: bool },
    /// A process made no progress in this round for so long that it was killed, and nothing shows
    /// that the target is the cause. The round is left out.
    Stalled { round: u64, seconds: u64 },
    /// A harness judged a round otherwise than the main program, so its memory cannot be trusted.
    /// The main program's verdict counts, and another process goes on.
    Misjudged { round: u64 },
    /// The run ended while this round stood still in code of the target, though not yet for so
    /// long that it is a hang. `fault`: the hang that it may be.
    Stuck { round: u64, fault: Box<Failure>, patience: Duration },
    /// A process grew and was started anew.
    Growth(Growth, Engine),
    /// An order explains the first calls of a long round, and the time did not suffice to judge the
    /// last ones.
    Unjudged { round: u64, explained: u64, unjudged: u64 },
    /// Rounds with more threads than processors take so many times longer for each call.
    Oversubscribed { processors: u32, times_slower: u64 },
    /// The structure's class has public methods that nothing calls.
    NeverCalled(Vec<String>),
    /// A container puts values in but takes none out, or the reverse.
    OneSided { offers: Vec<&'static str>, lacks: Vec<&'static str> },
    /// A method has another type than the specification by which its calls are judged.
    OtherType(OtherType),
    /// In words, most often of an error.
    Other(String),
}

/// Saves the findings of a run and shows its progress.
pub trait Observer {
    fn started(&mut self, hello: &Hello, model: &Spec);
    fn progressed(&mut self, statistics: &Statistics);
    /// Writes the directory of a finding, and replaces an earlier sighting of it.
    ///
    /// # Errors
    /// If it cannot be written. The finding is reported nevertheless.
    fn save(&mut self, stored: &Stored, options: &Options) -> Result<()>;
    /// A new finding, after it was saved.
    fn found(&mut self, stored: &Stored);
    fn warned(&mut self, warning: &Warning);
}

/// How long the first job runs alone. To start a harness takes some 20 ms of a processor, and many
/// bugs are found as fast: more jobs would cost more than they find.
const HEAD_START: Duration = Duration::from_millis(100);

/// Runs the plan.
pub fn fuzz(options: &Options, observer: &mut dyn Observer) -> Result<Summary> {
    let scratch = scratch_for(options)?;
    let quit = AtomicBool::new(false);
    let collector = Collector::new(options, observer, scratch.path(), &quit);
    let (sender, messages) = sync_channel(MESSAGES_MAX);
    std::thread::scope(|scope| {
        for job in 0..options.jobs {
            let (sender, quit, scratch) = (sender.clone(), &quit, scratch.path());
            let scratch = scratch.join(format!("job-{job}"));
            let rounds = options.rounds_of(job);
            scope.spawn(move || {
                let done = std::fs::create_dir(&scratch)
                    .context("cannot make a temporary directory")
                    .and_then(|()| {
                        if job > 0 && !waits(HEAD_START, quit) {
                            return Ok(());
                        }
                        let mut send = |message| send(&sender, message, quit);
                        Worker::new(options, rounds, &scratch, &mut send).run()
                    });
                let _ = sender.send(Message::Ended(done));
            });
        }
        drop(sender);
        let summary = collector.collect(messages, options.jobs);
        // After an error the jobs still run.
        quit.store(true, Ordering::Relaxed);
        summary
    })
}

/// Waits so long, or until the run is over. Returns whether it goes on.
fn waits(duration: Duration, quit: &AtomicBool) -> bool {
    let (since, is_over) = (Instant::now(), || quit.load(Ordering::Relaxed));
    while since.elapsed() < duration && !is_over() {
        std::thread::sleep(duration / 16);
    }
    !is_over()
}

/// Sends a message, unless it is counts of nothing. Returns whether more messages are wanted.
fn send(sender: &SyncSender<Message>, message: Message, quit: &AtomicBool) -> bool {
    let is_idle = matches!(&message, Message::Counts(counts) if counts.is_empty());
    (is_idle || sender.send(message).is_ok()) && !quit.load(Ordering::Relaxed)
}

impl Options {
    /// The rounds of a job. Those of shard i of n are i, i + n, i + 2n, ...; jobs take them in
    /// turn, so that a shard is the same whatever the number of jobs.
    fn rounds_of(&self, job: u64) -> JobRounds {
        let Shard { index, count } = self.shard;
        JobRounds { first: index + count * job, step: count * self.jobs, end: self.rounds_max }
    }
}

/// Recordings are made on the disk of the findings, so that keeping one needs no copy.
fn scratch_for(options: &Options) -> Result<TempDir> {
    if options.plan.engine != Engine::Rr {
        return scratch();
    }
    let out = &options.directory;
    recording_dirs::directory_in(out)
        .with_context(|| format!("cannot make a directory for recordings in {}", out.display()))
}

/// Checks that findings can be written there. To be called before a run, which would lose the first
/// one.
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
    crate::core::files::scratch().context("cannot make a temporary directory")
}
