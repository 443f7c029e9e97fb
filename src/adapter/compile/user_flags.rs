//! Parses the compiler and linker flags of users, and makes their paths absolute.
//! The flags that interlap adds are in `command`.

use std::path::{Path, PathBuf};

use super::Language;

/// Flags that are followed by a path, in the same word or the next.
const PATH_FLAGS: [&str; 7] =
    ["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I", "-L"];

/// Other flags whose value may be the next word.
const VALUE_FLAGS: [&str; 13] = [
    "-D",
    "-U",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-target",
    "--param",
];

/// The words of one value of `--cflag`. It is usually one word. It is several, split as a shell
/// does, if it contains several flags, like the output of `pkg-config` (a dash follows a space), or
/// a flag and its path (a flag of [`PATH_FLAGS`] precedes the first space).
pub fn words(text: &str) -> Vec<String> {
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_several = text.split_whitespace().skip(1).any(|word| word.starts_with('-'))
        || (first != text && PATH_FLAGS.contains(&first));
    match shlex::split(text) {
        Some(words) if is_several && first.starts_with('-') => words,
        _ if text.is_empty() => Vec::new(),
        _ => vec![text.to_string()],
    }
}

/// Flags with the paths that `find` gives for theirs.
pub fn with_paths(words: &[String], mut find: impl FnMut(&Path) -> PathBuf) -> Vec<String> {
    let flags = Flag::parse(words).into_iter();
    flags.flat_map(|flag| flag.with_path(&mut find).words()).collect()
}

/// One flag.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flag {
    /// A flag of [`PATH_FLAGS`] and its path.
    Path(&'static str, PathBuf),
    /// A flag and its value, two words.
    Valued(String, String),
    /// One word that begins with a dash.
    Word(String),
    /// A source of the library, or an input of the linker: an object or an archive.
    File(PathBuf),
}

impl Flag {
    pub(super) fn parse(words: &[String]) -> Vec<Flag> {
        let mut words = words.iter();
        let mut flags = Vec::new();
        while let Some(word) = words.next() {
            flags.push(Flag::parse_one(word, || words.next().cloned()));
        }
        flags
    }

    fn parse_one(word: &str, next: impl FnOnce() -> Option<String>) -> Flag {
        let path = PATH_FLAGS.iter().find_map(|name| Some((*name, word.strip_prefix(name)?)));
        match path {
            Some((name, "")) => match next() {
                Some(path) => Flag::Path(name, path.into()),
                None => Flag::Word(word.to_string()),
            },
            Some((name, path)) => Flag::Path(name, path.into()),
            None if VALUE_FLAGS.contains(&word) => match next() {
                Some(value) => Flag::Valued(word.to_string(), value),
                None => Flag::Word(word.to_string()),
            },
            None if word.starts_with('-') || word.starts_with('@') => Flag::Word(word.to_string()),
            None => Flag::File(word.into()),
        }
    }

    /// The same flag with an absolute path; a relative one is taken from `folder`.
    pub(super) fn anchored(self, folder: &Path) -> Flag {
        match self {
            // The compiler also searches for these in the folders of headers.
            Flag::Path("-include" | "-imacros", ref path) if !folder.join(path).exists() => self,
            // `-I=x` and `-I$SYSROOT/x` are below the compiler's sysroot.
            Flag::Path(name, path) if !path.to_string_lossy().starts_with(['=', '$']) => {
                Flag::Path(name, folder.join(path))
            }
            Flag::File(path) => Flag::File(folder.join(path)),
            other => other,
        }
    }

    /// The same flag with the path that `find` gives for its own.
    fn with_path(self, find: &mut impl FnMut(&Path) -> PathBuf) -> Flag {
        match self {
            Flag::Path(name, path) => Flag::Path(name, find(&path)),
            Flag::File(path) => Flag::File(find(&path)),
            other => other,
        }
    }

    pub(super) fn words(self) -> Vec<String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        match self {
            Flag::Path(name, path) => vec![name.to_string(), text(path)],
            Flag::Valued(name, value) => vec![name, value],
            Flag::Word(word) => vec![word],
            Flag::File(path) => vec![text(path)],
        }
    }

    /// Whether it is only for the linker. clang warns about such flags when it compiles.
    pub(super) fn is_of_linker(&self) -> bool {
        match self {
            Flag::Path(name, _) => *name == "-L",
            Flag::Valued(name, _) => ["-l", "-T", "-u", "-z", "-Xlinker"].contains(&name.as_str()),
            Flag::Word(word) => {
                let prefixes = ["-l", "-Wl,", "-static-lib", "-fuse-ld=", "-rdynamic"];
                prefixes.iter().any(|prefix| word.starts_with(prefix))
            }
            Flag::File(_) => true,
        }
    }

    /// The folder that it adds to the search path for headers.
    pub(super) fn include_dir(&self) -> Option<&Path> {
        match self {
            Flag::Path("-I" | "-isystem" | "-iquote" | "-idirafter", path) => Some(path),
            _ => None,
        }
    }

    /// The source of the library that it names.
    pub(super) fn source(&self) -> Option<&Path> {
        match self {
            Flag::File(path) => Language::from_path(path).is_ok().then_some(path),
            _ => None,
        }
    }

    /// The language whose standard it chooses, if it is the standard of one alone.
    pub(super) fn standard(&self) -> Option<Language> {
        match self {
            Flag::Word(word) => word.strip_prefix("-std=").map(|name| match name.contains("++") {
                true => Language::Cpp,
                false => Language::C,
            }),
            _ => None,
        }
    }

    /// Whether it chooses the language standard.
    pub(super) fn is_standard(&self) -> bool {
        matches!(self, Flag::Word(word) if word.starts_with("-std=") || word == "-ansi")
    }
}

