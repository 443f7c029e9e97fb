//! What transactions leave behind, for a check that goes along with a run. A history that is
//! explained comes in, with a time that everything to come lies after; a history goes out that
//! explains exactly the same continuations, and is shorter where it can be.
//!
//! At an instant at which no transaction was under way, all that were begun before happened before
//! all that were begun later. If the search can have come there in one state only, one transaction
//! that writes the same stands for all before; while there are several, as where two wrote one key
//! at once and nobody has read it yet, all are held. So they are for good where a commit has no
//! answer: it may happen at any later time.
//!
//! Timestamps let transactions read the past, which is not kept: an instant is good only if all
//! that was committed before it is as old as, going by what was read so far, nobody will read any
//! more. Who does nevertheless cannot be judged ([`unknown_past`]).

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::transaction::{self, Outcome, Transaction};
use super::{points, serial, stamped, store};
use crate::check::Limits;
use crate::check::general;
use crate::history::{Entry, History, NEVER, Thread};
use crate::journal::Journal;
use crate::model::{Kind, Model};
use crate::operation::{Op, Status};

/// What is still held.
pub struct Rest {
    pub history: History,
    /// What reads at an earlier timestamp cannot be judged.
    pub floor: i64,
}

/// A time at which no transaction was under way.
#[derive(Clone, Copy)]
struct Instant {
    /// When the last before was over.
    end: u64,
    /// When the first after was begun.
    next: u64,
    /// The latest commit timestamp before.
    committed: i64,
}

/// What is committed at such a time.
#[derive(Clone, PartialEq)]
pub struct Left {
    /// By key; what is not there is absent.
    values: BTreeMap<i64, i64>,
    /// The latest commit timestamp and the latest read timestamp, where the order of transactions
    /// is theirs.
    committed: i64,
    read: i64,
}

/// A state of the search that can be written down as transactions.
pub trait Leaves {
    /// Where no transaction is under way.
    fn left(&self) -> Left;
}

impl Left {
    pub fn of(values: BTreeMap<i64, i64>) -> Left {
        Left { values, committed: i64::MIN, read: i64::MIN }
    }

    /// What reads before the latest commit constrains nothing that the commit does not.
    pub fn stamped(values: BTreeMap<i64, i64>, committed: i64, read: i64) -> Left {
        Left { values, committed, read: if read >= committed { read } else { i64::MIN } }
    }

