//! Records the inputs of a compiled library, to decide whether it is still up to date.
//! The compiler and the linker list the files that they read. Content decides, not time stamps,
//! which an editor or a checkout may keep or set. Two changes are not noticed: a new header that
//! `__has_include` did not find before, and a new header beside another one that shadows a header
//! of the search path.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::adapter::cache::{Cache, IoError};

/// Longest tick of the clock for time stamps of files.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// Where headers and libraries are installed.
const SYSTEM: [&str; 8] = [
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local",
    "/usr/share",
    "/lib",
    "/lib64",
];

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// Hash of the library, because a damaged one is made again.
    library: String,
    /// Every input file, with the hash of its content.
    inputs: Vec<(PathBuf, String)>,
    /// Files that do not exist and would shadow an input if they did.
    shadows: BTreeSet<PathBuf>,
    pub(super) warnings: String,
}

impl Record {
    pub(super) fn new(library: &Path, warnings: String) -> Result<Record, IoError> {
        let library = hash(library)?;
        Ok(Record { library, inputs: Vec::new(), shadows: BTreeSet::new(), warnings })
    }

    /// The library with this key and its record, if it is up to date.
    pub(super) fn find(cache: &Cache, key: &str) -> Option<(PathBuf, Record)> {
        let path = record_path(cache, key);
        let record: Record = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let library = record.library_path(cache, key);
        let is_current = hash(&library).is_ok_and(|found| found == record.library)
            && record.inputs.iter().all(|(path, old)| hash(path).is_ok_and(|new| new == *old))
            && !record.shadows.iter().any(|path| path.exists());
        if !is_current {
            return None;
        }
        // Marks them as used, so that they are not removed as old. A failure only costs a
        // compilation later.
        for path in [&path, &library] {
            let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some((library, record))
    }

    /// Adds the files of a depfile, except those in `temporary`.
    pub(super) fn add_inputs(&mut self, depfile: &Path, temporary: &Path) -> Result<(), IoError> {
        let text = fs::read(depfile).map_err(IoError::at(depfile))?;
        let exists = |path: &str| Path::new(path).is_file();
        for input in prerequisites(&String::from_utf8_lossy(&text), exists) {
            let path = PathBuf::from(input);
            if !path.starts_with(temporary) && !self.inputs.iter().any(|(old, _)| *old == path) {
                // A file that no longer exists gets a hash that no file has.
                let hash = hash(&path).unwrap_or_default();
                self.inputs.push((path, hash));
            }
        }
        Ok(())
    }

    /// The inputs that are neither the system's nor in these folders, without links and `..`.
    pub(super) fn inputs_of_user(&self, folders: &[&Path]) -> Vec<(PathBuf, String)> {
        let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let folders: Vec<PathBuf> = folders.iter().map(|folder| resolved(folder)).collect();
        let is_others = |path: &Path| {
            let system = SYSTEM.iter().map(Path::new);
            system.chain(folders.iter().map(PathBuf::as_path)).any(|dir| path.starts_with(dir))
        };
        let inputs = self.inputs.iter().map(|(path, hash)| (resolved(path), hash.clone()));
        inputs.filter(|(path, _)| !is_others(path)).collect()
    }

    /// Adds the paths at which a new file would shadow an input: the same name in an earlier folder
    /// of the search path.
    pub(super) fn add_shadows(&mut self, search_path: &[PathBuf]) {
        for (input, _) in &self.inputs {
            for dir in search_path {
                let Ok(name) = input.strip_prefix(dir) else { continue };
                let before = search_path.iter().take_while(|other| *other != dir);
                let candidates = before.map(|other| other.join(name));
                self.shadows.extend(candidates.filter(|path| !path.exists()));
            }
        }
    }

    /// Whether an input may have changed after `start`, or no longer exists.
    pub(super) fn changed_since(&self, start: SystemTime) -> bool {
        let limit = start.checked_sub(CLOCK_TICK).unwrap_or(start);
        self.inputs.iter().any(|(path, _)| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            !modified.is_ok_and(|modified| modified < limit)
        })
    }

