//! Prunes the history of an online check: drops operations that no future response can contradict.
//! The pruned history explains exactly the same continuations. Calls under way are not in it: they
//! are part of what is to come, which responds at a given time or later.
//!
//! - A value of a queue or deque goes, with its addition and its removal, once all that overlaps
//!   the two has responded: to take an element out of a sequence or a bag changes nothing for the
//!   others, and no future response can contradict the two or need them. Where two clients push to
//!   a deque one can, as on a stack: see [`super::prune_stack`].
//! - Of a key or a counter everything goes that came before a quiescent instant, if it is certain
//!   what was held then. One operation that leaves the same takes its place.

use crate::check::exact::deque;
use crate::check::exact::sizes::any_count;
use crate::check::search::steps::call_of;
use crate::core::history::{Entry, History, NEVER, OperationId, Thread};
use crate::core::operation::{Op, Status};
use crate::model::{Empty, Kind, Spec, added, key};
use rustc_hash::FxHashMap;

/// Quiescent instants that are tried, latest first.
const INSTANTS_MAX: usize = 16;

/// An operation that takes the place of others, in the timebox of one of them.
pub(super) struct StandIn {
    pub op: Op,
    pub args: Vec<i64>,
    pub when: When,
}

/// Where in that timebox.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum When {
    Within,
    AtItsStart,
}

impl StandIn {
    fn within(op: Op, args: Vec<i64>) -> StandIn {
        StandIn { op, args, when: When::Within }
    }
}

/// Which operations are dropped, and which are replaced. A byte for each, because most are dropped.
pub(super) struct Dropped {
    /// By thread and operation.
    dropped: Vec<Vec<bool>>,
    /// Those that become others.
    pub stand_ins: FxHashMap<OperationId, StandIn>,
}

impl Dropped {
    /// All stay as they are.
    pub fn new(history: &History) -> Dropped {
        let lengths = history.threads.iter().map(|thread| thread.operations().len());
        Dropped {
            dropped: lengths.map(|length| vec![false; length]).collect(),
            stand_ins: FxHashMap::default(),
        }
    }

    pub fn set(&mut self, id: OperationId, is_dropped: bool) {
        self.dropped[id.thread as usize][id.index as usize] = is_dropped;
    }

    pub fn is_dropped(&self, id: OperationId) -> bool {
        self.dropped[id.thread as usize][id.index as usize]
    }
}

/// By the [contract](super) of every prune; with the place that each operation left had in its
/// thread.
pub fn prune(history: &History, spec: &Spec, settled: u64) -> (History, Vec<Vec<u32>>) {
    let mut dropped = Dropped::new(history);
    match spec.kind {
        // All that was added and removed is counted.
        kind if kind.is_container() && any_count(history) => {
            before_an_instant(history, kind, history.ids().collect(), settled, &mut dropped);
        }
        Kind::Deque if !deque::is_owned(history) => {}
        Kind::Deque | Kind::PriorityQueue if spec.is_relaxed() => {
            before_an_instant(history, spec.kind, history.ids().collect(), settled, &mut dropped);
        }
        Kind::Fifo | Kind::FifoPerProducer | Kind::Pool | Kind::PriorityQueue | Kind::Deque => {
            values(history, spec, settled, &mut dropped);
        }
        Kind::Set | Kind::Map | Kind::Register | Kind::Kv => {
            let mut parts: FxHashMap<i64, Vec<OperationId>> = FxHashMap::default();
            for id in history.ids() {
                let key = match spec.kind {
                    Kind::Kv => history.args(id)[0],
                    _ => key(history.operation(id).op, history.args(id)),
                };
                parts.entry(key).or_default().push(id);
            }
            for part in parts.into_values() {
                before_an_instant(history, spec.kind, part, settled, &mut dropped);
            }
        }
        Kind::Counter | Kind::Log | Kind::RangeSet | Kind::Lifo | Kind::FifoRelaxed => {
            before_an_instant(history, spec.kind, history.ids().collect(), settled, &mut dropped);
        }
        Kind::Snapshot | Kind::Serializable | Kind::Itself | Kind::Class | Kind::Own => {}
    }
    kept(history, &dropped)
}

