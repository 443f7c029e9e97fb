//! Replays known findings before a run, in the run's own build of the adapter: those that show
//! again are regressions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::adapters::Adapters;
use super::fuzz::options_for;
use super::{shrink, trust};
use crate::adapter::catalog::Origin;
use crate::campaign::triage;
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::core::plan::{Build, Engine, Plan, WARM_UP_ROUNDS};
use crate::core::time_limit::TimeLimit;
use crate::finding::Stored;
use crate::finding::known::KnownIssues;
use crate::finding::trust::Trusted;
use crate::fuzz::{self, Again, Options, Regressions, Shown, Sighting, rounds_enough};
use crate::report::output::{note, warning};
use crate::report::progress::Progress;
use crate::report::results::Run;
use crate::report::{run, text};

/// The folder beside an adapter that is looked into without `--regress`.
const FOLDER: &str = "regressions";
/// The part of the run's time for all replays, at most.
const TIME_PART: u32 = 2;

/// What became of the known findings.
#[derive(Default)]
pub struct Replayed {
    pub counts: Regressions,
    /// Those that show again, and other failures of their plans, as findings of this run.
    pub found: Arc<Vec<Stored>>,
    pub spent: Duration,
    /// The rest, for JUnit and SARIF.
    pub runs: Vec<Run>,
}

/// What the replays have in common.
struct Replays<'a> {
    args: &'a arguments::Fuzz,
    build: &'a Build,
    known: &'a KnownIssues,
    adapters: &'a Adapters,
    stop: &'a Arc<AtomicBool>,
}

/// Replays the known findings of this target: those in the user's folder, else in the one beside
/// the adapter, if there is one.
pub fn before(
    args: &arguments::Fuzz,
    plan: &Plan,
    known: &KnownIssues,
    adapters: &Adapters,
    stop: &Arc<AtomicBool>,
) -> Result<Replayed> {
    let Some(folder) = folder(args, adapters)? else { return Ok(Replayed::default()) };
    let (mine, others) = read(&folder, plan.target_name())?;
    let replays = Replays { args, build: &plan.build, known, adapters, stop };
    let (mut found, mut replayed) = (Vec::new(), Replayed::default());
    (replayed.counts.known, replayed.counts.others) = (mine.len(), others);
    for (at, stored) in mine.iter().enumerate() {
        let budget = args.run.duration / TIME_PART;
        let left = budget.saturating_sub(replayed.spent) / (mine.len() - at) as u32;
        let done = replays.replay(stored, left, &mut replayed.spent);
        found.extend(replayed.count(stored, done));
    }
    if !args.run.format.json {
        found.iter().for_each(|stored| note!("\n{}", text::render(stored)));
        note!("{}", run::regressions(&replayed.counts));
    }
    Ok(Replayed { found: Arc::new(found), ..replayed })
}

fn folder(args: &arguments::Fuzz, adapters: &Adapters) -> Result<Option<PathBuf>> {
    if args.regress.is_some() {
        return Ok(args.regress.clone());
    }
    let adapter = adapters.find(&args.target)?;
    let beside = adapter.source.with_file_name(FOLDER);
    Ok((adapter.origin == Origin::User && beside.is_dir()).then_some(beside))
}

/// The findings of this target, and the number of others. Of a recording the smaller finding is
/// taken, because the recording is of the code as it was.
fn read(folder: &Path, target: &str) -> Result<(Vec<Stored>, usize)> {
    let all = triage::findings_in(folder)?.into_iter().map(|directory| {
        let stored = Stored::load(&directory)?;
        let smaller = stored.smaller().is_dir().then(|| Stored::load(&stored.smaller()));
        smaller.unwrap_or(Ok(stored))
    });
    let all = all.collect::<Result<Vec<Stored>>>()?;
    let count = all.len();
    let is_mine = |stored: &Stored| stored.finding.plan.target_name() == target;
    let mine: Vec<Stored> = all.into_iter().filter(is_mine).collect();
    let others = count - mine.len();
    Ok((mine, others))
}

impl Replays<'_> {
    /// Replays one in the time that is left for it, and adds what it took. Returns what became of
    /// it and, if it shows something, that as a finding of this run.
    fn replay(
        &self,
        stored: &Stored,
        left: Duration,
        spent: &mut Duration,
    ) -> Result<(Again, Option<Stored>)> {
        if stored.finding.plan.engine == Engine::Rr {
            bail!("it is a recording, which is of the code as it was; `interlap shrink` it");
        }
        if left.is_zero() || self.stop.load(Ordering::Relaxed) {
            bail!("no time is left; give the run more (--for)");
        }
        let options = self.options(stored, left)?;
        let began = Instant::now();
        let done = fuzz::again(stored, &options, &mut Progress::new(None, true));
        *spent += began.elapsed();
        let mut done = done?;
        let found = self.found(stored, &mut done, &options)?;
        Ok((done, found))
    }

    /// The options of a run of a known finding, with the build of this run.
    fn options(&self, stored: &Stored, left: Duration) -> Result<Options> {
        let plan = Plan { build: self.build.clone(), ..stored.finding.plan.clone() };
        // The user named what is compiled; the finding says only what is called, and how.
        let trusted = Trusted::by_user();
        let options = options_for(self.adapters, plan, trusted, Arc::clone(self.stop))?;
        Ok(Options {
            key: trust::key(),
            time: TimeLimit::of(left),
            rounds_max: rounds_enough(stored).map(|rounds| rounds + WARM_UP_ROUNDS),
            hang_max: self.args.run.hang_with(stored.finding.plan.engine),
            directory: self.args.out.clone(),
            ..options
        })
    }

    /// What it shows, as a finding of this run, written.
    fn found(
        &self,
        stored: &Stored,
        done: &mut Again,
        options: &Options,
    ) -> Result<Option<Stored>> {
        let (Shown::Same(seen) | Shown::Other(seen)) = &done.shown else { return Ok(None) };
        let (mut seen, is_same) = ((**seen).clone(), done.is_same());
        let options = &Options { plan: seen.finding.plan.clone(), ..options.clone() };
        if options.plan.engine == Engine::Controlled {
            let again = fuzz::rerun(options, seen.finding.round)?;
            let is_seen = |s: &Sighting| s.finding.signature == seen.finding.signature;
            seen.finding.confirmed = Some(again.iter().any(is_seen));
        }
        if is_same {
            seen.finding.regression = Some(stored.directory.display().to_string());
        }
        // Its own plan is as small as it was.
        if is_same && done.further == 0 {
            seen.finding.shrunk = stored.finding.shrunk.clone();
            if let Some(shrunk) = &mut seen.finding.shrunk {
                shrunk.plan.build = self.build.clone();
            }
        }
        self.known.mark(&mut seen);
        shrink::complete(&mut seen, options)?;
        Ok(Some(seen))
    }
}

impl Replayed {
    /// Counts what became of a known finding.
    fn count(&mut self, stored: &Stored, done: Result<(Again, Option<Stored>)>) -> Option<Stored> {
        let (done, found) = match done {
            Ok(done) => done,
            Err(error) => {
                self.counts.undecided += 1;
                warning!("{} was not replayed: {error:#}", stored.directory.display());
                return None;
            }
        };
        match done.outcome() {
            Outcome::Found if done.is_same() => self.counts.again += 1,
            Outcome::Found => self.counts.other_failures += 1,
            Outcome::NotDecided => self.counts.undecided += 1,
            Outcome::NothingFound => {}
        }
        if found.is_none() {
            self.runs.push(run::regression(stored, &done));
        }
        found
    }
}
