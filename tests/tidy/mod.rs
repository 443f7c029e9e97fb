//! The rules of the house, held by the ordinary test run: which part may know which, how long
//! functions, files and lines may be, what no source may contain.

mod documents;
mod facts;
mod harness;
mod wording;

use std::path::{Path, PathBuf};

const LINE_COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 600;

/// The rooms of `src`. Each may name those before it, and no other.
const ROOMS: [&str; 20] = [
    "tla", "core", "model", "check", "view", "serve", "schedule", "trace", "exchange", "adapter",
    "binary", "process", "finding", "fuzz", "explain", "shrink", "campaign", "report", "export",
    "cli",
];

/// The rooms that the harness may name: what main program and harness must agree on.
const HARNESS_MAY_NAME: [&str; 5] = ["core", "model", "check", "schedule", "trace"];

/// What pages are written in.
const PAGE_EXTENSIONS: [&str; 4] = ["js", "mjs", "css", "html"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every source below `folder` with one of these extensions, with its text.
fn sources(folder: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the project") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if extensions.iter().any(|e| path.extension().is_some_and(|x| x == *e)) {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                found.push((path.strip_prefix(root()).expect("below").to_path_buf(), text));
            }
        }
    }
    assert!(!found.is_empty(), "nothing in {folder}");
    found
}

fn rust_sources() -> Vec<(PathBuf, String)> {
    ["src", "harness", "tests", "benches"].iter().flat_map(|f| sources(f, &["rs"])).collect()
}

