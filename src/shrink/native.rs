//! Minimizes findings of native threads, whose rounds differ each time.
//! The result is a plan that lists the calls, with a measurement of how often they show the
//! finding. Only one thing is certain: every candidate that is kept has shown the finding.
//!
//! A candidate's calls run repeatedly for a slot of time, and it counts if it shows the finding in
//! the slot. A candidate that shows it as often as the best one does is missed in one of twenty
//! slots; a miss makes the result larger, never wrong. When no call can be removed any more, slots
//! become longer, for candidates that show the finding less often. At the end, part of the time is
//! used to count how often the smallest one shows it; if it does not, the next larger one is
//! counted. If the best does not show the finding again at half time, it is so rare that it is not
//! reduced further, and the remaining time is for counting.
//!
//! A candidate counts as hung after a short time. The smallest one must hang for as long as the
//! user's limit.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::minimize_calls::{Reducer, Trial};
use super::search::{ROUND_FIRST, Search, Shown};
use super::{Smallest, excerpts};
use crate::core::measured::{INTERVALS_FOR_95_PERCENT, Measured};
use crate::core::plan::{Plan, Scenario};
use crate::core::scenario;
use crate::finding::signature::Signature;
use crate::finding::{Finding, Size, Stored};

/// Percentage of the time reserved for counting, and its maximum.
const COUNT_PERCENT: u32 = 20;
const COUNT_MAX: Duration = Duration::from_secs(10);
/// The maximum after the user has stopped the run.
const COUNT_STOPPED: Duration = Duration::from_secs(1);
/// Percentage of the time within which the finding must recur, and the percentage after which it
/// must be frequent to be reduced further.
const FIRST_PERCENT: u32 = 40;
const HALF_PERCENT: u32 = 50;
/// Sightings after which a rare finding has been counted for long enough.
const COUNTED: u64 = 20;
/// The first slot of a candidate is the time divided by this. Slots double from pass to pass.
const FIRST_PART: u32 = 100;
/// Scenarios with at most so many calls are tried first, because their rounds are short. Larger
/// ones follow after some passes.
const FEW_CALLS: usize = 200;
const PASSES_OF_FEW: u32 = 2;
/// Calls of each thread in newly drawn rounds.
const DRAWN: [u64; 3] = [4, 12, 32];
/// The shortest slot: in a shorter one, starting the process takes longer than its rounds.
const SLOT_MIN: Duration = Duration::from_millis(10);
/// The longest slot is the time for counting divided by this, because a few rounds must show the
/// finding while it is counted.
const SLOT_PART: u32 = 3;
/// The factor between the slots of successive levels.
const SLOT_FACTOR: f64 = 4.0;
/// All slots of one process together take at most the remaining time divided by this.
const LEFT_PART: u32 = 3;
/// Fewer calls cannot interfere with each other.
const CALLS_MIN: usize = 2;
/// Sightings after which a candidate is known well enough.
const ENOUGH: u64 = 4;
/// The same for hangs: one is enough, because each takes time to wait for.
const ENOUGH_HANGS: u64 = 1;
/// Most time within which the smallest one must hang again.
const HANGS_AGAIN_MAX: Duration = Duration::from_secs(5);

/// The smallest calls that show the finding, and how often; none if it does not recur.
pub(super) fn shrink(
    search: &Search,
    stored: &Stored,
    report: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let (started, budget) = (Instant::now(), search.left());
    let count = (budget * COUNT_PERCENT / 100).min(COUNT_MAX);
    search.set_until(started + budget * HALF_PERCENT / 100);
    let mut slots = Slots { search, round: ROUND_FIRST, level: 0, max: count / SLOT_PART };
    search.require_dependence(&whole(stored))?;
    let Some(first) = slots.first(stored, budget)? else { return Ok(None) };
    // The best of each level: each smaller than the one before, and usually rarer.
    let mut ladder = vec![first.clone()];
    let mut reducer = Reducer::new(slots, first, report);
    let mut is_half = true;
    loop {
        if search.is_over() {
            if search.is_stopped() || !std::mem::take(&mut is_half) {
                break;
            }
            search.set_until(started + budget.saturating_sub(count));
            if !reducer.trial.is_frequent(&reducer.best, count)? {
                break;
            }
            continue;
        }
        let before = reducer.best.size();
        let longest = reducer.trial.slot(&reducer.best) >= reducer.trial.max + search.waits();
        reducer.reduce();
        if reducer.best.size() != before {
            ladder.push(reducer.best.clone());
        } else if longest {
            break;
        }
        if reducer.best.size().calls <= CALLS_MIN {
            break;
        }
        reducer.trial.level += 1;
    }
    let left = budget.saturating_sub(started.elapsed());
    reducer.trial.count(ladder, (count, left.max(count)))
}

