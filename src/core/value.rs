//! Values of methods: their types, and how words of 64 bits stand for them.
//! A value is written into as many words as its type and its sizes ask for, one after the other, so
//! a history holds values of every type as numbers. `ffi/interlap_values.hpp` writes them.

use std::fmt;

use super::operation::listed;

/// Types may contain each other this deep.
const DEPTH_MAX: usize = 16;
/// Names of members, elements of a tuple and choices of a variant at most.
const PARTS_MAX: usize = 64;

/// The type of an argument or a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No words.
    Void,
    /// One word: 0 or 1.
    Bool,
    /// One word. Also the values of an enumeration.
    Int,
    /// One word, without a sign.
    Uint,
    /// A word for the number of bytes, then the bytes, eight a word, the first the lowest.
    String,
    /// A word that is 0 or 1, and after 1 the value.
    Optional(Box<Type>),
    /// A word for the number of elements, then these: in an order that matters.
    List(Box<Type>),
    /// The same for a set; the elements are in the order of its iteration.
    Set(Box<Type>),
    /// The same for pairs of a key and a value.
    Map(Box<Type>, Box<Type>),
    /// Its elements.
    Tuple(Vec<Type>),
    /// Its members, which have names.
    Record(Vec<(String, Type)>),
    /// A word for the number of the choice, then its value.
    Variant(Vec<Type>),
}

/// The words are no value of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoValue;

impl Type {
    /// Takes one value from the front of `words`, and appends it to `text` as people write it:
    /// `[1, 2]`, `{a: 1}`, `"key"`, `none`.
    ///
    /// # Errors
    /// If the words are no value of this type.
    pub fn show(&self, words: &mut &[i64], text: &mut String) -> Result<(), NoValue> {
        use fmt::Write;
        match self {
            Type::Void => {}
            Type::Bool => *text += ["false", "true"][choice(words, 2)?],
            Type::Int => write!(text, "{}", word(words)?).expect("a string"),
            Type::Uint => write!(text, "{}", word(words)? as u64).expect("a string"),
            Type::String => write!(text, "{:?}", string(words)?).expect("a string"),
            Type::Optional(_) if choice(words, 2)? == 0 => *text += "none",
            Type::Optional(inner) => inner.show(words, text)?,
            Type::List(element) => *text += &format!("[{}]", elements(&[element], words)?),
            Type::Set(element) => *text += &format!("{{{}}}", elements(&[element], words)?),
            Type::Map(key, value) => *text += &format!("{{{}}}", elements(&[key, value], words)?),
            Type::Tuple(types) => *text += &format!("({})", in_turn(types, words)?.join(", ")),
            Type::Record(members) => {
                let mut shown = Vec::new();
                for (name, member) in members {
                    let mut value = format!("{name}: ");
                    member.show(words, &mut value)?;
                    shown.push(value);
                }
                *text += &format!("{{{}}}", shown.join(", "));
            }
            Type::Variant(choices) => choices[choice(words, choices.len())?].show(words, text)?,
        }
        Ok(())
    }

    /// Calls `each` with every number that a value holds: what later calls may be given.
    ///
    /// # Errors
    /// If the words are no value of this type.
    pub fn numbers(&self, words: &mut &[i64], each: &mut dyn FnMut(i64)) -> Result<(), NoValue> {
        match self {
            Type::Void => {}
            Type::Bool => drop(choice(words, 2)?),
            Type::Int | Type::Uint => each(word(words)?),
            Type::String => skip_string(words)?,
            Type::Optional(inner) => {
                if choice(words, 2)? == 1 {
                    inner.numbers(words, each)?;
                }
            }
            Type::List(element) | Type::Set(element) => {
                for _ in 0..count(words)? {
                    element.numbers(words, each)?;
                }
            }
            Type::Map(key, value) => {
                for _ in 0..count(words)? {
                    key.numbers(words, each)?;
                    value.numbers(words, each)?;
                }
            }
            Type::Tuple(types) => types.iter().try_for_each(|of| of.numbers(words, each))?,
            Type::Record(members) => {
                members.iter().try_for_each(|(_, of)| of.numbers(words, each))?;
            }
            Type::Variant(types) => types[choice(words, types.len())?].numbers(words, each)?,
        }
        Ok(())
    }
}

/// The values of several types, one after the other: "1, true".
///
/// # Errors
/// If the words are no such values, or more.
pub fn all(types: &[Type], words: &[i64]) -> Result<String, NoValue> {
    Ok(each(types, words)?.join(", "))
}

