//! The documents: links lead somewhere and those of the book stay in it, README stays one page,
//! tables and lines are short, every chapter is in the summary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const README_LINES_MAX: usize = 120;
const GLOSSARY_ENTRIES_MAX: usize = 40;
const CELL_CHARACTERS_MAX: usize = 200;
const LINE_CHARACTERS_MAX: usize = 112;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every document, by its path below the root, without its blocks of code.
fn documents() -> BTreeMap<PathBuf, String> {
    let book = std::fs::read_dir(root().join("docs"))
        .expect("the book")
        .map(|entry| Path::new("docs").join(entry.expect("an entry").file_name()));
    let first = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(PathBuf::from);
    let all = book.chain(first).filter(|path| path.extension().is_some_and(|end| end == "md"));
    all.map(|path| {
        let text = std::fs::read_to_string(root().join(&path)).expect("UTF-8");
        (path, text.split("```").step_by(2).collect())
    })
    .collect()
}

/// The anchor of a heading, as renderers of Markdown make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

fn links(text: &str) -> Vec<&str> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    ends.filter(|link| !link.contains("://")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let documents = documents();
    let mut wrong = Vec::new();
    for (path, text) in &documents {
        for link in links(text) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let folder = path.parent().expect("a file has a folder");
            let joined = if file.is_empty() { path.clone() } else { folder.join(file) };
            let Ok(target) = root().join(joined).canonicalize() else {
                wrong.push(format!("{}: {link}", path.display()));
                continue;
            };
            let target = target.strip_prefix(root().canonicalize().expect("it is there"));
            let text = target.ok().and_then(|target| documents.get(target));
            let is_there = |text: &String| anchors(text).iter().any(|anchor| anchor == place);
            if !place.is_empty() && !text.is_some_and(is_there) {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_documents_keep_their_size() {
    let lines = |file: &str| std::fs::read_to_string(root().join(file)).expect(file);
    let readme = lines("README.md").lines().count();
    assert!(readme <= README_LINES_MAX, "README.md has {readme} lines");
    let entries = lines("docs/glossary.md").matches("\n### ").count();
    assert!(entries <= GLOSSARY_ENTRIES_MAX, "the glossary has {entries} entries");
}

#[test]
fn links_of_the_book_stay_in_it() {
    let documents = documents();
    let book = documents.iter().filter(|(path, _)| path.starts_with("docs"));
    let out = book.flat_map(|(_, text)| links(text)).find(|link| link.starts_with("../"));
    assert_eq!(out, None, "mdbook copies docs alone");
}

#[test]
fn cells_and_lines_are_short() {
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        let (rows, lines): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with('|'));
        let cells = rows.iter().flat_map(|row| row.split('|'));
        let long = |of: &str, max| of.trim().chars().count() > max;
        let cells = cells.filter(|cell| long(cell, CELL_CHARACTERS_MAX));
        let lines = lines.iter().filter(|line| long(line, LINE_CHARACTERS_MAX));
        wrong.extend(cells.chain(lines.copied()).map(|l| format!("{}: {l}", path.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_chapter_is_in_the_summary() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
    let listed = links(&summary);
    for path in documents().keys().filter(|path| path.starts_with("docs")) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        assert!(name == "SUMMARY.md" || listed.contains(&name), "{name} is not in SUMMARY.md");
    }
}
