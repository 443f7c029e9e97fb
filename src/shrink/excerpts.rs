//! Makes scenarios from excerpts of a recorded round: the calls near its witness.

use std::ops::Range;

use crate::core::history::{History, Operation, OperationId};
use crate::core::plan::Scenario;
use crate::core::scenario;
use crate::finding::{Failure, Finding};
use crate::trace::rounds::Round;

/// Calls of each thread before those that overlap an operation of the witness.
const BEFORE: [usize; 5] = [2, 8, 32, 128, 512];
/// The number of calls after them is that before, divided by this.
const AFTER_PART: usize = 4;
/// A larger round is not tried as a whole, because each process would get all of its calls.
const WHOLE_MAX: usize = 100_000;

/// The operations of the witness, then larger and larger excerpts around them, then the whole
/// round. Each is different, and has calls of at least two threads if the round has.
pub(super) fn around_witness(finding: &Finding, round: &Round) -> Vec<Scenario> {
    let (history, callers) = (&round.history, round.start.threads);
    let witness = witness(finding, history);
    let part = |before: Option<usize>| {
        let near: Vec<_> = history.threads.iter().map(|_| Vec::new()).collect();
        let near = witness.iter().fold(near, |mut near, id| {
            let of = history.operation(*id);
            for (ranges, thread) in near.iter_mut().zip(&history.threads) {
                ranges.extend(before.map(|before| near_to(of, thread.operations(), before)));
            }
            near[id.thread as usize].push(id.index as usize..id.index as usize + 1);
            near
        });
        let kept = |id: OperationId| {
            near[id.thread as usize].iter().any(|range| range.contains(&(id.index as usize)))
        };
        scenario::from_part(history, callers, kept)
    };
    let whole = (history.len() <= WHOLE_MAX).then(|| scenario::from_history(history, callers));
    let sizes = [None].into_iter().chain(BEFORE.map(Some));
    let mut parts: Vec<Scenario> = sizes.map(part).chain(whole).collect();
    parts.retain(|part| busy(part) >= 2.min(callers as usize));
    parts.dedup();
    parts
}

/// The number of threads with calls.
fn busy(scenario: &Scenario) -> usize {
    scenario.threads.iter().filter(|calls| !calls.is_empty()).count()
}

/// The operations that show the finding; for a fault, the last operation of each thread.
fn witness(finding: &Finding, history: &History) -> Vec<OperationId> {
    let last = |thread: u32| {
        let index = history.threads[thread as usize].operations().len().checked_sub(1)? as u32;
        Some(OperationId { thread, index })
    };
    match &finding.what {
        Failure::Violation { operations, .. } => operations.clone(),
        Failure::Fault { .. } => (0..history.threads.len() as u32).filter_map(last).collect(),
    }
}

/// The calls of one thread that overlap an operation, with `before` calls before and a few after
/// them.
fn near_to(operation: &Operation, calls: &[Operation], before: usize) -> Range<usize> {
    let first = calls.partition_point(|call| call.end < operation.start);
    let end = calls.partition_point(|call| call.start <= operation.end);
    first.saturating_sub(before)..(end.max(first) + before / AFTER_PART).min(calls.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Explanation, OfValues};
    use crate::core::history::{Entry, Thread};
    use crate::core::operation::{Op, Status};
    use crate::core::plan::Plan;
    use crate::process::fault::{Fault, FaultKind};
    use crate::trace::frame::{RoundEnd, RoundStart};

    /// Three threads, whose calls write their own numbers one after the other, and a drain that
    /// reads. Call k of thread 0 is under way from 10 k to 10 k + 5; the others' begin 3 later.
    fn round(calls: usize) -> Round {
        let mut history = History::default();
        for client in 0..4 {
            let mut thread = Thread::new(client);
            let (count, late) = if client < 3 { (calls, client.min(1) * 3) } else { (1, 0) };
            for call in 0..count as u64 {
                let number = if client < 3 { call } else { calls as u64 + 1 };
                let start = 10 * number + u64::from(late);
                let (op, args, results): (_, &[i64], &[i64]) = match client {
                    3 => (Op::RegisterRead, &[], &[0]),
                    _ => (Op::RegisterWrite, &[call as i64], &[]),
                };
                let status = Status::Ok;
                let entry = Entry { op, status, start, end: start + 5, args, results };
                thread.push(entry).expect("one after the other");
            }
            history.threads.push(thread);
        }
        let end = RoundEnd::new(7, true);
        let start = RoundStart { round: 7, threads: 3, calls: 9, sequential: false, fresh: false };
        Round { start, history, end }
    }

    /// A violation of these operations: thread, number of the call.
    fn violation(operations: &[(u32, u32)]) -> Finding {
        let fault = Fault::new(FaultKind::Signal(6), String::new(), 7);
        let mut finding = Finding::fault(&fault, Vec::new(), &Plan::new("t", 1), "register");
        let id = |(thread, index): &(u32, u32)| OperationId { thread: *thread, index: *index };
        finding.what = Failure::Violation {
            rule: "not-linearizable".to_string(),
            explanation: Explanation::Values(OfValues::AllLost(Vec::new())),
            circumstance: None,
            operations: operations.iter().map(id).collect(),
            partials: None,
            weaker: Vec::new(),
        };
        finding
    }

    /// What each thread writes.
    fn written(scenario: &Scenario) -> Vec<Vec<i64>> {
        let of =
            |calls: &Vec<crate::core::plan::Call>| calls.iter().map(|call| call.args[0]).collect();
        scenario.threads.iter().map(of).collect()
    }

    #[test]
    fn excerpts_grow_around_the_witness() {
        let parts = around_witness(&violation(&[(0, 100), (1, 100)]), &round(1000));
        assert_eq!(written(&parts[0]), [vec![100], vec![100], vec![]]);
        // Those of the third thread that were under way with either, and two before.
        assert_eq!(written(&parts[1]), [vec![98, 99, 100], vec![98, 99, 100], vec![98, 99, 100]]);
        assert_eq!(written(&parts[2])[0], (92..=102).collect::<Vec<_>>());
        assert_eq!(parts.last().expect("all").calls(), 3000);
        assert!(parts.windows(2).all(|two| two[0].calls() < two[1].calls()));
        assert_eq!(parts.len(), 2 + BEFORE.len());
    }

    /// One operation alone, or one of the drain, contradicts others: these are near it.
    #[test]
    fn an_excerpt_has_several_threads() {
        let parts = around_witness(&violation(&[(2, 0)]), &round(6));
        assert_eq!(written(&parts[0]), [[0], [0], [0]]);
        let parts = around_witness(&violation(&[(3, 0)]), &round(6));
        assert_eq!(written(&parts[0]), [[4, 5], [4, 5], [4, 5]]);
        // Excerpts that are equal are one.
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1].calls(), 18);
    }

    #[test]
    fn the_witness_of_a_fault_is_the_last_calls() {
        let fault = Fault::new(FaultKind::Signal(11), String::new(), 7);
        let finding = Finding::fault(&fault, Vec::new(), &Plan::new("t", 1), "register");
        let parts = around_witness(&finding, &round(50));
        assert_eq!(written(&parts[0]), [[49], [49], [49]]);
    }
}
