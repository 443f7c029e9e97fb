//! Shrinking: a finding of the controlled engine comes in, the same finding with fewer calls, fewer
//! threads, simpler arguments and fewer preemptions goes out, as a plan that lists its calls and
//! its switches and gives the identical round each time.
//!
//! Calls are left out as in delta debugging (Zeller, Hildebrandt: Simplifying and Isolating
//! Failure-Inducing Input, TSE 2002), whole threads first, pairs of calls last. What is left is
//! scheduled anew, many times, half of them near the schedule that showed it with more calls: it
//! still shows the finding, or it does not count. Then the calls stay, and the schedule with the
//! fewest preemptions is looked for: few delays first (Emmi, Qadeer, Rakamaric: Delay-Bounded
//! Scheduling, POPL 2011), then turns of the best are left out (Jalbert, Sen: A Trace
//! Simplification Technique for Effective Debugging of Concurrent Programs, FSE 2010).
//!
//! What counts as the same finding is [`search::Identity`]'s to say. Prints nothing, writes
//! nothing.

mod schedule;
mod search;
mod smaller;
mod turns;

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::finding::{Finding, Shrunk, Size, Stored};
use crate::fuzz::Options;
use crate::plan::{Engine, Heap, Plan, Scenario};
use crate::scenario;
use search::{Search, Shown};

/// Schedules that each candidate gets, level by level: most need few, and what the first level
/// leaves is small, so that the next is affordable.
const SCHEDULES: [u64; 4] = [300, 2_000, 10_000, 50_000];
/// The same for the first candidate, which has all calls, where the recorded schedule does not fit.
const SCHEDULES_FIRST: u64 = 10_000;
/// Candidates that are tried in one process.
const BATCH: usize = 32;
/// The part of the time in which turns of the schedule may be left out first, in percent.
const TURNS_PERCENT: u32 = 20;
/// Of more calls than this, not all pairs are tried.
const PAIRS_CALLS_MAX: usize = 24;
/// The part of the time that a level may leave out calls, in percent: fewer preemptions need the
/// rest.
const CALLS_PERCENT: u32 = 60;
/// A candidate's round may take so many times the steps that the finding's took, and at least so
/// many, before it counts as a livelock: many candidates of a broken structure never end.
const STEPS_FACTOR: u64 = 20;
const STEPS_MIN: u64 = 2_000;

/// What is shrunk with what.
pub struct Shrinker<'a> {
    search: Search,
    best: Shown,
    /// The scenario of the best, with the schedule that showed it.
    base: Scenario,
    /// When all time is used up.
    until: Instant,
    tell: &'a mut dyn FnMut(Size),
}

/// Shrinks a finding for at most `budget`; `tell` hears of every step. `options` are those of a run
/// of its plan. None where the finding does not recur, is not of the controlled engine, or is seen
/// with one call at a time, which no schedule has a part in.
pub fn shrink(
    stored: &Stored,
    options: &Options,
    budget: Duration,
    tell: &mut dyn FnMut(Size),
) -> Result<Option<Stored>> {
    if stored.finding.plan.engine != Engine::Controlled || stored.round.start.sequential {
        return Ok(None);
    }
    let until = Instant::now() + budget;
    let search = Search::new(&stored.finding, options, until)?;
    let Some(best) = first(&search, stored)? else { return Ok(None) };
    let mut best = with_its_heap(&search, best)?;
    // Of a schedule that has only what matters, more is left when calls are left out.
    search.set_until(Instant::now() + budget * TURNS_PERCENT / 100);
    schedule::fewer_turns(&search, &mut best)?;
    search.set_until(until);
    let mut shrinker = Shrinker { search, base: best.base(), best, until, tell };
    shrinker.told();
    let mut smallest = None::<Shown>;
    for schedules in SCHEDULES {
        let before = shrinker.best.size();
        shrinker.level(schedules)?;
        // Fewer calls may need more preemptions: what is easier to follow is kept.
        let best = &shrinker.best;
        let weight = best.size().weight();
        if smallest.as_ref().is_none_or(|smallest| weight <= smallest.size().weight()) {
            smallest = Some(best.clone());
        }
        let stuck = schedules >= SCHEDULES_FIRST && best.size() == before;
        if stuck || shrinker.search.is_over() {
            break;
        }
    }
    shrinker.best = smallest.unwrap_or(shrinker.best);
    shrinker.finish(stored)
}

