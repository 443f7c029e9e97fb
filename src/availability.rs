//! Whether an adapter can be compiled here, told without compiling it. Comes in: a request; goes
//! out: the headers that are not found, each with what to install. Reads `#include` lines of the
//! adapter and of the headers beside it; does not follow installed headers, which bring their own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cache::IoError;
use crate::compile::{Error, Request, Toolchain};
use crate::packages;

/// A header that no folder has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingHeader {
    pub header: String,
    pub package: Option<&'static str>,
    /// What to do about it.
    pub advice: String,
}

/// The headers this request would fail to find, by name. An error is one of the files themselves,
/// or of the compiler.
pub fn missing_headers(
    toolchain: &Toolchain,
    request: &Request,
) -> Result<Vec<MissingHeader>, Error> {
    let search_path = toolchain.search_path(request)?;
    let source = fs::canonicalize(&request.source).map_err(IoError::at(&request.source))?;
    let folder = source.parent().unwrap_or(Path::new("/")).to_path_buf();
    let mut missing = BTreeSet::new();
    let mut seen = BTreeSet::from([source.clone()]);
    let mut waiting = vec![source];
    while let Some(file) = waiting.pop() {
        let text = fs::read(&file).map_err(IoError::at(&file))?;
        for include in includes(&String::from_utf8_lossy(&text)) {
            match include.find(&file, &search_path) {
                Some(found) if found.starts_with(&folder) => {
                    if seen.insert(found.clone()) {
                        waiting.push(found);
                    }
                }
                Some(_) => {}
                None => {
                    missing.insert(include.name);
                }
            }
        }
    }
    Ok(missing.into_iter().map(MissingHeader::new).collect())
}

impl MissingHeader {
    fn new(header: String) -> MissingHeader {
        let package = packages::of_header(&header);
        MissingHeader { package, advice: packages::advice_for_header(&header), header }
    }
}

#[derive(Debug, PartialEq)]
struct Include {
    name: String,
    quoted: bool,
}

impl Include {
    fn find(&self, includer: &Path, search_path: &[PathBuf]) -> Option<PathBuf> {
        let beside = includer.parent().filter(|_| self.quoted).map(Path::to_path_buf);
        let mut candidates = beside.iter().chain(search_path).map(|folder| folder.join(&self.name));
        candidates.find(|path| path.is_file()).map(|path| path.canonicalize().unwrap_or(path))
    }
}

/// The includes that are certain to be read. One inside `#if` may be skipped by the preprocessor,
/// as a header of another system is, so its absence proves nothing; the guard around a header does
/// not count.
fn includes(text: &str) -> Vec<Include> {
    let directives: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('#').map(str::trim_start))
        .filter(|directive| !directive.starts_with("pragma"))
        .collect();
    let is_guarded = matches!(
        directives[..],
        [first, second, ..] if first.starts_with("ifndef") && second.starts_with("define")
    );
    let mut found = Vec::new();
    let mut conditions = if is_guarded { -1 } else { 0 };
    for directive in directives {
        if directive.starts_with("if") {
            conditions += 1;
        } else if directive.starts_with("endif") {
            conditions -= 1;
        } else if let Some(rest) = directive.strip_prefix("include")
            && conditions <= 0
        {
            found.extend(parse_include(rest.trim_start()));
        }
    }
    found
}

/// Names made by macros are not known here, and left to the compiler.
fn parse_include(text: &str) -> Option<Include> {
    let (quoted, rest) = match text.strip_prefix('<') {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix('"')?),
    };
    let (name, _) = rest.split_once(if quoted { '"' } else { '>' })?;
    Some(Include { name: name.to_string(), quoted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::sources::Sources;

    fn names(text: &str) -> Vec<String> {
        includes(text).into_iter().map(|include| include.name).collect()
    }

    #[test]
    fn includes_that_are_certain() {
        let text = "#include <a.h>\n  # include \"b.h\" // why\n#if X\n#include <c.h>\n#endif\n\
            #include MACRO\n#include <d.h>\n// #include <e.h>\n";
        assert_eq!(names(text), ["a.h", "b.h", "d.h"]);
    }

    #[test]
    fn a_guard_is_no_condition() {
        let text =
            "#ifndef A_H\n#define A_H\n#include <a.h>\n#ifdef X\n#include <b.h>\n#endif\n#endif";
        assert_eq!(names(text), ["a.h"]);
        assert!(names("#ifndef _WIN32\n#include <unistd.h>\n#endif").is_empty());
    }

    #[test]
    fn what_is_missing_is_listed_with_its_package() {
        let folder = tempfile::tempdir().expect("temp folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("folder")).expect("folder");
            fs::write(path, text).expect("write");
        };
        write("q.cpp", "#include <interlap.hpp>\n#include <vector>\n#include \"sub/near.hpp\"\n");
        write("sub/near.hpp", "#include <urcu/not_there.h>\n#include \"mine.hpp\"\n");
        let cache = Cache::at(folder.path().join("cache")).expect("cache");
        let toolchain = Toolchain::new(cache, Sources::EMBEDDED).expect("toolchain");
        let request = Request { source: folder.path().join("q.cpp"), ..Request::default() };
        let missing = missing_headers(&toolchain, &request).expect("readable");
        let [mine, urcu] = &missing[..] else { panic!("{missing:?}") };
        assert_eq!((mine.header.as_str(), mine.package), ("mine.hpp", None));
        assert!(mine.advice.contains("-I DIR"), "{}", mine.advice);
        assert_eq!(urcu.package, Some("liburcu-dev"));
        write("elsewhere/mine.hpp", "");
        write("elsewhere/urcu/not_there.h", "");
        let include_dirs = vec![folder.path().join("elsewhere")];
        let request = Request { include_dirs, ..request };
        assert_eq!(missing_headers(&toolchain, &request).expect("readable"), []);
    }
}
