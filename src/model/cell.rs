//! Sequential objects for the models set, map and register, made of independent cells.
//! A cell holds one value or none. It serves the calls on one key; a register has a single cell.

use std::collections::BTreeMap;

use super::{Call, Expect, Expected, Model};
use crate::core::operation::{Op, Status};

/// The value of one key, or none. A member of a set has the value [`MEMBER`].
pub struct Cell {
    /// The content before the first call.
    pub initial: Option<i64>,
}

/// The content of a set's cell whose key is in the set.
const MEMBER: i64 = 1;

/// A set, map or register as a whole: its cells by key.
pub struct Dictionary {
    pub initial: Option<i64>,
}

/// The key of the cell that a call concerns; a register's only cell has key 0.
pub fn key(op: Op, args: &[i64]) -> i64 {
    match op {
        Op::RegisterRead | Op::RegisterWrite | Op::RegisterCompareExchange => 0,
        _ => args[0],
    }
}

/// The effect of a call on its cell: the contents in which it can happen, and the content after it.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    when: When,
    then: Then,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    /// The content is exactly this.
    Holds(Option<i64>),
    /// The cell holds some value.
    Present,
    /// The cell holds another value, or none.
    IsNot(i64),
    Never,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    Keep,
    Hold(Option<i64>),
}

impl Effect {
    pub fn from_call(call: &Call) -> Effect {
        match call.status {
            Status::Unknown | Status::Pending | Status::Done => Effect::unsaid(call),
            _ => Effect::answered(call),
        }
    }

    /// The content after the call; none where the call cannot happen with content `held`.
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
        let answered = call.results.first().copied();
        let last = Then::Hold(call.args.last().copied());
        // An answer with a value names the content; one without says only that there was one.
        let present = answered.map_or(When::Present, |value| When::Holds(Some(value)));
        let claimed = answered.map_or(When::Always, |_| present);
        let (absent, keep) = (When::Holds(None), Then::Keep);
        let (when, then) = match call.op {
            Op::SetInsert if ok => (absent, Then::Hold(Some(MEMBER))),
            Op::MapInsertIfAbsent if ok => (absent, last),
            Op::SetRemove | Op::MapRemove if ok => (present, Then::Hold(None)),
            Op::SetContains | Op::MapGet | Op::RegisterRead if ok => (present, keep),
            Op::SetInsert | Op::MapInsertIfAbsent => (present, keep),
            Op::SetRemove | Op::SetContains | Op::MapRemove | Op::MapGet => (absent, keep),
            // A put that answers no old value claims nothing; "failed" means that there was none.
            Op::MapPut | Op::RegisterWrite if ok => (claimed, last),
            Op::MapPut => (absent, last),
            Op::MapCompareExchange | Op::RegisterCompareExchange => {
                let old = expected(call);
                match answered {
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

    /// The effect, if it had one, of a call that does not say what it found.
    fn unsaid(call: &Call) -> Effect {
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

/// The value that a compare-and-exchange compares with.
fn expected(call: &Call) -> i64 {
    call.args[call.args.len() - 2]
}

impl Model<Call<'_>> for Cell {
    type State = Option<i64>;

    fn init(&self) -> Option<i64> {
        self.initial
    }

    fn step(&self, held: &Option<i64>, call: &Call, next: &mut Vec<Option<i64>>) {
        let after = Effect::from_call(call).on(*held);
        next.extend(after.filter(|after| !call.status.is_open() || after != held));
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }
}

impl Expect<Call<'_>> for Cell {
    fn expected(&self, held: &Option<i64>, call: &Call) -> Expected {
        let old = call.args.len().checked_sub(2).map(|at| call.args[at]);
        let ok = match call.op {
            Op::SetInsert | Op::MapInsertIfAbsent => held.is_none(),
            Op::MapCompareExchange | Op::RegisterCompareExchange => *held == old,
            _ => held.is_some(),
        };
        let status = if ok { Status::Ok } else { Status::Failed };
        match held {
            Some(value) if returns_value(call) => Expected::value(*value),
            Some(value) if call.op.family() != crate::core::operation::Family::Set => {
                Expected::Held { status, value: *value }
            }
            _ => Expected::Status(status),
        }
    }
}

/// Whether the call answers with the content of its cell.
pub fn returns_value(call: &Call) -> bool {
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

    /// The value of a register; for sets and maps the contents by key.
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
    fn expected(&self, state: &Self::State, call: &Call) -> Expected {
        self.cell().expected(&self.held(state, call), call)
    }
}
