//! Strings, as far as anyone finds out about them. A history of gets, puts and appends comes in;
//! the object whose states tell apart only what its gets tell apart goes out. Knows no search.
//!
//! A string that is a prefix of nothing that a get ever found stays so however it grows, so until
//! the next put no get takes effect: all such strings are one state. Without this, a search has to
//! tell apart every order of the appends that are open at once.

use super::hash::FastMap;
use crate::history::History;
use crate::model::{Call, Expect, Model, Text, TextCell};
use crate::operation::{Op, Status};

/// The string of one key at a time; the key is that of the call.
pub struct Strings<'a> {
    /// What gets of each key found, in order.
    found: FastMap<i64, Vec<&'a [i64]>>,
}

impl<'a> Strings<'a> {
    pub fn of(history: &'a History) -> Strings<'a> {
        let mut found: FastMap<i64, Vec<&[i64]>> = FastMap::default();
        for id in history.ids() {
            let operation = history.operation(id);
            if operation.op == Op::KvGet && operation.status == Status::Ok {
                found.entry(history.args(id)[0]).or_default().push(history.results(id));
            }
        }
        for strings in found.values_mut() {
            strings.sort_unstable();
            strings.dedup();
        }
        Strings { found }
    }

    /// Whether a get found this string, or what it grew to.
    fn is_found(&self, key: i64, text: &Option<Text>) -> bool {
        let characters = text.as_ref().map_or(&[][..], Text::characters);
        let Some(found) = self.found.get(&key) else { return false };
        // What begins with a string comes right after what is less than it.
        let at = found.partition_point(|other| *other < characters);
        found.get(at).is_some_and(|other| other.starts_with(characters))
    }
}

impl Model<Call<'_>> for Strings<'_> {
    /// None: a string that nobody finds.
    type State = Option<Option<Text>>;

    fn init(&self) -> Self::State {
        Some(None)
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        let held = match (state, call.op) {
            (Some(held), _) => held,
            (None, Op::KvPut) => &None,
            (None, Op::KvAppend) => return next.push(None),
            (None, _) => return,
        };
        let mut texts = Vec::new();
        TextCell.step(held, call, &mut texts);
        next.extend(texts.into_iter().map(|text| {
            let is_found = self.is_found(call.args[0], &text);
            is_found.then_some(text)
        }));
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.as_ref().map_or(0, |text| TextCell.weight(text))
    }
}

impl Expect<Call<'_>> for Strings<'_> {
    fn expected(&self, state: &Self::State, call: &Call) -> String {
        match state {
            Some(text) => TextCell.expected(text, call),
            None => "a string that no get found".to_string(),
        }
    }
}

/// The strings of all keys at once, for a search that does not part them.
pub struct AllStrings<'a>(pub Strings<'a>);

impl Model<Call<'_>> for AllStrings<'_> {
    /// Those that were written, in the order of their keys.
    type State = Vec<(i64, Option<Option<Text>>)>;

    fn init(&self) -> Self::State {
        Vec::new()
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        let (key, mut texts) = (call.args[0], Vec::new());
        let place = state.binary_search_by_key(&key, |(key, _)| *key);
        let first = self.0.init();
        self.0.step(place.map_or(&first, |at| &state[at].1), call, &mut texts);
        next.extend(texts.into_iter().map(|text| {
            let mut after = state.clone();
            match place {
                _ if call.op.only_reads() => {}
                Ok(at) => after[at].1 = text,
                Err(at) => after.insert(at, (key, text)),
            }
            after
        }));
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.iter().map(|(_, text)| 32 + self.0.weight(text)).sum()
    }
}
