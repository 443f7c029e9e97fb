//! Draws the interleaving of a finding as a table in text.

use std::collections::{HashMap, HashSet};

use crate::core::history::client_name;
use crate::finding::interleaving::{Action, Interleaving, Place, Row, RowKind, in_short};
use crate::report::words::{self, STOPPED_INSIDE};

/// Columns of an action; a longer one shifts its source line.
const ACT_COLUMNS: usize = 44;
/// Most characters of a source line.
const TEXT_MAX: usize = 100;
/// Most rows of a report; `interlap explain` shows the rest.
pub const ROWS_MAX: usize = 40;

/// Draws the rows that matter, or `all` rows, in at most `rows_max` lines and as many more as rows
/// that decide need. `drain` is the number of the thread that drains.
pub fn draw(table: &Interleaving, drain: Option<u32>, all: bool, rows_max: usize) -> String {
    let rows = if all { table.rows.clone() } else { in_short(&table.rows) };
    let mut text = String::new();
    if table.cut {
        text.push_str("  (what came in the middle is not known: too many steps)\n");
    }
    let names = Names::new(table, drain);
    for line in lines(&rows, rows_max) {
        let words = match line {
            Line::Row(row) => row_line(row, &names),
            Line::LeftOut(rows) => format!("        ({rows} rows left out)"),
        };
        text.push_str(words.trim_end());
        text.push('\n');
    }
    text
}

#[derive(Clone, Copy)]
enum Line<'a> {
    Row(&'a Row),
    /// The number of rows that are not shown.
    LeftOut(usize),
}

/// The most important rows in their order, and where others are left out.
fn lines(rows: &[Row], rows_max: usize) -> Vec<Line<'_>> {
    let mut by_rank: Vec<(Rank, usize)> = ranks(rows).into_iter().zip(0..).collect();
    by_rank.sort();
    let with = |count: usize| {
        let mut is_shown = vec![false; rows.len()];
        by_rank[..count].iter().for_each(|(_, at)| is_shown[*at] = true);
        shown(rows, &is_shown)
    };
    let (mut fits, mut too_many) =
        (by_rank.partition_point(|(rank, _)| rank.decides()), rows.len());
    if with(rows.len()).len() <= rows_max {
        return with(rows.len());
    }
    while fits + 1 < too_many {
        let middle = fits.midpoint(too_many);
        match with(middle).len() <= rows_max {
            true => fits = middle,
            false => too_many = middle,
        }
    }
    with(fits)
}

/// How important a row is, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It decides, is the call that does what decides, or the last row, which may be the fault.
    Decides,
    /// A call that waits for others, or wakes them.
    Waits,
    /// Whether it is no news, how far it is from the nearer end of its turn, and from the end of
    /// the table. A turn is what a thread does until another one runs, or until a call begins or
    /// ends.
    Other { is_known: bool, inside: usize, from_end: usize },
    /// A preemption shows with what comes after it.
    Stop,
}

impl Rank {
    fn decides(self) -> bool {
        self == Rank::Decides
    }
}

fn ranks(rows: &[Row]) -> Vec<Rank> {
    let is_act = |row: &Row| matches!(row.what, RowKind::Act { .. });
    let is_same_turn =
        |one: &Row, next: &Row| is_act(one) && is_act(next) && one.thread == next.thread;
    let mut ranks: Vec<Rank> = Vec::with_capacity(rows.len());
    // The latest call of each thread.
    let mut calls: HashMap<u32, usize> = HashMap::new();
    for turn in rows.chunk_by(is_same_turn) {
        for (at, row) in turn.iter().enumerate() {
            let from_end = rows.len() - 1 - ranks.len();
            let inside = at.min(turn.len() - 1 - at);
            if let RowKind::Call(_) = row.what {
                calls.insert(row.thread, ranks.len());
            }
            if row.decides {
                calls.get(&row.thread).into_iter().for_each(|call| ranks[*call] = Rank::Decides);
            }
            ranks.push(match &row.what {
                RowKind::Stopped(_) => Rank::Stop,
                RowKind::Repeats(_) => Rank::Decides,
                _ if row.decides || from_end == 0 => Rank::Decides,
                _ if row.action().is_some_and(Action::is_of_waiting) => Rank::Waits,
                _ => Rank::Other { is_known: !row.is_news, inside, from_end },
            });
        }
    }
    ranks
}

