//! The rules of the house, held by the ordinary test run: which part may know which, how long
//! functions, files and lines may be, what no source may contain.

mod harness;

use std::path::{Path, PathBuf};

const LINE_COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 600;

/// What each part of `src` may name of the others. A part that is not listed may name all: it is
/// the end of the flow (`commands`), or stands beside it.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("operation", &[]),
    ("random", &[]),
    ("tsc", &[]),
    ("packages", &[]),
    ("machine", &[]),
    ("schedule", &["random"]),
    ("history", &["operation"]),
    ("model", &["operation"]),
    ("plan", &["operation"]),
    ("scenario", &["history", "operation", "plan"]),
    ("journal", &["history"]),
    ("check", &["history", "journal", "model", "operation"]),
    ("trace", &["history", "model", "operation", "plan"]),
    ("exchange", &["history", "model", "operation"]),
    ("exercise", &["check", "history", "operation", "plan", "random"]),
    ("symbols", &[]),
    ("members", &[]),
    ("unseen", &[]),
    ("saturation", &[]),
    ("fault", &["history", "symbols", "trace"]),
    ("supervise", &["fault", "plan", "trace"]),
    ("judge", &["check", "exercise", "history", "model", "trace"]),
    ("watch", &["check", "history", "model", "operation", "trace"]),
    ("rr", &["plan"]),
    ("interleaving", &[]),
    ("measured", &[]),
    (
        "finding",
        &[
            "check",
            "fault",
            "history",
            "interleaving",
            "measured",
            "operation",
            "plan",
            "random",
            "rr",
            "trace",
        ],
    ),
    ("spots", &["finding", "interleaving"]),
    ("known", &["fault", "finding", "interleaving", "operation", "spots"]),
    ("triage", &["finding", "interleaving", "known", "ledger", "operation", "spots"]),
    (
        "explain",
        &["finding", "history", "interleaving", "members", "report", "rr", "symbols", "trace"],
    ),
    (
        "export",
        &[
            "compile",
            "fault",
            "finding",
            "history",
            "includes",
            "interleaving",
            "operation",
            "plan",
            "report",
            "trace",
        ],
    ),
    ("page", &["check", "exchange", "finding", "history", "interleaving", "model", "report"]),
    ("replay", &["fault", "finding", "history", "plan", "report", "rr", "trace"]),
    ("cache", &[]),
    ("includes", &["cache"]),
    ("head", &[]),
    ("sources", &["cache", "head"]),
    ("compile", &["cache", "head", "includes", "packages", "sources"]),
    ("catalog", &["cache", "compile", "head", "includes", "sources"]),
    ("availability", &["cache", "compile", "includes", "packages", "sources"]),
    ("doctor", &["cache", "compile", "machine", "rr", "sources", "tsc"]),
    (
        "fuzz",
        &[
            "check",
            "exercise",
            "explain",
            "fault",
            "finding",
            "history",
            "judge",
            "known",
            "model",
            "operation",
            "page",
            "plan",
            "replay",
            "report",
            "rr",
            "saturation",
            "supervise",
            "symbols",
            "trace",
            "watch",
        ],
    ),
    ("ledger", &["finding", "fuzz", "machine", "plan", "trace"]),
    ("overview", &["exercise", "finding", "fuzz", "ledger", "operation", "page", "plan", "report"]),
    (
        "shrink",
        &[
            "finding",
            "fuzz",
            "history",
            "measured",
            "operation",
            "plan",
            "random",
            "scenario",
            "schedule",
            "trace",
        ],
    ),
];

/// What the harness may name of the library.
const HARNESS_MAY_NAME: [&str; 7] =
    ["model", "operation", "plan", "random", "schedule", "trace", "tsc"];

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

/// The names that follow `prefix` in code (not in comments).
fn named<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let end = |rest: &'a str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    code.flat_map(|line| line.split(prefix).skip(1).filter_map(end)).collect()
}

#[test]
fn dependencies_point_down_the_flow() {
    let mut wrong = Vec::new();
    for (path, text) in sources("src", &["rs"]) {
        let part = path.iter().nth(1).expect("src/PART").to_str().expect("UTF-8");
        let part = part.trim_end_matches(".rs");
        let Some((_, may_name)) = MAY_NAME.iter().find(|(name, _)| *name == part) else {
            continue;
        };
        // Unit tests may reach further, for examples.
        let text = text.split("#[cfg(test)]").next().expect("a first part");
        for name in named(text, "crate::") {
            if name != part && !name.is_empty() && !may_name.contains(&name) {
                wrong.push(format!("{} names {name}", path.display()));
            }
        }
    }
    for (path, text) in sources("harness", &["rs"]) {
        for name in named(&text, "interlap::") {
            if !name.is_empty() && !HARNESS_MAY_NAME.contains(&name) {
                wrong.push(format!("{} names {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_the_harness_is_unsafe() {
    for file in ["src/lib.rs", "src/main.rs"] {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        assert!(text.contains("#![forbid(unsafe_code)]"), "{file}");
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
    let pages = ["src/page", "src/overview", "tests/page"]
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
    let words = code.split_once("fn ").map(|(before, _)| before)?;
    let modifiers = ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "extern", "\"C\""];
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