    /// The path of the library. It contains a hash of all inputs, so that a library in use is never
    /// replaced.
    pub(super) fn library_path(&self, cache: &Cache, key: &str) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        for (path, hash) in &self.inputs {
            hasher.update(path.as_os_str().as_encoded_bytes());
            hasher.update(hash.as_bytes());
        }
        let hash = hasher.finalize().to_hex();
        cache.libraries().join(format!("{key}-{}.so", &hash[..16]))
    }

    pub(super) fn publish(&self, cache: &Cache, key: &str) -> Result<(), IoError> {
        let path = record_path(cache, key);
        let text = serde_json::to_vec(self)
            .map_err(|error| IoError::at(&path)(std::io::Error::other(error)))?;
        cache.publish(&path, &text)
    }
}

fn record_path(cache: &Cache, key: &str) -> PathBuf {
    cache.libraries().join(format!("{key}.json"))
}

fn hash(path: &Path) -> Result<String, IoError> {
    let content = fs::read(path).map_err(IoError::at(path))?;
    Ok(blake3::hash(&content).to_hex().to_string())
}

/// The prerequisites of the first rule of a makefile. Linkers add an empty rule for each input,
/// which is ignored. GNU ld writes one path a line and escapes nothing; compilers write several and
/// escape spaces. So a line is one path if that file `exists`.
fn prerequisites(text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let content = line.strip_suffix('\\').unwrap_or(line);
        let content = match content.split_once(": ").or(content.split_once(':')) {
            Some((_, after_target)) if at == 0 => after_target,
            _ => content,
        };
        match content.trim() {
            path if exists(path) => paths.push(path.to_string()),
            several => paths.extend(unescaped(several)),
        }
        if !line.ends_with('\\') {
            break;
        }
    }
    paths
}

/// The words of a line of a makefile.
fn unescaped(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let word = words.last_mut().expect("never empty");
        let escapes = match character {
            '\\' => characters.next_if(|next| " #\\".contains(*next)),
            '$' => characters.next_if_eq(&'$'),
            _ => None,
        };
        match escapes {
            Some(escaped) => word.push(escaped),
            None if character == ' ' => words.push(String::new()),
            None => word.push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilers_list_is_read_with_its_escapes() {
        let text = "/tmp/a\\ b/x.o: /s/q.cpp /a\\ b/c.h \\\n  /d$$/\\#e.h\n\n/a\\ b/c.h:\n";
        let none = |_: &str| false;
        assert_eq!(prerequisites(text, none), ["/s/q.cpp", "/a b/c.h", "/d$/#e.h"]);
        assert_eq!(prerequisites("x.o: \\\n a.h\\\n b.h\n", none), ["a.h", "b.h"]);
        assert!(prerequisites("", none).is_empty());
    }

    #[test]
    fn a_linkers_list_is_read_without_escapes() {
        let text = "/a b/q.so: \\\n  /a b/q.o \\\n  /lib/libc.so\n\n/a b/q.o:\n";
        let paths = prerequisites(text, |path| path == "/a b/q.o");
        assert_eq!(paths, ["/a b/q.o", "/lib/libc.so"]);
    }

    #[test]
    fn changes_during_the_compilation_are_noticed() {
        let folder = tempfile::tempdir().expect("temp folder");
        let path = folder.path().join("a.h");
        fs::write(&path, "x").expect("write");
        let mut record = Record::new(&path, String::new()).expect("record");
        record.inputs.push((path.clone(), String::new()));
        let after = SystemTime::now() + Duration::from_secs(1);
        assert!(record.changed_since(SystemTime::now()));
        assert!(!record.changed_since(after));
        fs::remove_file(path).expect("remove");
        assert!(record.changed_since(after));
    }
}
