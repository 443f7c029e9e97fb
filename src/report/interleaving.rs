//! The table of what a finding's threads did, in words: an interleaving comes in, text goes out.

use std::fmt::Write;

use crate::history::client_name;
use crate::interleaving::{Interleaving, Place, Row, What};

/// Columns for what was done; what is longer pushes the rest away.
const ACT_COLUMNS: usize = 44;
/// Characters of a source line.
const TEXT_MAX: usize = 100;
/// Rows of a report; the rest is told by `interlap explain`.
pub const ROWS_MAX: usize = 40;

/// The rows that matter, or `all` of them; at most `rows_max`: of more, news, and the last.
/// `drain` is the number of the thread that drains.
pub fn draw(table: &Interleaving, drain: Option<u32>, all: bool, rows_max: usize) -> String {
    let mut told: Vec<&Row> = table.rows.iter().filter(|row| all || row.matters).collect();
    if told.len() > rows_max {
        told.retain(|row| row.is_news);
    }
    let mut text = String::new();
    if table.cut && all {
        text.push_str("  (what came before is not known: too many steps)\n");
    }
    let before = told.len().saturating_sub(rows_max);
    if before > 0 {
        writeln!(text, "  ... {before} before").expect("writing to a string");
    }
    for row in &told[before..] {
        text.push_str(line(row, drain).trim_end());
        text.push('\n');
    }
    text
}

/// What the signs mean that the table has.
pub fn key(table: &Interleaving) -> &'static str {
    let names_blocks = table.rows.iter().any(|row| match &row.what {
        What::Act { text, .. } => row.matters && text.contains('#'),
        _ => false,
    });
    if names_blocks { "  (#2 is the second block of memory that was allocated)\n\n" } else { "" }
}

fn line(row: &Row, drain: Option<u32>) -> String {
    let (step, thread) = (row.step, client_name(row.thread, drain));
    match &row.what {
        What::Call(call) => format!("{step:>6}  {thread:<9} {call}"),
        What::Answer(answer) => format!("{step:>6}  {thread:<9} {answer}"),
        What::Act { text, times, place } => {
            let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
            let what = format!("{text}{times}");
            let place = place.as_ref().map(place_words).unwrap_or_default();
            format!("{step:>6}  {thread:<9}   {what:<ACT_COLUMNS$}  {place}")
        }
        What::Stopped(call) => {
            format!("        ────────── {thread} is stopped inside of {call} ──────────")
        }
    }
}

/// "stack.hpp:31  head = next;".
fn place_words(place: &Place) -> String {
    let file = place.file.file_name().unwrap_or_default().to_string_lossy();
    let told = place.told();
    let text: String = told.text.chars().take(TEXT_MAX).collect();
    let within = place.within.as_ref().map_or(String::new(), |within| {
        let file = within.file.file_name().unwrap_or_default().to_string_lossy();
        format!(" in {file}:{}", within.line)
    });
    format!("{file}:{}{within}  {text}", place.line)
}
