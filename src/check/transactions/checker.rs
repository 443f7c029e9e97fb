//! Checks transactions under snapshot isolation, and transactions that must be serializable. Exact,
//! by the general search over the instants that transactions are made of; the order of timestamps
//! comes first ([`timestamp_order`]).
//!
//! Snapshot isolation (Berenson et al., SIGMOD 1995): a transaction reads what was committed at one
//! instant, between the call of its begin and the return of its first read, write or remove, and
//! its own changes. It commits at an instant of its commit's box, and only if no other transaction
//! that changed one of the same keys committed in between. One that aborts reads so, too.
//!
//! Serializable: a committed transaction might as well have happened at one instant between the
//! call of its begin and the return of its commit (strict serializability). Others promise nothing.
//! Under `Consistency::Unordered` that instant may be any. Transactions on lists have a checker of
//! their own ([`lists`]).
//!
//! Timestamps, where they are known, are promises of their own. Under snapshot isolation a
//! transaction with a read timestamp does not see what was committed with a later one, and what it
//! changes must not have a version that it does not see; a commit that came after its snapshot need
//! not be seen, whatever its timestamp. Serializable transactions happen in the order of their
//! commit timestamps; one that only reads, at its read timestamp: then it may have happened before
//! it was begun, but sees every commit up to there.
//!
//! A transaction whose commit has no answer may have committed, at any later time, or not. One
//! that never came to its commit did not commit.

use super::in_flight::WithInFlight;
use super::lists::is_of_lists;
use super::stamped::{Stamp, stamp};
use super::store::{Isolated, Point, Serial};
use super::transaction::{Outcome, Transaction};
use super::{anomaly, lists, stamped, timestamp_order, transaction};
use crate::check::explanation::Explanation;
use crate::check::search::journal;
use crate::check::undecided::Undecided;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, NEVER};
use crate::core::journal::Journal;
use crate::model::{Consistency, Kind, Spec};

pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    if is_of_lists(history) {
        let verdict = transaction::extents(history)
            .and_then(|extents| lists::check(history, spec, &extents, limits));
        return verdict.unwrap_or_else(Verdict::Inconclusive);
    }
    let mut transactions = transaction::all(history);
    if spec.consistency == Consistency::Unordered {
        transactions.iter_mut().flatten().for_each(Transaction::forget_time);
    }
    judge(history, spec, transactions, limits)
}

/// The verdict on a history that goes on: a violation is one whatever is to come. Under snapshot
/// isolation that is the verdict on the history as it is: nobody can have read what a transaction
/// commits later, so that those under way need not commit.
pub fn check_so_far(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    match spec.kind {
        _ if is_of_lists(history) => Verdict::Inconclusive(Undecided::NotOnline),
        Kind::Serializable => judge(history, spec, transaction::so_far(history), limits),
        _ => check(history, spec, limits),
    }
}

fn judge(
    history: &History,
    spec: &Spec,
    transactions: Result<Vec<Transaction>, Undecided>,
    limits: &Limits,
) -> Verdict {
    let transactions = match transactions {
        Ok(transactions) => transactions,
        Err(reason) => return Verdict::Inconclusive(reason),
    };
    if let Some(witness) = anomaly::certain(history, spec.kind, &transactions) {
        return Verdict::Violation(witness);
    }
    let all: Vec<&Transaction> = transactions.iter().collect();
    match explained(spec.kind, &all, limits) {
        Verdict::Violation(_) if spec.kind == Kind::Snapshot && lacks_timestamp(&all) => {
            Verdict::Inconclusive(Undecided::LacksTimestamp)
        }
        Verdict::Violation(found) => {
            let failed = found.operations.last().expect("a search names what failed").thread;
            Verdict::Violation(anomaly::named(
                history,
                spec,
                &transactions,
                failed as usize,
                limits,
            ))
        }
        verdict => verdict,
    }
}

/// Whether a commit that may have happened has a timestamp that is not known. Taken for a commit
/// without one, as those of a store that has none, it would hide what others may still read.
fn lacks_timestamp(transactions: &[&Transaction]) -> bool {
    let unknown = |transaction: &&&Transaction| {
        matches!(transaction.outcome, Outcome::Unknown { .. })
            && transaction.commit_at.is_none()
            && !transaction.writes.is_empty()
    };
    transactions.iter().any(|transaction| transaction.is_stamped())
        && transactions.iter().any(|transaction| unknown(&transaction))
}

/// Whether an order explains these transactions. The operations of a witness have the number of
/// the transaction as their thread.
pub(super) fn explained(kind: Kind, transactions: &[&Transaction], limits: &Limits) -> Verdict {
    let stamped = transactions.iter().any(|transaction| transaction.is_stamped());
    if transactions.iter().any(|transaction| transaction.outcome == Outcome::UnderWay) {
        return journal::check(&serial(transactions), &WithInFlight::new(transactions), limits);
    }
    match (kind == Kind::Serializable, stamped) {
        (true, false) => journal::check(&serial(transactions), &Serial { transactions }, limits),
        (true, true) => {
            journal::check(&serial(transactions), &stamped::Serial { transactions }, limits)
        }
        (false, false) => journal::check(&points(transactions), &Isolated { transactions }, limits),
        (false, true) => {
            let model = stamped::Isolated::new(transactions);
            match timestamp_order::explains(transactions, &model, limits) {
                true => Verdict::Consistent,
                false => journal::check(&points(transactions), &model, limits),
            }
        }
    }
}

