//! Small programs of atomic accesses, their executions by the engine's rules, and all executions
//! that there can be.

use std::collections::BTreeSet;

use interlap::core::random::Random;
use interlap::trace::frame::AccessKind;

use super::super::{Access, HappensBefore, Order};
use super::Stored;
use super::graph::{Event, Graph};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Load,
    Store,
    /// An exchange.
    Update,
    /// A compare-exchange that expects the initial value; weak or not.
    Compare {
        weak: bool,
        failed: u32,
    },
    Fence,
    /// A call ends and the next one begins.
    Boundary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub kind: Kind,
    pub location: usize,
    pub order: u32,
    /// What it stores: a value of its own.
    pub value: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub threads: Vec<Vec<Step>>,
    pub locations: usize,
}

const EXPECTED: u64 = 0;

fn address(location: usize) -> usize {
    4096 + 8 * location
}

impl Program {
    pub fn random(random: &mut Random, threads: usize, steps: u64, locations: usize) -> Program {
        let mut program = Program { threads: vec![Vec::new(); threads], locations };
        for thread in 0..threads {
            for number in 0..random.between(1, steps) {
                let value = 1 + thread as u64 * 16 + number;
                let location = random.below(locations as u64) as usize;
                program.threads[thread].push(random_step(random, location, value));
            }
        }
        program
    }

    /// One execution by the engine's rules. What is chosen is drawn.
    pub fn run(&self, order: &mut HappensBefore<()>, random: &mut Random) -> Graph {
        let mut run = Run::new(self, order);
        let mut at = vec![0; self.threads.len()];
        while let Some(thread) = self.one_of(&at, random) {
            run.step(thread, self.threads[thread][at[thread]], random);
            at[thread] += 1;
        }
        run.graph()
    }

    fn one_of(&self, at: &[usize], random: &mut Random) -> Option<usize> {
        let waits: Vec<usize> =
            (0..at.len()).filter(|thread| at[*thread] < self.threads[*thread].len()).collect();
        (!waits.is_empty()).then(|| waits[random.below(waits.len() as u64) as usize])
    }

    /// The outcomes of all executions of which the predicate holds, as it does of each that is the
    /// beginning of such a one.
    pub fn outcomes(&self, holds: fn(&Graph) -> bool) -> BTreeSet<(Vec<u64>, Vec<u64>)> {
        let start = Graph { events: Vec::new(), modifications: vec![vec![0]; self.locations] };
        let (mut outcomes, mut known) = (BTreeSet::new(), BTreeSet::new());
        let mut waits = vec![start];
        while let Some(graph) = waits.pop() {
            let count = |thread| graph.events.iter().filter(|of| of.thread == thread).count();
            let mut is_whole = true;
            for thread in 0..self.threads.len() {
                let Some(step) = self.threads[thread].get(count(thread)) else { continue };
                is_whole = false;
                for next in continued(&graph, thread, *step) {
                    if known.insert(key(&next)) && holds(&next) {
                        waits.push(next);
                    }
                }
            }
            if is_whole {
                outcomes.insert(graph.outcome(self));
            }
        }
        outcomes
    }
}

/// The same for all orders in which the events of a graph can be made. Those of calls have one.
fn key(graph: &Graph) -> (Vec<Event>, Vec<Vec<u64>>, Vec<usize>) {
    let mut events = graph.events.clone();
    // Stable: the order of each thread stays.
    events.sort_by_key(|event| event.thread);
    let calls = graph.events.iter().filter(|event| event.kind == Kind::Boundary);
    (events, graph.modifications.clone(), calls.map(|event| event.thread).collect())
}

