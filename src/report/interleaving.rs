//! The table of what a finding's threads did, in words: an interleaving comes in, text goes out.

use std::fmt::Write;

use crate::core::history::client_name;
use crate::finding::interleaving::{Interleaving, Place, Row, What, in_short};
use crate::report::words;

/// Columns for what was done; what is longer pushes the rest away.
const ACT_COLUMNS: usize = 44;
/// Characters of a source line.
const TEXT_MAX: usize = 100;
/// Rows of a report; the rest is told by `interlap explain`.
pub const ROWS_MAX: usize = 40;

/// The rows that matter in short, or `all` of them; at most `rows_max`: of more, news, of those
/// what was done first and last before something else began, and of those the last.
/// `drain` is the number of the thread that drains.
pub fn draw(table: &Interleaving, drain: Option<u32>, all: bool, rows_max: usize) -> String {
    let rows = if all { table.rows.clone() } else { in_short(&table.rows) };
    let mut told: Vec<&Row> = rows.iter().collect();
    if told.len() > rows_max {
        told = news(told);
    }
    let lines = shortened(&told, rows_max);
    let mut text = String::new();
    if table.cut {
        text.push_str("  (what came in the middle is not known: too many steps)\n");
    }
    let before = lines.len().saturating_sub(rows_max);
    if before > 0 {
        writeln!(text, "  ... {before} before").expect("writing to a string");
    }
    for told in &lines[before..] {
        let words = match told {
            Line::Row(row) => line(row, drain),
            Line::LeftOut(rows) => format!("        ({rows} rows left out)"),
        };
        text.push_str(words.trim_end());
        text.push('\n');
    }
    text
}

/// Those that are more than a look at what was seen before. Between some of those that are not,
/// threads may have been stopped any number of times.
fn news(rows: Vec<&Row>) -> Vec<&Row> {
    let news: Vec<&Row> = rows.into_iter().filter(|row| row.is_news).collect();
    let is_stop = |at: usize| news.get(at).is_none_or(|row| matches!(row.what, What::Stopped(_)));
    let idle = |at: usize| is_stop(at) && is_stop(at + 1);
    (0..news.len()).filter(|at| !idle(*at)).map(|at| news[at]).collect()
}

enum Line<'a> {
    Row(&'a Row),
    /// So many rows are not shown.
    LeftOut(usize),
}

/// Of everything that a thread does in one go, as little of the middle is left out as will do.
fn shortened<'a>(rows: &[&'a Row], rows_max: usize) -> Vec<Line<'a>> {
    let is_act = |row: &Row| matches!(row.what, What::Act { .. });
    let goes_on =
        |one: &&Row, next: &&Row| is_act(one) && is_act(next) && one.thread == next.thread;
    let goes: Vec<&[&Row]> = rows.chunk_by(goes_on).collect();
    let last = goes.len().saturating_sub(1);
    let with = |ends: usize| {
        let goes = goes.iter().enumerate();
        joined(goes.flat_map(|(at, go)| ends_of(go, ends, at == last)))
    };
    let longest = goes.iter().map(|go| go.len()).max().unwrap_or(0);
    if rows.len() <= rows_max {
        return with(longest);
    }
    // Longer ends never make it shorter.
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

/// What is left out of several goes in a row is told once.
fn joined<'a>(lines: impl Iterator<Item = Line<'a>>) -> Vec<Line<'a>> {
    let mut told = Vec::new();
    for line in lines {
        match (told.last_mut(), line) {
            (Some(Line::LeftOut(before)), Line::LeftOut(more)) => *before += more,
            (_, line) => told.push(line),
        }
    }
    told
}

/// The first and the last so many of these, and those in between that cross what others do; of
/// those that end the table the very last anyway, which may be the fault.
fn ends_of<'a>(go: &[&'a Row], ends: usize, is_last: bool) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let last = ends.max(usize::from(is_last));
    let is_end = |at: usize| at < ends || at + last >= go.len();
    let mut left_out = Vec::new();
    for (at, &row) in go.iter().enumerate() {
        if is_end(at) || row.crosses || !matches!(row.what, What::Act { .. }) {
            lines.extend(put_down(&mut left_out));
            lines.push(Line::Row(row));
        } else {
            left_out.push(row);
        }
    }
    lines.extend(put_down(&mut left_out));
    lines
}

