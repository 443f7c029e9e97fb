//! The interleaving of a finding: a table of what its threads did, step by step.
//! `crate::explain` makes it, `crate::report` draws it.

use crate::adapter::sources;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use super::action::{Action, Answer, Call, Memory, StoredBy, Value};

/// What the threads of a round did, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interleaving {
    pub rows: Vec<Row>,
    /// Whether there were too many events, and those in the middle are missing.
    pub cut: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The step of the schedule.
    pub step: u64,
    /// The client's number in the history.
    pub thread: u32,
    pub what: RowKind,
    /// Whether other threads can notice it while the calls in question are under way.
    pub matters: bool,
    /// Whether it matters and does more than read what its thread already knows.
    pub is_news: bool,
    /// Whether the explanation depends on it, as far as that is known: it is never left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", alias = "crosses")]
    pub decides: bool,
    /// Whether it is a store that others saw late, because it waited in a store buffer, or an
    /// access that did not see the last store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delayed: bool,
    /// Whether it changes memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// The container of the standard library that does this internally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

impl Interleaving {
    /// Whether a row that matters names a block of memory by its number.
    pub fn names_blocks(&self) -> bool {
        self.rows.iter().any(|row| row.matters && row.names_block())
    }

    /// Whether a row that matters is a store that waited in a store buffer.
    pub fn has_delays(&self) -> bool {
        let waits = |row: &Row| matches!(row.action(), Some(Action::Buffers { .. }));
        self.rows.iter().any(|row| row.matters && waits(row))
    }

    /// Whether a row that matters is a read of an older store than the last one.
    pub fn has_old_reads(&self) -> bool {
        let reads = |row: &Row| {
            matches!(row.action(), Some(Action::ReadsOld { .. } | Action::StoresOld { .. }))
        };
        self.rows.iter().any(|row| row.matters && reads(row))
    }
}

impl Row {
    /// A row that matters.
    pub fn new(step: u64, thread: u32, what: RowKind) -> Row {
        let (matters, is_news, decides, delayed, changes) = (true, true, false, false, false);
        let container = None;
        Row { step, thread, what, matters, is_news, decides, delayed, changes, container }
    }

    /// Whether it names a block of memory by its number.
    pub fn names_block(&self) -> bool {
        let memory = self.action().map(Action::memory).unwrap_or_default();
        memory.iter().any(|memory| memory.block().is_some())
    }

    /// The action; none for a call, an answer and a stop.
    pub fn action(&self) -> Option<&Action> {
        match &self.what {
            RowKind::Act { did, .. } => Some(did),
            _ => None,
        }
    }

    /// The source line of the action.
    pub fn place(&self) -> Option<&Place> {
        match &self.what {
            RowKind::Act { place, .. } => place.as_ref(),
            _ => None,
        }
    }

    /// Whether its thread is blocked until another one wakes it.
    pub fn waits(&self) -> bool {
        self.action().is_some_and(Action::waits)
    }

    /// Whether it frees memory, or tries to.
    pub fn frees(&self) -> bool {
        self.action().is_some_and(Action::frees)
    }
}

/// A container of the standard library during one of its internal accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Container {
    /// The container's name, or the block of one of its nodes.
    pub name: Memory,
    /// Whether the access changed memory.
    pub changes: bool,
}

/// The rows that matter. Consecutive accesses of one thread at one line inside containers of the
/// standard library become one row. Lines of interlap's own header are dropped.
pub fn in_short(rows: &[Row]) -> Vec<Row> {
    let matter: Vec<&Row> = rows.iter().filter(|row| row.matters).collect();
    let is_same_work = |one: &&Row, next: &&Row| {
        let inner = one.container.is_some() && next.container.is_some();
        inner && one.thread == next.thread && one.place() == next.place()
    };
    let merge = |run: &[&Row]| {
        let containers: Vec<&Container> =
            run.iter().filter_map(|row| row.container.as_ref()).collect();
        // A node belongs to the container, which has a name.
        let has_name = |one: &&&Container| one.name.block().is_none();
        let named = containers.iter().find(has_name).or(containers.first());
        let mut row = run[0].clone();
        if let (Some(named), true) = (named, run.len() > 1) {
            let changes = containers.iter().any(|one| one.changes);
            let did = Action::WorksIn { container: named.name.clone(), changes };
            row.what = RowKind::Act { did, times: 1, place: row.place().cloned() };
            row.is_news = run.iter().any(|row| row.is_news);
            row.decides = run.iter().any(|row| row.decides);
        }
        row
    };
    let without_own_lines = |mut row: Row| {
        if let RowKind::Act { place, .. } = &mut row.what {
            place.take_if(|place| place.is_of_interlap());
        }
        row
    };
    matter.chunk_by(is_same_work).map(merge).map(without_own_lines).collect()
}

/// The kind of a row. Nearly all rows are acts, so a smaller value would save nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// An invocation.
    Call(Call),
    /// A response.
    Answer(Answer),
    /// An action, done so many times in a row.
    Act { did: Action, times: u32, place: Option<Place> },
    /// A preemption of the thread during this call.
    Stopped(Call),
    /// The thread repeats what follows for ever, in this call.
    Repeats(Call),
}

/// A source line of an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub function: String,
    pub file: PathBuf,
    pub line: u32,
    /// The line without its indentation; empty if there is no such file.
    pub text: String,
    /// The library's line that calls it, if it is an inlined wrapper in another file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<Place>>,
    /// The line of the same file that calls it, if several lines call the helper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

impl Place {
    /// The library's line that it was inlined into.
    pub fn within(&self) -> Option<&Place> {
        self.within.as_deref()
    }

    /// Whether it lies in a header of interlap, which calls the target.
    pub fn is_of_interlap(&self) -> bool {
        let name = self.in_library().file.file_name();
        name.and_then(|name| name.to_str()).is_some_and(|name| sources::HEADERS.contains(&name))
    }

    /// The line that people look for: the library's line that calls a wrapper, or the line itself.
    pub fn in_library(&self) -> &Place {
        self.within.as_deref().unwrap_or(self)
    }
}
