//! States of an object in words, of a length that a person reads.

use crate::model::{Call, Expect, Kind};

/// A set is kept as a map whose values are all 1.
pub fn state_words(kind: Kind, state: String) -> String {
    if kind == Kind::Set { state.replace(": 1", "") } else { state }
}

/// What a call should have answered in `state`.
pub fn expected_words<'a, M: Expect<Call<'a>>>(
    object: &M,
    state: &M::State,
    call: &Call<'a>,
) -> String {
    object.expected(state, call).words(call.op, &|value| value.to_string())
}

/// At most so many characters of `state`; no number is cut in two.
pub fn brief(state: String, most: usize) -> String {
    match state.char_indices().nth(most) {
        None => state,
        Some((end, _)) => {
            let end = state[..end].rfind(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(end);
            format!("{}...", &state[..end])
        }
    }
}
