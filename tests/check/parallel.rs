//! Compares the check on several threads with that on one, on long histories of many keys: verdict
//! and witness must be the same. Also checks histories with more overlapping calls than a search
//! has numbers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use interlap::check::{Exhausted, Limits, Verdict, check};
use interlap::core::history::{Entry, History};
use interlap::core::operation::{Op, Status};
use interlap::model::Spec;

use super::agreement::SMALL;
use super::random::{Random, Shape, history};

/// So many operations that more than two threads are used.
const OPERATIONS: usize = 160_000;

/// Small histories one after another, each on keys of its own; `bad` of them may be violations.
fn long(spec: &Spec, bad: usize, random: &mut Random) -> History {
    let (mut long, mut clock, mut block) = (History::default(), 0, 0);
    let wrong: Vec<i64> = (0..bad).map(|_| random.below(OPERATIONS / 16) as i64).collect();
    while long.len() < OPERATIONS {
        let corruptions = if wrong.contains(&block) { 3 } else { 0 };
        let pending = if random.below(400) == 0 { 30 } else { 0 };
        let operations = (8, 16);
        let shape = Shape { kind: spec.kind, operations, pending, corruptions, ..SMALL };
        let part = history(shape, random);
        let mut last = 0;
        for id in part.ids() {
            let mut args = part.args(id).to_vec();
            args[0] += 10 * block;
            let entry = part.entry(id);
            last = last.max(if entry.status.is_open() { entry.start } else { entry.end });
            let (start, end) = (clock + entry.start, clock.saturating_add(entry.end));
            long.push(id.thread, Entry { start, end, args: &args, ..entry }).expect("in order");
        }
        // Some of the small histories overlap at one instant.
        clock += last + random.below(2) as u64 + 1;
        block += 1;
    }
    long
}

#[test]
fn several_threads_find_what_one_does() {
    for text in ["map", "kv"] {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(11);
        let mut seen = [0; 2];
        for number in 0..8 {
            let history = long(&spec, [0, 1, 4, 100][number % 4], &mut random);
            let [one, two, three] =
                [1, 2, 3].map(|jobs| check(&history, &spec, &Limits { jobs, ..Limits::default() }));
            assert_eq!(one, two);
            assert_eq!(one, three);
            assert!(!matches!(one, Verdict::Inconclusive(_)), "{one:?}");
            seen[usize::from(one == Verdict::Consistent)] += 1;
        }
        println!("{text}: {seen:?}");
        assert!(seen.iter().all(|count| *count >= 2), "{text}: {seen:?}");
    }
}

#[test]
fn every_thread_keeps_the_limits() {
    let spec: Spec = "map".parse().expect("a model");
    let history = long(&spec, 0, &mut Random::new(3));
    let reason = |limits: Limits| match check(&history, &spec, &limits) {
        Verdict::Inconclusive(reason) => reason,
        verdict => panic!("{verdict:?}"),
    };
    let cancelled = Some(Arc::new(AtomicBool::new(true)));
    for jobs in [1, 3] {
        let limits = Limits { jobs, cancelled: cancelled.clone(), ..Limits::default() };
        assert_eq!(reason(limits), Exhausted::Cancelled.into());
        let limits = Limits { jobs, steps_max: 10, ..Limits::default() };
        assert_eq!(reason(limits), Exhausted::Steps(10).into());
    }
}

/// Each call is on a key of its own.
#[test]
fn any_number_of_calls_may_be_under_way() {
    let spec: Spec = "map".parse().expect("a model");
    let mut history = History::default();
    for client in 0..200 {
        let (key, status) = (i64::from(client % 100), Status::Pending);
        let args = &[key, 7];
        let entry = Entry { op: Op::MapPut, status, start: 1, end: 0, args, results: &[] };
        history.push(client, entry).expect("one each");
    }
    let mut get = |client, start, results: &[i64]| {
        let status = Status::Ok;
        let entry = Entry { op: Op::MapGet, status, start, end: start + 1, args: &[50], results };
        history.push(client, entry).expect("in order");
        check(&history, &spec, &Limits::default())
    };
    assert_eq!(get(300, 10, &[7]), Verdict::Consistent);
    assert!(matches!(get(300, 20, &[8]), Verdict::Violation(_)));
}
