//! Facts between parts are types: no part looks for the words of a sentence in a text that another
//! part of the project made. Text that is searched for words comes from elsewhere, in the files
//! that are listed here. Words in a variable are not seen: this holds what is easily done by habit.

use super::sources;
use super::wording::{is_sentence, literals};

/// Where text is read that somebody else wrote: a file or a folder, and what is read there.
const READS: &[(&str, &str)] = &[
    ("harness/library.rs", "messages of the dynamic loader"),
    ("src/adapter/", "sources, headers and messages of compilers"),
    ("src/binary/", "names in debugging information"),
    ("src/cli/doctor/", "files of the kernel"),
    ("src/core/machine.rs", "files of the system"),
    ("src/core/tsc.rs", "files of the kernel"),
    ("src/exchange/", "histories of other tools"),
    ("src/export/", "sources of adapters"),
    ("src/finding/known/", "patterns that users write"),
    ("src/finding/locations.rs", "names of C++ functions"),
    ("src/process/fault/", "what targets print"),
    ("src/process/rr/", "what rr and gdb print"),
];

/// What makes the words of faults, acts and calls. These are looked for nowhere, neither in the
/// files above.
const WORDS: [&str; 3] = ["src/report/words.rs", "src/core/words.rs", "src/finding/signature.rs"];

/// Files of `check` that say what a caller did wrong. Nothing else there makes words: a verdict and
/// its reasons are data, of which `report/explanation` makes sentences.
const CHECKS_WITH_WORDS: [&str; 1] = ["src/check/online/window.rs"];

/// Rooms that have the facts of a finding, and could look for them in words.
const HAVE_FACTS: [&str; 6] =
    ["src/campaign/", "src/explain/", "src/export/", "src/finding/", "src/fuzz/", "src/shrink/"];

/// What looks a text through.
const SEARCHES: [&str; 16] = [
    "contains",
    "ends_with",
    "find",
    "match_indices",
    "matches",
    "rfind",
    "rsplit",
    "rsplit_once",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_start_matches",
    "replace",
];

/// The literal that a text begins with, without its quotes.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim_start().trim_start_matches('&').strip_prefix('"')?;
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    Some(&text[..end])
}

/// The literals that a source looks for in other text, outside of its tests.
fn looked_for(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]").next().expect("a first part");
    let of = |search: &&str| {
        let call = format!(".{search}(");
        let calls: Vec<usize> = code.match_indices(&call).map(|(at, _)| at + call.len()).collect();
        calls.into_iter().filter_map(|at| literal(&code[at..]))
    };
    SEARCHES.iter().flat_map(of).collect()
}

/// Whether it has a word, and is not but a sign or a letter.
fn has_a_word(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word.len() > 1)
}

fn code() -> Vec<(String, String)> {
    let both = ["src", "harness"].iter().flat_map(|folder| sources(folder, &["rs"]));
    let is_test = |path: &str| path.ends_with("/tests.rs");
    let named = both.map(|(path, text)| (path.display().to_string(), text));
    named.filter(|(path, _)| !is_test(path)).collect()
}