/// The finding's round with its calls listed; not yet smaller.
fn first(search: &Search, stored: &Stored) -> Result<Option<Shown>> {
    let Finding { plan, round, .. } = &stored.finding;
    let alone = *round..*round + 1;
    let mut plan = plan.clone();
    plan.control.records = true;
    let Some(recorded) = search.look(&plan, alone.clone(), u64::MAX)? else { return Ok(None) };
    if !plan.scenarios.is_empty() {
        return Ok(Some(recorded));
    }
    let round = &recorded.sighting.round;
    plan.scenarios = vec![scenario::of(&round.history, round.start.threads)];
    if let (Some(steps), false) = (&round.end.steps, search.is_about_steps()) {
        let enough = (steps.steps * STEPS_FACTOR).max(STEPS_MIN);
        plan.control.steps_max = plan.control.steps_max.min(enough);
    }
    // Of the same seed and number, the round has the same schedule, unless the target refused some
    // calls, which are not listed.
    if let Some(same) = search.look(&plan, alone, u64::MAX)? {
        return Ok(Some(same));
    }
    plan.control.policy = None;
    search.look(&plan, 0..SCHEDULES_FIRST, u64::MAX)
}

/// The same with the kind of heap that its round drew, so that candidates need not draw it again.
fn with_its_heap(search: &Search, shown: Shown) -> Result<Shown> {
    let mut plan = shown.plan.clone();
    if plan.control.heap != Heap::Some {
        return Ok(shown);
    }
    for heap in [Heap::Keep, Heap::Reuse] {
        plan.control.heap = heap;
        if let Some(same) = search.look(&plan, shown.round()..shown.round() + 1, u64::MAX)? {
            return Ok(same);
        }
    }
    Ok(shown)
}

