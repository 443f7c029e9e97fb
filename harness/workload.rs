//! Draws the shape of each round and every thread's calls from a plan's seed, or takes them from
//! its scenario. They depend on seed, round and thread alone, except for the expected value of a
//! compare-exchange and the position of a log's read, which depend on what the thread has seen.

mod transaction;

use interlap::core::operation::{Family, Op, Status};
use interlap::core::plan::{Call, Engine, FreshThreads, Plan, Scenario, WARM_UP_ROUNDS};
use interlap::core::random::Random;
use interlap::trace::area::THREADS_MAX;
use interlap::trace::frame::{PART_CALLS, RoundStart, TargetInfo};

use crate::library::{Role, abi};
use transaction::Transaction;

pub use transaction::TRANSACTION_MAX;

const SHORT_CALLS: (u64, u64) = (2, 64);
const LONG_CALLS: (u64, u64) = (512, 20_000);
/// With the controlled engine few calls suffice: their interleavings vary.
const CONTROLLED_CALLS: (u64, u64) = (1, 16);

/// Under rr: so long that time slices end within a round, and short enough for a debugger.
const RR_CALLS: (u64, u64) = (64, 1024);

/// Numbers of draws, apart from those of threads, which count from 1.
const OF_BULK: u64 = 1 << 32;
const OF_AMOUNT: u64 = 2 << 32;

/// What is added to a counter. Rounds with more calls than this use one amount only.
const AMOUNTS: [i64; 3] = [1, 2, 7];
const AMOUNTS_CALLS_MAX: u64 = 64;

/// Keys of a listed range at most: they fit the room for results that `interlap.h` guarantees
/// (`IL_RESULT_ROOM`).
const LISTED_MAX: u64 = 64;

/// The parameters of one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape<'a> {
    pub round: u64,
    pub threads: u32,
    pub calls: u64,
    pub sequential: bool,
    pub fresh: bool,
    /// Threads are stalled in the middle of calls (see `disturb`).
    pub disturbed: bool,
    /// Each operation with its role and weight; swarm testing leaves some out (Groce et al.,
    /// ISSTA 2012).
    weights: Vec<(Op, Role, u64)>,
    /// Keys are below this number.
    keys: u64,
    bulk: u64,
    block_size: u64,
    /// What an addition to a counter adds; 0: drawn from [`AMOUNTS`]. Long rounds have one amount,
    /// because the checker cannot decide long histories of several.
    amount: i64,
    /// Pause instructions before a thread's first call, and between calls, at most.
    start_delay: u64,
    pause: u64,
    /// Distance between the values of two threads: a power of ten, so that a value shows which
    /// thread added it.
    value_stride: i64,
    /// Odd; scatters the values of a priority queue.
    spread: i64,
    seed: u64,
    scenario: Option<&'a Scenario>,
}

