//! Prunes the history of a stream in an online check: replaces what came before a checkpoint by one
//! `restore` that leaves the same. The contract is that of [`super::prune`].
//!
//! A checkpoint is a time at which the search has one configuration left. A `restore` takes the
//! place of what took effect by then, before the calls under way that had not. An append of unknown
//! outcome that has not taken effect stays, as it may at any later time, unless its condition on
//! the tail, which never falls, cannot hold any more. Where several configurations are left, as
//! where one of two appends without an answer must have taken effect, everything since the last
//! checkpoint stays until some answer decides.

use crate::check::search::frontier::Configuration;
use crate::check::search::journal;
use crate::check::search::journal::Cut;
use crate::check::verdict::Limits;
use crate::core::history::{Entry, History, NEVER, OperationId, Thread};
use crate::core::journal::Journal;
use crate::core::operation::{Op, Status};
use crate::model::{Call, Stream, StreamState};

/// A time before which a history can be replaced by one `restore`.
struct Checkpoint {
    /// The last event before.
    last: u64,
    left: StreamState,
    /// What was under way and has taken effect, or never will.
    over: Vec<OperationId>,
    /// When the stand-in happens, the only time of its box: before all that must come after.
    stand: u64,
}

/// By the [contract](super) of every prune.
pub fn prune(history: &History, settled: u64, limits: &Limits) -> Option<History> {
    let (mut journal, mut threads) = (Journal::default(), Vec::new());
    for id in history.ids() {
        let Entry { op, status, args, results, start, end } = history.entry(id);
        let call = Call { op, status, args, results, id, queue: None };
        let end = Some(end).filter(|_| !status.is_open());
        let known = journal.push(id.thread, call, start, end).expect("as it was in its thread");
        threads.resize(known.thread as usize + 1, id.thread);
    }
    let name = |id: OperationId| OperationId { thread: threads[id.thread as usize], ..id };
    let mut found = None;
    let followed = journal::follow(&journal, &Stream, limits, |cut| {
        if cut.last < settled {
            found = checkpoint(history, &cut, settled, name).or(found.take());
        }
    });
    let checkpoint = found.filter(|_| followed.is_ok_and(|witness| witness.is_none()))?;
    replace_before(history, &checkpoint)
}

/// The checkpoint there, if it is one.
fn checkpoint(
    history: &History,
    cut: &Cut<Call, StreamState>,
    settled: u64,
    name: impl Fn(OperationId) -> OperationId,
) -> Option<Checkpoint> {
    let way = cut.position.only_way(|one, other| covers(cut, one, other))?;
    let left = way.state;
    let (mut over, mut stand) = (Vec::new(), settled.min(cut.next));
    for (id, steps) in &cut.position.open {
        let id = name(*id);
        let operation = history.operation(id);
        let is_open = operation.end == NEVER;
        if !steps.is_disjoint(way.done) || is_open && !left.may_grow_by(history.args(id)) {
            over.push(id);
        } else if !is_open {
            stand = stand.min(operation.start);
        }
    }
    Some(Checkpoint { last: cut.last, left, over, stand: stand.checked_sub(1)? })
}

/// Whether `one` can go on in all the ways in which `other` can: nothing else differs than which
/// appends of unknown outcome may still happen, and those of `other` may in `one`, or their likes.
fn covers(
    cut: &Cut<Call, StreamState>,
    one: &Configuration<StreamState>,
    other: &Configuration<StreamState>,
) -> bool {
    if one.state != other.state {
        return false;
    }
    let (mut free, mut wanted) = (Vec::new(), Vec::new());
    for place in cut.position.open.iter().flat_map(|(_, steps)| steps.iter()) {
        let call = cut.position.frontier.operation(place);
        let (here, there) = (!one.done.contains(place), !other.done.contains(place));
        if !call.status.is_open() {
            if here != there {
                return false;
            }
        } else if one.state.may_grow_by(call.args) && here != there {
            if here { free.push(call.args) } else { wanted.push(call.args) }
        }
    }
    wanted.iter().all(|args| match free.iter().position(|other| other == args) {
        Some(at) => {
            free.swap_remove(at);
            true
        }
        None => false,
    })
}

/// `history` after `checkpoint`, and what is not over there, after a call that leaves the same.
fn replace_before(history: &History, checkpoint: &Checkpoint) -> Option<History> {
    let goes = |id: OperationId| {
        let operation = history.operation(id);
        // Of a read without an answer nothing will ever be known.
        let is_mute = operation.end == NEVER && operation.op.only_reads();
        let before = if is_mute { operation.start } else { operation.end };
        before <= checkpoint.last || checkpoint.over.contains(&id)
    };
    let gone: Vec<OperationId> = history.ids().filter(|id| goes(*id)).collect();
    let is_needed = checkpoint.left != StreamState::EMPTY;
    if gone.len() <= usize::from(is_needed) {
        return None;
    }
    let first = |thread: u32| {
        let ids = (0..history.threads[thread as usize].operations().len() as u32)
            .map(|index| OperationId { thread, index });
        ids.filter(|id| !goes(*id)).map(|id| history.operation(id).start).next()
    };
    let has_room =
        |id: &&OperationId| first(id.thread).is_none_or(|start| start > checkpoint.stand);
    let restored_on = is_needed.then(|| gone.iter().find(has_room).map(|id| id.thread as usize));
    let args = checkpoint.left.restored();
    let (start, end) = (checkpoint.stand, checkpoint.stand);
    let entry =
        Entry { op: Op::LogRestore, status: Status::Ok, start, end, args: &args, results: &[] };
    let mut rest = history.without_threads();
    for (at, thread) in history.threads.iter().enumerate() {
        let mut kept = Thread::new(thread.client);
        if restored_on == Some(Some(at)) {
            kept.push(entry).expect("the first of its thread");
        }
        for (index, operation) in thread.entries().enumerate() {
            if !goes(OperationId { thread: at as u32, index: index as u32 }) {
                kept.push(operation).expect("they follow each other as they did");
            }
        }
        rest.threads.push(kept);
    }
    if restored_on == Some(None) {
        // Every thread that did something there goes on with an append of unknown outcome.
        let mut alone = Thread::new(history.threads[gone[0].thread as usize].client);
        alone.push(entry).expect("the first of its thread");
        rest.threads.push(alone);
    }
    Some(rest)
}
