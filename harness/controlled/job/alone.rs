//! Calls the structure, or a sequential class beside it, one call at a time in the orders that
//! decide a round. Each order is a round of its own: the same calls of the same threads, from the
//! same state.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use interlap::check::{self, Limits, Undecided, Verdict};
use interlap::core::history::{History, OperationId};
use interlap::core::operation::Status;
use interlap::core::plan::{Call, Job, Plan, Scenario};
use interlap::core::random::Random;
use interlap::core::scenario;
use interlap::core::sequential_runs::{ClientCall, SequentialCall, SequentialRuns};
use interlap::core::words;
use interlap::model::{Kind, Spec as Model};
use interlap::schedule::{Spec as Policy, THREADS_MAX};

use super::judge::RoundReader;
use super::round::{self, Done, Effect, Run};
use super::rounds::prepare;
use super::turns::{CameTo, Order, Turn};
use crate::controlled::core::current_round;
use crate::controlled::interpose::environment;
use crate::controlled::watch::{coverage, libraries};
use crate::library::Target;
use crate::record::Area;
use crate::workload::Shape;

/// Orders of one round at most: a round that needs more is not decided.
const ORDERS_MAX: usize = 512;

/// A round that needs more is begun again, and what beginnings lead to is compared from then on.
const ORDERS_PLAIN: usize = 64;
/// Orders of such a round at most.
const ORDERS_COMPARED_MAX: usize = 4096;
/// Orders that are run once more where they lead to a violation.
const ORDERS_AGAIN: usize = 128;

/// Steps in vain after which a call that is made alone is first taken to wait: it looks at the same
/// places again and again. A violation must stand where that takes as many as a livelock.
const STEPS_MAX: u64 = 1 << 14;

/// The numbers of structures that are called one call at a time begin here.
const NUMBER_FIRST: u32 = 1 << 31;

/// In what a run differs from others of the same calls.
#[derive(Default)]
struct Unlike {
    /// Bytes of the heap that are taken first; then blocks are below those before them.
    heap: usize,
    /// The virtual time at which it begins, in nanoseconds.
    time: u64,
    /// Changes the seed of random numbers.
    seed: u64,
    last_enters_first: bool,
}

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
    steps_max: u64,
    /// Some call waited in vain.
    in_vain: bool,
    /// States of the target that seemed to be equal never went on differently.
    may_compare: bool,
    /// Each call is made by a thread of its own: its client's calls have no order.
    any_thread: bool,
    /// Threads of the target outlived one of the runs.
    pub left_running: bool,
}

