//! Runs candidates and returns the rounds that show the finding.
//! [`Identity`] decides which those are.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::carried_schedule;
use crate::core::plan::{Engine, Plan, Scenario};
use crate::finding::{Finding, Identity, Size, Stored};
use crate::fuzz::{self, Options, Searched, Sighting};
use crate::process::supervise::noticed_after;
use crate::schedule::{Spec, Turn};
use crate::trace::frame::Schedule;

/// A candidate is given up after so many faults, because each costs a process.
const FAULTS_MAX: u32 = 16;
/// Most turns of a schedule that is carried over to candidates, because each lists them.
const TURNS_MAX: usize = 4096;
/// If calls wait for ever in so many rounds with other schedules, in all of them, that does not
/// depend on the schedule. Native rounds are fewer, because each takes a while.
const ROUNDS_THAT_WAIT: u64 = 12;
const NATIVE_ROUNDS_THAT_WAIT: u64 = 4;
/// Rounds of native threads before this may be special: the first make one call at a time.
pub(super) const ROUND_FIRST: u64 = 1 << 10;
/// Time without progress that counts as a hang of a candidate, unless hanging is the finding.
const HANG_MAX: Duration = Duration::from_secs(4);
/// The same if hanging is the finding: far more than a thread waits for its turn on a busy machine.
/// The smallest candidate is run again with the user's limit.
const HANG_OF_TRIAL: Duration = Duration::from_millis(300);
/// A candidate may take this many times as long as a process with the finding's round, and at least
/// [`HANG_OF_TRIAL`].
const HANG_FACTOR: u32 = 4;

/// A round that shows the finding.
#[derive(Clone)]
pub(super) struct Shown {
    pub plan: Plan,
    pub sighting: Sighting,
    /// How often its calls show it, estimated; for native threads.
    pub per_second: f64,
}

impl Shown {
    pub fn scenario(&self) -> &Scenario {
        self.plan.scenarios.first().expect("every candidate lists its calls")
    }

    pub fn round(&self) -> u64 {
        self.sighting.round.start.round
    }

    /// The scenario to reduce, with a schedule near the recorded one.
    pub fn base(&self) -> Scenario {
        let near = self.turns().map(|turns| Spec::Near(turns).to_string());
        Scenario { schedule: near, ..self.scenario().clone() }
    }

    /// The turns of its schedule, if that was recorded and they are not too many.
    pub fn turns(&self) -> Option<Vec<Turn>> {
        let turns = carried_schedule::parsed(&self.schedule()?.turns);
        (turns.len() <= TURNS_MAX).then_some(turns)
    }

    fn schedule(&self) -> Option<&Schedule> {
        self.sighting.round.end.steps.as_ref()?.recorded.as_ref()
    }

    /// The policy that repeats its schedule, if that was recorded.
    pub fn list(&self) -> Option<&str> {
        self.schedule().map(|schedule| schedule.list.as_str())
    }

    pub fn size(&self) -> Size {
        let scenario = self.scenario();
        let preemptions = self.schedule().map(|schedule| schedule.preemptions);
        Size { calls: scenario.calls(), threads: scenario.threads.len(), preemptions }
    }

    /// Preemptions and switches of the schedule; an unknown schedule costs more than any other.
    pub fn cost(&self) -> (u64, usize) {
        self.schedule().map_or((u64::MAX, usize::MAX), |schedule| {
            (schedule.preemptions, schedule.list.matches('@').count())
        })
    }
}

pub(super) struct Search {
    /// With the user's time without progress that counts as a hang.
    options: Options,
    /// That time for candidates.
    patience: Cell<Duration>,
    identity: Identity,
    scratch: TempDir,
    until: Cell<Instant>,
    /// Whether the finding must depend on the schedule, see [`Search::depends`].
    must_depend: Cell<bool>,
    /// Rounds run so far.
    rounds: Cell<u64>,
}

impl Search {
    /// Until the time of `options` is over.
    pub fn new(finding: &Finding, options: &Options) -> Result<Search> {
        let until = options.time.end().context("the time of a search is limited")?;
        let scratch = crate::core::files::scratch().context("cannot make a temporary directory")?;
        let hangs = finding.signature.is_hang();
        let patience = options.hang_max.min(if hangs { HANG_OF_TRIAL } else { HANG_MAX });
        Ok(Search {
            options: Options { keep: None, ..options.clone() },
            patience: Cell::new(patience),
            identity: Identity::new(finding),
            scratch,
            until: Cell::new(until),
            must_depend: Cell::new(false),
            rounds: Cell::new(0),
        })
    }

