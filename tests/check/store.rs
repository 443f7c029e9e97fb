//! Enumerates every order of the snapshots and commits of a few transactions that respects the
//! timeboxes (snapshot isolation), or of whole transactions (serializability). Independent of the
//! checker.

use std::collections::BTreeMap;

use interlap::core::history::{History, NEVER, OperationId};
use interlap::core::operation::{Op, Status};
use interlap::model::{Consistency, Kind, Spec};

/// What one transaction did.
#[derive(Default)]
struct Transaction {
    /// Timebox of the snapshot.
    snapshot: (u64, u64),
    /// Timebox of the commit, if one was called and not refused; no end if it is open.
    commit: Option<(u64, u64)>,
    /// Its timestamps, where it has any.
    read_at: Option<i64>,
    commit_at: Option<i64>,
    /// Reads and writes in order, with key and value.
    steps: Vec<Step>,
    /// It may still make calls.
    under_way: bool,
}

enum Step {
    Found(i64, Option<i64>),
    Left(i64, Option<i64>),
}

fn stamp(history: &History, id: OperationId) -> Option<i64> {
    history.args(id).iter().chain(history.results(id)).next().copied()
}

fn transactions(history: &History) -> Vec<Transaction> {
    let mut all: Vec<Transaction> = Vec::new();
    for id in history.ids() {
        let (operation, args) = (history.operation(id), history.args(id));
        if operation.op == Op::StoreBegin {
            let snapshot = (operation.start, operation.end);
            let read_at = stamp(history, id);
            all.push(Transaction { snapshot, read_at, ..Transaction::default() });
            continue;
        }
        let first =
            history.operation(interlap::core::history::OperationId { index: id.index - 1, ..id });
        let this = all.last_mut().expect("begun");
        if first.op == Op::StoreBegin && !matches!(operation.op, Op::StoreCommit | Op::StoreAbort) {
            this.snapshot.1 = operation.end;
        }
        match (operation.op, operation.status) {
            (Op::StoreCommit, status) if status == Status::Ok || status.is_open() => {
                this.commit = Some((operation.start, operation.end));
                this.commit_at = stamp(history, id);
            }
            (_, status) if status.is_open() => {}
            (Op::StoreRead, _) => {
                this.steps.push(Step::Found(args[0], history.results(id).first().copied()));
            }
            (Op::StoreRemove, Status::Empty) => this.steps.push(Step::Found(args[0], None)),
            (Op::StoreRemove, Status::Ok) => this.steps.push(Step::Left(args[0], None)),
            (Op::StoreWrite, Status::Ok) => this.steps.push(Step::Left(args[0], Some(args[1]))),
            _ => {}
        }
    }
    all
}

/// Marks the transactions that may still make calls.
fn mark(history: &History, all: &mut [Transaction]) {
    let mut all = all.iter_mut();
    for thread in &history.threads {
        let begins = thread.operations().iter().filter(|o| o.op == Op::StoreBegin).count();
        let (Some(last), Some(own)) =
            (thread.operations().last(), begins.checked_sub(1).and_then(|at| all.nth(at)))
        else {
            continue;
        };
        let is_over = matches!(last.op, Op::StoreCommit | Op::StoreAbort);
        own.under_way = !is_over && last.status != Status::Unknown;
    }
}

/// Whether some continuation of serializable transactions is explained: those under way may still
/// write anything, and commit.
pub fn has_consistent_continuation(history: &History) -> bool {
    let mut all = transactions(history);
    mark(history, &mut all);
    let boxed = |(at, this): (usize, &Transaction)| {
        let past = this.keys().is_empty() && this.read_at.is_some() && !this.under_way;
        let start = if past { 0 } else { this.snapshot.0 };
        let end = if this.under_way { Some(NEVER) } else { this.commit.map(|(_, end)| end) };
        end.map(|end| ((start, end), at))
    };
    let points: Vec<_> = all.iter().enumerate().filter_map(boxed).collect();
    let left: Vec<usize> = (0..points.len()).collect();
    try_continuations(&all, &points, &left, &[])
}

fn try_continuations(
    all: &[Transaction],
    points: &[((u64, u64), usize)],
    left: &[usize],
    done: &[usize],
) -> bool {
    let first_end = left.iter().map(|at| points[*at].0.1).min().unwrap_or(NEVER);
    if first_end == NEVER {
        return true;
    }
    left.iter().any(|&at| {
        let ((start, _), number) = points[at];
        let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
        let order = [done, &[number]].concat();
        start <= first_end
            && is_possible(all, &order)
            && try_continuations(all, points, &rest, &order)
    })
}

/// Whether transactions may have happened in this order.
fn is_possible(all: &[Transaction], order: &[usize]) -> bool {
    let (mut known, mut open) = (BTreeMap::<i64, Option<i64>>::new(), false);
    for (at, number) in order.iter().enumerate() {
        let this = &all[*number];
        let stamped = order[..at].iter().filter(|earlier| !all[**earlier].under_way);
        if !this.under_way && !stamped.into_iter().all(|earlier| in_order(&all[*earlier], this)) {
            return false;
        }
        for step in &this.steps {
            match *step {
                Step::Left(key, value) => drop(known.insert(key, value)),
                Step::Found(key, value) => {
                    let found = *known.entry(key).or_insert(if open { value } else { None });
                    if found != value {
                        return false;
                    }
                }
            }
        }
        if this.under_way {
            (known, open) = (BTreeMap::new(), true);
        }
    }
    true
}

