//! Prunes a history of transactions in an online check: replaces what came before a checkpoint by
//! one transaction that writes the same.
//!
//! A checkpoint is a time at which the search has one configuration left. Calls that had not taken
//! effect then stay, after the transaction that stands in. Of a transaction whose snapshot was
//! taken by then the changes and the commit stay, with begin and first change right after the
//! stand-in: its reads are explained. Where several configurations are left, as where two
//! transactions wrote one key at once and nobody has read it yet, all operations since the last
//! checkpoint stay; so do all since the begin of a transaction that is not over.
//!
//! Timestamps let transactions read the past, which is not kept. Where there are any, a checkpoint
//! must be an instant at which no transaction was under way, and all that was committed before it
//! must be so old that, going by the reads so far, nobody will read before it. A transaction that
//! does cannot be judged ([`unknown_past`]).

use std::fmt::Debug;

use super::checker::{points, serial};
use super::content::{HasContent, Instants, StoreContent};
use super::transaction::{Outcome, Transaction};
use super::{stamped, store, timestamp_order, transaction};
use crate::check::search::journal;
use crate::check::search::journal::Cut;
use crate::check::undecided::Undecided;
use crate::check::verdict::Limits;
use crate::core::history::{Entry, History, NEVER, OperationId, Thread};
use crate::core::journal::Journal;
use crate::core::operation::{Op, Status};
use crate::model::{Kind, Model};
use rustc_hash::FxHashMap;

/// What is still held.
pub struct Pruned {
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

/// By the [contract](crate::check::online) of every prune; transactions under way stay.
pub fn prune(history: &History, kind: Kind, settled: u64, limits: &Limits) -> Option<Pruned> {
    let transactions = transaction::all(history).ok()?;
    let under_way = transactions.iter().filter(|t| transaction::is_under_way(history, t));
    let settled = under_way.map(|t| t.start).fold(settled, u64::min);
    let all: Vec<&Transaction> = transactions.iter().collect();
    let stamped = all.iter().any(|transaction| transaction.is_stamped());
    let instants = stamped.then(|| instants(history, &transactions, kind, settled));
    let transactions = &all[..];
    let ahead = Ahead { settled, instants: instants.as_deref(), limits };
    let checkpoint = match (kind == Kind::Serializable, stamped) {
        (true, false) => ahead.latest(&serial(transactions), &store::Serial { transactions }),
        (true, true) => ahead.latest(&serial(transactions), &stamped::Serial { transactions }),
        (false, false) => ahead.latest(&points(transactions), &store::Isolated { transactions }),
        (false, true) => {
            let model = stamped::Isolated::new(transactions);
            let by_timestamps = ahead.latest_by_timestamps(transactions, &model);
            by_timestamps.or_else(|| ahead.latest(&points(transactions), &model))
        }
    }?;
    // Where nothing had a timestamp, a read of the past may come before any of it.
    let unstamped = kind == Kind::Serializable && !stamped;
    let floor = if unstamped { i64::MAX } else { checkpoint.committed };
    Some(Pruned { history: replace_before(history, transactions, &checkpoint, settled)?, floor })
}

/// A time before which a history can be replaced by one transaction.
struct Checkpoint {
    /// When the last was before.
    last: u64,
    left: StoreContent,
    /// The latest commit timestamp before.
    committed: i64,
    /// Of transactions begun before, those of which something is to come.
    fates: FxHashMap<usize, Fate>,
}

/// What is to come of a transaction.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// Nothing: it has taken effect, or never will.
    Gone,
    /// Its commit: the snapshot is taken.
    Commit,
    Whole,
}

/// Where to look for checkpoints.
struct Ahead<'a> {
    settled: u64,
    /// Where transactions have timestamps: these alone, and nothing is under way there.
    instants: Option<&'a [Instant]>,
    limits: &'a Limits,
}

impl Ahead<'_> {
    /// The latest checkpoint at which it is certain what is committed, and what is to come.
    fn latest<O, M>(&self, journal: &Journal<O>, model: &M) -> Option<Checkpoint>
    where
        O: Clone + Debug + Instants,
        M: Model<O>,
        M::State: HasContent,
    {
        let mut found = None;
        let mut instants = self.instants.unwrap_or_default().iter().peekable();
        let followed = journal::follow(journal, model, self.limits, |cut| {
            if self.instants.is_none() {
                if cut.last < self.settled {
                    found = checkpoint(journal, &cut).or(found.take());
                }
                return;
            }
            if !cut.position.open.is_empty() {
                return;
            }
            while let Some(instant) = instants.next_if(|instant| instant.next <= cut.next) {
                let mut states =
                    cut.position.frontier.configurations.iter().map(|c| c.state.content());
                if cut.last <= instant.end
                    && let Some(left) = states.next()
                    && states.all(|other| other == left)
                {
                    let (last, committed) = (instant.end, instant.committed);
                    found = Some(Checkpoint { last, left, committed, fates: FxHashMap::default() });
                }
            }
        });
        // A checkpoint stays one whatever came later; timestamps, though, order all transactions
        // together.
        let is_whole = followed.is_ok_and(|witness| witness.is_none());
        found.filter(|_| is_whole || self.instants.is_none())
    }

    /// The same without a search, where the order of the timestamps explains all transactions.
    fn latest_by_timestamps(
        &self,
        transactions: &[&Transaction],
        model: &stamped::Isolated,
    ) -> Option<Checkpoint> {
        let Instant { end: last, committed, .. } = *self.instants?.last()?;
        let left = timestamp_order::content_at(last, transactions, model, self.limits)?;
        Some(Checkpoint { last, left, committed, fates: FxHashMap::default() })
    }
}

