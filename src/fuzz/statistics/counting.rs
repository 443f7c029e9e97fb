//! Adds the counts of all jobs ([`JobCounts`]) to the statistics of a run that continues.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::super::exercise::Counter;
use super::super::progress_curve::{Curve, Point};
use super::super::saturation::{Recent, Sketch};
use super::{Coverage, Grown, JobCounts, Statistics};

/// A run is blind if the engine saw no access in so many rounds whose calls could overlap.
const BLIND_ROUNDS: u64 = 64;
/// Without anything shared in so many rounds, what is shared is out of the engine's sight.
const UNSHARED_ROUNDS: u64 = 4096;

/// Statistics of a run that continues.
#[derive(Default)]
pub struct Counting {
    pub statistics: Statistics,
    schedules: Sketch,
    recent_schedules: Recent,
    recent_rounds: Recent,
    /// The estimated schedules of each policy, not rounded.
    by_policy: BTreeMap<String, (f64, Recent)>,
    pairs: HashSet<u64>,
    recent_pairs: Recent,
    threaded_rounds: u64,
    atomics: u64,
    counter: Counter,
    shapes: Sketch,
    distinct_shapes: f64,
    curve: Curve,
}

impl Counting {
    pub fn add(&mut self, counts: JobCounts) {
        let statistics = &mut self.statistics;
        statistics.rounds += counts.rounds;
        statistics.warm_up += counts.warm_up;
        statistics.operations += counts.overlap.operations as u64;
        statistics.overlapping += counts.overlap.overlapping as u64;
        statistics.calls_per_second_max =
            statistics.calls_per_second_max.max(counts.calls_per_second_max);
        statistics.faults += counts.faults;
        statistics.violations += counts.violations;
        statistics.processes += counts.processes;
        statistics.stuck += counts.stuck;
        if let Some(counter) = counts.counter {
            let shapes = self.counter.join(*counter);
            let new = shapes.into_iter().map(|shape| self.shapes.insert(shape));
            self.distinct_shapes += new.sum::<f64>();
        }
        for (reason, rounds) in counts.inconclusive {
            *statistics.inconclusive.entry(reason).or_default() += rounds;
        }
        self.pairs.extend(counts.pairs);
        if counts.schedules.is_empty() {
            return;
        }
        let coverage = statistics.coverage.get_or_insert_default();
        for (policy, hashes) in counts.schedules {
            let new: f64 = hashes.iter().map(|hash| self.schedules.insert(*hash)).sum();
            coverage.rounds += hashes.len() as u64;
            coverage.policies.entry(policy.clone()).or_default().rounds += hashes.len() as u64;
            self.by_policy.entry(policy).or_default().0 += new;
        }
        coverage.leaky_rounds += counts.leaky_rounds;
        coverage.leaked_blocks += counts.leaked_blocks;
        coverage.leaked_bytes += counts.leaked_bytes;
        coverage.waits += counts.waits;
        self.threaded_rounds += counts.threaded_rounds;
        self.atomics += counts.atomics;
    }

    /// Adds a violation or fault in a round of this policy.
    pub fn add_sighting(&mut self, policy: Option<&str>) {
        self.statistics.sightings += 1;
        if let (Some(policy), Some(coverage)) = (policy, &mut self.statistics.coverage) {
            coverage.policies.entry(policy.to_string()).or_default().hits += 1;
        }
    }

    /// Updates the figures that depend on the time.
    pub fn tick(&mut self, elapsed: Duration) {
        self.statistics.elapsed = elapsed;
        self.tick_coverage(elapsed);
        if self.curve.is_due(elapsed) {
            self.curve.push(self.point());
        }
    }

    /// The current counts, for the curve.
    fn point(&self) -> Point {
        let coverage = self.statistics.coverage.as_ref();
        Point {
            seconds: self.statistics.elapsed.as_secs_f64(),
            rounds: self.statistics.rounds,
            schedules: coverage.map(|coverage| coverage.schedules.total),
            pairs: coverage.map(|coverage| coverage.pairs.total),
            looked: self.counter.analysed_rounds(),
            combinations: self.counter.combinations(),
            shapes: self.distinct_shapes.round() as u64,
        }
    }

    fn tick_coverage(&mut self, elapsed: Duration) {
        let Some(coverage) = &mut self.statistics.coverage else { return };
        let grown = |recent: &mut Recent, count: f64| {
            let recent = recent.mark(elapsed, count).map(|grown| grown.round() as u64);
            Grown { total: count.round() as u64, recent }
        };
        let mut all = 0.0;
        for (policy, (count, recent)) in &mut self.by_policy {
            all += *count;
            let policy = coverage.policies.entry(policy.clone()).or_default();
            policy.schedules = grown(recent, *count);
        }
        coverage.schedules = grown(&mut self.recent_schedules, all);
        coverage.pairs = grown(&mut self.recent_pairs, self.pairs.len() as f64);
        coverage.recent_rounds = grown(&mut self.recent_rounds, coverage.rounds as f64).recent;
    }

