//! Creates the temporary directory for a run's recordings, and removes those of killed runs.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// The prefix of their names, which the number of the run's process follows.
const PREFIX: &str = ".rr-";
/// A live run changes its directory more often than this. The number in the name is not enough to
/// find its process: in another container it has another number.
const IDLE: Duration = Duration::from_secs(600);

/// A directory for this run in `folder`, which is created if necessary.
pub fn directory_in(folder: &Path) -> io::Result<TempDir> {
    std::fs::create_dir_all(folder)?;
    remove_abandoned(folder);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    crate::core::files::scratch_in(folder, &prefix)
}

fn remove_abandoned(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_abandoned(&entry.path())) {
        // A directory that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(entry.path());
    }
}

fn is_abandoned(path: &Path) -> bool {
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
    fn only_directories_of_killed_runs_are_removed() {
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
