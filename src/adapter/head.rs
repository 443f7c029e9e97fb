//! Parses the comment at the top of an adapter: description, guarantee, bug, flags, model.

use serde::Serialize;

use crate::model::settings::{is_setting, joined};

/// The facts in the first comment.
///
/// ```text
/// // A two-lock queue.
/// // Guarantee: FIFO; dequeue fails only when the queue is empty.
/// // Source: manual of the library, chapter 3.
/// // Bug: the tail is published before the value is written.
/// // Native: yes
/// // Engine: native
/// // Race: queue.hpp:31-40 the length is a hint, and may be old.
/// // interlap: -lcds -std=c++20
/// // interlap: source ../src/hp.cpp
/// // interlap: action dequeue = Deq
/// // interlap: constant Capacity = 4
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Head {
    /// The first line, unless it begins with a key.
    pub description: String,
    /// `Guarantee:`; several are joined by spaces.
    pub guarantee: Option<String>,
    /// `Source:`, where the guarantee is written.
    pub source: Option<String>,
    /// `Bug:`, the bug that was seeded into a broken structure.
    pub bug: Option<String>,
    /// `Native: yes|no`: whether the native engine finds the bug.
    pub native: Option<bool>,
    /// Whether its code can be instrumented. `Engine: native` says that it cannot: the code that
    /// matters is precompiled, or the behaviour is that of the processor.
    pub hookable: bool,
    /// `Race:`, the function or lines of a data race that is accepted, and why.
    pub races: Vec<String>,
    /// `interlap:`, flags for the compiler and the linker, and sources of the library.
    pub flags: Vec<String>,
    /// `interlap:`, what it says of a specification that is the model.
    pub settings: String,
    /// `static constexpr auto model = "..."`, by text search.
    pub model: Option<String>,
}

impl Default for Head {
    fn default() -> Head {
        Head {
            description: String::new(),
            guarantee: None,
            source: None,
            bug: None,
            native: None,
            hookable: true,
            races: Vec::new(),
            flags: Vec::new(),
            settings: String::new(),
            model: None,
        }
    }
}

impl Head {
    /// Reads an adapter's text.
    pub fn parse(text: &str) -> Head {
        let mut head = Head { model: model(text), ..Head::default() };
        // The key that a line without a key continues.
        let mut continued = Key::Other;
        for (at, line) in comment_lines(text).into_iter().enumerate() {
            let (key, rest) = split_key(line);
            if at == 0 && key.is_none() {
                head.description = line.to_string();
                continue;
            }
            // An empty line ends a paragraph.
            continued = match key {
                Some(key) => key,
                None if line.is_empty() => Key::Other,
                None => continued,
            };
            head.add(continued, rest, key.is_some());
        }
        head
    }

    fn add(&mut self, key: Key, text: &str, starts: bool) {
        match key {
            Key::Guarantee => append(&mut self.guarantee, text),
            Key::Source => append(&mut self.source, text),
            Key::Bug => append(&mut self.bug, text),
            Key::Race if starts => self.races.push(text.to_string()),
            Key::Race => {
                self.races.last_mut().into_iter().for_each(|race| continue_with(race, text))
            }
            Key::Engine if starts => self.hookable = !text.starts_with("native"),
            Key::Native if starts => {
                let word = text.split(|c: char| !c.is_ascii_alphabetic()).next();
                self.native = match word.map(str::to_ascii_lowercase).as_deref() {
                    Some("yes") => Some(true),
                    Some("no") => Some(false),
                    _ => None,
                };
            }
            Key::Flags if starts => self.flags.extend(flags(text)),
            Key::Settings if starts => self.settings = joined(&self.settings, text),
            Key::Native | Key::Engine | Key::Flags | Key::Settings | Key::Other => {}
        }
    }
}

/// The flags of a line; `source` marks those that are sources of the library, for people. With
/// unbalanced quotes the words stay as they are, and the compiler reports them.
fn flags(text: &str) -> Vec<String> {
    let text = text.strip_prefix("source ").unwrap_or(text);
    shlex::split(text).unwrap_or_else(|| text.split_whitespace().map(str::to_string).collect())
}

/// The number of the line of this text that has such a flag, from 1.
pub fn line_of_flag(text: &str, is_it: impl Fn(&str) -> bool) -> Option<usize> {
    let has = |line: &str| match split_key(without_mark(without_mark(line, "//"), "*")) {
        (Some(Key::Flags), rest) => flags(rest).iter().any(|flag| is_it(flag)),
        _ => false,
    };
    Some(text.lines().position(has)? + 1)
}

#[derive(Clone, Copy, PartialEq)]
enum Key {
    Guarantee,
    Source,
    Bug,
    Native,
    Engine,
    Race,
    Flags,
    Settings,
    Other,
}