/// The first file among the flags that is not there.
pub(super) fn missing_file(flags: &[String]) -> Option<PathBuf> {
    Flag::parse(flags).into_iter().find_map(|flag| match flag {
        Flag::File(path) if !path.is_file() => Some(path),
        _ => None,
    })
}

/// Flags that build another tool into the target, and why they are refused.
const OF_OTHER_TOOLS: [(&str, &str); 6] = [
    ("-fsanitize=", SANITIZER),
    ("--coverage", COVERAGE),
    ("-fprofile-arcs", COVERAGE),
    ("-ftest-coverage", COVERAGE),
    ("-fprofile-generate", COVERAGE),
    ("-pg", COVERAGE),
];

const SANITIZER: &str = "a sanitizer's runtime has to be the whole program's, and the program is \
                         interlap; its controlled engine finds use after free, double frees and \
                         invalid frees by itself";
const COVERAGE: &str = "its counters, which all threads share, are not the library's, and would be \
                        fuzzed with it";

/// A flag that cannot be used with interlap, and why.
pub(super) fn unsupported(flags: &[Flag]) -> Option<(&str, &'static str)> {
    flags.iter().find_map(|flag| match flag {
        Flag::Word(word) => {
            let (_, why) = OF_OTHER_TOOLS.iter().find(|(name, _)| word.starts_with(name))?;
            Some((word.as_str(), *why))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchored(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let flags = Flag::parse(&words).into_iter();
        flags.flat_map(|flag| flag.anchored(Path::new("/here")).words()).collect()
    }

    #[test]
    fn paths_are_anchored_in_every_spelling() {
        assert_eq!(anchored(&["-Iinc"]), ["-I", "/here/inc"]);
        assert_eq!(anchored(&["-I", "inc"]), ["-I", "/here/inc"]);
        assert_eq!(anchored(&["-isystem", "/abs"]), ["-isystem", "/abs"]);
        assert_eq!(anchored(&["lib/libq.a"]), ["/here/lib/libq.a"]);
        assert_eq!(anchored(&["-I=inc"]), ["-I", "=inc"]);
    }

    #[test]
    fn a_header_that_is_not_in_the_folder_is_left_to_the_compiler() {
        let folder = tempfile::tempdir().expect("temp dir");
        std::fs::write(folder.path().join("a.h"), "").expect("write");
        let anchored = |name: &str| {
            let flags = Flag::parse(&["-include".to_string(), name.to_string()]);
            flags.into_iter().flat_map(|flag| flag.anchored(folder.path()).words()).nth(1)
        };
        let there = folder.path().join("a.h").to_string_lossy().into_owned();
        assert_eq!(anchored("a.h"), Some(there));
        assert_eq!(anchored("rte_config.h"), Some("rte_config.h".to_string()));
    }

    #[test]
    fn several_flags_in_one_value_are_split() {
        assert_eq!(words("-I/a -L/b  -lx "), ["-I/a", "-L/b", "-lx"]);
        assert_eq!(words("-include rte_config.h"), ["-include", "rte_config.h"]);
        assert_eq!(words("-DA='b c' -O1"), ["-DA=b c", "-O1"]);
        assert_eq!(words("-DA=two words"), ["-DA=two words"]);
        assert_eq!(words("/a folder/lib-x.a"), ["/a folder/lib-x.a"]);
        assert_eq!(words("-I/x "), ["-I/x"]);
        assert_eq!(words(" "), [""; 0]);
    }

    #[test]
    fn values_are_not_taken_for_files() {
        let words = ["-D", "X", "-x", "c++", "-Xlinker", "--fatal-warnings", "-O3", "-I"];
        assert_eq!(anchored(&words), words);
    }

    #[test]
    fn linker_flags_are_recognized() {
        let words = ["-Wl,-z,now", "-lcds", "-L/x", "-l", "ck", "-DX", "-I/x", "a.o", "-O1"];
        let flags = Flag::parse(&words.map(str::to_string));
        let of_linker: Vec<bool> = flags.iter().map(Flag::is_of_linker).collect();
        assert_eq!(of_linker, [true, true, true, true, false, false, true, false]);
    }
}
