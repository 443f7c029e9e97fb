//! The sentences of reports are for people alone: `make test-words` builds a copy of the project in
//! which every sentence of `src/view` and `src/report` is another, and runs the tests there. Only
//! those that hold wording may fail: the snapshots, and the unit tests of these rooms.

use std::fs;
use std::path::Path;

use super::root;

/// Commands of a debugger and codes of a terminal; no sentences.
const NOT_SENTENCES: [&str; 2] = ["src/report/debugger/gdb.rs", "src/report/output.rs"];

/// The string literals of Rust code, as ranges between their quotes.
pub fn literals(code: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = code.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"//") {
            at += code[at..].find('\n').unwrap_or(code.len() - at);
        } else if bytes[at] == b'\'' && bytes.get(at + 2) == Some(&b'\'') {
            at += 3; // '"'
        } else if bytes[at] == b'"' {
            let begin = at + 1;
            at = begin;
            while bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            found.push(begin..at);
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Whether a literal is words for people: no markup, no command, no name for a machine.
pub fn is_sentence(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    let words = text.split_whitespace().filter(|word| is_word(word)).count();
    words > 1 && !["<", "interlap ", "\": "].iter().any(|part| text.contains(part))
}

/// Another sentence with the same placeholders: every word of four letters or more ends otherwise.
fn reworded(text: &str) -> String {
    let (mut other, mut word, mut depth) = (String::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        // An option or a code name stays; so does the letter of an escape.
        let is_plain = depth == 0 && letter.is_ascii_lowercase() && !text[..at].ends_with('\\');
        if !is_plain {
            let ends = letter.is_whitespace() || ".,;:)".contains(letter);
            if word >= 4 && ends && depth == 0 {
                other.push_str("ish");
            }
            word = 0;
        } else if word > 0 || text[..at].is_empty() || text[..at].ends_with([' ', '(', '\n']) {
            word += 1;
        }
        other.push(letter);
    }
    other + if word >= 4 { "ish" } else { "" }
}

fn reword_file(code: &str) -> String {
    let end = code.find("#[cfg(test)]").unwrap_or(code.len());
    let (mut other, mut last) = (String::new(), 0);
    for range in literals(&code[..end]) {
        other.push_str(&code[last..range.start]);
        let text = &code[range.clone()];
        other.push_str(&if is_sentence(text) { reworded(text) } else { text.to_string() });
        last = range.end;
    }
    other + &code[last..]
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("room");
    for entry in fs::read_dir(from).expect("a folder of the project") {
        let from = entry.expect("an entry").path();
        let name = from.strip_prefix(root()).expect("below");
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() && !["target", ".git"].iter().any(|skipped| name.ends_with(skipped)) {
            copy(&from, &to);
        } else if from.is_file() {
            let has_words = ["rs", "gdb"].map(|end| from.extension() == Some(end.as_ref()));
            let is_report = ["src/view", "src/report"].iter().any(|room| name.starts_with(room))
                && has_words.contains(&true);
            match is_report && !NOT_SENTENCES.iter().any(|part| name.starts_with(part)) {
                true => {
                    let code = fs::read_to_string(&from).expect("UTF-8");
                    fs::write(&to, reword_file(&code)).expect("room");
                }
                false => drop(fs::copy(&from, &to).expect("room")),
            }
        }
    }
}

#[test]
fn sentences_are_reworded_and_nothing_else() {
    let code = r#"const A: &str = "Nothing found"; // "as is"
        format!("{what} crashed with {signal}, --jobs {}.", '"');
        name("kind"); run("interlap show x y");"#;
    let other = reword_file(code);
    assert!(other.contains(r#""Nothing foundish"; // "as is""#), "{other}");
    assert!(other.contains("{what} crashedish withish {signal}, --jobs {}."), "{other}");
    assert!(other.contains(r#"name("kind"); run("interlap show x y");"#), "{other}");
}

#[test]
#[ignore = "writes a copy of the project: make test-words"]
fn a_copy_in_other_words_is_written() {
    let to = root().join("target/reworded");
    // Its build is kept.
    copy(root(), &to);
}
