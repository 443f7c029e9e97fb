//! Stores whose transactions have known timestamps, as sequential objects whose operations are
//! instants of transactions.
//!
//! Every key has its versions in the order of their commits, each with its commit timestamp. A
//! transaction with a read timestamp finds the latest version that has no later timestamp and was
//! committed when it took its snapshot. A version without a timestamp counts as the earliest; a
//! transaction without a read timestamp finds the latest version.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::content::{HasContent, StoreContent};
use super::store::{Point, write_same_key};
use super::transaction::{Outcome, Transaction};
use crate::model::Model;

/// One version: its commit timestamp, and the value or nothing.
type Version = (i64, Option<i64>);

/// The versions of each key, in the order of their commits and of their timestamps: of two that are
/// not in both orders the later commit hides the other from everybody.
type Versions = BTreeMap<i64, Vec<Version>>;

fn found(versions: &Versions, key: i64, at: i64) -> Option<i64> {
    let of_key = versions.get(&key)?;
    of_key.iter().rev().find(|(stamp, _)| *stamp <= at).and_then(|(_, value)| *value)
}

fn reads_right(transaction: &Transaction, versions: &Versions) -> bool {
    let at = transaction.read_at.unwrap_or(i64::MAX);
    transaction.reads.iter().all(|(key, read)| found(versions, *key, at) == *read)
}

/// Of the older versions only those that a read at `floor` or later finds are kept.
fn write(transaction: &Transaction, versions: &mut Versions, floor: i64) {
    let stamp = transaction.commit_at.unwrap_or(i64::MIN);
    for (key, value) in &transaction.writes {
        let of_key = versions.entry(*key).or_default();
        of_key.retain(|(other, _)| *other < stamp);
        of_key.push((stamp, *value));
        let found = of_key.iter().rposition(|(other, _)| *other <= floor);
        of_key.drain(..found.unwrap_or(0));
    }
}

/// The latest version of each key.
fn latest(versions: &Versions) -> BTreeMap<i64, i64> {
    let last = |of_key: &Vec<Version>| of_key.last().and_then(|(_, value)| *value);
    versions.iter().filter_map(|(key, of_key)| Some((*key, last(of_key)?))).collect()
}

/// By number: no snapshot that may be taken after this transaction's commit reads any earlier.
/// Without that every version would be carried to the end.
fn floors(transactions: &[&Transaction]) -> Vec<i64> {
    let commit = |number: &usize| match transactions[*number].outcome {
        Outcome::Committed { start, .. } | Outcome::Unknown { start } => start,
        Outcome::Aborted | Outcome::UnderWay => u64::MAX,
    };
    let mut commits: Vec<usize> = (0..transactions.len()).collect();
    commits.sort_unstable_by_key(|number| Reverse(commit(number)));
    let mut snapshots = transactions.to_vec();
    snapshots.sort_unstable_by_key(|transaction| transaction.snapshot_end);
    let (mut floors, mut floor) = (vec![i64::MIN; transactions.len()], i64::MAX);
    for number in commits {
        while let Some(last) = snapshots.pop_if(|last| last.snapshot_end >= commit(&number)) {
            floor = floor.min(last.read_at.unwrap_or(i64::MAX));
        }
        floors[number] = floor;
    }
    floors
}

fn weight(versions: &Versions) -> usize {
    versions.values().map(|of_key| 48 + 32 * of_key.len()).sum()
}

/// Transactions under snapshot isolation.
pub struct Isolated<'a> {
    transactions: &'a [&'a Transaction],
    floors: Vec<i64>,
}

/// What is committed, and whose snapshots were taken that may still commit changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    versions: Versions,
    /// Ascending.
    running: Vec<usize>,
}

impl HasContent for Store {
    fn content(&self) -> StoreContent {
        StoreContent::new(latest(&self.versions))
    }
}

