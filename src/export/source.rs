//! The adapter as one text. Its source comes in, with the calls to be put into it; the source with
//! all headers that lie beside it in their place goes out. What is installed, and the contract with
//! interlap, are left out. Reads lines, not C++.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::statements::{Place, with_points};
use crate::adapter::includes;

/// A call to be put into a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub file: PathBuf,
    pub place: Place,
    /// What it is called.
    pub name: String,
}

impl Hook {
    /// "stack.hpp:31", in the file as it is without points, with the line's text.
    pub fn line(&self, source: &Source) -> (String, String) {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let text = match source.text(&self.file) {
            Some(text) => text.to_string(),
            None => fs::read_to_string(&self.file).unwrap_or_default(),
        };
        let before = text.get(..self.place.at()).unwrap_or_default();
        let number = before.matches('\n').count();
        let line = text.lines().nth(number).unwrap_or_default();
        (format!("{name}:{}", number + 1), line.trim().to_string())
    }
}

/// A file with the calls that belong into it.
pub fn hooked(file: &Path, text: &str, hooks: &[Hook]) -> String {
    let own = hooks.iter().filter(|hook| hook.file == file);
    let calls: Vec<(Place, String)> = own.map(|hook| (hook.place, hook.name.clone())).collect();
    with_points(text, &calls)
}

/// An adapter and the headers beside it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The adapter first.
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    text: String,
}

impl Source {
    pub fn read(adapter: &Path) -> Result<Source> {
        let adapter = fs::canonicalize(adapter)
            .with_context(|| format!("cannot find the adapter {}", adapter.display()))?;
        let mut paths = vec![adapter];
        let mut files: Vec<File> = Vec::new();
        while let Some(path) = paths.get(files.len()).cloned() {
            let text =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let text = String::from_utf8_lossy(&text).into_owned();
            for header in text.lines().filter_map(|line| beside(line, &path)) {
                if !paths.contains(&header) {
                    paths.push(header);
                }
            }
            files.push(File { path, text });
        }
        Ok(Source { files })
    }

    /// The text of one of its files.
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| &file.text[..])
    }

    /// The file of this path, or what it is a copy of: the bundled adapters lie in a cache.
    pub fn find(&self, path: &Path) -> Option<(&Path, &str)> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let is_copy = |file: &&File| {
            file.path.file_name() == path.file_name()
                && fs::read_to_string(&path).map_or(true, |text| text == file.text)
        };
        let same = self.files.iter().find(|file| file.path == path);
        same.or_else(|| self.files.iter().find(is_copy)).map(|file| (&*file.path, &file.text[..]))
    }

    /// All of its text, to look for words.
    pub fn all(&self) -> String {
        self.files.iter().map(|file| &file.text[..]).collect()
    }

    /// Whether it includes this header of the contract.
    pub fn includes_contract(&self, name: &str) -> bool {
        self.includes().any(|include| include.name.rsplit('/').next() == Some(name))
    }

    /// Whether it includes something that is found in this directory only.
    pub fn names_in(&self, folder: &Path) -> bool {
        let mut found = self.files.iter().flat_map(|file| {
            let lines = file.text.lines().filter(|line| beside(line, &file.path).is_none());
            lines.filter_map(includes::of_line)
        });
        found.any(|include| !is_contract(&include.name) && folder.join(&include.name).is_file())
    }

    fn includes(&self) -> impl Iterator<Item = includes::Include> + '_ {
        self.files.iter().flat_map(|file| file.text.lines().filter_map(includes::of_line))
    }

    /// Everything as one text, without what the contract needs.
    pub fn joined(&self, hooks: &[Hook]) -> String {
        let mut joined = Joined { source: self, hooks, done: Vec::new(), text: String::new() };
        joined.add(0);
        joined.text
    }
}

fn beside(line: &str, file: &Path) -> Option<PathBuf> {
    let include = includes::of_line(line)?;
    if is_contract(&include.name) { None } else { include.beside(file) }
}

fn is_contract(name: &str) -> bool {
    matches!(name.rsplit('/').next(), Some("interlap.h" | "interlap.hpp"))
}

/// The headers of the contract without their comments, to be written into a program.
pub fn contract(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    let is_own =
        |line: &&str| !includes::of_line(line).is_some_and(|include| is_contract(&include.name));
    let lines = code.lines().map(str::trim_end).filter(|line| !line.is_empty()).filter(is_own);
    lines.flat_map(|line| [line, "\n"]).collect()
}

struct Joined<'a> {
    source: &'a Source,
    hooks: &'a [Hook],
    /// Files that need not be written again.
    done: Vec<usize>,
    text: String,
}

impl Joined<'_> {
    fn add(&mut self, at: usize) {
        let File { path, text } = &self.source.files[at];
        let is_guarded = is_guarded(text);
        let once = text.lines().any(|line| is_directive(line, "pragma once"));
        let mut depth = if is_guarded { -1 } else { 0 };
        if is_guarded || once {
            self.done.push(at);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.line(&format!("// ---- {name}"));
        for line in hooked(path, text, self.hooks).lines() {
            if is_directive(line, "if") {
                depth += 1;
            } else if is_directive(line, "endif") {
                depth -= 1;
            }
            let contract = includes::of_line(line).is_some_and(|i| is_contract(&i.name));
            if contract || is_directive(line, "pragma once") {
                continue;
            }
            match beside(line, path) {
                Some(header) => self.include(&header, depth > 0),
                None => self.line(line),
            }
        }
        self.line(&format!("// ---- end of {name}"));
    }

    /// What is included where a condition decides may be needed elsewhere, too.
    fn include(&mut self, header: &Path, is_conditional: bool) {
        let at = self.source.files.iter().position(|file| file.path == header);
        let Some(at) = at.filter(|at| !self.done.contains(at)) else { return };
        let done = self.done.clone();
        self.add(at);
        if is_conditional {
            self.done = done;
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn is_directive(line: &str, words: &str) -> bool {
    let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
    directive.is_some_and(|directive| directive.starts_with(words))
}

/// Whether the whole file is within `#ifndef` of what it defines.
fn is_guarded(text: &str) -> bool {
    let mut directives = text.lines().filter(|line| line.trim_start().starts_with('#'));
    let mut next_is = |words| directives.next().is_some_and(|line| is_directive(line, words));
    next_is("ifndef") && next_is("define")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_beside_the_adapter_take_the_place_of_their_includes() {
        let folder = tempfile::tempdir().expect("temp folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("write");
        };
        write(
            "q.cpp",
            "#include <interlap.hpp>\n#include <vector>\n#include \"a.hpp\"\n\
            #include \"b.hpp\"\nint q;\n",
        );
        write("a.hpp", "#ifndef A\n#define A\n#include \"b.hpp\"\nint a;\n#endif\n");
        write("b.hpp", "#pragma once\nint b;\n");
        let source = Source::read(&folder.path().join("q.cpp")).expect("readable");
        let file = folder.path().canonicalize().expect("there").join("b.hpp");
        let hook = Hook { file, place: Place::Statement(13), name: "B".to_string() };
        let expected = "// ---- q.cpp\n#include <vector>\n// ---- a.hpp\n#ifndef A\n#define A\n\
            // ---- b.hpp\nREPRODUCER_POINT(B); int b;\n// ---- end of b.hpp\nint a;\n#endif\n\
            // ---- end of a.hpp\nint q;\n// ---- end of q.cpp\n";
        assert_eq!(source.joined(&[hook]), expected);
    }
}
