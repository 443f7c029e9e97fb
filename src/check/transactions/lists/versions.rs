//! Says in which order values were appended to each list, or what contradicts that there was one.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::transaction::{Extent, Outcome};
use crate::check::explanation::{Explanation, OfRecords, OfTransactions, OfValues};
use crate::check::undecided::Undecided;
use crate::check::verdict::{Limits, Witness};
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};

/// A value that was appended.
pub struct Append {
    pub transaction: usize,
    pub id: OperationId,
    /// Number of its list.
    list: usize,
    /// Which of its transaction's appends to that list it is, from 0.
    place: usize,
    is_last: bool,
    /// Where it stands in the list, as far as that was read.
    position: Option<usize>,
}

/// The first read of a list in a transaction. Later ones say no more.
pub struct Read {
    pub transaction: usize,
    pub id: OperationId,
    pub list: usize,
    /// How many of its values others had appended: the first ones.
    pub count: usize,
}

/// What lies under one key.
#[derive(Default)]
pub struct List {
    /// Number of a read with the most values.
    longest: Option<usize>,
    /// The appends that were read, in order; and those of one that read all these, if it appended.
    pub order: Vec<usize>,
    /// The appends that come after, in any order.
    pub unread: Vec<usize>,
}

pub struct Versions<'a> {
    pub history: &'a History,
    pub transactions: &'a [Extent],
    /// Whether a transaction committed: it has said so, or another has read what it appended.
    pub committed: Vec<bool>,
    /// Those of each transaction together, list by list.
    pub appends: Vec<Append>,
    appends_of: Vec<Range<usize>>,
    by_value: FxHashMap<(usize, i64), usize>,
    numbers: FxHashMap<i64, usize>,
    pub lists: Vec<List>,
    pub reads: Vec<Read>,
}