/// What remains, and the place that each operation had in its thread.
pub(super) fn kept(history: &History, dropped: &Dropped) -> (History, Vec<Vec<u32>>) {
    let threads = history.threads.iter().map(|thread| Thread::new(thread.client)).collect();
    let mut rest = History { threads, ..history.without_threads() };
    let mut places = vec![Vec::new(); history.threads.len()];
    for id in history.ids().filter(|id| !dropped.is_dropped(*id)) {
        let entry = history.entry(id);
        let entry = match dropped.stand_ins.get(&id) {
            Some(StandIn { op, args, when }) => {
                let end = if *when == When::AtItsStart { entry.start } else { entry.end };
                Entry { op: *op, args, results: &[], status: Status::Ok, end, ..entry }
            }
            None => entry,
        };
        let thread = id.thread as usize;
        rest.threads[thread].push(entry).expect("they follow each other as they did");
        places[thread].push(id.index);
    }
    (rest, places)
}

/// The values that an operation moves.
fn moved(history: &History, id: OperationId) -> &[i64] {
    let operation = history.operation(id);
    if operation.op.removes() {
        return history.results(id);
    }
    added(operation.op, operation.status, history.args(id), history.results(id))
}

/// Values that came and went, and answers that moved none.
fn values(history: &History, spec: &Spec, settled: u64, dropped: &mut Dropped) {
    let over = over(history, spec, settled);
    let mut ends: FxHashMap<i64, (u8, u8)> = FxHashMap::default();
    for id in history.ids().filter(|id| history.operation(*id).end < over) {
        for value in moved(history, id) {
            let (adds, takes) = ends.entry(*value).or_default();
            let count = if history.operation(id).op.removes() { takes } else { adds };
            *count = count.saturating_add(1);
        }
    }
    ends.retain(|_, count| *count == (1, 1));
    // A bulk operation goes with all its values, or none of them do. Nor does a value that is
    // added once more.
    loop {
        let before = ends.len();
        for id in history.ids() {
            let moved = moved(history, id);
            let stays = history.operation(id).end >= over
                || moved.iter().any(|value| !ends.contains_key(value));
            if stays {
                for value in moved {
                    ends.remove(value);
                }
            }
        }
        if ends.len() == before {
            break;
        }
    }
    let goes = |id: &OperationId| {
        history.operation(*id).end < over
            && moved(history, *id).iter().all(|value| ends.contains_key(value))
    };
    history.ids().filter(goes).for_each(|id| dropped.set(id, true));
}

/// What ended before this overlaps nothing that ends at `settled` or later; nor an "empty" answer
/// that stays, where what overlaps one excuses it.
pub(super) fn over(history: &History, spec: &Spec, settled: u64) -> u64 {
    let mut over = settled;
    let closed = || {
        let all = history.threads.iter().flat_map(|thread| thread.operations());
        all.filter(|operation| operation.end != NEVER)
    };
    for operation in closed().filter(|operation| operation.end >= settled) {
        over = over.min(operation.start);
    }
    let excusable = matches!(spec.empty, Empty::Lone | Empty::Count);
    loop {
        let empties = closed().filter(|o| excusable && o.status == Status::Empty && o.end >= over);
        match empties.map(|operation| operation.start).min() {
            Some(start) if start < over => over = start,
            _ => return over,
        }
    }
}

/// Decides the fate of the operations of `part` before the latest quiescent instant at which it is
/// certain what they had left.
fn before_an_instant(
    history: &History,
    kind: Kind,
    mut part: Vec<OperationId>,
    settled: u64,
    dropped: &mut Dropped,
) {
    part.sort_unstable_by_key(|id| (history.operation(*id).start, *id));
    // Of these only that they are empty is certain.
    let must_be_empty = kind.is_container();
    let (mut instants, mut end, mut inside) = (Vec::new(), 0, 0);
    for (at, id) in part.iter().enumerate() {
        let operation = history.operation(*id);
        if at > 0 && end < operation.start.min(settled) && inside == 0 {
            instants.push(at);
        }
        end = end.max(operation.end);
        if must_be_empty {
            let moved = moved(history, *id).len() as i64;
            inside += if operation.op.removes() { -moved } else { moved };
        }
    }
    if end < settled && inside == 0 {
        instants.push(part.len());
    }
    for at in instants.into_iter().rev().take(INSTANTS_MAX) {
        if let Some(kept) = replacements(history, kind, &part[..at]) {
            part[..at].iter().for_each(|id| dropped.set(*id, true));
            for (id, stand) in kept {
                dropped.set(id, false);
                dropped.stand_ins.extend(stand.map(|stand| (id, stand)));
            }
            return;
        }
    }
}

