//! Explains why no order of a few transactions gives what they read: follows each order as far as
//! it goes and names the first answer that it contradicts. The search has refused them before.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::anomaly::{end, read_of};
use super::transaction::{Outcome, Transaction};
use crate::check::explanation::ContradictedOrder;
use crate::core::history::History;

/// More transactions have too many orders to be read.
const TRANSACTIONS_MAX: usize = 4;
const ORDERS_MAX: usize = 6;

/// What each order contradicts, those that go furthest first; none where there are too many, or
/// where it is more than an order that matters.
pub(super) fn contradicted(
    history: &History,
    all: &[(&Transaction, &Transaction)],
) -> Vec<ContradictedOrder> {
    let plain = |t: &Transaction| matches!(t.outcome, Outcome::Committed { .. }) && !t.is_stamped();
    if all.len() > TRANSACTIONS_MAX || !all.iter().all(|(t, _)| plain(t)) {
        return Vec::new();
    }
    let mut orders = Orders { history, all, done: Vec::new(), contradicted: Vec::new() };
    if !orders.explore(&BTreeMap::new()) || orders.contradicted.len() > ORDERS_MAX {
        return Vec::new();
    }
    // The longest say most.
    orders.contradicted.sort_by_key(|order| Reverse(order.before.len()));
    orders.contradicted
}

struct Orders<'a> {
    history: &'a History,
    /// Each with what is asked to be explained of it.
    all: &'a [(&'a Transaction, &'a Transaction)],
    done: Vec<usize>,
    contradicted: Vec<ContradictedOrder>,
}

impl Orders<'_> {
    /// Goes on with each that may be next; whether every order ends at a contradiction.
    fn explore(&mut self, state: &BTreeMap<i64, Option<i64>>) -> bool {
        if self.done.len() == self.all.len() {
            return false;
        }
        let left: Vec<usize> = (0..self.all.len()).filter(|at| !self.done.contains(at)).collect();
        left.iter().all(|&next| {
            let (transaction, asked) = self.all[next];
            if left.iter().any(|&other| end(self.all[other].0) < transaction.start) {
                return true;
            }
            let held = |key: &i64| state.get(key).copied().flatten();
            if let Some((key, _)) = asked.reads.iter().find(|(key, found)| held(key) != **found) {
                let read = read_of(self.history, transaction, *key);
                let begin = |at: &usize| self.all[*at].0.operations[0];
                let before = self.done.iter().map(begin).collect();
                self.contradicted.push(ContradictedOrder { before, read, held: held(key) });
                return true;
            }
            let mut after = state.clone();
            after.extend(transaction.writes.iter().map(|(key, value)| (*key, *value)));
            self.done.push(next);
            let ends = self.explore(&after);
            self.done.pop();
            ends
        })
    }
}
