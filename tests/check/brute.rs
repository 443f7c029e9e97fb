//! Enumerates every order of a small history's linearization points that respects the timeboxes,
//! with every subset of the open operations. Shares only the sequential objects with the checkers.

use std::collections::{HashSet, VecDeque};

use interlap::core::history::{History, NEVER, Operation, OperationId};
use interlap::core::operation::{Family, Op, Status};
use interlap::model::{
    Bag, Bulk, Call, Cell, Counter, Dictionary, Empty, Kind, Log, Model, OrderedSet, Producers,
    Relaxed, Sequence, Size, Spec, Texts,
};

use super::random::{Record, written};
use super::{store, streams};

/// One linearization point of an operation.
struct Part<'a> {
    start: u64,
    end: u64,
    call: Call<'a>,
    /// The parts that must come before this one.
    after: u64,
    /// Of an answer that says how many values are inside: how few and how many there may be.
    count: Option<(i64, i64)>,
}

/// Whether some order explains the history. Equal values of a queue are told apart in every way: a
/// history is explained if it is with some choice of who took which. Where a call does not say what
/// it found, it is with either answer.
pub fn explained(history: &History, spec: &Spec) -> bool {
    let is_unsaid = |id: &OperationId| history.operation(*id).status == Status::Done;
    if let Some(id) = history.ids().find(is_unsaid) {
        return [Status::Ok, Status::Failed].into_iter().any(|status| {
            let mut records = records(history);
            records[id.thread as usize][id.index as usize].status = status;
            explained(&History { drained: history.drained, ..written(&records) }, spec)
        });
    }
    let is_of_queue = |op: Op| op.family() == Family::Queue;
    match history.threads.iter().any(|thread| thread.ops().iter().any(is_of_queue)) {
        true => Relabeling::new(history).any(&mut |distinct| is_explained(distinct, spec)),
        false => is_explained(history, spec),
    }
}

fn records(history: &History) -> Vec<Vec<Record>> {
    let mut records: Vec<Vec<Record>> = vec![Vec::new(); history.threads.len()];
    for id in history.ids() {
        let Operation { op, status, start, end, .. } = *history.operation(id);
        let (args, results) = (history.args(id).to_vec(), history.results(id).to_vec());
        records[id.thread as usize].push(Record { op, status, start, end, args, results });
    }
    records
}

/// All histories that become one when values are told apart no more.
struct Relabeling {
    records: Vec<Vec<Record>>,
    drained: bool,
    /// The values of additions; which of them are taken.
    added: Vec<(i64, bool)>,
    /// The values of results: thread, operation, place.
    taken: Vec<(usize, usize, usize)>,
}

impl Relabeling {
    fn new(history: &History) -> Relabeling {
        let (mut added, mut taken) = (Vec::new(), Vec::new());
        let mut records = records(history);
        for id in history.ids() {
            let at = (id.thread as usize, id.index as usize);
            let Record { op, status, args, results, .. } = &mut records[at.0][at.1];
            if matches!(op, Op::Enqueue | Op::EnqueueBulk) {
                for value in args {
                    added.push((*value, *status == Status::Full));
                    *value = added.len() as i64;
                }
            } else if removes(*op) {
                taken.extend((0..results.len()).map(|place| (at.0, at.1, place)));
            }
        }
        Relabeling { records, drained: history.drained, added, taken }
    }

    /// Whether any of them is as `wanted`.
    fn any(&mut self, wanted: &mut impl FnMut(&History) -> bool) -> bool {
        let Some((thread, at, place)) = self.taken.pop() else {
            return wanted(&History { drained: self.drained, ..written(&self.records) });
        };
        let value = self.records[thread][at].results[place];
        let mut found = false;
        for number in 0..self.added.len() {
            if found || self.added[number] != (value, false) {
                continue;
            }
            self.added[number].1 = true;
            self.records[thread][at].results[place] = number as i64 + 1;
            found = self.any(wanted);
            self.added[number].1 = false;
        }
        self.records[thread][at].results[place] = value;
        self.taken.push((thread, at, place));
        found
    }
}

fn is_explained(history: &History, spec: &Spec) -> bool {
    if spec.empty == Empty::Count && !counts_right(history) {
        return false;
    }
    if spec.bulk == Bulk::Run && !runs_right(history) {
        return false;
    }
    if spec.kind.family() == Family::Store {
        return store::explained(history, spec);
    }
    let initial = (spec.kind == Kind::Register).then_some(0);
    let parts = parts(history, spec);
    match spec.kind {
        Kind::FifoPerProducer => {
            let model = Producers { threads: history.threads.len() };
            counted_order(history, &parts, &model, &|queues| queues.iter().map(VecDeque::len).sum())
        }
        Kind::Lifo | Kind::Deque | Kind::FifoRelaxed if spec.k > 1 => {
            let model = Relaxed { k: spec.k as usize };
            counted_order(history, &parts, &model, &VecDeque::len)
        }
        Kind::Fifo | Kind::Lifo | Kind::Deque | Kind::FifoRelaxed => {
            counted_order(history, &parts, &Sequence, &VecDeque::len)
        }
        Kind::Pool | Kind::PriorityQueue => {
            counted_order(history, &parts, &Bag { k: spec.k as usize }, &Vec::len)
        }
        Kind::RangeSet => some_order(history, &parts, &OrderedSet),
        Kind::Kv => some_order(history, &parts, &Texts),
        Kind::Counter => some_order(history, &parts, &Counter),
        Kind::Log if streams::is_one(history) => some_order(history, &parts, &streams::Records),
        Kind::Log => some_order(history, &parts, &Log),
        Kind::Register => some_order(history, &parts, &Cell { initial }),
        _ => some_order(history, &parts, &Dictionary { initial }),
    }
}

