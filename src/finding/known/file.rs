//! Parses the file of known issues, which is TOML. Errors name the line.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use anyhow::{Result, anyhow, bail};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use toml::Spanned;

use super::pattern::{Glob, Lines, Patterns};

/// A known issue.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub name: String,
    /// A link to its description.
    pub issue: Option<String>,
    pub note: Option<String>,
    pub patterns: Patterns,
    /// The line at which it begins, from 1; 0: an adapter has it, not the file.
    pub line: usize,
}

impl Entry {
    /// The data races of a function or of lines, and why they are accepted: "queue.hpp:31 a hint".
    ///
    /// # Errors
    /// What is missing, or wrong.
    pub fn of_race(text: &str) -> Result<Entry, String> {
        let (pattern, why) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if why.trim().is_empty() {
            return Err("after the function or the lines, it must say why".to_string());
        }
        let mut patterns =
            Patterns { fault: Some(Glob::fault_name("data-race")?), ..Patterns::default() };
        // The name of a function has no dot.
        match pattern.contains('.') {
            true => patterns.lines.push(Lines::new(pattern)?),
            false => patterns.functions.push(Glob::new(pattern)?),
        }
        let name = why.trim().trim_end_matches('.').to_string();
        Ok(Entry { name, issue: None, note: None, patterns, line: 0 })
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    known: Vec<Spanned<Raw>>,
}

/// An entry as it is written.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    issue: Option<String>,
    note: Option<String>,
    target: Option<Any>,
    model: Option<Any>,
    rule: Option<Any>,
    #[serde(default)]
    operations: List<Operation>,
    fault: Option<FaultName>,
    message: Option<Any>,
    signature: Option<Any>,
    #[serde(default)]
    function: List<Any>,
    #[serde(default)]
    line: List<LinePattern>,
}

#[derive(serde::Deserialize)]
#[serde(try_from = "String")]
struct Any(Glob);

#[derive(serde::Deserialize)]
#[serde(try_from = "String")]
struct Operation(Glob);

#[derive(serde::Deserialize)]
#[serde(try_from = "String")]
struct FaultName(Glob);

#[derive(serde::Deserialize)]
#[serde(try_from = "String")]
struct LinePattern(Lines);

impl TryFrom<String> for Any {
    type Error = String;

    fn try_from(text: String) -> Result<Any, String> {
        Glob::new(&text).map(Any)
    }
}

impl TryFrom<String> for Operation {
    type Error = String;

    fn try_from(text: String) -> Result<Operation, String> {
        Glob::operation_name(&text).map(Operation)
    }
}

impl TryFrom<String> for FaultName {
    type Error = String;

    fn try_from(text: String) -> Result<FaultName, String> {
        Glob::fault_name(&text).map(FaultName)
    }
}

impl TryFrom<String> for LinePattern {
    type Error = String;

    fn try_from(text: String) -> Result<LinePattern, String> {
        Lines::new(&text).map(LinePattern)
    }
}

