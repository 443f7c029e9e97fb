//! Models: the sequential objects that histories are checked against.
//! A [`Spec`] is the name with options that a user writes (`fifo-per-producer:empty=lone`). The
//! transactional models have no object here: `check::transactions` decides them.
//!
//! - `bag`: Sequential objects for the models pool and priority queue: multisets of values.
//! - `cell`: Sequential objects for the models set, map and register, made of independent cells.
//! - `counted`: A container that also says how many values it holds.
//! - `counter`: Sequential object for the model counter: a number that calls add to and read.
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
//! - `specified`: A specification in TLA+ as a model: a call is a step of the action that has its
//!   name.
//! - `stream`: Sequential object for streams of S2: conditional appends and reads of the whole
//!   stream.
//! - `text`: Sequential object for the model kv: a string under each key, with get, put and append.
//! - `weaker`: Lists the models that promise less than a model does.

mod bag;
mod cell;
mod counted;
mod counter;
mod given;
mod itself;
pub mod listed;
mod log;
mod object;
mod ordered;
mod producers;
pub mod program;
mod sequence;
mod specified;
mod stream;
mod text;
mod weaker;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::core::operation::{Family, Op};
use program::{Program, SPECIFICATION};

pub use crate::core::contract::Model;
pub use bag::Bag;
pub use cell::{Cell, Dictionary, Effect, key, returns_value};
pub use counted::{Claim, Counted, Counts};
pub use counter::Counter;
pub use given::Given;
pub use itself::Itself;
pub use log::Log;
pub use object::{Call, Expect, Expected, added, removed_max, taken_up_to};
pub use ordered::{OrderedSet, bounds};
pub use producers::Producers;
pub use sequence::{Relaxed, Sequence};
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

/// A model as users name it: `kind[:option=value[,option=value...]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Spec {
    pub kind: Kind,
    pub empty: Empty,
    pub bulk: Bulk,
    pub size: Size,
    pub consistency: Consistency,
    /// A removal takes one of this many values that come next: the oldest of a queue, the newest of
    /// a stack, those nearest to its end of a deque, the smallest of a priority queue (Henzinger et
    /// al., "Quantitative relaxation of concurrent data structures", POPL 2013).
    pub k: u32,
    /// For `crate`: the program that has the model.
    pub program: Option<&'static Program>,
}

/// Begins the path of a model's program.
const PATH: &str = "path=";

/// The `k` of `fifo-relaxed`, where none is given. Other models are not relaxed then.
const RELAXATION: u32 = 2;

const EMPTY: [(&str, Empty); 5] = [
    ("none", Empty::None),
    ("lone", Empty::Lone),
    ("count", Empty::Count),
    ("identity", Empty::Identity),
    ("strong", Empty::Strong),
];

const SIZE: [(&str, Size); 4] =
    [("none", Size::None), ("lone", Size::Lone), ("upper", Size::Upper), ("exact", Size::Exact)];

/// Most libraries promise no more of it.
const DEFAULT_SIZE: Size = Size::Lone;

const CONSISTENCY: [(&str, Consistency); 4] = [
    ("linearizable", Consistency::Linearizable),
    ("sequential", Consistency::Sequential),
    ("quiescent", Consistency::Quiescent),
    ("unordered", Consistency::Unordered),
];

/// [`Consistency::Quasi`], with its number in place of N.
const QUASI: &str = "quasi-N";

fn quasi(text: &str) -> Option<Consistency> {
    let factor = text.strip_prefix(QUASI.trim_end_matches('N'))?.parse().ok();
    factor.filter(|factor| *factor > 0).map(Consistency::Quasi)
}

const BULK: [(&str, Bulk); 3] =
    [("element", Bulk::Element), ("run", Bulk::Run), ("atomic", Bulk::Atomic)];

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

impl Spec {
    pub fn new(kind: Kind) -> Spec {
        Spec {
            kind,
            empty: kind.default_empty(),
            bulk: Bulk::Element,
            size: DEFAULT_SIZE,
            consistency: Consistency::Linearizable,
            k: if kind == Kind::FifoRelaxed { RELAXATION } else { 1 },
            program: None,
        }
    }

    /// Whether a removal may take another value than the one that comes next.
    pub fn is_relaxed(&self) -> bool {
        self.k > 1
    }

    /// Whether the model has this operation.
    pub fn accepts(&self, op: Op) -> bool {
        let is_of_kind = self.kind.families().contains(&op.family());
        is_of_kind && (self.kind != Kind::Set || !op.reads_range())
    }

    pub fn is_linearizable(&self) -> bool {
        self.consistency == Consistency::Linearizable
    }

    /// Whether calls that share timeboxes are judged without a search, by rules of the model or
    /// else as those of a pool, and show something: wide timeboxes hide what keys do.
    pub fn judges_blocks(&self) -> bool {
        if !self.is_linearizable() {
            return false;
        }
        match self.kind {
            // No pool promises less.
            Kind::PriorityQueue if self.is_relaxed() => false,
            Kind::Pool | Kind::PriorityQueue => self.size < Size::Upper,
            kind => kind.is_container(),
        }
    }
}

