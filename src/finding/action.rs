//! What threads do, as types: calls, answers, and the actions of an interleaving with their memory
//! and values. `crate::report` makes words of them.

use serde::{Deserialize, Serialize};

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
}

/// The name of a place in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// A byte of a block, which are numbered from 1 as they are allocated.
    Block {
        number: usize,
        offset: u64,
    },
    /// A member, by its path, of what lies in a block.
    Member {
        /// None of the structure under test.
        block: Option<usize>,
        /// Of a block that is an array, which of its elements.
        index: Option<u64>,
        path: String,
    },
    Address(u64),
}

impl Memory {
    /// The number of its block, if it is named by that.
    pub fn block(&self) -> Option<usize> {
        match self {
            Memory::Block { number, .. } => Some(*number),
            Memory::Member { block, .. } => *block,
            Memory::Address(_) => None,
        }
    }
}

/// What was in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    Number(i64),
    /// What is too large for a number that people look at.
    Bits(u64),
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
            Value::Number(_) | Value::Bits(_) => None,
        }
    }
}

/// What a thread does at a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Reads {
        at: Memory,
        value: Value,
    },
    /// What is written is not known.
    Writes {
        at: Memory,
    },
    /// `from`: what was there, if that was something else.
    Sets {
        at: Memory,
        to: Value,
        from: Option<Value>,
    },
    /// The same, but the store waits in its thread's store buffer.
    Buffers {
        at: Memory,
        to: Value,
        from: Option<Value>,
    },
    /// What waited there is in memory.
    Drains {
        at: Memory,
        to: Value,
    },
    /// A read-modify-write.
    Exchanges {
        at: Memory,
        from: Value,
        to: Value,
    },
    /// A comparison that failed.
    FailsToExchange {
        at: Memory,
        found: Value,
        expected: Value,
    },
    Fence,
    /// `former`: the block that lay there before.
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
    /// `at`: what it waits for, if that is in memory.
    Waits {
        at: Option<Memory>,
    },
    Wakes {
        at: Memory,
    },
    EndsProcess,
    Crashes {
        signal: i32,
        at: Option<Memory>,
    },
    /// What a container of the standard library does inside of itself, as one.
    WorksIn {
        container: Memory,
        changes: bool,
    },
    /// The fault, which the engine did not let happen; `at`: the memory that it is about, if that
    /// is known.
    Faults {
        kind: DetectedKind,
        at: Option<Memory>,
    },
    /// Of a deadlock; `at`: what `wait` is about.
    WaitsForEver {
        wait: Wait,
        at: Memory,
    },
}

impl Action {
    /// The memory that it names.
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
            Drains { at, to } => [Some(at), to.points_to()].into_iter().flatten().collect(),
            Exchanges { at, from: one, to: two }
            | FailsToExchange { at, found: one, expected: two } => {
                [Some(at), one.points_to(), two.points_to()].into_iter().flatten().collect()
            }
            Writes { at } | AsksFor { at } | Releases { at } | Wakes { at } => vec![at],
            Allocates { block: at, .. } | Frees { block: at } => vec![at],
            WorksIn { container: at, .. } | WaitsForEver { at, .. } => vec![at],
            Waits { at } | Crashes { at, .. } | Faults { at, .. } => at.iter().collect(),
            Fence | EndsProcess => Vec::new(),
        }
    }

    /// Whether the thread cannot go on until another lets it.
    pub fn waits(&self) -> bool {
        matches!(self, Action::Waits { .. } | Action::WaitsForEver { .. })
    }

    /// Whether it gives memory back, or tries to.
    pub fn frees(&self) -> bool {
        use DetectedKind::{BadFree, DoubleFree};
        let fault = matches!(self, Action::Faults { kind: BadFree | DoubleFree, .. });
        fault || matches!(self, Action::Frees { .. })
    }

    /// Whether it gives memory a value that it tells.
    pub fn sets(&self) -> bool {
        use Action::{Buffers, Drains, Exchanges, Sets};
        matches!(self, Sets { .. } | Buffers { .. } | Drains { .. } | Exchanges { .. })
    }
}