fn split_key(line: &str) -> (Option<Key>, &str) {
    let keys = [
        ("Guarantee:", Key::Guarantee),
        ("Source:", Key::Source),
        ("Bug:", Key::Bug),
        ("Native:", Key::Native),
        ("Engine:", Key::Engine),
        ("Race:", Key::Race),
        ("interlap:", Key::Flags),
    ];
    for (name, key) in keys {
        if let Some(rest) = line.strip_prefix(name).map(str::trim) {
            let is_setting = key == Key::Flags && is_setting(rest);
            return (Some(if is_setting { Key::Settings } else { key }), rest);
        }
    }
    (None, line)
}

fn append(text: &mut Option<String>, more: &str) {
    match text {
        Some(text) => continue_with(text, more),
        None => *text = Some(more.to_string()),
    }
}

fn continue_with(text: &mut String, more: &str) {
    text.push(' ');
    text.push_str(more);
}

/// The lines of the comment at the start of the text, without comment marks and without leading
/// empty lines (as after a lone `/*`).
fn comment_lines(text: &str) -> Vec<&str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let lines: Vec<&str> = if let Some(rest) = text.strip_prefix("/*") {
        let body = rest.split("*/").next().unwrap_or(rest);
        body.lines().map(|line| without_mark(line, "*")).collect()
    } else {
        let comment = text.lines().map(str::trim_start).take_while(|line| line.starts_with("//"));
        comment.map(|line| without_mark(line, "//")).collect()
    };
    lines.into_iter().skip_while(|line| line.is_empty()).collect()
}

fn without_mark<'a>(line: &'a str, mark: &str) -> &'a str {
    let line = line.trim();
    let line = line.strip_prefix(mark).unwrap_or(line);
    line.strip_prefix(['/', '!']).unwrap_or(line).trim()
}

/// The model that a text declares: the string after the first `constexpr auto model =`.
pub fn model(text: &str) -> Option<String> {
    let after = text.split_once("constexpr auto model")?.1.trim_start().strip_prefix('=')?;
    let quoted = after.trim_start().strip_prefix('"')?;
    quoted.split_once('"').map(|(name, _)| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// A two-lock queue.\n\
        //\n\
        // Guarantee: FIFO;\n\
        //   empty means empty.\n\
        // Source: its manual,\n\
        // chapter 3.\n\
        //\n\
        // Says more about itself here.\n\
        // Bug: the tail moves first.\n\
        // Native: no, needs three switches\n\
        // Engine: native\n\
        // Race: q.hpp:3 a hint,\n\
        //   no more.\n\
        // interlap: -lcds '-DNAME=two words'\n\
        // interlap: -std=c++20\n\
        // interlap: action dequeue = Deq\n\
        // interlap: constant N = {1, 2}\n\
        // interlap: source ../src/a.cpp b.c\n\
        #include <interlap.hpp>\n\
        // Bug: not part of the head\n\
        struct Q { static constexpr auto model = \"fifo:empty=lone\"; };\n";

    #[test]
    fn every_key_of_the_head_is_read() {
        let head = Head::parse(TEXT);
        assert_eq!(head.description, "A two-lock queue.");
        assert_eq!(head.guarantee.as_deref(), Some("FIFO; empty means empty."));
        assert_eq!(head.source.as_deref(), Some("its manual, chapter 3."));
        assert_eq!(head.bug.as_deref(), Some("the tail moves first."));
        assert!(!head.hookable);
        assert_eq!(head.races, ["q.hpp:3 a hint, no more."]);
        assert_eq!(head.native, Some(false));
        assert_eq!(head.flags, ["-lcds", "-DNAME=two words", "-std=c++20", "../src/a.cpp", "b.c"]);
        assert_eq!(line_of_flag(TEXT, |flag| flag == "b.c"), Some(18));
        assert_eq!(line_of_flag(TEXT, |flag| flag == "c.c"), None);
        assert_eq!(head.settings, "action dequeue = Deq;constant N = {1, 2}");
        assert_eq!(head.model.as_deref(), Some("fifo:empty=lone"));
    }

    #[test]
    fn a_block_comment_reads_the_same() {
        let head = Head::parse("\n/*\n * A queue.\n * Native: yes\n */\nint Bug;\n");
        assert_eq!(head.description, "A queue.");
        assert_eq!(head.native, Some(true));
        assert!(head.hookable);
        assert_eq!(Head::parse("/* One line. */ int x;").description, "One line.");
    }

    #[test]
    fn keys_may_begin_with_the_first_line() {
        let head = Head::parse("// interlap: -lcds\n// Engine: native\n// More.\nint x;\n");
        assert_eq!((&head.flags[..], head.hookable), (&["-lcds".to_string()][..], false));
        assert_eq!(head.description, "");
    }

    #[test]
    fn no_comment_is_an_empty_head() {
        assert_eq!(Head::parse("#include <x>\n// Bug: late\n"), Head::default());
        assert_eq!(Head::parse(""), Head::default());
    }
}
