//! Calls the structure, or a sequential class beside it, one call at a time in the orders that
//! decide a round. Each order is a round of its own: the same calls of the same threads, from the
//! same state.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use interlap::check::{self, Limits, Verdict};
use interlap::core::history::History;
use interlap::core::operation::Status;
use interlap::core::plan::{Job, Plan, Scenario};
use interlap::core::scenario;
use interlap::core::sequential_runs::{SequentialCall, SequentialRuns};
use interlap::model::{Kind, Spec as Model};
use interlap::schedule::Spec as Policy;

use super::judge::RoundReader;
use super::round::{self, Done};
use super::rounds::prepare;
use crate::controlled::core::current_round;
use crate::controlled::watch::coverage;
use crate::library::Target;
use crate::record::Area;
use crate::workload::Shape;

/// Orders of one round at most: a round that needs more is not decided.
const ORDERS_MAX: usize = 512;

/// The numbers of structures that are called one call at a time begin here.
const NUMBER_FIRST: u32 = 1 << 31;

pub struct Alone<'a> {
    job: &'a Job,
    target: &'a Target,
    /// A class beside the structure is called instead.
    of_model: bool,
    /// The job's, with the calls of a round as its only scenario.
    plan: Plan,
    reader: RoundReader,
    /// Structures made so far: each has a number that no round has, in case it names files.
    structures: u32,
    /// Threads of the target outlived one of the runs.
    pub left_running: bool,
}

impl<'a> Alone<'a> {
    pub fn new(job: &'a Job, target: &'a Target, kind: Kind) -> Alone<'a> {
        let (plan, reader) = (job.plan.clone(), RoundReader::new(&target.methods));
        let of_model = kind == Kind::Class;
        Alone { job, target, of_model, plan, reader, structures: 0, left_running: false }
    }

    /// Decides a round of calls that have all returned. Leaves in `history` what was run for that.
    ///
    /// # Errors
    /// If the structure could not be made.
    pub fn decide(
        &mut self,
        (shape, history): (&Shape, &mut History),
        (model, limits): (&Model, &Limits),
        area: &mut Area,
    ) -> Result<Verdict, String> {
        let guess = by_end(history);
        let mut scenario = scenario::from_history(history, shape.threads);
        (scenario.sequential, scenario.of_model) = (true, self.of_model);
        if self.of_model {
            add_answers(&mut scenario, history);
        }
        self.plan.scenarios = vec![scenario];
        let (mut runs, mut wanted, mut made) = (SequentialRuns::default(), vec![Vec::new()], 0);
        let mut batch = 2;
        loop {
            let (before, most) = (made, made + batch.min(ORDERS_MAX - made));
            for begun in wanted.drain(..) {
                if made < most && (begun.is_empty() || !runs.has(&begun)) {
                    runs.add(self.run(shape.round, completed(begun, &guess), area)?);
                    made += 1;
                }
            }
            history.runs = Some(Arc::new(runs));
            let verdict = check::check(history, model, limits);
            wanted.extend(taken(history));
            if let (Verdict::Violation(witness), true) = (&verdict, wanted.is_empty()) {
                // What is shown of a violation must not depend on orders that were not run.
                let partials = check::partials(history, model, &witness.operations, limits).ok();
                let _ = check::search_trace(history, model, partials.as_ref(), limits);
                wanted.extend(taken(history));
            }
            // Where the guess went wrong late, most of it was right.
            wanted.sort_by_key(|begun| Reverse(begun.len()));
            let is_decided = wanted.is_empty() || matches!(verdict, Verdict::Consistent);
            if is_decided || made == ORDERS_MAX || made == before || self.left_running {
                return Ok(verdict);
            }
            runs = Arc::unwrap_or_clone(history.runs.take().expect("set above"));
            batch = (batch + batch / 2).min(ORDERS_MAX);
        }
    }

    /// Makes the calls in this order, as far as the target makes them.
    fn run(
        &mut self,
        round: u64,
        order: Vec<u32>,
        area: &mut Area,
    ) -> Result<Vec<SequentialCall>, String> {
        self.plan.scenarios[0].order = order;
        let shape = Shape::draw(&self.plan, &self.target.operations, &self.target.info, round);
        let policy = Policy::Turns(Vec::new());
        current_round::set(round, &policy);
        let settings = prepare(self.job, &shape, &policy);
        coverage::leave_out();
        self.structures = (self.structures + 1) % NUMBER_FIRST;
        let structure = (&*self.job.directory, NUMBER_FIRST + self.structures);
        let done = round::run(self.target, area, &shape, structure, settings)?;
        self.left_running |= done.counted.left_running > 0;
        let none = &mut History::default();
        let history = self.reader.read(shape.threads, area).unwrap_or(none);
        Ok(answers(&self.plan, history, &done))
    }
}

