//! Judges histories that other orders may explain than those of linearizability: sequential and
//! quiescent consistency.

use super::data::witnesses::UNEXPLAINED;
use super::decide::check as by_timeboxes;
use super::explanation::{Explanation, OfSearch};
use super::search::program_order::is_sequentially_consistent;
use super::undecided::Undecided;
use super::verdict::{Limits, Verdict, Witness};
use crate::core::history::{Entry, History, NEVER, OperationId, Thread};
use crate::model::{Consistency, Spec};

/// The rule that such a history violates.
fn rule(consistency: Consistency) -> &'static str {
    match consistency {
        Consistency::Linearizable => UNEXPLAINED,
        Consistency::Sequential => "not-sequentially-consistent",
        Consistency::Quiescent => "not-quiescently-consistent",
    }
}

/// Decides a history by the orders of `spec.consistency`.
pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    match spec.consistency {
        Consistency::Linearizable => by_timeboxes(history, spec, limits),
        Consistency::Sequential if history.has_blocks() => {
            Verdict::Inconclusive(Undecided::OrderUnknown)
        }
        Consistency::Sequential => match is_sequentially_consistent(history, spec, limits) {
            Ok(true) => Verdict::Consistent,
            Ok(false) => violated(spec.consistency, history.ids().collect()),
            Err(why) => Verdict::Inconclusive(why),
        },
        Consistency::Quiescent => {
            let (widened, ids) = without_order_within(history);
            let linearizable = Spec { consistency: Consistency::Linearizable, ..*spec };
            match by_timeboxes(&widened, &linearizable, limits) {
                Verdict::Violation(witness) => {
                    let original = |id: OperationId| ids[id.thread as usize];
                    let own = witness.operations.into_iter().map(original).collect();
                    violated(spec.consistency, own)
                }
                verdict => verdict,
            }
        }
    }
}

fn violated(consistency: Consistency, operations: Vec<OperationId>) -> Verdict {
    let explanation = Explanation::Search(OfSearch::NoSuchOrder(consistency));
    Verdict::Violation(Witness::new(rule(consistency), explanation, operations))
}

/// The history with each operation in a thread of its own, whose timebox is the whole time between
/// two instants at which no operation was under way; and the operation of each thread. Linearizable
/// orders of it are the quiescently consistent ones of `history`.
fn without_order_within(history: &History) -> (History, Vec<OperationId>) {
    let mut ids: Vec<OperationId> = history.ids().collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    let mut widened = history.without_threads();
    let (mut first, mut end) = (0, 0);
    for at in 0..ids.len() {
        let operation = history.operation(ids[at]);
        if at > first && operation.start > end {
            widen(&mut widened, history, &ids[first..at], end);
            first = at;
        }
        end = operation.end.max(if at == first { 0 } else { end });
    }
    widen(&mut widened, history, &ids[first..], end);
    (widened, ids)
}

/// Adds the operations of a time that begins with the first of them, and ends at `end`.
fn widen(widened: &mut History, history: &History, ids: &[OperationId], end: u64) {
    let Some(first) = ids.first() else { return };
    let start = history.operation(*first).start;
    for id in ids {
        let entry = history.entry(*id);
        // One that never returned stays open, and the others return before what comes after.
        let last = ids.iter().map(|id| history.operation(*id).end).filter(|end| *end != NEVER);
        let end = if end == NEVER { last.max().unwrap_or(start) } else { end };
        let mut own = Thread::new(history.threads[id.thread as usize].client);
        own.push(Entry { start, end, ..entry }).expect("it is the only one");
        widened.threads.push(own);
    }
}
