//! Groups the findings of one or many runs by signature, and the groups by bug.
//! New groups come first, each with its best sighting. [`same_bug`] decides which groups are most
//! likely one bug, [`crate::finding::known`] which findings are known.
//!
//! - `known_entry`: Writes an entry for the file of known issues from a finding, as TOML to be
//!   edited.
//! - `same_bug`: Groups the findings that are most likely one bug, by where threads were preempted.

mod known_entry;
pub mod same_bug;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::ledger::{LEDGER_FILE, Ledger};
use crate::core::outcome::Outcome;
use crate::finding::known::KnownIssues;
use crate::finding::signature::Signature;
use crate::finding::{Finding, JSON_FILE, ORIGINAL_FILE, Size, Stored};

pub use known_entry::{entry, first_line};

/// Levels of directories that are searched: runs in a directory, findings in a run.
const DEPTH_MAX: usize = 4;

/// The sightings of one target with one signature.
pub struct Group {
    /// The best sighting: confirmed, shrunk, small. It has the number of all sightings.
    pub best: Stored,
    /// Directories of the runs that saw it.
    pub runs: Vec<PathBuf>,
    /// The first source line of each sighting, if it is known: several bugs may have one signature.
    pub places: BTreeSet<String>,
}

/// The contents of the directories.
#[derive(Default)]
pub struct Gathered {
    pub groups: Vec<Group>,
    /// For each bug the indices of its groups.
    pub bugs: Vec<Vec<usize>>,
    pub ledgers: Vec<(PathBuf, Ledger)>,
    /// The errors for what could not be read.
    pub damaged: Vec<anyhow::Error>,
    /// The indices of entries of known issues that match nothing.
    pub stale: Vec<usize>,
}

impl Gathered {
    /// Found, if some finding is not known.
    pub fn outcome(&self) -> Outcome {
        let is_new = |group: &Group| group.best.finding.known.is_none();
        if self.groups.iter().any(is_new) { Outcome::Found } else { Outcome::NothingFound }
    }
}

impl Group {
    /// The size of its best sighting.
    pub fn size(&self) -> Size {
        size(&self.best)
    }
}

/// Reads the directories. `known` decides which findings are known; without it they stay as the
/// runs marked them.
///
/// # Errors
/// If a directory does not exist, or contains neither a finding nor a run.
pub fn gather(directories: &[PathBuf], known: Option<&KnownIssues>) -> Result<Gathered> {
    let (mut found, mut gathered) = (Vec::new(), Gathered::default());
    for directory in directories {
        let before = found.len() + gathered.ledgers.len() + gathered.damaged.len();
        let shown = directory.display();
        let entries = std::fs::read_dir(directory);
        drop(entries.with_context(|| format!("cannot read {shown}; {ADVICE}"))?);
        collect(directory, DEPTH_MAX, &mut found, &mut gathered);
        if found.len() + gathered.ledgers.len() + gathered.damaged.len() == before {
            bail!("{shown} holds neither a finding nor a run; {ADVICE}");
        }
    }
    found.sort();
    found.dedup();
    // Only the best of each group stays in memory. `add` needs the shrunk ones first.
    let (shrunk, whole): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|directory| directory.join(ORIGINAL_FILE).exists());
    let mut fits = vec![false; known.map_or(0, |known| known.entries.len())];
    for directory in shrunk.into_iter().chain(whole) {
        match Stored::load(&directory) {
            Ok(mut stored) => {
                if let Some(known) = known {
                    known.mark(&mut stored);
                    known.fitting(&stored).into_iter().for_each(|at| fits[at] = true);
                }
                add(&mut gathered.groups, stored);
            }
            Err(error) => gathered.damaged.push(error),
        }
    }
    gathered.stale = (0..fits.len()).filter(|at| !fits[*at]).collect();
    let order = |group: &Group| {
        let finding = &group.best.finding;
        (finding.known.is_some(), std::cmp::Reverse(finding.sightings))
    };
    gathered.groups.sort_by_key(order);
    let best: Vec<&Stored> = gathered.groups.iter().map(|group| &group.best).collect();
    gathered.bugs = same_bug::group(&best);
    Ok(gathered)
}

