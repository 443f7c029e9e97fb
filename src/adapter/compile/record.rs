//! Records the inputs of a compiled library, to decide whether it is still up to date.
//! The compiler and the linker list the files that they read. Content decides, not time stamps,
//! which an editor or a checkout may keep or set; that of files in the same state is not read
//! again. Two changes are not noticed: a new header that
//! `__has_include` did not find before, and a new header beside another one that shadows a header
//! of the search path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::adapter::cache::{Cache, IoError};
use crate::adapter::file_state::{CLOCK_TICK, FileState};

/// A library is marked as used so often at most.
const MARKED_AFTER: Duration = Duration::from_secs(24 * 3600);

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

/// The content of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    hash: String,
    /// In which it has this content for certain, if that is known.
    state: Option<FileState>,
}

impl Content {
    fn of(path: &Path) -> Result<Content, IoError> {
        let state = FileState::settled(path);
        Ok(Content { hash: hash(path)?, state })
    }

    /// None if the file has another content; else whether it is in another state, which is noted.
    fn compare(&mut self, path: &Path) -> Option<bool> {
        let now = FileState::settled(path);
        if now.is_some() && now == self.state {
            return Some(false);
        }
        if hash(path).ok()? != self.hash {
            return None;
        }
        self.state = now;
        Some(self.state.is_some())
    }
}

/// Files of a folder that do not exist, and would shadow an input if they did.
#[derive(Debug, Serialize, Deserialize)]
struct Shadows {
    folder: PathBuf,
    names: BTreeSet<OsString>,
    /// In which the folder has none of them for certain, if that is known.
    state: Option<FileState>,
}

impl Shadows {
    /// None if one of the files exists now; else whether the folder is in another state, which is
    /// noted.
    fn compare(&mut self) -> Option<bool> {
        let now = FileState::settled(&self.folder);
        if now == self.state && (now.is_some() || !self.folder.exists()) {
            return Some(false);
        }
        if self.names.iter().any(|name| self.folder.join(name).exists()) {
            return None;
        }
        self.state = now;
        Some(self.state.is_some())
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The library, because a damaged one is made again.
    library: Content,
    /// Every input file.
    inputs: Vec<(PathBuf, Content)>,
    /// The user's own ones, the adapter first, with the hashes of their contents.
    pub(super) of_user: Vec<(PathBuf, String)>,
    shadows: Vec<Shadows>,
    pub(super) warnings: String,
}

impl Record {
    pub(super) fn new(library: &Path, warnings: String) -> Result<Record, IoError> {
        let (library, shadows) = (Content::of(library)?, Vec::new());
        Ok(Record { library, inputs: Vec::new(), of_user: Vec::new(), shadows, warnings })
    }

    /// The library with this key and its record, if it is up to date.
    pub(super) fn find(cache: &Cache, key: &str) -> Option<(PathBuf, Record)> {
        let path = record_path(cache, key);
        let mut record: Record = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let library = record.library_path(cache, key);
        let mut differs = record.library.compare(&library)?;
        for (path, content) in &mut record.inputs {
            differs |= content.compare(path)?;
        }
        for shadows in &mut record.shadows {
            differs |= shadows.compare()?;
        }
        // Marks them as used, so that they are not removed as old. A failure only costs a
        // compilation later.
        let age = fs::metadata(&path).and_then(|file| file.modified()).map(|time| time.elapsed());
        if !age.is_ok_and(|age| age.is_ok_and(|age| age < MARKED_AFTER)) {
            let now = SystemTime::now();
            let _ = File::open(&library).and_then(|file| file.set_modified(now));
            differs = true;
        }
        if differs {
            let _ = record.publish(cache, key);
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
                let none = |_| Content { hash: String::new(), state: None };
                let content = Content::of(&path).unwrap_or_else(none);
                self.inputs.push((path, content));
            }
        }
        Ok(())
    }

