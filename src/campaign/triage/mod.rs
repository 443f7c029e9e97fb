//! Findings of one run or of many, each bug once: directories come in, groups go out, the new ones
//! first, each with its best sighting, and which of them are most likely one bug (see [`bugs`]).
//! Decides nothing about what is known: that is [`crate::finding::known`]'s.
//!
//! - `bugs`: Which findings are most likely one bug: findings come in, sets of them go out.
//! - `entry`: An entry of known issues for a finding, as text to go on from: a stored finding comes
//!   in, TOML goes out.

pub mod bugs;
mod entry;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::ledger::{LEDGER_FILE, Ledger};
use crate::finding::known::Known;
use crate::finding::signature::Signature;
use crate::finding::{Finding, JSON_FILE, ORIGINAL_FILE, Size, Stored};

pub use entry::{entry, first_line};

/// Directories inside of each other that are looked through: a place of runs, runs, findings.
const DEPTH_MAX: usize = 4;

/// Sightings of one bug, as far as one can tell: of one target, with one signature.
pub struct Group {
    /// The best of them: confirmed, shrunk, small. Its sightings are those of all.
    pub best: Stored,
    /// Directories of runs that have it.
    pub runs: Vec<PathBuf>,
    /// The first source line of each of them, as far as it is known: one signature may be that of
    /// several bugs.
    pub places: BTreeSet<String>,
}

/// What the directories hold.
#[derive(Default)]
pub struct Gathered {
    pub groups: Vec<Group>,
    /// Groups that are most likely one bug, by their places.
    pub bugs: Vec<Vec<usize>>,
    pub ledgers: Vec<(PathBuf, Ledger)>,
    /// What could not be read, and why.
    pub damaged: Vec<anyhow::Error>,
    /// Entries of known issues that fit nothing, by their places.
    pub stale: Vec<usize>,
}

impl Group {
    /// How large its best sighting is.
    pub fn size(&self) -> Size {
        size(&self.best)
    }
}

/// Looks the directories through. `known` says which findings are known; without it they stay what
/// the runs took them for.
///
/// # Errors
/// If one of the directories is not there, or holds neither a finding nor a run.
pub fn gather(directories: &[PathBuf], known: Option<&Known>) -> Result<Gathered> {
    let (mut found, mut gathered) = (Vec::new(), Gathered::default());
    for directory in directories {
        let before = found.len() + gathered.ledgers.len() + gathered.damaged.len();
        let shown = directory.display();
        let entries = std::fs::read_dir(directory);
        drop(entries.with_context(|| format!("cannot read {shown}; {ADVICE}"))?);
        look(directory, DEPTH_MAX, &mut found, &mut gathered);
        if found.len() + gathered.ledgers.len() + gathered.damaged.len() == before {
            bail!("{shown} holds neither a finding nor a run; {ADVICE}");
        }
    }
    found.sort();
    found.dedup();
    // Only the best of each group stays in memory; the shrunk ones come first, see `add`.
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
    gathered.bugs = bugs::of(&best);
    Ok(gathered)
}

const ADVICE: &str = "name directories that `interlap fuzz --out` or `interlap merge --out` wrote";

/// Notes the findings in a directory, and the runs.
fn look(directory: &Path, depth: usize, found: &mut Vec<PathBuf>, gathered: &mut Gathered) {
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
        below.iter().for_each(|directory| look(directory, depth - 1, found, gathered));
    }
}

/// Puts a finding to those that show the same. What was shrunk is what it became; what was not may
/// be what another was before.
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

/// Smaller is better.
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