impl<'a> Shape<'a> {
    pub fn draw(
        plan: &'a Plan,
        operations: &[(Op, Role)],
        info: &TargetInfo,
        round: u64,
    ) -> Shape<'a> {
        let (seed, scenario) = (plan.seed, plan.scenario(round));
        let mut random = Random::derived(seed, &[round]);
        let sequential = scenario.map_or(round < WARM_UP_ROUNDS, |scenario| scenario.sequential);
        let (threads, calls) = match scenario {
            Some(scenario) => size_of(scenario),
            None => size(plan, operations, info, sequential, &mut random),
        };
        let fresh = match plan.fresh_threads {
            FreshThreads::Always => true,
            FreshThreads::Never => false,
            FreshThreads::Some => random.one_in(8),
        };
        let disturbed = plan.disturb && !sequential && random.one_in(2);
        let bulk = match (scenario, plan.engine) {
            (Some(scenario), _) => scenario.values,
            (None, Engine::Controlled) => small_bulk(plan, round),
            (None, Engine::Native | Engine::Rr) => plan.bulk.max(1),
        };
        let values = calls.saturating_mul(bulk).max(1);
        let keys = *random.pick(&[1, 2, 4, plan.keys.div_ceil(2), plan.keys, plan.keys]);
        Shape {
            round,
            threads,
            calls,
            sequential,
            fresh,
            disturbed,
            weights: weights(plan, operations, (threads, calls), &mut random),
            keys: scenario.map_or(keys, |scenario| scenario.keys),
            bulk,
            block_size: info.block_size.into(),
            amount: match Random::derived(seed, &[round, OF_AMOUNT]).below(5) {
                4 if calls.saturating_mul(threads.into()) <= AMOUNTS_CALLS_MAX => 0,
                drawn => [1, 1, 2, 7][drawn as usize % 4],
            },
            start_delay: *random.pick(&[0, 10, 100, 1000]),
            // Threads with many calls get out of step anyway.
            pause: if calls < LONG_CALLS.0 { *random.pick(&[0, 0, 4, 32]) } else { 0 },
            value_stride: 10i64.pow(values.ilog10() + 1),
            spread: random.below(1 << 31) as i64 * 2 + 1,
            seed,
            scenario,
        }
    }

    /// The frame with which the round begins in a trace.
    pub fn start(&self) -> RoundStart {
        RoundStart {
            round: self.round,
            threads: self.threads,
            calls: self.calls,
            sequential: self.sequential,
            fresh: self.fresh,
        }
    }

    /// Values that one call of this round has at most.
    pub fn values_per_call(&self) -> usize {
        let offers = |wanted: fn(Op) -> bool| self.weights.iter().any(|(op, ..)| wanted(*op));
        if offers(|op| op == Op::SetRangeList) {
            self.keys.clamp(3, LISTED_MAX) as usize
        } else if offers(is_bulk) || self.scenario.is_some() {
            self.bulk as usize
        } else {
            3
        }
    }

    /// Calls of all threads together, at most.
    pub fn operations(&self) -> u64 {
        match self.scenario {
            Some(scenario) => scenario.threads.iter().map(|calls| calls.len() as u64).sum(),
            None => self.calls.saturating_mul(self.threads.into()),
        }
    }

    /// Whether arguments depend on earlier answers.
    fn uses_answers(&self) -> bool {
        use Op::*;
        let asks =
            |op| matches!(op, MapCompareExchange | RegisterCompareExchange | LogRead | KvAppend);
        self.weights.iter().any(|(op, ..)| asks(*op))
    }

    /// Keys of this round are below this number.
    pub fn keys(&self) -> u64 {
        self.keys
    }
}

/// The number of threads, and the most calls of a thread.
fn size_of(scenario: &Scenario) -> (u32, u64) {
    let calls = scenario.threads.iter().map(Vec::len).max().unwrap_or(0);
    (scenario.threads.len() as u32, calls as u64)
}

/// Values of a bulk call at most, in a round of the controlled engine: as often small as large, so
/// that findings are short. Drawn apart, so that nothing else depends on it.
fn small_bulk(plan: &Plan, round: u64) -> u64 {
    let most = plan.bulk.max(1);
    Random::derived(plan.seed, &[round, OF_BULK]).log_between(most.min(2), most)
}

/// Threads and calls per thread.
fn size(
    plan: &Plan,
    operations: &[(Op, Role)],
    info: &TargetInfo,
    sequential: bool,
    random: &mut Random,
) -> (u32, u64) {
    let roles = operations.iter().any(|(_, role)| *role == Role::Others);
    let bound = if info.thread_max == 0 { THREADS_MAX as u32 } else { info.thread_max };
    let most = plan.threads.min(bound).max(1);
    let long = !sequential && random.one_in(12);
    let range = match plan.engine {
        Engine::Controlled => CONTROLLED_CALLS,
        Engine::Rr if !sequential => RR_CALLS,
        Engine::Native if long => LONG_CALLS,
        Engine::Native | Engine::Rr => SHORT_CALLS,
    };
    let drawn = random.log_between(range.0, range.1);
    let calls = plan.calls.unwrap_or(drawn);
    if sequential {
        return (if roles { 2 } else { 1 }, calls.min(200));
    }
    let threads = match plan.calls {
        Some(_) => most,
        None => random.between(2.min(most.into()), most.into()) as u32,
    };
    (threads, calls)
}

