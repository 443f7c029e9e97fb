//! What is asked of the program of a model, and what it answers: lines of JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

#[cfg(doc)]
use crate::model::program::THREAD;
use crate::model::program::{Before, Bounds, Judged};
use crate::tla::covering::Covered;

/// The variable of the environment that has the path of the socket.
pub const SOCKET: &str = "INTERLAP_MODEL_SOCKET";

/// What is asked of a model.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// What these operations are.
    Operations(Vec<Asked>),
    /// The state before a history of the operations with these first steps.
    Init(Vec<u32>),
    /// The states after a step that is made in a state.
    Step {
        state: u32,
        step: u32,
    },
    IsEmpty(u32),
    RightAnswer {
        state: u32,
        step: u32,
    },
    Describe(u32),
    /// What its steps went through so far.
    Covered,
    /// Whether some order explains a history, and leaves the object empty, if it was.
    Judge {
        history: Told,
        bounds: Bounds,
    },
    /// What all before this time of a history leaves.
    Before {
        time: u64,
        history: Told,
        bounds: Bounds,
    },
}

/// An operation that a model is asked about.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// One of unknown outcome.
    Open(Json),
    /// A call and its answer.
    Answered(Json, Json),
}

/// A history that a model is asked about.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// The state before it.
    pub state: u32,
    /// Each with its thread, its place among those of the thread, its first step, its start and its
    /// end.
    pub operations: Vec<(u32, u32, u32, u64, Option<u64>)>,
    pub drained: bool,
}

/// What a model answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The first: what is spoken here, and the type of the model.
    Hello {
        version: u32,
        model: String,
        /// Whether a call has the number of its client, too ([`THREAD`]).
        threads: bool,
    },
    Operations(Vec<Described>),
    States(Vec<u32>),
    Is(bool),
    Text(Option<String>),
    Judged(Judged),
    Before(Before),
    /// The model still takes steps: the reply comes later.
    GoesOn,
    /// Nothing where the model does not count it.
    Covered(Option<Covered>),
    /// The model cannot answer: it panicked, or knows no such operation.
    Failed(String),
}

/// The version of [`Question`] and [`Reply`].
pub const VERSION: u32 = 5;

/// What is said of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// The number of its first step; the others have the next ones.
    pub first: u32,
    pub steps: u32,
    /// The part of the object that it concerns, and a number that tells apart keys of one text.
    pub part: Option<(u64, String)>,
    /// By step.
    pub reads: Vec<bool>,
    pub repeats: Vec<bool>,
    pub text: String,
}

impl Described {
    /// An operation of which the model said nothing.
    pub fn unknown() -> Described {
        let (reads, repeats) = (vec![false], vec![false]);
        Described { first: 0, steps: 1, part: None, reads, repeats, text: String::new() }
    }
}