    /// The calls and answers of transactions that leave the same.
    fn calls(&self) -> Vec<(Op, Vec<i64>, Vec<i64>)> {
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

/// `history` without what cannot matter to transactions that are begun at `settled` or later; none
/// if all of it can.
pub fn rest(history: &History, kind: Kind, settled: u64, limits: &Limits) -> Option<Rest> {
    let transactions = transaction::all(history).ok()?;
    let instants = instants(history, &transactions, kind, settled);
    let all: Vec<&Transaction> = transactions.iter().collect();
    let transactions = &all[..];
    let stamped = all.iter().any(|transaction| transaction.is_stamped());
    let (instant, left) = match (kind == Kind::Serializable, stamped) {
        (true, false) => {
            latest(&serial(transactions), &store::Serial { transactions }, limits, &instants)
        }
        (true, true) => {
            latest(&serial(transactions), &stamped::Serial { transactions }, limits, &instants)
        }
        (false, false) => {
            latest(&points(transactions), &store::Isolated { transactions }, limits, &instants)
        }
        (false, true) => {
            let model = stamped::Isolated::new(transactions);
            latest(&points(transactions), &model, limits, &instants)
        }
    }?;
    // Where nothing had a timestamp, a read of the past may come before any of it.
    let unstamped = kind == Kind::Serializable && !stamped;
    let floor = if unstamped { i64::MAX } else { instant.committed };
    Some(Rest { history: stand_in(history, &left, instant)?, floor })
}

/// The latest of `instants` at which what is committed is certain.
fn latest<O, M>(
    journal: &Journal<O>,
    model: &M,
    limits: &Limits,
    instants: &[Instant],
) -> Option<(Instant, Left)>
where
    O: Clone + Debug,
    M: Model<O>,
    M::State: Leaves,
{
    let (mut ahead, mut found) = (instants.iter().peekable(), None);
    let followed = general::follow(journal, model, limits, |cut| {
        if !cut.open.is_empty() {
            return;
        }
        while let Some(instant) = ahead.next_if(|instant| instant.next <= cut.next) {
            let mut states = cut.frontier.configurations.iter().map(|c| c.state.left());
            if cut.last <= instant.end
                && let Some(first) = states.next()
                && states.all(|other| other == first)
            {
                found = Some((*instant, first));
            }
        }
    });
    followed.is_ok_and(|witness| witness.is_none()).then_some(found).flatten()
}

/// The good instants, oldest first.
fn instants(
    history: &History,
    transactions: &[Transaction],
    kind: Kind,
    settled: u64,
) -> Vec<Instant> {
    let stamped = transactions.iter().any(Transaction::is_stamped);
    let reach = reach(transactions);
    let mut ordered: Vec<&Transaction> = transactions.iter().collect();
    ordered.sort_unstable_by_key(|transaction| transaction.start);
    let mut instants = Vec::new();
    let mut so_far = Instant { end: 0, next: 0, committed: i64::MIN };
    for (at, transaction) in ordered.iter().enumerate() {
        if at > 0 && so_far.end < transaction.start.min(settled) {
            instants.push(Instant { next: transaction.start, ..so_far });
        }
        so_far.end = so_far.end.max(settled_at(history, transaction));
        if transaction.may_commit() && !transaction.writes.is_empty() {
            let commit = transaction.commit_at;
            so_far.committed = so_far.committed.max(commit.unwrap_or(i64::MIN));
            let lost = kind == Kind::Serializable && stamped && commit.is_none();
            if lost || so_far.committed > reach {
                return instants;
            }
        }
    }
    if so_far.end < settled {
        instants.push(Instant { next: NEVER, ..so_far });
    }
    instants
}

/// A timestamp that nobody will read before any more, if they do not look back twice as far as so
/// far. How far that is: from what was committed for certain when they began.
fn reach(transactions: &[Transaction]) -> i64 {
    let commit = |t: &Transaction| match t.outcome {
        Outcome::Committed { end, .. } if !t.writes.is_empty() => Some((end, t.commit_at?)),
        _ => None,
    };
    let mut commits: Vec<(u64, i64)> = transactions.iter().filter_map(commit).collect();
    commits.sort_unstable();
    let mut readers: Vec<(u64, i64)> =
        transactions.iter().filter_map(|t| Some((t.start, t.read_at?))).collect();
    readers.sort_unstable();
    let (mut latest, mut back) = (i64::MIN, 0);
    let mut commits = commits.into_iter().peekable();
    for (start, at) in readers {
        while let Some((_, commit)) = commits.next_if(|(end, _)| *end < start) {
            latest = latest.max(commit);
        }
        back = back.max(latest.saturating_sub(at));
    }
    let latest = commits.map(|(_, commit)| commit).fold(latest, i64::max);
    if back > 0 { latest.saturating_sub(back.saturating_mul(2)) } else { i64::MAX }
}

/// From when on a transaction was over, and it was settled what became of it.
fn settled_at(history: &History, transaction: &Transaction) -> u64 {
    let last = history.operation(*transaction.operations.last().expect("its begin"));
    let lost = matches!(transaction.outcome, Outcome::Unknown { .. });
    match last.op {
        _ if lost && !transaction.writes.is_empty() => NEVER,
        // Its client went on without it.
        _ if last.end == NEVER => last.start,
        Op::StoreCommit | Op::StoreAbort => last.end,
        _ => NEVER,
    }
}

/// Whether every transaction is over at `time`, but for what became of commits without an answer.
pub fn is_over(history: &History, time: u64) -> bool {
    history.threads.iter().all(|thread| {
        let called = thread.operations().partition_point(|operation| operation.start <= time);
        let last = called.checked_sub(1).map(|last| thread.operations()[last]);
        last.is_none_or(|last| match last.op {
            _ if last.end == NEVER => true,
            Op::StoreCommit | Op::StoreAbort => last.end <= time,
            _ => false,
        })
    })
}

/// Why a transaction cannot be judged that reads before `floor`, if there is one.
pub fn unknown_past(history: &History, floor: i64) -> Option<String> {
    let begins = history.ids().filter(|id| history.operation(*id).op == Op::StoreBegin);
    let mut stamps = begins.flat_map(|id| history.args(id).iter().chain(history.results(id)));
    let at = stamps.find(|at| **at < floor)?;
    Some(format!(
        "a transaction reads at the timestamp {at}, and of what was committed that early only the \
         last is still held: check the whole history when it is over"
    ))
}

/// `history` from `instant` on, after transactions that leave what those before did.
fn stand_in(history: &History, left: &Left, instant: Instant) -> Option<History> {
    let before = |thread: &Thread| {
        thread.operations().partition_point(|operation| operation.start <= instant.end)
    };
    let calls = left.calls();
    let gone: usize = history.threads.iter().map(before).sum();
    // Each has a time of its own.
    let first = (instant.end + 1).checked_sub(calls.len() as u64)?;
    if gone <= calls.len() {
        return None;
    }
    let stands = history.threads.iter().position(|thread| before(thread) > 0);
    let mut rest = history.without_threads();
    for (at, thread) in history.threads.iter().enumerate() {
        let mut kept = Thread::new(thread.client);
        for (time, (op, args, results)) in (first..).zip(&calls).filter(|_| stands == Some(at)) {
            let (op, start, end) = (*op, time, time);
            let entry = Entry { op, status: Status::Ok, start, end, args, results };
            kept.push(entry).expect("they follow each other");
        }
        for entry in thread.entries().skip(before(thread)) {
            kept.push(entry).expect("they follow each other as they did");
        }
        rest.threads.push(kept);
    }
    Some(rest)
}
