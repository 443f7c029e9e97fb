//! Searches for a program that reproduces the finding: compiles and runs drafts within a limit of
//! time, and returns the best one with the result of its runs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::program::Symptom;
use super::trial::{self, Limits};
use super::turns::{Schedule, ScheduleBuilder};
use super::{Draft, Material, Runtime};
use crate::adapter::compile::lacks_hooks;
use crate::finding::Failure;
use crate::process::fault::FaultKind;
use crate::trace::frame::DetectedKind;
use crate::trace::trail::{Act, EVENTS_MAX};

/// Runs of a program that forces an order.
pub const RUNS: usize = 20;
/// The same if it hangs, which takes seconds each time.
const HANGING_RUNS: usize = 4;
/// Runs of a program that leaves the order to chance, and the least and most seconds of each.
const LONG_RUNS: usize = 5;
const LONG_SECONDS: [f64; 2] = [1.0, 6.0];
/// Percent of the time for programs that force an order; the rest is left to chance.
const FORCED_PERCENT: u32 = 70;
/// The time limit of a compiler for a draft that must be compiled.
const COMPILE_MAX: Duration = Duration::from_secs(180);
/// The least time for the first program, however little is left.
const FIRST_MIN: Duration = Duration::from_secs(10);

/// The result of trying a draft.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialResult {
    NotTried,
    /// With the compiler's messages.
    DoesNotCompile(String),
    /// `shown` of `runs` runs showed the finding; each had so many seconds.
    Runs {
        shown: usize,
        runs: usize,
        seconds: f64,
        effort: Effort,
    },
}

/// What the search tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// How many programs that force an order were tried, and how many there are.
    pub forced: usize,
    pub total: usize,
    /// The time limit of the search.
    pub limit: Duration,
}

impl Effort {
    /// What was tried without success, in two sentences.
    fn words(&self) -> String {
        let Effort { forced, total, limit } = *self;
        let seconds = limit.as_secs();
        let orders = match (forced, total) {
            (_, 0) => "No order of its threads can be forced; they were left to chance".to_string(),
            (1, 1) => "One program that forces the order was tried, which did not show it".into(),
            (_, _) if forced == total => {
                format!("All {total} programs that may force the order were tried; none showed it")
            }
            _ => format!(
                "{forced} of {total} programs that may force the order were tried in the time that \
                 was given for all trials ({seconds} s, `--try-for`); none showed it"
            ),
        };
        let meaning =
            "That says nothing of the bug, only that this program does not bring it about";
        format!("{orders}. {meaning}.")
    }
}

impl TrialResult {
    pub fn is_sure(&self) -> bool {
        matches!(self, TrialResult::Runs { shown, runs, .. } if shown == runs)
    }

    pub fn is_shown(&self) -> bool {
        matches!(self, TrialResult::Runs { shown, .. } if *shown > 0)
    }

    /// Whether programs were left to try.
    pub fn is_cut_short(&self) -> bool {
        matches!(self, TrialResult::Runs { effort, .. } if effort.forced < effort.total)
    }

    /// What was tried without success; none if the finding was shown, or nothing was tried.
    pub fn failed_effort(&self) -> Option<String> {
        match self {
            TrialResult::Runs { shown: 0, effort, .. } => Some(effort.words()),
            _ => None,
        }
    }

    /// "reproduces in every run (20 of 20)".
    pub fn words(&self) -> String {
        match self {
            TrialResult::NotTried => "not tried".to_string(),
            TrialResult::DoesNotCompile(_) => "does not compile".to_string(),
            TrialResult::Runs { shown, runs, seconds, .. } => {
                let each = match seconds {
                    0.0 => String::new(),
                    seconds => format!(", each given {seconds} seconds"),
                };
                let runs_of = if *runs == 1 { "run" } else { "runs" };
                match shown {
                    0 => format!("was not seen in {runs} {runs_of}{each}"),
                    shown if shown == runs => {
                        format!("reproduces in every run ({shown} of {runs}{each})")
                    }
                    shown => format!("reproduces in some runs ({shown} of {runs}{each})"),
                }
            }
        }
    }
}

/// The best draft that is found within `limit`; without a limit, the likeliest one, untried.
/// `progress` gets lines of progress.
pub fn search(
    material: &Material,
    limit: Option<Duration>,
    progress: &mut dyn FnMut(String),
) -> Result<(Draft, TrialResult)> {
    let schedules = schedules(material);
    let Some(limit) = limit else {
        let likeliest = schedules.into_iter().next().map_or(Runtime::Free, Runtime::Schedule);
        return Ok((material.draft(likeliest), TrialResult::NotTried));
    };
    let started = Instant::now();
    let scratch = crate::core::files::scratch().context("cannot make a temporary directory")?;
    let effort = Effort { limit, total: schedules.len(), ..Effort::default() };
    let end = started + limit;
    let directory = scratch.path();
    let mut probe = Probe { material, directory, started, end, effort, progress };
    match probe.try_forced(schedules)? {
        Some(found) => Ok(found),
        None => probe.try_free_running(),
    }
}

/// Whether no two calls ran at once, so that there is no order of threads to force.
fn is_in_order(material: &Material) -> bool {
    let (round, history) = (&material.stored.round.start, &material.stored.round.history);
    let callers = history.threads.iter().filter(|thread| thread.client < round.threads);
    round.sequential || callers.filter(|t| !t.operations().is_empty()).count() <= 1
}

