//! Decides whether some order of a history's operations, respecting their timeboxes, explains every
//! answer under a model. History and model come in, a [`Verdict`] goes out. Knows nothing of
//! traces, targets, reports or the command line.
//!
//! - `apart`: The judgement of independent keys at once.
//! - `appends`: Why a string cannot be what a get found.
//! - `cells`: The map and register checker: the general search on the calls of each key, which is
//!   one cell.
//! - `counter`: The counter checker.
//! - `cover`: When a structure was surely not empty.
//! - `cut`: Fewer operations that no order explains either.
//! - `deque`: The work-stealing deque checker.
//! - `events`: A history in the order of time.
//! - `evidence`: Why a set's answers cannot be explained: the failed operation comes in, a few
//!   operations on its key that contradict each other go out.
//! - `fifo`: The checker of one queue, or of a pool, which is one without order.
//! - `forget`: What a check that goes along with a run need not hold any longer.
//! - `frontier`: The set of all ways in which a history can have gone so far.
//! - `general`: The check of a user's own model: the general search over a journal of its
//!   operations.
//! - `hash`: A fast hash for keys that a checker makes itself (values, bit masks, small states).
//! - `keyed`: Histories of keys, each judged for itself: map, register and kv.
//! - `keys`: The keys of a set in order.
//! - `least`: Which of several lines has the earliest stamp due.
//! - `leave`: Where the beginning of a history can be forgotten, for a check that goes along with a
//!   run and never sees the calls rest.
//! - `lifo`: The stack checker.
//! - `lines`: A queue that keeps the order of each producer, of values that are added once: a
//!   sequential object for the general search whose state is two numbers for each producer, however
//!   much the queue holds.
//! - `log`: The log checker.
//! - `lone`: The "empty" answers that overlap no other operation that takes out.
//! - `merged`: Operations of all threads one by one, in the order in which they were called or
//!   returned.
//! - `online`: Checking while it happens.
//! - `order`: One order that explains a history.
//! - `partial/`: How far a history can be explained.
//! - `per_producer`: The checker of a queue that keeps the order of each producer.
//! - `priority`: The priority queue checker.
//! - `ranges`: The checker of sets that also count, rank, select and list their keys.
//! - `ranks`: Where the calls and returns that move each value stand among all events.
//! - `recorded`: What a check of a log that goes along with a run need not hold any longer.
//! - `relaxed`: What must hold of a queue that hands out one of its `k` oldest values.
//! - `removals`: When each value was taken out.
//! - `runs`: The order of values within one bulk result.
//! - `search`: The general search: any model, any history, in time exponential in the number of
//!   operations that overlap.
//! - `segments`: Two trees over a line of segments.
//! - `sequential`: The check of one thread alone.
//! - `set`: The set checker: insert, remove and contains of keys that may repeat.
//! - `sift`: Some of a slice's items.
//! - `slots`: Which of many slots in a row are taken.
//! - `small`: Lists and maps that take no memory of their own while they are short.
//! - `stacked`: What a check of a stack that goes along with a run need not hold any longer.
//! - `stands`: A history that goes on from where it can be left, for a check that goes along with a
//!   run and never sees the calls rest.
//! - `steps`: The instants of an operation.
//! - `stream`: What a stream's operations leave behind, for a check that goes along with a run.
//! - `strings`: Strings, as far as anyone finds out about them.
//! - `tally`: The "count" promise of an empty answer: per producer, at some instant of the call, no
//!   more enqueues had returned than successful dequeues had been called.
//! - `transactions/`: The checker of transactions under snapshot isolation, and of such as must be
//!   serializable.
//! - `values`: Small numbers for the values that a history adds to a queue, stack or deque.
//! - `witness`: Words for operations.

mod apart;
mod appends;
mod cells;
mod counter;
mod cover;
mod cut;
mod deque;
mod events;
mod evidence;
mod fifo;
mod forget;
mod frontier;
mod general;
mod hash;
mod keyed;
mod keys;
mod least;
mod leave;
mod lifo;
mod lines;
mod log;
mod lone;
mod merged;
mod online;
mod order;
mod partial;
mod per_producer;
mod priority;
mod ranges;
mod ranks;
mod recorded;
mod relaxed;
mod removals;
mod runs;
mod search;
mod segments;
mod sequential;
mod set;
mod sift;
mod slots;
mod small;
mod stacked;
mod stands;
mod steps;
mod stream;
mod strings;
mod tally;
mod transactions;
mod values;
mod witness;

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::core::history::{History, OperationId, Thread};
use crate::core::journal::Journal;
use crate::core::operation::Op;
use crate::model::{Bulk, Kind, Model, Spec};
use removals::Broken;
use values::{AddedTwice, Values};

