//! Writes the sources inside the program to the cache: C headers, bundled adapters, templates.
//! `build.rs` embeds them. In the cache the compiler and the debugger find them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::cache::{Cache, IoError};
use super::file_state::FileState;
use super::head::Head;

/// The headers that adapters include, in `ffi/`.
pub const HEADERS: [&str; 9] = [
    "interlap.h",
    "interlap.hpp",
    "interlap_c.h",
    "interlap_families.hpp",
    "interlap_methods.hpp",
    "interlap_operations.hpp",
    "interlap_own.hpp",
    "interlap_signatures.hpp",
    "interlap_values.hpp",
];

/// Beside the files in the cache: their states when they were read and found to be right.
const CHECKED: &str = "checked.json";

/// A table of files: path below the root, text.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    files: &'static [(&'static str, &'static str)],
}

/// A bundled adapter.
#[derive(Clone, Debug)]
pub struct Bundled {
    pub name: &'static str,
    /// Whether a bug was seeded (`targets/broken`).
    pub broken: bool,
    pub head: Head,
    /// Path below the root of the tree.
    path: &'static str,
}

/// The sources as files in the cache.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Sources {
    /// The sources that this program was built with.
    pub const EMBEDDED: Sources =
        Sources { files: include!(concat!(env!("OUT_DIR"), "/embedded.rs")) };

    /// Another table, for tests.
    pub fn new(files: &'static [(&'static str, &'static str)]) -> Sources {
        Sources { files }
    }

    /// The adapters, correct ones before broken ones, sorted by name.
    pub fn bundled(self) -> Vec<Bundled> {
        let mut adapters: Vec<Bundled> = self.files.iter().filter_map(bundled).collect();
        adapters.sort_by_key(|adapter| (adapter.broken, adapter.name));
        adapters
    }

    /// The names of the families that have a template with this extension.
    pub fn templates(self, extension: &str) -> impl Iterator<Item = &'static str> {
        self.files.iter().filter_map(move |(path, _)| template_name(path, extension))
    }

    /// The text of `ffi/templates/FAMILY.EXTENSION`.
    pub fn template(self, family: &str, extension: &str) -> Option<&'static str> {
        let is_it = |path| template_name(path, extension) == Some(family);
        self.files.iter().find(|(path, _)| is_it(path)).map(|file| file.1)
    }

    /// Writes the files to the cache, unless they are there, undamaged. The name of the folder is a
    /// hash of the content, so versions of the program do not interfere, and concurrent processes
    /// write the same bytes. Each file is published atomically and none is used before all were
    /// checked, so no process sees a wrong one.
    pub fn materialise(self, cache: &Cache) -> Result<Tree, IoError> {
        let root = cache.root().join(format!("src-{}", self.hash()));
        let paths: Vec<PathBuf> = self.files.iter().map(|(path, _)| root.join(path)).collect();
        let checked = root.join(CHECKED);
        if are_unchanged(&checked, &paths) {
            return Ok(Tree { root });
        }
        let states: Option<Vec<_>> = paths.iter().map(|path| FileState::settled(path)).collect();
        for (path, (_, text)) in paths.into_iter().zip(self.files) {
            match fs::read(&path) {
                Ok(content) if content == text.as_bytes() => {}
                Ok(_) => cache.publish(&path, text.as_bytes())?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    cache.publish(&path, text.as_bytes())?;
                }
                Err(error) => return Err(IoError::at(path)(error)),
            }
        }
        // Without it they are read again the next time.
        if let Some(Ok(text)) = states.map(|states| serde_json::to_vec(&states)) {
            let _ = cache.publish(&checked, &text);
        }
        Ok(Tree { root })
    }

    fn hash(self) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in self.files.iter().flat_map(|(path, text)| [path, text]) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_string()
    }
}

/// Whether the files are in the states that a file lists.
fn are_unchanged(list: &Path, paths: &[PathBuf]) -> bool {
    let states = fs::read(list).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let now = || paths.iter().map(|path| FileState::of(path).ok()).collect::<Option<Vec<_>>>();
    states.is_some_and(|states: Vec<FileState>| now().as_ref() == Some(&states))
}

