//! Sequential object for the model kv: a string under each key, with get, put and append.
//! A string is a sequence of values; the user decides which character a value means. Every string
//! is empty at first.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Call, Expect, Expected, Model};
use crate::core::operation::Op;

/// A string that is cheap to copy and, by its hash, to compare.
#[derive(Clone, Debug)]
pub struct Text {
    hash: u64,
    characters: Arc<[i64]>,
}

/// The hash of a longer string, from the hash of its prefix; 0 is the hash of the empty string.
fn extend_hash(hash: u64, more: &[i64]) -> u64 {
    more.iter().fold(hash, |hash, character| {
        (hash.rotate_left(23) ^ *character as u64)
            .wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl Text {
    pub fn characters(&self) -> &[i64] {
        &self.characters
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.hash == other.hash
            && (Arc::ptr_eq(&self.characters, &other.characters)
                || self.characters == other.characters)
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.hash);
    }
}

/// The string of one key; none is the empty string.
pub struct TextCell;

/// All strings by their keys.
pub struct Texts;

impl Model<Call<'_>> for TextCell {
    type State = Option<Text>;

    fn init(&self) -> Option<Text> {
        None
    }

    fn step(&self, held: &Option<Text>, call: &Call, next: &mut Vec<Option<Text>>) {
        let characters = held.as_ref().map_or(&[][..], |text| &text.characters);
        let text = |hash, characters: Arc<[i64]>| {
            (!characters.is_empty()).then_some(Text { hash, characters })
        };
        match call.op {
            Op::KvGet if call.status.is_open() || characters == call.results => {
                next.push(held.clone());
            }
            Op::KvPut => next.push(text(extend_hash(0, &call.args[1..]), call.args[1..].into())),
            Op::KvAppend => {
                let (hash, more) = (held.as_ref().map_or(0, |text| text.hash), &call.args[1..]);
                next.push(text(extend_hash(hash, more), [characters, more].concat().into()));
            }
            _ => {}
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, held: &Option<Text>) -> usize {
        held.as_ref().map_or(0, |text| 8 * text.characters.len() + 16)
    }
}

impl Expect<Call<'_>> for TextCell {
    fn expected(&self, held: &Option<Text>, _: &Call) -> Expected {
        match held {
            Some(text) => Expected::Values(text.characters.to_vec()),
            None => Expected::EmptyString,
        }
    }
}

impl Model<Call<'_>> for Texts {
    type State = BTreeMap<i64, Text>;

    fn init(&self) -> Self::State {
        BTreeMap::new()
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        let key = call.args[0];
        let mut cells = Vec::new();
        TextCell.step(&state.get(&key).cloned(), call, &mut cells);
        for cell in cells {
            let mut after = state.clone();
            match cell {
                Some(text) => drop(after.insert(key, text)),
                None => drop(after.remove(&key)),
            }
            next.push(after);
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn describe_state(&self, state: &Self::State) -> String {
        let texts = state.iter().map(|(key, text)| (key, text.characters()));
        format!("{:?}", texts.collect::<BTreeMap<_, _>>())
    }

    fn weight(&self, state: &Self::State) -> usize {
        state.values().map(|text| 8 * text.characters.len() + 48).sum()
    }
}

impl Expect<Call<'_>> for Texts {
    fn expected(&self, state: &Self::State, call: &Call) -> Expected {
        TextCell.expected(&state.get(&call.args[0]).cloned(), call)
    }
}