/// The values of `empty` that a model accepts: for a single queue `count` and `identity` have no
/// meaning.
fn empty_choices(kind: Kind) -> Vec<&'static str> {
    let single = kind != Kind::FifoPerProducer;
    EMPTY
        .iter()
        .filter(|(_, e)| !single || !matches!(e, Empty::Count | Empty::Identity))
        .map(|(name, _)| *name)
        .collect()
}

/// The file of a specification that is named as a model, and the options behind it.
fn specification(text: &str) -> Option<(&str, &str)> {
    let end = text.find(SPECIFICATION)? + SPECIFICATION.len();
    let (file, rest) = text.split_at(end);
    Some((file, if rest.is_empty() { "" } else { rest.strip_prefix(':')? }))
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let (name, options, file) = match specification(text) {
            Some((file, options)) => (Kind::Own.name(), options, Some(file)),
            None => (name, options, None),
        };
        let mut named = Kind::ALL.into_iter().chain([Kind::Own]);
        let Some(kind) = named.find(|kind| kind.name() == name) else {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            return Err(format!("unknown model '{name}'; choose one of {}", known.join(", ")));
        };
        let mut spec = Spec::new(kind);
        // A path may have commas, so it comes last.
        let (options, path) = match options.split_once(PATH) {
            Some((options, path)) if kind == Kind::Own => (options, Some(path)),
            _ => (options, None),
        };
        spec.program = path.or(file).map(Program::at);
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if kind.has_k() && key == "k" {
                let k = value.parse().ok().filter(|k| *k >= 1);
                spec.k = k.ok_or(format!("model {name}: k={value} is not a number from 1 on"))?;
                continue;
            }
            let (choices, found) = match key {
                "empty" if kind.is_container() => {
                    let choices = empty_choices(kind);
                    let found = EMPTY.iter().find(|(n, _)| *n == value && choices.contains(n));
                    (choices, found.map(|(_, empty)| spec.empty = *empty))
                }
                "size" if kind.is_container() => {
                    let found = SIZE.iter().find(|(n, _)| *n == value);
                    (SIZE.map(|(n, _)| n).to_vec(), found.map(|(_, size)| spec.size = *size))
                }
                "bulk" if kind.has_bulk() => {
                    let found = BULK.iter().find(|(n, _)| *n == value);
                    (BULK.map(|(n, _)| n).to_vec(), found.map(|(_, bulk)| spec.bulk = *bulk))
                }
                "consistency" => {
                    let mut choices = CONSISTENCY.to_vec();
                    choices.retain(|(_, consistency)| kind.has_consistency(*consistency));
                    let named = choices.iter().find(|(n, _)| *n == value);
                    let found = named.map(|(_, consistency)| *consistency).or_else(|| quasi(value));
                    let found = found.filter(|consistency| kind.has_consistency(*consistency));
                    let mut choices: Vec<&str> = choices.iter().map(|(n, _)| *n).collect();
                    choices.extend(kind.has_consistency(Consistency::Quasi(1)).then_some(QUASI));
                    (choices, found.map(|consistency| spec.consistency = consistency))
                }
                _ => return Err(format!("model {name} has no option '{key}'")),
            };
            if found.is_none() {
                let choices = choices.join(", ");
                return Err(format!("model {name}: {key}={value} is not one of {choices}"));
            }
        }
        Ok(spec)
    }
}

impl TryFrom<String> for Spec {
    type Error = String;

    fn try_from(text: String) -> Result<Spec, String> {
        text.parse()
    }
}

impl From<Spec> for String {
    fn from(spec: Spec) -> String {
        spec.to_string()
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
        if self.size != default.size {
            let name = SIZE.iter().find(|(_, size)| *size == self.size).map(|(name, _)| *name);
            options.push(format!("size={}", name.expect("SIZE lists every strength")));
        }
        if let Some((name, _)) = CONSISTENCY[1..].iter().find(|(_, c)| *c == self.consistency) {
            options.push(format!("consistency={name}"));
        }
        if let Consistency::Quasi(factor) = self.consistency {
            options.push(format!("consistency={}", QUASI.replace('N', &factor.to_string())));
        }
        if self.k != default.k {
            options.push(format!("k={}", self.k));
        }
        let file = self.program.filter(|program| program.is_specification());
        if let (Some(program), None) = (self.program, file) {
            options.push(format!("{PATH}{}", program.path()));
        }
        let name = file.map_or(self.kind.name(), |file| file.path());
        let colon = if options.is_empty() { "" } else { ":" };
        write!(f, "{name}{colon}{}", options.join(","))
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
            "lifo:size=exact",
            "set",
            "set:consistency=quiescent",
            "self:consistency=sequential",
            "class:consistency=quiescent",
            "self:consistency=quasi-2",
            "serializable:consistency=unordered",
            "fifo-relaxed:k=7",
            "crate:consistency=sequential,path=/a,k=3:b",
            "/specs/Queue.tla",
            "Queue.tla:consistency=sequential",
            "lifo:k=2",
            "priority-queue:empty=lone,k=3",
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
        assert!(error("pool:size=3").contains("none, lone, upper, exact"));
    }
}