/// Each way in which the graph can go on with the step.
fn continued(graph: &Graph, thread: usize, step: Step) -> Vec<Graph> {
    let Step { kind, location, order, value } = step;
    let event = Event { thread, kind, location, order, reads: None, writes: None };
    let with = |event: Event, behind: Option<usize>| {
        let mut next = graph.clone();
        next.events.push(event);
        if let Some(behind) = behind {
            next.modifications[location].insert(behind + 1, value);
        }
        next
    };
    if matches!(kind, Kind::Fence | Kind::Boundary) {
        return vec![with(event, None)];
    }
    let stores = graph.modifications[location].iter().copied().enumerate();
    let mut all = Vec::new();
    for (at, read) in stores {
        let (loads, updates) = (Event { reads: Some(read), ..event }, Some(value));
        match kind {
            Kind::Load => all.push(with(loads, None)),
            Kind::Store => all.push(with(Event { writes: updates, ..event }, Some(at))),
            Kind::Update => all.push(with(Event { writes: updates, ..loads }, Some(at))),
            Kind::Compare { weak, failed } => {
                if read == EXPECTED {
                    all.push(with(Event { writes: updates, ..loads }, Some(at)));
                }
                if read != EXPECTED || weak {
                    all.push(with(Event { order: failed, ..loads }, None));
                }
            }
            Kind::Fence | Kind::Boundary => {}
        }
    }
    all
}

fn random_step(random: &mut Random, location: usize, value: u64) -> Step {
    let mut one_of = |orders: &[u32]| orders[random.below(orders.len() as u64) as usize];
    let loads = one_of(&[0, 0, 2, 5]);
    let stores = one_of(&[0, 0, 3, 5]);
    let both = one_of(&[0, 0, 2, 3, 4, 5]);
    let fences = one_of(&[2, 3, 4, 5, 5]);
    let (kind, order) = match random.below(20) {
        0..7 => (Kind::Load, loads),
        7..14 => (Kind::Store, stores),
        14..16 => (Kind::Update, both),
        16 => (Kind::Compare { weak: random.one_in(2), failed: loads }, both),
        17..19 => (Kind::Fence, fences),
        _ => (Kind::Boundary, 0),
    };
    Step { kind, location, order, value }
}

struct Run<'a> {
    order: &'a mut HappensBefore<()>,
    memory: Vec<u64>,
    graph: Graph,
}

impl<'a> Run<'a> {
    fn new(program: &Program, order: &'a mut HappensBefore<()>) -> Run<'a> {
        let first = program.threads.len();
        order.begin(first, true);
        (0..first).for_each(|thread| order.starts(first, thread));
        let memory = vec![0; program.locations];
        Run { order, memory, graph: Graph { events: Vec::new(), modifications: Vec::new() } }
    }

    fn step(&mut self, thread: usize, step: Step, random: &mut Random) {
        let Step { kind, location, order, value } = step;
        let mut event = Event { thread, kind, location, order, reads: None, writes: None };
        let (by, memory) = (Order::of(order), self.memory[location]);
        let access = |writes| Access {
            address: address(location),
            told: (),
            size: 8,
            thread: thread as u16,
            kind: AccessKind::Atomic,
            writes,
        };
        let fails = random.one_in(4);
        let choose = &mut |count: usize| random.below(count as u64) as usize;
        let mut stored = None;
        match kind {
            Kind::Load => {
                let found = self.order.loads(access(false), by, memory, choose).0;
                event.reads = Some(found.value);
            }
            Kind::Store => {
                stored = Some(self.order.stores(access(true), by, (memory, value), choose).0);
            }
            Kind::Update => {
                let found = self.order.begins_update(access(true), by, memory, choose);
                event.reads = Some(found.value);
                stored = Some(self.order.ends_update(access(true), by, value).0);
            }
            Kind::Compare { weak, failed } => {
                let orders = (by, Order::of(failed));
                let values = (memory, EXPECTED);
                let (access, fails) = (access(true), weak && fails);
                let found = self.order.compares(access, orders, values, fails, choose);
                event.reads = Some(found.0.value);
                match found.1 {
                    true => stored = Some(self.order.ends_update(access, by, value).0),
                    false => event.order = failed,
                }
            }
            Kind::Fence => self.order.fence(thread, by),
            Kind::Boundary => self.order.meets_calls(thread),
        }
        event.writes = stored.map(|_| value);
        if stored == Some(Stored::Newest) {
            self.memory[location] = value;
        }
        self.graph.events.push(event);
    }

    fn graph(mut self) -> Graph {
        let values = |location| match self.order.modifications(address(location)) {
            values if values.is_empty() => vec![0],
            values => values,
        };
        self.graph.modifications = (0..self.memory.len()).map(values).collect();
        self.graph
    }
}
