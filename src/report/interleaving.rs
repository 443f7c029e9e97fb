//! Draws the interleaving of a finding as a table in text.

use std::fmt::Write;

use crate::core::history::client_name;
use crate::finding::interleaving::{Interleaving, Place, Row, RowKind, in_short};
use crate::report::words::{self, STOPPED_INSIDE};

/// Columns of an action; a longer one shifts its source line.
const ACT_COLUMNS: usize = 44;
/// Most characters of a source line.
const TEXT_MAX: usize = 100;
/// Most rows of a report; `interlap explain` shows the rest.
pub const ROWS_MAX: usize = 40;

/// Draws the rows that matter, or `all` rows, in at most `rows_max` lines. Of more rows it keeps
/// those that are news, of these the first and last of each thread's turn, and of these the last.
/// `drain` is the number of the thread that drains.
pub fn draw(table: &Interleaving, drain: Option<u32>, all: bool, rows_max: usize) -> String {
    let rows = if all { table.rows.clone() } else { in_short(&table.rows) };
    let mut kept: Vec<&Row> = rows.iter().collect();
    if kept.len() > rows_max {
        kept = news(kept);
    }
    let lines = shortened(&kept, rows_max);
    let mut text = String::new();
    if table.cut {
        text.push_str("  (what came in the middle is not known: too many steps)\n");
    }
    let before = lines.len().saturating_sub(rows_max);
    if before > 0 {
        writeln!(text, "  ... {before} before").expect("writing to a string");
    }
    for line in &lines[before..] {
        let words = match line {
            Line::Row(row) => row_line(row, drain),
            Line::LeftOut(rows) => format!("        ({rows} rows left out)"),
        };
        text.push_str(words.trim_end());
        text.push('\n');
    }
    text
}

/// The rows that are news. Preemptions with nothing new between them become one.
fn news(rows: Vec<&Row>) -> Vec<&Row> {
    let news: Vec<&Row> = rows.into_iter().filter(|row| row.is_news).collect();
    let is_stop =
        |at: usize| news.get(at).is_none_or(|row| matches!(row.what, RowKind::Stopped(_)));
    let idle = |at: usize| is_stop(at) && is_stop(at + 1);
    (0..news.len()).filter(|at| !idle(*at)).map(|at| news[at]).collect()
}

enum Line<'a> {
    Row(&'a Row),
    /// The number of rows that are not shown.
    LeftOut(usize),
}

/// Leaves out as little of the middle of each turn as fits into `rows_max` lines. A turn is what a
/// thread does until another one runs, or until a call begins or ends.
fn shortened<'a>(rows: &[&'a Row], rows_max: usize) -> Vec<Line<'a>> {
    let is_act = |row: &Row| matches!(row.what, RowKind::Act { .. });
    let is_same_turn =
        |one: &&Row, next: &&Row| is_act(one) && is_act(next) && one.thread == next.thread;
    let turns: Vec<&[&Row]> = rows.chunk_by(is_same_turn).collect();
    let last = turns.len().saturating_sub(1);
    let with = |ends: usize| {
        let turns = turns.iter().enumerate();
        joined(turns.flat_map(|(at, turn)| ends_of(turn, ends, at == last)))
    };
    let longest = turns.iter().map(|turn| turn.len()).max().unwrap_or(0);
    if rows.len() <= rows_max {
        return with(longest);
    }
    // Binary search: longer ends never give fewer lines.
    let (mut fits, mut longer) = (0, longest.div_ceil(2));
    while fits + 1 < longer {
        let middle = fits.midpoint(longer);
        match with(middle).len() <= rows_max {
            true => fits = middle,
            false => longer = middle,
        }
    }
    with(fits)
}

/// Joins neighbouring lines of rows that are left out.
fn joined<'a>(lines: impl Iterator<Item = Line<'a>>) -> Vec<Line<'a>> {
    let mut joined = Vec::new();
    for line in lines {
        match (joined.last_mut(), line) {
            (Some(Line::LeftOut(before)), Line::LeftOut(more)) => *before += more,
            (_, line) => joined.push(line),
        }
    }
    joined
}

