//! Draws the shape of each round from a plan's seed, or takes it from its scenario. Each thread's
//! calls are drawn by its [`Caller`].

mod caller;

use interlap::core::operation::Op;
use interlap::core::plan::{Engine, FreshThreads, Plan, Scenario, WARM_UP_ROUNDS};
use interlap::core::random::Random;
use interlap::model::{Empty, Spec};
use interlap::trace::area::THREADS_MAX;
use interlap::trace::frame::{PART_CALLS, RoundStart, TargetInfo};

use crate::library::Role;

pub use caller::{Caller, TRANSACTION_MAX};

/// One call at a time.
const SHORT_CALLS: (u64, u64) = (2, 64);
/// Beside its calls a round of native threads costs some 0.1 ms.
const NATIVE_CALLS: (u64, u64) = (2, 2048);
const LONG_CALLS: (u64, u64) = (512, 20_000);
const LONG_ONE_IN: u64 = 32;
/// With the controlled engine few calls suffice: their interleavings vary.
const CONTROLLED_CALLS: (u64, u64) = (1, 16);
/// Fewer where the structure is its own model, as it is called in every order that may explain the
/// answers.
const ALONE_CALLS: (u64, u64) = (1, 8);

/// Under rr: so long that time slices end within a round, and short enough for a debugger.
const RR_CALLS: (u64, u64) = (64, 1024);

/// Numbers of draws, apart from those of threads, which count from 1.
const OF_BULK: u64 = 1 << 32;
const OF_AMOUNT: u64 = 2 << 32;
const OF_KIND: u64 = 3 << 32;

/// Native threads run free in one round of so many, with so many calls, in blocks of so many.
const FREE_ONE_IN: u64 = 3;
const FREE_CALLS: (u64, u64) = (256, 2048);
const BLOCK_CALLS: (u64, u64) = (16, 256);

/// What is added to a counter. Rounds with more calls than this use one amount only.
const AMOUNTS: [i64; 3] = [1, 2, 7];
const AMOUNTS_CALLS_MAX: u64 = 64;

/// Keys of a listed range at most: they fit the room for results that `interlap.h` guarantees
/// (`IL_RESULT_ROOM`).
const LISTED_MAX: u64 = 64;

/// Words of the arguments or of the result of a method at most.
const METHOD_WORDS: usize = 256;

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
    /// The calls of a thread are made in blocks of at most so many, which share a timebox: the
    /// threads run free.
    pub block: Option<u64>,
    /// All threads add and remove in turn, in the whole round.
    in_turn: bool,
    /// The model promises nothing of an "empty" answer.
    pub empty_says_nothing: bool,
    /// The structure is emptied or read in the end. What it holds then is its own affair where it
    /// is its own model.
    pub drains: bool,
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
        let model = model(plan, info);
        let moves_values = model.is_some_and(|model| model.kind.is_container());
        let is_native = plan.engine == Engine::Native && !sequential;
        let mut kind = Random::derived(seed, &[round, OF_KIND]);
        let in_turn = kind.one_in(2) && is_native && moves_values;
        let free = scenario.map_or(kind.one_in(FREE_ONE_IN), |scenario| scenario.free);
        let free = free && is_native && model.is_some_and(|model| model.judges_blocks());
        let (threads, calls) = match scenario {
            Some(scenario) => size_of(scenario),
            None => size(plan, operations, info, (sequential, free), &mut random),
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
            block: free.then(|| kind.log_between(BLOCK_CALLS.0, BLOCK_CALLS.1)),
            in_turn,
            drains: model.is_none_or(|model| !model.kind.is_run()),
            empty_says_nothing: model.is_some_and(|model| model.empty == Empty::None),
            weights: weights(plan, operations, (threads, calls), &mut random),
            keys: scenario.map_or(keys, |scenario| scenario.keys),
            bulk,
            block_size: info.block_size.into(),
            amount: match Random::derived(seed, &[round, OF_AMOUNT]).below(5) {
                4 if calls.saturating_mul(threads.into()) <= AMOUNTS_CALLS_MAX => 0,
                drawn => [1, 1, 2, 7][drawn as usize % 4],
            },
            start_delay: if free { 0 } else { *random.pick(&[0, 10, 100, 1000]) },
            // Threads with many calls get out of step anyway.
            pause: if calls < LONG_CALLS.0 && !free { *random.pick(&[0, 0, 4, 32]) } else { 0 },
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
        } else if self.offers_methods() {
            METHOD_WORDS
        } else if offers(is_bulk) || self.scenario.is_some() {
            self.bulk as usize
        } else {
            3
        }
    }

    /// Whether the target is of no family.
    pub fn offers_methods(&self) -> bool {
        self.weights.iter().any(|(op, ..)| matches!(op, Op::Method(_)))
    }

    /// Calls of all threads together, at most.
    pub fn operations(&self) -> u64 {
        match self.scenario {
            Some(scenario) => scenario.threads.iter().map(|calls| calls.len() as u64).sum(),
            None => self.calls.saturating_mul(self.threads.into()),
        }
    }

    /// Whether the calls are those of the target's sequential model.
    pub fn of_model(&self) -> bool {
        self.scenario.is_some_and(|scenario| scenario.of_model)
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

/// The model that rounds are judged by; none if there is no such model.
fn model(plan: &Plan, info: &TargetInfo) -> Option<Spec> {
    plan.model.as_ref().unwrap_or(&info.model).parse().ok()
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
    (sequential, free): (bool, bool),
    random: &mut Random,
) -> (u32, u64) {
    let roles = operations.iter().any(|(_, role)| *role == Role::Others);
    let bound = if info.thread_max == 0 { THREADS_MAX as u32 } else { info.thread_max };
    let most = plan.threads.min(bound).max(1);
    let long = !sequential && random.one_in(LONG_ONE_IN);
    let is_alone = || model(plan, info).is_some_and(|model| model.kind.is_run());
    let range = match plan.engine {
        Engine::Controlled if is_alone() => ALONE_CALLS,
        Engine::Controlled => CONTROLLED_CALLS,
        Engine::Rr if !sequential => RR_CALLS,
        Engine::Native if long => LONG_CALLS,
        Engine::Native if free => FREE_CALLS,
        Engine::Native if !sequential => NATIVE_CALLS,
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

#[cfg(test)]
mod tests;
