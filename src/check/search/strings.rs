//! A key's string as a sequential object whose states differ only where some get can tell.
//!
//! A string that is a prefix of nothing that a get ever found stays so however it grows, so until
//! the next put no get takes effect: all such strings are one state. Without this, a search has to
//! tell apart every order of the appends that are open at once. Every other string is a part of the
//! history: a state is the place where it stands there, and takes no memory of its own.

use smallvec::SmallVec;

use crate::core::history::History;
use crate::core::operation::{Op, Status};
use crate::model::{Call, Expect, Expected, Model};
use rustc_hash::FxHashMap;

/// The string of one key, as a number: which of the strings that gets found is the first that
/// begins with it (the high half), and how long it is.
type TextPosition = u64;

/// A string that nobody finds.
const LOST: TextPosition = u64::MAX;

/// The empty string, at first: before whatever was found.
const EMPTY: TextPosition = 0;

fn text_position(string: usize, length: usize) -> TextPosition {
    (string as u64) << 32 | length as u64
}

/// What gets of one key found, each once, in order.
#[derive(Default)]
struct Found<'a>(Vec<&'a [i64]>);

impl<'a> Found<'a> {
    fn held(&self, at: TextPosition) -> &'a [i64] {
        let string = self.0.get((at >> 32) as usize);
        string.map_or(&[], |string| &string[..at as u32 as usize])
    }

    /// The place of what is at `at`, followed by `more`.
    fn longer(&self, at: TextPosition, more: &[i64]) -> TextPosition {
        let (held, from) = (self.held(at), (at >> 32) as usize);
        let whole = held.len() + more.len();
        // What begins with a string comes right after what is less than it, and before what does
        // not begin with the start of it.
        let rest = |other: &'a [i64]| other.strip_prefix(held);
        let is_less = |other: &&'a [i64]| rest(other).is_some_and(|rest| rest < more);
        let first = match self.0.get(from) {
            Some(other) if is_less(other) => from + 1 + self.0[from + 1..].partition_point(is_less),
            _ => from,
        };
        let found = self.0.get(first).and_then(|other| rest(other));
        match found.is_some_and(|rest| rest.starts_with(more)) {
            true => text_position(first, whole),
            false => LOST,
        }
    }

    /// What a call leaves of the string at `at`, if it can answer so.
    #[inline]
    fn step(&self, at: TextPosition, call: &Call) -> Option<TextPosition> {
        match call.op {
            Op::KvPut => Some(self.longer(EMPTY, &call.args[1..])),
            _ if at == LOST => (call.op == Op::KvAppend).then_some(LOST),
            Op::KvAppend => Some(self.longer(at, &call.args[1..])),
            Op::KvGet if call.status.is_open() => Some(at),
            Op::KvGet => (self.held(at) == call.results).then_some(at),
            _ => None,
        }
    }

    fn expected(&self, at: TextPosition) -> Expected {
        match self.held(at) {
            _ if at == LOST => Expected::OtherString,
            [] => Expected::EmptyString,
            held => Expected::Values(held.to_vec()),
        }
    }
}

/// The string of one key at a time; the key is that of the call.
pub struct Strings<'a> {
    found: FxHashMap<i64, Found<'a>>,
    none: Found<'a>,
}

impl<'a> Strings<'a> {
    pub fn new(history: &'a History) -> Strings<'a> {
        let mut found: FxHashMap<i64, Found> = FxHashMap::default();
        for id in history.ids() {
            let operation = history.operation(id);
            if operation.op == Op::KvGet && operation.status == Status::Ok {
                found.entry(history.args(id)[0]).or_default().0.push(history.results(id));
            }
        }
        for Found(strings) in found.values_mut() {
            strings.sort_unstable();
            strings.dedup();
        }
        Strings { found, none: Found::default() }
    }

    fn of_key(&self, key: i64) -> &Found<'a> {
        self.found.get(&key).unwrap_or(&self.none)
    }
}

impl Model<Call<'_>> for Strings<'_> {
    type State = TextPosition;

    fn init(&self) -> TextPosition {
        EMPTY
    }

    fn step(&self, at: &TextPosition, call: &Call, next: &mut Vec<TextPosition>) {
        next.extend(self.of_key(call.args[0]).step(*at, call));
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }
}

impl Expect<Call<'_>> for Strings<'_> {
    fn expected(&self, at: &TextPosition, call: &Call) -> Expected {
        self.of_key(call.args[0]).expected(*at)
    }
}

/// The strings of all keys at once, for a search that does not part them.
pub struct AllStrings<'a> {
    /// Ascending.
    keys: Vec<i64>,
    found: Vec<Found<'a>>,
}

impl<'a> AllStrings<'a> {
    pub fn new(history: &'a History) -> AllStrings<'a> {
        let mut strings = Strings::new(history);
        let mut keys: Vec<i64> = history.ids().map(|id| history.args(id)[0]).collect();
        keys.sort_unstable();
        keys.dedup();
        let found = keys.iter().map(|key| strings.found.remove(key).unwrap_or_default());
        let found = found.collect();
        AllStrings { keys, found }
    }
}

impl Model<Call<'_>> for AllStrings<'_> {
    /// By key: where its string stands.
    type State = SmallVec<[TextPosition; 12]>;

    fn init(&self) -> Self::State {
        SmallVec::from_elem(EMPTY, self.keys.len())
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        let key = self.keys.binary_search(&call.args[0]).expect("every call's key is known");
        if let Some(at) = self.found[key].step(state[key], call) {
            let mut after = state.clone();
            after[key] = at;
            next.push(after);
        }
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    fn weight(&self, state: &Self::State) -> usize {
        if state.spilled() { size_of::<TextPosition>() * state.len() } else { 0 }
    }
}
