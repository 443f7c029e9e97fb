//! Checks what queues, stacks and deques answer of how many values they hold, as far as that needs
//! no order: at each instant it is certain of some values that they are inside, and possible of
//! others. Exact where nothing is added or removed meanwhile; elsewhere a condition that must hold.

use crate::check::data::events::Events;
use crate::check::data::small::Few;
use crate::check::data::values::{added_by, taken_by};
use crate::check::explanation::{Explanation, OfValues};
use crate::check::verdict::Witness;
use crate::core::history::{History, Operation, OperationId, Thread};
use crate::core::operation::Op;
use crate::model::{Claim, Size, Spec, removed_max};

/// A claim under way.
struct Open {
    id: OperationId,
    claim: Claim,
    /// The range of what was possible so far.
    least: i64,
    most: i64,
    /// Whether nothing was added or removed meanwhile.
    lone: bool,
    /// Whether the claim was possible at some instant.
    fits: bool,
}

/// How many values are inside.
#[derive(Default)]
struct Inside {
    certain: i64,
    possible: i64,
    /// Additions and removals under way.
    moving: u32,
}

/// What an operation says of how many values are inside.
fn claim(thread: &Thread, operation: &Operation) -> Option<Claim> {
    let Operation { op, status, .. } = *operation;
    if !op.says_count(status) {
        return None;
    }
    Claim::of(op, status, thread.args(operation), thread.results(operation))
}

/// Whether some answer says how many values were inside.
pub fn any_count(history: &History) -> bool {
    let counts = |thread: &Thread| thread.ops().iter().any(Op::counts_values);
    let fails = |thread: &Thread| {
        let operations = thread.operations().iter();
        let bulk = thread.ops().contains(Op::DequeueBulk);
        bulk && operations.into_iter().any(|operation| claim(thread, operation).is_some())
    };
    history.threads.iter().any(|thread| counts(thread) || fails(thread))
}

/// Whether some answer says how many values were inside at one instant of its timebox, whatever
/// overlaps it: then there must be an order in which it is right.
pub fn any_claim(history: &History, spec: &Spec) -> bool {
    spec.size >= Size::Upper && any_count(history)
}

/// The first answer that cannot be right.
pub fn judge(history: &History, spec: &Spec) -> Option<Witness> {
    if spec.size == Size::None || !any_count(history) {
        return None;
    }
    let mut inside = Inside::default();
    let mut open: Few<Open> = Few::new();
    for event in Events::new(history) {
        let (id, operation) = (event.id, event.operation);
        let thread = &history.threads[id.thread as usize];
        let lone = inside.moving == 0;
        if operation.op.adds() || operation.op.removes() {
            inside.moves(thread, operation, event.returns);
            for open in open.iter_mut().filter(|open| open.id != id) {
                open.lone = false;
                open.meets(&inside, spec);
            }
        }
        let Some(claim) = claim(thread, operation) else { continue };
        if !event.returns {
            let mut new = Open { id, claim, least: i64::MAX, most: 0, lone, fits: false };
            new.meets(&inside, spec);
            open.push(new);
            continue;
        }
        let at = open.iter().position(|open| open.id == id);
        let open = open.swap_remove(at.expect("a response follows its invocation"));
        if !open.is_right(spec) {
            return Some(miscounted(&open));
        }
    }
    None
}

impl Inside {
    /// An addition or a removal is called or returns.
    fn moves(&mut self, thread: &Thread, operation: &Operation, returns: bool) {
        let added = added_by(thread, operation).len() as i64;
        let taken = taken_by(thread, operation).len() as i64;
        if returns {
            self.moving -= 1;
            self.certain += added;
            self.possible -= taken;
            return;
        }
        self.moving += 1;
        self.possible += added;
        self.certain -= match operation.status.is_open() && operation.op.removes() {
            true => removed_max(operation.op, thread.args(operation)) as i64,
            false => taken,
        };
    }
}

impl Open {
    /// So many values are inside now.
    fn meets(&mut self, inside: &Inside, spec: &Spec) {
        let (least, most) = (inside.certain.max(0), inside.possible.max(0));
        (self.least, self.most) = (self.least.min(least), self.most.max(most));
        let claim = if spec.size == Size::Exact { Some(self.claim) } else { self.claim.upper() };
        self.fits |= claim.is_none_or(|claim| claim.fits(least, most));
    }

    fn is_right(&self, spec: &Spec) -> bool {
        match self.lone {
            true => self.claim.fits(self.least, self.most),
            false => self.fits || spec.size < Size::Upper,
        }
    }
}

fn miscounted(open: &Open) -> Witness {
    let (least, most) = (open.least as u64, open.most as u64);
    let explanation = OfValues::Miscounted { answer: open.id, least, most, lone: open.lone };
    Witness::new("miscounted", Explanation::Values(explanation), vec![open.id])
}