#[test]
fn no_part_looks_for_words_in_text_of_the_project() {
    let mut wrong = Vec::new();
    for (path, text) in code() {
        let reads = READS.iter().any(|(of, _)| path.starts_with(of));
        for found in looked_for(&text).into_iter().filter(|of| has_a_word(of) && !reads) {
            wrong.push(format!("{path} looks for {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\nhand the fact on as a type");
}

/// The sentences of a source, outside of its tests. What a panic says is no report.
fn sentences(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]").next().expect("a first part");
    let panics = ["expect(", "panic!(", "unreachable!("];
    let is_said = |range: &std::ops::Range<usize>| {
        let before = code[..range.start - 1].trim_end();
        is_sentence(&code[range.clone()]) && !panics.iter().any(|panic| before.ends_with(panic))
    };
    literals(code).into_iter().filter(is_said).map(|range| &code[range]).collect()
}

#[test]
fn checks_make_no_sentences() {
    let checks = sources("src/check", &["rs"]);
    let named = checks.iter().map(|(path, text)| (path.display().to_string(), sentences(text)));
    let speak: Vec<_> = named.filter(|(_, sentences)| !sentences.is_empty()).collect();
    let allowed = |path: &str| CHECKS_WITH_WORDS.contains(&path);
    let wrong: Vec<_> = speak.iter().filter(|(path, _)| !allowed(path)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\nhand a reason on as a type");
    let silent = |path: &&&str| !speak.iter().any(|(other, _)| other == **path);
    let silent: Vec<_> = CHECKS_WITH_WORDS.iter().filter(silent).collect();
    assert!(silent.is_empty(), "{silent:?} make no words any more");
}

/// Also signs: a change of memory was once known by " = ".
#[test]
fn words_of_reports_are_looked_for_nowhere() {
    let sources = code();
    let makers = sources.iter().filter(|(path, _)| WORDS.contains(&path.as_str()));
    let mut words: Vec<&str> = Vec::new();
    for (_, text) in makers {
        let code = text.split("#[cfg(test)]").next().expect("a first part");
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        words.extend(code.flat_map(|line| line.split('"').skip(1).step_by(2)));
    }
    assert!(words.len() > 50, "the words are made elsewhere by now");
    let mut wrong = Vec::new();
    let have_facts = |path: &str| HAVE_FACTS.iter().any(|room| path.starts_with(room));
    for (path, text) in sources.iter().filter(|(path, _)| have_facts(path)) {
        for found in looked_for(text).into_iter().filter(|of| of.trim().len() < of.len()) {
            let is_of_report = words.iter().any(|words| words.contains(found));
            wrong.extend(is_of_report.then(|| format!("{path} looks for {found:?}")));
        }
        for found in looked_for(text).into_iter().filter(|of| has_a_word(of)) {
            let is_of_report = words.iter().any(|words| words.starts_with(found));
            wrong.extend(is_of_report.then(|| format!("{path} looks for {found:?}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\nhand the fact on as a type");
}

/// The types that a source defines, and those that it gives words to (`Display`).
fn types(source: &str, before: &[&str]) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = code.flat_map(|line| before.iter().filter_map(|words| line.split_once(words)));
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    after.map(|(_, rest)| name(rest)).collect()
}

/// Otherwise words that a room makes reach one before it through the trait.
fn words_of_other_rooms(sources: &[(String, String)]) -> Vec<String> {
    let room = |path: &str| path.split('/').nth(1).unwrap_or_default().to_string();
    let defined: Vec<(String, String)> = sources
        .iter()
        .flat_map(|(path, text)| {
            let types = types(text, &["struct ", "enum "]);
            types.into_iter().map(|name| (room(path), name))
        })
        .collect();
    let mut wrong = Vec::new();
    for (path, text) in sources {
        for name in types(text, &["Display for "]) {
            if !defined.contains(&(room(path), name.clone())) {
                wrong.push(format!("{path} gives words to {name}"));
            }
        }
    }
    wrong
}

#[test]
fn a_room_gives_words_only_to_types_of_its_own() {
    let all = code().into_iter().filter(|(path, _)| path.starts_with("src/"));
    assert_eq!(words_of_other_rooms(&all.collect::<Vec<_>>()), [""; 0]);
    let sources = [
        ("src/finding/failure.rs", "pub enum Failure {}"),
        ("src/finding/words.rs", "impl fmt::Display for Failure {}"),
        ("src/report/words.rs", "impl fmt::Display for Failure {}"),
    ];
    let sources = sources.map(|(path, text)| (path.to_string(), text.to_string()));
    assert_eq!(words_of_other_rooms(&sources), ["src/report/words.rs gives words to Failure"]);
}

#[test]
fn what_is_looked_for_is_found() {
    let source = "if text.starts_with(\"waits\") && text\n    .contains(\n  \" \\\"at\\\" \") {}\n\
                  #[cfg(test)]\nmod tests { x.contains(\"tested\") }";
    let mut found = looked_for(source);
    found.sort_unstable();
    assert_eq!(found, [" \\\"at\\\" ", "waits"]);
    let source =
        "f(\"thread 1 was overtaken\"); x.expect(\n  \"one is left\"); rule(\"fifo-order\");";
    assert_eq!(sentences(source), ["thread 1 was overtaken"]);
    assert!(has_a_word("waits for") && !has_a_word("-") && !has_a_word("\\n"));
}
