//! Copies the adapter and the headers beside it, without installed headers and interlap's own.
//! Finds headers by their `#include` lines; preprocesses nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Written;
use crate::adapter::includes;
use crate::adapter::sources;

/// The directory of the copies.
const DIRECTORY: &str = "adapter";

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
            for header in text.lines().filter_map(|line| header_beside(line, &path)) {
                if !paths.contains(&header) {
                    paths.push(header);
                }
            }
            files.push(File { path, text });
        }
        Ok(Source { files })
    }

    /// The adapter's path in the export.
    pub fn adapter(&self) -> PathBuf {
        self.name(&self.files[0])
    }

    /// The copies.
    pub fn copies(&self) -> Vec<Written> {
        self.files.iter().map(|file| (self.name(file), file.text.clone())).collect()
    }

    /// The path of a copy: relative to the directory that all files have in common.
    fn name(&self, file: &File) -> PathBuf {
        let parents = self.files[0].path.ancestors().skip(1);
        let is_above = |dir: &&Path| self.files.iter().all(|file| file.path.starts_with(dir));
        let above = { parents }.find(is_above).unwrap_or(Path::new("/"));
        Path::new(DIRECTORY).join(file.path.strip_prefix(above).unwrap_or(&file.path))
    }

    /// Whether it includes a file that is only found with this directory as a search path.
    pub fn includes_from(&self, folder: &Path) -> bool {
        let mut found = self.files.iter().flat_map(|file| {
            let lines = file.text.lines().filter(|line| header_beside(line, &file.path).is_none());
            lines.filter_map(includes::parse_line)
        });
        found.any(|include| !is_contract(&include.name) && folder.join(&include.name).is_file())
    }
}

fn header_beside(line: &str, file: &Path) -> Option<PathBuf> {
    let include = includes::parse_line(line)?;
    if is_contract(&include.name) { None } else { include.beside(file) }
}

fn is_contract(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| sources::HEADERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_beside_the_adapter_are_copied() {
        let folder = tempfile::tempdir().expect("temp folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("below")).expect("folder");
            fs::write(path, text).expect("write");
        };
        let adapter = "#include <interlap.hpp>\n#include <vector>\n#include \"../a.hpp\"\nint q;\n";
        write("broken/q.cpp", adapter);
        write("a.hpp", "#include \"b.hpp\"\nint a;\n");
        write("b.hpp", "int b;\n");
        write("c.hpp", "int c;\n");
        let source = Source::read(&folder.path().join("broken/q.cpp")).expect("readable");
        assert_eq!(source.adapter(), Path::new("adapter/broken/q.cpp"));
        let copies = source.copies();
        let names: Vec<&str> = copies.iter().filter_map(|(name, _)| name.to_str()).collect();
        assert_eq!(names, ["adapter/broken/q.cpp", "adapter/a.hpp", "adapter/b.hpp"]);
        assert_eq!(copies[0].1, adapter);
    }
}
