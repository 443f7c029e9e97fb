//! Knows a file again whose content was read before, without reading it. The kernel notes when a
//! file was changed last, in whatever way, and no program can set that time.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Longest tick of the clock for time stamps of files, and on file systems that keep whole seconds.
pub const CLOCK_TICK: Duration = Duration::from_millis(20);
const CLOCK_TICK_OF_SECONDS: Duration = Duration::from_secs(2);

/// A state of a file: two equal ones have the same content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileState {
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileState {
    /// Of the file that a link leads to.
    pub fn of(path: &Path) -> io::Result<FileState> {
        let file = fs::metadata(path)?;
        Ok(FileState {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.len(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        })
    }

    /// To be asked before the content is read, and kept with it. None where a later change could
    /// leave the state as it is, because the last one was just now.
    pub fn settled(path: &Path) -> Option<FileState> {
        let state = FileState::of(path).ok()?;
        let newest = state.changed.max(state.modified);
        let has_seconds = (state.changed.1, state.modified.1) == (0, 0);
        let tick = if has_seconds { CLOCK_TICK_OF_SECONDS } else { CLOCK_TICK };
        let limit = SystemTime::now().checked_sub(tick)?.duration_since(UNIX_EPOCH).ok()?;
        let limit = (limit.as_secs() as i64, i64::from(limit.subsec_nanos()));
        (newest < limit).then_some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_other_content_has_another_state_whatever_its_times() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.h");
        fs::write(&path, "one").expect("room");
        std::thread::sleep(2 * CLOCK_TICK);
        let before = FileState::settled(&path).expect("it is settled");
        assert_eq!(FileState::of(&path).expect("it is there"), before);
        let modified = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
        fs::write(&path, "two").expect("room");
        let file = fs::File::options().write(true).open(&path).expect("it is there");
        file.set_modified(modified).expect("it is ours");
        let after = FileState::of(&path).expect("it is there");
        assert_eq!(after.modified, before.modified);
        assert_ne!(after, before);
        file.set_modified(SystemTime::now() + 3 * CLOCK_TICK_OF_SECONDS).expect("it is ours");
        assert_eq!(FileState::settled(&path), None, "it may change in the same tick");
    }
}
