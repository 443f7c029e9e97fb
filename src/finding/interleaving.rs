//! What the threads of a round did, step by step, as a table: part of a finding. Data only; made by
//! `crate::explain`, drawn by `crate::report`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use super::action::{Action, Answer, Call, Memory, Value};

/// What the threads of a round did, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interleaving {
    pub rows: Vec<Row>,
    /// There were so many events that those in the middle were not kept.
    pub cut: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The step of the schedule.
    pub step: u64,
    /// Its number, as clients of the history have it.
    pub thread: u32,
    pub what: What,
    /// Whether it has to do with what went wrong.
    pub matters: bool,
    /// Whether it matters and is more than a look at what its thread has seen already.
    pub is_news: bool,
    /// Whether it looks at memory that another thread changes before the look's call is over, or is
    /// that change, or frees what the fault is about: never left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crosses: bool,
    /// Whether it is a store that others did not see when it was made, and would have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delayed: bool,
    /// Whether it changes memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// The container of the standard library that this is the inner working of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

impl Interleaving {
    /// Whether what matters names a block of memory by its number.
    pub fn names_blocks(&self) -> bool {
        let names = |row: &Row| {
            row.action().is_some_and(|did| did.memory().iter().any(|of| of.block().is_some()))
        };
        self.rows.iter().any(|row| row.matters && names(row))
    }

    /// Whether it matters that stores waited in store buffers.
    pub fn has_delays(&self) -> bool {
        self.rows.iter().any(|row| row.matters && row.delayed)
    }
}

impl Row {
    /// One that matters.
    pub fn new(step: u64, thread: u32, what: What) -> Row {
        let (matters, is_news, crosses, delayed, changes) = (true, true, false, false, false);
        let container = None;
        Row { step, thread, what, matters, is_news, crosses, delayed, changes, container }
    }

    /// What was done, if it is no call, answer or stop.
    pub fn action(&self) -> Option<&Action> {
        match &self.what {
            What::Act { did, .. } => Some(did),
            _ => None,
        }
    }

    /// Where it was done.
    pub fn place(&self) -> Option<&Place> {
        match &self.what {
            What::Act { place, .. } => place.as_ref(),
            _ => None,
        }
    }

    /// Whether its thread cannot go on until another lets it.
    pub fn waits(&self) -> bool {
        self.action().is_some_and(Action::waits)
    }

    /// Whether it gives memory back, or tries to.
    pub fn frees(&self) -> bool {
        self.action().is_some_and(Action::frees)
    }
}

/// A container of the standard library, of which an act is an inner working.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Container {
    /// Of a node its block.
    pub name: Memory,
    /// The act changed memory.
    pub changes: bool,
}

/// The rows that matter, without how containers of the standard library do their work: of what a
/// thread does in one go at one line to one of them, and to its nodes, a row is left. Lines of
/// interlap's own header tell nothing of the target.
pub fn in_short(rows: &[Row]) -> Vec<Row> {
    let matter: Vec<&Row> = rows.iter().filter(|row| row.matters).collect();
    let goes_on = |one: &&Row, next: &&Row| {
        let inner = one.container.is_some() && next.container.is_some();
        inner && one.thread == next.thread && one.place() == next.place()
    };
    let whole = |go: &[&Row]| {
        let containers: Vec<&Container> =
            go.iter().filter_map(|row| row.container.as_ref()).collect();
        // Nodes are of the container that has a name.
        let has_name = |one: &&&Container| one.name.block().is_none();
        let named = containers.iter().find(has_name).or(containers.first());
        let mut row = go[0].clone();
        if let (Some(named), true) = (named, go.len() > 1) {
            let changes = containers.iter().any(|one| one.changes);
            let did = Action::WorksIn { container: named.name.clone(), changes };
            row.what = What::Act { did, times: 1, place: row.place().cloned() };
            row.is_news = go.iter().any(|row| row.is_news);
            row.crosses = go.iter().any(|row| row.crosses);
        }
        row
    };
    let placed = |mut row: Row| {
        if let What::Act { place, .. } = &mut row.what {
            place.take_if(|place| place.is_of_interlap());
        }
        row
    };
    matter.chunk_by(goes_on).map(whole).map(placed).collect()
}

/// What a row tells. Nearly all rows are acts, so a smaller value would save nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A call begins, or is answered.
    Call(Call),
    Answer(Answer),
    /// What was done; how often in a row; where.
    Act {
        did: Action,
        times: u32,
        place: Option<Place>,
    },
    /// The thread is stopped inside of this call, and another goes on.
    Stopped(Call),
}

/// Where something was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub function: String,
    pub file: PathBuf,
    pub line: u32,
    /// The line, without what it is indented by; empty where the file is not there.
    pub text: String,
    /// Where the library calls that, if it is an inlined wrapper in a file of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<Place>>,
    /// The line of the same file that calls it, of a helper that is called from several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

impl Place {
    /// The line of the library that it was inlined into.
    pub fn within(&self) -> Option<&Place> {
        self.within.as_deref()
    }

    /// Whether it is how interlap calls the target: what is done at its end is told as done there.
    pub fn is_of_interlap(&self) -> bool {
        self.told().file.file_name().is_some_and(|name| name == "interlap.hpp")
    }

    /// The line that people look for: of a wrapper, where the library calls it.
    pub fn told(&self) -> &Place {
        self.within.as_deref().unwrap_or(self)
    }
}
