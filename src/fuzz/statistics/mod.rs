//! Adds up the statistics of a run: totals, and what was new recently.
//!
//! - `counting`: Adds the counts of all jobs ([`JobCounts`]) to the statistics of a run that
//!   continues.
//! - `coverage`: The coverage of the controlled engine's rounds: schedules by policy, pairs of
//!   accesses, leaks.
//! - `job_counts`: Counts what a job did since its last report.

mod counting;
mod coverage;
mod job_counts;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::exercise::Exercise;
use crate::check::Undecided;
use crate::core::outcome::Outcome;

pub use counting::Counting;
pub use coverage::{Coverage, Grown, Policy};
pub use job_counts::JobCounts;

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
    #[serde(with = "pairs")]
    pub inconclusive: BTreeMap<Undecided, u64>,
    /// Rounds whose answers no order explains.
    #[serde(default)]
    pub violations: u64,
    /// Harness processes that were started.
    #[serde(default)]
    pub processes: u64,
    /// Rounds that stood still in code of the target when the run ended.
    #[serde(default)]
    pub stuck: u64,
    /// Only of the controlled engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What the rounds exercised, at the end of the run; none in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exercise: Option<Exercise>,
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
    /// So many rounds stood still when the run ended.
    Stuck { rounds: u64 },
}

/// A share of less than one in so many counts as next to nothing: of rounds that were decided, and
/// of calls that overlapped.
const DECIDED_ONE_IN: u64 = 100;
const OVERLAPPING_ONE_IN: u64 = 1000;

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
        } else if self.stuck > 0 && rounds > 0 {
            Some(Untested::Stuck { rounds: self.stuck })
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

    /// Found, if some finding is not known; not decided, if hardly anything was tested.
    pub fn outcome(&self, is_any_new: bool) -> Outcome {
        match self.untested() {
            _ if is_any_new => Outcome::Found,
            Some(_) => Outcome::NotDecided,
            None => Outcome::NothingFound,
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
        self.stuck += other.stuck;
        if let Some(coverage) = other.coverage {
            self.coverage.get_or_insert_default().join(coverage);
        }
        if let Some(exercise) = other.exercise {
            self.exercise.get_or_insert_default().join(exercise);
        }
    }
}

/// Reasons with their numbers, as a list: what is no text cannot be a key in JSON.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::check::Undecided;

    type Reasons = BTreeMap<Undecided, u64>;

    pub fn serialize<S: Serializer>(reasons: &Reasons, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(reasons)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Reasons, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
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

    #[test]
    fn a_run_that_tested_next_to_nothing_says_why() {
        let tested =
            Statistics { rounds: 200, operations: 5000, overlapping: 5, ..Statistics::default() };
        assert_eq!(tested.untested(), None);
        let none = Statistics { rounds: 0, warm_up: 16, ..tested.clone() };
        assert_eq!(none.untested(), Some(Untested::NoRound));
        let undecided = |rounds| [(Undecided::LacksTimestamp, rounds)].into();
        let few = Statistics { inconclusive: undecided(199), ..tested.clone() };
        assert_eq!(few.untested(), Some(Untested::Undecided { rounds: 200, decided: 1 }));
        let some = Statistics { inconclusive: undecided(198), ..tested.clone() };
        assert_eq!(some.untested(), None);
        let stuck = Statistics { stuck: 2, sightings: 1, ..tested.clone() };
        assert_eq!(stuck.untested(), Some(Untested::Stuck { rounds: 2 }));
        let outcomes = [false, true].map(|is_any_new| stuck.outcome(is_any_new));
        assert_eq!(outcomes, [Outcome::NotDecided, Outcome::Found]);
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
}
