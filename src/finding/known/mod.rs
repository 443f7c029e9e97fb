//! Known issues: decides by the patterns of a file which findings are known.
//!
//! An entry fits a finding if all its patterns do (see [`Patterns`]); the first entry that fits
//! counts. A violation has source lines only once it was shrunk or explained, so there is a third
//! answer beside known and new: [`Classification::Open`].
//!
//! - `file`: Parses the file of known issues, which is TOML.
//! - `pattern`: The patterns of an entry of known issues, and whether they fit a finding.

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
pub struct KnownIssues {
    /// The file; empty if there is none.
    pub path: PathBuf,
    pub entries: Vec<Entry>,
    /// Whether findings will be shrunk, so that missing source lines may come.
    pub lines_may_come: bool,
}

/// Whether a finding is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Classification {
    New,
    Known(KnownAs),
    /// All patterns of an entry fit but those on source lines, and these lines come when the
    /// finding is shrunk.
    Open,
}

/// How often findings showed a known issue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IssueCount {
    #[serde(flatten)]
    pub known: KnownAs,
    /// Distinct findings.
    pub findings: usize,
    pub sightings: u64,
}

impl KnownIssues {
    /// Reads a file of known issues.
    ///
    /// # Errors
    /// If it cannot be read, or with the line that is wrong.
    pub fn load(path: &Path) -> Result<KnownIssues> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read {shown}; `interlap triage FINDING --add NAME` writes an entry")
        })?;
        KnownIssues::parse(path, &text)
    }

    /// Parses the text of a file of known issues.
    ///
    /// # Errors
    /// With the path, the line, and what is wrong there.
    pub fn parse(path: &Path, text: &str) -> Result<KnownIssues> {
        let entries = file::parse(text).with_context(|| path.display().to_string())?;
        Ok(KnownIssues { path: path.to_path_buf(), entries, lines_may_come: false })
    }

    /// The same, and data races that an adapter accepts: of each the pattern of a function or of
    /// lines, and why.
    ///
    /// # Errors
    /// If one has no reason, or no such pattern.
    pub fn with_races(mut self, races: &[String]) -> Result<KnownIssues> {
        for race in races {
            let entry = Entry::of_race(race).map_err(anyhow::Error::msg);
            self.entries.push(entry.with_context(|| format!("a line `// Race: {race}`"))?);
        }
        Ok(self)
    }

    /// Names of the issues that were not seen, without those of other targets.
    pub fn unseen<'a>(&'a self, target: &str, counts: &[IssueCount]) -> Vec<&'a str> {
        let is_seen = |name: &str| counts.iter().any(|count| count.known.name == name);
        let about =
            |entry: &&Entry| entry.patterns.target.as_ref().is_none_or(|glob| glob.fits(target));
        let of_file = self.entries.iter().filter(|entry| entry.line > 0);
        let names = of_file.filter(about).map(|entry| &*entry.name);
        names.filter(|name| !is_seen(name)).collect()
    }

    pub fn classify(&self, stored: &Stored) -> Classification {
        let traits = Traits::from_finding(stored);
        let fits = |entry: &&Entry| entry.patterns.fit(&traits) == Fit::Yes;
        if let Some(entry) = self.entries.iter().find(fits) {
            let (name, issue, by_adapter) =
                (entry.name.clone(), entry.issue.clone(), entry.line == 0);
            return Classification::Known(KnownAs { name, issue, by_adapter });
        }
        match stored.finding.confirmed == Some(true) && self.may_lack_lines(stored) {
            true => Classification::Open,
            false => Classification::New,
        }
    }

    /// Whether lines that come when the finding is shrunk may make it known. Only what a rerun
    /// confirms is shrunk.
    pub fn may_lack_lines(&self, stored: &Stored) -> bool {
        let traits = Traits::from_finding(stored);
        let lacks = |entry: &Entry| entry.patterns.fit(&traits) == Fit::LinesUnknown;
        self.lines_may_come && self.entries.iter().any(lacks)
    }

    /// Sets the known issue of the finding. Returns whether that changed it.
    pub fn mark(&self, stored: &mut Stored) -> bool {
        let known = match self.classify(stored) {
            Classification::Known(known) => Some(known),
            // The adapter's entries may not be here.
            Classification::New | Classification::Open => {
                stored.finding.known.clone().filter(|known| known.by_adapter)
            }
        };
        let before = std::mem::replace(&mut stored.finding.known, known);
        before != stored.finding.known
    }

    /// The indices of all entries that fit the finding.
    pub fn fitting(&self, stored: &Stored) -> Vec<usize> {
        let traits = Traits::from_finding(stored);
        let each = self.entries.iter().enumerate();
        let fitting = each.filter(|(_, entry)| entry.patterns.fit(&traits) == Fit::Yes);
        fitting.map(|(at, _)| at).collect()
    }
}

/// Counts the findings of each known issue, sorted by name.
pub fn count_issues<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<IssueCount> {
    let mut all: Vec<IssueCount> = Vec::new();
    for finding in findings {
        let Some(known) = &finding.known else { continue };
        let sightings = finding.sightings;
        match all.iter_mut().find(|count| count.known.name == known.name) {
            Some(count) => {
                count.findings += 1;
                count.sightings += sightings;
            }
            None => all.push(IssueCount { known: known.clone(), findings: 1, sightings }),
        }
    }
    all.sort_by(|a, b| a.known.name.cmp(&b.known.name));
    all
}
