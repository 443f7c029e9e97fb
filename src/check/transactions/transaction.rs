//! Makes transactions out of operations: what each read, changed and came to, or why the operations
//! make none.

use std::collections::BTreeMap;

use crate::check::undecided::Undecided;
use crate::core::history::{History, NEVER, OperationId};
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

/// All transactions, thread by thread.
pub fn all(history: &History) -> Result<Vec<Transaction>, Undecided> {
    let mut transactions: Vec<Transaction> = Vec::new();
    let mut running = false;
    let mut thread = None;
    for id in history.ids() {
        running &= thread == Some(id.thread);
        thread = Some(id.thread);
        let operation = history.operation(id);
        match operation.op {
            Op::StoreBegin => {
                running = true;
                let mut begun = begun(id, operation.start, operation.end);
                begun.read_at = timestamp(history, id);
                transactions.push(begun);
            }
            _ if !running => {
                let client = history.threads[id.thread as usize].client;
                let (op, number) = (operation.op, id.index);
                return Err(Undecided::OutsideTransaction { client, op, number });
            }
            op => {
                let transaction = transactions.last_mut().expect("one is running");
                transaction.go_on(history, id);
                running = !matches!(op, Op::StoreCommit | Op::StoreAbort);
            }
        }
    }
    Ok(transactions)
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

fn begun(id: OperationId, start: u64, end: u64) -> Transaction {
    Transaction {
        operations: vec![id],
        start,
        snapshot_end: end,
        reads: BTreeMap::new(),
        writes: BTreeMap::new(),
        written: Vec::new(),
        torn: None,
        outcome: Outcome::Aborted,
        read_at: None,
        commit_at: None,
    }
}

fn timestamp(history: &History, id: OperationId) -> Option<i64> {
    history.args(id).first().or(history.results(id).first()).copied()
}

impl Transaction {
    fn go_on(&mut self, history: &History, id: OperationId) {
        let operation = history.operation(id);
        let (op, status) = (operation.op, operation.status);
        let first = self.operations.len() == 1;
        self.operations.push(id);
        let args = history.args(id);
        if op == Op::StoreCommit {
            self.commit_at = timestamp(history, id);
        }
        match (op, status) {
            (Op::StoreCommit, Status::Ok) => {
                self.outcome = Outcome::Committed { start: operation.start, end: operation.end };
                return;
            }
            (Op::StoreCommit, status) if status.is_open() => {
                self.outcome = Outcome::Unknown { start: operation.start };
                return;
            }
            (Op::StoreCommit | Op::StoreAbort, _) => return,
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

    /// Whether it has a timestamp that says anything.
    pub fn is_stamped(&self) -> bool {
        self.read_at.is_some() || self.commit_at.is_some()
    }

    /// Whether it is certain or possible that it committed.
    pub fn may_commit(&self) -> bool {
        self.outcome != Outcome::Aborted
    }
}
