//! Sequential object for the model counter: a number that calls add to and read.
//! It starts at 0 and wraps around at 64 bits.

use super::{Call, Expect, Expected, Model};
use crate::core::operation::Op;

pub struct Counter;

impl Model<Call<'_>> for Counter {
    type State = i64;

    fn init(&self) -> i64 {
        0
    }

    fn step(&self, state: &i64, call: &Call, next: &mut Vec<i64>) {
        // An answer with a value is the number before the call.
        if call.results.iter().all(|answered| answered == state) {
            let amount = if call.op == Op::CounterAdd { call.args[0] } else { 0 };
            next.push(state.wrapping_add(amount));
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }
}

impl Expect<Call<'_>> for Counter {
    fn expected(&self, state: &i64, _: &Call) -> Expected {
        Expected::value(*state)
    }
}
