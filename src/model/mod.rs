//! Models: the sequential objects that histories are checked against.
//! A [`Spec`] is the name with options that a user writes (`fifo-per-producer:empty=lone`). The
//! transactional models have no object here: `check::transactions` decides them.
//!
//! - `bag`: Sequential objects for the models pool and priority queue: multisets of values.
//! - `called`: Calls and answers in JSON as values of TLA+: what a specification is asked about.
//! - `cell`: Sequential objects for the models set, map and register, made of independent cells.
//! - `counted`: A container that also says how many values it holds.
//! - `counter`: Sequential object for the model counter: a number that calls add to and read.
//! - `fitting`: Whether the operations of a target can be calls of a specification, told before the
//!   first call: each has an action, with as many parameters, of its types as far as they can be
//!   told.
//! - `given`: The model of a user, as a history of the user's own operations brings it along
//!   (`core::own`).
//! - `itself`: The models self and class: what the structure itself, or a class beside it, answers
//!   when its calls are made one at a time.
//! - `listed`: Which operations are called of a target that lists its methods: the methods, or the
//!   operations of a family that they are, where the model has these.
//! - `log`: Sequential object for the model log: records, each appended at the next position.
//! - `object`: Calls on the bundled models, and what each call adds, removes or may change.
//! - `ordered`: Sequential object for the model range-set: a set that counts, ranks and lists its
//!   keys.
//! - `producers`: Sequential object for the model fifo-per-producer: one queue per producing
//!   thread.
//! - `program`: A user's model that is a program of its own, as a [`Spec`](super::Spec) names it.
//! - `sequence`: Sequential objects for the models fifo, lifo and deque, and for these relaxed:
//!   value sequences.
//! - `settings`: What is said of a specification beside it: its configuration, the actions of
//!   operations, values of constants.
//! - `spec`: A model as users name it, with its options: `fifo:empty=none`, `Queue.tla`.
//! - `specified`: A specification in TLA+ as a model: a call is a step of the action that has its
//!   name.
//! - `stream`: Sequential object for streams of S2: conditional appends and reads of the whole
//!   stream.
//! - `text`: Sequential object for the model kv: a string under each key, with get, put and append.
//! - `weaker`: Lists the models that promise less than a model does.
//! - `wiredtiger/`: WiredTiger's transactions as a sequential object: snapshots, timestamps,
//!   prepared transactions, several tables.

mod bag;
mod called;
mod cell;
mod counted;
mod counter;
mod fitting;
mod given;
mod itself;
pub mod listed;
mod log;
mod object;
mod ordered;
mod producers;
pub mod program;
mod sequence;
pub mod settings;
mod spec;
mod specified;
mod stream;
mod text;
mod weaker;
pub mod wiredtiger;

use serde::{Deserialize, Serialize};

use crate::core::operation::Family;

pub use crate::core::contract::Model;
pub use bag::Bag;
pub use called::{PID, is_thread};
pub use cell::{Cell, Dictionary, Effect, key, returns_value};
pub use counted::{Claim, Counted, Counts};
pub use counter::Counter;
pub use fitting::OtherType;
pub use given::Given;
pub use itself::Itself;
pub use log::Log;
pub use object::{Call, Expect, Expected, added, removed_max, taken_up_to};
pub use ordered::{OrderedSet, bounds};
pub use producers::Producers;
pub use sequence::{Relaxed, Sequence};
pub use spec::Spec;
pub use specified::Specified;
pub use stream::{Stream, StreamState};
pub use text::{Text, TextCell, Texts};

/// The kinds of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A queue that keeps the order of each producer's values, but none between producers.
    FifoPerProducer,
    Fifo,
    /// A queue whose dequeue removes one of its `k` oldest values.
    FifoRelaxed,
    /// A queue without an order: each value that is added can be removed once.
    Pool,
    Lifo,
    /// The owner pushes and takes at the bottom, thieves steal at the top.
    Deque,
    Set,
    /// An ordered set, which also counts, ranks, selects and lists keys.
    RangeSet,
    Map,
    /// A string under each key: get, put, append.
    Kv,
    Register,
    /// A queue whose poll removes the smallest value.
    PriorityQueue,
    Counter,
    /// Records appended one after another.
    Log,
    /// Transactions that read from a snapshot. Of two that overlap and write the same key only one
    /// commits (snapshot isolation).
    Snapshot,
    /// Transactions each of which takes effect at one instant of its timebox (strict
    /// serializability).
    Serializable,
    /// The structure itself, called by one thread at a time.
    Itself,
    /// A sequential class beside the adapter.
    Class,
    /// A user's [`Model`], which the history brings along, or a program of its own has.
    Own,
}

