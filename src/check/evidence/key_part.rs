//! Takes the operations on one key of a map or set out of a history, and translates names of
//! operations between the two. Keys are independent: what is wrong on one is wrong whatever was
//! done on others.

use super::partials::{Effect, Partial, Partials};
use crate::core::history::{History, OperationId};
use crate::model::{Kind, Spec, key};

/// The operations on one key, with their places in the whole history by thread.
pub struct KeyPart {
    pub history: History,
    places: Vec<Vec<u32>>,
}

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

impl KeyPart {
    pub fn new(history: &History, spec: &Spec, key: i64) -> KeyPart {
        let mut places = vec![Vec::new(); history.threads.len()];
        let on_key = |id: &OperationId| key_of(history, spec, *id) == Some(key);
        let ids: Vec<OperationId> = history.ids().filter(on_key).collect();
        ids.iter().for_each(|id| places[id.thread as usize].push(id.index));
        KeyPart { history: history.only(&ids), places }
    }

    /// The name in the whole history.
    pub fn whole(&self, id: OperationId) -> OperationId {
        let index = self.places[id.thread as usize][id.index as usize];
        OperationId { thread: id.thread, index }
    }

    /// The name in this one, of an operation on the key.
    pub fn own(&self, id: OperationId) -> Option<OperationId> {
        let index = self.places[id.thread as usize].binary_search(&id.index).ok()?;
        Some(OperationId { thread: id.thread, index: index as u32 })
    }

    /// The partial linearizations by their names in the whole history.
    pub fn named(&self, partials: Partials, key: i64) -> Partials {
        let all = |ids: Vec<OperationId>| ids.into_iter().map(|id| self.whole(id)).collect();
        let effect = |step: Effect| Effect { operation: self.whole(step.operation), ..step };
        let partial = |partial: Partial| Partial {
            before: partial.before,
            done_before: all(partial.done_before),
            steps: partial.steps.into_iter().map(effect).collect(),
            stuck: all(partial.stuck),
            expected: partial.expected,
        };
        Partials {
            failed: self.whole(partials.failed),
            last: self.whole(partials.last),
            near: all(partials.near),
            partials: partials.partials.into_iter().map(partial).collect(),
            more: partials.more,
            key: Some(key),
        }
    }
}