    /// Whether the engine sees no access of the target.
    pub fn is_blind(&self) -> bool {
        self.threaded_rounds >= BLIND_ROUNDS && self.saw_nothing()
    }

    /// Whether it has seen no access so far.
    pub fn saw_nothing(&self) -> bool {
        let waits = self.statistics.coverage.as_ref().map_or(0, |coverage| coverage.waits);
        self.threaded_rounds > 0 && self.atomics + waits == 0
    }

    /// Whether, in many rounds, no thread was seen to read what another one wrote, nor to wait.
    pub fn shared_nothing(&self) -> bool {
        let coverage = self.statistics.coverage.as_ref();
        self.threaded_rounds >= UNSHARED_ROUNDS && coverage.is_some_and(Coverage::shared_nothing)
    }

    /// Whether, in enough rounds, almost no thread was seen to read what another one wrote. This
    /// holds for structures behind locks, too: it is harmless if all of their code has hooks.
    pub fn saw_few_pairs(&self) -> bool {
        let few = self.statistics.coverage.as_ref().is_some_and(Coverage::has_few_pairs);
        self.threaded_rounds >= BLIND_ROUNDS && few
    }

    /// The statistics, the distinct pairs sorted, and the curve.
    pub fn into_parts(mut self) -> (Statistics, Vec<u64>, Vec<Point>) {
        let end = self.point();
        self.statistics.exercise = Some(self.counter.exercise(end.shapes));
        let mut pairs: Vec<u64> = self.pairs.into_iter().collect();
        pairs.sort_unstable();
        (self.statistics, pairs, self.curve.finish(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::frame::Steps;

    fn steps(schedule: u64, pairs: &[u64], accesses: u64) -> Steps {
        Steps {
            policy: if schedule.is_multiple_of(2) { "pos" } else { "pct:3" }.to_string(),
            steps: 10,
            switches: 1,
            schedule: schedule << 8,
            atomics: accesses,
            blocking: 0,
            pairs: pairs.to_vec(),
            leaked_blocks: 1,
            leaked_bytes: 16,
            recorded: None,
            trail: None,
        }
    }

    fn counts(rounds: std::ops::Range<u64>, pairs: &[u64], accesses: u64) -> JobCounts {
        let mut counts = JobCounts::default();
        for round in rounds {
            counts.rounds += 1;
            counts.add_steps(&steps(round, pairs, accesses), false);
        }
        counts
    }

    #[test]
    fn schedules_and_pairs_are_counted_once_and_by_policy() {
        let mut counting = Counting::default();
        counting.add(counts(0..100, &[1, 2], 5));
        counting.add(counts(50..150, &[2, 3], 5));
        counting.add_sighting(Some("pos"));
        counting.tick(Duration::from_secs(1));
        let coverage = counting.statistics.coverage.clone().expect("controlled rounds");
        assert_eq!(
            (coverage.rounds, coverage.schedules.total, coverage.pairs.total),
            (200, 150, 3)
        );
        let pos = &coverage.policies["pos"];
        assert_eq!((pos.rounds, pos.hits, pos.schedules.total), (100, 1, 75));
        assert!(coverage.leaks() && !coverage.is_saturated());
        counting.add(counts(0..100, &[1], 5));
        counting.tick(Duration::from_secs(12));
        assert!(counting.statistics.coverage.as_ref().is_some_and(Coverage::is_saturated));
        assert_eq!(counting.into_parts().1, [1, 2, 3]);
    }

    #[test]
    fn only_a_run_in_which_no_access_was_seen_is_blind() {
        let mut counting = Counting::default();
        assert!(!counting.saw_nothing());
        counting.add(counts(0..63, &[], 0));
        assert!(!counting.is_blind() && counting.saw_nothing());
        counting.add(counts(63..64, &[], 0));
        assert!(counting.is_blind());
        counting.add(counts(64..65, &[], 1));
        assert!(!counting.is_blind());
    }

    #[test]
    fn locks_alone_are_few_pairs_after_enough_rounds() {
        let mut counting = Counting::default();
        let mut add = |rounds, pairs: &[u64]| {
            counting.add(counts(rounds, pairs, 9));
            counting.tick(Duration::from_secs(1));
            counting.saw_few_pairs()
        };
        assert!(!add(0..63, &[]));
        assert!(add(63..64, &[1, 2]));
        assert!(add(64..65, &[2, 3, 4]));
        assert!(!add(65..66, &[5]));
    }
}
