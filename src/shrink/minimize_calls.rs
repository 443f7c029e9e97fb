//! Minimizes the calls, threads and arguments of a scenario by delta debugging.
//! Each smaller scenario that still shows the finding becomes the best one (Zeller, Hildebrandt:
//! Simplifying and Isolating Failure-Inducing Input, TSE 2002). Whole threads are removed first,
//! pairs of calls last. A [`Trial`] decides how long a candidate is tried.

use std::ops::Range;

use anyhow::Result;

use super::reductions;
use super::search::Shown;
use crate::core::operation::Op;
use crate::core::plan::{Plan, Scenario};
use crate::finding::Size;

/// Candidates tried in one process.
pub(super) const BATCH: usize = 32;
/// Calls of all candidates of one process, if there are several: the process gets all of them.
const BATCH_CALLS_MAX: usize = 100_000;
/// Pairs are tried only if there are at most so many calls.
const PAIRS_CALLS_MAX: usize = 24;

/// Runs candidates.
pub(super) trait Trial {
    /// For each of the plan's scenarios a round that showed the finding, if any. An error is of the
    /// target or of the machine.
    fn try_each(&mut self, plan: &Plan, best: &Shown) -> Result<Vec<Option<Shown>>>;

    /// Whether time is up.
    fn is_over(&self) -> bool;
}

/// The numbers of the bulk calls, which may need fewer values.
fn bulks_of(scenario: &Scenario) -> Vec<usize> {
    let calls = scenario.threads.iter().flatten().enumerate();
    let bulks = calls.filter(|(_, call)| matches!(call.op, Op::EnqueueBulk | Op::DequeueBulk));
    bulks.map(|(number, _)| number).collect()
}

/// The minimization and its best result so far.
pub(super) struct Reducer<'a, T> {
    pub trial: T,
    pub best: Shown,
    /// The scenario of the best, with the schedule that showed the finding, if it is known.
    base: Scenario,
    report: &'a mut dyn FnMut(Size),
}

