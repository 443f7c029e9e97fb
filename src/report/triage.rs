//! Findings side by side, in words: groups come in, a table goes out.

use std::fmt::Write;

use crate::known::Seen;
use crate::triage::{Group, first_line};

const HEAD: [&str; 8] =
    ["issue", "target", "finding", "seen", "runs", "smallest", "where", "directory"];
/// The columns of numbers, which stand to the right.
const NUMBERS: std::ops::Range<usize> = 3..5;

/// A line for each group.
pub fn table(groups: &[Group]) -> String {
    let head = HEAD.map(str::to_string);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(groups.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEAD.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if at == 0 { "" } else { "  " };
            let done = match NUMBERS.contains(&at) {
                true => write!(line, "{gap}{cell:>width$}"),
                false => write!(line, "{gap}{cell:<width$}"),
            };
            done.expect("writing to a string");
        }
        writeln!(text, "{}", line.trim_end()).expect("writing to a string");
    }
    text
}

fn row(group: &Group) -> [String; 8] {
    let (stored, finding) = (&group.best, &group.best.finding);
    let known = finding.known.as_ref().map_or("new", |known| &known.name);
    let unsure = if finding.confirmed == Some(false) { " (not reproduced)" } else { "" };
    [
        known.to_string(),
        finding.plan.target_name().to_string(),
        // The lines of a fault have a column of their own.
        format!("{}{unsure}", finding.signature.split(": ").next().unwrap_or_default()),
        finding.sightings.to_string(),
        group.runs.len().to_string(),
        group.size().to_string(),
        first_line(stored).unwrap_or_else(|| "-".to_string()),
        stored.directory.display().to_string(),
    ]
}

/// "known: ABA in pop (https://...): 2 findings, seen 31 times".
pub fn seen(seen: &Seen) -> String {
    let Seen { known, findings, sightings } = seen;
    let s = if *findings == 1 { "" } else { "s" };
    format!("known: {known}: {findings} finding{s}, seen {}", times(*sightings))
}

/// "once", "31 times".
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}