    /// Notes which inputs are neither the system's nor in these folders, without links and `..`;
    /// puts `adapter` first.
    pub(super) fn note_inputs_of_user(&mut self, folders: &[&Path], adapter: &Path) {
        let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let folders: Vec<PathBuf> = folders.iter().map(|folder| resolved(folder)).collect();
        let is_others = |path: &Path| {
            let system = SYSTEM.iter().map(Path::new);
            system.chain(folders.iter().map(PathBuf::as_path)).any(|dir| path.starts_with(dir))
        };
        let inputs = self.inputs.iter().map(|(path, input)| (resolved(path), input.hash.clone()));
        self.of_user = inputs.filter(|(path, _)| !is_others(path)).collect();
        self.of_user.sort_by_key(|(path, _)| path != adapter);
    }

    /// Adds the paths at which a new file would shadow an input: the same name in an earlier folder
    /// of the search path.
    pub(super) fn add_shadows(&mut self, search_path: &[PathBuf]) {
        let mut folders = BTreeMap::<PathBuf, BTreeSet<OsString>>::new();
        for (input, _) in &self.inputs {
            for dir in search_path {
                let Ok(name) = input.strip_prefix(dir) else { continue };
                let before = search_path.iter().take_while(|other| *other != dir);
                for path in before.map(|other| other.join(name)).filter(|path| !path.exists()) {
                    if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                        folders.entry(folder.into()).or_default().insert(name.into());
                    }
                }
            }
        }
        let shadows = folders.into_iter();
        let shadows = shadows.map(|(folder, names)| Shadows { folder, names, state: None });
        self.shadows = shadows.collect();
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
        for (path, content) in &self.inputs {
            hasher.update(path.as_os_str().as_encoded_bytes());
            hasher.update(content.hash.as_bytes());
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
        let content = Content::of(&path).expect("it is there");
        record.inputs.push((path.clone(), content));
        let after = SystemTime::now() + Duration::from_secs(1);
        assert!(record.changed_since(SystemTime::now()));
        assert!(!record.changed_since(after));
        fs::remove_file(path).expect("remove");
        assert!(record.changed_since(after));
    }

    #[test]
    fn other_content_is_noticed_whatever_the_times_of_the_file() {
        let folder = tempfile::tempdir().expect("temp folder");
        let path = folder.path().join("a.h");
        fs::write(&path, "one").expect("write");
        let time = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
        let mut content = Content::of(&path).expect("it is there");
        std::thread::sleep(2 * CLOCK_TICK);
        assert!(content.compare(&path).is_some());
        assert_eq!(content.compare(&path), Some(false), "its state is known now");
        fs::write(&path, "two").expect("write");
        let file = File::options().write(true).open(&path).expect("it is there");
        file.set_modified(time).expect("it is ours");
        assert_eq!(content.compare(&path), None);
        fs::write(&path, "one").expect("write");
        std::thread::sleep(2 * CLOCK_TICK);
        assert_eq!(content.compare(&path), Some(true), "the same again, in another state");
    }

    #[test]
    fn a_header_that_shadows_another_is_noticed() {
        let folder = tempfile::tempdir().expect("temp folder");
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        fs::create_dir_all(second.join("bits")).expect("room");
        let input = second.join("bits/a.h");
        fs::write(&input, "").expect("room");
        let mut record = Record::new(&input, String::new()).expect("record");
        record.inputs.push((input.clone(), Content::of(&input).expect("it is there")));
        record.add_shadows(&[first.clone(), second]);
        let [shadows] = &mut record.shadows[..] else { panic!("one folder: {record:?}") };
        assert_eq!(shadows.compare(), Some(false), "the folder is not there");
        fs::create_dir_all(first.join("bits")).expect("room");
        std::thread::sleep(2 * CLOCK_TICK);
        assert_eq!(shadows.compare(), Some(true));
        assert_eq!(shadows.compare(), Some(false));
        fs::write(first.join("bits/b.h"), "").expect("room");
        assert!(shadows.compare().is_some(), "another header");
        fs::write(first.join("bits/a.h"), "").expect("room");
        assert_eq!(shadows.compare(), None);
    }
}