/// What an "empty" answer promises, weakest first. Each promise includes the ones before it.
/// (A library that reserves an element before it removes it, or that publishes in two steps,
/// promises less than the strongest.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Empty {
    /// Nothing, also where no other operation overlaps it.
    None,
    /// A promise only if no other removing operation overlaps it: then `Strong` for a single queue,
    /// and `Identity` for a queue per producer.
    Lone,
    /// For each producer, at some instant in its timebox, at most as many enqueues had returned as
    /// successful dequeues had been invoked. (A dequeue without an answer counts for every
    /// producer.)
    Count,
    /// For each producer, at some instant in its timebox, no element was certainly inside. The
    /// instants may differ between producers.
    Identity,
    /// At one instant in its timebox the structure was empty.
    Strong,
}

/// What the number of values inside promises that a queue, stack or deque answers, weakest first.
/// Each promise includes the ones before it. Whether it is empty is such an answer, and so is that
/// it holds fewer values than a bulk removal asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    /// Nothing.
    None,
    /// It is right if no addition and no removal overlaps the call.
    Lone,
    /// At one instant in the timebox there were no more inside.
    Upper,
    /// At one instant in the timebox it was right.
    Exact,
}

/// When the elements of one bulk operation move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bulk {
    /// Each at its own instant in the timebox, and those of one producer in their order. (In a
    /// single queue all elements have one order, which every result follows.)
    Element,
    /// As `Element`, and the elements of one producer in one result are consecutive.
    Run,
    /// All at one instant.
    Atomic,
}

/// Which orders of the operations may explain a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Those in which an operation that returned before another was called comes first (Herlihy and
    /// Wing, TOPLAS 1990).
    Linearizable,
    /// Those that keep the order of each thread's own operations, whatever the timeboxes (Lamport,
    /// IEEE Transactions on Computers 1979).
    Sequential,
    /// Those that keep the order of operations between which no operation was under way (Aspnes,
    /// Herlihy, Shavit, JACM 1994).
    Quiescent,
    /// Those in which each operation is at most so many places from where it is in some
    /// linearizable one (Afek, Korland, Yanovsky, OPODIS 2010).
    Quasi(u32),
    /// All. Of transactions that is serializability, which is not strict (Papadimitriou, JACM
    /// 1979).
    Unordered,
}

impl Consistency {
    /// Whether a thread's operations have no order either.
    pub fn is_of_any_thread(self) -> bool {
        matches!(self, Consistency::Quiescent | Consistency::Quasi(_))
    }
}

impl Kind {
    pub const ALL: [Kind; 18] = [
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
        Kind::Itself,
        Kind::Class,
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
            Kind::Itself => "self",
            Kind::Class => "class",
            Kind::Own => "crate",
        }
    }

    /// The family of structures that this model is mostly for.
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
            Kind::Itself | Kind::Class | Kind::Own => Family::Custom,
        }
    }

    /// The families whose operations this model has: a pool is any container without an order.
    pub fn families(self) -> &'static [Family] {
        const POOL: [Family; 3] = [Family::Queue, Family::Stack, Family::Deque];
        match self {
            Kind::Pool => &POOL,
            Kind::Itself | Kind::Own => &Family::ALL,
            _ => Family::ALL
                .iter()
                .find(|family| **family == self.family())
                .map_or(&[], std::slice::from_ref),
        }
    }

    /// The promise where the user names none: never more than such structures usually promise.
    fn default_empty(self) -> Empty {
        match self {
            Kind::FifoPerProducer | Kind::FifoRelaxed => Empty::Lone,
            _ => Empty::Strong,
        }
    }

    /// Whether it is one of queues of all kinds, stacks and deques: values go in and come out.
    pub fn is_container(self) -> bool {
        let families = [Family::Queue, Family::Stack, Family::Deque, Family::PriorityQueue];
        families.contains(&self.family())
    }

    /// Whether what is right is what an object in the library of the target answers to calls one
    /// at a time (`core::sequential_runs`).
    pub fn is_run(self) -> bool {
        matches!(self, Kind::Itself | Kind::Class)
    }

    /// Whether orders of its operations are a matter of [`Consistency`], and of this one.
    fn has_consistency(self, consistency: Consistency) -> bool {
        match consistency {
            Consistency::Linearizable => true,
            Consistency::Sequential | Consistency::Quasi(_) => self.family() != Family::Store,
            // What is promised of each thread's operations says nothing where these have no order.
            Consistency::Quiescent => {
                self.family() != Family::Store && self != Kind::FifoPerProducer
            }
            Consistency::Unordered => self == Kind::Serializable,
        }
    }

    fn has_k(self) -> bool {
        let of_one = [Kind::FifoRelaxed, Kind::Lifo, Kind::Deque, Kind::PriorityQueue];
        of_one.contains(&self)
    }

    fn has_bulk(self) -> bool {
        matches!(self, Kind::FifoPerProducer | Kind::Fifo)
    }
}