/// As [`all`], each by itself.
///
/// # Errors
/// If the words are no such values, or more.
pub fn each(types: &[Type], words: &[i64]) -> Result<Vec<String>, NoValue> {
    let mut rest = words;
    let texts = in_turn(types, &mut rest)?;
    if rest.is_empty() { Ok(texts) } else { Err(NoValue) }
}

/// Whether the words are values of these types, one after the other.
pub fn are(types: &[Type], words: &[i64]) -> bool {
    let mut rest = words;
    types.iter().all(|of| of.numbers(&mut rest, &mut |_| {}).is_ok()) && rest.is_empty()
}

fn in_turn(types: &[Type], words: &mut &[i64]) -> Result<Vec<String>, NoValue> {
    let mut shown = Vec::new();
    for of in types {
        let mut value = String::new();
        of.show(words, &mut value)?;
        shown.push(value);
    }
    Ok(shown)
}

/// The elements of a container, each of which consists of values of these types. Many are
/// shortened.
fn elements(types: &[&Type], words: &mut &[i64]) -> Result<String, NoValue> {
    let mut shown = Vec::new();
    for _ in 0..count(words)? {
        let mut element = String::new();
        for (at, of) in types.iter().enumerate() {
            element += if at > 0 { ": " } else { "" };
            of.show(words, &mut element)?;
        }
        shown.push(element);
    }
    Ok(listed(shown.iter()))
}

/// Takes a word from the front.
pub(crate) fn word(words: &mut &[i64]) -> Result<i64, NoValue> {
    let (first, rest) = words.split_first().ok_or(NoValue)?;
    *words = rest;
    Ok(*first)
}

/// A word that is one of the first `choices` numbers.
pub(crate) fn choice(words: &mut &[i64], choices: usize) -> Result<usize, NoValue> {
    let word = usize::try_from(word(words)?).map_err(|_| NoValue)?;
    if word < choices { Ok(word) } else { Err(NoValue) }
}

/// A number of elements. Elements of no words are counted, so it is bounded by what a call holds.
pub(crate) fn count(words: &mut &[i64]) -> Result<usize, NoValue> {
    choice(words, 1 << 16)
}

/// Takes a string.
pub(crate) fn string(words: &mut &[i64]) -> Result<String, NoValue> {
    let length = count(words)?;
    let (bytes, rest) = words.split_at_checked(length.div_ceil(8)).ok_or(NoValue)?;
    *words = rest;
    let bytes: Vec<u8> = bytes.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

fn skip_string(words: &mut &[i64]) -> Result<(), NoValue> {
    let length = count(words)?;
    *words = words.get(length.div_ceil(8)..).ok_or(NoValue)?;
    Ok(())
}

/// The words of a string.
pub fn string_words(text: &str, words: &mut Vec<i64>) {
    words.push(text.len() as i64);
    words.extend(text.as_bytes().chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        i64::from_le_bytes(bytes)
    }));
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let join =
            |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Type::Void => f.write_str("void"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::String => f.write_str("string"),
            Type::Optional(inner) => write!(f, "optional<{inner}>"),
            Type::List(element) => write!(f, "list<{element}>"),
            Type::Set(element) => write!(f, "set<{element}>"),
            Type::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Type::Tuple(types) => write!(f, "tuple<{}>", join(types)),
            Type::Variant(types) => write!(f, "variant<{}>", join(types)),
            Type::Record(members) => {
                let members: Vec<String> =
                    members.iter().map(|(name, of)| format!("{name}: {of}")).collect();
                write!(f, "record<{}>", members.join(", "))
            }
        }
    }
}

/// Reads types as [`Type`] writes them.
pub struct TypeParser<'a> {
    rest: &'a str,
}