/// Each transaction that may have committed, as one operation. A read of the past may have happened
/// before it was begun, but not before any commit was called that it sees for certain: without
/// that, all of them would be open from the beginning on.
pub(super) fn serial(transactions: &[&Transaction]) -> Journal<usize> {
    let (mut journal, seen) = (Journal::default(), Seen::new(transactions));
    for (number, transaction) in transactions.iter().enumerate() {
        let end = match transaction.outcome {
            Outcome::Committed { end, .. } => Some(end),
            Outcome::Unknown { .. } | Outcome::UnderWay => None,
            // It promises nothing, and changes nothing: as if it began and never went on.
            Outcome::Aborted => None,
        };
        let start = match stamp(transaction) {
            _ if transaction.outcome == Outcome::UnderWay => transaction.start,
            Stamp::Read(at) => seen.start(transaction, at).min(end.unwrap_or(NEVER - 1)),
            _ => transaction.start,
        };
        let pushed = journal.push(number as u32, number, start, end);
        pushed.expect("the only operation of its client");
    }
    journal
}

/// What the timestamps of others say about when a read of the past happened.
struct Seen {
    /// The commits with timestamps that certainly happened, in the order of these: each with the
    /// latest start of a transaction up to there.
    commits: Vec<(i64, u64)>,
    /// When certain transactions were over, oldest first: each with the latest timestamp up to
    /// there. None if some have no timestamp.
    over: Option<Vec<(u64, i64)>>,
}

impl Seen {
    fn new(transactions: &[&Transaction]) -> Seen {
        let (mut commits, mut over, mut all) = (Vec::new(), Vec::new(), true);
        for transaction in transactions.iter().filter(|t| t.may_commit()) {
            let (place, outcome) = (stamp(transaction), transaction.outcome);
            all &= !matches!(place, Stamp::Anywhere) && outcome != Outcome::UnderWay;
            let (Stamp::Read(at) | Stamp::Commit(at)) = place else { continue };
            let Outcome::Committed { end, .. } = outcome else { continue };
            over.push((end, at));
            if matches!(place, Stamp::Commit(_)) {
                commits.push((at, transaction.start));
            }
        }
        commits.sort_unstable();
        over.sort_unstable();
        commits.iter_mut().fold(0, |latest, (_, start)| {
            *start = latest.max(*start);
            *start
        });
        over.iter_mut().fold(i64::MIN, |latest, (_, at)| {
            *at = latest.max(*at);
            *at
        });
        Seen { commits, over: all.then_some(over) }
    }

    /// The earliest instant at which the transaction, which reads at this timestamp, can take
    /// effect: the latest begin of the commits that it sees. It is the transaction's own begin, if
    /// later, where all have timestamps and none with a later one was over by then: any of these
    /// that took effect before can as well come right after it.
    fn start(&self, transaction: &Transaction, at: i64) -> u64 {
        let behind = self.commits.partition_point(|(commit, _)| *commit <= at);
        let seen = self.commits[..behind].last().map_or(0, |(_, start)| *start);
        let Some(over) = &self.over else { return seen };
        let before = over.partition_point(|(end, _)| *end < transaction.start);
        let is_past = over[..before].last().is_some_and(|(_, latest)| *latest > at);
        if is_past { seen } else { seen.max(transaction.start) }
    }
}

/// Each transaction as the instant of its snapshot and that of its commit, if it may have one.
pub(super) fn points(transactions: &[&Transaction]) -> Journal<Point> {
    let mut journal = Journal::default();
    for (number, transaction) in transactions.iter().enumerate() {
        let client = number as u32;
        let snapshot = Some(transaction.snapshot_end).filter(|end| *end != NEVER);
        let pushed = journal.push(client, Point::Snapshot(number), transaction.start, snapshot);
        pushed.expect("the first operation of its client");
        let (start, end) = match transaction.outcome {
            Outcome::Committed { start, end } => (start, Some(end)),
            Outcome::Unknown { start } => (start, None),
            Outcome::Aborted | Outcome::UnderWay => continue,
        };
        if !transaction.writes.is_empty() {
            let pushed = journal.push(client, Point::Commit(number), start, end);
            pushed.expect("a commit is called after the operations before it have returned");
        }
    }
    journal
}

/// The witness that names these transactions.
pub(super) fn witness(
    rule: &'static str,
    explanation: Explanation,
    transactions: &[&Transaction],
) -> Witness {
    let operations = transactions.iter().flat_map(|t| t.operations.iter().copied()).collect();
    Witness::new(rule, explanation, operations)
}
