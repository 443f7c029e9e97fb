//! Runs the plan of a stored finding again, perhaps with changed code.
//! With the controlled engine: its own round, and if that shows nothing, the same calls under
//! further schedules, because changed code takes other steps than the stored schedule counts.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;

use super::rerun::search;
use super::worker::{JobRounds, Message, Sighting, Worker};
use super::{Observer, Options, fuzz};
use crate::core::measured::INTERVALS_FOR_95_PERCENT;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, Plan};
use crate::core::scenario;
use crate::finding::{Failure, Identity, Stored};
use crate::trace::frame::Steps;
use crate::trace::rounds::Round;

/// Further schedules of the same calls.
const FURTHER: u64 = 500;

/// What became of a finding whose plan was run again.
pub struct Again {
    pub shown: Shown,
    /// How its own round went; none of native threads.
    pub own: Option<OwnRound>,
    /// Rounds that were run and decided, and those of them that tried a further schedule.
    pub rounds: u64,
    pub further: u64,
    pub seconds: f64,
    /// Whether so many rounds without the finding say something: enough of those that showed it
    /// now and then, and none of a finding that never recurred.
    pub is_enough: bool,
}

/// What the rounds showed.
pub enum Shown {
    /// The finding.
    Same(Box<Stored>),
    /// Another one alone.
    Other(Box<Stored>),
    /// An order explains every round.
    Nothing,
    /// A round was not over or not decided in time, and none showed anything.
    Undecided,
}

/// How the round of a finding of the controlled engine went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnRound {
    /// Operations that were called, and how many the finding had, if that is known.
    pub operations: usize,
    pub planned: Option<usize>,
    /// The history is that of the finding, record by record.
    pub is_identical: bool,
    /// The same threads ran at the same steps.
    pub is_followed: bool,
    /// Its steps when it was found, and now.
    pub steps: [u64; 2],
}

impl Again {
    pub fn outcome(&self) -> Outcome {
        match self.shown {
            Shown::Same(_) | Shown::Other(_) => Outcome::Found,
            Shown::Nothing if self.is_enough => Outcome::NothingFound,
            Shown::Nothing | Shown::Undecided => Outcome::NotDecided,
        }
    }

    pub fn is_same(&self) -> bool {
        matches!(self.shown, Shown::Same(_))
    }
}

/// What became of the known findings that were replayed before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Regressions {
    /// Known findings of the target.
    pub known: usize,
    /// Those that show again, and those whose plan shows another finding.
    pub again: usize,
    pub other_failures: usize,
    /// Those for which that is not certain.
    pub undecided: usize,
    /// Findings of other targets, which were left out.
    pub others: usize,
}

/// Runs the plan of `options`, which is that of the finding. It ends with their time.
pub fn again(stored: &Stored, options: &Options, observer: &mut dyn Observer) -> Result<Again> {
    match options.plan.engine {
        Engine::Controlled => controlled(stored, options),
        Engine::Native | Engine::Rr => native(stored, options, observer),
    }
}

fn controlled(stored: &Stored, options: &Options) -> Result<Again> {
    let (started, scratch) = (Instant::now(), super::scratch()?);
    let identity = Identity::new(&stored.finding);
    let own = Followed::round(options, stored.finding.round, scratch.path())?;
    let own_round = own.round.as_ref().map(|round| OwnRound::new(stored, round));
    let (mut shown, mut further) = (own.shown(&identity), 0);
    if let (Shown::Nothing, Some(plan)) = (&shown, other_schedules(stored, &options.plan)) {
        let (options, mut seen) = (Options { plan, ..options.clone() }, Vec::new());
        let mut take = |sighting: Option<Sighting>| {
            seen.extend(sighting.map(|sighting| sighting.stored(&options)));
            seen.is_empty() && !options.time.is_over()
        };
        let searched = search(&options, 0..FURTHER, scratch.path(), &mut take)?;
        further = searched.rounds - searched.undecided;
        shown = sifted(seen, &identity).unwrap_or(shown);
    }
    Ok(Again {
        shown,
        own: own_round,
        rounds: 1 + further,
        further,
        seconds: started.elapsed().as_secs_f64(),
        is_enough: stored.finding.confirmed != Some(false),
    })
}

/// The plan of the same calls with schedules that are drawn; none if it makes one call at a time.
fn other_schedules(stored: &Stored, plan: &Plan) -> Option<Plan> {
    let (start, history) = (&stored.round.start, &stored.round.history);
    let listed = plan.scenario(stored.finding.round).cloned();
    let mut scenario = listed.unwrap_or_else(|| scenario::from_history(history, start.threads));
    let is_sequential = start.sequential || scenario.sequential || start.threads < 2;
    scenario.schedule = None;
    let mut plan = Plan { scenarios: vec![scenario], ..plan.clone() };
    plan.control.policy = None;
    (!is_sequential).then_some(plan)
}

