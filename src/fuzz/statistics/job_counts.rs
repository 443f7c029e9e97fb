//! Counts what a job did since its last report.

use std::collections::BTreeMap;

use super::super::exercise::Counter;
use crate::check::{Overlap, Undecided};
use crate::process::fault::Fault;
use crate::trace::frame::Steps;

/// The counts of a job since its last report.
#[derive(Default)]
pub struct JobCounts {
    /// Rounds whose calls could overlap; below, nothing counts the others.
    pub rounds: u64,
    pub warm_up: u64,
    pub overlap: Overlap,
    pub calls_per_second_max: f64,
    pub faults: u64,
    pub violations: u64,
    pub processes: u64,
    /// Rounds that stood still when the run ended.
    pub stuck: u64,
    pub inconclusive: BTreeMap<Undecided, u64>,
    /// What the rounds exercised.
    pub counter: Option<Box<Counter>>,
    /// Hashes of the schedules, by policy: one for each round.
    pub(super) schedules: BTreeMap<String, Vec<u64>>,
    pub(super) pairs: Vec<u64>,
    pub(super) leaky_rounds: u64,
    pub(super) leaked_blocks: u64,
    pub(super) leaked_bytes: u64,
    /// What the engine saw: rounds, atomic accesses, and calls that may wait.
    pub(super) threaded_rounds: u64,
    pub(super) atomics: u64,
    pub(super) waits: u64,
}

impl JobCounts {
    pub fn count_round(&mut self, sequential: bool) {
        let rounds = if sequential { &mut self.warm_up } else { &mut self.rounds };
        *rounds += 1;
    }

    /// A round that was counted was not decided. Of the warm-up that does not matter.
    pub fn count_undecided(&mut self, sequential: bool, reason: Undecided) {
        if !sequential {
            *self.inconclusive.entry(reason).or_default() += 1;
        }
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
        let done = self.rounds + self.warm_up + self.faults + self.processes + self.stuck;
        done == 0 && self.overlap.operations == 0
    }
}