    /// As [`Search::new`], with another engine than the one that showed the finding. Calls that do
    /// not return must depend on the schedule: those of an excerpt may wait for a call that it
    /// lacks.
    pub fn with_other_engine(stored: &Stored, options: &Options) -> Result<Search> {
        let search = Search::new(&stored.finding, options)?;
        let identity = Identity::of_any_engine(&stored.finding, &stored.round.history);
        search.must_depend.set(search.is_about_waiting());
        Ok(Search { identity, ..search })
    }

    /// From now on candidates that take far longer than this round count as hangs. Many candidates
    /// of a broken structure never end, and waiting for them would take most of the time.
    pub fn limit_patience(&self, shown: &Shown) -> Result<()> {
        let (round, started) = (shown.round(), Instant::now());
        self.look(&shown.plan, round..round + 1, u64::MAX)?;
        let enough = (started.elapsed() * HANG_FACTOR).max(HANG_OF_TRIAL);
        self.patience.set(self.patience.get().min(enough));
        Ok(())
    }

    /// The options for candidates.
    fn trial(&self) -> Options {
        Options { hang_max: self.patience.get(), ..self.options.clone() }
    }

    /// Whether the finding is a livelock, so that the limit on steps must stay.
    pub fn is_about_steps(&self) -> bool {
        self.identity.signature().is_livelock()
    }

    /// Whether the finding is that calls do not return.
    fn is_about_waiting(&self) -> bool {
        self.identity.signature().is_about_waiting()
    }

    /// From now on it must depend on the schedule whether calls return, if it does for these calls.
    /// Some calls are meant to wait for another call, and wait for ever if that is removed.
    pub fn require_dependence(&self, plan: &Plan) -> Result<()> {
        self.must_depend.set(self.is_about_waiting());
        self.must_depend.set(self.must_depend.get() && self.depends(plan)?);
        Ok(())
    }

    /// The rounds that depend on the schedule, if they must.
    pub fn keep_dependent(&self, mut found: Vec<Option<Shown>>) -> Result<Vec<Option<Shown>>> {
        for one in &mut found {
            if let Some(shown) = one
                && !self.depends(&shown.plan)?
            {
                *one = None;
            }
        }
        Ok(found)
    }

    /// Whether the calls return with another schedule, if that is required. Native threads, which
    /// may hang nearly always, make one call at a time.
    pub fn depends(&self, plan: &Plan) -> Result<bool> {
        if !self.must_depend.get() {
            return Ok(true);
        }
        let mut plan = plan.clone();
        plan.control.policy = None;
        let is_native = plan.engine == Engine::Native;
        for scenario in &mut plan.scenarios {
            (scenario.schedule, scenario.sequential) = (None, is_native || scenario.sequential);
        }
        let (first, rounds) = match is_native {
            true => (ROUND_FIRST, NATIVE_ROUNDS_THAT_WAIT),
            false => (0, ROUNDS_THAT_WAIT),
        };
        let options = Options { plan: plan.clone(), ..self.trial() };
        let mut waits = 0;
        self.counted(&options, first..first + rounds, &mut |seen| {
            waits += u64::from(seen.is_some_and(|seen| match is_native {
                true => seen.round.end.fault.is_some(),
                false => self.shown(&plan, seen).is_some(),
            }));
            true
        })?;
        Ok(waits < rounds)
    }

    /// How long a candidate that shows a hang makes no progress before it counts.
    pub fn waits(&self) -> Duration {
        let hangs = self.identity.signature().is_hang();
        if hangs { noticed_after(self.patience.get()) } else { Duration::ZERO }
    }

    /// Rounds run so far.
    pub fn rounds(&self) -> u64 {
        self.rounds.get()
    }

    /// Time that is left.
    pub fn left(&self) -> Duration {
        self.until.get().saturating_duration_since(Instant::now())
    }

