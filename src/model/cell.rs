//! Objects made of independent cells: set, map and register. A cell holds one value or none; the
//! calls on one key (a register has one cell) come in, what the cell holds afterwards goes out.
//! A cell does not know which key it belongs to.

use std::collections::BTreeMap;

use super::{Call, Expect, Model};
use crate::operation::{Op, Status};

/// What one key maps to. A member of a set maps to [`MEMBER`].
pub struct Cell {
    /// What the cell holds before the first call.
    pub initial: Option<i64>,
}

/// What a set's cell holds for a key that is in the set.
const MEMBER: i64 = 1;

/// A set, map or register as a whole: its cells by key.
pub struct Dictionary {
    pub initial: Option<i64>,
}

/// The key whose cell a call concerns; a register's only cell has key 0.
pub fn key(op: Op, args: &[i64]) -> i64 {
    match op {
        Op::RegisterRead | Op::RegisterWrite | Op::RegisterCompareExchange => 0,
        _ => args[0],
    }
}

/// What an answered call leaves in a cell that held `held`; none where the answer is impossible.
fn answered(held: Option<i64>, call: &Call) -> Option<Option<i64>> {
    let ok = call.status == Status::Ok;
    let told = call.results.first().copied();
    let last = call.args.last().copied();
    // An answer with a value says what the cell held; one without says only whether it held one.
    let present = held.is_some() && told.is_none_or(|value| held == Some(value));
    let (legal, next) = match call.op {
        Op::SetInsert if ok => (held.is_none(), Some(MEMBER)),
        Op::MapInsertIfAbsent if ok => (held.is_none(), last),
        Op::SetRemove | Op::MapRemove if ok => (present, None),
        Op::SetContains | Op::MapGet | Op::RegisterRead if ok => (present, held),
        Op::SetInsert | Op::MapInsertIfAbsent => (present, held),
        Op::SetRemove | Op::SetContains | Op::MapRemove | Op::MapGet => (held.is_none(), held),
        // A put that answers no old value makes no claim; "failed" says that there was none.
        Op::MapPut | Op::RegisterWrite if ok => (told.is_none() || present, last),
        Op::MapPut => (held.is_none(), last),
        Op::MapCompareExchange | Op::RegisterCompareExchange => {
            let old = call.args[call.args.len() - 2];
            let equal = held == Some(old);
            if ok { (equal, last) } else { (!equal && (told.is_none() || present), held) }
        }
        _ => (false, held),
    };
    legal.then_some(next)
}

/// What a call of unknown answer leaves in a cell, if it took effect.
fn open(held: Option<i64>, call: &Call) -> Option<i64> {
    let last = call.args.last().copied();
    match call.op {
        Op::SetInsert => Some(MEMBER),
        Op::MapPut | Op::RegisterWrite => last,
        Op::MapInsertIfAbsent => held.or(last),
        Op::SetRemove | Op::MapRemove => None,
        Op::MapCompareExchange | Op::RegisterCompareExchange
            if held == Some(call.args[call.args.len() - 2]) =>
        {
            last
        }
        _ => held,
    }
}

impl Model<Call<'_>> for Cell {
    type State = Option<i64>;

    fn init(&self) -> Option<i64> {
        self.initial
    }

    fn step(&self, held: &Option<i64>, call: &Call, next: &mut Vec<Option<i64>>) {
        if !call.status.is_open() {
            next.extend(answered(*held, call));
        } else if open(*held, call) != *held {
            next.push(open(*held, call));
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }
}

impl Expect<Call<'_>> for Cell {
    fn expected(&self, held: &Option<i64>, call: &Call) -> String {
        let old = call.args.len().checked_sub(2).map(|at| call.args[at]);
        let ok = match call.op {
            Op::SetInsert | Op::MapInsertIfAbsent => held.is_none(),
            Op::MapCompareExchange | Op::RegisterCompareExchange => *held == old,
            _ => held.is_some(),
        };
        let what = if ok { "ok" } else { "failed" };
        match held {
            Some(value) if call.op.family() != crate::operation::Family::Set => {
                format!("{what} (the value was {value})")
            }
            _ => what.to_string(),
        }
    }
}

impl Dictionary {
    fn held(&self, state: &BTreeMap<i64, Option<i64>>, call: &Call) -> Option<i64> {
        *state.get(&key(call.op, call.args)).unwrap_or(&self.initial)
    }

    fn cell(&self) -> Cell {
        Cell { initial: self.initial }
    }
}

impl Model<Call<'_>> for Dictionary {
    type State = BTreeMap<i64, Option<i64>>;

    fn init(&self) -> Self::State {
        BTreeMap::new()
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        let mut cells = Vec::new();
        self.cell().step(&self.held(state, call), call, &mut cells);
        for cell in cells {
            let mut after = state.clone();
            after.insert(key(call.op, call.args), cell);
            next.push(after);
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        48 * state.len()
    }
}

impl Expect<Call<'_>> for Dictionary {
    fn expected(&self, state: &Self::State, call: &Call) -> String {
        self.cell().expected(&self.held(state, call), call)
    }
}
