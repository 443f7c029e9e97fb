//! The model self against plain enumeration: the structure is a counter of permits, called in every
//! order that the search asks for, or only in some.

use std::sync::Arc;

use interlap::check::{Limits, Verdict, check};
use interlap::core::history::{Entry, History};
use interlap::core::method::Method;
use interlap::core::operation::{Op, Status};
use interlap::core::sequential_runs::{SequentialCall, SequentialRuns};
use interlap::model::{Kind, Spec};

use super::random::Random;
use crate::how_many;

/// A call of one client, in its timebox.
#[derive(Clone, Debug)]
struct Made {
    client: u32,
    op: Op,
    start: u64,
    end: u64,
    result: i64,
}

fn op(text: &str) -> Op {
    Op::Method(Method::new(text).expect("a signature"))
}

/// What a call answers to a thread, and the permits after it. Threads see different answers, as of
/// a structure with state for each.
fn answer(op: Op, client: u32, permits: i64) -> (i64, i64) {
    match op.name() {
        "try_acquire" if permits == 0 => (0, 0),
        "try_acquire" => (1, permits - 1),
        "release" => (permits, permits + 1),
        _ => (permits + i64::from(client), permits),
    }
}

/// The calls of up to three clients, answered in a random order within their boxes, or wrong.
fn calls(random: &mut Random) -> Vec<Made> {
    let ops = ["try_acquire() -> bool", "release() -> int", "available() -> int"].map(op);
    let mut calls = Vec::new();
    for client in 0..3 {
        let mut time = random.below(4) as u64;
        for _ in 0..random.below(4) {
            let (start, end) = (time, time + random.below(6) as u64);
            calls.push(Made { client, op: ops[random.below(3)], start, end, result: 0 });
            time = end + 1 + random.below(3) as u64;
        }
    }
    let mut instants: Vec<(u64, usize)> = (calls.iter().enumerate())
        .map(|(at, call)| {
            (call.start + random.below((call.end - call.start) as usize + 1) as u64, at)
        })
        .collect();
    instants.sort_unstable();
    let mut permits = 1;
    for (_, at) in instants {
        let (result, after) = answer(calls[at].op, calls[at].client, permits);
        (calls[at].result, permits) = (result, after);
    }
    if !calls.is_empty() && random.percent(60) {
        let at = random.below(calls.len());
        calls[at].result = if calls[at].op.name() == "try_acquire" {
            1 - calls[at].result
        } else {
            (calls[at].result + 1) % 4
        };
    }
    calls
}

/// Whether some order within the boxes explains all answers.
fn enumerated(left: &[Made], permits: i64) -> bool {
    left.is_empty()
        || (0..left.len()).any(|at| {
            let call = &left[at];
            let is_first = left.iter().all(|other| other.end >= call.start);
            let (result, after) = answer(call.op, call.client, permits);
            let mut rest = left.to_vec();
            rest.remove(at);
            is_first && result == call.result && enumerated(&rest, after)
        })
}

fn history(calls: &[Made]) -> History {
    let mut history = History::default();
    for call in calls {
        let Made { op, start, end, result, .. } = *call;
        let (status, results) = (Status::Ok, &[result]);
        let entry = Entry { op, status, start, end, args: &[], results };
        history.push(call.client, entry).expect("in order");
    }
    history
}

/// The calls of `order`, made one at a time.
fn run(calls: &[Made], order: &[u32]) -> Vec<SequentialCall> {
    let (mut made, mut permits) = ([0; 3], 1);
    let one = |&client: &u32| {
        let mut own = calls.iter().filter(|call| call.client == client);
        let call = own.nth(made[client as usize]).expect("a call of the client");
        made[client as usize] += 1;
        let (result, after) = answer(call.op, client, permits);
        permits = after;
        let (status, results) = (Status::Ok, vec![result]);
        SequentialCall { client, op: call.op, args: Vec::new(), status, results }
    };
    order.iter().map(one).collect()
}

#[test]
fn verdicts_are_those_of_an_enumeration() {
    let (mut random, mut bad) = (Random::new(4), 0);
    let (spec, limits) = (Spec::new(Kind::Itself), Limits::default());
    let all = how_many(20_000);
    for _ in 0..all {
        let calls = calls(&mut random);
        let (mut history, is_right) = (history(&calls), enumerated(&calls, 1));
        let (mut runs, gives_up) = (SequentialRuns::default(), random.percent(20));
        let verdict = loop {
            history.runs = Some(Arc::new(runs));
            let verdict = check(&history, &spec, &limits);
            let known = history.runs.take().expect("set above");
            let asked = known.take_asked();
            runs = Arc::unwrap_or_clone(known);
            let is_over = asked.is_empty() || verdict == Verdict::Consistent;
            if is_over || gives_up && random.percent(30) {
                break verdict;
            }
            asked.iter().for_each(|order| runs.add(run(&calls, order)));
        };
        match verdict {
            Verdict::Consistent => assert!(is_right, "{calls:?}"),
            Verdict::Violation(_) => assert!(!is_right, "{calls:?}"),
            // Not one order too few was run.
            Verdict::Inconclusive(_) => assert!(gives_up, "{calls:?}"),
        }
        bad += usize::from(!is_right);
    }
    assert!(bad * 5 > all && bad * 5 < all * 4, "{bad} of {all} are bad");
}

#[test]
fn a_call_that_could_not_be_made_explains_nothing() {
    let calls = vec![Made { client: 0, op: op("release() -> int"), start: 1, end: 2, result: 1 }];
    let mut history = history(&calls);
    let verdict = |history: &History| check(history, &Spec::new(Kind::Itself), &Limits::default());
    assert!(matches!(verdict(&history), Verdict::Inconclusive(_)), "it was not run");
    let refused =
        SequentialCall { status: Status::Pending, results: vec![], ..run(&calls, &[0])[0].clone() };
    for (call, is_right) in [(run(&calls, &[0]).remove(0), true), (refused, false)] {
        let mut runs = SequentialRuns::default();
        runs.add([call]);
        history.runs = Some(Arc::new(runs));
        assert_eq!(verdict(&history) == Verdict::Consistent, is_right);
    }
}

/// Of another call at the same place in the order nothing is known.
#[test]
fn runs_of_other_calls_say_nothing() {
    let [release, acquire] = ["release() -> int", "try_acquire() -> bool"].map(op);
    let of = |op| vec![Made { client: 0, op, start: 1, end: 2, result: 1 }];
    let mut history = history(&of(release));
    let mut runs = SequentialRuns::default();
    runs.add(run(&of(acquire), &[0]));
    history.runs = Some(Arc::new(runs));
    let verdict = check(&history, &Spec::new(Kind::Itself), &Limits::default());
    assert!(matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
}
