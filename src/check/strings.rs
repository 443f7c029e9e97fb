//! Strings, as far as anyone finds out about them. A history of gets, puts and appends comes in;
//! the object whose states tell apart only what its gets tell apart goes out. Knows no search.
//!
//! A string that is a prefix of nothing that a get ever found stays so however it grows, so until
//! the next put no get takes effect: all such strings are one state. Without this, a search has to
//! tell apart every order of the appends that are open at once.

use std::cell::RefCell;

use smallvec::SmallVec;

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

/// The strings of all keys at once, for a search that does not part them. Each string has a number,
/// which is quicker to copy and to compare.
pub struct AllStrings<'a> {
    strings: Strings<'a>,
    /// Ascending.
    keys: Vec<i64>,
    numbered: RefCell<Numbered>,
}

/// The string of one key; the inner none stands for the empty one.
type Cell = <Strings<'static> as Model<Call<'static>>>::State;

/// The strings met so far.
#[derive(Default)]
struct Numbered {
    cells: Vec<Cell>,
    numbers: FastMap<Cell, u32>,
}

impl Numbered {
    fn number(&mut self, cell: Cell) -> u32 {
        let next = self.cells.len() as u32;
        let Numbered { cells, numbers } = self;
        *numbers.entry(cell).or_insert_with_key(|cell| {
            cells.push(cell.clone());
            next
        })
    }
}

impl<'a> AllStrings<'a> {
    pub fn of(history: &'a History) -> AllStrings<'a> {
        let strings = Strings::of(history);
        let mut keys: Vec<i64> = history.ids().map(|id| history.args(id)[0]).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut numbered = Numbered::default();
        numbered.number(strings.init());
        AllStrings { strings, keys, numbered: RefCell::new(numbered) }
    }
}

impl Model<Call<'_>> for AllStrings<'_> {
    /// By key: the number of its string. The empty one's is 0.
    type State = SmallVec<[u32; 12]>;

    fn init(&self) -> Self::State {
        SmallVec::from_elem(0, self.keys.len())
    }

    fn step(&self, state: &Self::State, call: &Call, next: &mut Vec<Self::State>) {
        let place = self.keys.binary_search(&call.args[0]).expect("every call's key is known");
        let (mut numbered, mut cells) = (self.numbered.borrow_mut(), Vec::new());
        self.strings.step(&numbered.cells[state[place] as usize], call, &mut cells);
        next.extend(cells.into_iter().map(|cell| {
            let mut after = state.clone();
            if !call.op.only_reads() {
                after[place] = numbered.number(cell);
            }
            after
        }));
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }

    /// Each string is there once, whatever states have it.
    fn weight(&self, state: &Self::State) -> usize {
        if state.spilled() { 4 * state.len() } else { 0 }
    }
}
