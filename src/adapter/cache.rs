//! Manages the cache folder, for compiled libraries and for the sources inside the program.
//! A file is published in one step, so that concurrent processes never see half a file.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// Compiled libraries, their records and locks.
const LIBRARIES: &str = "compiled";

/// What is known of compilers.
const COMPILERS: &str = "compilers";

/// Files that are not finished.
const TEMPORARIES: &str = "unfinished";
const TEMPORARY_PREFIX: &str = "work-";

/// Unfinished files of killed processes are removed after this time, which is longer than any
/// compilation.
const TEMPORARY_AGE: Duration = Duration::from_secs(24 * 3600);

/// A compiled library that was not used for this time is removed, and what is known of a compiler.
const LIBRARY_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// A file or folder could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}{}", path.display(), advice(cause))]
pub struct IoError {
    pub path: PathBuf,
    /// Part of the message, so that it is not the error's source, too: it would be printed twice.
    pub cause: io::Error,
}

impl IoError {
    /// For `map_err`: adds the path, which the system's error lacks.
    pub fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> IoError {
        let path = path.into();
        move |cause| IoError { path, cause }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or set INTERLAP_CACHE to a folder on another disk"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; check that the folder is yours, or set INTERLAP_CACHE to another one"
        }
        _ => "",
    }
}

/// The folder of everything that can be made again.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache in this folder, which is created if it is missing.
    pub fn at(root: impl Into<PathBuf>) -> Result<Cache, IoError> {
        let root = root.into();
        // Every path handed to the compiler and stored in debug information is absolute.
        let root = std::path::absolute(&root).map_err(IoError::at(&root))?;
        for folder in [LIBRARIES, TEMPORARIES].map(|name| root.join(name)) {
            private_folder().create(&folder).map_err(IoError::at(&folder))?;
        }
        let cache = Cache { root };
        remove_old(&cache.root.join(TEMPORARIES), is_temporary, TEMPORARY_AGE);
        remove_old(&cache.root.join(LIBRARIES), is_of_library, LIBRARY_AGE);
        remove_old(&cache.compilers(), |name| name.ends_with(".json"), LIBRARY_AGE);
        Ok(cache)
    }

    /// The user's cache: `$INTERLAP_CACHE`, else `$XDG_CACHE_HOME/interlap`, else
    /// `~/.cache/interlap`, else a folder of the user in the temp folder. `$INTERLAP_CACHE` must be
    /// writable; the others are skipped if they are not.
    pub fn for_user() -> Result<Cache, IoError> {
        Cache::from_environment(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Cache, IoError> {
        if let Some(root) = variable("INTERLAP_CACHE") {
            return Cache::at(root);
        }
        // The XDG specification asks to ignore relative paths.
        let xdg = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = variable("HOME").map(|home| Path::new(&home).join(".cache"));
        for folder in [xdg, home].into_iter().flatten() {
            match Cache::at(folder.join("interlap")) {
                Ok(cache) if is_writable(&cache.root) => return Ok(cache),
                _ => {}
            }
        }
        let temporary = variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        Cache::in_shared_folder(&temporary)
    }

    /// Other users can write to the temp folder too, and code from the cache is run. So a folder of
    /// the expected name must belong to this user, and nobody else may be able to write to it.
    fn in_shared_folder(folder: &Path) -> Result<Cache, IoError> {
        let user = rustix::process::getuid().as_raw();
        let root = folder.join(format!("interlap-{user}"));
        private_folder().create(&root).map_err(IoError::at(&root))?;
        let metadata = fs::symlink_metadata(&root).map_err(IoError::at(&root))?;
        if metadata.uid() != user || !metadata.is_dir() || metadata.mode() & 0o022 != 0 {
            let reason = "belongs to somebody else or can be written by others";
            return Err(IoError { path: root, cause: io::Error::other(reason) });
        }
        Cache::at(root)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of compiled libraries.
    pub fn libraries(&self) -> PathBuf {
        self.root.join(LIBRARIES)
    }

    /// The folder of what is known of compilers.
    pub fn compilers(&self) -> PathBuf {
        self.root.join(COMPILERS)
    }

    /// A new folder on the cache's disk, so that finished files can be moved into place.
    pub fn temporary(&self) -> Result<TempDir, IoError> {
        let folder = self.root.join(TEMPORARIES);
        crate::core::files::scratch_in(&folder, TEMPORARY_PREFIX).map_err(IoError::at(folder))
    }

    /// Writes `content` to `path` in one step, and replaces an existing file.
    pub fn publish(&self, path: &Path, content: &[u8]) -> Result<(), IoError> {
        let folder = path.parent().expect("a file below the cache");
        private_folder().create(folder).map_err(IoError::at(folder))?;
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .tempfile_in(self.root.join(TEMPORARIES))
            .map_err(IoError::at(path))?;
        file.write_all(content).map_err(IoError::at(path))?;
        file.persist(path).map_err(|error| IoError::at(path)(error.error))?;
        Ok(())
    }

    /// Waits for the lock of this name and holds it until the file is dropped. The lock only avoids
    /// duplicate work: on a file system without locks everything works as well, because publishing
    /// is atomic.
    pub fn lock(&self, name: &str) -> Result<File, IoError> {
        let path = self.libraries().join(format!("{name}.lock"));
        let file = File::create(&path).map_err(IoError::at(path))?;
        let _ = rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive);
        Ok(file)
    }
}

fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
}

