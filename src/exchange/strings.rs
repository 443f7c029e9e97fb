//! Values of other tools' histories that are no integers. Words and strings come in, integers that
//! stand for them go out, and back for showing. Does not know where a value comes from.
//!
//! The integers are the lowest there are, one after the other: no other value of a history is so
//! low, so a text that was made of a history (a witness, a picture) can be given the strings back
//! wherever one of these numbers stands in it.

use std::collections::HashMap;

/// A value as a file has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Integer(i64),
    Text(String),
    /// What is neither, as written: `nil`, `true`, `:a-keyword`, `1.5`.
    Word(String),
}

/// What stands for [`Value::nil`].
pub const NIL: i64 = i64::MIN;

/// Most strings of one history; the integers below `NIL + TAKEN` stand for strings.
const TAKEN: i64 = 1 << 40;

/// Which integer stands for which value. `nil` is always in it.
#[derive(Clone, Debug)]
pub struct Strings {
    values: Vec<Value>,
    ids: HashMap<Value, i64>,
}

impl Value {
    pub fn nil() -> Value {
        Value::Word("nil".to_string())
    }

    /// As people write it.
    pub fn shown(&self) -> String {
        match self {
            Value::Integer(value) => value.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::Word(word) => word.clone(),
        }
    }
}

impl Default for Strings {
    fn default() -> Strings {
        Strings { values: vec![Value::nil()], ids: HashMap::from([(Value::nil(), NIL)]) }
    }
}

impl Strings {
    /// The integer for `value`; an integer stands for itself.
    pub fn id(&mut self, value: &Value) -> Result<i64, String> {
        match value {
            Value::Integer(value) if *value < NIL + TAKEN => {
                Err(format!("the value {value}; expected an integer above {}", NIL + TAKEN - 1))
            }
            Value::Integer(value) => Ok(*value),
            value => Ok(*self.ids.entry(value.clone()).or_insert_with(|| {
                self.values.push(value.clone());
                NIL + self.values.len() as i64 - 1
            })),
        }
    }

    /// What `value` stands for.
    pub fn value(&self, value: i64) -> Value {
        let at = value.wrapping_sub(NIL) as u64;
        let known = usize::try_from(at).ok().and_then(|at| self.values.get(at));
        known.cloned().unwrap_or(Value::Integer(value))
    }

    /// The text of several values that are strings, one after the other.
    pub fn joined(&self, values: &[i64]) -> String {
        let part = |value: &i64| match self.value(*value) {
            Value::Text(text) | Value::Word(text) => text,
            Value::Integer(value) => value.to_string(),
        };
        values.iter().map(part).collect()
    }

    /// `text` with what the integers in it stand for.
    pub fn render(&self, text: &str) -> String {
        let mut rendered = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("-92233") {
            let number = &rest[at..];
            let end =
                number[1..].find(|c: char| !c.is_ascii_digit()).map_or(number.len(), |n| n + 1);
            let shown = number[..end].parse().map(|id| self.value(id).shown());
            rendered += &rest[..at];
            rendered += shown.as_deref().unwrap_or(&number[..end]);
            rest = &number[end..];
        }
        rendered + rest
    }
}

/// How the strings of a key-value history are cut into pieces, each a value: so that a string's
/// pieces are those of the strings it was put together from, and equal pieces mean equal strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Every string is one piece; for histories without `append`.
    Nowhere,
    /// Before each of these characters: every string that is written begins with one.
    Before(char),
    /// Every character is a piece.
    Everywhere,
}

impl Cut {
    /// The coarsest cut for strings of which `written` are those that are put or appended.
    pub fn of<'a>(written: impl IntoIterator<Item = &'a str>, appends: bool) -> Cut {
        if !appends {
            return Cut::Nowhere;
        }
        let mut firsts = written.into_iter().filter_map(|text| text.chars().next());
        match firsts.next() {
            Some(first) if firsts.all(|other| other == first) => Cut::Before(first),
            _ => Cut::Everywhere,
        }
    }

    /// The pieces of `text`; none where it is empty.
    pub fn pieces(self, text: &str) -> Vec<&str> {
        let begins = |(at, c): (usize, char)| match self {
            Cut::Nowhere => at == 0,
            Cut::Before(cut) => at == 0 || c == cut,
            Cut::Everywhere => true,
        };
        let starts: Vec<usize> =
            text.char_indices().filter(|at| begins(*at)).map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_told_from_integers_and_shown_again() {
        let mut strings = Strings::default();
        let a = strings.id(&Value::Text("a \"b\"".into())).expect("room");
        assert_eq!(strings.id(&Value::Text("a \"b\"".into())), Ok(a));
        assert_ne!(strings.id(&Value::Word("true".into())), Ok(a));
        assert_eq!(strings.id(&Value::Integer(-7)), Ok(-7));
        assert_eq!(strings.id(&Value::nil()), Ok(NIL));
        assert!(strings.id(&Value::Integer(i64::MIN + 5)).is_err());
        let text = format!("get({a}) -> {NIL}, -92233, -7");
        assert_eq!(strings.render(&text), r#"get("a \"b\"") -> nil, -92233, -7"#);
    }

    #[test]
    fn pieces_of_a_concatenation_are_the_pieces_of_its_parts() {
        let parts = ["xay", "xx", "", "xé"];
        for cut in [Cut::of(parts, true), Cut::of(["ab", "b"], true)] {
            let whole: String = parts.concat();
            let each: Vec<&str> = parts.iter().flat_map(|part| cut.pieces(part)).collect();
            assert_eq!(cut.pieces(&whole), each, "{cut:?}");
            assert_eq!(each.concat(), whole);
        }
        assert_eq!(Cut::of(parts, true), Cut::Before('x'));
        assert_eq!(Cut::of(["ab", "b"], true), Cut::Everywhere);
        assert_eq!(Cut::of(["ab", "b"], false).pieces("ab"), ["ab"]);
        assert_eq!(Cut::Nowhere.pieces(""), Vec::<&str>::new());
    }
}
