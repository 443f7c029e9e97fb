//! Interns the values of histories that are not integers.
//! Each string or word gets an integer, beginning with the lowest 64-bit integers. No other value
//! of a history is that low, so the text in which a model describes a state can be searched for
//! these integers to put the strings back.

use std::sync::Arc;

use rustc_hash::FxHashMap;

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

/// Characters of a value that people read.
const SHOWN_MAX: usize = 200;

/// Maps values that are not integers to integers, and back. It always contains `nil`.
#[derive(Clone, Debug)]
pub struct Interner {
    values: Vec<Arc<Value>>,
    ids: FxHashMap<Value, i64>,
    /// The descriptions of states have none of its integers.
    only_texts: bool,
}

impl Value {
    pub fn nil() -> Value {
        Value::Word("nil".to_string())
    }

    /// The value as it is written.
    pub fn written(&self) -> String {
        match self {
            Value::Integer(value) => value.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::Word(word) => word.clone(),
        }
    }

    /// The value as people read it: of a long one the beginning and the length. A report has many
    /// values, each several times.
    pub fn shown(&self) -> String {
        let (Value::Text(text) | Value::Word(text)) = self else { return self.written() };
        let Some((end, _)) = text.char_indices().nth(SHOWN_MAX) else { return self.written() };
        let begin = text[..end].to_string();
        let begin = match self {
            Value::Text(_) => Value::Text(begin),
            _ => Value::Word(begin),
        };
        format!("{}… ({} bytes)", begin.written(), text.len())
    }
}

impl Default for Interner {
    fn default() -> Interner {
        let nil = Arc::new(Value::nil());
        let (values, ids) = (vec![nil], FxHashMap::from_iter([(Value::nil(), NIL)]));
        Interner { values, ids, only_texts: false }
    }
}

impl Interner {
    /// One of a history whose states are described without its integers.
    pub fn of_texts() -> Interner {
        Interner { only_texts: true, ..Interner::default() }
    }

    /// The integer for `value`. Integers are unchanged.
    pub fn id(&mut self, value: &Value) -> Result<i64, String> {
        match value {
            Value::Integer(value) if *value < NIL + RESERVED => {
                Err(format!("the value {value}; expected an integer above {}", NIL + RESERVED - 1))
            }
            Value::Integer(value) => Ok(*value),
            value => Ok(match self.ids.get(value) {
                Some(id) => *id,
                None => {
                    let id = self.add(value.clone());
                    self.ids.insert(value.clone(), id);
                    id
                }
            }),
        }
    }

    /// A new integer for `value`, whether it has one or not.
    pub fn add(&mut self, value: impl Into<Arc<Value>>) -> i64 {
        self.values.push(value.into());
        NIL + self.values.len() as i64 - 1
    }

    /// What an integer stands for, if not for itself.
    pub fn known(&self, value: i64) -> Option<&Value> {
        let at = value.wrapping_sub(NIL) as u64;
        usize::try_from(at).ok().and_then(|at| self.values.get(at)).map(|value| &**value)
    }

    /// The value of an integer.
    pub fn value(&self, value: i64) -> Value {
        self.known(value).cloned().unwrap_or(Value::Integer(value))
    }

    /// What an integer stands for, as people read it.
    pub fn shown(&self, value: i64) -> String {
        self.known(value).map_or_else(|| value.to_string(), Value::shown)
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
        if self.only_texts {
            return text.to_string();
        }
        let mut rendered = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("-92233") {
            let number = &rest[at..];
            let end =
                number[1..].find(|c: char| !c.is_ascii_digit()).map_or(number.len(), |n| n + 1);
            let shown = number[..end].parse().map(|id| self.shown(id));
            rendered += &rest[..at];
            rendered += shown.as_deref().unwrap_or(&number[..end]);
            rest = &number[end..];
        }
        rendered + rest
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
        let states = format!("{:?}", [i64::MIN]);
        assert_eq!(Interner::of_texts().render(&states), states);
    }

    #[test]
    fn of_a_long_value_the_beginning_is_shown() {
        let mut interner = Interner::default();
        let long = interner.id(&Value::Text("é".repeat(100_000))).expect("room");
        let shown = format!("\"{}\"… (200000 bytes)", "é".repeat(SHOWN_MAX));
        assert_eq!(interner.shown(long), shown);
        assert_eq!(interner.render(&format!("[{long}]")), format!("[{shown}]"));
        // Not where a file is written.
        assert_eq!(interner.joined(&[long]).len(), 200_000);
    }
}
