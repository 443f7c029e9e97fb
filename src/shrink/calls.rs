//! Fewer calls, fewer threads, simpler arguments: the best scenario so far comes in, smaller ones
//! are made of it in an order that gets far soon, and each that still shows the finding takes its
//! place. How a candidate is tried, and for how long, is a [`Trial`]'s to say.
//!
//! Calls are left out as in delta debugging (Zeller, Hildebrandt: Simplifying and Isolating
//! Failure-Inducing Input, TSE 2002), whole threads first, pairs of calls last.

use std::ops::Range;

use anyhow::Result;

use super::search::Shown;
use super::smaller;
use crate::core::operation::Op;
use crate::core::plan::{Plan, Scenario};
use crate::finding::Size;

/// Candidates that are tried in one process.
pub(super) const BATCH: usize = 32;
/// Calls of all candidates that are tried in one process, as far as there are several: each process
/// is told all of them.
const BATCH_CALLS_MAX: usize = 100_000;
/// Of more calls than this, not all pairs are tried.
const PAIRS_CALLS_MAX: usize = 24;

/// Runs candidates.
pub(super) trait Trial {
    /// Of each of the plan's scenarios a round that shows the finding, if one did. Errors are the
    /// target's or the machine's.
    fn try_each(&mut self, plan: &Plan, best: &Shown) -> Result<Vec<Option<Shown>>>;

    /// Whether nothing more is to be tried.
    fn is_over(&self) -> bool;
}

/// The numbers of the calls that may get by with fewer values: there may be 100,000 others.
fn bulks_of(scenario: &Scenario) -> Vec<usize> {
    let calls = scenario.threads.iter().flatten().enumerate();
    let bulks = calls.filter(|(_, call)| matches!(call.op, Op::EnqueueBulk | Op::DequeueBulk));
    bulks.map(|(number, _)| number).collect()
}

/// What is made smaller.
pub(super) struct Reducer<'a, T> {
    pub trial: T,
    pub best: Shown,
    /// The scenario of the best, with the schedule that showed it, where there is one.
    base: Scenario,
    tell: &'a mut dyn FnMut(Size),
}

impl<'a, T: Trial> Reducer<'a, T> {
    pub fn new(trial: T, best: Shown, tell: &'a mut dyn FnMut(Size)) -> Reducer<'a, T> {
        let mut reducer = Reducer { trial, base: best.base(), best, tell };
        reducer.told();
        reducer
    }

    /// Takes note that the best was replaced.
    pub fn told(&mut self) {
        self.base = self.best.base();
        (self.tell)(self.best.size());
    }

    /// All of it, once.
    pub fn reduce(&mut self) {
        self.fewer_calls();
        self.simpler_arguments();
    }

    fn scenario(&self) -> &Scenario {
        &self.base
    }

    /// Leaves out the calls of whole threads, then many at a time, then few; and threads that have
    /// nothing left to do, or whose calls can as well be another's.
    fn fewer_calls(&mut self) {
        let threads = 0..self.scenario().threads.len();
        let all = threads.map(|thread| smaller::calls_of(self.scenario(), thread)).collect();
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

    /// Leaves out two calls that may need each other, as one that adds and one that removes do;
    /// whether it did.
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

    /// Puts the calls of one thread behind those of another, as long as more than two are left.
    fn join_threads(&mut self) {
        while self.scenario().threads.len() > 2 && self.join_two() {}
    }

    /// Whether that still shows the finding.
    fn join_two(&mut self) -> bool {
        let joined = smaller::all_joined(self.scenario());
        match self.try_each(joined.clone()) {
            Ok(found) => match found.into_iter().flatten().next() {
                Some(shown) => self.adopt(shown),
                None => false,
            },
            // Some calls are not for every thread.
            Err(_) => joined.into_iter().any(|joined| self.attempt(joined)),
        }
    }

    /// Always true.
    fn adopt(&mut self, shown: Shown) -> bool {
        self.best = shown;
        self.told();
        true
    }

    /// Leaves out as many of these calls as it can without losing the finding; whether it did any.
    /// Each part is tried by itself; those that can go, together; else half of them, or one.
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

    /// How many candidates go into one process.
    fn batch(&self) -> usize {
        (BATCH_CALLS_MAX / self.scenario().calls().max(1)).clamp(2, BATCH)
    }

    /// The best scenario without each of these sets of calls, tried in one process; those that
    /// still show the finding.
    fn try_without(&mut self, without: Vec<Vec<Range<usize>>>) -> Vec<(Vec<Range<usize>>, Shown)> {
        let fewer = |parts: &Vec<_>| smaller::without_calls(self.scenario(), parts);
        let scenarios = without.iter().map(fewer).collect();
        let found = self.try_each(scenarios).unwrap_or_default();
        without.into_iter().zip(found).filter_map(|(parts, found)| Some((parts, found?))).collect()
    }

    fn fewer_threads(&mut self) {
        let mut thread = 0;
        while thread < self.scenario().threads.len() && !self.trial.is_over() {
            let fewer = smaller::without_idle(self.scenario(), thread);
            if !fewer.is_some_and(|fewer| self.attempt(fewer)) {
                thread += 1;
            }
        }
    }

    fn simpler_arguments(&mut self) {
        for simplify in smaller::SIMPLIFICATIONS {
            if self.trial.is_over() {
                return;
            }
            let candidate = simplify(self.scenario());
            if candidate != *self.scenario() {
                self.attempt(candidate);
            }
        }
        for call in bulks_of(self.scenario()) {
            while let Some(candidate) = smaller::smaller_bulk(self.scenario(), call) {
                if self.trial.is_over() || !self.attempt(candidate) {
                    break;
                }
            }
        }
    }

    /// Whether the scenario shows the finding too; then it is the best so far. One that the target
    /// refuses, because a call is not for that thread, does not.
    fn attempt(&mut self, scenario: Scenario) -> bool {
        match self.try_each(vec![scenario]) {
            Ok(found) => found.into_iter().flatten().next().is_some_and(|shown| self.adopt(shown)),
            Err(_) => false,
        }
    }

    /// Any schedule will do.
    fn try_each(&mut self, scenarios: Vec<Scenario>) -> Result<Vec<Option<Shown>>> {
        if scenarios.is_empty() || self.trial.is_over() {
            return Ok(Vec::new());
        }
        let mut plan = Plan { scenarios, ..self.best.plan.clone() };
        plan.control.policy = None;
        self.trial.try_each(&plan, &self.best)
    }
}
