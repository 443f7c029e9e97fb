//! Finds the file with a library's debugging information.
//! It is the library itself or, for a stripped library of a distribution, a separate file, which is
//! searched where gdb searches it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{File, Object};

/// The folder of separate files.
const SYSTEM: &str = "/usr/lib/debug";

#[derive(Debug, PartialEq, Eq)]
pub struct DebugFile {
    pub path: PathBuf,
    /// The file to which `dwz` has moved what several debug files share.
    pub supplement: Option<PathBuf>,
}

impl DebugFile {
    /// The library itself, where no other file is found.
    pub fn find(library: &Path) -> DebugFile {
        let path = separate(library).unwrap_or_else(|| library.to_path_buf());
        let supplement = supplement(&path);
        DebugFile { path, supplement }
    }
}

/// The separate file of a library that has no debugging information itself.
fn separate(library: &Path) -> Option<PathBuf> {
    let bytes = fs::read(library).ok()?;
    let file = File::parse(&*bytes).ok()?;
    if file.has_debug_symbols() {
        return None;
    }
    let id = file.build_id().ok()?;
    let (name, _) = file.gnu_debuglink().ok()?.unwrap_or_default();
    let folder = fs::canonicalize(library).ok()?.parent()?.to_path_buf();
    let in_system = Path::new(SYSTEM).join(folder.strip_prefix("/").ok()?);
    let linked =
        [folder.join(".debug"), in_system, folder].map(|at| at.join(OsStr::from_bytes(name)));
    let fits = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        File::parse(&*bytes).is_ok_and(|file| file.has_debug_symbols() && file.build_id() == Ok(id))
    };
    id.and_then(by_id).into_iter().chain(linked).find(fits)
}

fn supplement(path: &Path) -> Option<PathBuf> {
    let bytes = fs::read(path).ok()?;
    let (name, id) = File::parse(&*bytes).ok()?.gnu_debugaltlink().ok()??;
    let beside = path.parent()?.join(OsStr::from_bytes(name));
    [Some(beside), by_id(id)].into_iter().flatten().find(|path| path.exists())
}

fn by_id(id: &[u8]) -> Option<PathBuf> {
    let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, name) = digits.split_at_checked(2)?;
    Some(Path::new(SYSTEM).join(".build-id").join(folder).join(format!("{name}.debug")))
}
