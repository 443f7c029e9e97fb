//! The coverage of the controlled engine's rounds: schedules by policy, pairs of accesses, leaks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

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
    /// Libraries whose code the engine did not see: what they keep looks leaked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unhooked: BTreeSet<String>,
    /// Calls by which the target's threads locked or waited for each other, and accesses of memory
    /// of other libraries.
    #[serde(default)]
    pub waits: u64,
}

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
    pub(super) fn join(&mut self, other: Coverage) {
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
        self.unhooked.extend(other.unhooked);
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
