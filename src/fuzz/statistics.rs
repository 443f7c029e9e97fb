//! Adds up the statistics of a run: totals, and what was new recently.
//! Workers send their counts as [`Tally`]s, which [`Counting`] adds to [`Statistics`].

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::exercise::{Counter, Exercise};
use super::progress_curve::{Curve, Point};
use super::saturation::{Recent, Sketch};
use crate::check::Overlap;
use crate::process::fault::Fault;
use crate::trace::frame::Steps;

/// The counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Rounds whose calls could overlap. The warm-up does not count, here or below.
    pub rounds: u64,
    /// Rounds of the warm-up, which make one call at a time.
    #[serde(default)]
    pub warm_up: u64,
    pub operations: u64,
    /// Operations that overlapped one of another thread.
    pub overlapping: u64,
    #[serde(rename = "seconds", with = "seconds")]
    pub elapsed: Duration,
    /// Calls per second of the fastest round, from its first call to its last.
    pub calls_per_second_max: f64,
    #[serde(rename = "distinct_findings")]
    pub findings: usize,
    /// The findings that are known issues.
    #[serde(rename = "known_findings", default)]
    pub known: usize,
    /// Violations and faults seen, known ones included.
    pub sightings: u64,
    /// Harness processes that ended in a fault.
    pub faults: u64,
    /// Rounds that could not be decided within the limits, by reason.
    pub inconclusive: BTreeMap<String, u64>,
    /// Rounds whose answers no order explains.
    #[serde(default)]
    pub violations: u64,
    /// Harness processes that were started.
    #[serde(default)]
    pub processes: u64,
    /// Only of the controlled engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What the rounds exercised, at the end of the run; none in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exercise: Option<Exercise>,
}

/// The coverage of the controlled engine's rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    pub rounds: u64,
    /// Those of the last ten seconds.
    pub recent_rounds: Option<u64>,
    /// By name.
    pub policies: BTreeMap<String, Policy>,
    /// Distinct schedules, estimated.
    pub schedules: Grown,
    /// Distinct pairs of a writing and a reading place in the target's code.
    pub pairs: Grown,
    /// Rounds after which some memory was not freed, and how much.
    pub leaky_rounds: u64,
    pub leaked_blocks: u64,
    pub leaked_bytes: u64,
    /// Calls by which the target's threads locked or waited for each other, and accesses of memory
    /// of other libraries.
    #[serde(default)]
    pub waits: u64,
}

/// Why a run says next to nothing about its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untested {
    /// No round was over whose calls could overlap.
    NoRound,
    /// Hardly any round was decided.
    Undecided { rounds: u64, decided: u64 },
    /// Hardly any call overlapped another.
    NoOverlap { operations: u64, overlapping: u64 },
    /// The controlled engine saw nothing that threads shared.
    NothingShared { rounds: u64 },
}

/// A share of less than one in so many counts as next to nothing: of rounds that were decided, and
/// of calls that overlapped.
const DECIDED_ONE_IN: u64 = 100;
const OVERLAPPING_ONE_IN: u64 = 1000;

/// The counts of one scheduling policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub rounds: u64,
    /// Violations and faults seen.
    pub hits: u64,
    /// Schedules that were new.
    pub schedules: Grown,
}

/// A count, and its growth in the last ten seconds; none in a younger run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grown {
    pub total: u64,
    pub recent: Option<u64>,
}

impl Statistics {
    /// Rounds that were not decided.
    pub fn undecided(&self) -> u64 {
        self.inconclusive.values().sum()
    }

    /// Rounds that were decided.
    pub fn decided(&self) -> u64 {
        self.rounds.saturating_sub(self.undecided())
    }

    /// The share of the calls that overlapped one of another thread.
    pub fn overlap(&self) -> f64 {
        self.overlapping as f64 / self.operations.max(1) as f64
    }

    /// Why hardly anything was tested, if so. What found something tested something.
    pub fn untested(&self) -> Option<Untested> {
        let Statistics { rounds, operations, overlapping, .. } = *self;
        let decided = self.decided();
        let is_next_to_nothing = |part: u64, all: u64, one_in: u64| {
            part == 0 || u128::from(part) * u128::from(one_in) < u128::from(all)
        };
        if rounds > 0 && is_next_to_nothing(decided, rounds, DECIDED_ONE_IN) {
            Some(Untested::Undecided { rounds, decided })
        } else if self.sightings > 0 {
            None
        } else if rounds == 0 {
            Some(Untested::NoRound)
        } else if is_next_to_nothing(overlapping, operations, OVERLAPPING_ONE_IN) {
            Some(Untested::NoOverlap { operations, overlapping })
        } else if self.coverage.as_ref().is_some_and(Coverage::shared_nothing) {
            Some(Untested::NothingShared { rounds })
        } else {
            None
        }
    }

