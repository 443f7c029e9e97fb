//! Lists the includes of a source, and the headers beside it.
//! It reads lines without preprocessing, so it ignores names that macros make.

use std::fs;
use std::path::{Path, PathBuf};

use super::cache::IoError;

/// One `#include`.
#[derive(Debug, PartialEq)]
pub struct Include {
    pub name: String,
    /// `"..."`, not `<...>`.
    quoted: bool,
}

impl Include {
    /// The header, if it is found relative to the file that includes it.
    pub fn beside(&self, includer: &Path) -> Option<PathBuf> {
        let path = includer.parent().filter(|_| self.quoted)?.join(&self.name);
        path.canonicalize().ok().filter(|path| path.is_file())
    }
}

/// The source and all headers that are found beside the file including them, with their texts, in
/// the order of their first inclusion.
pub fn own_files(source: &Path) -> Result<Vec<(PathBuf, String)>, IoError> {
    let mut paths = vec![source.to_path_buf()];
    let mut files = Vec::new();
    while let Some(path) = paths.get(files.len()).cloned() {
        let text = fs::read(&path).map_err(IoError::at(&path))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        for header in includes(&text).iter().filter_map(|include| include.beside(&path)) {
            if !paths.contains(&header) {
                paths.push(header);
            }
        }
        files.push((path, text));
    }
    Ok(files)
}

/// The unconditional includes. The preprocessor may skip one inside `#if`, such as a header of
/// another system, so it need not exist. An include guard is not a condition.
pub fn includes(text: &str) -> Vec<Include> {
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

/// The include on this line, conditional or not.
pub fn parse_line(line: &str) -> Option<Include> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    parse_include(directive.strip_prefix("include")?.trim_start())
}

/// None for names that macros make.
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

    fn names(text: &str) -> Vec<String> {
        includes(text).into_iter().map(|include| include.name).collect()
    }

    #[test]
    fn only_unconditional_includes_are_listed() {
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
    fn own_files_are_those_beside_each_other() {
        let folder = tempfile::tempdir().expect("temp folder");
        let root = folder.path().canonicalize().expect("the folder");
        fs::create_dir(root.join("sub")).expect("folder");
        let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("write");
        write("sub/q.cpp", "#include \"../a.hpp\"\n#include <b.hpp>\n#include \"none.hpp\"\n");
        write("a.hpp", "#include \"a.hpp\"\n#include \"c.hpp\"\n");
        write("b.hpp", "");
        write("c.hpp", "");
        let files = own_files(&root.join("sub/q.cpp")).expect("readable");
        let paths: Vec<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["sub/q.cpp", "a.hpp", "c.hpp"].map(|name| root.join(name)));
    }
}
