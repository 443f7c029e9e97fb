//! The configuration of a specification, as TLC reads it (`Queue.cfg`): what its constants are, and
//! which definition says how it begins.

use std::collections::HashMap;

use super::problem::{Problem, Result, fail};
use super::value::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    pub constants: HashMap<String, Value>,
    /// Names that stand for others.
    pub replaced: HashMap<String, String>,
    /// What names of one module stand for, by module and name.
    pub inside: HashMap<(String, String), Inside>,
    pub init: Option<String>,
    /// The action that is all steps.
    pub next: Option<String>,
    pub specification: Option<String>,
    /// Names of what is true in every state.
    pub invariants: Vec<String>,
    /// Names of what is true in every state that is looked at.
    pub constraints: Vec<String>,
    /// What is shown of a state.
    pub alias: Option<String>,
}

/// What a name of one module stands for: `name = [Module]value`, `name <- [Module]other`.
#[derive(Clone, Debug, PartialEq)]
pub enum Inside {
    Value(Value),
    Name(String),
}

/// Words that begin a part.
const PARTS: [&str; 18] = [
    "CONSTANT",
    "CONSTANTS",
    "INIT",
    "NEXT",
    "SPECIFICATION",
    "INVARIANT",
    "INVARIANTS",
    "PROPERTY",
    "PROPERTIES",
    "CONSTRAINT",
    "CONSTRAINTS",
    "ACTION_CONSTRAINT",
    "ACTION_CONSTRAINTS",
    "SYMMETRY",
    "VIEW",
    "ALIAS",
    "CHECK_DEADLOCK",
    "POSTCONDITION",
];

impl Config {
    /// Reads the text of a `.cfg` file.
    ///
    /// # Errors
    /// What cannot be read, with its line.
    pub fn read(text: &str) -> Result<Config> {
        let mut config = Config::default();
        config.add(text)?;
        Ok(config)
    }

    /// Adds what a further text says; where both give a value, it is the later one.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn add(&mut self, text: &str) -> Result<()> {
        let words = words(&without_comments(text))?;
        let (mut part, mut at) = ("", 0);
        while let Some((word, line)) = words.get(at) {
            at += 1;
            if let Some(begun) = PARTS.into_iter().find(|part| part == word) {
                part = begun;
                continue;
            }
            match part {
                "CONSTANT" | "CONSTANTS" => {
                    let located = |problem| Problem::new(format!("line {line}: {problem}"));
                    at = self.constant(word, &words, at).map_err(located)?;
                }
                "INIT" => self.init = Some(word.clone()),
                "NEXT" => self.next = Some(word.clone()),
                "SPECIFICATION" => self.specification = Some(word.clone()),
                "INVARIANT" | "INVARIANTS" => self.invariants.push(word.clone()),
                "CONSTRAINT" | "CONSTRAINTS" => self.constraints.push(word.clone()),
                "ALIAS" => self.alias = Some(word.clone()),
                // The calls say what goes on, and where it ends: nothing merges states.
                _ => {}
            }
        }
        Ok(())
    }

    /// `name = value` or `name <- other`, perhaps with a `[Module]` before what is behind; gives
    /// where the next begins.
    fn constant(&mut self, name: &str, words: &[(String, usize)], at: usize) -> Result<usize> {
        let word = |at: usize| words.get(at).map(|(word, _)| word.as_str());
        let (module, behind) = match (word(at + 1), word(at + 2), word(at + 3)) {
            (Some("["), Some(module), Some("]")) => (Some(module.to_string()), at + 4),
            _ => (None, at + 1),
        };
        let name = name.to_string();
        match (word(at), module) {
            (Some("="), module) => {
                let (value, end) = value(words, behind)?;
                match module {
                    None => drop(self.constants.insert(name, value)),
                    Some(of) => drop(self.inside.insert((of, name), Inside::Value(value))),
                }
                Ok(end)
            }
            (Some("<-"), module) => {
                let Some(other) = word(behind).map(str::to_string) else {
                    return fail(format!("{name} <- ...: a name is missing"));
                };
                match module {
                    None => drop(self.replaced.insert(name, other)),
                    Some(of) => drop(self.inside.insert((of, name), Inside::Name(other))),
                }
                Ok(behind + 1)
            }
            _ => fail(format!("{name}: expected = or <- behind it")),
        }
    }
}