impl<'a> Alone<'a> {
    pub fn new(job: &'a Job, target: &'a Target, kind: Kind) -> Alone<'a> {
        let (plan, reader) = (job.plan.clone(), RoundReader::new(&target.methods));
        let of_model = kind == Kind::Class;
        Alone {
            job,
            target,
            of_model,
            plan,
            reader,
            structures: 0,
            steps_max: STEPS_MAX,
            in_vain: false,
            may_compare: true,
            any_thread: false,
            left_running: false,
        }
    }

    /// Decides a round that came to its end, though calls may wait for ever. Leaves in `history`
    /// what was run for that.
    ///
    /// # Errors
    /// If the structure could not be made.
    pub fn decide(
        &mut self,
        (shape, effects, history): (&Shape, &[Effect], &mut History),
        (model, limits): (&Model, &Limits),
        area: &mut Area,
    ) -> Result<Verdict, String> {
        let guess = by_effect(history, effects).into_iter();
        let guess: Vec<ClientCall> = match model.consistency {
            consistency if consistency.is_of_any_thread() => {
                let (calls, ids) = check::split_clients(history, consistency);
                if ids.len() >= THREADS_MAX {
                    return Ok(Verdict::Inconclusive(Undecided::NotRunAlone));
                }
                if shape.sequential && !self.of_model {
                    self.any_may_call((shape, history), &calls, area)?;
                }
                self.set_calls(&calls, ids.len() as u32);
                let client = |id| ids.iter().position(|own| *own == id).expect("all are in it");
                let call = |id| ClientCall { client: client(id) as u32, index: 0, choice: 0 };
                guess.map(call).collect()
            }
            _ => {
                self.set_calls(history, shape.threads);
                guess.map(|id| call_of(history, id)).collect()
            }
        };
        self.any_thread = model.consistency.is_of_any_thread();
        let order = Order { guess: &guess, ..Order::default() };
        if shape.sequential && !self.of_model {
            self.are_the_same(shape.round, order, area)?;
        }
        self.steps_max = match libraries::are_all_instrumented() {
            true => STEPS_MAX,
            false => u64::MAX,
        };
        self.in_vain = false;
        let verdict = self.search((shape.round, history), (model, limits), order, area)?;
        if !self.in_vain || !matches!(verdict, Verdict::Violation(_)) {
            return Ok(verdict);
        }
        self.steps_max = u64::MAX;
        self.search((shape.round, history), (model, limits), order, area)
    }

    /// The calls of `history`, of so many clients, are those to make.
    fn set_calls(&mut self, history: &History, clients: u32) {
        let mut scenario = scenario::from_history(history, clients);
        (scenario.sequential, scenario.of_model) = (true, self.of_model);
        if self.of_model {
            add_answers(&mut scenario, history);
        }
        self.plan.scenarios = vec![scenario];
    }

    /// Decides the history by a few orders, or by many where what they lead to is compared.
    fn search(
        &mut self,
        (round, history): (u64, &mut History),
        rules: (&Model, &Limits),
        order: Order,
        area: &mut Area,
    ) -> Result<Verdict, String> {
        if self.may_compare {
            let few = self.try_orders((round, history), rules, (order, ORDERS_PLAIN), area)?;
            if !matches!(few, Verdict::Inconclusive(_)) || self.left_running {
                return Ok(few);
            }
            let most = (Order { compares: true, ..order }, ORDERS_COMPARED_MAX);
            let verdict = self.try_orders((round, history), rules, most, area)?;
            let is_violation = matches!(verdict, Verdict::Violation(_));
            if self.agree((round, history), (most.0, is_violation), area)? {
                return Ok(verdict);
            }
            self.may_compare = false;
        }
        self.try_orders((round, history), rules, (order, ORDERS_MAX), area)
    }

    /// Whether the runs agree, also with random orders of what they say where `asks_again`.
    fn agree(
        &mut self,
        (round, history): (u64, &mut History),
        (order, asks_again): (Order, bool),
        area: &mut Area,
    ) -> Result<bool, String> {
        let Some(mut runs) = history.runs.take().map(Arc::unwrap_or_clone) else { return Ok(true) };
        let orders = if asks_again { ORDERS_AGAIN } else { 0 };
        for begun in runs.draw(&mut Random::new(round), orders) {
            let order = Order { begun: &begun, ..order };
            runs.add(self.run((round, Unlike::default()), order, area)?);
        }
        let agree = !runs.disagree();
        history.runs = Some(Arc::new(runs));
        Ok(agree)
    }

    /// Makes the calls in orders until the history is decided, or so many were tried.
    fn try_orders(
        &mut self,
        (round, history): (u64, &mut History),
        (model, limits): (&Model, &Limits),
        (order, orders_max): (Order, usize),
        area: &mut Area,
    ) -> Result<Verdict, String> {
        let (mut runs, mut wanted, mut made) = (SequentialRuns::default(), vec![Vec::new()], 0);
        let mut batch = 2;
        loop {
            let (before, most) = (made, made + batch.min(orders_max - made));
            for begun in wanted.drain(..) {
                if made < most && (begun.is_empty() || !runs.has(&begun)) {
                    let order = Order { begun: &begun, ..order };
                    runs.add(self.run((round, Unlike::default()), order, area)?);
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
            runs = Arc::unwrap_or_clone(history.runs.take().expect("set above"));
            // It is in vain to compare more where little is ever the same.
            let is_vain = made >= ORDERS_MAX && runs.repeated().count() < made / 2;
            let is_over = made == orders_max || made == before || is_vain || runs.disagree();
            if is_decided || is_over || self.left_running {
                history.runs = Some(Arc::new(runs));
                return Ok(verdict);
            }
            batch = (batch + batch / 2).min(orders_max);
        }
    }

    /// An error if answers are others at other addresses, at another time, with other random
    /// numbers, or where the threads come in another order: then nobody can say which are right.
    fn are_the_same(&mut self, round: u64, order: Order, area: &mut Area) -> Result<(), String> {
        let time = 86_400_000_000_123;
        let unlike = Unlike { heap: 1040, time, seed: 1, last_enters_first: true };
        // Where there may be one more thread, it makes no calls, and comes last or first.
        let scenario = self.plan.scenarios[0].clone();
        let (threads, most) = (scenario.threads.len() as u32, self.target.info.thread_max);
        if most == 0 || threads < most {
            self.plan.scenarios[0].threads.push(Vec::new());
        }
        let one = self.run((round, Unlike::default()), order, area)?;
        let other = self.run((round, unlike), order, area)?;
        self.plan.scenarios[0] = scenario;
        match one.iter().zip(&other).find(|(one, other)| one != other) {
            Some((one, other)) => Err(differs(one, other)),
            None => Ok(()),
        }
    }

    /// An error if answers are others where each call is made by a thread of its own.
    fn any_may_call(
        &mut self,
        (shape, history): (&Shape, &History),
        calls: &History,
        area: &mut Area,
    ) -> Result<(), String> {
        let mut made = Vec::new();
        for (history, clients) in [(history, shape.threads), (calls, calls.threads.len() as u32)] {
            self.set_calls(history, clients);
            self.any_thread = clients != shape.threads;
            let guess: Vec<ClientCall> =
                by_effect(history, &[]).into_iter().map(|id| call_of(history, id)).collect();
            let order = Order { guess: &guess, ..Order::default() };
            made.push(self.run((shape.round, Unlike::default()), order, area)?);
        }
        let answer = |of: &SequentialCall| (of.op, of.status, of.results.clone());
        match made[0].iter().zip(&made[1]).find(|(one, other)| answer(one) != answer(other)) {
            Some((one, _)) => Err(format!(
                "{} depends on which thread calls it, and consistency=quiescent and quasi let \
                 any: use consistency=sequential, or none",
                words::call(one.op, &one.args, &words::number)
            )),
            None => Ok(()),
        }
    }

    /// Makes the calls in this order, as far as they can be made.
    fn run(
        &mut self,
        (round, unlike): (u64, Unlike),
        order: Order,
        area: &mut Area,
    ) -> Result<Vec<SequentialCall>, String> {
        let shape = Shape::draw(&self.plan, &self.target.operations, &self.target.info, round);
        let policy = Policy::Turns(Vec::new());
        current_round::set(round, &policy);
        let mut settings = prepare(self.job, &shape, &policy);
        settings.steps_max = settings.steps_max.min(self.steps_max);
        (settings.time, settings.seed) = (unlike.time, settings.seed ^ unlike.seed);
        if unlike.seed != 0 {
            environment::reset(settings.seed);
        }
        coverage::leave_out();
        self.structures = (self.structures + 1) % NUMBER_FIRST;
        let number = NUMBER_FIRST + self.structures;
        let directory = &self.job.directory;
        let (heap_first, any_thread) = (unlike.heap, self.any_thread);
        let order = Order { last_enters_first: unlike.last_enters_first, ..order };
        let run = Run { directory, number, order, may_wait: true, any_thread, heap_first };
        let done = round::run(self.target, area, &shape, run, settings)?;
        self.left_running |= done.counted.left_running > 0;
        self.in_vain |= done.turns.iter().any(|turn| turn.came_to == CameTo::WaitInVain);
        let none = &mut History::default();
        let history = self.reader.read(shape.threads, true, area).unwrap_or(none);
        Ok(answers(&self.plan, history, &done))
    }
}

/// That a structure depends on more than its calls.
fn differs(one: &SequentialCall, other: &SequentialCall) -> String {
    let answer = |call: &SequentialCall| match call.waits() {
        true => "waits".to_string(),
        false => words::answer(call.op, call.status, &call.results, &words::number),
    };
    let (made, answers) =
        (words::call(one.op, &one.args, &words::number), [one, other].map(answer));
    format!(
        "{made} depends on more than the calls before it: it answered {}, and {} at other \
         addresses, at another time, with other random numbers and threads that began in another \
         order. Take it off the list, or say what is right in a class: INTERLAP_MODEL",
        answers[0], answers[1]
    )
}

/// The orders that were asked for and not run.
fn taken(history: &History) -> BTreeSet<Vec<ClientCall>> {
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

/// The turns with what the calls answered.
fn answers(plan: &Plan, history: &History, done: &Done) -> Vec<SequentialCall> {
    let calls = &plan.scenarios[0].threads;
    let mut returned = vec![0; calls.len()];
    let of_turn = |turn: &Turn| {
        let ClientCall { client, index, choice } = turn.of;
        let Call { op, args, .. } = calls[client as usize].get(index as usize)?;
        let made = &mut returned[client as usize];
        let (status, results) = match turn.came_to {
            CameTo::Wait | CameTo::WaitInVain | CameTo::Step => (Status::Pending, Vec::new()),
            CameTo::WrongAnswer => (Status::Unknown, Vec::new()),
            CameTo::Return => {
                let thread = history.threads.iter().find(|thread| thread.client == client)?;
                let operation = thread.operations().get(*made)?;
                *made += 1;
                (operation.status, thread.results(operation).to_vec())
            }
        };
        Some(SequentialCall {
            client,
            index,
            choice,
            choice_last: turn.choice_last,
            op: *op,
            args: args.clone(),
            status,
            results,
            is_step: turn.came_to == CameTo::Step,
            awake: turn.awake.clone(),
            state: turn.state.clone(),
            memory: turn.memory,
        })
    };
    done.turns.iter().map_while(of_turn).collect()
}

fn call_of(history: &History, id: OperationId) -> ClientCall {
    let client = history.threads[id.thread as usize].client;
    ClientCall { client, index: id.index, choice: 0 }
}

/// The calls in a likely order of their effects: by their last change of memory, or by their end if
/// they changed none.
fn by_effect(history: &History, effects: &[Effect]) -> Vec<OperationId> {
    let time = |id: &OperationId| {
        let (call, operation) = (call_of(history, *id), history.operation(*id));
        let effect = effects.iter().find(|(_, of)| *of == call).map(|(at, _)| *at);
        let effect = effect.filter(|at| (operation.start..=operation.end).contains(at));
        effect.unwrap_or(operation.end)
    };
    let mut calls: Vec<OperationId> = history.ids().collect();
    calls.sort_by_cached_key(time);
    calls
}