/// The checkpoint there, if it is one.
fn checkpoint<O: Debug + Instants, S: HasContent + PartialEq>(
    journal: &Journal<O>,
    cut: &Cut<O, S>,
) -> Option<Checkpoint> {
    let way = cut.position.only_way(|one, other| one == other)?;
    let mut fates: FxHashMap<usize, Fate> =
        way.state.running().iter().map(|number| (*number, Fate::Commit)).collect();
    for (id, _) in cut.position.open.iter().filter(|(_, steps)| steps.is_disjoint(way.done)) {
        if let Some(number) = journal.get(*id).operation.begins() {
            fates.insert(number, Fate::Whole);
        }
    }
    Some(Checkpoint { last: cut.last, left: way.state.content(), committed: i64::MIN, fates })
}

/// The instants that can be checkpoints, oldest first.
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

/// A timestamp before which nobody will read, unless they look back more than twice as far as
/// anyone has so far. How far one looks back is counted from what was certainly committed at its
/// begin.
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

/// When a transaction was over and its outcome was certain.
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

/// Why a transaction cannot be judged that reads before `floor`, if there is one.
pub fn unknown_past(history: &History, floor: i64) -> Option<Undecided> {
    let begins = history.ids().filter(|id| history.operation(*id).op == Op::StoreBegin);
    let mut stamps = begins.flat_map(|id| history.args(id).iter().chain(history.results(id)));
    let read_at = *stamps.find(|at| **at < floor)?;
    Some(Undecided::Pruned { read_at })
}

/// `history` from `checkpoint` on, after transactions that leave what those before did.
fn replace_before(
    history: &History,
    transactions: &[&Transaction],
    checkpoint: &Checkpoint,
    settled: u64,
) -> Option<History> {
    let fate = |number: usize| match transactions[number].start > checkpoint.last {
        true => Fate::Whole,
        false => checkpoint.fates.get(&number).copied().unwrap_or(Fate::Gone),
    };
    let kept: Vec<Vec<OperationId>> = (0..transactions.len())
        .map(|number| still(history, transactions[number], fate(number)))
        .collect();
    let (mut next, mut begun) = (settled, 0);
    for (number, kept) in kept.iter().enumerate() {
        // Where the snapshot is taken, begin and first change come before all that is kept.
        let moved = if fate(number) == Fate::Commit { 2 } else { 0 };
        begun = begun.max(moved);
        let rest = kept[moved.min(kept.len())..].iter();
        next = rest.map(|id| history.operation(*id).start).fold(next, u64::min);
    }
    let calls = checkpoint.left.calls();
    let stays: usize = kept.iter().map(Vec::len).sum();
    // Each has a time of its own.
    let first = next.checked_sub((begun + calls.len()) as u64)?;
    if history.len() - stays <= calls.len() {
        return None;
    }
    let mut rest = history.without_threads();
    rest.threads.extend(history.threads.iter().map(|thread| Thread::new(thread.client)));
    let gone = (0..transactions.len()).find(|number| kept[*number].is_empty());
    let restored_on = transactions[gone.or((0..transactions.len()).next())?].operations[0].thread;
    for (time, (op, args, results)) in (first..).zip(&calls) {
        let (op, start, end) = (*op, time, time);
        let entry = Entry { op, status: Status::Ok, start, end, args, results };
        rest.threads[restored_on as usize].push(entry).expect("they follow each other");
    }
    for (number, kept) in kept.iter().enumerate() {
        for (at, id) in kept.iter().enumerate() {
            let mut entry = history.entry(*id);
            if fate(number) == Fate::Commit && at < 2 {
                (entry.start, entry.end) = (next - 2 + at as u64, next - 2 + at as u64);
            }
            rest.threads[id.thread as usize].push(entry).expect("they follow each other");
        }
    }
    Some(rest)
}

/// The operations of a transaction of which something is to come.
fn still(history: &History, transaction: &Transaction, fate: Fate) -> Vec<OperationId> {
    let counts = |id: &&OperationId| {
        let operation = history.operation(**id);
        match operation.op {
            Op::StoreWrite | Op::StoreRemove => operation.status == Status::Ok,
            op => op != Op::StoreRead,
        }
    };
    match fate {
        Fate::Gone => Vec::new(),
        Fate::Commit => transaction.operations.iter().filter(counts).copied().collect(),
        Fate::Whole => transaction.operations.clone(),
    }
}