/// The directories of the findings in a directory.
///
/// # Errors
/// If it does not exist.
pub fn findings_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let shown = directory.display();
    std::fs::read_dir(directory)
        .with_context(|| format!("cannot read {shown}, where known findings are sought"))?;
    let mut found = Vec::new();
    collect(directory, DEPTH_MAX, &mut found, &mut Gathered::default());
    found.sort();
    Ok(found)
}

const ADVICE: &str = "name directories that `interlap fuzz --out` or `interlap merge --out` wrote";

/// Collects the findings and the runs in a directory.
fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>, gathered: &mut Gathered) {
    if directory.join(JSON_FILE).is_file() {
        found.push(directory.to_path_buf());
        return;
    }
    let is_known = gathered.ledgers.iter().any(|(known, _)| known == directory);
    if directory.join(LEDGER_FILE).is_file() && !is_known {
        match Ledger::load(directory) {
            Ok(ledger) => gathered.ledgers.push((directory.to_path_buf(), ledger)),
            Err(error) => gathered.damaged.push(error),
        }
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let is_directory =
        |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut below: Vec<PathBuf> =
        entries.flatten().filter(is_directory).map(|entry| entry.path()).collect();
    below.sort();
    if depth > 0 {
        below.iter().for_each(|directory| collect(directory, depth - 1, found, gathered));
    }
}

/// Adds a finding to its group. Shrinking can change the signature: a finding that was not shrunk
/// also belongs to a group whose best had its signature before it was shrunk.
fn add(groups: &mut Vec<Group>, mut stored: Stored) {
    let run = stored.directory.parent().unwrap_or(Path::new(".")).to_path_buf();
    let places: BTreeSet<String> = first_line(&stored).into_iter().collect();
    let has = |group: &Group, signature: fn(&Finding) -> &Signature| {
        let (one, two) = (&group.best.finding, &stored.finding);
        let named = |finding: &Finding| finding.known.as_ref().map(|known| known.name.clone());
        let same = one.plan.target_name() == two.plan.target_name() && named(one) == named(two);
        same && *signature(one) == two.signature
    };
    let at = groups.iter().position(|group| has(group, |finding| &finding.signature));
    let before = || groups.iter().position(|group| has(group, Finding::first_signature));
    let at = at.or_else(|| if stored.finding.shrunk.is_none() { before() } else { None });
    let Some(at) = at else {
        groups.push(Group { best: stored, runs: vec![run], places });
        return;
    };
    let group = &mut groups[at];
    let sightings = group.best.finding.sightings + stored.finding.sightings;
    if weight(&stored) < weight(&group.best) {
        std::mem::swap(&mut group.best, &mut stored);
    }
    group.best.finding.sightings = sightings;
    group.places.extend(places);
    if !group.runs.contains(&run) {
        group.runs.push(run);
    }
}

/// The order of sightings: the smallest is the best.
fn weight(stored: &Stored) -> (bool, bool, u64, usize) {
    let (finding, size) = (&stored.finding, size(stored));
    let things = (size.calls + size.threads) as u64 + size.preemptions.unwrap_or(0);
    let is_shrunk = finding.shrunk.is_some();
    (finding.confirmed != Some(true), !is_shrunk, things, stored.round.history.len())
}

fn size(stored: &Stored) -> Size {
    if let Some(shrunk) = &stored.finding.shrunk {
        return shrunk.size;
    }
    let callers = stored.round.start.threads;
    let threads = stored.round.history.threads.iter().filter(|thread| thread.client < callers);
    let calls = threads.map(|thread| thread.operations().len()).sum();
    Size { calls, threads: callers as usize, preemptions: None }
}
