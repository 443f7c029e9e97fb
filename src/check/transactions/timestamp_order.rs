//! Explains transactions under snapshot isolation by the order of their timestamps, without a
//! search: what most stores do takes no other order, however many transactions overlap.
//!
//! Commits take effect in the order of their timestamps, each as early as its box allows. A
//! snapshot is taken right after the last commit that its read timestamp shows. The sequential
//! object then says whether the order explains every answer; another order may, where it does not.

use std::collections::BTreeMap;

use super::anomaly::end as over;
use super::content::StoreContent;
use super::stamped::Isolated;
use super::store::{Point, write};
use super::transaction::{Outcome, Transaction};
use crate::check::verdict::Limits;
use crate::core::history::NEVER;
use crate::model::Model;

/// When an instant is, how many commits come before it, and which it is. Of one time, a snapshot
/// comes before the commit that it does not show.
type At = (u64, usize, bool, usize);

/// Whether the order of the timestamps explains these transactions. Those whose commit has no
/// answer count as not committed. No where the limits end it.
pub fn explains(transactions: &[&Transaction], model: &Isolated, limits: &Limits) -> bool {
    let Some(order) = order(transactions) else { return false };
    let mut store = model.init();
    order.iter().all(|point| model.take_effect(&mut store, point) && limits.go_on().is_ok())
}

/// The instants of the transactions, if the commits fit into their boxes.
fn order(transactions: &[&Transaction]) -> Option<Vec<Point>> {
    let commits = commits(transactions)?;
    let commit = |(place, (_, at, number)): (usize, &Commit)| (*at, place, true, *number);
    let mut order: Vec<At> = commits.iter().enumerate().map(commit).collect();
    for (number, transaction) in transactions.iter().enumerate() {
        if transaction.snapshot_end == NEVER {
            continue;
        }
        let reads = transaction.read_at.unwrap_or(i64::MAX);
        let shown = commits.partition_point(|(stamp, ..)| *stamp <= reads);
        let last = commits[..shown].last().map_or(0, |(_, at, _)| *at);
        let at = last.max(transaction.start).min(transaction.snapshot_end);
        order.push((at, shown, false, number));
    }
    order.sort_unstable();
    let point = |(_, _, commits, number): &At| match commits {
        true => Point::Commit(*number),
        false => Point::Snapshot(*number),
    };
    Some(order.iter().map(point).collect())
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

/// What is committed at `end`, where no transaction is under way: by key, what the latest timestamp
/// wrote. None where that may depend on the order of the commits.
///
/// Of two that change one key, the earlier timestamp commits first if its transaction reads before
/// that timestamp: such a one does not see the later one, and could not commit after it.
pub fn content_at(transactions: &[&Transaction], end: u64) -> Option<StoreContent> {
    let begun: Vec<&Transaction> =
        transactions.iter().filter(|t| t.start <= end).copied().collect();
    let commits = commits(&begun)?;
    let begins = |(.., number): &Commit| begun[*number].start;
    let mut values = BTreeMap::new();
    for (place, (stamp, _, number)) in commits.iter().enumerate() {
        let (transaction, later) = (begun[*number], &commits[place + 1..]);
        let is_first = match transaction.read_at {
            Some(read) => read < *stamp && later.first().is_none_or(|next| next.0 > *stamp),
            None => place == 0 && later.iter().all(|next| begins(next) > over(transaction)),
        };
        if !is_first {
            return None;
        }
        write(transaction, &mut values);
    }
    Some(StoreContent::new(values))
}