/// The orders that can be forced: first those of events that other threads can notice, then those
/// of all events.
fn schedules(material: &Material) -> Vec<Schedule> {
    // ThreadSanitizer looks for races itself, and has hooks of its own.
    let is_race = material.symptom() == Symptom::Race;
    let Some(execution) = material.execution.filter(|_| !is_race) else {
        return Vec::new();
    };
    if execution.trail.is_empty() || execution.trail.len() >= EVENTS_MAX {
        return Vec::new();
    }
    let stored = material.stored;
    let builder = ScheduleBuilder {
        history: &stored.round.history,
        threads: stored.round.start.threads,
        trail: &execution.trail,
        hangs: material.symptom() == Symptom::Hang,
    };
    let livelock = FaultKind::Detected(DetectedKind::Livelock);
    let is_livelock =
        matches!(&stored.finding.what, Failure::Fault { kind, .. } if *kind == livelock);
    let ends = match is_livelock {
        true => vec![
            builder.last_new(|event| {
                !matches!(event.act, Act::Load | Act::Read | Act::FailedCompareExchange)
            }),
            builder.last_new(|_| true),
        ],
        false => vec![usize::MAX],
    };
    let mut schedules: Vec<Schedule> = Vec::new();
    for keeps_all in [false, true] {
        for end in &ends {
            let schedule = builder.build(keeps_all, *end);
            let is_forced = !is_in_order(material) || !schedule.older.is_empty();
            if is_forced && !schedules.contains(&schedule) {
                schedules.push(schedule);
            }
        }
    }
    schedules
}

struct Probe<'a> {
    material: &'a Material<'a>,
    directory: &'a Path,
    started: Instant,
    end: Instant,
    effort: Effort,
    progress: &'a mut dyn FnMut(String),
}

impl Probe<'_> {
    fn report_progress(&mut self, what: &str) {
        let (spent, limit) = (self.started.elapsed().as_secs(), self.effort.limit.as_secs());
        (self.progress)(format!("exporting: {what} ({spent} of {limit} s)"));
    }

    /// The first program that forces an order and shows the finding in every run, else one that
    /// shows it in some.
    fn try_forced(&mut self, schedules: Vec<Schedule>) -> Result<Option<(Draft, TrialResult)>> {
        let mut best: Option<(Draft, TrialResult)> = None;
        let until = self.started + self.effort.limit * FORCED_PERCENT / 100;
        for schedule in schedules {
            // The first one is tried however slow the machine is.
            let is_first = self.effort.forced == 0;
            if !is_first && Instant::now() > until {
                break;
            }
            self.effort.forced += 1;
            let Effort { forced, total, .. } = self.effort;
            self.report_progress(&format!("program {forced} of {total} that forces the order"));
            let draft = self.material.draft(Runtime::Schedule(schedule));
            let [least, compile] = match is_first {
                true => [FIRST_MIN, COMPILE_MAX],
                false => [Duration::ZERO, self.left()],
            };
            if self.compile(&draft, compile)?.is_err() || !self.shows(0.0, least)? {
                continue;
            }
            let hangs = self.material.symptom() == Symptom::Hang;
            let tried = self.repeat(if hangs { HANGING_RUNS } else { RUNS })?;
            if tried.is_sure() {
                return Ok(Some((draft, tried)));
            }
            best.get_or_insert((draft, tried));
        }
        Ok(best)
    }

    /// Runs a program whose threads run at once, for the rest of the time.
    fn try_free_running(&mut self) -> Result<(Draft, TrialResult)> {
        let mut draft = self.material.draft(Runtime::Free);
        let mut compiled = self.compile(&draft, COMPILE_MAX)?;
        if compiled.as_ref().is_err_and(|words| lacks_hooks(words)) {
            draft = self.material.draft(Runtime::FreeHooks);
            compiled = self.compile(&draft, COMPILE_MAX)?;
        }
        if let Err(words) = compiled {
            return Ok((draft, TrialResult::DoesNotCompile(words)));
        }
        let [least, most] = LONG_SECONDS;
        let seconds = (self.left().as_secs_f64() / LONG_RUNS as f64).clamp(least, most).floor();
        let (mut shown, mut runs) = (0, 0);
        while runs == 0 || runs < LONG_RUNS && self.left().as_secs_f64() >= seconds {
            self.report_progress(&format!("run {} of a program that is left to chance", runs + 1));
            shown += usize::from(self.shows(seconds, Duration::from_secs_f64(seconds))?);
            runs += 1;
        }
        let tried = TrialResult::Runs { shown, runs, seconds, effort: self.effort };
        Ok((draft, tried))
    }

    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    fn compile(&mut self, draft: &Draft, limit: Duration) -> Result<Result<(), String>> {
        for (name, text) in &draft.files {
            let path = self.directory.join(name);
            let parent = path.parent().unwrap_or(self.directory);
            std::fs::create_dir_all(parent).context("cannot make a temporary directory")?;
            std::fs::write(&path, text).context("cannot write a temporary file")?;
        }
        let command = ["sh", "-c", &draft.command].map(str::to_string);
        trial::compile(&command, self.directory, limit)
    }

    /// Whether one run shows the finding, in the time that is left but at least in `least`.
    fn shows(&self, seconds: f64, least: Duration) -> Result<bool> {
        let limits = Limits { seconds, most: self.left().max(least) };
        trial::shows(self.directory, limits, &self.material.stored.finding.what)
    }

    /// Repeats a run that has shown the finding, while there is time.
    fn repeat(&mut self, most: usize) -> Result<TrialResult> {
        let (mut shown, mut runs) = (1, 1);
        while runs < most && !self.left().is_zero() {
            self.report_progress(&format!("it was shown, again in {shown} of {runs} runs"));
            let is_shown = self.shows(0.0, Duration::ZERO)?;
            // A run that was cut off says nothing.
            if !is_shown && self.left().is_zero() {
                break;
            }
            shown += usize::from(is_shown);
            runs += 1;
        }
        Ok(TrialResult::Runs { shown, runs, seconds: 0.0, effort: self.effort })
    }
}
