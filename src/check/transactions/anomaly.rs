//! Names what transactions did wrong, with the fewest transactions that show it. The names are
//! those of Berenson et al. (1995) and Adya (1999). [`certain`] finds violations by themselves;
//! [`named`] only names what the search has refused.

use super::checker::{explained, witness};
use super::in_flight::first_under_way;
use super::orders::contradicted;
use super::transaction::{Outcome, Transaction};
use crate::check::explanation::{
    Anomaly, Explanation, NoOrderOfTransactions, OfTransactions, OfValues,
};
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};
use crate::model::{Consistency, Kind, Spec};
use rustc_hash::FxHashSet;

/// Most transactions that are left out one by one: each takes a search of the rest.
const CUT_DOWN_MAX: usize = 400;

/// How often the minimized transactions are minimized once more.
const PASSES_MAX: usize = 4;

/// Most transactions that are named one by one, of those that could not be minimized.
const NAMED_MAX: usize = 10;

/// Steps of a search that only minimizes a witness.
const CUT_DOWN_STEPS: u64 = 200_000;

/// A violation that needs no search, if there is one.
pub fn certain(history: &History, kind: Kind, transactions: &[Transaction]) -> Option<Witness> {
    let judged = |t: &&Transaction| match t.outcome {
        Outcome::Committed { .. } => true,
        _ => kind == Kind::Snapshot,
    };
    let each = || transactions.iter().filter(judged);
    each().find_map(|t| torn(history, t)).or_else(|| {
        let writers = Writers::new(transactions);
        // One under way may yet have written anything at any instant since its begin.
        let begun = first_under_way(transactions.iter());
        let is_certain = |t: &&Transaction| kind == Kind::Snapshot || end(t) < begun;
        each().filter(is_certain).find_map(|reader| {
            let mut found = reader.reads.iter().filter_map(|(key, value)| Some((*key, (*value)?)));
            found.find_map(|(key, value)| bad_read(history, kind, &writers, reader, key, value))
        })
    })
}

/// Who wrote what: by key and value, those that may have committed first, and of these the earliest
/// timestamps. So what excuses a read is found at once, however many wrote the same.
struct Writers<'a> {
    transactions: &'a [Transaction],
    sorted: Vec<Written>,
}

/// Key and value, whether it did not commit, its timestamp, and its number.
type Written = (i64, i64, bool, Option<i64>, usize);

impl<'a> Writers<'a> {
    fn new(transactions: &'a [Transaction]) -> Writers<'a> {
        let written = |(number, t): (usize, &'a Transaction)| {
            let each = move |&(key, value): &(i64, i64)| {
                (key, value, !t.may_commit(), t.commit_at, number)
            };
            t.written.iter().map(each)
        };
        let mut sorted: Vec<Written> = transactions.iter().enumerate().flat_map(written).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Writers { transactions, sorted }
    }

    fn of_value(&self, key: i64, value: i64) -> impl Iterator<Item = &'a Transaction> + Clone {
        let first = self.sorted.partition_point(|written| (written.0, written.1) < (key, value));
        let those = self.sorted[first..].iter();
        let those = those.take_while(move |written| (written.0, written.1) == (key, value));
        those.map(|written| &self.transactions[written.4])
    }
}

/// Two answers within one transaction that no snapshot explains.
fn torn(history: &History, transaction: &Transaction) -> Option<Witness> {
    let (before, after) = transaction.torn?;
    let first = history.operation(before);
    let own = first.op != Op::StoreRead && first.status == Status::Ok;
    let rule = if own { "own-write-lost" } else { "non-repeatable-read" };
    let operations = [before, after];
    let explanation = Explanation::Transactions(OfTransactions::Torn(operations));
    Some(Witness::new(rule, explanation, operations.to_vec()))
}

/// A value that nobody may have committed.
fn bad_read(
    history: &History,
    kind: Kind,
    writers: &Writers,
    reader: &Transaction,
    key: i64,
    value: i64,
) -> Option<Witness> {
    let writers = writers.of_value(key, value);
    let mut others = writers.clone().filter(|t| !std::ptr::eq(*t, reader));
    if let Some(witness) = too_new(history, kind, others.clone().next(), reader, key, value) {
        return Some(witness);
    }
    let last = |t: &Transaction| t.writes.get(&key) == Some(&Some(value));
    if others.clone().any(|t| t.may_commit() && last(t)) {
        return None;
    }
    let read = read_of(history, reader, key);
    let not_committed = |writer: &Transaction, is_replaced| {
        Explanation::Transactions(OfTransactions::NotCommitted {
            read,
            writer: writer.operations[0],
            is_replaced,
        })
    };
    let (rule, explanation) = match others.next() {
        None => (
            "from-nowhere",
            Explanation::Values(OfValues::FromNowhere { value, found: read, addition: None }),
        ),
        Some(writer) if !writer.may_commit() => ("aborted-read", not_committed(writer, false)),
        Some(writer) => ("intermediate-read", not_committed(writer, true)),
    };
    let mut operations: Vec<OperationId> =
        writers.flat_map(|t| t.operations.iter().copied()).collect();
    operations.push(read);
    operations.dedup();
    Some(Witness::new(rule, explanation, operations))
}

