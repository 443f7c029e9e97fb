//! Judges histories that other orders may explain than those of linearizability: sequential and
//! quiescent consistency, quasi-linearizability.

use super::data::witnesses::UNEXPLAINED;
use super::decide::check as by_timeboxes;
use super::explanation::{Explanation, OfSearch};
use super::search::program_order::is_sequentially_consistent;
use super::search::quasi::is_quasi_linearizable;
use super::transactions;
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
        Consistency::Unordered => "not-serializable",
        Consistency::Quasi(_) => "not-quasi-linearizable",
    }
}

/// Decides a history by the orders of `spec.consistency`.
pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    match spec.consistency {
        Consistency::Linearizable => by_timeboxes(history, spec, limits),
        Consistency::Unordered => transactions::check(history, spec, limits),
        Consistency::Sequential | Consistency::Quasi(_) if history.has_blocks() => {
            Verdict::Inconclusive(Undecided::OrderUnknown)
        }
        Consistency::Sequential => {
            decided(history, spec, is_sequentially_consistent(history, spec, limits))
        }
        Consistency::Quasi(factor) => {
            let alone = spec.kind.is_run().then(|| split_clients(history, spec.consistency).0);
            let of = (alone.as_ref().unwrap_or(history), factor);
            decided(history, spec, is_quasi_linearizable(of, spec, limits))
        }
        Consistency::Quiescent => {
            let (widened, ids) = split_clients(history, spec.consistency);
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

/// The verdict, by whether there is an order.
fn decided(history: &History, spec: &Spec, exists: Result<bool, Undecided>) -> Verdict {
    match exists {
        Ok(true) => Verdict::Consistent,
        Ok(false) => violated(spec.consistency, history.ids().collect()),
        Err(why) => Verdict::Inconclusive(why),
    }
}

fn violated(consistency: Consistency, operations: Vec<OperationId>) -> Verdict {
    let explanation = Explanation::Search(OfSearch::NoSuchOrder(consistency));
    Verdict::Violation(Witness::new(rule(consistency), explanation, operations))
}

/// The history with each operation alone, of a client of its own; and the operation of each thread.
/// For quiescent consistency its timebox is the whole time between two instants at which no
/// operation was under way. Linearizable orders of it are then the quiescently consistent ones of
/// `history`.
pub fn split_clients(history: &History, consistency: Consistency) -> (History, Vec<OperationId>) {
    let mut ids: Vec<OperationId> = history.ids().collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    let mut widened = History { drain: None, ..history.without_threads() };
    let is_apart = |ends: &mut u64, id: &OperationId| {
        let operation = history.operation(*id);
        let apart = operation.start > *ends || consistency != Consistency::Quiescent;
        *ends = operation.end.max(*ends);
        apart
    };
    let mut ends = ids.first().map_or(0, |first| history.operation(*first).start);
    let mut begins: Vec<usize> = vec![0];
    begins.extend((0..ids.len()).filter(|at| is_apart(&mut ends, &ids[*at])));
    begins.push(ids.len());
    for time in begins.windows(2) {
        widen(&mut widened, history, &ids[time[0]..time[1]]);
    }
    (widened, ids)
}

/// Adds the operations of one such time.
fn widen(widened: &mut History, history: &History, ids: &[OperationId]) {
    let operations = || ids.iter().map(|id| history.operation(*id));
    let Some(start) = operations().map(|operation| operation.start).min() else { return };
    // Those that never returned stay open.
    let ends = operations().map(|operation| operation.end).filter(|end| *end != NEVER);
    let end = ends.max().unwrap_or(start);
    for id in ids {
        let mut own = Thread::new(widened.threads.len() as u32);
        own.push(Entry { start, end, ..history.entry(*id) }).expect("it is the only one");
        widened.threads.push(own);
    }
}