impl<'a, T: Trial> Reducer<'a, T> {
    pub fn new(trial: T, best: Shown, report: &'a mut dyn FnMut(Size)) -> Reducer<'a, T> {
        let mut reducer = Reducer { trial, base: best.base(), best, report };
        reducer.best_replaced();
        reducer
    }

    /// To be called when `best` was replaced.
    pub fn best_replaced(&mut self) {
        self.base = self.best.base();
        (self.report)(self.best.size());
    }

    /// One pass of all reductions.
    pub fn reduce(&mut self) {
        self.fewer_calls();
        self.simpler_arguments();
    }

    fn scenario(&self) -> &Scenario {
        &self.base
    }

    /// Removes the calls of whole threads, then many at a time, then few. Removes threads without
    /// calls, and joins threads.
    fn fewer_calls(&mut self) {
        let threads = 0..self.scenario().threads.len();
        let all = threads.map(|thread| reductions::calls_of(self.scenario(), thread)).collect();
        self.leave_out(all);
        self.fewer_threads();
        self.join_threads();
        let mut size = self.scenario().calls().div_ceil(2);
        while size > 0 && !self.trial.is_over() {
            let calls = self.scenario().calls();
            let chunks = (0..calls).step_by(size).map(|at| at..(at + size).min(calls)).collect();
            if !self.leave_out(chunks) {
                size /= 2;
            }
        }
        while self.leave_out_pairs() {}
        self.fewer_threads();
        self.join_threads();
    }

    /// Removes two calls that may need each other, such as one that adds and one that removes.
    /// Returns whether it did.
    fn leave_out_pairs(&mut self) -> bool {
        let calls = self.scenario().calls();
        if calls > PAIRS_CALLS_MAX {
            return false;
        }
        let pairs = (0..calls).flat_map(|one| (one + 1..calls).map(move |other| (one, other)));
        let pairs: Vec<_> =
            pairs.map(|(one, other)| vec![one..one + 1, other..other + 1]).collect();
        for pairs in pairs.chunks(BATCH) {
            let found = self.try_without(pairs.to_vec()).into_iter().next();
            if let Some((_, shown)) = found {
                return self.adopt(shown);
            }
        }
        false
    }

    /// Appends the calls of one thread to those of another, while more than two threads are left.
    fn join_threads(&mut self) {
        while self.scenario().threads.len() > 2 && self.join_two() {}
    }

    /// Returns whether a scenario with two threads joined shows the finding.
    fn join_two(&mut self) -> bool {
        let joined = reductions::all_joined(self.scenario());
        match self.try_each(joined.clone()) {
            Ok(found) => match found.into_iter().flatten().next() {
                Some(shown) => self.adopt(shown),
                None => false,
            },
            // Some threads may not make every call.
            Err(_) => joined.into_iter().any(|joined| self.attempt(joined)),
        }
    }

    /// Goes on from `shown`. True, as callers answer whether they found something better.
    fn adopt(&mut self, shown: Shown) -> bool {
        self.best = shown;
        self.best_replaced();
        true
    }

    /// Removes as many of these parts as possible without losing the finding. Returns whether it
    /// removed any. Each part is tried alone; then all that can go together; else half of them, or
    /// one.
    fn leave_out(&mut self, parts: Vec<Range<usize>>) -> bool {
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let mut single = Vec::new();
        for parts in parts.chunks(self.batch()) {
            if self.trial.is_over() {
                break;
            }
            let each = parts.iter().map(|part| vec![part.clone()]).collect();
            single.extend(self.try_without(each));
        }
        let (able, shown): (Vec<_>, Vec<_>) = single.into_iter().unzip();
        let Some(smallest) = shown.into_iter().min_by_key(|shown| shown.scenario().calls()) else {
            return false;
        };
        let able: Vec<Range<usize>> = able.into_iter().flatten().collect();
        let (one, two) = able.split_at(able.len() / 2);
        let together = [&able, one, two].into_iter().filter(|parts| parts.len() > 1);
        let together = self.try_without(together.map(<[_]>::to_vec).collect());
        let together = together.into_iter().map(|(_, shown)| shown);
        let best = together.chain([smallest]).min_by_key(|shown| shown.scenario().calls());
        best.is_some_and(|best| self.adopt(best))
    }

    /// The number of candidates for one process.
    fn batch(&self) -> usize {
        (BATCH_CALLS_MAX / self.scenario().calls().max(1)).clamp(2, BATCH)
    }

    /// Tries the best scenario without each of these sets of calls, in one process. Returns those
    /// that still show the finding.
    fn try_without(&mut self, without: Vec<Vec<Range<usize>>>) -> Vec<(Vec<Range<usize>>, Shown)> {
        let fewer = |parts: &Vec<_>| reductions::without_calls(self.scenario(), parts);
        let scenarios = without.iter().map(fewer).collect();
        let found = self.try_each(scenarios).unwrap_or_default();
        without.into_iter().zip(found).filter_map(|(parts, found)| Some((parts, found?))).collect()
    }

    fn fewer_threads(&mut self) {
        let mut thread = 0;
        while thread < self.scenario().threads.len() && !self.trial.is_over() {
            let fewer = reductions::without_idle(self.scenario(), thread);
            if !fewer.is_some_and(|fewer| self.attempt(fewer)) {
                thread += 1;
            }
        }
    }

    fn simpler_arguments(&mut self) {
        for simplify in reductions::SIMPLIFICATIONS {
            if self.trial.is_over() {
                return;
            }
            let candidate = simplify(self.scenario());
            if candidate != *self.scenario() {
                self.attempt(candidate);
            }
        }
        for call in bulks_of(self.scenario()) {
            while let Some(candidate) = reductions::smaller_bulk(self.scenario(), call) {
                if self.trial.is_over() || !self.attempt(candidate) {
                    break;
                }
            }
        }
    }

    /// Tries a scenario, which becomes the best if it shows the finding. Returns whether it does;
    /// not if the target refuses a call on its thread.
    fn attempt(&mut self, scenario: Scenario) -> bool {
        match self.try_each(vec![scenario]) {
            Ok(found) => found.into_iter().flatten().next().is_some_and(|shown| self.adopt(shown)),
            Err(_) => false,
        }
    }

    /// Tries these scenarios with any schedule.
    fn try_each(&mut self, scenarios: Vec<Scenario>) -> Result<Vec<Option<Shown>>> {
        if scenarios.is_empty() || self.trial.is_over() {
            return Ok(Vec::new());
        }
        let mut plan = Plan { scenarios, ..self.best.plan.clone() };
        plan.control.policy = None;
        self.trial.try_each(&plan, &self.best)
    }
}