/// A value that was committed with a later timestamp than that at which the reader reads. Where the
/// whole transaction happens at its commit, only one that changes nothing reads at the other.
/// `writer` is the one with the earliest timestamp.
fn too_new(
    history: &History,
    kind: Kind,
    writer: Option<&Transaction>,
    reader: &Transaction,
    key: i64,
    value: i64,
) -> Option<Witness> {
    let reads_there = kind == Kind::Snapshot || reader.writes.is_empty();
    let at = reader.read_at.filter(|_| reads_there)?;
    let writer = writer.filter(|writer| writer.may_commit())?;
    let commit = writer.commit_at.filter(|commit| *commit > at)?;
    let read = read_of(history, reader, key);
    let explanation = Explanation::Transactions(OfTransactions::FutureRead {
        read,
        read_at: at,
        value,
        writer: writer.operations[0],
        commit_at: commit,
    });
    let mut operations: Vec<OperationId> =
        writer.operations.iter().chain([&reader.operations[0]]).copied().collect();
    operations.push(read);
    Some(Witness::new("future-read", explanation, operations))
}

/// The operation by which a transaction first found what lies under `key`.
pub(super) fn read_of(history: &History, transaction: &Transaction, key: i64) -> OperationId {
    let reads = |id: &&OperationId| {
        let finds = matches!(history.operation(**id).op, Op::StoreRead | Op::StoreRemove);
        finds && history.args(**id)[0] == key
    };
    *transaction.operations.iter().find(reads).expect("it found something there")
}

/// A transaction, and what is asked to be explained of it: no more than all.
type Asked<'a> = (&'a Transaction, &'a Transaction);

/// The witness of transactions that the search has refused: as few as it refuses still.
pub fn named(
    history: &History,
    spec: &Spec,
    transactions: &[Transaction],
    failed: usize,
    limits: &Limits,
) -> Witness {
    let limits = Limits { steps_max: CUT_DOWN_STEPS.min(limits.steps_max), ..limits.clone() };
    let refused = |some: &[Asked]| {
        let asked: Vec<&Transaction> = some.iter().map(|(_, asked)| *asked).collect();
        matches!(explained(spec.kind, &asked, &limits), Verdict::Violation(_))
    };
    // What began after the failed one was over cannot have a part in it.
    let end = match (spec.kind, transactions[failed].outcome) {
        (_, Outcome::Committed { end, .. }) => end,
        _ => transactions[failed].snapshot_end,
    };
    let mut all: Vec<Asked> = transactions.iter().map(|t| (t, t)).collect();
    let (earlier, later): (Vec<_>, Vec<_>) = all.iter().copied().partition(|(t, _)| t.start <= end);
    let read = found_by(&earlier);
    let is_missed = |t: &Transaction| t.outcome != Outcome::UnderWay && is_read(t, &read);
    if !later.iter().any(|(t, _)| is_missed(t)) && refused(&earlier) {
        all = earlier;
    }
    let count = all.len();
    all.sort_by_key(|(t, _)| t.start);
    let is_long = count > CUT_DOWN_MAX;
    let sizes = [CUT_DOWN_MAX / 16, CUT_DOWN_MAX].into_iter().filter(|_| is_long);
    let last: Vec<Vec<Transaction>> =
        sizes.map(|size| last_without_outside_reads(&all, size)).collect();
    for last in &last {
        let of_all = all[count - last.len()..].iter().map(|(t, _)| *t);
        let last: Vec<Asked> = of_all.zip(last).collect();
        if refused(&last) {
            all = last;
            break;
        }
    }
    if all.len() > CUT_DOWN_MAX {
        return not_repeatable(history, spec, &all[count - CUT_DOWN_MAX..], count);
    }
    (0..PASSES_MAX).all(|_| without_some(&mut all, &refused));
    // Refused with them, they are without them.
    all.retain(|(t, _)| t.outcome != Outcome::UnderWay);
    not_repeatable(history, spec, &all, all.len())
}