/// Weights given by the plan, and swarm weights for other operations: each is 0 in a quarter of the
/// rounds. At least one operation stays on for each role, and one that adds; in long rounds, which
/// may be the only ones of a run, also one that removes.
fn weights(
    plan: &Plan,
    operations: &[(Op, Role)],
    (threads, calls): (u32, u64),
    random: &mut Random,
) -> Vec<(Op, Role, u64)> {
    let given = |op: Op| plan.weights.iter().find(|(name, _)| name == op.name()).map(|(_, w)| *w);
    let mut drawn: Vec<(Op, Role, u64)> = operations
        .iter()
        .map(|&(op, role)| {
            let swarm = *random.pick(&[0, 0, 1, 1, 2, 2, 4, 8]);
            (op, role, given(op).map_or(swarm, u64::from))
        })
        .collect();
    let mut keep = |wanted: &dyn Fn(Op, Role) -> bool| {
        if drawn.iter().all(|(op, role, weight)| *weight == 0 || !wanted(*op, *role)) {
            let free =
                |(op, role, _): &&mut (Op, Role, u64)| wanted(*op, *role) && given(*op).is_none();
            if let Some(first) = drawn.iter_mut().find(free) {
                first.2 = 1;
            }
        }
    };
    keep(&|op, _| adds(op));
    if calls >= PART_CALLS {
        keep(&|op, _| removes(op));
    }
    // Strings must not grow without bounds, and most transactions should read.
    keep(&|op, _| op == Op::KvPut);
    keep(&|op, _| op == Op::StoreRead);
    for thread in 0..threads.min(2) {
        keep(&|_, role| role.admits(thread));
    }
    drawn
}

/// Whether the operation adds values.
pub fn adds(op: Op) -> bool {
    use Op::*;
    op.adds()
        || matches!(op, SetInsert | MapPut | MapInsertIfAbsent | CounterAdd | LogAppend)
        || matches!(op, KvPut | KvAppend | StoreWrite)
}

fn removes(op: Op) -> bool {
    use Op::*;
    op.removes() || matches!(op, SetRemove | MapRemove | StoreRemove)
}

fn is_bulk(op: Op) -> bool {
    matches!(op, Op::EnqueueBulk | Op::DequeueBulk)
}

/// In near-empty and near-full phases, adding or removing is this much likelier.
const BIAS: u64 = 8;
const PHASE_CALLS: (u64, u64) = (4, 256);

/// How the weights of operations that add and remove are changed.
#[derive(Clone, Copy)]
enum Mix {
    Balanced,
    Filling,
    Emptying,
    /// Only operations that add; only those that remove.
    Adding,
    Removing,
}

const MIXES: [Mix; 5] = [Mix::Balanced, Mix::Filling, Mix::Emptying, Mix::Adding, Mix::Removing];

impl Mix {
    fn factor(self, op: Op) -> u64 {
        match self {
            Mix::Filling if adds(op) => BIAS,
            Mix::Emptying if removes(op) => BIAS,
            Mix::Balanced | Mix::Filling | Mix::Emptying => 1,
            Mix::Adding => adds(op).into(),
            Mix::Removing => removes(op).into(),
        }
    }
}

/// Operations with cumulative weights for each mix.
struct Table(Vec<(Op, [u64; MIXES.len()])>);

impl Table {
    /// The operations that this thread may call.
    fn for_caller(shape: &Shape, thread: u32) -> Table {
        let allowed = shape.weights.iter().filter(|(_, role, _)| role.admits(thread));
        let mut table = Vec::with_capacity(shape.weights.len());
        let mut sums = [0; MIXES.len()];
        for &(op, _, weight) in allowed {
            MIXES.iter().for_each(|mix| sums[*mix as usize] += weight * mix.factor(op));
            table.push((op, sums));
        }
        Table(table)
    }

    fn total(&self, mix: Mix) -> u64 {
        self.0.last().map_or(0, |(_, sums)| sums[mix as usize])
    }

    /// The operation for a number below the total.
    fn at(&self, mix: Mix, drawn: u64) -> Op {
        let found = self.0.iter().find(|(_, sums)| drawn < sums[mix as usize]);
        found.expect("below the last sum").0
    }
}

/// How a thread chooses operations for some calls.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Balanced,
    Filling,
    Emptying,
    /// Adds and removes in turn, so that the structure stays nearly empty, where most hard cases
    /// are.
    InTurn,
}

const PHASES: [Phase; 4] = [Phase::Balanced, Phase::Filling, Phase::Emptying, Phase::InTurn];

/// Draws the calls of one thread, or takes them from the scenario.
pub struct Caller<'a> {
    scenario: Option<std::slice::Iter<'a, Call>>,
    random: Random,
    table: Table,
    phase: Phase,
    phase_calls: u64,
    keys: u64,
    bulk: u64,
    block_size: u64,
    amount: i64,
    /// A log has no more records than this.
    records_max: i64,
    next_value: i64,
    /// Turns values into priorities, with `priority_mask`.
    spread: i64,
    priority_mask: i64,
    /// `next_value` before the last call was drawn.
    value_before: i64,
    pause: u64,
    /// For compare-exchange, the last value seen under each key; for a log, at 0, how many records
    /// it has at least; for strings, how often this thread appended to each since it put it.
    seen: Vec<i64>,
    /// Appends of a thread to a string at most, so that it always fits the room for results.
    appends_max: i64,
    transaction: Transaction,
}