impl<'a> Versions<'a> {
    pub fn new(
        history: &'a History,
        transactions: &'a [Extent],
        limits: &Limits,
    ) -> Result<Result<Versions<'a>, Witness>, Undecided> {
        let committed = |extent: &Extent| matches!(extent.outcome, Outcome::Committed { .. });
        let mut versions = Versions {
            history,
            transactions,
            committed: transactions.iter().map(committed).collect(),
            appends: Vec::new(),
            appends_of: Vec::with_capacity(transactions.len()),
            by_value: FxHashMap::default(),
            numbers: FxHashMap::default(),
            lists: Vec::new(),
            reads: Vec::new(),
        };
        for number in 0..transactions.len() {
            versions.take_appends(number)?;
        }
        limits.go_on()?;
        Ok(versions.order().map(|()| versions))
    }

    fn list(&mut self, key: i64) -> usize {
        let number = *self.numbers.entry(key).or_insert(self.lists.len());
        if number == self.lists.len() {
            self.lists.push(List::default());
        }
        number
    }

    /// The number of the list under a key that was used.
    pub fn number(&self, key: i64) -> usize {
        self.numbers[&key]
    }

    fn is_aborted(&self, transaction: usize) -> bool {
        matches!(self.transactions[transaction].outcome, Outcome::Aborted)
    }

    fn take_appends(&mut self, transaction: usize) -> Result<(), Undecided> {
        let first = self.appends.len();
        for id in self.transactions[transaction].operations() {
            let operation = self.history.operation(id);
            if operation.op == Op::StoreAppend && operation.status != Status::Failed {
                let list = self.list(self.history.args(id)[0]);
                let (place, is_last, position) = (0, false, None);
                self.appends.push(Append { transaction, id, list, place, is_last, position });
            }
        }
        let own = &mut self.appends[first..];
        own.sort_by_key(|append| append.list);
        for group in own.chunk_by_mut(|a, b| a.list == b.list) {
            group.iter_mut().enumerate().for_each(|(place, append)| append.place = place);
            group.last_mut().expect("a group has one").is_last = true;
        }
        for number in first..self.appends.len() {
            let append = &self.appends[number];
            let value = self.history.args(append.id)[1];
            match self.by_value.insert((append.list, value), number) {
                // What never came about is no other's.
                Some(other) if self.is_aborted(self.appends[other].transaction) => {}
                Some(other) if self.is_aborted(transaction) => {
                    self.by_value.insert((append.list, value), other);
                }
                Some(other) => {
                    return Err(Undecided::AppendedTwice([self.appends[other].id, append.id]));
                }
                None => {}
            }
        }
        self.appends_of.push(first..self.appends.len());
        Ok(())
    }

    /// The appends of a transaction to a list.
    fn own(&self, transaction: usize, list: usize) -> &[Append] {
        &self.appends[self.own_range(transaction, list)]
    }

    fn own_range(&self, transaction: usize, list: usize) -> Range<usize> {
        let all = self.appends_of[transaction].clone();
        let own = &self.appends[all.clone()];
        let from = own.partition_point(|append| append.list < list);
        let to = own.partition_point(|append| append.list <= list);
        all.start + from..all.start + to
    }

    /// Reads what is known, and orders the appends; or says what is wrong with them.
    fn order(&mut self) -> Result<(), Witness> {
        let mut new: Vec<usize> =
            (0..self.transactions.len()).filter(|number| self.committed[*number]).collect();
        while !new.is_empty() {
            for transaction in std::mem::take(&mut new) {
                self.take_reads(transaction)?;
            }
            new = self.found_committed();
        }
        for read in &self.reads {
            self.agrees(read)?;
        }
        for list in 0..self.lists.len() {
            self.order_list(list)?;
        }
        for read in &self.reads {
            self.is_of_whole_transactions(read)?;
        }
        (0..self.reads.len()).for_each(|read| self.extend(read));
        for (number, append) in self.appends.iter().enumerate() {
            if self.committed[append.transaction] && append.position.is_none() {
                self.lists[append.list].unread.push(number);
            }
        }
        Ok(())
    }

    /// The first read of each list; or what contradicts the transaction itself.
    fn take_reads(&mut self, transaction: usize) -> Result<(), Witness> {
        #[derive(Default)]
        struct Known {
            read: Option<OperationId>,
            /// What was appended since.
            own: Vec<(i64, OperationId)>,
        }
        let history = self.history;
        let mut known: BTreeMap<i64, Known> = BTreeMap::new();
        for id in self.transactions[transaction].operations() {
            let (operation, args) = (history.operation(id), history.args(id));
            match (operation.op, operation.status) {
                (Op::StoreAppend, Status::Ok) => {
                    known.entry(args[0]).or_default().own.push((args[1], id));
                }
                (Op::StoreReadList, Status::Ok) => {
                    let Known { read, own } = known.entry(args[0]).or_default();
                    let values = history.results(id);
                    let before = values.len().checked_sub(own.len()).filter(|before| {
                        values[*before..].iter().eq(own.iter().map(|(value, _)| value))
                    });
                    let Some(count) = before else {
                        let first = own.first().map_or(id, |(_, append)| *append);
                        return Err(torn("own-write-lost", [first, id]));
                    };
                    match *read {
                        Some(read) if history.results(read) != &values[..count] => {
                            return Err(torn("non-repeatable-read", [read, id]));
                        }
                        Some(_) => {}
                        None => {
                            let list = self.list(args[0]);
                            let number = self.reads.len();
                            let longest = self.lists[list].longest;
                            if longest.is_none_or(|longest| self.reads[longest].count < count) {
                                self.lists[list].longest = Some(number);
                            }
                            self.reads.push(Read { transaction, id, list, count });
                        }
                    }
                    *read = Some(id);
                    own.clear();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The values that a read found before its own transaction appended any.
    fn found(&self, read: &Read) -> &'a [i64] {
        &self.history.results(read.id)[..read.count]
    }

    fn longest(&self, list: usize) -> Option<&Read> {
        self.lists[list].longest.map(|read| &self.reads[read])
    }

    /// The read that shows the order of a list.
    pub fn shown_by(&self, list: usize) -> Option<OperationId> {
        self.longest(list).map(|read| read.id)
    }

    fn append_of(&self, list: usize, value: i64) -> Option<usize> {
        self.by_value.get(&(list, value)).copied()
    }

    /// Transactions of unknown outcome that must have committed, because a list has what they
    /// appended; they count from now on.
    fn found_committed(&mut self) -> Vec<usize> {
        let mut new = Vec::new();
        let may = |extent: &Extent| matches!(extent.outcome, Outcome::Unknown { .. });
        if !self.transactions.iter().any(may) {
            return new;
        }
        for list in 0..self.lists.len() {
            let Some(read) = self.longest(list) else { continue };
            for value in self.found(read) {
                let append = self.append_of(list, *value).map(|append| &self.appends[append]);
                let Some(writer) = append.map(|append| append.transaction) else { continue };
                if !self.committed[writer] && !self.is_aborted(writer) {
                    self.committed[writer] = true;
                    new.push(writer);
                }
            }
        }
        new
    }

    /// Whether the longest list begins with what was read.
    fn agrees(&self, read: &Read) -> Result<(), Witness> {
        let longest = self.longest(read.list).expect("this is a read of it");
        if self.found(longest).starts_with(self.found(read)) {
            return Ok(());
        }
        self.is_of_appends(read)?;
        self.is_of_appends(longest)?;
        let reads = [read.id, longest.id];
        let explanation = Explanation::Transactions(OfTransactions::OtherOrder(reads));
        Err(Witness::new("incompatible-order", explanation, reads.to_vec()))
    }

    /// Whether all values were appended, once, by others that did not abort, and those of each in
    /// their order.
    fn is_of_appends(&self, read: &Read) -> Result<Vec<usize>, Witness> {
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut order = Vec::with_capacity(read.count);
        for &value in self.found(read) {
            let number = self.append_of(read.list, value);
            let append = number.map(|number| &self.appends[number]);
            let Some(append) = append.filter(|append| append.transaction != read.transaction)
            else {
                let addition = append.map(|append| append.id);
                let found = read.id;
                let wrong = OfValues::FromNowhere { value, found, addition };
                let operations = addition.into_iter().chain([found]).collect();
                return Err(Witness::new("from-nowhere", Explanation::Values(wrong), operations));
            };
            if self.is_aborted(append.transaction) {
                return Err(self.not_committed("aborted-read", read, append));
            }
            let number = number.expect("there is an append");
            if !seen.insert(number) {
                let (get, write) = (read.id, append.id);
                let wrong = OfRecords::WrittenTwice { get, value, write };
                let operations = vec![write, get];
                return Err(Witness::new("duplicate", Explanation::Records(wrong), operations));
            }
            if append.place > 0 && !seen.contains(&(number - 1)) {
                let appends = [self.appends[number - 1].id, append.id];
                let wrong = OfTransactions::OutOfOrder { read: read.id, appends };
                let operations = appends.into_iter().chain([read.id]).collect();
                let explanation = Explanation::Transactions(wrong);
                return Err(Witness::new("incompatible-order", explanation, operations));
            }
            order.push(number);
        }
        Ok(order)
    }

    fn not_committed(&self, rule: &'static str, read: &Read, append: &Append) -> Witness {
        let writer = self.transactions[append.transaction];
        let explanation = Explanation::Transactions(OfTransactions::NotCommitted {
            read: read.id,
            writer: writer.begin,
            is_replaced: !self.is_aborted(append.transaction),
        });
        let operations = writer.operations().chain([read.id]).collect();
        Witness::new(rule, explanation, operations)
    }

    fn order_list(&mut self, list: usize) -> Result<(), Witness> {
        let Some(longest) = self.longest(list) else { return Ok(()) };
        let order = self.is_of_appends(longest)?;
        for (position, append) in order.iter().enumerate() {
            self.appends[*append].position = Some(position);
        }
        self.lists[list].order = order;
        Ok(())
    }

    /// Whether a read saw nothing of its own transaction's later appends, and did not see another
    /// transaction in the middle.
    fn is_of_whole_transactions(&self, read: &Read) -> Result<(), Witness> {
        let is_early = |append: &&Append| append.position.is_some_and(|at| at < read.count);
        if let Some(early) = self.own(read.transaction, read.list).iter().find(is_early) {
            let (value, found) = (self.history.args(early.id)[1], read.id);
            let wrong = OfValues::FromNowhere { value, found, addition: Some(early.id) };
            let operations = vec![early.id, found];
            return Err(Witness::new("from-nowhere", Explanation::Values(wrong), operations));
        }
        let Some(last) = read.count.checked_sub(1) else { return Ok(()) };
        let append = &self.appends[self.lists[read.list].order[last]];
        match append.is_last {
            true => Ok(()),
            false => Err(self.not_committed("intermediate-read", read, append)),
        }
    }

    /// One that read all that was ever read, and appended: its appends come next.
    fn extend(&mut self, read: usize) {
        let Read { transaction, list, count, .. } = self.reads[read];
        if self.lists[list].order.len() > count {
            return;
        }
        for number in self.own_range(transaction, list) {
            self.appends[number].position = Some(self.lists[list].order.len());
            self.lists[list].order.push(number);
        }
    }
}

fn torn(rule: &'static str, operations: [OperationId; 2]) -> Witness {
    let explanation = Explanation::Transactions(OfTransactions::Torn(operations));
    Witness::new(rule, explanation, operations.to_vec())
}