/// Leaves out those without which the others are refused still; whether there were any. Then what
/// they had found is not wanted of others any more.
fn without_some(all: &mut Vec<Asked>, refused: &dyn Fn(&[Asked]) -> bool) -> bool {
    let count = all.len();
    for at in (0..count).rev() {
        let mut rest = all.clone();
        let (_, without) = rest.remove(at);
        if !is_read(without, &found_by(&rest)) && refused(&rest) {
            *all = rest;
        }
    }
    all.len() < count
}

/// The last `size` of these, without the reads whose value one of the others may have written: if
/// they are refused even so, it is not for want of the others.
fn last_without_outside_reads(all: &[Asked], size: usize) -> Vec<Transaction> {
    let (others, last) = all.split_at(all.len() - size);
    let others = others.iter().filter(|(t, _)| t.may_commit());
    let left: FxHashSet<Found> =
        others.flat_map(|(t, _)| t.writes.iter().map(|(key, value)| (*key, *value))).collect();
    let alone = |(t, _): &Asked| {
        let mut alone = (*t).clone();
        alone.reads.retain(|key, value| !left.contains(&(*key, *value)));
        alone
    };
    last.iter().map(alone).collect()
}

/// The witness of these, the last of `count` that are refused.
fn not_repeatable(history: &History, spec: &Spec, all: &[Asked], count: usize) -> Witness {
    let is_serializable = spec.kind == Kind::Serializable;
    let orders = match is_serializable && count == all.len() {
        true => contradicted(history, all),
        false => Vec::new(),
    };
    let asked: Vec<&Transaction> = all.iter().map(|(_, asked)| *asked).collect();
    let anomaly = anomaly(spec.kind, &asked, count == all.len());
    let all: Vec<&Transaction> = all.iter().map(|(t, _)| *t).collect();
    let last = if count > all.len() { NAMED_MAX } else { count };
    let is_committed = |t: &&Transaction| matches!(t.outcome, Outcome::Committed { .. });
    let explanation =
        Explanation::Transactions(OfTransactions::NoOrder(Box::new(NoOrderOfTransactions {
            is_serializable,
            at_any_time: spec.consistency == Consistency::Unordered,
            anomaly,
            count,
            are_committed: all.iter().all(is_committed),
            begins: all[all.len() - last..].iter().map(|t| t.operations[0]).collect(),
            orders,
        })));
    let unnamed = if is_serializable { "not-serializable" } else { "not-a-snapshot" };
    witness(anomaly.map_or(unnamed, Anomaly::rule), explanation, &all)
}

/// What was found under a key.
type Found = (i64, Option<i64>);

fn found_by(readers: &[Asked]) -> FxHashSet<Found> {
    let found = readers.iter().flat_map(|(_, asked)| asked.reads.iter());
    found.map(|(key, value)| (*key, *value)).collect()
}

/// Whether some may have found what `transaction` left behind: then they may be refused for want of
/// it.
fn is_read(transaction: &Transaction, found: &FxHashSet<Found>) -> bool {
    let mut left = transaction.writes.iter();
    // One under way may have left anything.
    transaction.outcome == Outcome::UnderWay
        || transaction.may_commit() && left.any(|(key, value)| found.contains(&(*key, *value)))
}

