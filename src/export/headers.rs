//! Copies of a library's headers with points in them. Points in installed headers come in; the
//! headers and what lies beside them go out, so that a compiler that looks there first finds them.

use std::fs;
use std::path::{Path, PathBuf};

use super::Written;
use super::halts::Halt;
use super::source::{Hook, Source, hooked as with_hooks};

/// Where they are put.
pub const DIRECTORY: &str = "hooked";

/// Most files that are copied along with one that is changed.
const FILES_MAX: usize = 400;

/// So that a header is what it was where nobody defines the points.
const UNDEFINED: &str = "\
#ifndef REPRODUCER_POINT // defined by the reproducer
#define REPRODUCER_POINT(name) ((void)0)
#define REPRODUCER_AFTER(name, ...) (__VA_ARGS__)
#endif
";

/// A header with points in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Where it is installed, and its path as it is included.
    pub path: PathBuf,
    pub name: PathBuf,
    pub text: String,
    /// Lines that have changed: number, what it was, what it is.
    pub changes: Vec<(usize, String, String)>,
    /// What lies around it, to be copied: a directory below that of all headers.
    around: Option<(PathBuf, PathBuf)>,
}

/// The headers that points were put into.
pub fn hooked(halts: &[Halt], source: &Source, roots: &[PathBuf]) -> Vec<Header> {
    let mut hooks: Vec<Hook> = Vec::new();
    for halt in halts.iter().filter(|halt| source.text(&halt.hook.file).is_none()) {
        if !hooks.contains(&halt.hook) {
            hooks.push(halt.hook.clone());
        }
    }
    let mut headers: Vec<Header> = Vec::new();
    for hook in &hooks {
        if headers.iter().all(|header| header.path != hook.file) {
            headers.extend(header(&hook.file, &hooks, roots));
        }
    }
    headers
}

fn header(path: &Path, hooks: &[Hook], roots: &[PathBuf]) -> Option<Header> {
    let text = fs::read_to_string(path).ok()?;
    let roots = roots.iter().filter_map(|root| fs::canonicalize(root).ok());
    let root = roots.filter(|root| path.starts_with(root)).max_by_key(|r| r.as_os_str().len())?;
    let name = path.strip_prefix(&root).ok()?.to_path_buf();
    let changed = with_hooks(path, &text, hooks);
    let pairs = text.lines().zip(changed.lines()).enumerate();
    let changes = pairs.filter(|(_, (was, is))| was != is);
    let changes = changes.map(|(at, (was, is))| (at + 1, was.to_string(), is.to_string()));
    Some(Header {
        path: path.to_path_buf(),
        changes: changes.collect(),
        text: format!("{UNDEFINED}{changed}"),
        around: around(&root, &name),
        name,
    })
}

/// The whole of the library's directory, for headers that include each other by where they lie; of
/// a large one, the header's own.
fn around(root: &Path, name: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = name.iter().next().map(PathBuf::from)?;
    let own = name.parent()?.to_path_buf();
    let small = |dir: &PathBuf| {
        !dir.as_os_str().is_empty() && *dir != name && files_below(&root.join(dir)).is_some()
    };
    let dir = [top, own].into_iter().find(small)?;
    Some((root.join(&dir), dir))
}

fn files_below(directory: &Path) -> Option<Vec<PathBuf>> {
    let mut directories = vec![directory.to_path_buf()];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).ok()? {
            let path = entry.ok()?.path();
            if path.is_dir() { directories.push(path) } else { files.push(path) }
        }
        if files.len() > FILES_MAX {
            return None;
        }
    }
    Some(files)
}

/// The files to write: what lies around first, the changed headers over it.
pub fn files(headers: &[Header]) -> Vec<Written> {
    let mut files: Vec<Written> = Vec::new();
    let mut add = |name: &Path, text: String| {
        let path = Path::new(DIRECTORY).join(name);
        match files.iter_mut().find(|(other, _)| *other == path) {
            Some((_, known)) => *known = text,
            None => files.push((path, text)),
        }
    };
    for (from, name) in headers.iter().filter_map(|header| header.around.as_ref()) {
        for file in files_below(from).unwrap_or_default() {
            let below = file.strip_prefix(from).expect("it was found there");
            if let Ok(text) = fs::read_to_string(&file) {
                add(&name.join(below), text);
            }
        }
    }
    headers.iter().for_each(|header| add(&header.name, header.text.clone()));
    files
}
