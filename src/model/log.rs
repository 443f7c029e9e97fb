//! Sequential object for the model log: records, each appended at the next position.
//! The first position is 0.

use super::{Call, Expect, Expected, Model};
use crate::core::operation::{Op, Status};

pub struct Log;

impl Model<Call<'_>> for Log {
    type State = Vec<i64>;

    fn init(&self) -> Vec<i64> {
        Vec::new()
    }

    fn step(&self, state: &Vec<i64>, call: &Call, next: &mut Vec<Vec<i64>>) {
        let tail = state.len() as i64;
        let answered = call.results.first().copied();
        let at = |position: i64| state.get(usize::try_from(position).ok()?).copied();
        let legal = match (call.op, call.status) {
            (_, status) if status.is_open() => true,
            (Op::LogAppend, Status::Ok) | (Op::LogCheckTail, _) => answered == Some(tail),
            (Op::LogAppend, _) => true,
            _ => at(call.args[0]) == answered,
        };
        if legal {
            let mut records = state.clone();
            if call.op == Op::LogAppend && call.status != Status::Failed {
                records.push(call.args[0]);
            }
            next.push(records);
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        8 * state.capacity()
    }
}

impl Expect<Call<'_>> for Log {
    fn expected(&self, state: &Vec<i64>, call: &Call) -> Expected {
        match call.op {
            Op::LogRead => {
                let record = usize::try_from(call.args[0]).ok().and_then(|at| state.get(at));
                record.map_or(Expected::Status(Status::Empty), |value| Expected::value(*value))
            }
            _ => Expected::value(state.len() as i64),
        }
    }
}