/// All calls of the finding's round.
fn whole(stored: &Stored) -> Plan {
    let mut plan = stored.finding.plan.clone();
    if plan.scenarios.is_empty() {
        plan.scenarios =
            vec![scenario::from_history(&stored.round.history, stored.round.start.threads)];
    }
    plan
}

/// Tries each candidate for a slot of time.
struct Slots<'a> {
    search: &'a Search,
    /// The next round's number: no two are drawn alike.
    round: u64,
    level: i32,
    max: Duration,
}

impl Trial for Slots<'_> {
    fn try_each(&mut self, plan: &Plan, best: &Shown) -> Result<Vec<Option<Shown>>> {
        let time = self.slot(best) * plan.scenarios.len() as u32;
        self.try_for(plan, time.min(self.search.left() / LEFT_PART))
    }

    fn is_over(&self) -> bool {
        self.search.is_over()
    }
}

impl Slots<'_> {
    fn slot(&self, best: &Shown) -> Duration {
        slot(best.per_second, self.level, self.max) + self.search.waits()
    }

    /// The time of a search without the time in which `shown` rounds hung.
    fn busy(&self, elapsed: Duration, shown: u64) -> f64 {
        elapsed.as_secs_f64() - self.search.waits().as_secs_f64() * shown as f64
    }

    /// The first calls that show the finding, before any reduction: an excerpt of its own round, or
    /// of a newly drawn short round; or a large excerpt, if small ones do not show it soon.
    fn first(&mut self, stored: &Stored, budget: Duration) -> Result<Option<Shown>> {
        let Finding { plan, .. } = &stored.finding;
        let candidates = match plan.scenarios.is_empty() {
            true => excerpts::around_witness(&stored.finding, &stored.round),
            false => plan.scenarios.clone(),
        };
        let (few, many): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|scenario| scenario.calls() <= FEW_CALLS);
        let until = Instant::now() + budget * FIRST_PERCENT / 100;
        let (mut busy, mut pass) = (budget / FIRST_PART, 0);
        while Instant::now() < until && !self.search.is_over() {
            let time = busy + self.search.waits();
            if let Some(shown) = self.first_of_few(plan, &few, time)? {
                return Ok(Some(shown));
            }
            if pass >= PASSES_OF_FEW
                && let Some(shown) = self.first_of(plan, &many, time)?
            {
                return Ok(Some(shown));
            }
            (busy, pass) = (busy * 2, pass + 1);
        }
        Ok(None)
    }

    /// The smallest of these scenarios that shows the finding, or else an excerpt of a short round.
    fn first_of_few(
        &mut self,
        plan: &Plan,
        few: &[Scenario],
        time: Duration,
    ) -> Result<Option<Shown>> {
        if !few.is_empty() {
            let all = Plan { scenarios: few.to_vec(), ..plan.clone() };
            let shown = self.try_for(&all, time * few.len() as u32)?;
            if let Some(shown) = shown.into_iter().flatten().next() {
                return Ok(Some(shown));
            }
        }
        for calls in DRAWN.into_iter().filter(|_| plan.scenarios.is_empty()) {
            if let Some(shown) = self.drawn(plan, calls, time)? {
                return Ok(Some(shown));
            }
        }
        Ok(None)
    }

    /// The first of these scenarios that shows the finding. Each is tried for `time`.
    fn first_of(
        &mut self,
        plan: &Plan,
        scenarios: &[Scenario],
        time: Duration,
    ) -> Result<Option<Shown>> {
        for scenario in scenarios {
            let plan = Plan { scenarios: vec![scenario.clone()], ..plan.clone() };
            if self.search.is_over() {
                break;
            }
            if let Some(shown) = self.try_for(&plan, time)?.pop().flatten() {
                return Ok(Some(shown));
            }
        }
        Ok(None)
    }

    /// An excerpt of a newly drawn round with `calls` calls of each thread.
    fn drawn(&mut self, plan: &Plan, calls: u64, time: Duration) -> Result<Option<Shown>> {
        let short = Plan { calls: Some(calls), ..plan.clone() };
        let mut found = None;
        let searched = self.search.take(&short, self.round, (time, false), &mut |seen| {
            found = found.take().or(seen);
            found.is_none()
        })?;
        self.round += searched.rounds;
        let Some(Shown { sighting, .. }) = found else { return Ok(None) };
        let parts = excerpts::around_witness(&sighting.finding, &sighting.round);
        self.first_of(plan, &parts, time)
    }

    /// Runs the plan's scenarios in turn for `time`. Returns for each a round that showed the
    /// finding, if any.
    fn try_for(&mut self, plan: &Plan, time: Duration) -> Result<Vec<Option<Shown>>> {
        let count = plan.scenarios.len() as u64;
        let enough = if self.search.waits().is_zero() { ENOUGH } else { ENOUGH_HANGS };
        let mut tried: Vec<(u64, Option<Shown>)> =
            plan.scenarios.iter().map(|_| (0, None)).collect();
        let searched = self.search.take(plan, self.round, (time, false), &mut |seen| {
            if let Some(seen) = seen {
                let (shown, first) = &mut tried[(seen.round() % count) as usize];
                *shown += 1;
                first.get_or_insert(seen);
            }
            tried.iter().any(|(shown, _)| *shown < enough)
        })?;
        self.round += searched.rounds;
        let shown = tried.iter().map(|(shown, _)| shown).sum();
        let share = self.busy(searched.elapsed, shown) / count as f64;
        let rated = |(shown, first): (u64, Option<Shown>)| {
            first.map(|first| Shown { per_second: per_second(shown, share), ..first })
        };
        self.search.keep_dependent(tried.into_iter().map(rated).collect())
    }

    /// Whether these calls show the finding so often that a count of length `count` will see it.
    fn is_frequent(&mut self, best: &Shown, count: Duration) -> Result<bool> {
        let mut is_seen = false;
        let time = count.div_f64(INTERVALS_FOR_95_PERCENT) + self.search.waits();
        let searched = self.search.take(&best.plan, self.round, (time, false), &mut |seen| {
            is_seen |= seen.is_some();
            !is_seen
        })?;
        self.round += searched.rounds;
        Ok(is_seen)
    }

    /// Counts how often the smallest round of the ladder shows the finding. If it does not, counts
    /// for the next larger one. Counting takes at least `least`, and continues to at most `most`
    /// while there are few sightings, because a share of few sightings is inexact.
    fn count(
        &mut self,
        mut ladder: Vec<Shown>,
        (least, most): (Duration, Duration),
    ) -> Result<Option<Smallest>> {
        let until = Instant::now() + most;
        while let Some(best) = ladder.pop() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if let Some(counted) = self.counted(&best, (least, left), ladder.is_empty())? {
                return Ok(Some(counted));
            }
        }
        Ok(None)
    }

    /// Counts how often these calls show the finding with their most frequent signature. None if
    /// they do not show it for half of the time, or for all of it if they are the `last` candidate.
    fn counted(
        &mut self,
        best: &Shown,
        (least, time): (Duration, Duration),
        last: bool,
    ) -> Result<Option<Smallest>> {
        let mut seen: BTreeMap<Signature, (u64, Shown)> = BTreeMap::new();
        let (started, patience) = (Instant::now(), if last { time } else { time / 2 });
        let searched = self.search.take(&best.plan, self.round, (time, true), &mut |shown| {
            if let Some(shown) = shown {
                let signature = shown.sighting.finding.signature.clone();
                seen.entry(signature).or_insert((0, shown)).0 += 1;
            }
            let most = if self.search.is_stopped() { COUNT_STOPPED } else { time };
            let times = seen.values().map(|(times, _)| times).sum();
            started.elapsed() < counting(times, patience, least).min(most)
        })?;
        self.round += searched.rounds;
        let most = seen.into_values().max_by_key(|(times, _)| *times);
        let Some((times, shown)) = most else { return Ok(None) };
        let seconds = self.busy(searched.elapsed, times).max(0.0);
        let measured = Some(Measured { rounds: searched.rounds, shown: times, seconds });
        let shown = self.lasting(shown, seconds / times as f64)?;
        Ok(shown.map(|shown| Smallest { size: shown.size(), shown, measured }))
    }

    /// The same; for a hang, a round that hangs for the user's limit, which must come within about
    /// three times `seconds`, the mean time between hangs.
    fn lasting(&mut self, shown: Shown, seconds: f64) -> Result<Option<Shown>> {
        if self.search.waits().is_zero() {
            return Ok(Some(shown));
        }
        let time = Duration::try_from_secs_f64(seconds * INTERVALS_FOR_95_PERCENT)
            .unwrap_or(HANGS_AGAIN_MAX);
        let time = time.clamp(SLOT_MIN, HANGS_AGAIN_MAX) + self.search.waits();
        let lasting = self.search.hangs_for_long(&shown.plan, self.round, time)?;
        self.round += 1;
        Ok(lasting)
    }
}