/// The shown rows, with a line in place of the others between them; a single one is shown instead.
/// A preemption is shown if its thread is shown before it, and who goes on is after it.
fn shown<'a>(rows: &'a [Row], is_shown: &[bool]) -> Vec<Line<'a>> {
    let (mut lines, mut left_out) = (Vec::new(), Vec::new());
    // The last preemption, and how many rows had been left out by then.
    let (mut stop, mut threads): (Option<(&Row, usize)>, _) = (None, HashSet::new());
    let summary = |rows: &mut Vec<&'a Row>| match std::mem::take(rows)[..] {
        [] => None,
        [row] => Some(Line::Row(row)),
        ref rows => Some(Line::LeftOut(rows.len())),
    };
    for (row, is_shown) in rows.iter().zip(is_shown) {
        if matches!(row.what, RowKind::Stopped(_)) {
            stop = Some((row, left_out.len()));
            continue;
        }
        if !is_shown {
            left_out.push(row);
            continue;
        }
        let is_loop = matches!(row.what, RowKind::Repeats(_));
        let tells = |&(stop, at): &(&Row, usize)| {
            let is_last =
                left_out[at..].iter().all(|left_out: &&Row| left_out.thread == row.thread);
            is_last && !is_loop && threads.contains(&stop.thread)
        };
        let stop = stop.take().filter(tells).map(|(stop, _)| Line::Row(stop));
        lines.extend(summary(&mut left_out));
        lines.extend(stop);
        threads.insert(row.thread);
        lines.push(Line::Row(row));
    }
    lines.extend(summary(&mut left_out));
    lines
}

/// Explains the signs in the rows of the table that matter, of which at most so many are shown, a
/// line each, followed by an empty line.
pub fn key(table: &Interleaving, rows_max: usize) -> String {
    let mut key = String::new();
    let rows = in_short(&table.rows);
    let is_named = |line: &Line| matches!(line, Line::Row(row) if row.names_block());
    if lines(&rows, rows_max).iter().any(is_named) {
        key += "  (#2 is the second block of memory that was allocated)\n";
    }
    for row in &table.rows {
        if let Some(Action::Starts { thread }) = row.action() {
            let place = row.place().map(words::source).unwrap_or_else(|| "its code".to_string());
            key += &format!("  (thread {thread} is the target's own, started in {place})\n");
        }
    }
    if table.has_delays() {
        key += "  (a store that others do not see yet is in its thread's store buffer, as on\n   \
                x86: it may stay there until a fence or a locked instruction)\n";
    }
    if table.has_old_reads() {
        key += "  (a thread sees another one's store once it has acquired something that was \
                released\n   after it, or if a seq_cst fence of each is in between: until then it \
                may read what\n   was there before, as on ARM and POWER)\n";
    }
    if key.is_empty() { key } else { key + "\n" }
}

/// Names the thread of a row: the one that drains also creates and destroys.
struct Names {
    drain: Option<u32>,
    /// The steps of the first invocation and the last response.
    calls: (u64, u64),
}

impl Names {
    fn new(table: &Interleaving, drain: Option<u32>) -> Names {
        let is_call = |row: &&Row| matches!(row.what, RowKind::Call(_) | RowKind::Answer(_));
        let mut calls = table.rows.iter().filter(is_call).map(|row| row.step);
        let first = calls.next().unwrap_or(0);
        Names { drain, calls: (first, calls.next_back().unwrap_or(first)) }
    }

    fn of(&self, row: &Row) -> String {
        let (first, last) = self.calls;
        let keeps = self.drain == Some(row.thread) && row.action().is_some();
        match row.step {
            step if keeps && step < first => "creates".to_string(),
            step if keeps && step > last => "destroys".to_string(),
            _ => client_name(row.thread, self.drain),
        }
    }
}

fn row_line(row: &Row, names: &Names) -> String {
    let (step, thread) = (row.step, names.of(row));
    match &row.what {
        RowKind::Call(_) | RowKind::Answer(_) => {
            format!("{step:>6}  {thread:<9} {}", words::row(row))
        }
        RowKind::Act { place, .. } => {
            let what = words::row(row);
            let place = place.as_ref().map(place_words).unwrap_or_default();
            format!("{step:>6}  {thread:<9}   {what:<ACT_COLUMNS$}  {place}")
        }
        RowKind::Repeats(_) => {
            format!("        ────────── {thread} {}: ──────────", words::row(row))
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
        table.rows[15].decides = true;
        let drawn = draw(&table, None, false, 9);
        assert_eq!(drawn.lines().count(), 9);
        assert!(drawn.contains("(14 rows left out)\n    15  thread 0    frees #15\n"), "{drawn}");
        assert!(drawn.contains("frees #15\n        (13 rows left out)\n    29"), "{drawn}");
        // However few rows there may be, it is there, and in which call; and the last row.
        let drawn = draw(&table, None, false, 1);
        let expected = "     \
     0  thread 0  get(2)
        (14 rows left out)
    15  thread 0    frees #15
        (16 rows left out)
        ────────── thread 0 is stopped inside of get(2) ──────────
    32  thread 1    frees #32
";
        assert_eq!(drawn.trim_start(), expected.trim_start());
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
        assert!(drawn.ends_with("(8 rows left out)\n   209  thread 1    frees #209\n"), "{drawn}");
    }

    #[test]
    fn preemptions_without_news_between_them_are_one() {
        let stop = |thread| row(9, thread, RowKind::Stopped(call(Op::RegisterWrite, &[1])));
        let rows = acts(1..3, 0).chain((0..51).map(|at| stop(at % 2))).chain(acts(60..61, 1));
        let table = Interleaving { rows: rows.collect(), cut: false };
        assert_eq!(draw(&table, None, false, 12).lines().count(), 4);
    }
}
