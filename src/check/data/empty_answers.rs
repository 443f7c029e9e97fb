//! Says which "empty" answers a model promises to be true: all, those of removals that overlap no
//! other removal, or none (see [`Empty`]).

use super::events::Events;
use super::small::Few;
use crate::core::history::{History, Operation, OperationId};
use crate::core::operation::Status;
use crate::model::{Empty, Spec};
use rustc_hash::FxHashSet;

/// Whether the model promises that this "empty" answer is true.
pub fn must_be_true(spec: &Spec, lone: bool) -> bool {
    lone && spec.empty >= Empty::Lone || spec.empty >= Empty::Identity
}

/// The "empty" answers of which the model promises nothing.
pub fn not_promised(history: &History, spec: &Spec) -> FxHashSet<OperationId> {
    let mut not_promised = FxHashSet::default();
    let answers_empty =
        |operation: &Operation| operation.op.removes() && operation.status == Status::Empty;
    if !history.threads.iter().any(|thread| thread.operations().iter().any(answers_empty)) {
        return not_promised;
    }
    let mut removals = OpenRemovals::new(history.threads.len());
    for event in Events::new(history).filter(|event| event.operation.op.removes()) {
        if !event.returns {
            removals.call(event.id.thread);
            continue;
        }
        let lone = removals.returns(event.id.thread);
        if event.operation.status == Status::Empty && !must_be_true(spec, lone) {
            not_promised.insert(event.id);
        }
    }
    not_promised
}

/// Follows the events and says which removals overlap no other removal.
pub struct OpenRemovals {
    open: u32,
    called: u64,
    /// By thread: what `called` was after its last removal was called, and whether that removal
    /// began while no other was open.
    entered: Few<(u64, bool)>,
}

impl OpenRemovals {
    pub fn new(threads: usize) -> OpenRemovals {
        OpenRemovals { open: 0, called: 0, entered: Few::from_elem((0, false), threads) }
    }

    #[inline]
    pub fn call(&mut self, thread: u32) {
        self.called += 1;
        self.entered[thread as usize] = (self.called, self.open == 0);
        self.open += 1;
    }

    /// The thread's removal returns; says whether it overlapped no other.
    #[inline]
    pub fn returns(&mut self, thread: u32) -> bool {
        self.open -= 1;
        let (called, alone) = self.entered[thread as usize];
        alone && called == self.called
    }
}