    /// Adds those of another run. The recent growth of both together is not known.
    pub fn join(&mut self, other: Statistics) {
        self.rounds += other.rounds;
        self.warm_up += other.warm_up;
        self.operations += other.operations;
        self.overlapping += other.overlapping;
        self.elapsed += other.elapsed;
        self.calls_per_second_max = self.calls_per_second_max.max(other.calls_per_second_max);
        self.findings += other.findings;
        self.known += other.known;
        self.sightings += other.sightings;
        self.faults += other.faults;
        for (reason, rounds) in other.inconclusive {
            *self.inconclusive.entry(reason).or_default() += rounds;
        }
        self.violations += other.violations;
        self.processes += other.processes;
        if let Some(coverage) = other.coverage {
            self.coverage.get_or_insert_default().join(coverage);
        }
        if let Some(exercise) = other.exercise {
            self.exercise.get_or_insert_default().join(exercise);
        }
    }
}

/// Most pairs of a run in which only a flag or a lock of the adapter was instrumented.
const PAIRS_FEW: u64 = 4;

impl Coverage {
    /// Whether almost no thread was seen to read what another one wrote.
    pub fn has_few_pairs(&self) -> bool {
        self.pairs.total <= PAIRS_FEW
    }

    /// Whether no thread was seen to read what another one wrote, nor to lock or wait.
    pub fn shared_nothing(&self) -> bool {
        self.pairs.total == 0 && self.waits == 0
    }

    /// Adds that of another run. Schedules of both runs count twice. Pairs are not added, because
    /// many are the same: the caller must count the distinct ones.
    fn join(&mut self, other: Coverage) {
        self.rounds += other.rounds;
        self.recent_rounds = None;
        let add = |one: &mut Grown, other: Grown| {
            *one = Grown { total: one.total + other.total, recent: None };
        };
        for (name, other) in other.policies {
            let policy = self.policies.entry(name).or_default();
            policy.rounds += other.rounds;
            policy.hits += other.hits;
            add(&mut policy.schedules, other.schedules);
        }
        add(&mut self.schedules, other.schedules);
        self.pairs.recent = None;
        self.leaky_rounds += other.leaky_rounds;
        self.leaked_blocks += other.leaked_blocks;
        self.leaked_bytes += other.leaked_bytes;
        self.waits += other.waits;
    }

    /// Whether more time is unlikely to find more: in the last ten seconds there was no new pair,
    /// and less than one round in a hundred had a new schedule.
    pub fn is_saturated(&self) -> bool {
        let few = match (self.schedules.recent, self.recent_rounds) {
            (Some(schedules), Some(rounds)) => rounds > 0 && 100 * schedules < rounds,
            _ => false,
        };
        few && self.pairs.recent == Some(0)
    }

    /// Whether most rounds leak memory.
    pub fn leaks(&self) -> bool {
        2 * self.leaky_rounds > self.rounds
    }
}

/// The counts of a worker since its last report.
#[derive(Default)]
pub struct Tally {
    /// Rounds whose calls could overlap; below, nothing counts the others.
    pub rounds: u64,
    pub warm_up: u64,
    pub overlap: Overlap,
    pub calls_per_second_max: f64,
    pub faults: u64,
    pub violations: u64,
    pub processes: u64,
    pub inconclusive: BTreeMap<String, u64>,
    /// What the rounds exercised.
    pub counter: Option<Box<Counter>>,
    /// Hashes of the schedules, by policy: one for each round.
    schedules: BTreeMap<String, Vec<u64>>,
    pairs: Vec<u64>,
    leaky_rounds: u64,
    leaked_blocks: u64,
    leaked_bytes: u64,
    /// What the engine saw: rounds, atomic accesses, and calls that may wait.
    threaded_rounds: u64,
    atomics: u64,
    waits: u64,
}

impl Tally {
    pub fn count_round(&mut self, sequential: bool) {
        let rounds = if sequential { &mut self.warm_up } else { &mut self.rounds };
        *rounds += 1;
    }

    /// Adds the controlled engine's counts of a round. A process sends each pair once, so those of
    /// the warm-up count, too.
    pub fn add_steps(&mut self, steps: &Steps, sequential: bool) {
        self.pairs.extend_from_slice(&steps.pairs);
        if sequential {
            return;
        }
        match self.schedules.get_mut(&steps.policy) {
            Some(schedules) => schedules.push(steps.schedule),
            None => drop(self.schedules.insert(steps.policy.clone(), vec![steps.schedule])),
        }
        self.leaky_rounds += u64::from(steps.leaked_blocks > 0);
        self.leaked_blocks += steps.leaked_blocks;
        self.leaked_bytes += steps.leaked_bytes;
        self.threaded_rounds += 1;
        self.atomics += steps.atomics;
        self.waits += steps.blocking;
    }

    /// Counts what a round exercised that a fault ended.
    pub fn add_fault(&mut self, fault: &Fault) {
        // Overwritten records say nothing about calls.
        if fault.complete {
            let counter = self.counter.get_or_insert_default();
            if fault.part == 0 {
                counter.begin(fault.round, fault.threads);
            }
            counter.add(fault.round, fault.threads, &fault.history);
        }
    }

