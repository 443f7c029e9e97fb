//! Guesses which of several calls came first by their values alone, whatever the model: of two that
//! are given a value, the one whose value another call has to do with earlier.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value as Json;
use smallvec::SmallVec;

use crate::core::history::{NEVER, OperationId};
use crate::core::journal::Journal;

/// The values of a call, and of its answer, as hashes: a guess may be wrong.
#[derive(Clone, Debug, Default)]
pub struct Values {
    given: SmallVec<[u64; 2]>,
    answered: SmallVec<[u64; 2]>,
}

impl Values {
    pub fn of(call: &Json, answer: Option<&Json>) -> Values {
        let mut values = Values::default();
        scalars(call.as_object().and_then(|call| call.values().next()), &mut values.given);
        scalars(answer, &mut values.answered);
        values
    }
}

/// Adds numbers and strings; none of the fields that are no parameters.
fn scalars(json: Option<&Json>, all: &mut SmallVec<[u64; 2]>) {
    match json {
        Some(Json::Array(items)) => items.iter().for_each(|item| scalars(Some(item), all)),
        Some(Json::Object(fields)) => {
            let params = fields.iter().filter(|(name, _)| !name.starts_with('_'));
            params.for_each(|(_, value)| scalars(Some(value), all));
        }
        Some(Json::Number(_) | Json::String(_)) => {
            let mut hasher = DefaultHasher::new();
            json.hash(&mut hasher);
            all.push(hasher.finish());
        }
        _ => {}
    }
}

/// When the values that calls are given are asked for next.
pub struct Wanted<'v> {
    of: HashMap<OperationId, (u64, &'v Values)>,
    /// When the calls end that have to do with a value, the earliest first.
    ends: HashMap<u64, Vec<u64>>,
}

impl<'v> Wanted<'v> {
    pub fn new<O>(journal: &Journal<O>, values: impl Fn(OperationId) -> &'v Values) -> Wanted<'v> {
        let (mut of, mut ends) = (HashMap::new(), HashMap::<u64, Vec<u64>>::new());
        for (id, timed) in journal.operations() {
            let values = values(id);
            for value in values.given.iter().chain(&values.answered) {
                ends.entry(*value).or_default().push(timed.end);
            }
            of.insert(id, (timed.end, values));
        }
        ends.values_mut().for_each(|ends| ends.sort_unstable());
        Wanted { of, ends }
    }

    /// None of a call that is given nothing.
    pub fn when(&self, id: OperationId) -> Option<u64> {
        let (end, values) = self.of[&id];
        let after = |value: &u64| {
            let ends = &self.ends[value];
            ends.get(ends.partition_point(|other| *other <= end)).copied().unwrap_or(NEVER)
        };
        values.given.iter().map(after).min()
    }
}