/// The time for counting, given the sightings so far: unlimited while they are few.
fn counting(times: u64, patience: Duration, least: Duration) -> Duration {
    match times {
        0 => patience,
        COUNTED.. => least,
        _ => Duration::MAX,
    }
}

/// The slot of a candidate, if the best shows the finding at this rate.
fn slot(per_second: f64, level: i32, max: Duration) -> Duration {
    let seconds = INTERVALS_FOR_95_PERCENT / per_second * SLOT_FACTOR.powi(level);
    // A rate of 0 gives an infinite time.
    let time = Duration::try_from_secs_f64(seconds).unwrap_or(max);
    time.max(SLOT_MIN).min(max)
}

/// An estimate of the rate, rather too low: the time often ends with a sighting, which makes the
/// plain quotient too high.
fn per_second(shown: u64, seconds: f64) -> f64 {
    (shown.max(2) - 1) as f64 / seconds.max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A candidate that shows the finding as often as the best is missed in one of twenty slots.
    #[test]
    fn slots_miss_one_of_twenty() {
        for per_second in [4.0, 10.0, 200.0] {
            let seconds = slot(per_second, 0, SECOND).as_secs_f64();
            let missed = (-per_second * seconds).exp();
            assert!((missed - 0.05).abs() < 1e-6, "{per_second} a second: {missed}");
        }
    }

    #[test]
    fn a_rare_finding_is_counted_as_long_as_there_is_time() {
        let of = |times| counting(times, 3 * SECOND, 2 * SECOND);
        assert_eq!(of(0), 3 * SECOND);
        assert_eq!(of(1).min(9 * SECOND), 9 * SECOND);
        assert_eq!(of(COUNTED - 1).min(9 * SECOND), 9 * SECOND);
        assert_eq!(of(COUNTED), 2 * SECOND);
    }

    #[test]
    fn slots_grow_and_have_bounds() {
        assert_eq!(slot(1e9, 0, SECOND), SLOT_MIN);
        assert_eq!(slot(0.1, 0, SECOND), SECOND);
        assert_eq!(slot(0.0, 0, SECOND), SECOND);
        assert!(slot(100.0, 1, SECOND) > slot(100.0, 0, SECOND) * 3);
        assert_eq!(slot(100.0, 100, SECOND), SECOND);
        // With hardly any time left, the bound counts.
        assert_eq!(slot(100.0, 0, SLOT_MIN / 2), SLOT_MIN / 2);
    }

    #[test]
    fn estimated_rates_are_rather_too_low() {
        assert_eq!(per_second(1, 2.0), 0.5);
        assert_eq!(per_second(4, 2.0), 1.5);
        assert!(per_second(1, 0.0).is_finite());
    }
}
