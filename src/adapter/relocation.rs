//! The build of an adapter that lies elsewhere now: what lay beside it lies there, too.

use std::path::{Path, PathBuf};

use super::compile::with_paths;
use crate::core::paths::{normalised, relative};
use crate::core::plan::Build;

/// From the folder in which the adapter was to the one in which it is.
pub struct Relocation {
    from: PathBuf,
    to: PathBuf,
}

/// What a build names and is nowhere.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "cannot find {}, with which it was compiled; say where it is now with {option}", path.display()
)]
pub struct Missing {
    path: PathBuf,
    option: &'static str,
}

impl Relocation {
    /// Of the adapter's source.
    pub fn of(from: &Path, to: &Path) -> Relocation {
        let folder = |source: &Path| source.parent().unwrap_or(Path::new("/")).to_path_buf();
        Relocation { from: folder(from), to: folder(to) }
    }

    /// Where it was as seen from the adapter.
    pub fn beside(&self, path: &Path) -> PathBuf {
        normalised(&self.to.join(relative(path, &self.from)))
    }

    /// Where it is now: where it was as seen from the adapter, else where it was.
    pub fn path(&self, path: &Path) -> PathBuf {
        let moved = self.beside(path);
        if path.is_absolute() && self.from != self.to && moved.exists() {
            return moved;
        }
        path.to_path_buf()
    }

    /// The build with its paths as they are now. A folder that is nowhere is only missed if a file
    /// in it `was_used`.
    pub fn build(&self, build: &Build, was_used: impl Fn(&Path) -> bool) -> Result<Build, Missing> {
        let mut missing = None;
        let mut find = |path: &Path, option| {
            let found = self.path(path);
            let is_lost = path.is_absolute() && !found.exists() && was_used(path);
            if is_lost && missing.is_none() {
                missing = Some(Missing { path: path.to_path_buf(), option });
            }
            found
        };
        let include_dirs = build.include_dirs.iter().map(|dir| find(dir, "-I DIR")).collect();
        let flags = with_paths(&build.flags, |path| find(path, "--cflag FLAG"));
        let build = Build { include_dirs, flags, ..build.clone() };
        missing.map_or(Ok(build), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lay_beside_the_adapter_moves_with_it() {
        let folder = tempfile::tempdir().expect("temp folder");
        let new = folder.path().join("new");
        std::fs::create_dir_all(new.join("include")).expect("room");
        std::fs::create_dir_all(new.join("tests")).expect("room");
        std::fs::write(new.join("libq.a"), "").expect("room");
        let relocation = Relocation::of(Path::new("/old/tests/q.cpp"), &new.join("tests/q.cpp"));
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        let build = Build {
            adapter: String::new(),
            include_dirs: vec!["/old/tests/../include".into(), "/usr/include".into()],
            libraries: Vec::new(),
            flags: words(&["-DX", "-I", "/old/gone", "/old/libq.a", "-lq"]),
        };
        let found = relocation.build(&build, |_| false).expect("nothing was used");
        assert_eq!(found.include_dirs, [new.join("include"), "/usr/include".into()]);
        let library = new.join("libq.a").display().to_string();
        assert_eq!(found.flags, ["-DX", "-I", "/old/gone", &library, "-lq"]);
        let missing = relocation.build(&build, |path| path == Path::new("/old/gone"));
        let option = "--cflag FLAG";
        assert_eq!(missing, Err(Missing { path: "/old/gone".into(), option }));
    }
}
