//! A user's model that is a program of its own, as a [`Spec`](super::Spec) names it.
//! Naming one starts nothing: who may start programs does, and puts it here (`process::model`).

use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::fitting::OtherType;
use crate::core::history::{History, OperationId};
use crate::core::interner::Interner;
use crate::core::journal::Journal;
use crate::core::operation::Op;
use crate::core::recorder::Answered;
use crate::tla::covering::Covered;

/// How the name of a specification's file ends, and of one for OmniLink's logs alone.
pub const SPECIFICATION: &str = ".tla";
pub const LOGS: &str = "Validate.tla";

/// Marks of sets and maps in the calls and answers of a specification, which tells them from lists:
/// `{"#set": [1, 2]}`.
pub const SET: &str = "#set";
pub const MAP: &str = "#map";

/// The name of a model in Rust that interlap's own program answers for.
pub const WIREDTIGER: &str = "wiredtiger";

/// The field of a call that is the number of its client, where the model asks for it.
pub const THREAD: &str = "#thread";

/// A program that has a model. There is one of these for each path, and for what is said of a
/// specification, for as long as the process runs.
pub struct Program {
    path: String,
    settings: String,
    running: OnceLock<Arc<dyn Running>>,
}

/// Calls and answers that only a user's model knows.
pub type Calls = Journal<Written>;

/// A call and its answer as text of JSON: as values they would be several times as large.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    call: Box<str>,
    answer: Option<Box<str>>,
}

impl From<Answered<Json, Json>> for Written {
    fn from(made: Answered<Json, Json>) -> Written {
        let written = |value: Json| value.to_string().into();
        Written { call: written(made.call), answer: made.answer.map(written) }
    }
}

impl Written {
    pub fn read(&self) -> Answered<Json, Json> {
        let read = |text: &str| serde_json::from_str(text).expect("as it was written");
        Answered { call: read(&self.call), answer: self.answer.as_deref().map(read) }
    }
}

/// A program that runs, and answers for its model.
pub trait Running: Send + Sync {
    /// Calls and answers, as the model's types read them, as a history of the model's own
    /// operations, with the same ids.
    ///
    /// # Errors
    /// Why the model cannot judge it.
    fn own(&self, calls: &Calls) -> Result<History, String>;

    /// The same of a history of interlap's. `strings` has the values that its integers stand for.
    ///
    /// # Errors
    /// Why the model cannot judge it.
    fn own_history(&self, history: &History, strings: &Interner) -> Result<History, String>;

    /// What the program makes of a history of the model's own operations, if it still answers.
    fn judge(&self, own: &History, within: &Within) -> Option<Judged>;

    /// What all before `time` leaves of such a history, if the program still answers.
    fn before(&self, own: &History, time: u64, within: &Within) -> Option<Before>;

    /// Which of a target's methods have other types than the model, as far as that is known: of
    /// specifications alone.
    ///
    /// # Errors
    /// If the model has no step for one of them.
    fn fit(&self, operations: &[Op]) -> Result<Vec<OtherType>, String>;

    /// What the steps of a specification went through so far, where that is counted.
    fn covered(&self) -> Option<Covered>;

    /// Why the program answers no more, if so. What was decided by it since then says nothing.
    fn failure(&self) -> Option<String>;
}

/// What a program may spend on a history, and whether anybody still waits for that.
pub struct Within<'w> {
    pub bounds: Bounds,
    pub goes_on: &'w dyn Fn() -> bool,
}

/// What a program may spend on a history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bounds {
    pub configurations: usize,
    pub steps: u64,
    pub memory: usize,
    pub jobs: usize,
    /// None: as long as it takes.
    pub milliseconds: Option<u64>,
}

/// What a program makes of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    Linearizable,
    /// No order has the answer of the first, of those under way when it came; and whether one of
    /// them takes effect in several steps.
    Unexplained(OperationId, Vec<OperationId>, bool),
    /// After this, the last, the object is not empty. The first few states that it may be in, and
    /// whether there are more.
    NotEmpty(OperationId, Vec<String>, bool),
    GaveUp(GaveUp),
}

/// What a program makes of all before some time of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Before {
    /// Of each configuration that is left: how many steps have taken effect of each operation under
    /// way that has begun to, and the number of the state.
    Left(Vec<(Vec<(OperationId, usize)>, u32)>),
    /// No order has the answer of this one.
    Unexplained(OperationId),
    GaveUp(GaveUp),
}

/// Which of the bounds it reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GaveUp {
    /// So many steps may be open at once.
    Open(usize),
    Configurations,
    Steps,
    Memory,
    Time,
}

/// All that were named.
static NAMED: Mutex<Vec<&'static Program>> = Mutex::new(Vec::new());

impl Program {
    /// The program with this path: a program, or the folder of a crate that has one.
    pub fn at(path: &str) -> &'static Program {
        Program::with(path, "")
    }

    /// The specification in this file, with what is said of it
    /// ([`Settings`](super::settings::Settings)).
    pub fn with(path: &str, settings: &str) -> &'static Program {
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&&Program| known.path == path && known.settings == settings;
        if let Some(known) = named.iter().find(is_it) {
            return known;
        }
        let (path, settings) = (path.to_string(), settings.to_string());
        let program = Box::leak(Box::new(Program { path, settings, running: OnceLock::new() }));
        named.push(program);
        program
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn settings(&self) -> &str {
        &self.settings
    }

    /// Whether it is a specification in TLA+, which interlap's own program answers for.
    pub fn is_specification(&self) -> bool {
        self.path.ends_with(SPECIFICATION)
    }

    /// Whether it is one of interlap's own models, which a program of its own answers for, as calls
    /// have typed answers there.
    pub fn is_bundled(&self) -> bool {
        self.path == WIREDTIGER
    }

    /// Whether interlap's own program answers for it: to judge by it runs nothing of others'.
    pub fn is_own(&self) -> bool {
        self.is_specification() || self.is_bundled()
    }

    /// Whether it is one for whole records of OmniLink's logs.
    pub fn is_of_logs(&self) -> bool {
        self.path.ends_with(LOGS)
    }

    /// Answers come from this from now on, if it is the first that is given.
    pub fn runs_as(&self, running: Arc<dyn Running>) {
        let _ = self.running.set(running);
    }

    pub fn running(&self) -> Option<&Arc<dyn Running>> {
        self.running.get()
    }
}

impl Debug for Program {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        write!(formatter, "{}{}", self.path, self.settings)
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.path == other.path && self.settings == other.settings
    }
}

impl Eq for Program {}

impl Hash for Program {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.path, &self.settings).hash(hasher);
    }
}
