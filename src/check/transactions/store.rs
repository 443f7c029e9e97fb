//! Stores of keys and values, as sequential objects whose operations are instants of transactions.

use std::collections::BTreeMap;

use super::content::{HasContent, Instants, StoreContent};
use super::transaction::{Outcome, Transaction};
use crate::model::Model;

/// What is committed: a key that is not there is absent.
type Committed = BTreeMap<i64, i64>;

fn reads_right(transaction: &Transaction, committed: &Committed) -> bool {
    transaction.reads.iter().all(|(key, read)| committed.get(key).copied() == *read)
}

fn write(transaction: &Transaction, committed: &mut Committed) {
    for (&key, written) in &transaction.writes {
        match written {
            Some(value) => drop(committed.insert(key, *value)),
            None => drop(committed.remove(&key)),
        }
    }
}

/// Transactions that happen at one instant each; an operation is a transaction's number.
pub struct Serial<'a> {
    pub transactions: &'a [&'a Transaction],
}

impl Model<usize> for Serial<'_> {
    type State = Committed;

    fn init(&self) -> Committed {
        Committed::new()
    }

    fn step(&self, committed: &Committed, number: &usize, next: &mut Vec<Committed>) {
        let transaction = self.transactions[*number];
        let whole = transaction.may_commit() && transaction.torn.is_none();
        if whole && reads_right(transaction, committed) {
            let mut committed = committed.clone();
            write(transaction, &mut committed);
            next.push(committed);
        }
    }

    fn reads(&self, number: &usize) -> bool {
        let transaction = self.transactions[*number];
        transaction.writes.is_empty() || transaction.outcome == Outcome::Aborted
    }

    fn weight(&self, committed: &Committed) -> usize {
        32 * committed.len()
    }
}

/// An instant of the transaction with this number.
#[derive(Clone, Copy, Debug)]
pub enum Point {
    Snapshot(usize),
    Commit(usize),
}

impl Instants for usize {
    fn begins(&self) -> Option<usize> {
        Some(*self)
    }
}

impl Instants for Point {
    fn begins(&self) -> Option<usize> {
        match *self {
            Point::Snapshot(number) => Some(number),
            Point::Commit(_) => None,
        }
    }
}

/// Transactions under snapshot isolation.
pub struct Isolated<'a> {
    pub transactions: &'a [&'a Transaction],
}

/// What is committed, and whose snapshots were taken that may still commit changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    committed: Committed,
    /// Ascending.
    running: Vec<usize>,
}

impl HasContent for Committed {
    fn content(&self) -> StoreContent {
        StoreContent::new(self.clone())
    }
}

impl HasContent for Store {
    fn content(&self) -> StoreContent {
        StoreContent::new(self.committed.clone())
    }

    fn running(&self) -> &[usize] {
        &self.running
    }
}

impl Isolated<'_> {
    fn may_change(&self, number: usize) -> bool {
        let transaction = self.transactions[number];
        transaction.outcome != Outcome::Aborted && !transaction.writes.is_empty()
    }

    fn write_same_key(&self, one: usize, other: usize) -> bool {
        write_same_key(self.transactions[one], self.transactions[other])
    }
}

/// Whether both change one key.
pub fn write_same_key(one: &Transaction, other: &Transaction) -> bool {
    one.writes.keys().any(|key| other.writes.contains_key(key))
}

impl Model<Point> for Isolated<'_> {
    type State = Store;

    fn init(&self) -> Store {
        Store { committed: Committed::new(), running: Vec::new() }
    }

    fn step(&self, store: &Store, point: &Point, next: &mut Vec<Store>) {
        match *point {
            Point::Snapshot(number) => {
                if !reads_right(self.transactions[number], &store.committed) {
                    return;
                }
                let mut store = store.clone();
                if self.may_change(number) {
                    let at = store.running.partition_point(|other| *other < number);
                    store.running.insert(at, number);
                }
                next.push(store);
            }
            Point::Commit(number) => {
                if !store.running.contains(&number) {
                    return;
                }
                let loser = |other: &usize| *other != number && self.write_same_key(*other, number);
                let certain = |other: &usize| {
                    matches!(self.transactions[*other].outcome, Outcome::Committed { .. })
                };
                if store.running.iter().filter(|other| loser(other)).any(certain) {
                    return;
                }
                let mut store = store.clone();
                store.running.retain(|other| *other != number && !loser(other));
                write(self.transactions[number], &mut store.committed);
                next.push(store);
            }
        }
    }

    fn reads(&self, point: &Point) -> bool {
        matches!(*point, Point::Snapshot(number) if !self.may_change(number))
    }

    fn weight(&self, store: &Store) -> usize {
        32 * store.committed.len() + 8 * store.running.len()
    }
}
