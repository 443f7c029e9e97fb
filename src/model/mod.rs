//! What a structure promises, as a sequential object. A [`Spec`] is the name and options a user
//! writes (`fifo-per-producer:empty=lone`); the modules beside this one are the objects. Knows
//! operations and their answers; knows nothing of threads, time, traces or reports.
//!
//! - `bag`: Values without an order of their own: a pool, of which any may leave, and a priority
//!   queue, of which the smallest leaves first.
//! - `cell`: Objects made of independent cells: set, map and register.
//! - `contract`: What a model is: a plain sequential object.
//! - `counter`: A number that is added to and read.
//! - `log`: A log: records are appended, each at the next position.
//! - `object`: The operations of the bundled objects.
//! - `ordered`: A set whose keys are in order: it counts, ranks, selects and lists them, too.
//! - `producers`: A queue that keeps the order of each producer: one line of values per producing
//!   thread.
//! - `sequence`: A line of values that grows at its back: queue, stack and deque.
//! - `stream`: A stream of S2: batches of records are appended, on conditions, and the whole of it
//!   is read at once.
//! - `text`: Strings under keys: get, put and append.

mod bag;
mod cell;
mod contract;
mod counter;
mod log;
mod object;
mod ordered;
mod producers;
mod sequence;
mod stream;
mod text;

use std::fmt;
use std::str::FromStr;

use crate::core::operation::{Family, Op};

pub use bag::Bag;
pub use cell::{Cell, Dictionary, Effect, hands_out, key};
pub use contract::Model;
pub use counter::Counter;
pub use log::Log;
pub(crate) use object::values_or_empty;
pub use object::{Call, Expect, added, most};
pub use ordered::{OrderedSet, bounds};
pub use producers::Producers;
pub use sequence::{Relaxed, Sequence};
pub use stream::{Known, Stream};
pub use text::{Text, TextCell, Texts};

/// Which sequential object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A queue that keeps the order of each producer, but none between producers.
    FifoPerProducer,
    Fifo,
    /// A queue that hands out one of its `k` oldest values.
    FifoRelaxed,
    /// A queue that keeps no order at all: what goes in comes out once.
    Pool,
    Lifo,
    /// One owner pushes and takes at the bottom, thieves steal at the top.
    Deque,
    Set,
    /// A set that also counts, ranks and lists its keys in their order.
    RangeSet,
    Map,
    /// A string under each key: get, put, append.
    Kv,
    Register,
    /// The smallest value is the first to leave.
    PriorityQueue,
    Counter,
    /// Records appended one after another.
    Log,
    /// Transactions that read from a snapshot; of two that run at once and write one key only one
    /// commits.
    Snapshot,
    /// Transactions each of which might as well have happened at one instant of its box.
    Serializable,
}

/// What an "empty" answer promises, weakest first. Each includes the ones before it.
/// (A library that reserves an element before it takes it, or publishes in two steps, promises
/// less than the strongest.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Empty {
    /// Nothing.
    None,
    /// It is true when no other removing operation overlaps it (then as `Strong` for a single
    /// queue, per producer as `Identity` for queues per producer).
    Lone,
    /// Per producer, at some instant in its box, no more enqueues had returned than successful
    /// dequeues had been called. (A dequeue without an answer counts for every producer.)
    Count,
    /// Per producer, at some instant in its box, no element was certainly inside; the instants may
    /// differ between producers.
    Identity,
    /// At one instant in its box nothing was inside.
    Strong,
}

/// When the elements of one bulk operation move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bulk {
    /// Each at its own instant within the box; those of one producer in their order. (A single
    /// queue has one order: there a result is in it throughout.)
    Element,
    /// As `Element`, and the elements of one producer in one result are consecutive ones.
    Run,
    /// All at one instant.
    Atomic,
}

/// A model as users name it: `kind[:option=value[,option=value...]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    pub kind: Kind,
    pub empty: Empty,
    pub bulk: Bulk,
    /// Of `fifo-relaxed`: out of how many of the oldest values a dequeue may choose.
    pub k: u32,
}

/// The `k` of a `fifo-relaxed` that names none.
const RELAXATION: u32 = 2;

const EMPTY: [(&str, Empty); 5] = [
    ("none", Empty::None),
    ("lone", Empty::Lone),
    ("count", Empty::Count),
    ("identity", Empty::Identity),
    ("strong", Empty::Strong),
];

const BULK: [(&str, Bulk); 3] =
    [("element", Bulk::Element), ("run", Bulk::Run), ("atomic", Bulk::Atomic)];

