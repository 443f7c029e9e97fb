//! The user's files that a finding's target was compiled from, by which they are found again where
//! the finding lies now, and by which a change shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::files;
use crate::core::paths::{normalised, relative};

/// The files, the adapter of a user first; those of the system and of interlap are none of them.
/// In a finding's directory their paths are relative to it, else absolute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<SourceFile>", into = "Vec<SourceFile>")]
pub struct Sources(Arc<Vec<SourceFile>>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceFile {
    pub path: PathBuf,
    /// The hash of its content.
    pub hash: String,
}

impl From<Vec<SourceFile>> for Sources {
    fn from(files: Vec<SourceFile>) -> Sources {
        Sources(Arc::new(files))
    }
}

impl From<Sources> for Vec<SourceFile> {
    fn from(Sources(files): Sources) -> Vec<SourceFile> {
        Arc::unwrap_or_clone(files)
    }
}

impl Sources {
    /// From the files that a compiler read, with their hashes.
    pub fn of_inputs(inputs: Vec<(PathBuf, String)>) -> Sources {
        let files = inputs.into_iter().map(|(path, hash)| SourceFile { path, hash });
        Sources::from(files.collect::<Vec<_>>())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first file.
    pub fn adapter(&self) -> Option<&Path> {
        self.0.first().map(|file| &*file.path)
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|file| &*file.path)
    }

    /// With other paths.
    pub fn at(&self, path: impl Fn(&Path) -> PathBuf) -> Sources {
        let moved = |file: &SourceFile| SourceFile { path: path(&file.path), ..file.clone() };
        Sources::from(self.0.iter().map(moved).collect::<Vec<_>>())
    }

    /// As they are stored in this directory.
    pub(super) fn relative_to(&self, directory: &Path) -> Sources {
        self.at(|path| if path.is_absolute() { relative(path, directory) } else { path.into() })
    }

    /// As they are read from this directory.
    pub(super) fn read_in(&self, directory: &Path) -> Sources {
        self.at(|path| normalised(&directory.join(path)))
    }

    /// The files that are not as they were, or not there.
    pub fn changed(&self) -> Vec<&Path> {
        let hash = |path: &Path| Some(blake3::hash(&files::read(path).ok()?).to_hex().to_string());
        let is_changed = |file: &&SourceFile| hash(&file.path).as_ref() != Some(&file.hash);
        self.0.iter().filter(is_changed).map(|file| &*file.path).collect()
    }

    /// The first file of these that is not one of `others`, as it is.
    pub fn first_not_in(&self, others: &Sources) -> Option<&Path> {
        self.0.iter().find(|file| !others.0.contains(file)).map(|file| &*file.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_from_another_place_of_the_finding() {
        let inputs = ["/a/tests/q.cpp", "/a/include/q.h"].map(|path| (path.into(), "0".into()));
        let sources = Sources::of_inputs(inputs.to_vec());
        let stored = sources.relative_to(Path::new("/a/tests/findings/q-1"));
        let read = stored.read_in(Path::new("/b/c/tests/findings/q-1"));
        let paths: Vec<&Path> = read.paths().collect();
        assert_eq!(paths, [Path::new("/b/c/tests/q.cpp"), Path::new("/b/c/include/q.h")]);
        assert_eq!(read.adapter(), Some(paths[0]));
        assert_eq!(read.changed(), paths, "they are not there");
        assert_eq!(read.first_not_in(&sources), Some(paths[0]));
        assert_eq!(sources.first_not_in(&sources), None);
    }
}
