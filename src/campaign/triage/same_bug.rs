//! Groups the findings that are most likely one bug, by where threads were preempted.
//! Signatures distinguish symptoms; the interleaving points to the cause.
//!
//! Findings are one bug if they are of one target, break rules of one kind, and threads were
//! preempted inside calls between the same source lines: these should be atomic, and other threads
//! interfered between them (Lu, Tucek, Qin, Zhou: AVIO: Detecting Atomicity Violations via Access
//! Interleaving Invariants, ASPLOS 2006). Two more conditions:
//! - If the two lines are in different functions, helpers that many operations share, the operation
//!   must be the same as well.
//! - If the call changes no memory after the preemption, it may be correct and the memory that it
//!   reads wrong. So other threads must have changed memory at the same lines meanwhile.
//!
//! A data race is one bug with other faults at its lines, and with what else went wrong in a round
//! with it.
//!
//! When in doubt, findings are different bugs.

use std::collections::BTreeSet;
use std::path::Path;

use crate::finding::interleaving::{Place, Row, RowKind};
use crate::finding::{Failure, Finding, Stored};

/// Rules of one kind, any of which one bug may break: for values of a container, and for appends.
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

/// For each bug the indices of its findings, in order.
pub fn group(findings: &[&Stored]) -> Vec<Vec<usize>> {
    let causes: Vec<Option<Cause>> =
        findings.iter().map(|stored| Cause::from_finding(stored)).collect();
    let mut bugs: Vec<Vec<usize>> = Vec::new();
    for (at, cause) in causes.iter().enumerate() {
        let is_of = |bug: &Vec<usize>| match (&causes[bug[0]], cause) {
            _ if is_same_race(findings[bug[0]], findings[at]) => true,
            (Some(one), Some(other)) => one.is_same_bug(other),
            _ => false,
        };
        match bugs.iter().position(is_of) {
            Some(bug) => bugs[bug].push(at),
            None => bugs.push(vec![at]),
        }
    }
    bugs
}

/// Whether one is a data race, and the other at one of its lines or in a round with it.
fn is_same_race(one: &Stored, other: &Stored) -> bool {
    let (one, other) = (&one.finding, &other.finding);
    let same = one.plan.target_name() == other.plan.target_name() && one.known == other.known;
    let has = |one: &Finding, race: &Finding| one.races.contains(&race.signature);
    let is_race = one.signature.is_data_race() || other.signature.is_data_race();
    let share = || {
        let lines = other.signature.lines();
        one.signature.lines().iter().any(|line| lines.contains(line))
    };
    same && (has(one, other) || has(other, one) || is_race && share())
}

/// For each finding the number of its bug, from 1.
pub fn numbers(bugs: &[Vec<usize>]) -> Vec<usize> {
    let mut numbers = vec![0; bugs.iter().map(Vec::len).sum()];
    for (number, bug) in (1..).zip(bugs) {
        bug.iter().for_each(|at| numbers[*at] = number);
    }
    numbers
}

/// The properties of a finding that identify its bug.
struct Cause<'a> {
    target: &'a str,
    model: &'a str,
    /// The known issue, if any: a new finding is never grouped with a known one.
    known: Option<&'a str>,
    rule: &'a str,
    preemptions: BTreeSet<Preemption<'a>>,
    /// Lines of stores that other threads saw late.
    delayed: BTreeSet<SourceLine<'a>>,
}

impl<'a> Cause<'a> {
    /// None for a fault, whose signature has its lines, and for a finding without a reliable
    /// interleaving.
    fn from_finding(stored: &'a Stored) -> Option<Cause<'a>> {
        let (finding, table) = (&stored.finding, stored.interleaving.as_ref()?);
        let Failure::Violation { rule, .. } = &finding.what else { return None };
        let preemptions = preemptions(&table.rows);
        let delayed = table.rows.iter().filter(|row| row.matters && row.delayed);
        let delayed = delayed.filter_map(Row::place).map(line).collect();
        let known = finding.known.as_ref().map(|known| &*known.name);
        let (target, model) = (finding.plan.target_name(), &*finding.model);
        // Tables of earlier versions lack the rows that change memory.
        let is_whole = !table.cut && table.rows.iter().any(|row| row.changes);
        let is_sure = finding.confirmed == Some(true) && is_whole && !preemptions.is_empty();
        is_sure.then_some(Cause { target, model, known, rule, preemptions, delayed })
    }

    fn is_same_bug(&self, other: &Cause) -> bool {
        let (one, two) = ((self.target, self.model), (other.target, other.model));
        let same = one == two && self.known == other.known;
        let kind = |kind: &&[&str]| kind.contains(&self.rule) && kind.contains(&other.rule);
        let alike = self.rule == other.rule || KINDS.iter().any(kind);
        same && alike && self.preemptions == other.preemptions && self.delayed == other.delayed
    }
}

/// A source line; for a wrapper also the line that it was inlined into.
type SourceLine<'a> = (&'a Path, u32, Option<(&'a Path, u32)>);

/// A preemption inside a call.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Preemption<'a> {
    before: SourceLine<'a>,
    behind: SourceLine<'a>,
    /// The operation, unless both lines are in one function in this order: then the function
    /// identifies the place, whoever calls it.
    operation: Option<&'a str>,
    /// The lines at which others changed memory until the thread resumed, if the call itself
    /// changes none afterwards.
    meanwhile: BTreeSet<SourceLine<'a>>,
}

/// The preemptions inside calls, with a step that matters before and after each.
fn preemptions(rows: &[Row]) -> BTreeSet<Preemption<'_>> {
    let stopped = (0..rows.len()).filter(|at| matches!(rows[*at].what, RowKind::Stopped(_)));
    stopped.filter_map(|at| preemption(rows, at)).collect()
}