    pub fn is_empty(&self) -> bool {
        let done = self.rounds + self.warm_up + self.faults + self.processes;
        done == 0 && self.overlap.operations == 0
    }
}

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
    pub fn add(&mut self, tally: Tally) {
        let statistics = &mut self.statistics;
        statistics.rounds += tally.rounds;
        statistics.warm_up += tally.warm_up;
        statistics.operations += tally.overlap.operations as u64;
        statistics.overlapping += tally.overlap.overlapping as u64;
        statistics.calls_per_second_max =
            statistics.calls_per_second_max.max(tally.calls_per_second_max);
        statistics.faults += tally.faults;
        statistics.violations += tally.violations;
        statistics.processes += tally.processes;
        if let Some(counter) = tally.counter {
            let shapes = self.counter.join(*counter);
            let new = shapes.into_iter().map(|shape| self.shapes.insert(shape));
            self.distinct_shapes += new.sum::<f64>();
        }
        for (reason, rounds) in tally.inconclusive {
            *statistics.inconclusive.entry(reason).or_default() += rounds;
        }
        self.pairs.extend(tally.pairs);
        if tally.schedules.is_empty() {
            return;
        }
        let coverage = statistics.coverage.get_or_insert_default();
        for (policy, hashes) in tally.schedules {
            let new: f64 = hashes.iter().map(|hash| self.schedules.insert(*hash)).sum();
            coverage.rounds += hashes.len() as u64;
            coverage.policies.entry(policy.clone()).or_default().rounds += hashes.len() as u64;
            self.by_policy.entry(policy).or_default().0 += new;
        }
        coverage.leaky_rounds += tally.leaky_rounds;
        coverage.leaked_blocks += tally.leaked_blocks;
        coverage.leaked_bytes += tally.leaked_bytes;
        coverage.waits += tally.waits;
        self.threaded_rounds += tally.threaded_rounds;
        self.atomics += tally.atomics;
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

/// A duration as a number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        time.as_secs_f64().serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(from)?;
        Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn tally(rounds: std::ops::Range<u64>, pairs: &[u64], accesses: u64) -> Tally {
        let mut tally = Tally::default();
        for round in rounds {
            tally.rounds += 1;
            tally.add_steps(&steps(round, pairs, accesses), false);
        }
        tally
    }

    #[test]
    fn a_run_that_tested_next_to_nothing_says_why() {
        let tested =
            Statistics { rounds: 200, operations: 5000, overlapping: 5, ..Statistics::default() };
        assert_eq!(tested.untested(), None);
        let none = Statistics { rounds: 0, warm_up: 16, ..tested.clone() };
        assert_eq!(none.untested(), Some(Untested::NoRound));
        let undecided = |rounds| [("a limit".to_string(), rounds)].into();
        let few = Statistics { inconclusive: undecided(199), ..tested.clone() };
        assert_eq!(few.untested(), Some(Untested::Undecided { rounds: 200, decided: 1 }));
        let some = Statistics { inconclusive: undecided(198), ..tested.clone() };
        assert_eq!(some.untested(), None);
        let alone = Statistics { overlapping: 4, ..tested.clone() };
        let why = Untested::NoOverlap { operations: 5000, overlapping: 4 };
        assert_eq!(alone.untested(), Some(why));
        let with = |pairs, waits| {
            let pairs = Grown { total: pairs, recent: None };
            let coverage = Coverage { rounds: 200, pairs, waits, ..Coverage::default() };
            Statistics { coverage: Some(coverage), ..tested.clone() }.untested()
        };
        assert_eq!(with(0, 0), Some(Untested::NothingShared { rounds: 200 }));
        assert_eq!((with(1, 0), with(0, 1)), (None, None));
    }

    #[test]
    fn schedules_and_pairs_are_counted_once_and_by_policy() {
        let mut counting = Counting::default();
        counting.add(tally(0..100, &[1, 2], 5));
        counting.add(tally(50..150, &[2, 3], 5));
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
        counting.add(tally(0..100, &[1], 5));
        counting.tick(Duration::from_secs(12));
        assert!(counting.statistics.coverage.as_ref().is_some_and(Coverage::is_saturated));
        assert_eq!(counting.into_parts().1, [1, 2, 3]);
    }

    #[test]
    fn only_a_run_in_which_no_access_was_seen_is_blind() {
        let mut counting = Counting::default();
        assert!(!counting.saw_nothing());
        counting.add(tally(0..63, &[], 0));
        assert!(!counting.is_blind() && counting.saw_nothing());
        counting.add(tally(63..64, &[], 0));
        assert!(counting.is_blind());
        counting.add(tally(64..65, &[], 1));
        assert!(!counting.is_blind());
    }

    #[test]
    fn locks_alone_are_few_pairs_after_enough_rounds() {
        let mut counting = Counting::default();
        let mut add = |rounds, pairs: &[u64]| {
            counting.add(tally(rounds, pairs, 9));
            counting.tick(Duration::from_secs(1));
            counting.saw_few_pairs()
        };
        assert!(!add(0..63, &[]));
        assert!(add(63..64, &[1, 2]));
        assert!(add(64..65, &[2, 3, 4]));
        assert!(!add(65..66, &[5]));
    }
}
