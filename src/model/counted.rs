//! A container that also says how many values it holds.
//! Whether such an answer promises anything is the option `size` of a model.

use super::{Call, Expect, Expected, Model, Size, Spec};
use crate::core::operation::{Op, Status};

/// What an answer says of how many values are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Exactly(i64),
    AtLeast(i64),
    AtMost(i64),
}

impl Claim {
    /// What the answer of a call says, if it speaks of that.
    pub fn of(op: Op, status: Status, args: &[i64], results: &[i64]) -> Option<Claim> {
        match (op, status) {
            (Op::DequeueBulk, Status::Failed) => Some(Claim::AtMost(args[0].saturating_sub(1))),
            (op, Status::Ok) if op.counts_values() => Some(match op.is_question() {
                true => Claim::Exactly(0),
                false => Claim::Exactly(results[0]),
            }),
            (op, Status::Failed) if op.counts_values() => Some(Claim::AtLeast(1)),
            _ => None,
        }
    }

    /// What is left of it where only an upper bound is promised.
    pub fn upper(self) -> Option<Claim> {
        match self {
            Claim::Exactly(most) | Claim::AtMost(most) => Some(Claim::AtMost(most)),
            Claim::AtLeast(_) => None,
        }
    }

    /// Whether it may be right where at least and at most so many are inside.
    pub fn fits(self, least: i64, most: i64) -> bool {
        match self {
            Claim::Exactly(count) => least <= count && count <= most,
            Claim::AtLeast(count) => count <= most,
            Claim::AtMost(count) => least <= count,
        }
    }
}

impl Spec {
    /// What an answer says of how many values are inside at one instant of its timebox, whatever
    /// overlaps it.
    pub fn claim(&self, call: &Call) -> Option<Claim> {
        let claim = Claim::of(call.op, call.status, call.args, call.results);
        match self.size {
            Size::Exact => claim,
            Size::Upper => claim.and_then(Claim::upper),
            Size::Lone | Size::None => None,
        }
    }
}

/// An object of which one can say how many values it holds.
pub trait Counts<O: std::fmt::Debug>: Model<O> {
    fn count(&self, state: &Self::State) -> usize;
}

/// A container, and what `size` promises of it.
pub struct Counted<M> {
    pub container: M,
    pub spec: Spec,
}

impl<'a, M: Counts<Call<'a>>> Counted<M> {
    fn fits(&self, claim: Claim, state: &M::State) -> bool {
        let count = self.container.count(state) as i64;
        claim.fits(count, count)
    }
}

impl<'a, M: Counts<Call<'a>>> Model<Call<'a>> for Counted<M> {
    type State = M::State;

    fn init(&self) -> M::State {
        self.container.init()
    }

    fn step(&self, state: &M::State, call: &Call<'a>, next: &mut Vec<M::State>) {
        if !call.op.says_count(call.status) {
            return self.container.step(state, call, next);
        }
        let fits = self.spec.claim(call).is_none_or(|claim| self.fits(claim, state));
        next.extend(fits.then(|| state.clone()));
    }

    fn is_empty(&self, state: &M::State) -> bool {
        self.container.is_empty(state)
    }

    fn reads(&self, call: &Call<'a>) -> bool {
        self.container.reads(call)
    }

    /// Where none of them counts: then it matters how many are inside.
    fn may_wait(
        &self,
        state: &M::State,
        due: &[&Call<'a>],
        open: &[&Call<'a>],
        waits: &mut [bool],
    ) {
        if !open.iter().any(|call| call.op.says_count(call.status)) {
            self.container.may_wait(state, due, open, waits);
        }
    }

    fn describe_state(&self, state: &M::State) -> String {
        self.container.describe_state(state)
    }

    fn weight(&self, state: &M::State) -> usize {
        self.container.weight(state)
    }
}

impl<'a, M: Counts<Call<'a>> + Expect<Call<'a>>> Expect<Call<'a>> for Counted<M> {
    fn expected(&self, state: &M::State, call: &Call<'a>) -> Expected {
        let count = self.container.count(state) as i64;
        match call.op {
            op if op.counts_values() && op.is_question() => {
                let is_empty = if count == 0 { Status::Ok } else { Status::Failed };
                Expected::Status(is_empty)
            }
            op if op.counts_values() => Expected::value(count),
            _ => self.container.expected(state, call),
        }
    }
}
