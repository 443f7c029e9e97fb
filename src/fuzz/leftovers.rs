//! The directories in which runs keep recordings while they are under way. A folder comes in; a new
//! directory goes out, and what runs that were killed have left in the folder goes.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// How their names begin, before the number of the run's process.
const PREFIX: &str = ".rr-";
/// A run changes its directory more often than that. Its process alone proves nothing: in another
/// container it has a number there.
const IDLE: Duration = Duration::from_secs(600);

/// A directory of this run's own in `folder`, which is made if need be.
pub fn directory_in(folder: &Path) -> io::Result<TempDir> {
    std::fs::create_dir_all(folder)?;
    remove_left(folder);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(folder)
}

fn remove_left(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_left(&entry.path())) {
        // What cannot be removed is in nobody's way.
        let _ = std::fs::remove_dir_all(entry.path());
    }
}

fn is_left(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
    let Some(process) = process.and_then(|number| number.parse::<u32>().ok()) else { return false };
    let changed = path.metadata().and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|then| SystemTime::now().duration_since(then).ok());
    !Path::new(&format!("/proc/{process}")).exists() && age.is_some_and(|age| age > IDLE)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn only_what_a_killed_run_left_goes() {
        let folder = tempfile::tempdir().expect("room");
        let make = |name: &str, seconds| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.join("trace")).expect("room");
            let then = SystemTime::now() - Duration::from_secs(seconds);
            File::open(&path).and_then(|dir| dir.set_modified(then)).expect("our own");
            path
        };
        // No process has so high a number.
        let left = make(".rr-4194305-abc", 3600);
        let recent = make(".rr-4194305-def", 60);
        let running = make(&format!(".rr-{}-abc", std::process::id()), 3600);
        let others = make(".rr-mine", 3600);
        let own = directory_in(folder.path()).expect("room");
        assert!(!left.exists());
        assert!([&recent, &running, &others].into_iter().all(|path| path.exists()));
        assert!(own.path().starts_with(folder.path()));
    }
}
