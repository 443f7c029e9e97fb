//! Objects made of independent cells: set, map and register. A cell holds one value or none; the
//! calls on one key (a register has one cell) come in, what the cell holds afterwards goes out.
//! A cell does not know which key it belongs to.

use std::collections::BTreeMap;

use super::{Call, Expect, Model};
use crate::core::operation::{Op, Status};

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

/// What a call does to its cell: in which of the cell's states it can happen, what it leaves then.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    when: When,
    then: Then,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    /// The cell holds just this, or nothing.
    Holds(Option<i64>),
    /// It holds a value.
    Present,
    /// It holds a value other than this, or nothing.
    IsNot(i64),
    Never,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    Keep,
    Hold(Option<i64>),
}

impl Effect {
    pub fn of(call: &Call) -> Effect {
        if call.status.is_open() { Effect::open(call) } else { Effect::answered(call) }
    }

    /// What the cell holds afterwards; none where the call cannot happen now.
    #[inline]
    pub fn on(&self, held: Option<i64>) -> Option<Option<i64>> {
        let possible = match self.when {
            When::Always => true,
            When::Holds(value) => held == value,
            When::Present => held.is_some(),
            When::IsNot(value) => held != Some(value),
            When::Never => false,
        };
        let next = match self.then {
            Then::Keep => held,
            Then::Hold(next) => next,
        };
        possible.then_some(next)
    }

    fn answered(call: &Call) -> Effect {
        let ok = call.status == Status::Ok;
        let told = call.results.first().copied();
        let last = Then::Hold(call.args.last().copied());
        // An answer with a value says what the cell held; one without, only whether it held one.
        let present = told.map_or(When::Present, |value| When::Holds(Some(value)));
        let claimed = told.map_or(When::Always, |_| present);
        let (absent, keep) = (When::Holds(None), Then::Keep);
        let (when, then) = match call.op {
            Op::SetInsert if ok => (absent, Then::Hold(Some(MEMBER))),
            Op::MapInsertIfAbsent if ok => (absent, last),
            Op::SetRemove | Op::MapRemove if ok => (present, Then::Hold(None)),
            Op::SetContains | Op::MapGet | Op::RegisterRead if ok => (present, keep),
            Op::SetInsert | Op::MapInsertIfAbsent => (present, keep),
            Op::SetRemove | Op::SetContains | Op::MapRemove | Op::MapGet => (absent, keep),
            // A put that answers no old value makes no claim; "failed" says that there was none.
            Op::MapPut | Op::RegisterWrite if ok => (claimed, last),
            Op::MapPut => (absent, last),
            Op::MapCompareExchange | Op::RegisterCompareExchange => {
                let old = expected(call);
                match told {
                    _ if ok => (When::Holds(Some(old)), last),
                    Some(value) if value == old => (When::Never, keep),
                    Some(value) => (When::Holds(Some(value)), keep),
                    None => (When::IsNot(old), keep),
                }
            }
            _ => (When::Never, keep),
        };
        Effect { when, then }
    }

    /// Of a call of unknown answer, if it changed anything.
    fn open(call: &Call) -> Effect {
        let last = Then::Hold(call.args.last().copied());
        let (when, then) = match call.op {
            Op::SetInsert => (When::Always, Then::Hold(Some(MEMBER))),
            Op::MapPut | Op::RegisterWrite => (When::Always, last),
            Op::MapInsertIfAbsent => (When::Holds(None), last),
            Op::SetRemove | Op::MapRemove => (When::Always, Then::Hold(None)),
            Op::MapCompareExchange | Op::RegisterCompareExchange => {
                (When::Holds(Some(expected(call))), last)
            }
            _ => (When::Never, Then::Keep),
        };
        Effect { when, then }
    }
}

/// The value that a compare-and-exchange asks for.
fn expected(call: &Call) -> i64 {
    call.args[call.args.len() - 2]
}

impl Model<Call<'_>> for Cell {
    type State = Option<i64>;

    fn init(&self) -> Option<i64> {
        self.initial
    }

    fn step(&self, held: &Option<i64>, call: &Call, next: &mut Vec<Option<i64>>) {
        let after = Effect::of(call).on(*held);
        next.extend(after.filter(|after| !call.status.is_open() || after != held));
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
        let what = call.op.said(if ok { Status::Ok } else { Status::Failed });
        match held {
            Some(value) if hands_out(call) => value.to_string(),
            Some(value) if call.op.family() != crate::core::operation::Family::Set => {
                format!("{what} (the value was {value})")
            }
            _ => what.to_string(),
        }
    }
}

/// Whether it answers with what is there.
pub fn hands_out(call: &Call) -> bool {
    matches!(call.op, Op::MapGet | Op::RegisterRead)
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

    /// Of a register its value; else what there is, by key.
    fn describe_state(&self, state: &Self::State) -> String {
        if let Some(initial) = self.initial {
            return state.values().next().copied().flatten().unwrap_or(initial).to_string();
        }
        let present: BTreeMap<_, _> =
            state.iter().filter_map(|(key, held)| Some((key, (*held)?))).collect();
        format!("{present:?}")
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
