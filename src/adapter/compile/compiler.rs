//! Finds the C and C++ compilers, their versions and their header folders.
//! The `cc` crate reads `CC`, `CXX` and the search path.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Error;
use super::facts::{self, Facts};
use crate::adapter::cache::{Cache, IoError};

/// The language of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

impl Language {
    /// The language of a source, by the extension of its name.
    pub fn from_path(source: &Path) -> Result<Language, Error> {
        match source.extension().and_then(|extension| extension.to_str()) {
            Some("c") => Ok(Language::C),
            Some("cc" | "cpp" | "cxx") => Ok(Language::Cpp),
            _ => Err(Error::NotASource { path: source.to_path_buf() }),
        }
    }

    /// Its name, the environment variable for its compiler, and the Debian package of a compiler.
    pub(super) fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Language::C => ("C", "CC", "gcc"),
            Language::Cpp => ("C++", "CXX", "g++"),
        }
    }

    pub(super) fn option(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "c++",
        }
    }
}

/// A compiler that runs.
#[derive(Debug)]
pub struct Compiler {
    facts: Facts,
    path: PathBuf,
    pub(super) language: Language,
    environment: String,
}

impl Compiler {
    /// The compiler for this language: `program`, else the one that the environment names.
    pub(super) fn find(
        language: Language,
        program: Option<&Path>,
        cache: &Cache,
    ) -> Result<Compiler, Error> {
        let facts = facts::known_or(cache, language, program, || ask(language, program))?;
        let path = on_search_path(&facts.program);
        Ok(Compiler { facts, path, language, environment: environment() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path and version line.
    pub fn identity(&self) -> String {
        format!("{}: {}", self.path().display(), self.facts.version)
    }

    /// The folders searched for `#include <...>`, in order.
    pub fn include_dirs(&self) -> &[PathBuf] {
        &self.facts.include_dirs
    }

    /// The environment variables that change the result, other than by arguments or search path.
    pub(super) fn environment(&self) -> &str {
        &self.environment
    }

    /// The flags with which it compiles code that calls hooks, without those that concern the
    /// library as a whole.
    pub fn hooks(&self) -> Vec<&'static str> {
        super::command::hooks(self.is_clang())
    }

    pub(super) fn is_clang(&self) -> bool {
        self.facts.is_clang
    }

    /// The program with the flags from the environment (`CFLAGS`, `CXXFLAGS`).
    pub(super) fn command(&self) -> Command {
        english(self.facts.command())
    }
}

/// Finds the compiler, and asks it.
fn ask(language: Language, program: Option<&Path>) -> Result<Facts, Error> {
    let mut build = cc::Build::new();
    build
        .cpp(language == Language::Cpp)
        .target(env!("INTERLAP_BUILD_TARGET"))
        .host(env!("INTERLAP_BUILD_TARGET"))
        .opt_level(2)
        .no_default_flags(true)
        .inherit_rustflags(false)
        .warnings(true)
        .extra_warnings(false)
        .cargo_metadata(false)
        .cargo_warnings(false);
    if let Some(program) = program {
        build.compiler(program);
    }
    let missing = |program: &Path, reason: String| Error::NoCompiler {
        language,
        program: program.to_path_buf(),
        reason,
    };
    let tool = build
        .try_get_compiler()
        .map_err(|error| missing(program.unwrap_or(Path::new("")), error.to_string()))?;
    let output = english(tool.to_command())
        .arg("--version")
        .output()
        .map_err(|error| missing(tool.path(), error.to_string()))?;
    if !output.status.success() {
        return Err(missing(tool.path(), format!("--version: {}", output.status)));
    }
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.lines().next().unwrap_or_default().to_string();
    let output = english(tool.to_command())
        .args(["-E", "-v", "-x", language.option(), "/dev/null"])
        .output()
        .map_err(IoError::at(tool.path()))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let command = tool.to_command();
    let set = |(name, value): (&OsStr, Option<&OsStr>)| Some((name.into(), value?.into()));
    Ok(Facts {
        program: command.get_program().into(),
        arguments: command.get_args().map(OsStr::to_os_string).collect(),
        variables: command.get_envs().filter_map(set).collect(),
        is_clang: tool.is_like_clang(),
        version,
        include_dirs: parse_include_dirs(&printed),
        missing_dirs: parse_missing_dirs(&printed),
    })
}

/// The path of a program that is named without a folder.
pub(super) fn on_search_path(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_path_buf();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&folders).map(|folder| folder.join(program));
    candidates.find(|path| path.is_file()).unwrap_or_else(|| program.to_path_buf())
}

fn environment() -> String {
    let names = ["COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "LD_RUN_PATH"];
    names.map(|name| format!("{name}={:?}\n", std::env::var_os(name))).concat()
}

/// The command, with English messages in every locale: they are searched for missing headers.
fn english(mut command: Command) -> Command {
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// The folders that gcc and clang say they ignore because they are not there.
fn parse_missing_dirs(printed: &str) -> Vec<PathBuf> {
    let ignored = printed.lines().filter_map(|line| {
        line.strip_prefix("ignoring nonexistent directory \"")?.strip_suffix('"')
    });
    ignored.map(PathBuf::from).collect()
}

/// The list that gcc and clang print between two fixed lines.
fn parse_include_dirs(printed: &str) -> Vec<PathBuf> {
    printed
        .lines()
        .skip_while(|line| !line.starts_with("#include <...> search starts here"))
        .skip(1)
        .take_while(|line| line.starts_with(' '))
        .map(|line| PathBuf::from(line.trim().trim_end_matches(" (framework directory)")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_path_is_read_from_what_the_compiler_prints() {
        let printed = "ignoring nonexistent directory \"/usr/x\"\n\
            #include \"...\" search starts here:\n /quoted\n\
            #include <...> search starts here:\n /usr/include/c++/12\n /usr/local/include\n\
            End of search list.\n /not/this\n";
        let expected = [Path::new("/usr/include/c++/12"), Path::new("/usr/local/include")];
        assert_eq!(parse_include_dirs(printed), expected);
        assert_eq!(parse_missing_dirs(printed), [Path::new("/usr/x")]);
    }

    #[test]
    fn the_compiler_of_this_machine_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path()).expect("a cache");
        let find = || Compiler::find(Language::Cpp, None, &cache).expect("a C++ compiler");
        let compiler = find();
        assert_eq!(find().facts, compiler.facts, "the second time they are known");
        assert!(compiler.path().is_file(), "{}", compiler.identity());
        let vector = |dir: &PathBuf| dir.join("vector").is_file();
        assert!(compiler.include_dirs().iter().any(vector));
    }

    #[test]
    fn the_extension_decides_the_language() {
        assert_eq!(Language::from_path(Path::new("a/x.c")).expect("C"), Language::C);
        assert_eq!(Language::from_path(Path::new("x.cxx")).expect("C++"), Language::Cpp);
        assert!(Language::from_path(Path::new("x.so")).is_err());
    }
}