/// The names that follow `prefix` in code, those in braces as well; not in comments. Unit tests may
/// reach further, for examples.
fn named<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let text = text.split("#[cfg(test)]").next().expect("a first part");
    let word = |text: &'a str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let line = text[..at].rsplit('\n').next().expect("a last line");
        if line.trim_start().starts_with("//") {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
            Some((list, _)) => names.extend(list.split(',').filter_map(|name| word(name.trim()))),
            None => names.extend(word(rest)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The arrows that point from a room to one that does not come before it.
fn arrows_upward(sources: &[(PathBuf, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in sources {
        let Some(room) = path.iter().nth(1).and_then(|part| part.to_str()) else { continue };
        if ["lib.rs", "main.rs"].contains(&room) {
            continue;
        }
        let Some(above) = ROOMS.iter().position(|name| *name == room) else {
            wrong.push(format!("{} is in no room", path.display()));
            continue;
        };
        for name in named(text, "crate::") {
            if !ROOMS[..=above].contains(&name) {
                wrong.push(format!("{} names {name}", path.display()));
            }
        }
    }
    wrong
}

#[test]
fn each_room_names_only_those_before_it() {
    assert_eq!(arrows_upward(&sources("src", &["rs"])), [""; 0]);
}

#[test]
fn an_arrow_upward_and_a_part_in_no_room_are_seen() {
    let upward = |path: &str, text: &str| {
        let sources = [(PathBuf::from(path), text.to_string())];
        arrows_upward(&sources).len()
    };
    assert_eq!(upward("src/fuzz/collect.rs", "use crate::report::text;"), 1);
    assert_eq!(upward("src/fuzz/collect.rs", "use crate::{core, report::text};"), 1);
    assert_eq!(upward("src/fuzz/collect.rs", "use crate::finding::Stored;\n// crate::report"), 0);
    assert_eq!(upward("src/ledger.rs", ""), 1);
    assert_eq!(upward("src/cellar/ledger.rs", ""), 1);
}

#[test]
fn the_harness_names_only_what_both_programs_share() {
    let mut wrong = Vec::new();
    for (path, text) in sources("harness", &["rs"]) {
        for name in named(&text, "interlap::") {
            if !HARNESS_MAY_NAME.contains(&name) {
                wrong.push(format!("{} names {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The first sentence of a file's header.
fn first_sentence(text: &str) -> String {
    let header = text.lines().map_while(|line| line.strip_prefix("//!"));
    let words: Vec<&str> = header.take_while(|line| !line.is_empty()).map(str::trim).collect();
    let words = words.join(" ");
    match words.find(". ") {
        Some(end) => words[..=end].to_string(),
        None => words,
    }
}

/// The list of files that belongs into the header of `folder/mod.rs`: a line each, with its first
/// sentence.
fn list_of(folder: &Path, all: &[(PathBuf, String)]) -> String {
    let mut lines = Vec::new();
    for (path, text) in all {
        let is_folder = path.ends_with("mod.rs");
        let place = if is_folder { path.parent().expect("in a folder") } else { path.as_path() };
        let name = place.file_stem().expect("a name").to_string_lossy();
        if place.parent() == Some(folder) && name != "tests" {
            let slash = if is_folder { "/" } else { "" };
            lines.push(item(&format!("- `{name}{slash}`: {}", first_sentence(text))));
        }
    }
    lines.sort();
    lines.concat()
}

/// An item of a list in a header, broken into lines.
fn item(text: &str) -> String {
    let mut lines = vec!["//!".to_string()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("at least one");
        if last.chars().count() + 1 + word.chars().count() > LINE_COLUMNS_MAX {
            lines.push(format!("//!   {word}"));
        } else {
            *last += &format!(" {word}");
        }
    }
    lines.join("\n") + "\n"
}

/// Set to write the lists instead of comparing them.
const UPDATE: &str = "UPDATE_EXPECT";

#[test]
fn each_room_lists_its_files() {
    let all = sources("src", &["rs"]);
    let mut wrong = Vec::new();
    for (path, text) in all.iter().filter(|(path, _)| path.ends_with("mod.rs")) {
        let list = list_of(path.parent().expect("in a folder"), &all);
        let header: String = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .map(|l| format!("{l}\n"))
            .collect();
        let kept = header.split("//!\n//! - `").next().expect("a first part");
        let kept = kept.trim_end_matches("//!\n");
        let right = if list.is_empty() { kept.to_string() } else { format!("{kept}//!\n{list}") };
        if header == right {
            continue;
        }
        if std::env::var_os(UPDATE).is_some() {
            let text = format!("{right}{}", &text[header.len()..]);
            std::fs::write(root().join(path), text).expect("it is writable");
        }
        wrong.push(path.display().to_string());
    }
    assert!(wrong.is_empty(), "run with {UPDATE}=1 to correct the lists of {wrong:#?}");
}

#[test]
fn only_the_harness_is_unsafe() {
    for file in ["src/lib.rs", "src/main.rs"] {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file}");
    }
}

/// Programs that the smallest Debian has, or that come with Rust or a package of the Makefile.
const PROGRAMS: [&str; 13] = [
    "c++",
    "cargo",
    "cc",
    "cp",
    "dpkg-query",
    "env",
    "g++",
    "gdb",
    "java",
    "node",
    "setarch",
    "sh",
    "sleep",
];

#[test]
fn only_programs_that_are_there_are_started() {
    for (path, text) in rust_sources() {
        for program in text.split("Command::new(\"").skip(1).filter_map(|rest| rest.split_once('"'))
        {
            let is_empty = program.0.is_empty();
            assert!(is_empty || PROGRAMS.contains(&program.0), "{path:?}: {}", program.0);
        }
    }
}

#[test]
fn functions_files_and_lines_are_short() {
    let mut wrong = Vec::new();
    for (path, text) in rust_sources() {
        let path = path.display();
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > FILE_LINES_MAX {
            wrong.push(format!("{path} has {} lines", lines.len()));
        }
        for (at, line) in lines.iter().enumerate() {
            let Some(length) = function_length(&lines[at..]) else { continue };
            if length > FUNCTION_LINES_MAX {
                wrong.push(format!("{path}:{}: {length} lines: {}", at + 1, line.trim()));
            }
        }
    }
    let native = ["ffi", "targets"].iter().flat_map(|f| sources(f, &["h", "hpp", "c", "cpp"]));
    let pages = ["src/view/page", "src/report/overview", "tests/page"]
        .iter()
        .flat_map(|f| sources(f, &PAGE_EXTENSIONS));
    for (path, text) in rust_sources().into_iter().chain(native).chain(pages) {
        for (at, line) in text.lines().enumerate() {
            // A list of clap attributes cannot be broken by rustfmt.
            let columns = line.chars().count();
            if columns > LINE_COLUMNS_MAX && !line.trim_start().starts_with("#[arg(") {
                wrong.push(format!("{}:{}: {columns} columns", path.display(), at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Lines of the function that begins at the first of `lines`, as rustfmt lays it out.
fn function_length(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?;
    let code = first.trim_start();
    // Of a trait, what is only declared.
    let words =
        code.split_once("fn ").map(|(before, _)| before).filter(|_| !code.ends_with(';'))?;
    let modifiers =
        ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "extern", "\"C\"", "\"C-unwind\""];
    if !words.split_whitespace().all(|word| modifiers.contains(&word)) {
        return None;
    }
    let indent = &first[..first.len() - code.len()];
    let end = lines.iter().position(|line| {
        line.strip_prefix(indent).is_some_and(|rest| rest == "}" || rest.ends_with(" {}"))
    })?;
    Some(end + 1)
}

#[test]
fn every_source_says_what_it_is_and_nothing_is_left_over() {
    // Put together here so that this file does not contain them.
    let leftovers = ["TO", "FIX", "XX", "dbg", "to"].iter().zip(["DO", "ME", "X", "!(", "do!("]);
    let leftovers: Vec<String> = leftovers.map(|(a, b)| format!("{a}{b}")).collect();
    for (path, text) in rust_sources() {
        let path = path.display();
        assert!(text.starts_with("//!"), "{path} does not begin with what it is");
        for word in &leftovers {
            assert!(!text.contains(word.as_str()), "{path} has {word}");
        }
    }
}

#[test]
fn the_length_of_a_function_is_counted() {
    assert_eq!(function_length(&["fn a() {", "    b();", "}", "fn c() {}"]), Some(3));
    assert_eq!(function_length(&["    pub unsafe fn a() {", "    }", "}"]), Some(2));
    assert_eq!(function_length(&["let fn_a = 1;"]), None);
}