impl Shrinker<'_> {
    fn level(&mut self, schedules: u64) -> Result<()> {
        let now = Instant::now();
        let left = self.until.saturating_duration_since(now);
        self.search.set_until(now + left * CALLS_PERCENT / 100);
        self.fewer_calls(schedules);
        self.simpler_arguments(schedules);
        self.search.set_until(self.until);
        schedule::fewer_preemptions(&self.search, &mut self.best, schedules)?;
        self.base = self.best.base();
        self.told();
        Ok(())
    }

    fn scenario(&self) -> &Scenario {
        &self.base
    }

    fn told(&mut self) {
        (self.tell)(self.best.size());
    }

    /// Leaves out the calls of whole threads, then many at a time, then few; and threads that have
    /// nothing left to do, or whose calls can as well be another's.
    fn fewer_calls(&mut self, schedules: u64) {
        let threads = 0..self.scenario().threads.len();
        let all = threads.map(|thread| smaller::calls_of(self.scenario(), thread)).collect();
        self.leave_out(all, schedules);
        self.fewer_threads(schedules);
        self.join_threads(schedules);
        let mut size = self.scenario().calls().div_ceil(2);
        while size > 0 && !self.search.is_over() {
            let calls = self.scenario().calls();
            let chunks = (0..calls).step_by(size).map(|at| at..(at + size).min(calls)).collect();
            if !self.leave_out(chunks, schedules) {
                size /= 2;
            }
        }
        while self.leave_out_pairs(schedules) {}
        self.fewer_threads(schedules);
        self.join_threads(schedules);
    }

    /// Leaves out two calls that may need each other, as one that adds and one that removes do;
    /// whether it did.
    fn leave_out_pairs(&mut self, schedules: u64) -> bool {
        let calls = self.scenario().calls();
        if calls > PAIRS_CALLS_MAX {
            return false;
        }
        let pairs = (0..calls).flat_map(|one| (one + 1..calls).map(move |other| (one, other)));
        let pairs: Vec<_> =
            pairs.map(|(one, other)| vec![one..one + 1, other..other + 1]).collect();
        for pairs in pairs.chunks(BATCH) {
            let found = self.try_each(pairs.to_vec(), schedules).into_iter().next();
            if let Some((_, shown)) = found {
                return self.adopt(shown);
            }
        }
        false
    }

    /// Puts the calls of one thread behind those of another, as long as more than two are left.
    fn join_threads(&mut self, schedules: u64) {
        while self.scenario().threads.len() > 2 && self.join_two(schedules) {}
    }

    /// Whether that still shows the finding.
    fn join_two(&mut self, schedules: u64) -> bool {
        if self.search.is_over() {
            return false;
        }
        let joined = smaller::all_joined(self.scenario());
        let plan = self.with_any_schedule();
        match self.search.look_at_each(&plan, joined.clone(), schedules) {
            Ok(found) => match found.into_iter().flatten().next() {
                Some(shown) => self.adopt(shown),
                None => false,
            },
            // Some calls are not for every thread.
            Err(_) => joined.into_iter().any(|joined| self.attempt(joined, schedules)),
        }
    }

    /// Always true.
    fn adopt(&mut self, shown: Shown) -> bool {
        self.base = shown.base();
        self.best = shown;
        self.told();
        true
    }

    /// Leaves out as many of these calls as it can without losing the finding; whether it did any.
    /// Each part is tried by itself; those that can go, together; else half of them, or one.
    fn leave_out(&mut self, parts: Vec<Range<usize>>, schedules: u64) -> bool {
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let mut single = Vec::new();
        for parts in parts.chunks(BATCH) {
            let each = parts.iter().map(|part| vec![part.clone()]).collect();
            single.extend(self.try_each(each, schedules));
        }
        let (able, shown): (Vec<_>, Vec<_>) = single.into_iter().unzip();
        let Some(smallest) = shown.into_iter().min_by_key(|shown| shown.scenario().calls()) else {
            return false;
        };
        let able: Vec<Range<usize>> = able.into_iter().flatten().collect();
        let (one, two) = able.split_at(able.len() / 2);
        let together = [&able, one, two].into_iter().filter(|parts| parts.len() > 1);
        let together = self.try_each(together.map(<[_]>::to_vec).collect(), schedules);
        let together = together.into_iter().map(|(_, shown)| shown);
        let best = together.chain([smallest]).min_by_key(|shown| shown.scenario().calls());
        best.is_some_and(|best| self.adopt(best))
    }

    /// The best scenario without each of these sets of calls, tried in one process; those that
    /// still show the finding.
    fn try_each(
        &self,
        without: Vec<Vec<Range<usize>>>,
        schedules: u64,
    ) -> Vec<(Vec<Range<usize>>, Shown)> {
        if without.is_empty() || self.search.is_over() {
            return Vec::new();
        }
        let fewer = |parts: &Vec<_>| smaller::without_calls(self.scenario(), parts);
        let scenarios = without.iter().map(fewer).collect();
        let plan = self.with_any_schedule();
        let found = self.search.look_at_each(&plan, scenarios, schedules).unwrap_or_default();
        without.into_iter().zip(found).filter_map(|(parts, found)| Some((parts, found?))).collect()
    }

    fn fewer_threads(&mut self, schedules: u64) {
        let mut thread = 0;
        while thread < self.scenario().threads.len() && !self.search.is_over() {
            let fewer = smaller::without_idle(self.scenario(), thread);
            if !fewer.is_some_and(|fewer| self.attempt(fewer, schedules)) {
                thread += 1;
            }
        }
    }

    fn with_any_schedule(&self) -> Plan {
        let mut plan = self.best.plan.clone();
        plan.control.policy = None;
        plan
    }

    fn simpler_arguments(&mut self, schedules: u64) {
        for simplify in smaller::SIMPLIFICATIONS {
            let candidate = simplify(self.scenario());
            if candidate != *self.scenario() {
                self.attempt(candidate, schedules);
            }
        }
        for call in 0..self.scenario().calls() {
            while let Some(candidate) = smaller::smaller_bulk(self.scenario(), call) {
                if !self.attempt(candidate, schedules) {
                    break;
                }
            }
        }
    }

    /// Whether the scenario shows the finding too; then it is the best so far. One that the target
    /// refuses, because a call is not for that thread, does not.
    fn attempt(&mut self, scenario: Scenario, schedules: u64) -> bool {
        if self.search.is_over() {
            return false;
        }
        let plan = Plan { scenarios: vec![scenario], ..self.with_any_schedule() };
        match self.search.look(&plan, 0..schedules, u64::MAX) {
            Ok(Some(shown)) => self.adopt(shown),
            Ok(None) | Err(_) => false,
        }
    }

    /// The best, run once more as it will be stored: it must be the identical round.
    fn finish(self, stored: &Stored) -> Result<Option<Stored>> {
        self.search.set_until(Instant::now() + FINISH_MAX);
        let best = &self.best;
        let mut plan = best.plan.clone();
        plan.control.records = false;
        let round = best.sighting.round.start.round;
        let last = self.search.look_anyway(&plan, round)?;
        let Some(last) = last else { return Ok(None) };
        if last.sighting.round.history != best.sighting.round.history {
            return Ok(None);
        }
        let before = &stored.finding;
        let shrunk = Shrunk { size: best.size(), ..shrunk_before(stored) };
        let finding = Finding {
            name: before.name.clone(),
            plan,
            round,
            after_rounds: before.after_rounds,
            after_seconds: before.after_seconds,
            sightings: before.sightings,
            known: before.known.clone(),
            confirmed: Some(true),
            shrunk: Some(Box::new(shrunk)),
            ..last.sighting.finding
        };
        Ok(Some(Stored {
            finding,
            hello: last.sighting.hello,
            round: last.sighting.round,
            output: last.sighting.output,
            directory: stored.directory.clone(),
            interleaving: None,
        }))
    }
}

/// Time for the last run, which is done even when all time is used up.
const FINISH_MAX: Duration = Duration::from_secs(60);

/// What the finding was when it was found.
fn shrunk_before(stored: &Stored) -> Shrunk {
    let finding = &stored.finding;
    if let Some(shrunk) = &finding.shrunk {
        return (**shrunk).clone();
    }
    let (history, callers) = (&stored.round.history, stored.round.start.threads);
    let calls = scenario::of(history, callers).calls();
    let size = Size { calls, threads: callers as usize, preemptions: None };
    Shrunk {
        before: size,
        size,
        signature: finding.signature.clone(),
        plan: finding.plan.clone(),
        round: finding.round,
    }
}