fn some_order<'a, M: Model<Call<'a>>>(history: &History, parts: &[Part<'a>], model: &M) -> bool {
    counted_order(history, parts, model, &|_| 0)
}

fn counted_order<'a, M: Model<Call<'a>>>(
    history: &History,
    parts: &[Part<'a>],
    model: &M,
    count: &dyn Fn(&M::State) -> usize,
) -> bool {
    let all = (1u64 << parts.len()) - 1;
    let object = (model, count, history.drained);
    orders(parts, all, &model.init(), object, &mut HashSet::new())
}

/// An object, how many values it holds, and whether it must be empty at the end.
type Object<'m, M, S> = (&'m M, &'m dyn Fn(&S) -> usize, bool);

/// Whether the parts `left` can happen in some order from `state` on.
fn orders<'a, M: Model<Call<'a>>>(
    parts: &[Part<'a>],
    left: u64,
    state: &M::State,
    object: Object<M, M::State>,
    failed: &mut HashSet<(u64, M::State)>,
) -> bool {
    let (model, count, drained) = object;
    let among = |at: &usize| left >> at & 1 == 1;
    let first_end = (0..parts.len()).filter(among).map(|at| parts[at].end).min();
    if first_end.is_none_or(|end| end == NEVER) && (!drained || model.is_empty(state)) {
        return true;
    }
    if parts.len() > 8 && failed.contains(&(left, state.clone())) {
        return false;
    }
    let mut next = Vec::new();
    for at in (0..parts.len()).filter(among) {
        if Some(parts[at].start) > first_end || parts[at].after & left != 0 {
            continue;
        }
        match parts[at].count {
            Some((least, most)) => {
                let fits = (least..=most).contains(&(count(state) as i64));
                next.extend(fits.then(|| state.clone()));
            }
            None => model.step(state, &parts[at].call, &mut next),
        }
        for state in next.drain(..) {
            if orders(parts, left & !(1 << at), &state, object, failed) {
                return true;
            }
        }
    }
    if parts.len() > 8 {
        failed.insert((left, state.clone()));
    }
    false
}

fn parts<'a>(history: &'a History, spec: &Spec) -> Vec<Part<'a>> {
    let mut parts: Vec<Part> = Vec::new();
    for id in history.ids() {
        let operation = history.operation(id);
        let (op, status) = (operation.op, operation.status);
        let (args, results) = (history.args(id), history.results(id));
        let call = Call { op, status, args, results, id, queue: None };
        let first = parts.len();
        let mut add = |call: Call<'a>, after: u64| {
            let count = counted(history, spec, id);
            parts.push(Part { start: operation.start, end: operation.end, call, after, count });
        };
        if said_count(history, id).is_some() {
            if counted(history, spec, id).is_some() {
                add(call, 0);
            }
            continue;
        }
        if status == Status::Full || status == Status::Empty && !is_checked(history, spec, id) {
            continue;
        }
        if status == Status::Empty
            && spec.kind == Kind::FifoPerProducer
            && spec.empty != Empty::Strong
        {
            let adds = |thread: &u32| {
                history.ids().any(|id| id.thread == *thread && !added(history, id).is_empty())
            };
            for queue in (0..history.threads.len() as u32).filter(adds) {
                add(Call { queue: Some(queue), ..call }, 0);
            }
        } else if spec.bulk == Bulk::Atomic || !is_bulk(op) || status == Status::Empty {
            add(call, 0);
        } else if op == Op::EnqueueBulk {
            for (at, value) in added(history, id).iter().enumerate() {
                let args = std::slice::from_ref(value);
                // A pool has no order.
                let is_free = at == 0 || spec.kind == Kind::Pool;
                let after = if is_free { 0 } else { 1 << (first + at - 1) };
                add(Call { op: Op::Enqueue, args, results: &[], ..call }, after);
            }
        } else if status.is_open() {
            for at in 0..args[0] as usize {
                let after = if at == 0 { 0 } else { 1 << (first + at - 1) };
                add(Call { op: Op::Dequeue, args: &[], ..call }, after);
            }
        } else {
            for (at, value) in results.iter().enumerate() {
                let related = |before: &usize| {
                    spec.kind == Kind::Fifo
                        || spec.kind == Kind::FifoPerProducer
                            && producer(history, results[*before]) == producer(history, *value)
                };
                let after = (0..at).filter(related).map(|before| 1 << (first + before)).sum();
                let results = std::slice::from_ref(value);
                add(Call { op: Op::Dequeue, args: &[], results, ..call }, after);
            }
        }
    }
    parts
}

