//! What a semaphore must answer: a model by which interlap judges.
//!
//!     interlap fuzz ADAPTER.cpp --model-crate NAME
//!     interlap check RECORDED.jsonl --model-crate NAME

use std::process::ExitCode;

use interlap::core::recorder::Answered;
use interlap::model::Model;
use interlap::serve::serve;
use serde::Deserialize;

// Replace from here. These are the methods of the adapter that `interlap new custom` writes.

/// The calls, by the names of the methods; one with arguments, `put("a", 1)`, as `Put(String, i64)`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Call {
    TryAcquire,
    Release,
    Available,
}

/// What they return.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Answer {
    Bool(bool),
    Number(i64),
    Void(()),
}

struct Semaphore;

impl Semaphore {
    /// What a call answers where so many permits are left, and how many it leaves.
    fn call(&self, left: i64, call: &Call) -> (Answer, i64) {
        match call {
            Call::TryAcquire if left == 0 => (Answer::Bool(false), 0),
            Call::TryAcquire => (Answer::Bool(true), left - 1),
            Call::Release => (Answer::Void(()), left + 1),
            Call::Available => (Answer::Number(left), left),
        }
    }
}

impl Model<Answered<Call, Answer>> for Semaphore {
    /// How many permits are left. States with the same future should be equal.
    type State = i64;

    fn init(&self) -> i64 {
        2
    }

    /// Gives the states that may follow: none where the call cannot have answered that.
    fn step(&self, left: &i64, made: &Answered<Call, Answer>, next: &mut Vec<i64>) {
        let (answer, after) = self.call(*left, &made.call);
        // Without an answer, it is not known whether it was done: this is the state if it was.
        if made.answer.as_ref().is_none_or(|own| *own == answer) {
            next.push(after);
        }
    }

    /// Shown beside an answer that is wrong.
    fn right_answer(&self, left: &i64, made: &Answered<Call, Answer>) -> Option<String> {
        Some(format!("{:?}", self.call(*left, &made.call).0))
    }
}

pub fn main() -> ExitCode {
    serve(Semaphore)
}