    /// Whether the user stopped the run.
    pub fn is_stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed)
    }

    /// Sets the end of the search.
    pub fn set_until(&self, until: Instant) {
        self.until.set(until);
    }

    /// From now on it may go on as long as what is under way at the end: for the last run.
    pub fn finish(&self) {
        self.until.set(self.options.time.end_of_grace().unwrap_or_else(Instant::now));
    }

    /// Whether time is up, or the user stopped the run.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.until.get() || self.is_stopped()
    }

    /// Runs the plan's rounds until one shows the finding with at most `enough` preemptions; else
    /// returns the one with the fewest. An error is of the target or of the machine.
    pub fn look(&self, plan: &Plan, rounds: Range<u64>, enough: u64) -> Result<Option<Shown>> {
        let mut best = None::<Shown>;
        self.run(&self.trial(), plan, rounds, &mut |seen| {
            if let Some(shown) = seen
                && best.as_ref().is_none_or(|best| shown.cost() < best.cost())
            {
                best = Some(shown);
            }
            best.as_ref().is_none_or(|best| best.cost().0 > enough) && !self.is_over()
        })?;
        Ok(best)
    }

    /// Runs the plan's scenarios in turn in one process, each with so many schedules. Returns for
    /// each the first round that shows the finding, if any.
    pub fn look_at_each(&self, plan: &Plan, schedules: u64) -> Result<Vec<Option<Shown>>> {
        let count = plan.scenarios.len() as u64;
        let mut found: Vec<Option<Shown>> = plan.scenarios.iter().map(|_| None).collect();
        self.run(&self.trial(), plan, 0..count * schedules, &mut |seen| {
            if let Some(shown) = seen {
                let of = &mut found[(shown.round() % count) as usize];
                if of.is_none() {
                    *of = Some(shown);
                }
            }
            found.iter().any(Option::is_none) && !self.is_over()
        })?;
        Ok(found)
    }

    /// As [`Search::look`] for one round, but even after the user stopped the run, and with the
    /// user's limit for hangs.
    pub fn look_anyway(&self, plan: &Plan, round: u64) -> Result<Option<Shown>> {
        let options = Options { stop: Default::default(), ..self.options.clone() };
        let mut found = None;
        self.run(&options, plan, round..round + 1, &mut |seen| {
            found = found.take().or(seen);
            Instant::now() < self.until.get()
        })?;
        Ok(found)
    }

    /// Runs rounds of the plan from `first` on, for at most `time` or until `take` returns false.
    /// It gets the rounds that show the finding, and none from time to time. Faults do not end it.
    /// With `anyway` it runs even if time is up or the user stopped the run.
    pub fn take(
        &self,
        plan: &Plan,
        first: u64,
        (time, anyway): (Duration, bool),
        take: &mut dyn FnMut(Option<Shown>) -> bool,
    ) -> Result<Searched> {
        let stop = if anyway { Default::default() } else { self.options.stop.clone() };
        let options = Options { stop, ..self.trial() };
        self.take_with(&options, plan, first, (time, anyway), take)
    }

    /// The first round of the plan, from `first` on, that hangs for the user's limit; none if there
    /// is none in `time`.
    pub fn hangs_for_long(&self, plan: &Plan, first: u64, time: Duration) -> Result<Option<Shown>> {
        let options = Options { stop: Default::default(), ..self.options.clone() };
        let mut found = None;
        let time = time + options.hang_max;
        self.take_with(&options, plan, first, (time, true), &mut |seen| {
            found = found.take().or(seen);
            found.is_none()
        })?;
        Ok(found)
    }

    fn take_with(
        &self,
        options: &Options,
        plan: &Plan,
        first: u64,
        (time, anyway): (Duration, bool),
        take: &mut dyn FnMut(Option<Shown>) -> bool,
    ) -> Result<Searched> {
        let options = Options { plan: plan.clone(), ..options.clone() };
        // Loading the target does not count.
        let mut started = None::<Instant>;
        let mut sift = |seen: Option<Sighting>| {
            let started = *started.get_or_insert_with(Instant::now);
            let wanted = take(seen.and_then(|sighting| self.shown(plan, sighting)));
            wanted && started.elapsed() < time && (anyway || !self.is_over())
        };
        self.counted(&options, first..u64::MAX, &mut sift)
    }

    /// The sighting's round, if it shows the finding.
    fn shown(&self, plan: &Plan, sighting: Sighting) -> Option<Shown> {
        let shows = self.identity.matches(&sighting.finding, &sighting.round.history);
        shows.then(|| {
            let scenario = plan.scenario(sighting.round.start.round).cloned();
            let plan = Plan { scenarios: scenario.into_iter().collect(), ..plan.clone() };
            Shown { plan, sighting, per_second: 0.0 }
        })
    }

    /// Runs rounds until `take` returns false. It gets those that show the finding.
    fn run(
        &self,
        options: &Options,
        plan: &Plan,
        rounds: Range<u64>,
        take: &mut dyn FnMut(Option<Shown>) -> bool,
    ) -> Result<()> {
        let options = Options { plan: plan.clone(), ..options.clone() };
        let mut faults = 0;
        let mut sift = |seen: Option<Sighting>| {
            faults += u32::from(seen.as_ref().is_some_and(|seen| seen.round.end.fault.is_some()));
            take(seen.and_then(|seen| self.shown(plan, seen))) && faults < FAULTS_MAX
        };
        self.counted(&options, rounds, &mut sift).map(drop)
    }

    fn counted(
        &self,
        options: &Options,
        rounds: Range<u64>,
        sift: &mut dyn FnMut(Option<Sighting>) -> bool,
    ) -> Result<Searched> {
        let searched = fuzz::search(options, rounds, self.scratch.path(), sift)?;
        self.rounds.set(self.rounds.get() + searched.rounds);
        Ok(searched)
    }
}
