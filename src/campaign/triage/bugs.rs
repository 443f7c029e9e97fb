//! Which findings are most likely one bug: findings come in, sets of them go out. Signatures tell
//! apart what was seen; what threads did when it was seen tells where it comes from.
//!
//! Findings are one bug if they are of one target, break rules of one kind, and threads were
//! stopped inside of calls between the same lines: what others do between these is what should not
//! come there (Lu, Tucek, Qin, Zhou: AVIO: Detecting Atomicity Violations via Access Interleaving
//! Invariants, ASPLOS 2006). Lines of helpers say little where it is between them that a thread was
//! stopped: there, it must be the same operation, too. And a call that changes nothing when it goes
//! on may be right, and what it looks at wrong: there, others must have changed memory at the same
//! lines meanwhile. When in doubt, they are two.

use std::collections::BTreeSet;
use std::path::Path;

use crate::finding::interleaving::{Place, Row, What as Done};
use crate::finding::{Stored, What};

/// Rules that one bug breaks in turn: what goes in comes out once, and what is appended stays.
const KINDS: [&[&str]; 2] = [
    &["from-nowhere", "lost", "taken-twice"],
    &[
        "appended-twice",
        "from-nowhere",
        "lost-append",
        "lost-put",
        "misplaced-append",
        "not-linearizable",
    ],
];

/// Sets of findings, by their places, each in the order in which they come in.
pub fn of(findings: &[&Stored]) -> Vec<Vec<usize>> {
    let signs: Vec<Option<Sign>> = findings.iter().map(|stored| Sign::of(stored)).collect();
    let mut bugs: Vec<Vec<usize>> = Vec::new();
    for (at, sign) in signs.iter().enumerate() {
        let is_of = |bug: &Vec<usize>| match (&signs[bug[0]], sign) {
            (Some(one), Some(other)) => one.is_of_same_bug(other),
            _ => false,
        };
        match bugs.iter().position(is_of) {
            Some(bug) => bugs[bug].push(at),
            None => bugs.push(vec![at]),
        }
    }
    bugs
}

/// Of each finding the number of its bug, from 1.
pub fn numbers(bugs: &[Vec<usize>]) -> Vec<usize> {
    let mut numbers = vec![0; bugs.iter().map(Vec::len).sum()];
    for (number, bug) in (1..).zip(bugs) {
        bug.iter().for_each(|at| numbers[*at] = number);
    }
    numbers
}

/// What a bug is known by.
struct Sign<'a> {
    target: &'a str,
    model: &'a str,
    /// What it was taken for: a new finding never hides behind a known one.
    known: Option<&'a str>,
    rule: &'a str,
    stops: BTreeSet<Stop<'a>>,
    /// Stores that others saw late.
    delayed: BTreeSet<Line<'a>>,
}

impl<'a> Sign<'a> {
    /// None of a fault, whose signature has its lines, and where it is not known what threads did.
    fn of(stored: &'a Stored) -> Option<Sign<'a>> {
        let (finding, table) = (&stored.finding, stored.interleaving.as_ref()?);
        let What::Violation { rule, .. } = &finding.what else { return None };
        let stops = stops(&table.rows);
        let delayed = table.rows.iter().filter(|row| row.matters && row.delayed);
        let delayed = delayed.filter_map(Row::place).map(line).collect();
        let known = finding.known.as_ref().map(|known| &*known.name);
        let (target, model) = (finding.plan.target_name(), &*finding.model);
        // Tables of earlier versions do not say what changes memory.
        let is_whole = !table.cut && table.rows.iter().any(|row| row.changes);
        let is_sure = finding.confirmed == Some(true) && is_whole && !stops.is_empty();
        is_sure.then_some(Sign { target, model, known, rule, stops, delayed })
    }

    fn is_of_same_bug(&self, other: &Sign) -> bool {
        let of = |sign: &Sign<'a>| (sign.target, sign.model, sign.known);
        let same = of(self) == (other.target, other.model, other.known);
        let kind = |kind: &&[&str]| kind.contains(&self.rule) && kind.contains(&other.rule);
        let alike = self.rule == other.rule || KINDS.iter().any(kind);
        same && alike && self.stops == other.stops && self.delayed == other.delayed
    }
}

/// A line of the sources; of a wrapper also the one that it was inlined into.
type Line<'a> = (&'a Path, u32, Option<(&'a Path, u32)>);

/// Where a thread was stopped inside of a call.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stop<'a> {
    before: Line<'a>,
    behind: Line<'a>,
    /// The operation, unless both lines are of one function, one behind the other: whoever calls
    /// that is stopped in it.
    operation: Option<&'a str>,
    /// Where others changed memory until it went on, if the call itself changes none from there.
    meanwhile: BTreeSet<Line<'a>>,
}

/// The stops inside of calls, each with something that matters before and behind.
fn stops(rows: &[Row]) -> BTreeSet<Stop<'_>> {
    let stopped = (0..rows.len()).filter(|at| matches!(rows[*at].what, Done::Stopped(_)));
    stopped.filter_map(|at| stop(rows, at)).collect()
}

