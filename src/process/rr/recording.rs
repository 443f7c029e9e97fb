//! A recording of rr: a directory that is removed with its owner, unless it is kept.
//! A recording is kept packed: with every file that a replay needs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Error, Result, bail};

use super::{Rr, probe};

/// The file that rr creates, by renaming another, when a recording is complete.
const COMPLETE: &str = "version";

/// A recording, in progress or complete.
pub struct Recording {
    rr: Rr,
    directory: PathBuf,
    /// Most ticks of its time slices; 0: rr's own limit.
    pub ticks: u64,
    packed: Mutex<bool>,
}

impl Recording {
    /// A recording in a directory that does not exist yet.
    pub fn new(rr: &Rr, directory: PathBuf, ticks: u64) -> Recording {
        Recording { rr: rr.clone(), directory, ticks, packed: Mutex::new(false) }
    }

    /// The words that precede the command line of the program to be recorded.
    pub fn words(&self) -> Vec<std::ffi::OsString> {
        self.rr.record_words(self.ticks, &self.directory)
    }

    /// Whether rr has completed it.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.directory)
    }

    /// Moves the recording, with the programs and libraries that it used, to `place`, and replaces
    /// one that is there. A recording that cannot be packed is kept as it is, and the error
    /// returned: it can be replayed as long as those files do not change.
    pub fn keep(&self, place: &Path) -> Result<Option<Error>> {
        let packed = self.pack();
        let beside = place.with_extension("new");
        let moved = clear(&beside)
            .and_then(|()| link(&self.directory, &beside))
            .and_then(|()| clear(place))
            .and_then(|()| fs::rename(&beside, place));
        if moved.is_err() {
            // What is there of it takes room.
            let _ = clear(&beside);
        }
        moved.with_context(|| format!("cannot keep the recording as {}", place.display()))?;
        Ok(packed.err())
    }

    /// Removes it before its owner does. Files that cannot be removed now are removed with the
    /// directory around them.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.directory);
    }

    fn pack(&self) -> Result<()> {
        let mut packed = self.packed.lock().expect("no thread panics holding it");
        if !*packed {
            let output = self.rr.command("pack").arg(&self.directory).output();
            let output = output.with_context(|| format!("cannot start {}", self.rr.program()))?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr);
                let says = probe::message(&text).unwrap_or_else(|| output.status.to_string());
                bail!("rr cannot pack the recording: {says}");
            }
            *packed = true;
        }
        Ok(())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Whether `directory` contains a complete recording.
pub fn is_complete(directory: &Path) -> bool {
    directory.join(COMPLETE).is_file()
}

fn clear(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a second directory with the same files, by links or else by copies.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            link(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if fs::hard_link(&source, &target).is_err() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::plan::Recorder;

    #[test]
    fn a_kept_recording_outlives_its_owner_and_replaces_an_older_one() {
        let dir = tempfile::tempdir().expect("temp dir");
        let recorder = Recorder { program: "true".into(), ..Recorder::default() };
        let place = dir.path().join("a finding/recording");
        fs::create_dir_all(place.join("old")).expect("room");
        let recording = Recording::new(&Rr::new(&recorder), dir.path().join("trace"), 100);
        fs::create_dir_all(dir.path().join("trace/files.d")).expect("room");
        fs::write(dir.path().join("trace/files.d/libc"), "code").expect("room");
        assert!(!recording.is_complete());
        fs::write(dir.path().join("trace/version"), "85").expect("room");
        assert!(recording.is_complete());
        let packed = recording.keep(&place).expect("kept");
        assert!(packed.is_none(), "by a program that does nothing: {packed:?}");
        drop(recording);
        assert!(!dir.path().join("trace").exists());
        assert!(is_complete(&place) && !place.join("old").exists());
        assert_eq!(fs::read_to_string(place.join("files.d/libc")).expect("kept"), "code");
    }

    #[test]
    fn a_recording_that_cannot_be_packed_says_why() {
        let dir = tempfile::tempdir().expect("temp dir");
        let recorder = Recorder { program: "false".into(), ..Recorder::default() };
        fs::create_dir_all(dir.path().join("trace")).expect("room");
        let recording = Recording::new(&Rr::new(&recorder), dir.path().join("trace"), 0);
        let error = recording.keep(&dir.path().join("kept")).expect("kept").expect("false fails");
        assert!(error.to_string().contains("cannot pack"), "{error}");
        assert!(dir.path().join("kept").is_dir(), "and is kept all the same");
    }
}
