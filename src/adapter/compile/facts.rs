//! What was found out about a compiler, kept in the cache: to ask it takes about as long as all
//! else before a run's first round. The facts are those of the program's file, in the same state
//! and environment. A program that may run another one (ccache, a script) is asked each time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::Language;
use crate::adapter::cache::Cache;
use crate::adapter::file_state::FileState;

/// Variables that are those of the shell's last command. All others may matter.
const VOLATILE: [&str; 4] = ["_", "PWD", "OLDPWD", "SHLVL"];
const OWN: &str = "INTERLAP_";

/// Parts of the names of programs that are compilers themselves.
const COMPILERS: [&str; 3] = ["gcc", "g++", "clang"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The command that runs it: the program, its first arguments, and variables to be set.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub variables: Vec<(OsString, OsString)>,
    pub is_clang: bool,
    /// The first line of `--version`.
    pub version: String,
    /// The folders searched for `#include <...>`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// Folders that would be searched if they were there.
    pub missing_dirs: Vec<PathBuf>,
}

impl Facts {
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.variables.iter().cloned());
        command
    }
}

/// A file that holds the facts of a program.
#[derive(Serialize, Deserialize)]
struct Kept {
    facts: Facts,
    file: Identity,
}

/// Which file it is, and that it is unchanged.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Identity {
    path: PathBuf,
    state: FileState,
}

impl Identity {
    /// Of the compiler that is run as `program`; none if that may run another one.
    fn of(program: &Path) -> Option<Identity> {
        let path = fs::canonicalize(super::compiler::on_search_path(program)).ok()?;
        let name = path.file_name()?.to_str()?;
        let mut magic = [0; 4];
        File::open(&path).and_then(|mut file| file.read_exact(&mut magic)).ok()?;
        if magic != *b"\x7fELF" || !COMPILERS.iter().any(|part| name.contains(part)) {
            return None;
        }
        Some(Identity { state: FileState::of(&path).ok()?, path })
    }
}

/// The file for the facts of the compiler that `language` and `wish` name in this environment.
fn file_for(cache: &Cache, language: Language, wish: Option<&Path>) -> PathBuf {
    let mut hash = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| _ = hash.update(&bytes.len().to_le_bytes()).update(bytes);
    add(language.option().as_bytes());
    add(wish.map_or(&b""[..], |path| path.as_os_str().as_bytes()));
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    for (name, value) in variables {
        let text = name.to_string_lossy();
        if !VOLATILE.contains(&&*text) && !text.starts_with(OWN) {
            add(name.as_bytes());
            add(value.as_bytes());
        }
    }
    cache.compilers().join(format!("{}.json", hash.finalize().to_hex()))
}

/// The facts that are known; else those that `ask` finds out, which are kept.
pub(super) fn known_or<E>(
    cache: &Cache,
    language: Language,
    wish: Option<&Path>,
    ask: impl FnOnce() -> Result<Facts, E>,
) -> Result<Facts, E> {
    let file = file_for(cache, language, wish);
    let kept = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Kept>(&text).ok());
    if let Some(Kept { facts, file }) = kept
        && Identity::of(&facts.program) == Some(file)
        && facts.include_dirs.iter().all(|dir| dir.is_dir())
        && !facts.missing_dirs.iter().any(|dir| dir.exists())
    {
        return Ok(facts);
    }
    let facts = ask()?;
    // Where they cannot be kept, they are asked for again.
    if let Some(identity) = Identity::of(&facts.program)
        && let Ok(text) = serde_json::to_vec(&Kept { facts: facts.clone(), file: identity })
    {
        let _ = cache.publish(&file, &text);
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::fs::symlink;

    use super::*;

    fn facts(program: &Path) -> Facts {
        Facts {
            program: program.to_path_buf(),
            arguments: vec!["-Wall".into()],
            variables: Vec::new(),
            is_clang: false,
            version: "g++ 12".to_string(),
            include_dirs: Vec::new(),
            missing_dirs: Vec::new(),
        }
    }

    /// A cache, and programs in its folder.
    struct Place(tempfile::TempDir);

    impl Place {
        fn program(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.path().join(name);
            fs::write(&path, bytes).expect("room");
            path
        }

        /// Whether the compiler is asked for its facts.
        fn is_asked(&self, program: &Path, missing: &Path) -> bool {
            let (cache, asked) = (Cache::at(self.0.path()).expect("a folder"), Cell::new(false));
            let found = known_or(&cache, Language::Cpp, Some(program), || {
                asked.set(true);
                let missing_dirs = vec![missing.to_path_buf()];
                Ok::<_, ()>(Facts { missing_dirs, ..facts(program) })
            });
            assert_eq!(found.expect("facts").version, "g++ 12");
            asked.get()
        }
    }

    #[test]
    fn an_unchanged_compiler_is_asked_once() {
        let place = Place(tempfile::tempdir().expect("a folder"));
        let missing = place.0.path().join("later");
        let compiler = place.program("g++-12", b"\x7fELF one");
        let by_name = place.0.path().join("c++");
        symlink(&compiler, &by_name).expect("a link");
        assert!(place.is_asked(&by_name, &missing) && !place.is_asked(&by_name, &missing));
        place.program("g++-12", b"\x7fELF another");
        assert!(place.is_asked(&by_name, &missing) && !place.is_asked(&by_name, &missing));
        let clang = place.program("clang-19", b"\x7fELF one");
        fs::remove_file(&by_name).expect("it is there");
        symlink(&clang, &by_name).expect("a link");
        assert!(place.is_asked(&by_name, &missing) && !place.is_asked(&by_name, &missing));
        fs::create_dir(&missing).expect("room");
        assert!(place.is_asked(&by_name, &missing));
    }

    #[test]
    fn a_program_that_may_run_another_is_asked_each_time() {
        let place = Place(tempfile::tempdir().expect("a folder"));
        let missing = place.0.path().join("later");
        for (name, bytes) in [("g++", &b"#!/bin/sh\n"[..]), ("ccache", b"\x7fELF")] {
            let program = place.program(name, bytes);
            assert!(place.is_asked(&program, &missing) && place.is_asked(&program, &missing));
        }
    }
}
