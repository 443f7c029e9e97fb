//! Makes the witnesses that several checkers share, and finds the operations that moved a value.

use super::values::{added_by, taken_by};
use crate::check::explanation::{Explanation, OfOrder, OfValues};
use crate::check::verdict::Witness;
use crate::core::history::{History, OperationId};

/// The rule of a witness that names no reason but that there is no order.
pub const UNEXPLAINED: &str = "not-linearizable";
/// The same, where operations take effect in several steps each ([`Model::split`], or
/// `interlap::next_step` of a class).
///
/// [`Model::split`]: crate::model::Model::split
pub const UNEXPLAINED_IN_STEPS: &str = "not-interval-linearizable";

/// The operations that added `value`, or may have.
pub fn adders(history: &History, value: i64) -> Vec<OperationId> {
    let adds = |id: &OperationId| {
        let thread = &history.threads[id.thread as usize];
        added_by(thread, history.operation(*id)).contains(&value)
    };
    history.ids().filter(adds).collect()
}

/// The operations that removed `value`, the first to be called first.
pub fn takers(history: &History, value: i64) -> Vec<OperationId> {
    let takes = |id: &OperationId| {
        let thread = &history.threads[id.thread as usize];
        taken_by(thread, history.operation(*id)).contains(&value)
    };
    let mut ids: Vec<_> = history.ids().filter(takes).collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    ids
}

pub fn from_nowhere(history: &History, value: i64) -> Witness {
    let (adders, found) = (adders(history, value), takers(history, value)[0]);
    let addition = adders.first().copied();
    let operations = adders.into_iter().chain([found]).collect();
    let explanation = Explanation::Values(OfValues::FromNowhere { value, found, addition });
    Witness::new("from-nowhere", explanation, operations)
}

pub fn taken_twice(history: &History, value: i64) -> Witness {
    let takers = takers(history, value);
    let first = takers[0];
    let removals = [first, takers.get(1).copied().unwrap_or(first)];
    let mut operations = adders(history, value);
    operations.extend(removals);
    operations.dedup();
    let explanation = Explanation::Values(OfValues::TakenTwice { value, removals });
    Witness::new("taken-twice", explanation, operations)
}

pub fn lost(addition: OperationId, value: i64) -> Witness {
    let explanation = Explanation::Values(OfValues::Lost { value, addition });
    Witness::new("lost", explanation, vec![addition])
}

/// An "empty" answer during all of which the values of `inside` were in the structure in turn.
pub fn empty_while_full(history: &History, removal: OperationId, inside: &[i64]) -> Witness {
    let mut operations: Vec<_> = inside.iter().flat_map(|v| adders(history, *v)).collect();
    operations.push(removal);
    let addition = operations[0];
    operations.extend(inside.iter().flat_map(|v| takers(history, *v)));
    let inside = inside.to_vec();
    let explanation = Explanation::Values(OfValues::EmptyWhileFull { removal, inside, addition });
    Witness::new("empty-while-full", explanation, operations)
}

/// The first value was added before the second one, and removed after it or never.
pub fn overtaken(history: &History, values: [i64; 2], per_producer: bool) -> Witness {
    let additions = values.map(|value| adders(history, value)[0]);
    let later = takers(history, values[0]).first().copied();
    let removal = takers(history, values[1])[0];
    let mut operations = additions.to_vec();
    operations.dedup();
    operations.push(removal);
    operations.extend(later);
    let rule = if per_producer { "producer-order" } else { "fifo-order" };
    let explanation =
        Explanation::Order(OfOrder::Overtaken { values, additions, removal, later, per_producer });
    Witness::new(rule, explanation, operations)
}

/// Values whose pushes and pops cannot be last in, first out; any one left out, the rest can.
pub fn unstacked(history: &History, values: &[i64]) -> Witness {
    let calls = |value: &i64| adders(history, *value).into_iter().chain(takers(history, *value));
    let mut operations: Vec<_> = values.iter().flat_map(calls).collect();
    operations.sort_by_key(|id| history.operation(*id).start);
    let pair = match values {
        [a, b] => popped_below(history, *a, *b).or_else(|| popped_below(history, *b, *a)),
        _ => None,
    };
    let explanation =
        pair.unwrap_or_else(|| Explanation::Order(OfOrder::NotStacked(values.to_vec())));
    Witness::new("lifo-order", explanation, operations)
}

/// Why `lower` cannot have been popped when it was, if `upper` was surely above it throughout.
fn popped_below(history: &History, lower: i64, upper: i64) -> Option<Explanation> {
    let pushes = [lower, upper].map(|value| adders(history, value)[0]);
    let (pop, later) = (*takers(history, lower).first()?, takers(history, upper).first().copied());
    let before = |a, b| history.operation(a).end < history.operation(b).start;
    let surely = before(pushes[0], pushes[1])
        && before(pushes[1], pop)
        && later.is_none_or(|later| before(pop, later));
    let is_upper_popped = later.is_some();
    surely.then_some(Explanation::Order(OfOrder::PoppedBelow {
        values: [lower, upper],
        pushes,
        pop,
        is_upper_popped,
    }))
}
