//! Prunes the history of a log in an online check: drops operations that no future response can
//! contradict. Streams are not for it. The contract is that of [`super::prune`].
//!
//! The records stay, and so do the appends. Any other operation matters for its position alone: it
//! contradicts an operation that comes before it in the log and was invoked only after its response
//! (see `exact::log`). The position of all operations is known but for appends without an answer,
//! so only these and future operations may still come before another. Of the reads and looks at the
//! tail that had responded when such an append was invoked, the one furthest on therefore says what
//! all of them do; likewise of those that had responded before `settled`. A read that shows the
//! position of an append without an answer says more, and stays.

use super::prune::{Dropped, kept};
use crate::check::exact::log::is_exact;
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};
use rustc_hash::FxHashSet;

/// How far on: the position, and whether it is that of the tail, an append or a read.
type LogPosition = (i64, u8);

/// By the [contract](super) of every prune.
pub fn prune(history: &History, settled: u64) -> Option<History> {
    if !is_exact(history) {
        return None;
    }
    let all = || history.ids().map(|id| (id, history.operation(id)));
    let mut answered: FxHashSet<i64> = FxHashSet::default();
    let mut times = vec![settled];
    for (id, operation) in all().filter(|(_, o)| o.op == Op::LogAppend) {
        match operation.status {
            Status::Ok => drop(answered.insert(history.args(id)[0])),
            status if status.is_open() => times.push(operation.start),
            _ => {}
        }
    }
    let mut shown: FxHashSet<i64> = FxHashSet::default();
    let mut dropped = Dropped::new(history);
    let mut looks: Vec<(u64, LogPosition, OperationId)> = Vec::new();
    for (id, operation) in all() {
        if operation.status.is_open() {
            dropped.set(id, operation.op.only_reads());
            continue;
        }
        let value = history.results(id).first().copied();
        match (operation.op, operation.status) {
            (Op::LogAppend, Status::Ok) => looks.push((operation.end, (value?, 1), id)),
            (Op::LogCheckTail, Status::Ok) => looks.push((operation.end, (value?, 0), id)),
            // Once for each.
            (Op::LogRead, Status::Ok) if !answered.contains(&value?) && shown.insert(value?) => {}
            (Op::LogRead, Status::Ok) => {
                looks.push((operation.end, (history.args(id)[0], 2), id));
            }
            // Nothing to come can have to come after what was called before.
            (Op::LogRead, _) => dropped.set(id, operation.start < settled),
            _ => dropped.set(id, true),
        }
    }
    looks.sort_unstable();
    let goes = |(end, _, id): &&(u64, LogPosition, OperationId)| {
        *end < settled && history.operation(*id).op != Op::LogAppend
    };
    looks.iter().filter(goes).for_each(|(_, _, id)| dropped.set(*id, true));
    times.sort_unstable();
    let mut next = times.into_iter().peekable();
    let mut furthest: Option<(LogPosition, OperationId)> = None;
    for (end, place, id) in looks {
        while next.next_if(|time| *time <= end).is_some() {
            furthest.iter().for_each(|(_, id)| dropped.set(*id, false));
        }
        furthest = furthest.max(Some((place, id)));
    }
    if next.next().is_some() {
        furthest.iter().for_each(|(_, id)| dropped.set(*id, false));
    }
    Some(kept(history, &dropped).0)
}