fn native(stored: &Stored, options: &Options, observer: &mut dyn Observer) -> Result<Again> {
    let wanted = Some(stored.finding.signature.clone());
    let summary = fuzz(&Options { wanted, ..options.clone() }, observer)?;
    let (statistics, identity) = (&summary.statistics, Identity::new(&stored.finding));
    let is_sequential = stored.round.start.sequential;
    let rounds = statistics.rounds + if is_sequential { statistics.warm_up } else { 0 };
    let is_undecided = rounds == 0 || statistics.undecided() > 0;
    let none = if is_undecided { Shown::Undecided } else { Shown::Nothing };
    Ok(Again {
        shown: sifted(summary.findings, &identity).unwrap_or(none),
        own: None,
        rounds,
        further: 0,
        seconds: statistics.elapsed.as_secs_f64(),
        is_enough: rounds_enough(stored).is_some_and(|enough| rounds >= enough),
    })
}

/// The rounds of native threads that show the finding 19 times in 20, if they still can; none if
/// how often they do was never measured.
pub fn rounds_enough(stored: &Stored) -> Option<u64> {
    if stored.round.start.sequential {
        return Some(stored.finding.round + 1);
    }
    let measured = stored.finding.shrunk.as_ref()?.measured?;
    let each = measured.rounds as f64 / measured.shown as f64;
    (measured.shown > 0).then(|| (each * INTERVALS_FOR_95_PERCENT).ceil() as u64)
}

/// A round that was followed to its end.
#[derive(Default)]
struct Followed {
    seen: Vec<Stored>,
    round: Option<Round>,
    is_undecided: bool,
}

impl Followed {
    fn round(options: &Options, round: u64, scratch: &Path) -> Result<Followed> {
        let scratch = scratch.join("own");
        std::fs::create_dir_all(&scratch).context("cannot make a temporary directory")?;
        let rounds = JobRounds { first: round, step: 1, end: Some(round + 1) };
        let mut followed = Followed::default();
        let mut send = |message| {
            match message {
                Message::Seen(sighting) => followed.seen.push(sighting.stored(options)),
                Message::Round(round) => followed.round = Some(*round),
                Message::Counts(counts) => followed.is_undecided |= !counts.inconclusive.is_empty(),
                _ => {}
            }
            !options.time.is_grace_over() && !options.stop.load(Ordering::Relaxed)
        };
        Worker::new(options, rounds, &scratch, &mut send).keeping_rounds().run()?;
        Ok(followed)
    }

    fn shown(self, identity: &Identity) -> Shown {
        let is_whole = self.round.is_some() && !self.is_undecided;
        let none = if is_whole { Shown::Nothing } else { Shown::Undecided };
        sifted(self.seen, identity).unwrap_or(none)
    }
}

/// The sighting of the finding, else any.
fn sifted(mut seen: Vec<Stored>, identity: &Identity) -> Option<Shown> {
    match seen.iter().position(|seen| identity.matches(&seen.finding, &seen.round.history)) {
        Some(at) => Some(Shown::Same(Box::new(seen.swap_remove(at)))),
        None => seen.pop().map(|other| Shown::Other(Box::new(other))),
    }
}

impl OwnRound {
    fn new(stored: &Stored, now: &Round) -> OwnRound {
        let before = &stored.round;
        let listed = stored.finding.plan.scenario(stored.finding.round);
        let was_whole = matches!(stored.finding.what, Failure::Violation { .. });
        let recorded = was_whole.then(|| calls_of(before));
        let [then, today] = [before, now].map(|round| round.end.steps.as_ref());
        let steps = [then, today].map(|steps| steps.map_or(0, |steps| steps.steps));
        let hash = |steps: Option<&Box<Steps>>| steps.map(|steps| steps.schedule);
        OwnRound {
            operations: calls_of(now),
            planned: listed.map(|scenario| scenario.calls()).or(recorded),
            is_identical: now.history == before.history,
            is_followed: hash(then) == hash(today),
            steps,
        }
    }
}

/// The operations of a round's callers, without the drain's.
fn calls_of(round: &Round) -> usize {
    let threads = round.history.threads.iter();
    threads.filter(|t| t.client < round.start.threads).map(|t| t.operations().len()).sum()
}
