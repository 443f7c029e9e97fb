//! Checks serializable transactions while some of them are under way, as a sequential object whose
//! operations are whole transactions.
//!
//! A transaction under way may still write anything under any key, and commit, and may have taken
//! effect at any instant since its begin. So after it the store holds whatever the next reader of a
//! key finds there: what is refused even so stays refused, whatever comes.

use std::collections::BTreeMap;

use super::stamped::{Stamp, stamp};
use super::transaction::{Outcome, Transaction};
use crate::model::Model;

/// An operation is a transaction's number.
pub struct WithInFlight<'a> {
    transactions: &'a [&'a Transaction],
    /// When the first of those under way was begun.
    begun: u64,
}

/// What is committed, and where in the order of timestamps that is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// By key: a value, or nothing.
    known: BTreeMap<i64, Option<i64>>,
    /// Whether any other key may hold anything; else nothing.
    open: bool,
    committed: i64,
    read: i64,
}

impl<'a> WithInFlight<'a> {
    pub fn new(transactions: &'a [&'a Transaction]) -> WithInFlight<'a> {
        WithInFlight { transactions, begun: first_under_way(transactions.iter().copied()) }
    }
}

/// When the first of the transactions under way was begun.
pub fn first_under_way<'a>(transactions: impl Iterator<Item = &'a Transaction>) -> u64 {
    let under_way = transactions.filter(|transaction| transaction.outcome == Outcome::UnderWay);
    under_way.map(|transaction| transaction.start).min().unwrap_or(u64::MAX)
}

impl Model<usize> for WithInFlight<'_> {
    type State = Store;

    fn init(&self) -> Store {
        Store { known: BTreeMap::new(), open: false, committed: i64::MIN, read: i64::MIN }
    }

    fn step(&self, store: &Store, number: &usize, next: &mut Vec<Store>) {
        let transaction = self.transactions[*number];
        if !transaction.may_commit() || transaction.torn.is_some() {
            return;
        }
        let mut after = store.clone();
        let is_under_way = transaction.outcome == Outcome::UnderWay;
        match stamp(transaction) {
            // What its timestamp will be is not known.
            _ if is_under_way => {}
            // As where all are over.
            Stamp::Read(at) if at < store.committed => return,
            Stamp::Read(at) => after.read = store.read.max(at),
            Stamp::Commit(at) if at <= store.read || at < store.committed => return,
            Stamp::Commit(at) => after.committed = at,
            Stamp::Anywhere => {}
        }
        for (key, read) in &transaction.reads {
            match store.known.get(key) {
                Some(found) if found == read => {}
                None if store.open => drop(after.known.insert(*key, *read)),
                None if read.is_none() => {}
                _ => return,
            }
        }
        for (key, value) in &transaction.writes {
            after.known.insert(*key, *value);
        }
        if is_under_way {
            (after.known, after.open) = (BTreeMap::new(), true);
        }
        if !after.open {
            after.known.retain(|_, value| value.is_some());
        }
        next.push(after);
    }

    /// After one that was under way, what a reader finds tells what that one wrote: it may be told
    /// of another reader first.
    fn reads(&self, number: &usize) -> bool {
        let transaction = self.transactions[*number];
        let before =
            matches!(transaction.outcome, Outcome::Committed { end, .. } if end < self.begun);
        let anywhere = matches!(stamp(transaction), Stamp::Anywhere);
        !transaction.may_commit() || before && anywhere && transaction.writes.is_empty()
    }

    fn weight(&self, store: &Store) -> usize {
        48 * store.known.len()
    }
}