/// What an answer says of how many values are inside: at least and at most so many.
fn said_count(history: &History, id: OperationId) -> Option<(i64, i64)> {
    let (op, status) = (history.operation(id).op, history.operation(id).status);
    match op {
        Op::QueueSize | Op::StackSize | Op::DequeSize | Op::PrioritySize if !status.is_open() => {
            Some((history.results(id)[0], history.results(id)[0]))
        }
        Op::QueueEmpty | Op::StackEmpty | Op::DequeEmpty | Op::PriorityEmpty => match status {
            Status::Ok => Some((0, 0)),
            Status::Failed => Some((1, i64::MAX)),
            _ => None,
        },
        Op::DequeueBulk if status == Status::Failed => Some((0, history.args(id)[0] - 1)),
        _ => None,
    }
}

/// What is promised of it.
fn counted(history: &History, spec: &Spec, id: OperationId) -> Option<(i64, i64)> {
    let (least, most) = said_count(history, id)?;
    let moves = |other: OperationId| {
        let op = history.operation(other).op;
        removes(op)
            || matches!(op, Op::Push | Op::DequePush | Op::PriorityInsert)
            || matches!(op, Op::Enqueue | Op::EnqueueBulk)
    };
    let this = history.operation(id);
    let lone = !history
        .ids()
        .any(|other| other != id && moves(other) && overlap(this, history.operation(other)));
    match spec.size {
        Size::None => None,
        Size::Lone if !lone => None,
        Size::Upper if !lone => Some((0, most)),
        _ => Some((least, most)),
    }
}

fn is_bulk(op: Op) -> bool {
    matches!(op, Op::EnqueueBulk | Op::DequeueBulk)
}

fn removes(op: Op) -> bool {
    use Op::*;
    matches!(op, Dequeue | DequeueBulk | Pop | DequeTake | DequeSteal | PriorityPoll)
}

fn added(history: &History, id: OperationId) -> &[i64] {
    let operation = history.operation(id);
    match operation.op {
        Op::Enqueue | Op::EnqueueBulk if operation.status != Status::Full => history.args(id),
        _ => &[],
    }
}

/// The thread that adds a value; the first if there are several.
fn producer(history: &History, value: i64) -> Option<u32> {
    history.ids().find(|id| added(history, *id).contains(&value)).map(|id| id.thread)
}

fn overlap(a: &Operation, b: &Operation) -> bool {
    a.end >= b.start && b.end >= a.start
}

/// Whether the enumeration of orders must explain this "empty" answer.
fn is_checked(history: &History, spec: &Spec, id: OperationId) -> bool {
    let this = history.operation(id);
    let lone = !history.ids().any(|other| {
        let operation = history.operation(other);
        other != id && removes(operation.op) && overlap(this, operation)
    });
    match spec.empty {
        Empty::None => false,
        Empty::Lone | Empty::Count => lone,
        Empty::Identity | Empty::Strong => true,
    }
}

/// The literal meaning of `empty=count`, instant by instant.
fn counts_right(history: &History) -> bool {
    let surplus = |thread: u32, now: u64| -> i64 {
        let mut surplus = 0;
        for id in history.ids() {
            let operation = history.operation(id);
            if id.thread == thread && operation.end < now {
                surplus += added(history, id).len() as i64;
            }
            if !removes(operation.op) || operation.start > now {
                continue;
            }
            if operation.status.is_open() {
                surplus -= history.args(id).first().copied().unwrap_or(1);
            } else {
                let its = |value: &&i64| producer(history, **value) == Some(thread);
                surplus -= history.results(id).iter().filter(its).count() as i64;
            }
        }
        surplus
    };
    history.ids().all(|id| {
        let empty = history.operation(id);
        empty.status != Status::Empty
            || (0..history.threads.len() as u32)
                .all(|thread| (empty.start..=empty.end).any(|now| surplus(thread, now) <= 0))
    })
}

/// The literal meaning of `bulk=run`: values of one producer that are adjacent in a result were
/// adjacent in its queue.
fn runs_right(history: &History) -> bool {
    let threads = 0..history.threads.len() as u32;
    threads.into_iter().all(|thread| {
        let own = history.ids().filter(|id| id.thread == thread);
        let order: Vec<i64> = own.flat_map(|id| added(history, id)).copied().collect();
        history.ids().all(|id| {
            let results = history.results(id).iter();
            let places = results.filter_map(|value| order.iter().position(|v| v == value));
            let places: Vec<_> = places.collect();
            places.windows(2).all(|two| two[1] == two[0] + 1)
        })
    })
}
