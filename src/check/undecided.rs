//! Says why a check decided nothing: as data, of which `view::explanation` makes sentences.

use serde::{Deserialize, Serialize};

use crate::core::history::OperationId;
use crate::core::operation::Op;
use crate::model::Kind;

/// Why a check decided nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    Exhausted(Exhausted),
    /// No value overtook `k` others for certain; whether some order explains all is for a search,
    /// which decided nothing.
    Relaxed {
        k: u32,
        search: Box<Undecided>,
    },
    /// It has more than so many operations.
    TooLong(usize),
    /// The model has no such operation.
    Foreign(Kind, Op),
    /// A stream has no such operation.
    NotOfStreams(Op),
    /// Transactions on lists have no such operation.
    NotOfLists(Op),
    /// One value was appended twice to a list, so a list does not show which append was first.
    AppendedTwice([OperationId; 2]),
    /// The calls were not made one at a time, by which the models self and class go.
    NotRunAlone,
    /// The structure was not called in some orders that may explain the history.
    OrdersNotRun,
    /// Calls share timeboxes, so the order of a thread's own is not known.
    OrderUnknown,
    /// Some value was added twice, and which thread added one that was taken is not known.
    ProducersUnknown,
    /// Some operations concern a part of a user's object, and others all of it.
    PartsAndWhole,
    /// Only linearizability is judged while a history goes on.
    NotOnline,
    /// A history of one thread has several.
    SeveralThreads,
    /// A commit may have had any timestamp.
    LacksTimestamp,
    /// A client's operation of that number belongs to no transaction.
    OutsideTransaction {
        client: u32,
        op: Op,
        number: u32,
    },
    /// A transaction reads at a timestamp of which only the last commit is still held.
    Pruned {
        read_at: i64,
    },
    /// So many bytes of operations were held, none of which could be pruned.
    Held(usize),
    /// The program of the model was named, and not started.
    NoModelProgram,
    /// Why the program of the model cannot judge it, in its words.
    OfModelProgram(String),
    /// The operations came out of order, in the words of [`Misfit`](crate::core::history::Misfit).
    OutOfOrder(String),
}

/// Why a search gave up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// So many steps may be open at once, and more were.
    Open(usize),
    Configurations(usize),
    Steps(u64),
    /// Bytes.
    Memory(usize),
    Cancelled,
    /// Its time was over.
    Deadline,
}

impl From<Exhausted> for Undecided {
    fn from(exhausted: Exhausted) -> Undecided {
        Undecided::Exhausted(exhausted)
    }
}
