//! Explains transactions under snapshot isolation by the order of their timestamps, without a
//! search: what most stores do takes no other order, however many transactions overlap.
//!
//! Commits take effect in the order of their timestamps, each as early as its box allows. A
//! snapshot is taken right after the last commit that its read timestamp shows. The sequential
//! object then says whether the order explains every answer; another order may, where it does not.

use super::content::{HasContent, StoreContent};
use super::stamped::Isolated;
use super::store::Point;
use super::transaction::{Outcome, Transaction};
use crate::check::verdict::Limits;
use crate::core::history::NEVER;
use crate::model::Model;

/// Whether the order of the timestamps explains these transactions. Those whose commit has no
/// answer count as not committed. No where the limits end it.
pub fn explains(transactions: &[&Transaction], model: &Isolated, limits: &Limits) -> bool {
    content_at(NEVER, transactions, model, limits).is_some()
}

/// What is committed at `time`, when no transaction is under way, if the order of the timestamps
/// [explains](explains) all transactions.
///
/// Every other order that explains them leaves the same. Of two commits that change one key, the
/// later one's snapshot comes after the earlier commit, and ends before the later commit is called:
/// so their boxes allow one order only.
pub fn content_at(
    time: u64,
    transactions: &[&Transaction],
    model: &Isolated,
    limits: &Limits,
) -> Option<StoreContent> {
    let (mut store, mut content) = (model.init(), None);
    for (at, .., point) in order(transactions)? {
        if at > time && content.is_none() {
            content = Some(store.content());
        }
        if !model.take_effect(&mut store, &point) || limits.go_on().is_err() {
            return None;
        }
    }
    content.or_else(|| Some(store.content()))
}

/// When an instant is, how many commits come before it, whether it is one, and which it is.
type At = (u64, usize, bool, Point);

/// The instants of the transactions in their order, if the commits fit into their boxes.
fn order(transactions: &[&Transaction]) -> Option<Vec<At>> {
    let commits = commits(transactions)?;
    let commit = |(place, commit): (usize, &Commit)| {
        let (_, at, number) = *commit;
        (at, place, true, Point::Commit(number))
    };
    let mut order: Vec<At> = commits.iter().enumerate().map(commit).collect();
    for (number, transaction) in transactions.iter().enumerate() {
        if transaction.snapshot_end == NEVER {
            continue;
        }
        let reads = transaction.read_at.unwrap_or(i64::MAX);
        let shown = commits.partition_point(|(stamp, ..)| *stamp <= reads);
        let last = commits[..shown].last().map_or(0, |(_, at, _)| *at);
        let at = last.max(transaction.start).min(transaction.snapshot_end);
        order.push((at, shown, false, Point::Snapshot(number)));
    }
    // Of one time, a snapshot comes before the commits that it does not show.
    order.sort_by_key(|(at, before, is_commit, _)| (*at, *before, *is_commit));
    Some(order)
}

/// A commit's timestamp, when it takes effect, and whose it is.
type Commit = (i64, u64, usize);

/// The commits in the order of their timestamps; one without is the earliest.
fn commits(transactions: &[&Transaction]) -> Option<Vec<Commit>> {
    let mut commits: Vec<Commit> = Vec::new();
    for (number, transaction) in transactions.iter().enumerate() {
        if let Outcome::Committed { start, .. } = transaction.outcome
            && !transaction.writes.is_empty()
        {
            commits.push((transaction.commit_at.unwrap_or(i64::MIN), start, number));
        }
    }
    commits.sort_unstable();
    let mut latest = 0;
    for (_, at, number) in &mut commits {
        let Outcome::Committed { end, .. } = transactions[*number].outcome else { continue };
        latest = latest.max(*at);
        *at = latest;
        if latest > end {
            return None;
        }
    }
    Some(commits)
}
