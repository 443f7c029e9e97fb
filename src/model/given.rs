//! The model of a user, as a history of the user's own operations brings it along (`core::own`).
//! Where the object has independent parts, the state has one of each that was called.

use super::{Call, Expect, Expected, Model};
use crate::core::history::History;
use crate::core::own::{AnyState, Own};

/// A user's model.
pub struct Given<'a>(&'a Own);

/// The states of the parts, by their numbers; of an object without parts that of part 0.
type Parts = Vec<(i64, AnyState)>;

impl<'a> Given<'a> {
    /// # Panics
    /// If the history brings none along.
    pub fn new(history: &'a History) -> Given<'a> {
        Given(history.own.as_ref().expect("a history of a user's own operations"))
    }

    fn part(&self, call: &Call) -> i64 {
        self.0.part(call.args[0]).unwrap_or(0)
    }

    /// The state of a part.
    fn of(&self, state: &Parts, part: i64) -> AnyState {
        match state.binary_search_by_key(&part, |(part, _)| *part) {
            Ok(at) => state[at].1.clone(),
            Err(_) => self.0.model.init(),
        }
    }
}

impl<'a> Model<Call<'a>> for Given<'_> {
    type State = Parts;

    fn init(&self) -> Parts {
        Parts::new()
    }

    fn step(&self, state: &Parts, call: &Call<'a>, next: &mut Vec<Parts>) {
        let (part, mut after) = (self.part(call), Vec::new());
        self.0.model.step(&self.of(state, part), &call.args[0], &mut after);
        let place = state.binary_search_by_key(&part, |(part, _)| *part);
        next.extend(after.into_iter().map(|changed| {
            let mut whole = state.clone();
            match place {
                Ok(at) => whole[at].1 = changed,
                Err(at) => whole.insert(at, (part, changed)),
            }
            whole
        }));
    }

    fn is_empty(&self, state: &Parts) -> bool {
        let is_empty = |part: &AnyState| self.0.model.is_empty(part);
        match &state[..] {
            [] if !self.0.has_parts() => is_empty(&self.0.model.init()),
            parts => parts.iter().all(|(_, part)| is_empty(part)),
        }
    }

    fn repeats(&self, step: &Call<'a>) -> bool {
        self.0.model.repeats(&step.args[0])
    }

    fn reads(&self, call: &Call<'a>) -> bool {
        self.0.model.reads(&call.args[0])
    }

    fn is_too_late(&self, state: &Parts, call: &Call<'a>) -> bool {
        self.0.model.is_too_late(&self.of(state, self.part(call)), &call.args[0])
    }

    fn describe_state(&self, state: &Parts) -> String {
        let shown = |part: &AnyState| self.0.model.describe_state(part);
        match &state[..] {
            [] => shown(&self.0.model.init()),
            [(_, only)] => shown(only),
            parts => {
                let each = parts.iter().map(|(part, state)| {
                    format!("{}: {}", self.0.strings.shown(*part), shown(state))
                });
                format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn weight(&self, state: &Parts) -> usize {
        state.iter().map(|(_, part)| 32 + self.0.model.weight(part)).sum()
    }
}

impl<'a> Expect<Call<'a>> for Given<'_> {
    fn expected(&self, state: &Parts, call: &Call<'a>) -> Expected {
        let state = self.of(state, self.part(call));
        match self.0.model.right_answer(&state, &call.args[0]) {
            Some(answer) => Expected::Text(answer),
            None => Expected::UNKNOWN,
        }
    }

    fn numbered(&self, state: u32) -> Option<Parts> {
        // Which part a state is of, its number does not tell.
        let is_one = self.0.process.is_some() && !self.0.has_parts();
        is_one.then(|| vec![(0, AnyState::numbered(state))])
    }
}