fn stop(rows: &[Row], at: usize) -> Option<Stop<'_>> {
    let thread = rows[at].thread;
    let of_thread = |row: &&Row| row.thread == thread && row.matters;
    let is_inside = |row: &&Row| !matches!(row.what, Done::Call(_) | Done::Answer(_));
    let earlier = rows[..at].iter().rev().filter(of_thread).take_while(is_inside);
    let later = || rows[at + 1..].iter().filter(of_thread).take_while(is_inside);
    let before = earlier.filter_map(Row::place).next()?;
    let behind = later().find_map(Row::place)?;
    let Done::Stopped(call) = &rows[at].what else { return None };
    let operation = Some(call.op.name()).filter(|_| !is_of_one_function(before, behind));
    let goes_on = rows[at + 1..].iter().position(|row| row.thread == thread && row.matters)?;
    let others = rows[at + 1..at + 1 + goes_on].iter().filter(|row| row.matters && row.changes);
    let meanwhile = match later().any(|row| row.changes) {
        true => BTreeSet::new(),
        false => others.filter_map(Row::place).map(line).collect(),
    };
    Some(Stop { before: line(before), behind: line(behind), operation, meanwhile })
}

/// Whether the second place lies behind the first in its function.
fn is_of_one_function(before: &Place, behind: &Place) -> bool {
    let is_same = before.function == behind.function && before.file == behind.file;
    is_same && !before.function.is_empty() && before.line < behind.line
}

fn line(place: &Place) -> Line<'_> {
    let within = place.within().map(|within| (&*within.file, within.line));
    (&place.file, place.line, within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::{Op, Status};
    use crate::finding::interleaving::{Action, Answer, Call};

    fn of(op: Op) -> Call {
        Call { op, args: Vec::new() }
    }

    fn row(thread: u32, what: Done, changes: bool) -> Row {
        Row { changes, ..Row::new(1, thread, what) }
    }

    fn act(thread: u32, line: u32, changes: bool) -> Row {
        act_of("f", thread, line, changes)
    }

    fn act_of(function: &str, thread: u32, line: u32, changes: bool) -> Row {
        let (function, text) = (function.to_string(), String::new());
        let place = Place { function, file: "a.hpp".into(), line, text, within: None, from: None };
        row(thread, Done::Act { did: Action::Fence, times: 1, place: Some(place) }, changes)
    }

    fn call(thread: u32) -> Row {
        row(thread, Done::Call(of(Op::SetSize)), false)
    }

    fn stopped(thread: u32) -> Row {
        row(thread, Done::Stopped(of(Op::SetSize)), false)
    }

    fn answer(thread: u32) -> Row {
        row(
            thread,
            Done::Answer(Answer { call: of(Op::SetSize), status: Status::Ok, results: vec![0] }),
            false,
        )
    }

    fn lines(rows: &[Row]) -> Vec<(u32, u32, Vec<u32>)> {
        let meanwhile = |stop: &Stop| stop.meanwhile.iter().map(|line| line.1).collect();
        stops(rows).iter().map(|stop| (stop.before.1, stop.behind.1, meanwhile(stop))).collect()
    }

    #[test]
    fn a_stop_lies_between_two_lines_of_its_call() {
        let others = [call(1), act(1, 30, false), act(1, 31, true), answer(1)];
        let round = |behind: &[Row]| {
            let before = [call(0), act(0, 9, false), act(0, 10, false), stopped(0)];
            [&before[..], &others, behind, &[answer(0), act(0, 99, true)]].concat()
        };
        // It relies on what is gone by now.
        assert_eq!(lines(&round(&[act(0, 11, false), act(0, 12, true)])), [(10, 11, vec![])]);
        // It only looks: what it saw is the others' making.
        assert_eq!(lines(&round(&[act(0, 11, false)])), [(10, 11, vec![31])]);
        // Where nothing that matters comes before or behind, it is not inside.
        assert_eq!(lines(&round(&[])), []);
        let first = [&[call(0), stopped(0)][..], &others, &[act(0, 11, true)]].concat();
        assert_eq!(lines(&first), []);
    }

    /// Who reads by one helper and writes by another is stopped between the same lines as all that
    /// do so; who is stopped inside of a helper, in that.
    #[test]
    fn between_helpers_it_matters_what_is_called() {
        let round = |op: Op, behind: Row| {
            let stopped = row(0, Done::Stopped(of(op)), false);
            [call(0), act_of("find", 0, 14, false), stopped, behind]
        };
        let same = |behind: Row| {
            stops(&round(Op::SetInsert, behind.clone())) == stops(&round(Op::SetRemove, behind))
        };
        assert!(same(act_of("find", 0, 15, true)));
        assert!(!same(act_of("store", 0, 16, true)) && !same(act_of("find", 0, 14, true)));
    }

    #[test]
    fn bugs_are_numbered() {
        assert_eq!(numbers(&[vec![0, 2], vec![1]]), [1, 2, 1]);
    }
}