/// Operations that leave what `part` did, as they are or as another; none if that is not certain.
fn replacements(
    history: &History,
    kind: Kind,
    part: &[OperationId],
) -> Option<Vec<(OperationId, Option<StandIn>)>> {
    let done = |id: &OperationId| history.operation(*id).status == Status::Ok;
    let of = |op: Op| part.iter().filter(move |id| history.operation(**id).op == op);
    let unsaid = |id: &OperationId| history.operation(*id).status == Status::Done;
    match kind {
        Kind::RangeSet if part.iter().any(unsaid) => None,
        Kind::Set if part.iter().any(unsaid) => cell(history, kind, part),
        Kind::Set | Kind::RangeSet => {
            // What changes a key alternates.
            let mut present: FxHashMap<i64, (i32, OperationId)> = FxHashMap::default();
            for id in of(Op::SetInsert).filter(|id| done(id)) {
                let (count, last) = present.entry(history.args(*id)[0]).or_insert((0, *id));
                (*count, *last) = (*count + 1, *id);
            }
            for id in of(Op::SetRemove).filter(|id| done(id)) {
                present.get_mut(&history.args(*id)[0])?.0 -= 1;
            }
            let inserts = present.into_values().filter(|(count, _)| *count > 0);
            Some(inserts.map(|(_, id)| (id, None)).collect())
        }
        Kind::Counter => {
            let sum = of(Op::CounterAdd).map(|id| history.args(*id)[0]);
            let args = vec![sum.fold(0i64, i64::wrapping_add)];
            Some(vec![(*part.last()?, Some(StandIn::within(Op::CounterAdd, args)))])
        }
        Kind::Log if part.iter().any(|id| history.operation(*id).op.is_of_streams()) => None,
        Kind::Log => Some(of(Op::LogAppend).filter(|id| done(id)).map(|id| (*id, None)).collect()),
        kind if kind.is_container() => Some(Vec::new()),
        _ => cell(history, kind, part),
    }
}

/// The operation after which, alone, the cell of a key is as it is after `part`.
fn cell(
    history: &History,
    kind: Kind,
    part: &[OperationId],
) -> Option<Vec<(OperationId, Option<StandIn>)>> {
    let changes = |id: &OperationId| !call_of(history, *id).is_read();
    let end = |id: &OperationId| history.operation(*id).end;
    let mut changing: Vec<OperationId> = part.iter().copied().filter(changes).collect();
    changing.sort_unstable_by_key(end);
    let Some(last) = changing.last() else { return Some(Vec::new()) };
    let before = changing.iter().rev().nth(1);
    let certain = |id: &&OperationId| {
        let other = if *id == last { before } else { Some(last) };
        other.is_none_or(|other| end(other) < history.operation(**id).start)
            && held_after(history, **id).is_some()
    };
    let id = part.iter().rev().find(certain)?;
    match (held_after(history, *id)?, kind) {
        (Some(held), Kind::Register) => {
            Some(vec![(*id, Some(StandIn::within(Op::RegisterWrite, held.to_vec())))])
        }
        (None, Kind::Register) => None,
        (Some(held), _) => {
            let op = match kind {
                Kind::Kv => Op::KvPut,
                Kind::Set => Op::SetInsert,
                _ => Op::MapPut,
            };
            let args = history.args(*id)[..1].iter().chain(held).copied().collect();
            Some(vec![(*id, Some(StandIn::within(op, args)))])
        }
        (None, _) => Some(Vec::new()),
    }
}

/// What a cell holds right after an operation, if that is certain; the inner none: nothing.
fn held_after(history: &History, id: OperationId) -> Option<Option<&[i64]>> {
    let Entry { op, status, args, results, .. } = history.entry(id);
    let (ok, last) = (status == Status::Ok, &args[args.len().saturating_sub(1)..]);
    match op {
        Op::MapPut | Op::RegisterWrite => Some(Some(last)),
        Op::MapInsertIfAbsent | Op::MapCompareExchange | Op::RegisterCompareExchange if ok => {
            Some(Some(last))
        }
        Op::MapInsertIfAbsent | Op::MapCompareExchange | Op::RegisterCompareExchange => {
            (!results.is_empty()).then_some(Some(results))
        }
        Op::SetInsert => Some(Some(&[])),
        Op::SetContains if ok => Some(Some(&[])),
        Op::MapRemove | Op::SetRemove | Op::SetContains => Some(None),
        Op::MapGet | Op::RegisterRead if ok => Some(Some(results)),
        Op::MapGet | Op::RegisterRead => Some(None),
        Op::KvPut => Some(Some(&args[1..])),
        Op::KvGet if ok => Some(Some(results)),
        _ => None,
    }
}
