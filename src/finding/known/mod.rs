//! Known issues: a file that a person writes says which findings are known, by patterns. The file
//! comes in; of a stored finding, which of the issues it shows goes out. Knows nothing of runs.
//!
//! An entry fits a finding if all patterns fit that it has (see [`Patterns`]); of several entries
//! that fit, the first is the finding's. Lines of violations are known only once the finding was
//! shrunk or explained, so there is a third answer beside known and new: it may be, see
//! [`Judgement::Open`].
//!
//! - `file`: The file of known issues: TOML comes in, entries go out, or what is wrong in which
//!   line.
//! - `pattern`: Patterns on findings: what an entry of known issues asks for.

mod file;
mod pattern;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use super::{Finding, KnownAs, Stored};
pub use file::Entry;
pub use pattern::Patterns;
use pattern::{Fit, Traits};

/// The known issues of one file, in its order.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Where they were read from; empty if there is no file.
    pub path: PathBuf,
    pub entries: Vec<Entry>,
    /// Whether lines that are not known may be later: findings are going to be shrunk.
    pub lines_may_come: bool,
}

/// What a finding is.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    New,
    Known(KnownAs),
    /// All patterns of an entry fit but those on source lines, and the finding's lines are going
    /// to be known when it is shrunk.
    Open,
}

/// How often a known issue was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    #[serde(flatten)]
    pub known: KnownAs,
    /// Distinct findings that show it.
    pub findings: usize,
    pub sightings: u64,
}

impl Known {
    /// Reads a file of known issues.
    ///
    /// # Errors
    /// If it cannot be read, or with its name and line, and what is wrong there.
    pub fn load(path: &Path) -> Result<Known> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read {shown}; `interlap triage FINDING --add NAME` writes an entry")
        })?;
        Known::parse(path, &text)
    }

    /// Reads what stands in the file, or is going to.
    ///
    /// # Errors
    /// With its name and line, and what is wrong there.
    pub fn parse(path: &Path, text: &str) -> Result<Known> {
        let entries = file::parse(text).with_context(|| path.display().to_string())?;
        Ok(Known { path: path.to_path_buf(), entries, lines_may_come: false })
    }

    /// Names of the issues that are about this target, as far as that is said, and were not seen.
    pub fn unseen<'a>(&'a self, target: &str, seen: &[Seen]) -> Vec<&'a str> {
        let is_seen = |name: &str| seen.iter().any(|seen| seen.known.name == name);
        let about =
            |entry: &&Entry| entry.patterns.target.as_ref().is_none_or(|glob| glob.fits(target));
        let names = self.entries.iter().filter(about).map(|entry| &*entry.name);
        names.filter(|name| !is_seen(name)).collect()
    }

    /// What the finding is.
    pub fn judge(&self, stored: &Stored) -> Judgement {
        let traits = Traits::of(stored);
        let fits = |entry: &Entry| entry.patterns.fit(&traits);
        if let Some(entry) = self.entries.iter().find(|entry| fits(entry) == Fit::Yes) {
            let (name, issue) = (entry.name.clone(), entry.issue.clone());
            return Judgement::Known(KnownAs { name, issue });
        }
        let waits = self.lines_may_come && stored.finding.confirmed == Some(true);
        match waits && self.entries.iter().any(|entry| fits(entry) == Fit::LinesUnknown) {
            true => Judgement::Open,
            false => Judgement::New,
        }
    }

    /// Marks the finding as what it is now, with all that is known of it; whether that changed.
    pub fn mark(&self, stored: &mut Stored) -> bool {
        let known = match self.judge(stored) {
            Judgement::Known(known) => Some(known),
            Judgement::New | Judgement::Open => None,
        };
        let before = std::mem::replace(&mut stored.finding.known, known);
        before != stored.finding.known
    }

    /// The entries that fit the finding, by their places, whether or not one before them does.
    pub fn fitting(&self, stored: &Stored) -> Vec<usize> {
        let traits = Traits::of(stored);
        let each = self.entries.iter().enumerate();
        let fitting = each.filter(|(_, entry)| entry.patterns.fit(&traits) == Fit::Yes);
        fitting.map(|(at, _)| at).collect()
    }
}

/// The known issues that findings were marked as, by name, with how often they were seen.
pub fn seen<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    for finding in findings {
        let Some(known) = &finding.known else { continue };
        let sightings = finding.sightings;
        match all.iter_mut().find(|seen| seen.known.name == known.name) {
            Some(seen) => {
                seen.findings += 1;
                seen.sightings += sightings;
            }
            None => all.push(Seen { known: known.clone(), findings: 1, sightings }),
        }
    }
    all.sort_by(|a, b| a.known.name.cmp(&b.known.name));
    all
}
