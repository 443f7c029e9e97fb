//! The actions of threads, as types: calls, answers, and accesses with their memory and values.
//! `crate::report` puts them into words.

use serde::{Deserialize, Serialize};

use super::interleaving::Place;
use crate::check::Missing;
use crate::core::operation::{Op, Status};
use crate::trace::frame::{DetectedKind, Wait};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub op: Op,
    pub args: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub call: Call,
    pub status: Status,
    pub results: Vec<i64>,
    /// What should have been among the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

/// The name of a piece of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// A byte of a block. Blocks are numbered from 1 in the order of their allocation.
    Block {
        number: usize,
        offset: u64,
    },
    /// A member of the object in a block, by its path.
    Member {
        /// None: the structure under test.
        block: Option<usize>,
        /// The element, if the block is an array.
        index: Option<u64>,
        path: String,
    },
    Address(u64),
}

impl Memory {
    /// The number of the block in its name.
    pub fn block(&self) -> Option<usize> {
        match self {
            Memory::Block { number, .. } => Some(*number),
            Memory::Member { block, .. } => *block,
            Memory::Address(_) => None,
        }
    }
}

/// A value in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    Number(i64),
    /// Shown in hexadecimal: too large to be read as a number.
    Bits(u64),
    /// Of memory of the heap that nobody has written.
    Uninitialised,
    /// A pointer, perhaps with a tag in its upper bits.
    Pointer {
        to: Memory,
        tag: u64,
    },
}

impl Value {
    fn points_to(&self) -> Option<&Memory> {
        match self {
            Value::Pointer { to, .. } => Some(to),
            Value::Number(_) | Value::Bits(_) | Value::Uninitialised => None,
        }
    }
}

/// Who has stored a value, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StoredBy {
    pub thread: u32,
    pub place: Option<Place>,
}

/// An action of a thread at one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Reads {
        at: Memory,
        value: Value,
    },
    /// A write whose value is unknown.
    Writes {
        at: Memory,
    },
    /// `from`: the old value, if it differs.
    Sets {
        at: Memory,
        to: Value,
        from: Option<Value>,
    },
    /// A store that goes into its thread's store buffer.
    Buffers {
        at: Memory,
        to: Value,
        from: Option<Value>,
    },
    /// A store leaves the store buffer for memory.
    Drains {
        at: Memory,
        to: Value,
    },
    /// A read of an older value than memory has: that one, which `newest_by` has stored, its thread
    /// does not see yet.
    ReadsOld {
        at: Memory,
        value: Value,
        by: Option<StoredBy>,
        newest: Value,
        newest_by: Option<StoredBy>,
    },
    /// A store that comes before the newest one of its location, which its thread does not see yet:
    /// memory keeps that.
    StoresOld {
        at: Memory,
        to: Value,
        newest: Value,
        newest_by: Option<StoredBy>,
    },
    /// A read-modify-write.
    Exchanges {
        at: Memory,
        from: Value,
        to: Value,
    },
    /// A compare-and-exchange that failed.
    FailsToExchange {
        at: Memory,
        found: Value,
        expected: Value,
    },
    Fence,
    /// `former`: the freed block at the same address.
    Allocates {
        block: Memory,
        bytes: u32,
        former: Option<usize>,
    },
    Frees {
        block: Memory,
    },
    AsksFor {
        at: Memory,
    },
    Releases {
        at: Memory,
    },
    /// `at`: what the thread waits for, if that is in memory.
    Waits {
        at: Option<Memory>,
    },
    Wakes {
        at: Memory,
    },
    /// `thread` is the target's own.
    Starts {
        thread: u32,
    },
    EndsProcess,
    Crashes {
        signal: i32,
        at: Option<Memory>,
    },
    /// Several accesses inside one container of the standard library.
    WorksIn {
        container: Memory,
        changes: bool,
    },
    /// A fault that the engine prevented. `at`: its memory, if known.
    Faults {
        kind: DetectedKind,
        at: Option<Memory>,
    },
    /// Of a deadlock. `at`: what the thread waits for.
    WaitsForEver {
        wait: Wait,
        at: Memory,
    },
}

impl Action {
    /// Whether a thread waits for another, but for a lock, or wakes one.
    pub fn is_of_waiting(&self) -> bool {
        matches!(self, Action::Waits { .. } | Action::Wakes { .. })
    }

    /// The memory that its words name.
    pub fn memory(&self) -> Vec<&Memory> {
        use Action::*;
        match self {
            Reads { at, value } => [Some(at), value.points_to()].into_iter().flatten().collect(),
            Sets { at, to, from } | Buffers { at, to, from } => {
                [Some(at), to.points_to(), from.as_ref().and_then(Value::points_to)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            ReadsOld { at, value: one, newest: two, .. }
            | StoresOld { at, to: one, newest: two, .. } => {
                [Some(at), one.points_to(), two.points_to()].into_iter().flatten().collect()
            }
            Drains { at, to } => [Some(at), to.points_to()].into_iter().flatten().collect(),
            Exchanges { at, from: one, to: two }
            | FailsToExchange { at, found: one, expected: two } => {
                [Some(at), one.points_to(), two.points_to()].into_iter().flatten().collect()
            }
            Writes { at } | AsksFor { at } | Releases { at } | Wakes { at } => vec![at],
            Allocates { block: at, .. } | Frees { block: at } => vec![at],
            WorksIn { container: at, .. } | WaitsForEver { at, .. } => vec![at],
            Waits { at } | Crashes { at, .. } | Faults { at, .. } => at.iter().collect(),
            Fence | Starts { .. } | EndsProcess => Vec::new(),
        }
    }

    /// Whether its thread is blocked until another one wakes it.
    pub fn waits(&self) -> bool {
        matches!(self, Action::Waits { .. } | Action::WaitsForEver { .. })
    }

    /// Whether it frees memory, or tries to.
    pub fn frees(&self) -> bool {
        use DetectedKind::{BadFree, DoubleFree};
        let fault = matches!(self, Action::Faults { kind: BadFree | DoubleFree, .. });
        fault || matches!(self, Action::Frees { .. })
    }

    /// Whether it changes memory to a known value.
    pub fn sets(&self) -> bool {
        use Action::{Buffers, Drains, Exchanges, Sets};
        matches!(self, Sets { .. } | Buffers { .. } | Drains { .. } | Exchanges { .. })
    }
}