/// What went wrong, as far as it is certain; `whole` if these are all that have a part in it.
fn anomaly(kind: Kind, all: &[&Transaction], whole: bool) -> Option<Anomaly> {
    let committed = || all.iter().filter(|t| matches!(t.outcome, Outcome::Committed { .. }));
    let pairs = || committed().flat_map(|a| committed().map(move |b| (*a, *b)));
    let distinct = |(a, b): &(&Transaction, &Transaction)| !std::ptr::eq(*a, *b);
    // Both read one version of a key and replaced it.
    let lost = |(a, b): &(&Transaction, &Transaction)| {
        let mut both = a.writes.keys().filter(|key| b.writes.contains_key(key));
        let is_one = |found| who_left(all, found).count() <= usize::from(found.1.is_some());
        both.any(|key| {
            let read = a.reads.get(key).filter(|read| b.reads.get(key) == Some(read));
            read.is_some_and(|read| is_one((*key, *read)))
        })
    };
    // Each read what the other replaced, and they replaced different keys.
    let skew = |(a, b): &(&Transaction, &Transaction)| {
        let reads =
            |a: &Transaction, b: &Transaction| a.reads.keys().any(|key| b.writes.contains_key(key));
        let meet = a.writes.keys().any(|key| b.writes.contains_key(key));
        !meet && reads(a, b) && reads(b, a) && a.start <= end(b) && b.start <= end(a)
    };
    // Both changed a key, and cannot have seen each other's change: they ran at once, or one reads
    // at a timestamp before the other's commit.
    let overwritten = |(a, b): &(&Transaction, &Transaction)| {
        let commits_later = a.read_at.zip(b.commit_at).is_some_and(|(read, commit)| commit > read);
        let at_once = a.start <= end(b) && b.start <= end(a);
        (commits_later || at_once) && a.writes.keys().any(|key| b.writes.contains_key(key))
    };
    // One was over before the other began, and has the later timestamp.
    let backwards = |(a, b): &(&Transaction, &Transaction)| {
        let later = a.commit_at.zip(b.commit_at).is_some_and(|(one, other)| one > other);
        later && end(a) < b.start && !a.writes.is_empty() && !b.writes.is_empty()
    };
    let any = |test: &dyn Fn(&(&Transaction, &Transaction)) -> bool| {
        pairs().filter(distinct).any(|pair| test(&pair))
    };
    match kind {
        _ if any(&lost) => Some(Anomaly::LostUpdate),
        Kind::Snapshot if all.len() == 2 && any(&overwritten) => Some(Anomaly::WriteConflict),
        Kind::Serializable if any(&backwards) => Some(Anomaly::TimestampOrder),
        Kind::Serializable if any(&skew) => Some(Anomaly::WriteSkew),
        _ if writers_and_others(all).any(|(a, b)| is_fractured(a, b, all, whole)) => {
            Some(Anomaly::FracturedRead)
        }
        _ if writers_and_others(all).any(|(a, b)| is_stale(a, b, all, whole)) => {
            Some(Anomaly::StaleRead)
        }
        _ => None,
    }
}

/// Those that may have changed something, each with every other one.
fn writers_and_others<'a>(
    all: &'a [&'a Transaction],
) -> impl Iterator<Item = (&'a Transaction, &'a Transaction)> {
    let writers = all.iter().filter(|t| t.may_commit() && !t.writes.is_empty());
    writers.flat_map(move |writer| {
        let others = all.iter().filter(move |other| !std::ptr::eq(**other, *writer));
        others.map(move |other| (*writer, *other))
    })
}

/// Those that may have left this under its key.
fn who_left<'a>(
    all: &'a [&'a Transaction],
    (key, value): Found,
) -> impl Iterator<Item = &'a Transaction> {
    let left = move |t: &&&Transaction| t.may_commit() && t.writes.get(&key) == Some(&value);
    all.iter().filter(left).copied()
}

/// Whether what was found had been there before that time: nobody can have put it there later, as
/// far as these are all.
fn was_there(all: &[&Transaction], found: Found, before: u64, whole: bool) -> bool {
    let mut who = who_left(all, found).peekable();
    (whole || who.peek().is_some()) && who.all(|other| end(other) < before)
}

/// Whether `reader` found what `writer` and nobody else left under one key, and under another what
/// had been there before.
fn is_fractured(
    writer: &Transaction,
    reader: &Transaction,
    all: &[&Transaction],
    whole: bool,
) -> bool {
    let (Outcome::Committed { start, .. } | Outcome::Unknown { start }) = writer.outcome else {
        return false;
    };
    let found = |(key, found): (&i64, &Option<i64>)| {
        let left = writer.writes.get(key)?;
        let found = (*key, *found);
        Some((found, *left == found.1))
    };
    let found: Vec<(Found, bool)> = reader.reads.iter().filter_map(found).collect();
    let is_its = |found: Found| found.1.is_some() && who_left(all, found).count() == 1;
    found.iter().any(|(found, same)| *same && is_its(*found))
        && found.iter().any(|(found, same)| !same && was_there(all, *found, start, whole))
}

/// Whether `reader` found what `writer` had replaced before it began.
fn is_stale(writer: &Transaction, reader: &Transaction, all: &[&Transaction], whole: bool) -> bool {
    let Outcome::Committed { start, end: over } = writer.outcome else { return false };
    let replaced = |(key, found): (&i64, &Option<i64>)| {
        let left = writer.writes.get(key);
        left.is_some_and(|value| value != found) && was_there(all, (*key, *found), start, whole)
    };
    over < reader.start && reader.reads.iter().any(replaced)
}

pub(super) fn end(transaction: &Transaction) -> u64 {
    match transaction.outcome {
        Outcome::Committed { end, .. } => end,
        _ => u64::MAX,
    }
}
