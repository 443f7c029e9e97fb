//! What a store holds at a checkpoint, and the transactions that leave the same.

use std::collections::BTreeMap;

use crate::core::operation::Op;

/// What a store holds where no transaction is under way.
#[derive(Clone, PartialEq)]
pub struct StoreContent {
    /// By key; what is not there is absent.
    values: BTreeMap<i64, i64>,
    /// The latest commit timestamp and the latest read timestamp, where the order of transactions
    /// is theirs.
    committed: i64,
    read: i64,
}

/// A state of the search that can be written down as transactions.
pub trait HasContent {
    /// Where no transaction is under way.
    fn content(&self) -> StoreContent;

    /// The transactions whose snapshots are taken and which may still commit changes.
    fn running(&self) -> &[usize] {
        &[]
    }
}

impl StoreContent {
    pub fn new(values: BTreeMap<i64, i64>) -> StoreContent {
        StoreContent { values, committed: i64::MIN, read: i64::MIN }
    }

    /// What reads before the latest commit constrains nothing that the commit does not.
    pub fn stamped(values: BTreeMap<i64, i64>, committed: i64, read: i64) -> StoreContent {
        StoreContent { values, committed, read: if read >= committed { read } else { i64::MIN } }
    }

    /// The calls and answers of transactions that leave the same.
    pub fn calls(&self) -> Vec<(Op, Vec<i64>, Vec<i64>)> {
        let mut calls = Vec::new();
        let stamp = |at: i64| if at > i64::MIN { vec![at] } else { Vec::new() };
        if !self.values.is_empty() || self.committed > i64::MIN {
            calls.push((Op::StoreBegin, Vec::new(), Vec::new()));
            let write = |(key, value): (&i64, &i64)| (Op::StoreWrite, vec![*key, *value], vec![]);
            calls.extend(self.values.iter().map(write));
            if self.values.is_empty() {
                // Only what changes something stands where it commits.
                calls.push((Op::StoreRemove, vec![0], Vec::new()));
            }
            calls.push((Op::StoreCommit, Vec::new(), stamp(self.committed)));
        }
        if self.read > i64::MIN {
            calls.push((Op::StoreBegin, Vec::new(), stamp(self.read)));
            calls.push((Op::StoreCommit, Vec::new(), Vec::new()));
        }
        calls
    }
}

/// An instant of a transaction.
pub trait Instants {
    /// The transaction's number, if this is its first instant.
    fn begins(&self) -> Option<usize>;
}