fn is_writable(root: &Path) -> bool {
    tempfile::tempfile_in(root.join(TEMPORARIES)).is_ok()
}

/// Removes entries that were not modified for `age`, if possible: another process may do the same.
/// Only names that interlap gives are removed, because users may use a folder with other files.
fn remove_old(folder: &Path, is_ours: impl Fn(&str) -> bool, age: Duration) {
    let Some(limit) = SystemTime::now().checked_sub(age) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let is_old = metadata.modified().is_ok_and(|modified| modified < limit);
        if is_old && entry.file_name().to_str().is_some_and(&is_ours) {
            let path = entry.path();
            let _ =
                if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX)
}

/// Whether the name is `STEM-HASH.so` or that of its record or lock.
fn is_of_library(name: &str) -> bool {
    let Some((stem, "so" | "json" | "lock")) = name.rsplit_once('.') else { return false };
    let hash = stem.rsplit_once('-').map_or("", |(_, hash)| hash);
    hash.len() == 16 && hash.chars().all(|character| character.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_error_is_said_once() {
        let error = anyhow::Error::from(IoError::at("a.cpp")(io::Error::other("gone")));
        assert_eq!(format!("{error:#}"), "a.cpp: gone");
    }

    fn located(variables: &[(&str, &Path)]) -> Result<Cache, IoError> {
        Cache::from_environment(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.as_os_str().to_owned())
        })
    }

    #[test]
    fn the_environment_decides_in_the_documented_order() {
        let folder = tempfile::tempdir().expect("temp folder");
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| folder.path().join(name));
        fs::create_dir(&d).expect("the temp folder exists");
        let all: [(&str, &Path); 4] =
            [("INTERLAP_CACHE", &a), ("XDG_CACHE_HOME", &b), ("HOME", &c), ("TMPDIR", &d)];
        let root = |from: usize| located(&all[from..]).expect("writable").root().to_path_buf();
        assert_eq!(root(0), a);
        assert_eq!(root(1), b.join("interlap"));
        assert_eq!(root(2), c.join(".cache/interlap"));
        assert!(root(3).starts_with(&d));
    }

    #[test]
    fn a_named_cache_that_cannot_be_made_is_an_error_and_an_implied_one_is_skipped() {
        let folder = tempfile::tempdir().expect("temp folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("write");
        let error = located(&[("INTERLAP_CACHE", &file)]).expect_err("a file is no folder");
        assert!(error.path.starts_with(&file));
        let cache = located(&[("HOME", &file), ("TMPDIR", folder.path())]).expect("falls back");
        assert!(cache.root().starts_with(folder.path()));
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused_in_a_shared_place() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::in_shared_folder(folder.path()).expect("fresh");
        fs::set_permissions(cache.root(), fs::Permissions::from_mode(0o777)).expect("chmod");
        assert!(Cache::in_shared_folder(folder.path()).is_err());
    }

    #[test]
    fn only_what_is_old_is_removed() {
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::at(folder.path()).expect("cache");
        let hash = "0123456789abcdef";
        let [old, new, foreign] = [format!("old-{hash}"), format!("new-{hash}"), "libx".into()]
            .map(|stem: String| cache.libraries().join(stem + ".so"));
        for path in [&old, &new, &foreign] {
            cache.publish(path, b"x").expect("publish");
        }
        let past = SystemTime::now() - 2 * LIBRARY_AGE;
        for path in [&old, &foreign] {
            let file = File::options().write(true).open(path).expect("open");
            file.set_modified(past).expect("touch");
        }
        Cache::at(folder.path()).expect("cache");
        assert!(!old.exists());
        assert!(new.exists());
        assert!(foreign.exists(), "not ours to remove");
    }
}
