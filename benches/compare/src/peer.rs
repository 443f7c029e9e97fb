//! The same histories for porcupine-rs: its models, and its operations made of ours.

use std::collections::BTreeMap;

use interlap::core::history::{History, NEVER};
use interlap::core::operation::{Op, Status};
use interlap::model::Spec;
use porcupine_rs::{Model, Operation, check_operations};

use crate::memory::{Measured, measure};

/// A call and its answer.
#[derive(Clone, Debug)]
pub struct Call {
    op: Op,
    status: Status,
    args: Vec<i64>,
    results: Vec<i64>,
}

fn operations<M: Model<Op = Call>>(history: &History) -> Vec<Operation<M>> {
    let operation = |id| {
        let entry = history.entry(id);
        let (op, status) = (entry.op, entry.status);
        Operation {
            client_id: Some(history.threads[id.thread as usize].client),
            call_time: entry.start as i64,
            return_time: if entry.end == NEVER { i64::MAX } else { entry.end as i64 },
            op: Call { op, status, args: entry.args.into(), results: entry.results.into() },
            metadata: None,
        }
    };
    history.ids().map(operation).collect()
}

/// A set of keys below 64, a bit each.
#[derive(Clone)]
struct Ranges;

impl Model for Ranges {
    type State = u64;
    type Op = Call;
    type Metadata = ();

    fn init() -> u64 {
        0
    }

    fn step(keys: &u64, call: &Call) -> (bool, u64) {
        if call.op == Op::SetRangeCount {
            let count = (call.args[0]..=call.args[1]).filter(|key| keys >> key & 1 == 1).count();
            return (count as i64 == call.results[0], *keys);
        }
        let bit = 1 << call.args[0];
        let ok = (keys & bit != 0) != (call.op == Op::SetInsert);
        let next = if ok && call.op != Op::SetContains { keys ^ bit } else { *keys };
        (ok == (call.status == Status::Ok), next)
    }
}

/// Strings by key, as Porcupine's own test has them, without its partition.
#[derive(Clone)]
struct Strings;

impl Model for Strings {
    type State = BTreeMap<i64, Vec<i64>>;
    type Op = Call;
    type Metadata = ();

    fn init() -> Self::State {
        BTreeMap::new()
    }

    fn step(strings: &Self::State, call: &Call) -> (bool, Self::State) {
        let (key, text) = (call.args[0], &call.args[1..]);
        let held = strings.get(&key).map_or(&[][..], |held| held);
        if call.op == Op::KvGet {
            return (held == call.results, strings.clone());
        }
        let before = if call.op == Op::KvPut { &[][..] } else { held };
        let text = before.iter().chain(text).copied().collect();
        let mut next = strings.clone();
        next.insert(key, text);
        (true, next)
    }
}

/// A register with compare-and-exchange, as Porcupine's etcd test has it.
#[derive(Clone)]
struct Register;

impl Model for Register {
    type State = i64;
    type Op = Call;
    type Metadata = ();

    fn init() -> i64 {
        0
    }

    fn step(held: &i64, call: &Call) -> (bool, i64) {
        let (open, ok) = (call.status.is_open(), call.status == Status::Ok);
        match call.op {
            Op::RegisterRead => (open || call.results == [*held], *held),
            Op::RegisterWrite => (true, call.args[0]),
            _ => {
                let equal = *held == call.args[0];
                (open || equal == ok, if equal { call.args[1] } else { *held })
            }
        }
    }
}

fn explained<M: Model<Op = Call>>(history: &History) -> Measured<bool> {
    let operations = operations::<M>(history);
    measure(|| check_operations(&operations))
}

pub fn ranges(history: &History) -> Measured<bool> {
    explained::<Ranges>(history)
}

pub fn strings(history: &History) -> Measured<bool> {
    explained::<Strings>(history)
}

pub fn registers(histories: &[(History, Spec)]) -> Measured<Vec<bool>> {
    let all: Vec<_> =
        histories.iter().map(|(history, _)| operations::<Register>(history)).collect();
    measure(|| all.iter().map(|operations| check_operations(operations)).collect())
}
