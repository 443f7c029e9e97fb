//! A plain enumeration for transactions: every order of their snapshots and commits that respects
//! the timeboxes, by the definition of snapshot isolation; or of whole transactions. Written apart
//! from the checker. For small histories.

use std::collections::BTreeMap;

use interlap::history::{History, NEVER};
use interlap::model::Kind;
use interlap::operation::{Op, Status};

/// What one transaction did.
#[derive(Default)]
struct Transaction {
    /// Box of the snapshot.
    snapshot: (u64, u64),
    /// Box of the commit, where one was called and not refused; open: no end.
    commit: Option<(u64, u64)>,
    /// In order: what was found, or written, under a key.
    steps: Vec<Step>,
}

enum Step {
    Found(i64, Option<i64>),
    Left(i64, Option<i64>),
}

fn transactions(history: &History) -> Vec<Transaction> {
    let mut all: Vec<Transaction> = Vec::new();
    for id in history.ids() {
        let (operation, args) = (history.operation(id), history.args(id));
        if operation.op == Op::StoreBegin {
            let snapshot = (operation.start, operation.end);
            all.push(Transaction { snapshot, ..Transaction::default() });
            continue;
        }
        let first = history.operation(interlap::history::OperationId { index: id.index - 1, ..id });
        let this = all.last_mut().expect("begun");
        if first.op == Op::StoreBegin && !matches!(operation.op, Op::StoreCommit | Op::StoreAbort) {
            this.snapshot.1 = operation.end;
        }
        match (operation.op, operation.status) {
            (Op::StoreCommit, status) if status == Status::Ok || status.is_open() => {
                this.commit = Some((operation.start, operation.end));
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

impl Transaction {
    /// What it leaves of a store it found so, if it could have found what it did.
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
pub fn explained(history: &History, kind: Kind) -> bool {
    let all = transactions(history);
    // A point: its box, the transaction, whether it commits.
    let mut points: Vec<((u64, u64), usize, bool)> = Vec::new();
    for (at, transaction) in all.iter().enumerate() {
        match (kind, transaction.commit) {
            (Kind::Serializable, Some((_, end))) => {
                points.push(((transaction.snapshot.0, end), at, true));
            }
            (Kind::Serializable, None) => {}
            _ => {
                points.push((transaction.snapshot, at, false));
                points.extend(transaction.commit.map(|commit| (commit, at, true)));
            }
        }
    }
    let left: Vec<usize> = (0..points.len()).collect();
    let stores = vec![(usize::MAX, BTreeMap::new())];
    orders(&all, &points, &left, &stores, &mut vec![None; all.len()], kind)
}

/// `stores`: what was committed after each commit, and by whom; `taken`: how many commits each
/// transaction's snapshot has seen.
fn orders(
    all: &[Transaction],
    points: &[((u64, u64), usize, bool)],
    left: &[usize],
    stores: &[(usize, BTreeMap<i64, i64>)],
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
        let current = &stores[stores.len() - 1].1;
        if !commits {
            if this.run(current).is_some() {
                taken[number] = Some(stores.len());
                if orders(all, points, &rest, stores, taken, kind) {
                    return true;
                }
                taken[number] = None;
            }
            continue;
        }
        let after = if kind == Kind::Serializable {
            this.run(current)
        } else {
            let Some(seen) = taken[number] else { continue };
            let own = this.keys();
            let clash = |(by, _): &(usize, BTreeMap<i64, i64>)| {
                all[*by].keys().iter().any(|key| own.contains(key))
            };
            if stores[seen..].iter().any(clash) {
                continue;
            }
            let mut store = current.clone();
            for step in &this.steps {
                match step {
                    Step::Left(key, Some(value)) => drop(store.insert(*key, *value)),
                    Step::Left(key, None) => drop(store.remove(key)),
                    Step::Found(..) => {}
                }
            }
            Some(store)
        };
        let Some(after) = after else { continue };
        let mut stores = stores.to_vec();
        stores.push((number, after));
        if orders(all, points, &rest, &stores, taken, kind) {
            return true;
        }
    }
    false
}
