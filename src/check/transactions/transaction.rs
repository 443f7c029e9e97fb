//! Makes transactions out of operations: what each read, changed and came to, or why the operations
//! make none.

use std::collections::BTreeMap;

use crate::check::undecided::Undecided;
use crate::core::history::{History, NEVER, Operation, OperationId};
use crate::core::operation::{Op, Status};

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The box of its commit.
    Committed { start: u64, end: u64 },
    /// Its commit has no answer, and was called then.
    Unknown { start: u64 },
    /// Or it never came to its end.
    Aborted,
    /// It may go on: see [`so_far`].
    UnderWay,
}

/// What one transaction did.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The begin, then the rest in the order of its thread.
    pub operations: Vec<OperationId>,
    /// Start of the begin's box.
    pub start: u64,
    /// End of the first answered read, write or remove; of the begin's box if there is none.
    pub snapshot_end: u64,
    /// What it found under keys that it had not changed before: a value, or nothing. One answer
    /// for each key.
    pub reads: BTreeMap<i64, Option<i64>>,
    /// Its last change of each key: a value, or nothing.
    pub writes: BTreeMap<i64, Option<i64>>,
    /// Every value it wrote, with the key.
    pub written: Vec<(i64, i64)>,
    /// A read or remove that contradicts what the transaction itself did or saw before: the two.
    pub torn: Option<(OperationId, OperationId)>,
    pub outcome: Outcome,
    /// Its read timestamp and its commit timestamp, where they are known: arguments or answers of
    /// its begin and its commit.
    pub read_at: Option<i64>,
    pub commit_at: Option<i64>,
}

/// Which operations make a transaction, and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub begin: OperationId,
    /// How many operations of its thread it has, with its begin.
    pub count: u32,
    pub outcome: Outcome,
}

impl Extent {
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = OperationId> + use<> {
        let OperationId { thread, index } = self.begin;
        (index..index + self.count).map(move |index| OperationId { thread, index })
    }
}

/// Where all transactions are, thread by thread.
pub fn extents(history: &History) -> Result<Vec<Extent>, Undecided> {
    let mut extents: Vec<Extent> = Vec::new();
    let mut running = false;
    let mut thread = None;
    for id in history.ids() {
        running &= thread == Some(id.thread);
        thread = Some(id.thread);
        let Operation { op, status, start, end, .. } = *history.operation(id);
        if op == Op::StoreBegin {
            running = true;
            extents.push(Extent { begin: id, count: 0, outcome: Outcome::Aborted });
        }
        if !running {
            let client = history.threads[id.thread as usize].client;
            return Err(Undecided::OutsideTransaction { client, op, number: id.index });
        }
        let extent = extents.last_mut().expect("one is running");
        extent.count += 1;
        running = !matches!(op, Op::StoreCommit | Op::StoreAbort);
        extent.outcome = match (op, status) {
            (Op::StoreCommit, Status::Ok) => Outcome::Committed { start, end },
            (Op::StoreCommit, status) if status.is_open() => Outcome::Unknown { start },
            _ => Outcome::Aborted,
        };
    }
    Ok(extents)
}

/// All transactions, thread by thread.
pub fn all(history: &History) -> Result<Vec<Transaction>, Undecided> {
    Ok(extents(history)?.iter().map(|extent| Transaction::new(history, extent)).collect())
}

/// All transactions of a history that goes on: those that are neither over nor came to a call of
/// unknown outcome are under way.
pub fn so_far(history: &History) -> Result<Vec<Transaction>, Undecided> {
    let mut transactions = all(history)?;
    for transaction in &mut transactions {
        if is_under_way(history, transaction) {
            transaction.outcome = Outcome::UnderWay;
        }
    }
    Ok(transactions)
}

pub fn is_under_way(history: &History, transaction: &Transaction) -> bool {
    let last = *transaction.operations.last().expect("its begin");
    let operation = history.operation(last);
    let own = history.threads[last.thread as usize].operations().len() as u32;
    last.index + 1 == own
        && !matches!(operation.op, Op::StoreCommit | Op::StoreAbort)
        && operation.status != Status::Unknown
}

fn timestamp(history: &History, id: OperationId) -> Option<i64> {
    history.args(id).first().or(history.results(id).first()).copied()
}

impl Transaction {
    fn new(history: &History, extent: &Extent) -> Transaction {
        let begin = history.operation(extent.begin);
        let mut new = Transaction {
            operations: vec![extent.begin],
            start: begin.start,
            snapshot_end: begin.end,
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
            written: Vec::new(),
            torn: None,
            outcome: extent.outcome,
            read_at: timestamp(history, extent.begin),
            commit_at: None,
        };
        extent.operations().skip(1).for_each(|id| new.go_on(history, id));
        new
    }

    fn go_on(&mut self, history: &History, id: OperationId) {
        let operation = history.operation(id);
        let (op, status) = (operation.op, operation.status);
        let first = self.operations.len() == 1;
        self.operations.push(id);
        let args = history.args(id);
        match (op, status) {
            (Op::StoreCommit, _) => return self.commit_at = timestamp(history, id),
            (Op::StoreAbort, _) => return,
            // The transaction does not go on after it, so whether it did anything is all one.
            (_, status) if status.is_open() => {}
            (Op::StoreRead, Status::Ok) => {
                self.found(history, args[0], history.results(id).first().copied(), id);
            }
            (Op::StoreRead, _) => self.found(history, args[0], None, id),
            (Op::StoreRemove, Status::Empty) => self.found(history, args[0], None, id),
            (Op::StoreWrite, Status::Ok) => {
                self.writes.insert(args[0], Some(args[1]));
                self.written.push((args[0], args[1]));
            }
            (Op::StoreRemove, Status::Ok) => drop(self.writes.insert(args[0], None)),
            // Refused: no effect.
            _ => {}
        }
        if first {
            self.snapshot_end = if status.is_open() { NEVER } else { operation.end };
        }
    }

    /// It found `value` under `key`.
    fn found(&mut self, history: &History, key: i64, value: Option<i64>, id: OperationId) {
        let known = self.writes.get(&key).or_else(|| self.reads.get(&key)).copied();
        match known {
            Some(known) if known != value && self.torn.is_none() => {
                let on_key = |id: &&OperationId| {
                    let operation = history.operation(**id);
                    let observed =
                        operation.op == Op::StoreRead || operation.status != Status::Failed;
                    observed && history.args(**id).first() == Some(&key)
                };
                let before = self.operations.iter().rev().skip(1).find(on_key);
                self.torn = before.map(|before| (*before, id));
            }
            Some(_) => {}
            None => drop(self.reads.insert(key, value)),
        }
    }

    /// From now on it may have happened at any time.
    pub fn forget_time(&mut self) {
        let (start, end) = (0, NEVER - 1);
        (self.start, self.snapshot_end) = (start, end);
        self.outcome = match self.outcome {
            Outcome::Committed { .. } => Outcome::Committed { start, end },
            Outcome::Unknown { .. } => Outcome::Unknown { start },
            outcome => outcome,
        };
    }

    /// Whether it has a timestamp that says anything.
    pub fn is_stamped(&self) -> bool {
        self.read_at.is_some() || self.commit_at.is_some()
    }

    /// Whether it is certain or possible that it committed.
    pub fn may_commit(&self) -> bool {
        self.outcome != Outcome::Aborted
    }
}
