//! Writes the pages of commands to files.

use std::path::Path;

use anyhow::{Context, Result};

use crate::core::files;

/// Checks that a file can be written there. An existing file stays; a new one is removed.
pub fn touch(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let left = file.and_then(|_| if is_new { std::fs::remove_file(path) } else { Ok(()) });
    left.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a page in one step: after a failure the old file is still there.
pub fn write(path: &Path, text: &str) -> Result<()> {
    files::put(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