pub use events::{Event, Events, Overlap, overlap};
pub use online::{Found, Online};
pub use order::{Order, order};
pub use partial::{Effect, Partial, Partials, partials};
pub use partial::{Node, Outcome, Story, StoryStep, Try, story};
pub use sequential::sequential;

/// The answer of a check. Never a bool: a check that gave up has not found the history good.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Some order explains every answer.
    Consistent,
    /// No order does.
    Violation(Witness),
    /// Not decided, and why.
    Inconclusive(String),
}

/// The few operations that cannot be explained together, and the rule they break.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// Stable short name of the rule, part of a finding's signature: "fifo-order", "lost", ...
    pub rule: &'static str,
    /// One or two sentences that name the operations' values and why no order explains them.
    pub explanation: String,
    /// The operations, in the order in which the explanation needs them.
    pub operations: Vec<OperationId>,
}

/// What a check may spend. A check that reaches a limit is inconclusive.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Configurations the general search may hold at once.
    pub configurations_max: usize,
    /// Configurations the general search may visit in all; those of large states count more.
    pub steps_max: u64,
    /// Bytes that the general search may take, as far as it can tell (see
    /// [`Model::weight`](crate::model::Model::weight)).
    pub memory_max: usize,
    /// Threads that may judge independent parts of a history at once: of a user's model, and the
    /// keys of a map or kv, where the history is long.
    pub jobs: usize,
    /// Set from outside to stop a check early.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            configurations_max: 1 << 20,
            steps_max: 50_000_000,
            memory_max: 2 << 30,
            jobs: 1,
            cancelled: None,
        }
    }
}

/// Operations in one history: each has two events, numbered by 32 bits.
const OPERATIONS_MAX: usize = 1 << 31;

/// What can say whether it explains a history of type `H`: a [`Spec`] by its own checker, a user's
/// [`Model`] by the general search.
pub trait Explains<H: ?Sized> {
    /// The verdict on `history`. Use [`check`], which reads better.
    fn verdict(&self, history: &H, limits: &Limits) -> Verdict;
}

impl Explains<History> for Spec {
    fn verdict(&self, history: &History, limits: &Limits) -> Verdict {
        by_name(history, self, limits)
    }
}

impl<O: Clone + Debug + Sync, M: Model<O> + Sync> Explains<Journal<O>> for M {
    fn verdict(&self, journal: &Journal<O>, limits: &Limits) -> Verdict {
        general::check(journal, self, limits)
    }
}

/// Decides whether `model` explains `history`: a bundled model, named by a [`Spec`], a [`History`];
/// a [`Model`] of the user's a [`Journal`] of its operations.
pub fn check<H: ?Sized, E: Explains<H>>(history: &H, model: &E, limits: &Limits) -> Verdict {
    model.verdict(history, limits)
}

fn by_name(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    if let Some(refusal) = refuse(history, spec) {
        return Verdict::Inconclusive(refusal);
    }
    match spec.kind {
        Kind::Set => set::check(history),
        Kind::Map | Kind::Register | Kind::Kv => keyed::check(history, spec, limits),
        Kind::Counter => match counter::amount(history) {
            Some(amount) => verdict(counter::judge(history, amount)),
            None => search::check(history, spec, None, limits),
        },
        Kind::Log if !is_stream(history, spec) && log::is_exact(history) => {
            verdict(log::judge(history))
        }
        Kind::RangeSet => ranges::check(history, limits),
        Kind::Snapshot | Kind::Serializable => transactions::check(history, spec, limits),
        Kind::Log => search::check(history, spec, None, limits),
        _ => match container(history, spec, limits) {
            Verdict::Violation(witness) => {
                Verdict::Violation(search::shorter(history, spec, witness))
            }
            verdict => verdict,
        },
    }
}