fn template_name(path: &'static str, extension: &str) -> Option<&'static str> {
    path.strip_prefix("ffi/templates/")?.strip_suffix(extension)?.strip_suffix('.')
}

fn bundled(&(path, text): &(&'static str, &'static str)) -> Option<Bundled> {
    let below = path.strip_prefix("targets/")?;
    let (broken, file) = match below.strip_prefix("broken/") {
        Some(file) => (true, file),
        None => (false, below),
    };
    let (name, extension) = file.rsplit_once('.')?;
    // Headers are shared between adapters, and are not adapters themselves.
    let is_adapter = ["c", "cpp"].contains(&extension);
    is_adapter.then(|| Bundled { name, broken, head: Head::parse(text), path })
}

impl Tree {
    /// The folder of the [`HEADERS`].
    pub fn ffi(&self) -> PathBuf {
        self.root.join("ffi")
    }

    pub fn source(&self, adapter: &Bundled) -> PathBuf {
        self.root.join(adapter.path)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::file_state::CLOCK_TICK;

    const TABLE: Sources = Sources {
        files: &[
            ("ffi/interlap.h", "/* contract */"),
            ("ffi/templates/queue.cpp", "struct NAME {};"),
            ("targets/broken/aba.cpp", "// A stack.\n// Bug: no tags.\n"),
            ("targets/shared.hpp", "// Not an adapter."),
            ("targets/zed.cpp", "// A queue."),
        ],
    };

    #[test]
    fn adapters_are_listed_with_their_heads() {
        let [zed, aba] = &TABLE.bundled()[..] else { panic!("two adapters") };
        assert_eq!((zed.name, zed.broken), ("zed", false));
        assert_eq!(zed.head.description, "A queue.");
        assert_eq!((aba.name, aba.broken), ("aba", true));
        assert_eq!(aba.head.bug.as_deref(), Some("no tags."));
    }

    #[test]
    fn the_program_carries_the_contract() {
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::at(folder.path()).expect("cache");
        let tree = Sources::EMBEDDED.materialise(&cache).expect("materialise");
        let header = fs::read_to_string(tree.ffi().join("interlap.h")).expect("the header");
        assert!(header.contains("IL_ABI_VERSION"));
    }

    #[test]
    fn a_damaged_tree_is_repaired() {
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::at(folder.path()).expect("cache");
        let tree = TABLE.materialise(&cache).expect("first");
        // Once they are settled, their states are kept.
        std::thread::sleep(2 * CLOCK_TICK);
        TABLE.materialise(&cache).expect("the same");
        assert!(tree.root().join(CHECKED).is_file());
        let header = tree.ffi().join("interlap.h");
        let zed = tree.source(&TABLE.bundled()[0]);
        fs::write(&header, "half").expect("damage");
        fs::remove_file(&zed).expect("damage");
        let again = TABLE.materialise(&cache).expect("second");
        assert_eq!(again.root(), tree.root());
        assert_eq!(fs::read_to_string(header).expect("header"), "/* contract */");
        assert_eq!(fs::read_to_string(zed).expect("adapter"), "// A queue.");
    }

    #[test]
    fn other_content_is_another_folder() {
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::at(folder.path()).expect("cache");
        let one = Sources::new(&[("ffi/interlap.h", "1")]).materialise(&cache).expect("one");
        let two = Sources::new(&[("ffi/interlap.h", "2")]).materialise(&cache).expect("two");
        assert_ne!(one.root(), two.root());
    }

    #[test]
    fn racing_threads_agree() {
        let folder = tempfile::tempdir().expect("temp folder");
        let cache = Cache::at(folder.path()).expect("cache");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let tree = TABLE.materialise(&cache).expect("materialise");
                    let header = fs::read(tree.ffi().join("interlap.h")).expect("complete");
                    assert_eq!(header, b"/* contract */");
                });
            }
        });
    }
}
