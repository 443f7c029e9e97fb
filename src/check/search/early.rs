//! Says which operations of a history may as well take effect when they are called, and which need
//! not happen at all: a search need not try them at every instant of their timeboxes.
//!
//! An addition does no harm by coming early where the object does not say which of two additions
//! that overlap came first (a pool; a queue of each producer; an [`UnsettledQueue`]): what is
//! inside and not taken keeps nobody from anything, except from an "empty" answer.
//!
//! [`UnsettledQueue`]: super::unsettled_queue::UnsettledQueue

use super::steps::Step;
use crate::check::data::empty_answers::not_promised;
use crate::check::data::events::Events;
use crate::check::data::small::Few;
use crate::check::data::values::taken_values;
use crate::check::exact::removals::{any_bulk, any_open};
use crate::check::exact::sizes::any_claim;
use crate::core::history::{History, Operation, OperationId};
use crate::core::operation::Status;
use crate::model::{Bulk, Call, Kind, Spec};
use rustc_hash::FxHashSet;

pub struct Early {
    /// Those that may as well take effect when they are called.
    early: FxHashSet<OperationId>,
    /// Where additions are without an answer: the values that removals took.
    taken: Option<FxHashSet<i64>>,
    /// The "empty" answers that need not be true.
    not_promised: FxHashSet<OperationId>,
}

impl Early {
    pub fn new(history: &History, spec: &Spec) -> Early {
        let adds = |id: OperationId| {
            let operation = history.operation(id);
            operation.op.adds() && operation.status.is_open()
        };
        // What nobody took may be counted.
        let may_matter = !any_claim(history, spec) && history.ids().any(adds);
        let taken = may_matter.then(|| taken_values(history));
        let not_promised = not_promised(history, spec);
        Early { early: early(history, spec, &not_promised), taken, not_promised }
    }

    pub fn contains(&self, id: OperationId) -> bool {
        self.early.contains(&id)
    }

    /// Leaves out steps of an operation that need not happen: of an "empty" answer that promises
    /// nothing; and those of an addition without an answer from which on no removal took what it
    /// adds.
    pub fn leave_out(&self, id: OperationId, steps: &mut Few<Step>) {
        if self.not_promised.contains(&id) {
            steps.clear();
        }
        let Some(taken) = &self.taken else { return };
        let is_needed = |step: &Step| {
            let Call { op, status, .. } = step.call;
            !op.adds() || !status.is_open() || step.call.added().iter().any(|v| taken.contains(v))
        };
        let last = steps.iter().rposition(is_needed);
        steps.truncate(last.map_or(0, |last| last + 1));
    }
}

/// The additions that do no harm, and the removals without an answer of which a queue counts what
/// they may take.
fn early(
    history: &History,
    spec: &Spec,
    not_promised: &FxHashSet<OperationId>,
) -> FxHashSet<OperationId> {
    let additions_commute = match spec.kind {
        Kind::Pool | Kind::FifoPerProducer => true,
        Kind::Fifo | Kind::FifoRelaxed => moves_one_by_one(history, spec),
        _ => false,
    };
    let is_counted = any_claim(history, spec);
    if !additions_commute {
        return FxHashSet::default();
    }
    let mut early = additions_without_harm(history, |id, operation| {
        let Operation { op, status, .. } = *operation;
        let is_empty = op.removes() && status == Status::Empty && !not_promised.contains(&id);
        is_empty || is_counted && op.says_count(status)
    });
    if counts_slots(history, spec) {
        let is_open = |id: &OperationId| {
            let operation = history.operation(*id);
            operation.op.removes() && operation.status.is_open()
        };
        early.extend(history.ids().filter(is_open));
    }
    early
}

/// Whether each value is added and taken at an instant of its own.
pub fn moves_one_by_one(history: &History, spec: &Spec) -> bool {
    spec.bulk != Bulk::Atomic || !any_bulk(history)
}

/// Whether removals without an answer may take values of a queue, one by one, and nobody asks how
/// many are left.
pub fn counts_slots(history: &History, spec: &Spec) -> bool {
    let is_counted = any_claim(history, spec);
    spec.kind != Kind::Pool && any_open(history) && moves_one_by_one(history, spec) && !is_counted
}

/// The additions that overlap no answer that `looks` at what is inside, and of those that need not
/// have happened none where the history ends with an empty structure.
fn additions_without_harm(
    history: &History,
    looks: impl Fn(OperationId, &Operation) -> bool,
) -> FxHashSet<OperationId> {
    let (mut looking, mut under_way) = (0, Few::<OperationId>::new());
    let mut additions = FxHashSet::default();
    for event in Events::new(history) {
        let Operation { op, status, .. } = *event.operation;
        match (looks(event.id, event.operation), event.returns) {
            (true, true) => looking -= 1,
            (true, false) => {
                looking += 1;
                under_way.drain(..).for_each(|id| {
                    additions.remove(&id);
                });
            }
            (false, true) => under_way.retain(|id| *id != event.id),
            (false, false) => {
                let does_harm = looking > 0 || history.drained && status.is_open();
                if op.adds() && !does_harm {
                    under_way.push(event.id);
                    additions.insert(event.id);
                }
            }
        }
    }
    additions
}
