//! Decides which findings were made here: a keyed mark shows it.
//! What a finding names is compiled, loaded and run, so a finding of others is code of others.
//! Whoever compiles or runs something needs a [`Trusted`], which only a mark or the user gives.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use blake3::{Hash, Hasher};

use super::Stored;
use crate::core::files;

/// Shows that what a plan names may be compiled, loaded and run.
#[derive(Clone, Copy, Debug)]
pub struct Trusted(());

impl Trusted {
    /// For a plan of the user's own command line, and for what the user trusts by `--trust`.
    pub fn by_user() -> Trusted {
        Trusted(())
    }
}

/// The key of this user's marks. Only this user can read its file.
#[derive(Clone, Copy)]
pub struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// The user's key: in `$XDG_DATA_HOME/interlap`, else in `~/.local/share/interlap`. It is made
    /// when it is first needed.
    pub fn for_user() -> io::Result<Key> {
        let path = Key::path().ok_or_else(|| io::Error::other("$HOME is not set"))?;
        Key::at(&path).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }

    fn path() -> Option<PathBuf> {
        // The XDG specification asks to ignore relative paths.
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|at| at.is_absolute());
        let data = folder("XDG_DATA_HOME");
        let data = data.or_else(|| Some(folder("HOME")?.join(".local/share")));
        Some(data?.join("interlap/key"))
    }

    fn at(path: &Path) -> io::Result<Key> {
        match Key::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Key::make(path)?,
            known => return known,
        }
        // Another process may have made it first.
        Key::read(path)
    }

    fn make(path: &Path) -> io::Result<()> {
        let mut key = [0; blake3::KEY_LEN];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        let folder = path.parent().expect("a file below the data folder");
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Only this user can read temporary files.
        let mut file = tempfile::Builder::new().prefix(".interlap-").tempfile_in(folder)?;
        file.write_all(&key)?;
        match file.persist_noclobber(path) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
            _ => Ok(()),
        }
    }

    fn read(path: &Path) -> io::Result<Key> {
        let metadata = fs::metadata(path)?;
        let user = rustix::process::getuid().as_raw();
        if metadata.uid() != user || metadata.mode() & 0o077 != 0 {
            return Err(io::Error::other("others can read or change it; remove it"));
        }
        let bytes = files::read(path)?;
        let key = bytes.try_into().map_err(|_| io::Error::other("it is no key; remove it"))?;
        Ok(Key(key))
    }

    fn mark(&self, finding: &[u8], recording: Option<Hash>) -> Hash {
        let mut hasher = Hasher::new_keyed(&self.0);
        hasher.update(b"interlap finding 1");
        hasher.update(&(finding.len() as u64).to_le_bytes());
        hasher.update(finding);
        if let Some(recording) = recording {
            hasher.update(recording.as_bytes());
        }
        hasher.finalize()
    }
}

/// Shows that a finding was made here: what its mark is made of, besides `finding.json`.
#[derive(Clone, Copy)]
pub struct LocalOrigin {
    key: Key,
    /// The hash of its recording by rr.
    recording: Option<Hash>,
}

/// The file of the mark in a finding's directory.
const MARK_FILE: &str = "mark.txt";

impl LocalOrigin {
    pub fn with(key: Key) -> LocalOrigin {
        LocalOrigin { key, recording: None }
    }

    /// Whether the mark in this directory is that of `finding`, the content of its `finding.json`.
    pub(super) fn from_mark(directory: &Path, finding: &[u8]) -> Option<LocalOrigin> {
        let mark = files::read(&directory.join(MARK_FILE)).ok()?;
        let mark = String::from_utf8(mark).ok()?;
        let mut hashes = mark.split_whitespace().map(Hash::from_hex);
        let mark = hashes.next()?.ok()?;
        let recording = hashes.next().and_then(Result::ok);
        let key = Key::read(&Key::path()?).ok()?;
        (key.mark(finding, recording) == mark).then_some(LocalOrigin { key, recording })
    }
}

impl Stored {
    /// Whether it was made here, with its recording.
    pub fn trusted(&self) -> Option<Trusted> {
        let made = self.made?;
        let recording = self.recording();
        let is_whole = !recording.exists() || hash_of(&recording).ok() == made.recording;
        is_whole.then_some(Trusted(()))
    }

    /// Notes the recording that was just made.
    pub fn note_recording(&mut self) {
        let recording = hash_of(&self.recording()).ok();
        self.made = self.made.map(|made| LocalOrigin { recording, ..made });
    }

    /// Marks the directory, in which `finding` is the content of `finding.json`; a finding that was
    /// not made here gets no mark.
    pub(super) fn mark(&self, finding: &[u8]) -> io::Result<()> {
        let path = self.directory.join(MARK_FILE);
        let Some(LocalOrigin { key, recording }) = self.made else {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        // One that lies there already may be of others, so it is not hashed anew.
        let recording = recording.filter(|_| self.recording().exists());
        let mut text = key.mark(finding, recording).to_string();
        recording.iter().for_each(|recording| text += &format!(" {recording}"));
        files::replace(&path, format!("{text}\n").as_bytes())
    }
}

/// The hash of a directory: of the names and contents of everything in it.
fn hash_of(directory: &Path) -> io::Result<Hash> {
    let entries = fs::read_dir(directory)?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    let mut hasher = Hasher::new();
    for name in names {
        let (path, name) = (directory.join(&name), name.as_encoded_bytes());
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name);
        let kind = fs::symlink_metadata(&path)?.file_type();
        let (letter, content) = if kind.is_dir() {
            (b"d", hash_of(&path)?)
        } else if kind.is_symlink() {
            (b"l", blake3::hash(fs::read_link(&path)?.as_os_str().as_encoded_bytes()))
        } else if kind.is_file() {
            (b"f", Hasher::new().update_reader(File::open(&path)?)?.finalize())
        } else {
            return Err(io::Error::other("it is no ordinary file"));
        };
        hasher.update(letter);
        hasher.update(content.as_bytes());
    }
    Ok(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_this_user_alone() {
        let folder = files::scratch().expect("room");
        let path = folder.path().join("data/interlap/key");
        let (one, two) = (Key::at(&path).expect("room"), Key::at(&path).expect("room"));
        assert_eq!(one.0, two.0);
        assert_ne!(one.0, [0; 32]);
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
        assert!(Key::at(&path).is_err(), "others may know it");
    }

    #[test]
    fn a_mark_is_of_one_key_one_finding_and_one_recording() {
        let (key, other) = (Key([1; 32]), Key([2; 32]));
        let recording = Some(blake3::hash(b"recording"));
        let mark = key.mark(b"finding", recording);
        assert_eq!(mark, key.mark(b"finding", recording));
        assert_ne!(mark, other.mark(b"finding", recording));
        assert_ne!(mark, key.mark(b"findinh", recording));
        assert_ne!(mark, key.mark(b"finding", None));
    }

    #[test]
    fn each_name_and_each_content_of_a_recording_counts() {
        let folder = files::scratch().expect("room");
        let hash = |name: &str, content: &str| {
            let trace = folder.path().join("trace");
            fs::create_dir_all(trace.join("files.d")).expect("room");
            fs::write(trace.join("files.d").join(name), content).expect("room");
            let hash = hash_of(&trace).expect("ordinary files");
            fs::remove_dir_all(trace).expect("ours");
            hash
        };
        assert_eq!(hash("libc", "code"), hash("libc", "code"));
        assert_ne!(hash("libc", "code"), hash("libd", "code"));
        assert_ne!(hash("libc", "code"), hash("libc", "cod"));
    }
}