impl Transaction {
    /// The store after the transaction; none if it could not have read what it did.
    fn run(&self, store: &BTreeMap<i64, i64>) -> Option<BTreeMap<i64, i64>> {
        let mut store = store.clone();
        for step in &self.steps {
            match step {
                Step::Found(key, value) if store.get(key).copied() != *value => return None,
                Step::Found(..) => {}
                Step::Left(key, Some(value)) => drop(store.insert(*key, *value)),
                Step::Left(key, None) => drop(store.remove(key)),
            }
        }
        Some(store)
    }

    fn keys(&self) -> Vec<i64> {
        let left = |step: &Step| match step {
            Step::Left(key, _) => Some(*key),
            Step::Found(..) => None,
        };
        self.steps.iter().filter_map(left).collect()
    }
}

/// Whether some order explains the transactions.
pub fn explained(history: &History, spec: &Spec) -> bool {
    let (kind, all) = (spec.kind, transactions(history));
    let at_any_time = spec.consistency == Consistency::Unordered;
    // A point: its timebox, the transaction, whether it is the commit.
    let mut points: Vec<((u64, u64), usize, bool)> = Vec::new();
    for (at, transaction) in all.iter().enumerate() {
        match (kind, transaction.commit) {
            (Kind::Serializable, Some((_, end))) if at_any_time => {
                points.push(((0, end.max(NEVER - 1)), at, true));
            }
            (Kind::Serializable, Some((_, end))) => {
                let past = transaction.keys().is_empty() && transaction.read_at.is_some();
                let start = if past { 0 } else { transaction.snapshot.0 };
                points.push(((start, end), at, true));
            }
            (Kind::Serializable, None) => {}
            _ => {
                points.push((transaction.snapshot, at, false));
                points.extend(transaction.commit.map(|commit| (commit, at, true)));
            }
        }
    }
    let left: Vec<usize> = (0..points.len()).collect();
    orders(&all, &points, &left, &[], &mut vec![None; all.len()], kind)
}

/// The values that a transaction with the timestamp `read_at` reads after these commits, in order.
fn view(all: &[Transaction], done: &[usize], read_at: Option<i64>) -> BTreeMap<i64, i64> {
    let mut store = BTreeMap::new();
    let seen = |at: &&usize| match (all[**at].commit_at, read_at) {
        (Some(commit), Some(read)) => commit <= read,
        _ => true,
    };
    for at in done.iter().filter(seen) {
        for step in &all[*at].steps {
            match step {
                Step::Left(key, Some(value)) => drop(store.insert(*key, *value)),
                Step::Left(key, None) => drop(store.remove(key)),
                Step::Found(..) => {}
            }
        }
    }
    store
}

/// Whether `later` may follow `earlier` in the order of timestamps.
fn in_order(earlier: &Transaction, later: &Transaction) -> bool {
    let stamp = |this: &Transaction| match this.keys().is_empty() {
        true => (this.read_at, true),
        false => (this.commit_at, false),
    };
    match (stamp(earlier), stamp(later)) {
        // A read sees commits with its own timestamp.
        ((Some(read), true), (Some(commit), false)) => read < commit,
        ((Some(_), true), (Some(_), true)) => true,
        ((Some(one), _), (Some(other), _)) => one <= other,
        _ => true,
    }
}

/// Whether `this` writes a key that was committed after its snapshot, which has seen `seen`
/// commits, or later than its read timestamp.
fn clashes(all: &[Transaction], this: &Transaction, done: &[usize], seen: usize) -> bool {
    let own = this.keys();
    let meets = |at: &usize, key: &i64| all[*at].keys().contains(key);
    own.iter().any(|key| {
        let last = done.iter().rev().find(|at| meets(at, key));
        let late = last.and_then(|at| all[*at].commit_at).zip(this.read_at);
        let late = late.is_some_and(|(commit, read)| commit > read);
        late || done[seen..].iter().any(|at| meets(at, key))
    })
}

/// `done`: the commits, in order; `taken`: how many of them each transaction's snapshot has seen.
fn orders(
    all: &[Transaction],
    points: &[((u64, u64), usize, bool)],
    left: &[usize],
    done: &[usize],
    taken: &mut Vec<Option<usize>>,
    kind: Kind,
) -> bool {
    let first_end = left.iter().map(|at| points[*at].0.1).min().unwrap_or(NEVER);
    if first_end == NEVER {
        return true;
    }
    for &at in left {
        let ((start, _), number, commits) = points[at];
        if start > first_end {
            continue;
        }
        let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
        let this = &all[number];
        if !commits {
            if this.run(&view(all, done, this.read_at)).is_some() {
                taken[number] = Some(done.len());
                if orders(all, points, &rest, done, taken, kind) {
                    return true;
                }
                taken[number] = None;
            }
            continue;
        }
        let possible = match kind {
            Kind::Serializable => {
                this.run(&view(all, done, None)).is_some()
                    && done.iter().all(|earlier| in_order(&all[*earlier], this))
            }
            _ => taken[number].is_some_and(|seen| !clashes(all, this, done, seen)),
        };
        let done = [done, &[number]].concat();
        if possible && orders(all, points, &rest, &done, taken, kind) {
            return true;
        }
    }
    false
}
