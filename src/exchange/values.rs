//! Interns the values of other tools' histories that are not integers.
//! Each string or word gets an integer, beginning with the lowest 64-bit integers. No other value
//! of a history is that low, so the text in which a model describes a state can be searched for
//! these integers to put the strings back.

use std::collections::HashMap;

/// A value in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Integer(i64),
    Text(String),
    /// Anything else, as written: `nil`, `true`, `:a-keyword`, `1.5`.
    Word(String),
}

/// The integer of [`Value::nil`].
pub const NIL: i64 = i64::MIN;

/// Maximum number of values of one history that are not integers. Integers below `NIL + RESERVED`
/// are reserved for them.
const RESERVED: i64 = 1 << 40;

/// Maps values that are not integers to integers, and back. It always contains `nil`.
#[derive(Clone, Debug)]
pub struct Interner {
    values: Vec<Value>,
    ids: HashMap<Value, i64>,
}

impl Value {
    pub fn nil() -> Value {
        Value::Word("nil".to_string())
    }

    /// The value as people read it.
    pub fn shown(&self) -> String {
        match self {
            Value::Integer(value) => value.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::Word(word) => word.clone(),
        }
    }
}

impl Default for Interner {
    fn default() -> Interner {
        Interner { values: vec![Value::nil()], ids: HashMap::from([(Value::nil(), NIL)]) }
    }
}

impl Interner {
    /// The integer for `value`. Integers are unchanged.
    pub fn id(&mut self, value: &Value) -> Result<i64, String> {
        match value {
            Value::Integer(value) if *value < NIL + RESERVED => {
                Err(format!("the value {value}; expected an integer above {}", NIL + RESERVED - 1))
            }
            Value::Integer(value) => Ok(*value),
            value => Ok(*self.ids.entry(value.clone()).or_insert_with(|| {
                self.values.push(value.clone());
                NIL + self.values.len() as i64 - 1
            })),
        }
    }

    /// The value of an integer.
    pub fn value(&self, value: i64) -> Value {
        let at = value.wrapping_sub(NIL) as u64;
        let known = usize::try_from(at).ok().and_then(|at| self.values.get(at));
        known.cloned().unwrap_or(Value::Integer(value))
    }

    /// What an integer stands for, as people read it.
    pub fn shown(&self, value: i64) -> String {
        self.value(value).shown()
    }

    /// The concatenation of several values that are strings.
    pub fn joined(&self, values: &[i64]) -> String {
        let part = |value: &i64| match self.value(*value) {
            Value::Text(text) | Value::Word(text) => text,
            Value::Integer(value) => value.to_string(),
        };
        values.iter().map(part).collect()
    }

    /// `text`, in which a model describes a state, with interned integers replaced by their values.
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

/// How the strings of a key-value history are split into pieces, which are its values. The pieces
/// of a concatenation must be those of its parts, and equal pieces must mean equal strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Every string is one piece; for histories without `append`.
    Nowhere,
    /// Before each occurrence of a character with which every written string begins.
    Before(char),
    /// Every character is a piece.
    Everywhere,
}

impl Split {
    /// The coarsest split that is correct if exactly the strings `written` are put or appended.
    pub fn coarsest<'a>(written: impl IntoIterator<Item = &'a str>, appends: bool) -> Split {
        if !appends {
            return Split::Nowhere;
        }
        let mut firsts = written.into_iter().filter_map(|text| text.chars().next());
        match firsts.next() {
            Some(first) if firsts.all(|other| other == first) => Split::Before(first),
            _ => Split::Everywhere,
        }
    }

    /// The pieces of `text`; none if it is empty.
    pub fn pieces(self, text: &str) -> Vec<&str> {
        let begins = |(at, c): (usize, char)| match self {
            Split::Nowhere => at == 0,
            Split::Before(first) => at == 0 || c == first,
            Split::Everywhere => true,
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
    fn strings_and_integers_are_distinct_and_shown_as_written() {
        let mut interner = Interner::default();
        let a = interner.id(&Value::Text("a \"b\"".into())).expect("room");
        assert_eq!(interner.id(&Value::Text("a \"b\"".into())), Ok(a));
        assert_ne!(interner.id(&Value::Word("true".into())), Ok(a));
        assert_eq!(interner.id(&Value::Integer(-7)), Ok(-7));
        assert_eq!(interner.id(&Value::nil()), Ok(NIL));
        assert!(interner.id(&Value::Integer(i64::MIN + 5)).is_err());
        let text = format!("get({a}) -> {NIL}, -92233, -7");
        assert_eq!(interner.render(&text), r#"get("a \"b\"") -> nil, -92233, -7"#);
    }

    #[test]
    fn pieces_of_a_concatenation_are_the_pieces_of_its_parts() {
        let parts = ["xay", "xx", "", "xé"];
        for split in [Split::coarsest(parts, true), Split::coarsest(["ab", "b"], true)] {
            let whole: String = parts.concat();
            let each: Vec<&str> = parts.iter().flat_map(|part| split.pieces(part)).collect();
            assert_eq!(split.pieces(&whole), each, "{split:?}");
            assert_eq!(each.concat(), whole);
        }
        assert_eq!(Split::coarsest(parts, true), Split::Before('x'));
        assert_eq!(Split::coarsest(["ab", "b"], true), Split::Everywhere);
        assert_eq!(Split::coarsest(["ab", "b"], false).pieces("ab"), ["ab"]);
        assert_eq!(Split::Nowhere.pieces(""), Vec::<&str>::new());
    }
}