impl<'a> TypeParser<'a> {
    pub fn new(text: &'a str) -> TypeParser<'a> {
        TypeParser { rest: text }
    }

    /// Takes the token if it comes next.
    pub fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(token);
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    pub fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, after) = rest.split_at(rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()));
        self.rest = after;
        (!name.is_empty()).then_some(name)
    }

    /// The next number, with its sign.
    pub fn number(&mut self) -> Option<i64> {
        let rest = self.rest.trim_start();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let sign = rest.len() - digits.len();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number = rest[..sign + end].parse().ok()?;
        self.rest = &rest[sign + end..];
        Some(number)
    }

    /// The words of a value of this type; of booleans, numbers and optionals alone.
    pub fn value(&mut self, of: &Type) -> Option<Vec<i64>> {
        match of {
            Type::Bool if self.take("false") => Some(vec![0]),
            Type::Bool if self.take("true") => Some(vec![1]),
            Type::Int | Type::Uint => Some(vec![self.number()?]),
            Type::Optional(_) if self.take("none") => Some(vec![0]),
            Type::Optional(inner) => Some([vec![1], self.value(inner)?].concat()),
            _ => None,
        }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.trim_start().is_empty()
    }

    /// The next type.
    pub fn one(&mut self) -> Option<Type> {
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> Option<Type> {
        if depth > DEPTH_MAX {
            return None;
        }
        Some(match self.name()? {
            "void" => Type::Void,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "string" => Type::String,
            "optional" => Type::Optional(self.only_part(depth)?),
            "list" => Type::List(self.only_part(depth)?),
            "set" => Type::Set(self.only_part(depth)?),
            "map" => match <[Type; 2]>::try_from(self.parts(depth)?).ok()? {
                [key, value] => Type::Map(Box::new(key), Box::new(value)),
            },
            "tuple" => Type::Tuple(self.parts(depth)?),
            "variant" => Type::Variant(self.parts(depth)?),
            "record" => Type::Record(self.members(depth)?),
            _ => return None,
        })
    }

    fn only_part(&mut self, depth: usize) -> Option<Box<Type>> {
        let [part] = <[Type; 1]>::try_from(self.parts(depth)?).ok()?;
        Some(Box::new(part))
    }

    fn parts(&mut self, depth: usize) -> Option<Vec<Type>> {
        self.between_brackets(|parser| parser.nested(depth + 1))
    }

    fn members(&mut self, depth: usize) -> Option<Vec<(String, Type)>> {
        self.between_brackets(|parser| {
            let name = parser.name()?.to_string();
            parser.take(":").then(|| parser.nested(depth + 1)).flatten().map(|of| (name, of))
        })
    }

    fn between_brackets<T>(
        &mut self,
        mut one: impl FnMut(&mut TypeParser<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut parts = Vec::new();
        if !self.take("<") {
            return None;
        }
        while !self.take(">") {
            if (!parts.is_empty() && !self.take(",")) || parts.len() == PARTS_MAX {
                return None;
            }
            parts.push(one(self)?);
        }
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Type> {
        let mut parser = TypeParser::new(text);
        parser.one().filter(|_| parser.is_at_end())
    }

    const TYPES: [&str; 7] = [
        "int",
        "optional<list<string>>",
        "map<int, set<uint>>",
        "tuple<>",
        "tuple<bool, void, int>",
        "variant<int, string>",
        "record<id: int, name: optional<string>>",
    ];

    #[test]
    fn types_are_read_as_they_are_written() {
        for text in TYPES {
            assert_eq!(parse(text).expect(text).to_string(), text);
        }
        for text in ["", "double", "list<>", "list<int", "map<int>", "record<int>", "int int"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&("list<".repeat(20) + "int" + &">".repeat(20))), None);
    }

    #[test]
    fn values_are_shown_by_their_types() {
        let show = |text: &str, words: &[i64]| all(&[parse(text).expect(text)], words);
        assert_eq!(show("uint", &[-1]).expect("a value"), "18446744073709551615");
        assert_eq!(show("optional<int>", &[0]).expect("a value"), "none");
        assert_eq!(show("optional<int>", &[1, 7]).expect("a value"), "7");
        assert_eq!(show("list<bool>", &[2, 0, 1]).expect("a value"), "[false, true]");
        assert_eq!(show("map<int, int>", &[1, 3, 4]).expect("a value"), "{3: 4}");
        assert_eq!(show("variant<int, bool>", &[1, 1]).expect("a value"), "true");
        assert_eq!(show("record<a: int, b: bool>", &[5, 0]).expect("a value"), "{a: 5, b: false}");
        let mut words = Vec::new();
        string_words("nine \"bytes\"", &mut words);
        assert_eq!(words.len(), 3);
        assert_eq!(show("string", &words).expect("a value"), "\"nine \\\"bytes\\\"\"");
        for (of, words) in [("bool", &[2][..]), ("int", &[]), ("int", &[1, 2]), ("string", &[9, 1])]
        {
            assert_eq!(show(of, words), Err(NoValue), "{of} {words:?}");
        }
    }

    #[test]
    fn numbers_of_a_value_are_those_that_it_holds() {
        let mut found = Vec::new();
        let of = parse("tuple<bool, optional<int>, map<int, string>>").expect("a type");
        let read = of.numbers(&mut &[1, 1, 7, 1, 8, 1, 97][..], &mut |number| found.push(number));
        assert_eq!((read, found), (Ok(()), vec![7, 8]));
    }
}
