//! The table of `interlap triage`: a line for each group of findings, with the groups of one bug
//! below each other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{results, words};
use crate::campaign::triage::{Gathered, Group, first_line, same_bug};
use crate::core::columns;
use crate::core::outcome::Outcome;
use crate::finding::known::{self, IssueCount, KnownIssues};
use crate::finding::{KnownAs, Size, Stored, locations};

const HEAD: [&str; 8] =
    ["issue", "target", "finding", "seen", "runs", "smallest", "where", "directory"];
/// Prefix of a group that is most likely the bug of the line above.
const ALSO: &str = "also seen as ";
/// The columns of numbers, which are aligned to the right.
const NUMBERS: std::ops::Range<usize> = 3..5;

/// A line for each group; those that are most likely one bug follow its first one.
pub fn table(groups: &[Group], bugs: &[Vec<usize>]) -> String {
    let head = HEAD.map(str::to_string);
    let of_bug = bugs.iter().flat_map(|bug| {
        bug.iter().map(|at| row(&groups[*at], if *at == bug[0] { "" } else { ALSO }))
    });
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(of_bug).collect();
    columns::table(&rows, NUMBERS, "")
}

fn row(group: &Group, prefix: &str) -> [String; 8] {
    let (stored, finding) = (&group.best, &group.best.finding);
    let known = finding.known.as_ref().map_or("new", |known| &known.name);
    let unsure = if finding.confirmed == Some(false) { " (not reproduced)" } else { "" };
    [
        known.to_string(),
        finding.plan.target_name().to_string(),
        // The site of a fault has its own column.
        format!("{prefix}{}{unsure}", finding.signature.without_site()),
        finding.sightings.to_string(),
        group.runs.len().to_string(),
        group.size().to_string(),
        place(group),
        stored.directory.display().to_string(),
    ]
}

/// "Stack::pop at stack.hpp:31, or 2 other places".
fn place(group: &Group) -> String {
    let first = first_line(&group.best).unwrap_or_else(|| "-".to_string());
    match group.places.iter().filter(|place| **place != first).count() {
        0 => first,
        1 => format!("{first}, or 1 other place"),
        others => format!("{first}, or {others} other places"),
    }
}

/// Findings, each with the first of the others that are most likely the same bug, if one comes
/// before it.
pub fn pair_with_first(findings: Vec<&Stored>) -> Vec<(&Stored, Option<&Stored>)> {
    let numbers = same_bug::numbers(&same_bug::group(&findings));
    let first = |at: usize| numbers.iter().position(|number| *number == numbers[at]);
    let first = |at: usize| first(at).filter(|first| *first != at).map(|first| findings[first]);
    findings.iter().enumerate().map(|(at, stored)| (*stored, first(at))).collect()
}

/// ", most likely the same bug as treiber_aba-7dac".
pub fn same_bug_note(first: Option<&Stored>) -> String {
    first.map_or(String::new(), |first| {
        format!(", most likely the same bug as {}", first.finding.name)
    })
}

/// "known: ABA in pop (https://...): 2 findings, seen 31 times".
pub fn issue_line(count: &IssueCount) -> String {
    let IssueCount { known, findings, sightings } = count;
    let s = if *findings == 1 { "" } else { "s" };
    format!("known: {known}: {findings} finding{s}, seen {}", times(*sightings))
}

/// "once", "31 times".
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}

/// The output of `interlap triage --json`.
#[derive(Serialize)]
pub struct Json<'a> {
    findings: Vec<JsonGroup<'a>>,
    runs: Vec<&'a PathBuf>,
    new: usize,
    /// How many bugs the findings most likely are.
    bugs: usize,
    known: Vec<IssueCount>,
    /// Names of known issues that fit nothing.
    stale: Vec<&'a str>,
    damaged: Vec<String>,
    outcome: Outcome,
}

#[derive(Serialize)]
struct JsonGroup<'a> {
    /// The same number for findings that are most likely one bug.
    bug: usize,
    known: Option<&'a KnownAs>,
    target: &'a str,
    signature: String,
    first_signature: String,
    rule: String,
    sightings: u64,
    runs: &'a [PathBuf],
    size: Size,
    confirmed: Option<bool>,
    /// The first line of each finding that has the signature.
    places: &'a BTreeSet<String>,
    /// Source lines, those to look at first before the others.
    lines: Vec<JsonLine<'a>>,
    directory: &'a Path,
}

#[derive(Serialize)]
struct JsonLine<'a> {
    file: &'a Path,
    line: u32,
    function: &'a str,
    what: String,
}

impl<'a> Json<'a> {
    pub fn new(gathered: &'a Gathered, known: &'a KnownIssues) -> Json<'a> {
        let numbers = same_bug::numbers(&gathered.bugs);
        let each = gathered.groups.iter().zip(numbers);
        let findings: Vec<JsonGroup> =
            each.map(|(group, bug)| JsonGroup::new(group, bug)).collect();
        Json {
            new: findings.iter().filter(|group| group.known.is_none()).count(),
            bugs: gathered.bugs.len(),
            findings,
            runs: gathered.ledgers.iter().map(|(directory, _)| directory).collect(),
            known: known::count_issues(gathered.groups.iter().map(|group| &group.best.finding)),
            stale: gathered.stale.iter().map(|at| &*known.entries[*at].name).collect(),
            damaged: gathered.damaged.iter().map(|error| format!("{error:#}")).collect(),
            outcome: gathered.outcome(),
        }
    }
}

impl<'a> JsonGroup<'a> {
    fn new(group: &'a Group, bug: usize) -> JsonGroup<'a> {
        let (stored, finding) = (&group.best, &group.best.finding);
        let line = |location: locations::Location<'a>| {
            let place = location.place.in_library();
            let (file, function) = (&*place.file, &*location.place.function);
            JsonLine { file, line: place.line, function, what: words::occurrence(location.what) }
        };
        JsonGroup {
            bug,
            known: finding.known.as_ref(),
            target: finding.plan.target_name(),
            signature: finding.signature.to_string(),
            first_signature: finding.first_signature().to_string(),
            rule: results::rule(finding),
            sightings: finding.sightings,
            runs: &group.runs,
            size: group.size(),
            confirmed: finding.confirmed,
            places: &group.places,
            lines: locations::rank(stored).into_iter().map(line).collect(),
            directory: &stored.directory,
        }
    }
}
