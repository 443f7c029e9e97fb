//! Finds the few operations on a key of a set that contradict each other, given the operation that
//! [`super::set`] could not explain.

use super::set::{Want, want};
use crate::check::explanation::{Explanation, OfSearch};
use crate::check::verdict::Witness;
use crate::core::history::{Entry, History, OperationId, Thread};
use crate::core::operation::{Op, Status};

/// Changes under way at the beginning of the evidence: for each, both cases are looked at.
const OPTIONAL_MAX: usize = 4;
/// Operations up to which the evidence is cut down: each step takes checks of all.
const CUT_DOWN_MAX: usize = 512;

/// Operations on one key that contradict each other, whatever came before them.
#[derive(Clone)]
struct Evidence {
    /// Changes that were under way when the first of `certain` was called: each may have happened
    /// before.
    optional: Vec<OperationId>,
    certain: Vec<OperationId>,
    /// Nothing on the key came before: it was absent.
    from_start: bool,
}

/// Says of a history of one key for certain that no order explains it.
type IsBad<'a> = &'a dyn Fn(&History) -> bool;

/// The witness of a set whose operation `failed` no order explains.
pub fn contradiction(history: &History, failed: OperationId, is_bad: IsBad) -> Witness {
    let key = history.args(failed)[0];
    let last = history.operation(failed).end;
    let on_key =
        |id: &OperationId| history.args(*id)[0] == key && history.operation(*id).start <= last;
    let mut ids: Vec<_> = history.ids().filter(on_key).collect();
    ids.sort_by_key(|id| (history.operation(*id).start, *id));
    let evidence = shortest(history, &ids, failed, is_bad);
    let was_absent = evidence.from_start;
    let operations: Vec<_> = evidence.optional.into_iter().chain(evidence.certain).collect();
    let count = operations.len();
    let explanation = Explanation::Search(OfSearch::OfSet { failed, key, count, was_absent });
    Witness::new("set-answer", explanation, operations)
}

/// The latest few of `ids` (by start) that contradict each other: twice as many are tried until
/// they do, then the first ones and those that change nothing are left out where they can be.
fn shortest(
    history: &History,
    ids: &[OperationId],
    failed: OperationId,
    is_bad: IsBad,
) -> Evidence {
    let mut count = 2;
    while count < ids.len() && !Evidence::of_last(history, ids, count).contradicts(history, is_bad)
    {
        count *= 2;
    }
    let mut evidence = Evidence::of_last(history, ids, count);
    if count > CUT_DOWN_MAX {
        return evidence;
    }
    for fewer in count / 2 + 1..count.min(ids.len()) {
        let shorter = Evidence::of_last(history, ids, fewer);
        if shorter.contradicts(history, is_bad) {
            evidence = shorter;
            break;
        }
    }
    evidence.cut_down(history, failed, is_bad);
    evidence
}

impl Evidence {
    /// The last `count` of `ids`, and the changes under way when the first of them was called.
    fn of_last(history: &History, ids: &[OperationId], count: usize) -> Evidence {
        let from = ids.len().saturating_sub(count);
        let called = history.operation(ids[from]).start;
        let under_way = |id: &&OperationId| {
            let operation = history.operation(**id);
            let changes = matches!(want(operation.op, operation.status), Want::Flip(_));
            changes && operation.end >= called
        };
        Evidence {
            optional: ids[..from].iter().filter(under_way).copied().collect(),
            certain: ids[from..].to_vec(),
            from_start: from == 0,
        }
    }

    /// Whether no state of the key before, and no choice of the changes that may have happened
    /// before, lets an order explain the answers.
    fn contradicts(&self, history: &History, is_bad: IsBad) -> bool {
        if self.optional.len() > OPTIONAL_MAX {
            return false;
        }
        (0..1u32 << self.optional.len()).all(|chosen| {
            let optional = self.optional.iter().enumerate();
            let after = optional.filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, id)| *id);
            let ids: Vec<_> = after.chain(self.certain.iter().copied()).collect();
            let states: &[bool] = if self.from_start { &[false] } else { &[false, true] };
            states.iter().all(|present| is_bad(&alone(history, &ids, *present)))
        })
    }

    /// Leaves out what changes nothing and is not needed: many at a time first, then fewer (Zeller
    /// and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002). An order
    /// that explains all explains any such part.
    fn cut_down(&mut self, history: &History, failed: OperationId, is_bad: IsBad) {
        let sees = |id: &OperationId| {
            let operation = history.operation(*id);
            *id != failed && matches!(want(operation.op, operation.status), Want::See(_))
        };
        let mut size = self.certain.len();
        while size > 0 {
            let droppable: Vec<_> = self.certain.iter().copied().filter(sees).collect();
            for chunk in droppable.chunks(size) {
                let mut without = self.clone();
                without.certain.retain(|id| !chunk.contains(id));
                if without.contradicts(history, is_bad) {
                    *self = without;
                }
            }
            size /= 2;
        }
    }
}

/// The history of `ids`, with the key present or absent before.
fn alone(history: &History, ids: &[OperationId], present: bool) -> History {
    let mut only = history.only(ids);
    if present {
        let key = history.args(ids[0]);
        let mut before = Thread::new(u32::MAX);
        let (op, status) = (Op::SetInsert, Status::Ok);
        let insert = Entry { op, status, start: 0, end: 0, args: key, results: &[] };
        before.push(insert).expect("the first of its thread");
        only.threads.push(before);
    }
    only
}