/// Texts, or one text without brackets.
struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + TryFrom<String, Error = String>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<List<T>, D::Error> {
        from.deserialize_any(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + TryFrom<String, Error = String>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<List<T>, E> {
        T::try_from(text.to_string()).map(|one| List(vec![one])).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<List<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = from.next_element()? {
            all.push(one);
        }
        match all.is_empty() {
            true => Err(de::Error::custom("an empty list fits nothing; leave it out")),
            false => Ok(List(all)),
        }
    }
}

/// The entries of a file's text, in their order.
pub fn parse(text: &str) -> Result<Vec<Entry>> {
    let file: File = toml::from_str(text).map_err(|error| {
        let single = text.lines().any(|line| line.trim() == "[known]");
        let hint = if single { "; entries begin with [[known]], in two brackets" } else { "" };
        anyhow!("{}{hint}", error.to_string().trim_end())
    })?;
    let (mut entries, mut names) = (Vec::new(), HashSet::new());
    for spanned in file.known {
        let line = text[..spanned.span().start].lines().count() + 1;
        let entry = entry(spanned.into_inner(), line);
        let name = &entry.name;
        if name.trim().is_empty() {
            bail!("line {line}: the entry's name is empty");
        }
        if let Err(why) = entry.patterns.check() {
            bail!("line {line}, {name:?}: {why}");
        }
        if !names.insert(name.clone()) {
            bail!("line {line}: there is another entry {name:?}; give each a name of its own");
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(raw: Raw, line: usize) -> Entry {
    let any = |any: Option<Any>| any.map(|any| any.0);
    let patterns = Patterns {
        target: any(raw.target),
        model: any(raw.model),
        rule: any(raw.rule),
        operations: raw.operations.0.into_iter().map(|name| name.0).collect(),
        fault: raw.fault.map(|fault| fault.0),
        message: any(raw.message),
        signature: any(raw.signature),
        functions: raw.function.0.into_iter().map(|name| name.0).collect(),
        lines: raw.line.0.into_iter().map(|lines| lines.0).collect(),
    };
    Entry { name: raw.name, issue: raw.issue, note: raw.note, patterns, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message must have all of `parts`.
    #[track_caller]
    fn is_wrong(text: &str, parts: &[&str]) {
        let error = format!("{:#}", parse(text).expect_err("not right"));
        parts.iter().for_each(|part| assert!(error.contains(part), "no {part:?} in {error}"));
    }

    #[test]
    fn an_entry_has_patterns() {
        let text = "# ours\n[[known]]\nname = 'a'\nissue = 'https://x/1'\nrule = 'fifo*'\n\
                    operations = ['enqueue', 'dequeue']\nline = 'q.hpp:3-9'\n\n\
                    [[known]]\nname = 'b'\nfault = 'SIGSEGV'\nfunction = ['f', 'g']\n";
        let entries = parse(text).expect("right");
        assert_eq!((entries[0].line, entries[1].line), (2, 9));
        assert_eq!(entries[0].issue.as_deref(), Some("https://x/1"));
        assert_eq!(entries[0].patterns.operations.len(), 2);
        assert_eq!(entries[1].patterns.functions.len(), 2);
        assert_eq!(parse("").expect("nothing is known"), []);
    }

    #[test]
    fn an_adapter_accepts_races_with_a_reason() {
        let entry = Entry::of_race("src/q.hpp:3-9  a hint, no more").expect("right");
        assert_eq!((&*entry.name, entry.patterns.lines.len()), ("a hint, no more", 1));
        let entry = Entry::of_race("*Queue<*>::size a hint").expect("right");
        assert_eq!((entry.patterns.functions.len(), entry.patterns.lines.len()), (1, 0));
        assert!(Entry::of_race("q.hpp:3 ").is_err() && Entry::of_race("q.hpp:x why").is_err());
    }

    #[test]
    fn errors_name_their_line() {
        is_wrong("[[known]]\nname = 'a'\nruel = 'x'\n", &["line 3", "unknown field `ruel`"]);
        is_wrong("[[known]]\nrule = 'x'\n", &["line 1", "missing field `name`"]);
        is_wrong("[[known]]\nname = 'a'\nnote = 'x'\n", &["line 1", "no pattern"]);
        is_wrong("\n[[known]]\nname = 'a'\nline = 'q.hpp:9-3'\n", &["line 4", "FIRST-LAST"]);
        is_wrong("[[known]]\nname = 'a'\nline = ['q.hpp', 'q:x']\n", &["line 3", "FIRST-LAST"]);
        is_wrong("[[known]]\nname = 'a'\nrule = ''\n", &["line 3", "an empty pattern"]);
        is_wrong("[[known]]\nname = 'a'\noperations = []\n", &["line 3", "an empty list"]);
        is_wrong("[[known]]\nname = 'a'\noperations = ['pup']\n", &["line 3", "did you mean"]);
        is_wrong("[[known]]\nname = 'a'\nfault = 'uaf'\n", &["line 3", "use after free"]);
        is_wrong("[[known]]\nname = 'a'\nline = 3\n", &["line 3", "a string or a list"]);
        is_wrong("[[known]]\nname = 'a'\nrule = 'x'\nfault = 'hang'\n", &["line 1", "both"]);
        let twice = "[[known]]\nname = 'a'\nrule = 'x'\n".repeat(2);
        is_wrong(&twice, &["line 4", "another entry \"a\""]);
        is_wrong("[known]\nname = 'a'\nrule = 'x'\n", &["line 1", "[[known]]"]);
        is_wrong("[[known]\n", &["line 1"]);
        is_wrong("[[kown]]\nname = 'a'\n", &["line 1", "unknown field `kown`"]);
    }
}
