//! A model of `tests/data/custom/id_pool.cpp` in a program of its own: a pool of four ids, which
//! hands out the one that was released last.

use std::process::ExitCode;

use interlap::core::recorder::Answered;
use interlap::model::Model;
use interlap::serve::serve;
use serde::Deserialize;

/// The methods: `std::optional<int> acquire()` and `void release(unsigned id)`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Call {
    Acquire,
    Release(usize),
}

/// What both return: an optional's value, or none; a void is none.
type Answer = Option<usize>;

struct Pool;

impl Model<Answered<Call, Answer>> for Pool {
    type State = Vec<usize>; // the free ids, the next one last

    fn init(&self) -> Vec<usize> {
        vec![3, 2, 1, 0]
    }

    fn step(&self, free: &Vec<usize>, made: &Answered<Call, Answer>, next: &mut Vec<Vec<usize>>) {
        let mut after = free.clone();
        match (&made.call, made.answer) {
            (Call::Acquire, answer) => {
                let id = after.pop();
                if answer.is_none_or(|answer| answer == id) {
                    next.push(after); // it can have answered that, or has not answered
                }
            }
            (Call::Release(id), _) if !free.contains(id) => {
                after.push(*id);
                next.push(after);
            }
            (Call::Release(_), _) => {} // nobody holds it
        }
    }

    fn right_answer(&self, free: &Vec<usize>, made: &Answered<Call, Answer>) -> Option<String> {
        match made.call {
            Call::Acquire => Some(format!("{:?}", free.last())),
            Call::Release(_) => None,
        }
    }
}

pub fn main() -> ExitCode {
    serve(Pool)
}
