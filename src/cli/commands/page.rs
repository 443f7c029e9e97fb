//! The page of `interlap check --html`: judged histories come in, a file goes out. And how pages of
//! all commands are written.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::source::Subject;
use crate::check::{Partials, Verdict};
use crate::core::history::OperationId;
use crate::finding::SHOWN_MAX;
use crate::model::Spec;
use crate::report::page;
use crate::report::page::Conclusion;

/// A history that was judged.
pub struct Judged<'a> {
    pub subject: &'a Subject,
    pub model: Spec,
    pub verdict: Verdict,
    pub partials: Option<Partials>,
}

impl Judged<'_> {
    /// How much there is to see: what is bad first, then what was not decided.
    pub fn weight(&self) -> u8 {
        match self.verdict {
            Verdict::Violation(_) => 2,
            Verdict::Inconclusive(_) => 1,
            Verdict::Consistent => 0,
        }
    }

    pub fn page(&self) -> String {
        let Judged { subject, model, .. } = self;
        let mut lettered: Vec<OperationId> = Vec::new();
        let conclusion = match &self.verdict {
            Verdict::Consistent => Conclusion::Consistent,
            Verdict::Inconclusive(reason) => Conclusion::Inconclusive(reason.clone()),
            Verdict::Violation(witness) => {
                lettered = letters(subject, &witness.operations);
                Conclusion::Violation {
                    rule: witness.rule,
                    explanation: witness.explanation.clone(),
                    operations: &witness.operations,
                    partials: self.partials.as_ref(),
                }
            }
        };
        let operations = subject.history.len();
        page::render(&page::Subject {
            title: subject.name.clone(),
            about: format!("{operations} operations, checked against model {model}"),
            history: &subject.history,
            model: Some(*model),
            conclusion,
            lettered,
            unit: subject.unit,
            facts: Vec::new(),
            strings: &subject.strings,
            interleaving: None,
        })
    }
}

/// The operations in the order of the letters that the picture in words gives them.
fn letters(subject: &Subject, ids: &[OperationId]) -> Vec<OperationId> {
    let mut ids = ids.to_vec();
    ids.sort_by_key(|id| (subject.history.operation(*id).start, *id));
    ids.dedup();
    ids.split_off(ids.len().saturating_sub(SHOWN_MAX))
}

/// Makes sure that a page can be written there; what is there stays, and nothing is left.
pub fn touch(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let left = file.and_then(|_| if is_new { std::fs::remove_file(path) } else { Ok(()) });
    left.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a page to where the user wants it: whole, or what was there stays.
pub fn write(path: &Path, text: &str) -> Result<()> {
    replace(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A pipe or a terminal is no file that another could take the place of; nor is a link.
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, text);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".interlap-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
