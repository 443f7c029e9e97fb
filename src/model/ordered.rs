//! Sequential object for the model range-set: a set that counts, ranks and lists its keys.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::{Call, Expect, Expected, Model};
use crate::core::operation::{Op, Status};

pub struct OrderedSet;

/// The range of keys that an operation of a set depends on; none if it is empty.
pub fn bounds(op: Op, args: &[i64]) -> Option<RangeInclusive<i64>> {
    let range = match op {
        Op::SetRangeCount | Op::SetRangeList => args[0]..=args[1],
        Op::SetRank => i64::MIN..=args[0].checked_sub(1)?,
        Op::SetSize | Op::SetSelect => i64::MIN..=i64::MAX,
        _ => args[0]..=args[0],
    };
    (!range.is_empty()).then_some(range)
}

/// Whether the answer to a read of many keys is correct.
fn is_correct(state: &BTreeSet<i64>, call: &Call) -> bool {
    let within = || bounds(call.op, call.args).map(|range| state.range(range));
    match call.op {
        Op::SetSelect => {
            let nth = usize::try_from(call.args[0]).ok().and_then(|n| state.iter().nth(n));
            nth == call.results.first()
        }
        Op::SetRangeList => within().into_iter().flatten().eq(call.results),
        _ => within().map_or(0, |keys| keys.count() as i64) == call.results[0],
    }
}

impl Model<Call<'_>> for OrderedSet {
    type State = BTreeSet<i64>;

    fn init(&self) -> Self::State {
        BTreeSet::new()
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        if call.op.reads_range() {
            if call.status.is_open() || is_correct(state, call) {
                next.push(state.clone());
            }
            return;
        }
        let present = state.contains(&call.args[0]);
        let ok = call.status == Status::Ok;
        let legal = match call.op {
            _ if call.status == Status::Done => true,
            Op::SetInsert => present != ok,
            _ => present == ok,
        };
        if !legal && !call.status.is_open() {
            return;
        }
        let mut keys = state.clone();
        match call.op {
            Op::SetInsert => drop(keys.insert(call.args[0])),
            Op::SetRemove => drop(keys.remove(&call.args[0])),
            _ => {}
        }
        next.push(keys);
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        16 * state.len()
    }
}

impl Expect<Call<'_>> for OrderedSet {
    fn expected(&self, state: &Self::State, call: &Call) -> Expected {
        let keys: Vec<i64> = match bounds(call.op, call.args) {
            Some(range) => state.range(range).copied().collect(),
            None => Vec::new(),
        };
        let present = !keys.is_empty();
        let said = |done| Expected::Status(if done { Status::Ok } else { Status::Failed });
        match call.op {
            Op::SetInsert => said(!present),
            Op::SetRemove | Op::SetContains => said(present),
            Op::SetSelect => {
                let nth = usize::try_from(call.args[0]).ok().and_then(|n| keys.get(n));
                nth.map_or(said(false), |key| Expected::value(*key))
            }
            Op::SetRangeList => Expected::List(keys),
            _ => Expected::value(keys.len() as i64),
        }
    }
}