fn verdict(judged: Result<(), Witness>) -> Verdict {
    judged.map_or_else(Verdict::Violation, |()| Verdict::Consistent)
}

/// Decides any history by the general search alone, for comparison; `check` resorts to it itself.
/// Of `empty=count` and `bulk=run`, which are not about orders, it sees only what they imply.
pub fn search(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    match refuse(history, spec) {
        Some(refusal) => Verdict::Inconclusive(refusal),
        None => search::check(history, spec, Values::of(history).ok().as_ref(), limits),
    }
}

/// Whether this is the history of a stream: a log of which batches are appended.
fn is_stream(history: &History, spec: &Spec) -> bool {
    let of_streams = |thread: &Thread| thread.ops().iter().any(Op::is_of_streams);
    spec.kind == Kind::Log && history.threads.iter().any(of_streams)
}

/// Why the model cannot judge this history, if so.
fn refuse(history: &History, spec: &Spec) -> Option<String> {
    if history.len() > OPERATIONS_MAX {
        return Some(format!("more than {OPERATIONS_MAX} operations: check shorter rounds"));
    }
    let mut ops = history.threads.iter().flat_map(|thread| thread.ops().iter());
    if let Some(foreign) = ops.find(|op| !spec.accepts(*op)) {
        let (model, op) = (spec.kind.name(), foreign.name());
        return Some(format!("model {model} does not explain the operation {op}"));
    }
    if is_stream(history, spec) {
        let other = |op: &Op| matches!(op, Op::LogAppend | Op::LogRead);
        let mut ops = history.threads.iter().flat_map(|thread| thread.ops().iter());
        if let Some(op) = ops.find(other) {
            let op = op.name();
            return Some(format!("a log with append_batch or read_all has no operation {op}"));
        }
    }
    None
}

/// Queues of all kinds, stack and deque: the specialised checker first, the general search for what
/// it leaves.
fn container(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    if spec.kind == Kind::PriorityQueue {
        let search = || search::check(history, spec, Values::of(history).ok().as_ref(), limits);
        return match priority::judge(history, spec) {
            Ok(judged) => settled(history, spec, judged).unwrap_or_else(search),
            Err(AddedTwice) => search(),
        };
    }
    let Ok(values) = Values::of(history) else {
        return search::check(history, spec, None, limits);
    };
    let judged = match spec.kind {
        Kind::Fifo | Kind::Pool => fifo::judge(history, spec, &values),
        Kind::FifoPerProducer => per_producer::judge(history, spec, &values),
        Kind::FifoRelaxed => relaxed::judge(history, spec, &values),
        Kind::Lifo => lifo::judge(history, spec, &values),
        _ => removals::judge(history, &values),
    };
    let search = || search::check(history, spec, Some(&values), limits);
    settled(history, spec, judged).unwrap_or_else(|| match spec.kind {
        Kind::Deque => deque::check(history, spec, &values, limits).unwrap_or_else(search),
        Kind::FifoRelaxed => match search() {
            Verdict::Inconclusive(why) => Verdict::Inconclusive(format!(
                "no value overtook {} others for certain, and no other rule is broken; whether \
                 some order explains all answers only a search can tell, and {why}",
                spec.k
            )),
            verdict => verdict,
        },
        _ => search(),
    })
}

/// What a specialised checker found, if that settles it.
fn settled(history: &History, spec: &Spec, judged: Result<(), Broken>) -> Option<Verdict> {
    match judged {
        // A call that may never have happened is no excuse where none is needed to explain the
        // rest: an explanation without it is an explanation.
        Ok(()) if exact(history, spec) => Some(Verdict::Consistent),
        Err(Broken { witness, excusable }) if !excusable || !removals::any_open(history) => {
            Some(Verdict::Violation(witness))
        }
        _ => None,
    }
}

/// Whether the specialised checker's rules are sufficient as well as necessary.
fn exact(history: &History, spec: &Spec) -> bool {
    match spec.kind {
        Kind::Lifo | Kind::PriorityQueue => true,
        Kind::FifoPerProducer => spec.bulk != Bulk::Atomic || !removals::any_bulk(history),
        Kind::Fifo | Kind::Pool => !removals::any_bulk(history),
        _ => false,
    }
}
