//! What a structure promises, as a sequential object. A [`Spec`] is the name and options a user
//! writes (`fifo-per-producer:empty=lone`); the modules beside this one are the objects. Knows
//! operations and their answers; knows nothing of threads, time, traces or reports.

mod bag;
mod cell;
mod object;
mod producers;
mod sequence;

use std::fmt;
use std::str::FromStr;

use crate::operation::{Family, Op};

pub use bag::Bag;
pub use cell::{Cell, Dictionary, key};
pub use object::{Call, Expect, Model, added};
pub use producers::Producers;
pub use sequence::Sequence;

/// Which sequential object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A queue that keeps the order of each producer, but none between producers.
    FifoPerProducer,
    Fifo,
    /// A queue that keeps no order at all: what goes in comes out once.
    Pool,
    Lifo,
    /// One owner pushes and takes at the bottom, thieves steal at the top.
    Deque,
    Set,
    Map,
    Register,
    /// The smallest value is the first to leave.
    PriorityQueue,
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
}

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
    pub const ALL: [Kind; 9] = [
        Kind::FifoPerProducer,
        Kind::Fifo,
        Kind::Pool,
        Kind::Lifo,
        Kind::Deque,
        Kind::Set,
        Kind::Map,
        Kind::Register,
        Kind::PriorityQueue,
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
        }
    }

    /// The family whose operations this model explains.
    pub fn family(self) -> Family {
        match self {
            Kind::FifoPerProducer | Kind::Fifo | Kind::Pool => Family::Queue,
            Kind::Lifo => Family::Stack,
            Kind::Deque => Family::Deque,
            Kind::Set => Family::Set,
            Kind::Map => Family::Map,
            Kind::Register => Family::Register,
            Kind::PriorityQueue => Family::PriorityQueue,
        }
    }

    /// What is assumed where the user says nothing: never more than such structures promise.
    fn default_empty(self) -> Empty {
        if self == Kind::FifoPerProducer { Empty::Lone } else { Empty::Strong }
    }

    fn has_empty(self) -> bool {
        !matches!(self, Kind::Set | Kind::Map | Kind::Register)
    }

    fn has_bulk(self) -> bool {
        matches!(self, Kind::FifoPerProducer | Kind::Fifo)
    }
}

impl Spec {
    pub fn new(kind: Kind) -> Spec {
        Spec { kind, empty: kind.default_empty(), bulk: Bulk::Element }
    }

    /// Whether the model explains this operation.
    pub fn accepts(&self, op: Op) -> bool {
        op.family() == self.kind.family()
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
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.kind.name(), options.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip() {
        for text in ["fifo", "fifo-per-producer:empty=count,bulk=run", "lifo:empty=none", "set"] {
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
        assert!(error("set:empty=none").contains("no option 'empty'"));
    }
}