/// The text without what stands between `(*` and `*)`; its lines are the same.
fn without_comments(text: &str) -> String {
    let (mut kept, mut rest, mut open) = (String::new(), text, 0);
    while let Some(letter) = rest.chars().next() {
        let length = match () {
            () if rest.starts_with("(*") => {
                open += 1;
                2
            }
            () if open == 0 && rest.starts_with("\\*") => rest.find('\n').unwrap_or(rest.len()),
            () if open > 0 && rest.starts_with("*)") => {
                open -= 1;
                2
            }
            () => {
                if open == 0 || letter == '\n' {
                    kept.push(letter);
                }
                letter.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    kept
}

/// The words of the text with their lines, without comments.
fn words(text: &str) -> Result<Vec<(String, usize)>> {
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut rest = line.split("\\*").next().unwrap_or("").trim_start();
        while let Some(first) = rest.chars().next() {
            let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '!';
            let length = match first {
                '"' => match rest[1..].find('"') {
                    Some(end) => end + 2,
                    None => return fail(format!("line {number}: a string without an end")),
                },
                '<' if rest.starts_with("<-") => 2,
                letter if is_name(letter) || letter == '-' => rest[letter.len_utf8()..]
                    .find(|letter| !is_name(letter))
                    .map_or(rest.len(), |end| end + letter.len_utf8()),
                letter => letter.len_utf8(),
            };
            words.push((rest[..length].to_string(), number));
            rest = rest[length..].trim_start();
        }
    }
    Ok(words)
}

/// A value, and where it ends. A name is a model value.
fn value(words: &[(String, usize)], at: usize) -> Result<(Value, usize)> {
    let Some((word, _)) = words.get(at) else { return fail("a value is missing") };
    if word == "{" {
        let (mut elements, mut at) = (Vec::new(), at + 1);
        while words.get(at).is_some_and(|(word, _)| word != "}") {
            let (element, end) = value(words, at)?;
            elements.push(element);
            at = end + usize::from(words.get(end).is_some_and(|(word, _)| word == ","));
        }
        return Ok((Value::set(elements)?, at + 1));
    }
    let value = match word.as_str() {
        "TRUE" => Value::Bool(true),
        "FALSE" => Value::Bool(false),
        text if text.starts_with('"') => Value::text(text.trim_matches('"')),
        text => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) if text.starts_with(char::is_alphanumeric) => Value::Model(text.into()),
            Err(_) => return fail(format!("{text} is no value")),
        },
    };
    Ok((value, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_names_are_read() {
        let text = "SPECIFICATION Spec \\* as usual\nCONSTANTS\n  N = -3 Keys = {2, 1} \
                    Name <- Other Two = [M] 2 Three <- [M]Four\n\
                    NULL = NULL Text = \"a b\"\nINVARIANTS One Two\nCHECK_DEADLOCK FALSE\n";
        let config = Config::read(text).expect("it is one");
        assert_eq!(config.constants["N"], Value::Int(-3));
        let keys = Value::set(vec![Value::Int(1), Value::Int(2)]).expect("integers");
        assert_eq!(config.constants["Keys"], keys);
        assert_eq!(config.constants["NULL"], Value::Model("NULL".into()));
        assert_eq!(config.constants["Text"], Value::text("a b"));
        assert_eq!(config.replaced["Name"], "Other");
        let inside = |name: &str| &config.inside[&("M".to_string(), name.to_string())];
        assert_eq!(inside("Two"), &Inside::Value(Value::Int(2)));
        assert_eq!(inside("Three"), &Inside::Name("Four".to_string()));
        assert_eq!(config.specification.as_deref(), Some("Spec"));
        assert_eq!(config.invariants, ["One", "Two"]);
        let error = Config::read("CONSTANT\n\nN : 3").expect_err("no value").to_string();
        assert!(error.contains("line 3") && error.contains("expected ="), "{error}");
    }
}