/// The first and last `ends` rows of a turn, and those between them that cross another thread's
/// actions. The last turn of the table keeps its last row anyway, which may be the fault.
fn ends_of<'a>(turn: &[&'a Row], ends: usize, is_last: bool) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let last = ends.max(usize::from(is_last));
    let is_end = |at: usize| at < ends || at + last >= turn.len();
    let mut left_out = Vec::new();
    for (at, &row) in turn.iter().enumerate() {
        if is_end(at) || row.crosses || !matches!(row.what, RowKind::Act { .. }) {
            lines.extend(summarize(&mut left_out));
            lines.push(Line::Row(row));
        } else {
            left_out.push(row);
        }
    }
    lines.extend(summarize(&mut left_out));
    lines
}

/// A line for the rows that are left out; a single row is shown instead.
fn summarize<'a>(rows: &mut Vec<&'a Row>) -> Option<Line<'a>> {
    let rows = std::mem::take(rows);
    match rows[..] {
        [] => None,
        [row] => Some(Line::Row(row)),
        _ => Some(Line::LeftOut(rows.len())),
    }
}

/// Explains the signs in the table, a line each, followed by an empty line.
pub fn key(table: &Interleaving) -> String {
    let mut key = String::new();
    if table.names_blocks() {
        key += "  (#2 is the second block of memory that was allocated)\n";
    }
    if table.has_delays() {
        key += "  (a store that others do not see yet is in its thread's store buffer, as on\n   \
                x86: it may stay there until a fence or a locked instruction)\n";
    }
    if key.is_empty() { key } else { key + "\n" }
}

fn row_line(row: &Row, drain: Option<u32>) -> String {
    let (step, thread) = (row.step, client_name(row.thread, drain));
    match &row.what {
        RowKind::Call(_) | RowKind::Answer(_) => {
            format!("{step:>6}  {thread:<9} {}", words::row(row))
        }
        RowKind::Act { place, .. } => {
            let what = words::row(row);
            let place = place.as_ref().map(place_words).unwrap_or_default();
            format!("{step:>6}  {thread:<9}   {what:<ACT_COLUMNS$}  {place}")
        }
        RowKind::Stopped(call) => {
            let call = words::call(call);
            format!("        ────────── {thread} {STOPPED_INSIDE} {call} ──────────")
        }
    }
}

