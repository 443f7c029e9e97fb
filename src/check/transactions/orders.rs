//! Explains why no order of a few transactions gives what they read: follows each order as far as
//! it goes and names the first answer that it contradicts. The search has refused them before.

use std::collections::BTreeMap;

use super::anomaly::{end, read_of};
use super::transaction::{Outcome, Transaction};
use crate::check::data::words;
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};

/// More transactions have too many orders to be read.
const TRANSACTIONS_MAX: usize = 4;
const ORDERS_MAX: usize = 6;

/// " After thread 1 and then thread 0, read(7) by the drain should have answered 3."; empty where
/// there are too many, or where it is more than an order that matters.
pub(super) fn contradicted(history: &History, all: &[(&Transaction, &Transaction)]) -> String {
    let plain = |t: &Transaction| matches!(t.outcome, Outcome::Committed { .. }) && !t.is_stamped();
    if all.len() > TRANSACTIONS_MAX || !all.iter().all(|(t, _)| plain(t)) {
        return String::new();
    }
    let mut orders = Orders { history, all, done: Vec::new(), told: Vec::new() };
    match orders.explore(&BTreeMap::new()) {
        true if orders.told.len() <= ORDERS_MAX => {
            // The longest say most.
            orders.told.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
            let told: Vec<String> = orders.told.into_iter().map(|(_, told)| told).collect();
            format!(" {}.", capitalized(&told.join("; ")))
        }
        _ => String::new(),
    }
}

struct Orders<'a> {
    history: &'a History,
    /// Each with what is asked to be explained of it.
    all: &'a [(&'a Transaction, &'a Transaction)],
    done: Vec<usize>,
    /// How many went before, and what is wrong then.
    told: Vec<(usize, String)>,
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
                self.told.push((self.done.len(), self.sentence(read, held(key))));
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

    fn sentence(&self, read: OperationId, held: Option<i64>) -> String {
        let before: Vec<String> = self.done.iter().map(|at| self.name(*at)).collect();
        let before = match before.is_empty() {
            true => "at first".to_string(),
            false => format!("after {}", before.join(" and then ")),
        };
        let op = self.history.operation(read).op;
        let should = match held {
            Some(value) if op == Op::StoreRead => value.to_string(),
            Some(_) => op.answer_word(Status::Ok).to_string(),
            None => Op::StoreRead.answer_word(Status::Failed).to_string(),
        };
        format!("{before}, {} should have answered {should}", words::called(self.history, read))
    }

    /// By its thread, where that has only one.
    fn name(&self, at: usize) -> String {
        let first = |at: usize| self.all[at].0.operations[0];
        let name = words::thread(self.history, first(at));
        let same = |other: &usize| words::thread(self.history, first(*other)) == name;
        match (0..self.all.len()).filter(same).count() {
            1 => name,
            _ => format!("{name}'s of {}", self.history.operation(first(at)).start),
        }
    }
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    first.to_uppercase() + rest
}