/// The orders that were asked for and not run.
fn taken(history: &History) -> BTreeSet<Vec<u32>> {
    history.runs.as_ref().map(|runs| runs.take_asked()).unwrap_or_default()
}

/// Adds the results of the calls, which a model may judge. An exception is none: its words are of
/// another type.
fn add_answers(scenario: &mut Scenario, history: &History) {
    for thread in &history.threads {
        let calls = &mut scenario.threads[thread.client as usize];
        for (call, operation) in calls.iter_mut().zip(thread.operations()) {
            if operation.status == Status::Ok {
                call.answer = thread.results(operation).to_vec();
            }
        }
    }
}

/// The calls of the plan's order with what they answered. A call that the target refused to make
/// has no answer, and ends them.
fn answers(plan: &Plan, history: &History, done: &Done) -> Vec<SequentialCall> {
    let scenario = &plan.scenarios[0];
    let mut made = vec![0; scenario.threads.len()];
    let mut calls = Vec::with_capacity(scenario.order.len());
    for (turn, &client) in scenario.order.iter().enumerate() {
        let index = made[client as usize];
        made[client as usize] += 1;
        let call = &scenario.threads[client as usize][index];
        let thread = history.threads.iter().find(|thread| thread.client == client);
        let answer = thread.and_then(|thread| {
            let operation = thread.operations().get(index)?;
            Some((operation.status, thread.results(operation).to_vec()))
        });
        let answer = answer.filter(|_| done.refused != Some(turn));
        let is_made = answer.is_some();
        let (status, results) = answer.unwrap_or((Status::Pending, Vec::new()));
        calls.push(SequentialCall {
            client,
            op: call.op,
            args: call.args.clone(),
            status,
            results,
        });
        if !is_made {
            break;
        }
    }
    calls
}

/// The clients in the order in which their calls returned, a likely order of their effects.
fn by_end(history: &History) -> Vec<u32> {
    let of_thread = |thread: &interlap::core::history::Thread| {
        let client = thread.client;
        thread.operations().iter().map(move |of| (of.end, client)).collect::<Vec<_>>()
    };
    let mut ends: Vec<(u64, u32)> = history.threads.iter().flat_map(of_thread).collect();
    ends.sort_unstable();
    ends.into_iter().map(|(_, client)| client).collect()
}

/// An order that begins so, and goes on with all other calls as `guess` has them.
fn completed(begun: Vec<u32>, guess: &[u32]) -> Vec<u32> {
    let mut used = begun.clone();
    let mut order = begun;
    for client in guess {
        match used.iter().position(|of| of == client) {
            Some(at) => drop(used.swap_remove(at)),
            None => order.push(*client),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_goes_on_with_the_calls_that_it_lacks() {
        assert_eq!(completed(vec![], &[0, 1, 0, 2]), [0, 1, 0, 2]);
        assert_eq!(completed(vec![2, 0], &[0, 1, 0, 2]), [2, 0, 1, 0]);
    }
}