/// "stack.hpp:31  head = next;".
fn place_words(place: &Place) -> String {
    let file = place.file.file_name().unwrap_or_default().to_string_lossy();
    let text: String = place.in_library().text.chars().take(TEXT_MAX).collect();
    let within = place.within.as_ref().map_or(String::new(), |within| {
        let file = within.file.file_name().unwrap_or_default().to_string_lossy();
        format!(" in {file}:{}", within.line)
    });
    let from = place.from.map_or(String::new(), |line| format!(" from :{line}"));
    format!("{file}:{}{within}{from}  {text}", place.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;
    use crate::finding::interleaving::{Action, Call, Container, Memory};

    fn row(step: u64, thread: u32, what: RowKind) -> Row {
        Row::new(step, thread, what)
    }

    fn call(op: Op, args: &[i64]) -> Call {
        Call { op, args: args.to_vec() }
    }

    /// Of the structure under test.
    fn member(path: &str) -> Memory {
        Memory::Member { block: None, index: None, path: path.to_string() }
    }

    fn acts(steps: std::ops::Range<u64>, thread: u32) -> impl Iterator<Item = Row> {
        let block = |step| Memory::Block { number: step as usize, offset: 0 };
        let did = move |step| Action::Frees { block: block(step) };
        let act = move |step| RowKind::Act { did: did(step), times: 1, place: None };
        steps.map(move |step| row(step, thread, act(step)))
    }

    #[test]
    fn long_tables_lose_the_middle_of_turns() {
        let begins = |step, thread, call: Call| [row(step, thread, RowKind::Call(call))];
        let rows = begins(0, 0, call(Op::MapGet, &[2]))
            .into_iter()
            .chain(acts(1..30, 0))
            .chain([row(30, 0, RowKind::Stopped(call(Op::MapGet, &[2])))])
            .chain(begins(30, 1, call(Op::MapPut, &[2, 3])))
            .chain(acts(31..33, 1));
        let table = Interleaving { rows: rows.collect(), cut: false };
        let drawn = draw(&table, None, false, 12);
        let expected = "     \
     0  thread 0  get(2)
     1  thread 0    frees #1
     2  thread 0    frees #2
     3  thread 0    frees #3
        (23 rows left out)
    27  thread 0    frees #27
    28  thread 0    frees #28
    29  thread 0    frees #29
        ────────── thread 0 is stopped inside of get(2) ──────────
    30  thread 1  put(2, 3)
    31  thread 1    frees #31
    32  thread 1    frees #32
";
        assert_eq!(drawn.trim_start(), expected.trim_start());
        assert_eq!(draw(&table, None, false, 100).lines().count(), 34);
        let mut table = table;
        table.rows[15].crosses = true;
        let drawn = draw(&table, None, false, 9);
        assert!(drawn.contains("(14 rows left out)\n    15  thread 0    frees #15\n"), "{drawn}");
        assert!(drawn.contains("frees #15\n        (14 rows left out)\n"), "{drawn}");
        assert!(draw(&table, None, false, 5).starts_with("  ... 3 before\n"), "{drawn}");
    }

    #[test]
    fn accesses_inside_a_container_are_one_row() {
        let of = |name: Memory, changes| Row {
            container: Some(Container { name, changes }),
            ..acts(1..2, 0).next().expect("one")
        };
        let block = |number| Memory::Block { number, offset: 0 };
        let rows = [
            of(member("cells"), false),
            of(block(3), true),
            acts(2..3, 0).next().expect("one"),
            of(block(3), false),
            of(block(4), false),
            acts(3..4, 0).next().expect("one"),
            of(member("cells"), false),
            acts(4..5, 1).next().expect("one"),
            of(member("cells"), true),
        ];
        let table = Interleaving { rows: rows.to_vec(), cut: false };
        let words = |all| {
            let drawn = draw(&table, None, all, 40);
            drawn.lines().map(|line| line[20..].trim().to_string()).collect::<Vec<_>>()
        };
        // Two turns stay two rows.
        let expected = [
            "cells is changed",
            "frees #2",
            "#3 is read",
            "frees #3",
            "frees #1",
            "frees #4",
            "frees #1",
        ];
        assert_eq!(words(false), expected);
        assert_eq!(words(true).len(), 9);
    }

    #[test]
    fn only_all_shows_lines_of_interlaps_own_header() {
        let at = |file: &str| {
            let (function, text) = ("put".to_string(), "code();".to_string());
            let (file, line, within, from) = (file.into(), 7, None, None);
            let place = Some(Place { function, file, line, text, within, from });
            row(
                1,
                0,
                RowKind::Act { did: Action::Releases { at: member("lock") }, times: 1, place },
            )
        };
        let rows = vec![at("/cache/ffi/interlap.hpp"), at("/lib/stack.hpp")];
        let table = Interleaving { rows, cut: false };
        let drawn = |all| draw(&table, None, all, 9);
        assert!(drawn(false).contains("lock\n") && drawn(false).contains("stack.hpp:7  code();"));
        assert!(drawn(true).contains("interlap.hpp:7  code();"));
    }

    #[test]
    fn the_last_row_of_a_long_table_is_always_shown() {
        let begins = |step, thread| [row(step, thread, RowKind::Call(call(Op::MapGet, &[1])))];
        let rows = (0..20).flat_map(|at| begins(at * 5, 0).into_iter().chain(acts(1..4, 0)));
        let table = Interleaving { rows: rows.chain(acts(200..210, 1)).collect(), cut: false };
        let drawn = draw(&table, None, false, 40);
        assert!(drawn.ends_with("(12 rows left out)\n   209  thread 1    frees #209\n"), "{drawn}");
    }

    #[test]
    fn preemptions_without_news_between_them_are_one() {
        let stop = |thread| row(9, thread, RowKind::Stopped(call(Op::RegisterWrite, &[1])));
        let rows = acts(1..3, 0).chain((0..50).map(|at| stop(at % 2))).chain(acts(60..61, 1));
        let table = Interleaving { rows: rows.collect(), cut: false };
        assert_eq!(draw(&table, None, false, 12).lines().count(), 4);
    }
}