impl Kind {
    pub const ALL: [Kind; 16] = [
        Kind::FifoPerProducer,
        Kind::Fifo,
        Kind::FifoRelaxed,
        Kind::Pool,
        Kind::Lifo,
        Kind::Deque,
        Kind::PriorityQueue,
        Kind::Set,
        Kind::RangeSet,
        Kind::Map,
        Kind::Kv,
        Kind::Register,
        Kind::Counter,
        Kind::Log,
        Kind::Snapshot,
        Kind::Serializable,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::FifoPerProducer => "fifo-per-producer",
            Kind::Fifo => "fifo",
            Kind::Pool => "pool",
            Kind::Lifo => "lifo",
            Kind::Deque => "deque",
            Kind::Set => "set",
            Kind::Map => "map",
            Kind::Register => "register",
            Kind::PriorityQueue => "priority-queue",
            Kind::FifoRelaxed => "fifo-relaxed",
            Kind::RangeSet => "range-set",
            Kind::Kv => "kv",
            Kind::Counter => "counter",
            Kind::Log => "log",
            Kind::Snapshot => "snapshot",
            Kind::Serializable => "serializable",
        }
    }

    /// The family whose operations this model explains.
    pub fn family(self) -> Family {
        match self {
            Kind::FifoPerProducer | Kind::Fifo | Kind::FifoRelaxed | Kind::Pool => Family::Queue,
            Kind::Lifo => Family::Stack,
            Kind::Deque => Family::Deque,
            Kind::Set | Kind::RangeSet => Family::Set,
            Kind::Map => Family::Map,
            Kind::Register => Family::Register,
            Kind::PriorityQueue => Family::PriorityQueue,
            Kind::Kv => Family::Kv,
            Kind::Counter => Family::Counter,
            Kind::Log => Family::Log,
            Kind::Snapshot | Kind::Serializable => Family::Store,
        }
    }

    /// What is assumed where the user says nothing: never more than such structures promise.
    fn default_empty(self) -> Empty {
        match self {
            Kind::FifoPerProducer | Kind::FifoRelaxed => Empty::Lone,
            _ => Empty::Strong,
        }
    }

    fn has_empty(self) -> bool {
        let families = [Family::Queue, Family::Stack, Family::Deque, Family::PriorityQueue];
        families.contains(&self.family())
    }

    fn has_bulk(self) -> bool {
        matches!(self, Kind::FifoPerProducer | Kind::Fifo)
    }
}

impl Spec {
    pub fn new(kind: Kind) -> Spec {
        Spec { kind, empty: kind.default_empty(), bulk: Bulk::Element, k: RELAXATION }
    }

    /// Whether the model explains this operation.
    pub fn accepts(&self, op: Op) -> bool {
        op.family() == self.kind.family() && (self.kind != Kind::Set || !op.reads_range())
    }
}

/// The strengths of "empty" a model can be asked for: with a single queue `count` and `identity`
/// have no meaning of their own.
fn empty_choices(kind: Kind) -> Vec<&'static str> {
    let single = kind != Kind::FifoPerProducer;
    EMPTY
        .iter()
        .filter(|(_, e)| !single || !matches!(e, Empty::Count | Empty::Identity))
        .map(|(name, _)| *name)
        .collect()
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) else {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            return Err(format!("unknown model '{name}'; known are {}", known.join(", ")));
        };
        let mut spec = Spec::new(kind);
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if kind == Kind::FifoRelaxed && key == "k" {
                let k = value.parse().ok().filter(|k| *k >= 1);
                spec.k = k.ok_or(format!("model {name}: k={value} is no number from 1 on"))?;
                continue;
            }
            let (choices, found) = match key {
                "empty" if kind.has_empty() => {
                    let choices = empty_choices(kind);
                    let found = EMPTY.iter().find(|(n, _)| *n == value && choices.contains(n));
                    (choices, found.map(|(_, empty)| spec.empty = *empty))
                }
                "bulk" if kind.has_bulk() => {
                    let found = BULK.iter().find(|(n, _)| *n == value);
                    (BULK.map(|(n, _)| n).to_vec(), found.map(|(_, bulk)| spec.bulk = *bulk))
                }
                _ => return Err(format!("model {name} has no option '{key}'")),
            };
            if found.is_none() {
                let choices = choices.join(", ");
                return Err(format!("model {name}: {key}={value} is none of {choices}"));
            }
        }
        Ok(spec)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let default = Spec::new(self.kind);
        let mut options = Vec::new();
        if self.empty != default.empty {
            let name = EMPTY.iter().find(|(_, empty)| *empty == self.empty).map(|(name, _)| *name);
            options.push(format!("empty={}", name.expect("EMPTY lists every strength")));
        }
        if self.bulk != default.bulk {
            let name = BULK.iter().find(|(_, bulk)| *bulk == self.bulk).map(|(name, _)| *name);
            options.push(format!("bulk={}", name.expect("BULK lists every mode")));
        }
        if self.k != default.k {
            options.push(format!("k={}", self.k));
        }
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.kind.name(), options.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip() {
        for text in [
            "fifo",
            "fifo-per-producer:empty=count,bulk=run",
            "lifo:empty=none",
            "set",
            "fifo-relaxed:k=7",
        ] {
            let spec: Spec = text.parse().expect(text);
            assert_eq!(spec.to_string(), text);
        }
        assert_eq!(
            "fifo-per-producer:empty=lone".parse::<Spec>().expect("default").to_string(),
            "fifo-per-producer"
        );
    }

    #[test]
    fn errors_name_the_choices() {
        let error = |text: &str| text.parse::<Spec>().expect_err(text);
        assert!(error("heap").contains("fifo-per-producer"));
        assert!(error("fifo:empty=count").contains("none, lone, strong"));
        assert!(error("fifo-relaxed:k=0").contains("number from 1 on"));
        assert!(error("fifo:k=2").contains("no option 'k'"));
        assert!(error("set:empty=none").contains("no option 'empty'"));
    }
}
