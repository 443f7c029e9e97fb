//! Takes the operations on one key of a map or set out of a history. Keys are independent: what is
//! wrong on one is wrong whatever was done on others.

use super::partials::{Effect, Partial, Partials};
use crate::check::data::part::Part;
use crate::core::history::{History, OperationId};
use crate::model::{Kind, Spec, key};

/// The key that an operation is about, if the model has keys that are independent.
pub fn key_of(history: &History, spec: &Spec, id: OperationId) -> Option<i64> {
    match spec.kind {
        Kind::Set | Kind::Map => Some(key(history.operation(id).op, history.args(id))),
        Kind::Kv => history.args(id).first().copied(),
        Kind::Own => history.own.as_ref()?.part(*history.args(id).first()?),
        _ => None,
    }
}

/// The one key that all operations of a witness are about.
pub fn key_of_all(history: &History, spec: &Spec, witness: &[OperationId]) -> Option<i64> {
    let key = key_of(history, spec, *witness.last()?)?;
    let same = |id: &OperationId| key_of(history, spec, *id) == Some(key);
    witness.iter().all(same).then_some(key)
}

/// The operations on one key.
pub fn on_key(history: &History, spec: &Spec, key: i64) -> Part {
    let is_on_key = |id: &OperationId| key_of(history, spec, *id) == Some(key);
    let ids: Vec<OperationId> = history.ids().filter(is_on_key).collect();
    Part::new(history.only(&ids), &ids)
}

/// The partial linearizations of the part of a key, by their names in the whole history.
pub fn named(part: &Part, partials: Partials, key: i64) -> Partials {
    let all = |ids: Vec<OperationId>| ids.into_iter().map(|id| part.whole(id)).collect();
    let effect = |step: Effect| Effect { operation: part.whole(step.operation), ..step };
    let partial = |partial: Partial| Partial {
        before: partial.before,
        done_before: all(partial.done_before),
        steps: partial.steps.into_iter().map(effect).collect(),
        stuck: all(partial.stuck),
        expected: partial.expected,
    };
    Partials {
        failed: part.whole(partials.failed),
        last: part.whole(partials.last),
        near: all(partials.near),
        partials: partials.partials.into_iter().map(partial).collect(),
        more: partials.more,
        key: Some(key),
    }
}
