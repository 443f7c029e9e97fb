//! Writes the page of `interlap check --html`, and the pages of other commands to files.

use std::path::Path;

use anyhow::{Context, Result};

use super::source::RecordedHistory;
use crate::check::{Limits, NotShown, Partials, Verdict};
use crate::core::files;
use crate::core::history::OperationId;
use crate::finding::SHOWN_MAX;
use crate::model::Spec;
use crate::report::explanation::undecided;
use crate::report::page;
use crate::report::page::Conclusion;

/// A history with its verdict.
pub struct Checked<'a> {
    pub recorded: &'a RecordedHistory,
    pub model: Spec,
    pub verdict: Verdict,
    pub partials: Result<Partials, NotShown>,
    pub limits: Limits,
}

impl Checked<'_> {
    /// Which of several histories the page shows: a violation rather than one that is not decided.
    pub fn rank(&self) -> u8 {
        match self.verdict {
            Verdict::Violation(_) => 2,
            Verdict::Inconclusive(_) => 1,
            Verdict::Consistent => 0,
        }
    }

    pub fn page(&self) -> String {
        let Checked { recorded, model, .. } = self;
        let mut lettered: Vec<OperationId> = Vec::new();
        let conclusion = match &self.verdict {
            Verdict::Consistent => Conclusion::Consistent,
            Verdict::Inconclusive(reason) => Conclusion::Inconclusive(undecided::reason(reason)),
            Verdict::Violation(witness) => {
                lettered = letters(recorded, &witness.operations);
                Conclusion::Violation {
                    rule: witness.rule,
                    explanation: recorded.sentences(witness),
                    operations: &witness.operations,
                    partials: self.partials.as_ref().map_err(Clone::clone),
                }
            }
        };
        let operations = recorded.history.len();
        page::render(&page::Subject {
            title: recorded.name.clone(),
            about: format!("{operations} operations, checked against model {model}"),
            history: &recorded.history,
            model: Some(*model),
            conclusion,
            lettered,
            unit: recorded.unit,
            facts: Vec::new(),
            strings: &recorded.strings,
            interleaving: None,
            limits: self.limits.clone(),
        })
    }
}

/// The operations in the order of their letters in the text timeline.
fn letters(recorded: &RecordedHistory, ids: &[OperationId]) -> Vec<OperationId> {
    let mut ids = ids.to_vec();
    ids.sort_by_key(|id| (recorded.history.operation(*id).start, *id));
    ids.dedup();
    ids.split_off(ids.len().saturating_sub(SHOWN_MAX))
}

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
