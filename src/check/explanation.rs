//! Says why no order explains the operations of a witness: as data, of which `view::explanation`
//! makes sentences.

use serde::{Deserialize, Serialize};

use super::data::values::added_by;
use crate::core::history::{History, OperationId};
use crate::core::operation::Status;
use crate::model::{Consistency, Expected};

/// Why no order explains the operations of a witness. They are those of the history that was
/// checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explanation {
    Values(OfValues),
    Order(OfOrder),
    Records(OfRecords),
    Search(OfSearch),
    Transactions(OfTransactions),
}

/// Values that a removal should have returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub removal: OperationId,
    /// The index of the result before which they should have come.
    pub before: usize,
    pub values: Vec<i64>,
}

impl Explanation {
    /// What is missing in the result of a bulk removal, or when the structure was emptied.
    pub fn missing(&self, history: &History) -> Option<Missing> {
        let by_drain = |values: Vec<i64>| {
            let is_drain = |id: &OperationId| {
                Some(history.threads[id.thread as usize].client) == history.drain
            };
            let says_empty = |id: &OperationId| history.operation(*id).status == Status::Empty;
            let removal = history.ids().filter(|id| is_drain(id) && says_empty(id)).last()?;
            Some(Missing { removal, before: history.results(removal).len(), values })
        };
        match self {
            Explanation::Values(OfValues::Lost { value, .. }) => by_drain(vec![*value]),
            Explanation::Values(OfValues::AllLost(values)) => by_drain(values.clone()),
            Explanation::Order(OfOrder::BulkResult { removal, values, addition, is_gap: true }) => {
                let thread = &history.threads[addition.thread as usize];
                let added = || thread.operations().iter().flat_map(|o| added_by(thread, o));
                let [first, last] = *values;
                let between = added().skip_while(|value| **value != first).skip(1);
                let between = between.take_while(|value| **value != last).copied().collect();
                let before = history.results(*removal).iter().position(|value| *value == last)?;
                Some(Missing { removal: *removal, before, values: between })
            }
            _ => None,
        }
    }
}

/// What is wrong with the values that were found, in whatever order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfValues {
    /// Nobody had written the value, or it was added only after that.
    FromNowhere {
        value: i64,
        found: OperationId,
        addition: Option<OperationId>,
    },
    TakenTwice {
        value: i64,
        removals: [OperationId; 2],
    },
    /// The value was never removed, although the structure was emptied at the end.
    Lost {
        value: i64,
        addition: OperationId,
    },
    /// These were never removed, although the structure was emptied at the end: no order removes
    /// all that was added.
    AllLost(Vec<i64>),
    /// At every instant of an "empty" answer one of these was inside.
    EmptyWhileFull {
        removal: OperationId,
        inside: Vec<i64>,
        addition: OperationId,
    },
    /// The answer says how many values were inside, and at every instant there were at least and at
    /// most so many. `lone`: nothing was added or removed meanwhile.
    Miscounted {
        answer: OperationId,
        least: u64,
        most: u64,
        lone: bool,
    },
    /// During an "empty" answer the thread of this addition had added more than was removed.
    EmptyWhileOutnumbered {
        removal: OperationId,
        addition: OperationId,
    },
}

/// What is wrong with the order in which values left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfOrder {
    /// The first value was added before the second one, which left before it.
    Overtaken {
        values: [i64; 2],
        additions: [OperationId; 2],
        /// The removal of the second value, and that of the first if there was one.
        removal: OperationId,
        later: Option<OperationId>,
        /// Whether only the order of each producer's values is promised.
        per_producer: bool,
    },
    /// The value left while `k` others were inside that had been added before it.
    OvertookSeveral { value: i64, removal: OperationId, older: Vec<i64>, k: u32 },
    /// At every instant of its removal, or from the call of its insertion on, one of these smaller
    /// ones was inside.
    NotSmallest { value: i64, removal: OperationId, smaller: Vec<i64>, since_insertion: bool },
    /// The first value was popped while the second lay above it.
    PoppedBelow {
        values: [i64; 2],
        pushes: [OperationId; 2],
        pop: OperationId,
        is_upper_popped: bool,
    },
    /// These values cannot be last in, first out; without any one of them the others can.
    NotStacked(Vec<i64>),
    /// A bulk removal returned two values of a producer in the wrong order, or with a gap.
    BulkResult { removal: OperationId, values: [i64; 2], addition: OperationId, is_gap: bool },
}

/// What is wrong with the positions of a counter, a log or a string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfRecords {
    CountedTwice([OperationId; 2]),
    /// The operation shows more records than were appended, or fewer than none.
    NoSuchPosition(OperationId),
    OnePosition([OperationId; 2]),
    TwoPositions {
        append: OperationId,
        positions: [usize; 2],
    },
    /// By their positions the first comes before the second, which had returned before it began.
    AgainstPositions([OperationId; 2]),
    /// The operation shows that the position was filled, and no append can have filled it.
    NeverFilled {
        operation: OperationId,
        position: usize,
    },
    /// A part of a string occurs twice, and only one call wrote it.
    WrittenTwice {
        get: OperationId,
        value: i64,
        write: OperationId,
    },
    /// A string lacks what a call wrote that had returned before, and that was not replaced.
    NotWritten {
        get: OperationId,
        write: OperationId,
    },
    /// The first write had returned before the second began, and comes after it in the string.
    Misplaced {
        get: OperationId,
        writes: [OperationId; 2],
    },
}