impl<'a> Isolated<'a> {
    pub fn new(transactions: &'a [&'a Transaction]) -> Isolated<'a> {
        Isolated { transactions, floors: floors(transactions) }
    }

    /// Whether a key that the transaction changes has a version that its snapshot does not show.
    fn is_late(&self, transaction: &Transaction, versions: &Versions) -> bool {
        let at = transaction.read_at.unwrap_or(i64::MAX);
        let hidden = |of_key: &Vec<Version>| of_key.last().is_some_and(|(stamp, _)| *stamp > at);
        transaction.writes.keys().any(|key| versions.get(key).is_some_and(hidden))
    }

    fn may_change(&self, number: usize) -> bool {
        let transaction = self.transactions[number];
        transaction.may_commit() && !transaction.writes.is_empty()
    }

    /// Whether the instant may come next; if so, `store` is then as it leaves it.
    pub fn take_effect(&self, store: &mut Store, point: &Point) -> bool {
        let certain =
            |number: usize| matches!(self.transactions[number].outcome, Outcome::Committed { .. });
        match *point {
            Point::Snapshot(number) => {
                let transaction = self.transactions[number];
                if !reads_right(transaction, &store.versions) {
                    return false;
                }
                if !self.may_change(number) {
                    return true;
                }
                if self.is_late(transaction, &store.versions) {
                    return !certain(number);
                }
                let at = store.running.partition_point(|other| *other < number);
                store.running.insert(at, number);
            }
            Point::Commit(number) => {
                let transaction = self.transactions[number];
                let loses = |other: usize| {
                    other != number && write_same_key(self.transactions[other], transaction)
                };
                let lost = store.running.iter().any(|other| loses(*other) && certain(*other));
                if lost || !store.running.contains(&number) {
                    return false;
                }
                store.running.retain(|other| *other != number && !loses(*other));
                write(transaction, &mut store.versions, self.floors[number]);
            }
        }
        true
    }
}

impl Model<Point> for Isolated<'_> {
    type State = Store;

    fn init(&self) -> Store {
        Store { versions: Versions::new(), running: Vec::new() }
    }

    fn step(&self, store: &Store, point: &Point, next: &mut Vec<Store>) {
        let mut after = store.clone();
        if self.take_effect(&mut after, point) {
            next.push(after);
        }
    }

    fn reads(&self, point: &Point) -> bool {
        matches!(*point, Point::Snapshot(number) if !self.may_change(number))
    }

    fn weight(&self, store: &Store) -> usize {
        weight(&store.versions) + 8 * store.running.len()
    }
}

/// Transactions that happen at one instant each, in the order of their timestamps as far as they
/// have any; an operation is a transaction's number.
pub struct Serial<'a> {
    pub transactions: &'a [&'a Transaction],
}

/// What is committed, and where in the order of timestamps that is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VersionedStore {
    versions: Versions,
    /// The latest commit timestamp, and the latest read timestamp, so far.
    committed: i64,
    read: i64,
}

impl HasContent for VersionedStore {
    fn content(&self) -> StoreContent {
        StoreContent::stamped(latest(&self.versions), self.committed, self.read)
    }
}

impl Model<usize> for Serial<'_> {
    type State = VersionedStore;

    fn init(&self) -> VersionedStore {
        VersionedStore { versions: Versions::new(), committed: i64::MIN, read: i64::MIN }
    }

    fn step(&self, line: &VersionedStore, number: &usize, next: &mut Vec<VersionedStore>) {
        let transaction = self.transactions[*number];
        if !transaction.may_commit() || transaction.torn.is_some() {
            return;
        }
        let mut after = line.clone();
        match stamp(transaction) {
            // All that is before it is committed, and nothing that is after it.
            Stamp::Read(at) if at < line.committed => return,
            Stamp::Read(at) => after.read = line.read.max(at),
            Stamp::Commit(at) if at <= line.read || at < line.committed => return,
            Stamp::Commit(at) => after.committed = at,
            Stamp::Anywhere => {}
        }
        // What was changed since is found by who commits: it happens at that instant.
        let reads = transaction.reads.iter();
        if reads.into_iter().all(|(key, read)| found(&line.versions, *key, i64::MAX) == *read) {
            let whole = Transaction { commit_at: None, ..transaction.clone() };
            write(&whole, &mut after.versions, i64::MAX);
            next.push(after);
        }
    }

    fn reads(&self, number: &usize) -> bool {
        let transaction = self.transactions[*number];
        let free = matches!(stamp(transaction), Stamp::Anywhere);
        // One that did not commit never takes effect, wherever it stands.
        !transaction.may_commit() || free && transaction.writes.is_empty()
    }

    fn weight(&self, line: &VersionedStore) -> usize {
        weight(&line.versions)
    }
}

/// Where in the order of timestamps a transaction stands that happens at one instant.
pub enum Stamp {
    Anywhere,
    /// After every commit with this timestamp, and before all later ones.
    Read(i64),
    Commit(i64),
}

/// A transaction that changes something stands where it commits, another one where it reads.
pub fn stamp(transaction: &Transaction) -> Stamp {
    match (transaction.commit_at, transaction.read_at) {
        (_, Some(at)) if transaction.writes.is_empty() => Stamp::Read(at),
        (Some(at), _) if !transaction.writes.is_empty() => Stamp::Commit(at),
        _ => Stamp::Anywhere,
    }
}