impl<'a> Caller<'a> {
    pub fn new(shape: &Shape<'a>, thread: u32) -> Caller<'a> {
        let seed = shape.seed;
        Caller {
            scenario: shape.scenario.map(|scenario| scenario.threads[thread as usize].iter()),
            random: Random::derived(seed, &[shape.round, 1 + u64::from(thread)]),
            table: Table::for_caller(shape, thread),
            phase: Phase::Balanced,
            phase_calls: 0,
            keys: shape.keys,
            bulk: shape.bulk,
            block_size: shape.block_size,
            amount: shape.amount,
            records_max: shape.calls as i64 * i64::from(shape.threads),
            next_value: i64::from(thread + 1) * shape.value_stride,
            spread: shape.spread,
            priority_mask: {
                let end = (i64::from(shape.threads) + 2) * shape.value_stride;
                end.unsigned_abs().next_power_of_two() as i64 - 1
            },
            value_before: 0,
            pause: shape.pause,
            seen: vec![0; if shape.uses_answers() { shape.keys as usize } else { 0 }],
            appends_max: (i64::from(abi::IL_RESULT_ROOM) - 2) / i64::from(shape.threads),
            transaction: Transaction::None,
        }
    }

    /// Whether this thread has anything to do in this round.
    pub fn is_idle(&self) -> bool {
        self.scenario.is_none() && self.table.total(Mix::Balanced) == 0
    }

    /// Pause instructions before the first call.
    pub fn start_delay(&mut self, shape: &Shape) -> u64 {
        self.random.below(shape.start_delay + 1)
    }

    /// Pause instructions before the next call.
    pub fn pause(&mut self) -> u64 {
        if self.pause == 0 { 0 } else { self.random.below(self.pause) }
    }

    /// The next call, if there is one; puts its arguments into `args`.
    pub fn next(&mut self, args: &mut Vec<i64>) -> Option<Op> {
        args.clear();
        if let Some(calls) = &mut self.scenario {
            let call = calls.next()?;
            args.extend_from_slice(&call.args);
            return Some(call.op);
        }
        if self.phase_calls == 0 {
            self.phase = *self.random.pick(&PHASES);
            self.phase_calls = self.random.log_between(PHASE_CALLS.0, PHASE_CALLS.1);
        }
        self.phase_calls -= 1;
        self.value_before = self.next_value;
        let op = match self.drawn() {
            op if op.family() == Family::Store => self.next_of_transaction(op),
            op => op,
        };
        Some(self.arguments(op, args))
    }

    fn drawn(&mut self) -> Op {
        let drawn = self.random.below(self.table.total(self.mix()));
        self.table.at(self.mix(), drawn)
    }

    fn mix(&self) -> Mix {
        let total = |mix| self.table.total(mix);
        match self.phase {
            Phase::Filling => Mix::Filling,
            Phase::Emptying => Mix::Emptying,
            Phase::InTurn if total(Mix::Adding) > 0 && total(Mix::Removing) > 0 => {
                if self.phase_calls % 2 == 1 { Mix::Adding } else { Mix::Removing }
            }
            Phase::InTurn | Phase::Balanced => Mix::Balanced,
        }
    }

    /// The last call was not made: reuses its values. (Each thread has just enough values for its
    /// calls.)
    pub fn withdraw(&mut self) {
        self.next_value = self.value_before;
    }

    /// Draws the arguments; gives the operation, or another one where it is not possible.
    fn arguments(&mut self, op: Op, args: &mut Vec<i64>) -> Op {
        use Op::*;
        match op {
            Enqueue | Push | DequePush | RegisterWrite | LogAppend => args.push(self.value()),
            PriorityInsert => args.push(self.priority()),
            Dequeue | Pop | DequeTake | DequeSteal | RegisterRead | PriorityPoll => {}
            SetSize | CounterRead | LogCheckTail => {}
            CounterAdd => args.push(match self.amount {
                0 => *self.random.pick(&AMOUNTS),
                amount => amount,
            }),
            EnqueueBulk => {
                for _ in 0..self.bulk_size() {
                    args.push(self.value());
                }
            }
            DequeueBulk => args.push(self.bulk_size() as i64),
            SetInsert | SetRemove | SetContains | MapGet | MapRemove => args.push(self.key()),
            SetSelect => args.push(self.key()),
            // The rank above all keys is their number.
            SetRank => args.push(self.random.below(self.keys + 1) as i64),
            LogRead => args.push(self.position()),
            SetRangeCount | SetRangeList => {
                let (a, b) = (self.key(), self.key());
                let most = if op == SetRangeList { LISTED_MAX } else { self.keys } as i64;
                let low = a.min(b);
                args.extend([low, a.max(b).min(low + most - 1)]);
            }
            MapPut | MapInsertIfAbsent => args.extend([self.key(), self.value()]),
            MapCompareExchange => {
                let key = self.key();
                args.extend([key, self.seen[key as usize], self.value()]);
            }
            RegisterCompareExchange => args.extend([self.seen[0], self.value()]),
            KvGet | StoreRead | StoreRemove => args.push(self.key()),
            KvPut | KvAppend => {
                args.extend([self.key(), self.value()]);
                let appended = &mut self.seen[args[0] as usize];
                let full = *appended >= self.appends_max;
                let puts = op == KvPut || full;
                *appended = if puts { 0 } else { *appended + 1 };
                return if puts { KvPut } else { KvAppend };
            }
            StoreWrite => args.extend([self.key(), self.value()]),
            StoreBegin | StoreCommit | StoreAbort => {}
            // No target offers these.
            LogAppendBatch | LogReadAll | LogRestore => {}
        }
        op
    }

    /// A position in the log: half of the time near its end, as far as this thread knows it; else
    /// anywhere.
    fn position(&mut self) -> i64 {
        let known = self.seen[0].clamp(0, self.records_max) as u64;
        let position = match self.random.one_in(2) {
            true => known.saturating_sub(2) + self.random.below(4),
            false => self.random.below(known + 2),
        };
        position as i64
    }

    /// Remembers the answer, so that some compare-exchanges succeed and logs are read near their
    /// end.
    pub fn observe(&mut self, op: Op, args: &[i64], status: Status, results: &[i64]) {
        if op.family() == Family::Store {
            self.transaction = self.transaction_after(op, status);
        }
        if self.scenario.is_some() || self.seen.is_empty() {
            return;
        }
        let (key, value) = match (op, status, args, results) {
            (Op::MapGet, Status::Ok, [key], [value]) => (*key, *value),
            (Op::MapPut, _, [key, value], _) => (*key, *value),
            (Op::MapInsertIfAbsent, Status::Ok, [key, value], _) => (*key, *value),
            (Op::MapCompareExchange, Status::Ok, [key, _, value], _) => (*key, *value),
            (Op::MapCompareExchange | Op::MapInsertIfAbsent, _, [key, ..], [value]) => {
                (*key, *value)
            }
            (Op::RegisterRead, _, _, [value]) => (0, *value),
            (Op::RegisterWrite, _, [value], _) => (0, *value),
            (Op::RegisterCompareExchange, Status::Ok, [_, value], _) => (0, *value),
            (Op::RegisterCompareExchange, _, _, [value]) => (0, *value),
            (Op::LogAppend, _, _, [at]) => (0, self.seen[0].max(at.saturating_add(1))),
            (Op::LogRead, Status::Ok, [at], _) => (0, self.seen[0].max(at.saturating_add(1))),
            (Op::LogCheckTail, _, _, [tail]) => (0, self.seen[0].max(*tail)),
            _ => return,
        };
        self.seen[key as usize] = value;
    }

    fn value(&mut self) -> i64 {
        self.next_value += 1;
        self.next_value - 1
    }

    /// A value at a random rank among the others: to multiply by an odd number permutes the
    /// remainders modulo a power of two, so distinct values stay distinct.
    fn priority(&mut self) -> i64 {
        self.value().wrapping_mul(self.spread) & self.priority_mask
    }

    fn key(&mut self) -> i64 {
        self.random.below(self.keys) as i64
    }

    /// Half of the time a boundary size: none, one, around the target's block, the maximum.
    fn bulk_size(&mut self) -> u64 {
        let block = self.block_size;
        let boundary = [0, 1, 2, block.saturating_sub(1), block, block + 1, 2 * block, self.bulk];
        let size = match self.random.one_in(2) {
            true => *self.random.pick(&boundary),
            false => self.random.below(self.bulk.min(12) + 1),
        };
        size.min(self.bulk)
    }
}

#[cfg(test)]
mod tests;
