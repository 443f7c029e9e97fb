//! Draws the calls of one thread, or takes them from a scenario. They depend on seed, round and
//! thread alone, except for the expected value of a compare-exchange and the position of a log's
//! read, which depend on what the thread has seen.

mod transaction;
mod values;

use interlap::core::operation::{Family, Op, Status};
use interlap::core::plan::Call;
use interlap::core::random::Random;

use super::{AMOUNTS, LISTED_MAX, Shape, adds, removes};
use crate::library::abi;
use transaction::Transaction;
use values::Values;

pub use transaction::TRANSACTION_MAX;

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
    /// The same in the whole round.
    in_turn: bool,
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
    values: Values,
    answer: &'a [i64],
}

impl<'a> Caller<'a> {
    pub fn new(shape: &Shape<'a>, thread: u32) -> Caller<'a> {
        let seed = shape.seed;
        Caller {
            scenario: shape.scenario.map(|scenario| scenario.threads[thread as usize].iter()),
            random: Random::derived(seed, &[shape.round, 1 + u64::from(thread)]),
            table: Table::for_caller(shape, thread),
            in_turn: shape.in_turn,
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
            // A container takes several.
            values: Values::new(i64::from(thread + 1) * shape.value_stride.max(1_000)),
            answer: &[],
        }
    }

    /// Whether this thread has anything to do in this round.
    pub fn is_idle(&self) -> bool {
        self.scenario.is_none() && self.table.total(Mix::Balanced) == 0
    }

    /// What the call that came next last is to answer, if a sequential model judges that.
    pub fn answer(&self) -> &[i64] {
        self.answer
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
            self.answer = &call.answer;
            return Some(call.op);
        }
        if self.phase_calls == 0 {
            let drawn = *self.random.pick(&PHASES);
            self.phase = if self.in_turn { Phase::InTurn } else { drawn };
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
            QueueSize | StackSize | DequeSize | PrioritySize => {}
            QueueEmpty | StackEmpty | DequeEmpty | PriorityEmpty => {}
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
            Method(method) => self.values.draw(method, &mut self.random, self.keys, args),
            // No target offers these.
            LogAppendBatch | LogAppendLast | LogReadAll | LogRestore => {}
            StoreAppend | StoreReadList | Described => {}
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
        if let (Op::Method(method), Status::Ok) = (op, status) {
            self.values.observe(method, results);
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