/// A line for rows that are left out, or the only one itself.
fn put_down<'a>(rows: &mut Vec<&'a Row>) -> Option<Line<'a>> {
    let rows = std::mem::take(rows);
    match rows[..] {
        [] => None,
        [row] => Some(Line::Row(row)),
        _ => Some(Line::LeftOut(rows.len())),
    }
}

/// What the signs and words mean that the table has, a line each, and an empty one.
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

fn line(row: &Row, drain: Option<u32>) -> String {
    let (step, thread) = (row.step, client_name(row.thread, drain));
    match &row.what {
        What::Call(_) | What::Answer(_) => {
            format!("{step:>6}  {thread:<9} {}", words::row(row))
        }
        What::Act { place, .. } => {
            let what = words::row(row);
            let place = place.as_ref().map(place_words).unwrap_or_default();
            format!("{step:>6}  {thread:<9}   {what:<ACT_COLUMNS$}  {place}")
        }
        What::Stopped(call) => {
            let call = words::call(call);
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
    let from = place.from.map_or(String::new(), |line| format!(" from :{line}"));
    format!("{file}:{}{within}{from}  {text}", place.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;
    use crate::finding::interleaving::{Action, Call, Container, Memory};

    fn row(step: u64, thread: u32, what: What) -> Row {
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
        let act = move |step| What::Act { did: did(step), times: 1, place: None };
        steps.map(move |step| row(step, thread, act(step)))
    }

    /// What was done right before a thread was stopped, and right behind, is what is to be seen.
    #[test]
    fn long_tables_lose_the_middle_of_what_threads_did() {
        let begins = |step, thread, call: Call| [row(step, thread, What::Call(call))];
        let rows = begins(0, 0, call(Op::MapGet, &[2]))
            .into_iter()
            .chain(acts(1..30, 0))
            .chain([row(30, 0, What::Stopped(call(Op::MapGet, &[2])))])
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

    /// How a vector or a map works is nobody's question.
    #[test]
    fn what_a_container_does_inside_of_itself_is_one_row() {
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
        let told = |all| {
            let drawn = draw(&table, None, all, 40);
            drawn.lines().map(|line| line[20..].trim().to_string()).collect::<Vec<_>>()
        };
        // What is done in two goes stays two rows.
        let expected = [
            "cells is changed",
            "frees #2",
            "#3 is read",
            "frees #3",
            "frees #1",
            "frees #4",
            "frees #1",
        ];
        assert_eq!(told(false), expected);
        assert_eq!(told(true).len(), 9);
    }

    #[test]
    fn lines_of_our_own_header_are_left_to_all() {
        let at = |file: &str| {
            let (function, text) = ("put".to_string(), "code();".to_string());
            let (file, line, within, from) = (file.into(), 7, None, None);
            let place = Some(Place { function, file, line, text, within, from });
            row(1, 0, What::Act { did: Action::Releases { at: member("lock") }, times: 1, place })
        };
        let rows = vec![at("/cache/ffi/interlap.hpp"), at("/lib/stack.hpp")];
        let table = Interleaving { rows, cut: false };
        let drawn = |all| draw(&table, None, all, 9);
        assert!(drawn(false).contains("lock\n") && drawn(false).contains("stack.hpp:7  code();"));
        assert!(drawn(true).contains("interlap.hpp:7  code();"));
    }

    /// The last row of a fault is the fault.
    #[test]
    fn the_end_of_a_long_table_is_always_told() {
        let begins = |step, thread| [row(step, thread, What::Call(call(Op::MapGet, &[1])))];
        let rows = (0..20).flat_map(|at| begins(at * 5, 0).into_iter().chain(acts(1..4, 0)));
        let table = Interleaving { rows: rows.chain(acts(200..210, 1)).collect(), cut: false };
        let drawn = draw(&table, None, false, 40);
        assert!(drawn.ends_with("(12 rows left out)\n   209  thread 1    frees #209\n"), "{drawn}");
    }

    /// Of threads that wait for each other in turns, it is enough to be told once.
    #[test]
    fn stops_without_anything_new_in_between_are_one() {
        let stop = |thread| row(9, thread, What::Stopped(call(Op::RegisterWrite, &[1])));
        let rows = acts(1..3, 0).chain((0..50).map(|at| stop(at % 2))).chain(acts(60..61, 1));
        let table = Interleaving { rows: rows.collect(), cut: false };
        assert_eq!(draw(&table, None, false, 12).lines().count(), 4);
    }
}
