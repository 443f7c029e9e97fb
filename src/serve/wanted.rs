//! Guesses which of several calls came first by their values alone, whatever the model: of two that
//! are given a value, the one whose value another call has to do with earlier.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value as Json;
use smallvec::SmallVec;

use crate::core::history::{NEVER, OperationId};
use crate::core::journal::Journal;
use crate::model::program::THREAD;

/// The values of a call, and of its answer, as hashes: a guess may be wrong.
#[derive(Clone, Debug, Default)]
pub struct Values {
    given: SmallVec<[u64; 2]>,
    answered: SmallVec<[u64; 2]>,
}

impl Values {
    pub fn of(call: &Json, answer: Option<&Json>) -> Values {
        let mut values = Values::default();
        let fields = call.as_object().into_iter().flatten();
        let given = fields.filter(|(name, _)| *name != THREAD).map(|(_, given)| given);
        given.for_each(|given| scalars(Some(given), &mut values.given));
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

/// The order of the calls that are given values.
pub struct Wanted(HashMap<OperationId, u64>);

/// When a call was made, and when the next call that has to do with one of its values.
struct Pair {
    id: OperationId,
    own: (u64, u64),
    next: (u64, u64),
}

impl Wanted {
    pub fn new<'v, O>(journal: &Journal<O>, values: impl Fn(OperationId) -> &'v Values) -> Wanted {
        // The calls that have to do with a value, by their ends.
        let mut concerned = HashMap::<u64, Vec<(u64, u64, OperationId)>>::new();
        for (id, timed) in journal.operations() {
            let Values { given, answered } = values(id);
            for value in given.iter().chain(answered) {
                concerned.entry(*value).or_default().push((timed.end, timed.start, id));
            }
        }
        concerned.values_mut().for_each(|calls| calls.sort_unstable());
        let pairs = journal.operations().filter_map(|(id, timed)| {
            let next = |value: &u64| {
                let calls = &concerned[value];
                let later = &calls[calls.partition_point(|(end, ..)| *end < timed.start)..];
                let other = later.iter().find(|(.., other)| *other != id);
                other.map_or((NEVER, NEVER), |(end, start, _)| (*end, *start))
            };
            let (end, start) = values(id).given.iter().map(next).min()?;
            Some(Pair { id, own: (timed.start, timed.end), next: (start, end) })
        });
        Wanted(in_both_orders(pairs.collect()))
    }

    /// The place of a call; none of one that is given nothing.
    pub fn place(&self, id: OperationId) -> Option<u64> {
        self.0.get(&id).copied()
    }
}

/// An order in which a call that returned before another was called comes first, and one whose next
/// returned before that of another was called. In a queue's history there is one.
fn in_both_orders(mut pairs: Vec<Pair>) -> HashMap<OperationId, u64> {
    pairs.sort_unstable_by_key(|pair| pair.own);
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> =
        (0..).zip(&pairs).map(|(at, pair)| Reverse((pair.own.1, at))).collect();
    let (mut called, mut over) = (0, vec![false; pairs.len()]);
    let mut open = BTreeSet::new();
    let mut places = HashMap::new();
    while let Some(Reverse((end, first))) = ends.peek().copied() {
        if over[first] {
            ends.pop();
            continue;
        }
        while pairs.get(called).is_some_and(|pair| pair.own.0 <= end) {
            open.insert((pairs[called].next, called));
            called += 1;
        }
        // No next one of the others returned before this one's was called, if that can be.
        let (_, at) = open.pop_first().expect("the first to return was called");
        over[at] = true;
        places.insert(pairs[at].id, places.len() as u64);
    }
    places
}