/// No order explains a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfSearch {
    /// No other call was under way.
    Sequential { failed: OperationId, expected: Expected },
    NoOrder {
        failed: OperationId,
        /// The other operations under way then.
        under_way: Vec<OperationId>,
        /// Of an operation that reads a range: how many keys were in it at least.
        keys_min: Option<i64>,
    },
    /// Of all operations.
    NoSuchOrder(Consistency),
    /// Of the operations on a key.
    OfKey {
        failed: OperationId,
        under_way: Vec<OperationId>,
        /// The value that it answered, if nobody had begun to write that.
        unwritten: Option<i64>,
        /// What it should have answered, in one order or another.
        expected: Vec<Expected>,
    },
    /// Of so many operations on a key of a set. `was_absent`: the key was absent at first;
    /// otherwise it does not matter whether it was.
    OfSet { failed: OperationId, key: i64, count: usize, was_absent: bool },
    /// The counter was at least this, with so many additions under way.
    OfCounter { failed: OperationId, least: i64, under_way: usize },
    /// Of so many operations, which add and remove these values.
    OfValues { values: Vec<i64>, count: usize, last: OperationId },
    /// Of operations on a user's model.
    OfModel { operation: String, client: u32, under_way: usize, states: States },
    /// A user's model cannot be empty at the end.
    ModelNotEmpty(States),
}

/// What a user's model says of the states that it may have been in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct States {
    /// The first few.
    pub described: Vec<String>,
    pub are_more: bool,
}

/// What is wrong with transactions, which are named by their beginnings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfTransactions {
    /// Two answers within a transaction contradict each other.
    Torn([OperationId; 2]),
    /// The writer did not commit the value, or it replaced it before.
    NotCommitted {
        read: OperationId,
        writer: OperationId,
        is_replaced: bool,
    },
    /// A transaction read at a timestamp what was committed at a later one.
    FutureRead {
        read: OperationId,
        read_at: i64,
        value: i64,
        writer: OperationId,
        commit_at: i64,
    },
    NoOrder(Box<NoOrderOfTransactions>),
    /// A list has the second of these without the first before it, which its transaction appended
    /// first.
    OutOfOrder {
        read: OperationId,
        appends: [OperationId; 2],
    },
    /// Neither of two reads of a list has all that the other has, in its order.
    OtherOrder([OperationId; 2]),
    /// Each transaction comes before the next one, and the last before the first.
    Cycle(Vec<Dependency>),
}

/// A kind of cycle (Adya 1999).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cycle {
    /// Of appends alone.
    G0,
    /// Of appends and reads.
    G1c,
    /// With one read that missed something.
    GSingle,
    /// With several.
    G2Item,
}

impl Cycle {
    pub fn of(dependencies: &[Dependency]) -> Cycle {
        let any = |why| dependencies.iter().any(|dependency| dependency.why == why);
        let missed = dependencies.iter().filter(|dependency| dependency.why == Precedes::Missed);
        match missed.count() {
            0 if any(Precedes::Read) => Cycle::G1c,
            0 => Cycle::G0,
            1 => Cycle::GSingle,
            _ => Cycle::G2Item,
        }
    }

    /// What Elle calls it.
    pub fn rule(dependencies: &[Dependency]) -> &'static str {
        let in_time = dependencies.iter().any(|dependency| dependency.why == Precedes::Over);
        match (Cycle::of(dependencies), in_time) {
            (Cycle::G0, false) => "G0",
            (Cycle::G0, true) => "G0-realtime",
            (Cycle::G1c, false) => "G1c",
            (Cycle::G1c, true) => "G1c-realtime",
            (Cycle::GSingle, false) => "G-single",
            (Cycle::GSingle, true) => "G-single-realtime",
            (Cycle::G2Item, false) => "G2-item",
            (Cycle::G2Item, true) => "G2-item-realtime",
        }
    }
}

/// Why one transaction comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precedes {
    /// Both appended to a list, the second behind the first.
    Appended,
    /// The second read what the first appended.
    Read,
    /// The first read a list without what the second appended.
    Missed,
    /// The first was over before the second began.
    Over,
}

/// One transaction comes before another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dependency {
    pub why: Precedes,
    /// One of each: the two that make it so.
    pub operations: [OperationId; 2],
    /// A read that shows in which order values were appended.
    pub shown: Option<OperationId>,
}

/// No order of whole transactions, or of their snapshots and commits, explains what they read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoOrderOfTransactions {
    /// Whether whole transactions are ordered.
    pub is_serializable: bool,
    /// Whether they may have happened at any time, whatever their timeboxes.
    #[serde(default)]
    pub at_any_time: bool,
    /// What went wrong, as far as it is certain.
    pub anomaly: Option<Anomaly>,
    pub count: usize,
    pub are_committed: bool,
    /// The beginnings of all, or of the last ones.
    pub begins: Vec<OperationId>,
    /// What each order contradicts, if there are few.
    pub orders: Vec<ContradictedOrder>,
}

/// What transactions did wrong (Berenson et al. 1995; Adya 1999).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anomaly {
    WriteConflict,
    TimestampOrder,
    LostUpdate,
    WriteSkew,
    FracturedRead,
    StaleRead,
}

impl Anomaly {
    /// The rule that it breaks.
    pub fn rule(self) -> &'static str {
        match self {
            Anomaly::WriteConflict => "write-conflict",
            Anomaly::TimestampOrder => "timestamp-order",
            Anomaly::LostUpdate => "lost-update",
            Anomaly::WriteSkew => "write-skew",
            Anomaly::FracturedRead => "fractured-read",
            Anomaly::StaleRead => "stale-read",
        }
    }
}

/// An order of transactions, as far as it explains what they read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContradictedOrder {
    /// Those that come first.
    pub before: Vec<OperationId>,
    /// The first operation that it contradicts, and the value that should have been there.
    pub read: OperationId,
    pub held: Option<i64>,
}
