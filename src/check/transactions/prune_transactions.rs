//! What transactions leave behind, for a check that goes along with a run. A history that is
//! explained comes in, with a time that everything to come lies after; a history goes out that
//! explains exactly the same continuations, and is shorter where it can be.
//!
//! At a time at which the search can have come there in one way only, one transaction that writes
//! the same stands for all that has happened by then. What was under way and has not happened yet
//! stays, after that one; of a transaction whose snapshot was taken by then its changes stay and
//! its commit, with begin and first change right after the one that stands for the others: what it
//! found is explained. While there are several ways, as where two wrote one key at once and nobody
//! has read it yet, all is held that came since; and all that came since the begin of a transaction
//! that is not over.
//!
//! Timestamps let transactions read the past, which is not kept. Where there are any, only an
//! instant is good at which no transaction was under way, and if all that was committed before it
//! is as old as, going by what was read so far, nobody will read any more. Who does nevertheless
//! cannot be judged ([`unknown_past`]).

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::checker::{points, serial};
use super::transaction::{Outcome, Transaction};
use super::{stamped, store, transaction};
use crate::check::data::hash::FastMap;
use crate::check::search::journal;
use crate::check::search::journal::Cut;
use crate::check::verdict::Limits;
use crate::history::{Entry, History, NEVER, OperationId, Thread};
use crate::journal::Journal;
use crate::model::{Kind, Model};
use crate::operation::{Op, Status};

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

/// What is committed at such a time.
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

/// `history` without what cannot matter to what begins at `settled` or later, nor to transactions
/// under way; none if all of it can.
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
        (false, true) => ahead.latest(&points(transactions), &stamped::Isolated::new(transactions)),
    }?;
    // Where nothing had a timestamp, a read of the past may come before any of it.
    let unstamped = kind == Kind::Serializable && !stamped;
    let floor = if unstamped { i64::MAX } else { checkpoint.committed };
    Some(Pruned { history: replace_before(history, transactions, &checkpoint, settled)?, floor })
}

/// A time at which a history can be cut.
struct Checkpoint {
    /// When the last was before.
    last: u64,
    left: StoreContent,
    /// The latest commit timestamp before.
    committed: i64,
    /// Of transactions begun before, those of which something is to come.
    fates: FastMap<usize, Fate>,
}

/// What is to come of a transaction.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// Nothing: it has happened, or never will.
    Gone,
    /// Its commit: the snapshot is taken.
    Commit,
    Whole,
}

/// An instant of a transaction.
pub trait Instants {
    /// The transaction's number, if this is its first instant.
    fn begins(&self) -> Option<usize>;
}

/// Where to look for places.
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
            if !cut.open.is_empty() {
                return;
            }
            while let Some(instant) = instants.next_if(|instant| instant.next <= cut.next) {
                let mut states = cut.frontier.configurations.iter().map(|c| c.state.content());
                if cut.last <= instant.end
                    && let Some(left) = states.next()
                    && states.all(|other| other == left)
                {
                    let (last, committed) = (instant.end, instant.committed);
                    found = Some(Checkpoint { last, left, committed, fates: FastMap::default() });
                }
            }
        });
        // A checkpoint is one whatever came later, but what timestamps say is said of all together.
        let is_whole = followed.is_ok_and(|witness| witness.is_none());
        found.filter(|_| is_whole || self.instants.is_none())
    }
}

/// Whether, and how, a history can be cut there.
fn checkpoint<O: Instants, S: HasContent>(
    journal: &Journal<O>,
    cut: &Cut<O, S>,
) -> Option<Checkpoint> {
    let [way] = &cut.frontier.configurations[..] else { return None };
    let mut fates: FastMap<usize, Fate> =
        way.state.running().iter().map(|number| (*number, Fate::Commit)).collect();
    for (id, _) in cut.open.iter().filter(|(_, bit)| way.done & bit == 0) {
        if let Some(number) = journal.get(*id).operation.begins() {
            fates.insert(number, Fate::Whole);
        }
    }
    Some(Checkpoint { last: cut.last, left: way.state.content(), committed: i64::MIN, fates })
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
        // Of one whose snapshot is taken begin and first change come before all that is kept.
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
    let stands = transactions[gone.or((0..transactions.len()).next())?].operations[0].thread;
    for (time, (op, args, results)) in (first..).zip(&calls) {
        let (op, start, end) = (*op, time, time);
        let entry = Entry { op, status: Status::Ok, start, end, args, results };
        rest.threads[stands as usize].push(entry).expect("they follow each other");
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