fn preemption(rows: &[Row], at: usize) -> Option<Preemption<'_>> {
    let thread = rows[at].thread;
    let of_thread = |row: &&Row| row.thread == thread && row.matters;
    let is_inside = |row: &&Row| !matches!(row.what, RowKind::Call(_) | RowKind::Answer(_));
    let earlier = rows[..at].iter().rev().filter(of_thread).take_while(is_inside);
    let later = || rows[at + 1..].iter().filter(of_thread).take_while(is_inside);
    let before = earlier.filter_map(Row::place).next()?;
    let behind = later().find_map(Row::place)?;
    let RowKind::Stopped(call) = &rows[at].what else { return None };
    let operation = Some(call.op.name()).filter(|_| !is_of_one_function(before, behind));
    let goes_on = rows[at + 1..].iter().position(|row| row.thread == thread && row.matters)?;
    let others = rows[at + 1..at + 1 + goes_on].iter().filter(|row| row.matters && row.changes);
    let meanwhile = match later().any(|row| row.changes) {
        true => BTreeSet::new(),
        false => others.filter_map(Row::place).map(line).collect(),
    };
    Some(Preemption { before: line(before), behind: line(behind), operation, meanwhile })
}

/// Whether the second place is after the first in the same function.
fn is_of_one_function(before: &Place, behind: &Place) -> bool {
    let is_same = before.function == behind.function && before.file == behind.file;
    is_same && !before.function.is_empty() && before.line < behind.line
}

fn line(place: &Place) -> SourceLine<'_> {
    let within = place.within().map(|within| (&*within.file, within.line));
    (&place.file, place.line, within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::{Op, Status};
    use crate::finding::interleaving::{Action, Answer, Call};

    fn call_of(op: Op) -> Call {
        Call { op, args: Vec::new() }
    }

    fn row(thread: u32, what: RowKind, changes: bool) -> Row {
        Row { changes, ..Row::new(1, thread, what) }
    }

    fn act(thread: u32, line: u32, changes: bool) -> Row {
        act_of("f", thread, line, changes)
    }

    fn act_of(function: &str, thread: u32, line: u32, changes: bool) -> Row {
        let (function, text) = (function.to_string(), String::new());
        let place = Place { function, file: "a.hpp".into(), line, text, within: None, from: None };
        row(thread, RowKind::Act { did: Action::Fence, times: 1, place: Some(place) }, changes)
    }

    fn call(thread: u32) -> Row {
        row(thread, RowKind::Call(call_of(Op::SetSize)), false)
    }

    fn stopped(thread: u32) -> Row {
        row(thread, RowKind::Stopped(call_of(Op::SetSize)), false)
    }

    fn answer(thread: u32) -> Row {
        row(
            thread,
            RowKind::Answer(Answer {
                call: call_of(Op::SetSize),
                status: Status::Ok,
                results: vec![0],
                missing: None,
            }),
            false,
        )
    }

    fn lines(rows: &[Row]) -> Vec<(u32, u32, Vec<u32>)> {
        let meanwhile = |found: &Preemption| found.meanwhile.iter().map(|line| line.1).collect();
        preemptions(rows)
            .iter()
            .map(|found| (found.before.1, found.behind.1, meanwhile(found)))
            .collect()
    }

    #[test]
    fn a_preemption_is_between_two_lines_of_its_call() {
        let others = [call(1), act(1, 30, false), act(1, 31, true), answer(1)];
        let round = |behind: &[Row]| {
            let before = [call(0), act(0, 9, false), act(0, 10, false), stopped(0)];
            [&before[..], &others, behind, &[answer(0), act(0, 99, true)]].concat()
        };
        // The call writes after values that it read before have changed.
        assert_eq!(lines(&round(&[act(0, 11, false), act(0, 12, true)])), [(10, 11, vec![])]);
        // The call only reads: the lines of the other threads' writes count.
        assert_eq!(lines(&round(&[act(0, 11, false)])), [(10, 11, vec![31])]);
        // Without a step that matters before or after it, a preemption does not count.
        assert_eq!(lines(&round(&[])), []);
        let first = [&[call(0), stopped(0)][..], &others, &[act(0, 11, true)]].concat();
        assert_eq!(lines(&first), []);
    }

    /// Several operations may read in one helper and write in another: then the operation matters.
    /// A preemption inside one helper is the same for all of them.
    #[test]
    fn between_two_helpers_the_operation_matters() {
        let round = |op: Op, behind: Row| {
            let stopped = row(0, RowKind::Stopped(call_of(op)), false);
            [call(0), act_of("find", 0, 14, false), stopped, behind]
        };
        let same = |behind: Row| {
            preemptions(&round(Op::SetInsert, behind.clone()))
                == preemptions(&round(Op::SetRemove, behind))
        };
        assert!(same(act_of("find", 0, 15, true)));
        assert!(!same(act_of("store", 0, 16, true)) && !same(act_of("find", 0, 14, true)));
    }

    #[test]
    fn bugs_are_numbered() {
        assert_eq!(numbers(&[vec![0, 2], vec![1]]), [1, 2, 1]);
    }
}
