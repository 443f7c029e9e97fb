//! Checks the rules, sentences and operations of verdicts, and when they are inconclusive.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use interlap::check::{
    Events, Exhausted, Explanation, Limits, OfOrder, OfSearch, OfValues, Overlap, Undecided,
    Verdict, Witness, check, overlap, search, sequential,
};
use interlap::core::history::{Entry, History, NEVER, OperationId};
use interlap::core::operation::{Family, Op, Status};
use interlap::model::{Expected, Kind, Spec};

use super::random::{self, Random, Shape};

/// A history from lines of client, operation, arguments, status, results and timebox.
type Line<'a> = (u32, Op, &'a [i64], Status, &'a [i64], (u64, u64));

fn history(lines: &[Line]) -> History {
    let mut history = History::default();
    for &(client, op, args, status, results, (start, end)) in lines {
        let entry = Entry { op, status, start, end, args, results };
        history.push(client, entry).expect("a well formed line");
    }
    history
}

fn witness(history: &History, spec: &str) -> Witness {
    let spec: Spec = spec.parse().expect(spec);
    match check(history, &spec, &Limits::default()) {
        Verdict::Violation(witness) => witness,
        verdict => panic!("{spec}: {verdict:?}"),
    }
}

fn of_order(witness: &Witness) -> &OfOrder {
    match &*witness.explanation {
        Explanation::Order(reason) => reason,
        other => panic!("{other:?}"),
    }
}

/// The value that nobody had written, and the right answers.
fn of_key(witness: &Witness) -> (Option<i64>, &[Expected]) {
    match &*witness.explanation {
        Explanation::Search(OfSearch::OfKey { unwritten, expected, .. }) => (*unwritten, expected),
        other => panic!("{other:?}"),
    }
}

const OK: Status = Status::Ok;

#[test]
fn values_out_of_a_producers_order_are_a_violation() {
    let history = history(&[
        (1, Op::Enqueue, &[1_000_003], OK, &[], (1, 2)),
        (1, Op::Enqueue, &[1_000_004], OK, &[], (3, 4)),
        (2, Op::Dequeue, &[], OK, &[1_000_004], (5, 6)),
        (3, Op::Dequeue, &[], OK, &[1_000_003], (7, 8)),
    ]);
    let found = witness(&history, "fifo-per-producer");
    assert_eq!(found.rule, "producer-order");
    assert_eq!(found.operations.len(), 4);
    let OfOrder::Overtaken { values, removal, later, per_producer: true, .. } = of_order(&found)
    else {
        panic!("{found:?}")
    };
    assert_eq!(*values, [1_000_003, 1_000_004]);
    assert_eq!((*removal, *later), (found.operations[2], Some(found.operations[3])));
    assert_eq!(witness(&history, "fifo").rule, "fifo-order");
}

#[test]
fn each_rule_of_containers_has_its_name() {
    let add = (1, Op::Enqueue, &[7][..], OK, &[][..], (1, 2));
    let take = (2, Op::Dequeue, &[][..], OK, &[7][..], (3, 4));
    let again = (3, Op::Dequeue, &[][..], OK, &[7][..], (3, 4));
    let empty = (3, Op::Dequeue, &[][..], Status::Empty, &[][..], (5, 6));
    for spec in ["fifo", "fifo-per-producer"] {
        assert_eq!(witness(&history(&[add, take, again]), spec).rule, "taken-twice");
        assert_eq!(witness(&history(&[take]), spec).rule, "from-nowhere");
        let found = witness(&history(&[add, empty]), spec);
        assert_eq!(found.rule, "empty-while-full");
        let Explanation::Values(OfValues::EmptyWhileFull { inside, .. }) = &*found.explanation
        else {
            panic!("{found:?}")
        };
        assert_eq!(inside[..], [7]);
        let mut lost = history(&[add]);
        lost.drained = true;
        let addition = OperationId { thread: 0, index: 0 };
        let explanation = Explanation::Values(OfValues::Lost { value: 7, addition });
        assert_eq!(*witness(&lost, spec).explanation, explanation);
    }
}

#[test]
fn bulk_results() {
    let history = |taken: &[i64]| {
        history(&[
            (1, Op::EnqueueBulk, &[1, 2, 3], OK, &[], (1, 2)),
            (2, Op::DequeueBulk, &[4], OK, taken, (1, 4)),
        ])
    };
    assert_eq!(witness(&history(&[2, 1]), "fifo-per-producer").rule, "bulk-order");
    assert_eq!(witness(&history(&[1, 3]), "fifo-per-producer:bulk=run").rule, "bulk-gap");
}

#[test]
fn a_stack_that_pops_the_lower_value_is_a_violation() {
    let history = history(&[
        (1, Op::Push, &[1], OK, &[], (1, 2)),
        (1, Op::Push, &[2], OK, &[], (3, 4)),
        (1, Op::Push, &[3], OK, &[], (5, 6)),
        (2, Op::Pop, &[], OK, &[3], (7, 8)),
        (2, Op::Pop, &[], OK, &[1], (9, 10)),
        (2, Op::Pop, &[], OK, &[2], (11, 12)),
    ]);
    let found = witness(&history, "lifo");
    assert_eq!(found.rule, "lifo-order");
    assert_eq!(found.operations.len(), 4, "3 has nothing to do with it: {found:?}");
    let OfOrder::PoppedBelow { values, is_upper_popped: true, .. } = of_order(&found) else {
        panic!("{found:?}")
    };
    assert_eq!(*values, [1, 2]);
}

#[test]
fn the_violation_of_a_set_names_the_operation_before() {
    let history = history(&[
        (1, Op::SetInsert, &[5], OK, &[], (1, 2)),
        (2, Op::SetContains, &[5], Status::Failed, &[], (3, 4)),
        (3, Op::SetInsert, &[6], OK, &[], (3, 4)),
    ]);
    let found = witness(&history, "set");
    assert_eq!(found.rule, "set-answer");
    assert_eq!(found.operations.len(), 2);
    let failed = OperationId { thread: 1, index: 0 };
    let reason = OfSearch::OfSet { failed, key: 5, count: 2, was_absent: true };
    let explanation = Explanation::Search(reason);
    assert_eq!(*found.explanation, explanation);
}

/// What it was about is one key, whatever else the answer says.
#[test]
fn the_violation_of_a_range_names_the_key_that_is_wrong() {
    let of_range = |listed: &[i64]| {
        history(&[
            (1, Op::SetInsert, &[5], OK, &[], (1, 2)),
            (1, Op::SetInsert, &[6], OK, &[], (3, 4)),
            (2, Op::SetInsert, &[7], OK, &[], (3, 4)),
            (2, Op::SetRemove, &[5], OK, &[], (5, 6)),
            (3, Op::SetSize, &[], OK, &[2], (7, 8)),
            (3, Op::SetRangeList, &[4, 7], OK, listed, (9, 10)),
        ])
    };
    let found = witness(&of_range(&[5, 6, 7]), "range-set");
    let of = |thread, index| OperationId { thread, index };
    assert_eq!((found.rule, &found.operations[..]), ("set-answer", &[of(1, 1), of(2, 1)][..]));
    let key = |found: &Witness| match *found.explanation {
        Explanation::Search(OfSearch::OfSet { failed, key, .. }) => (failed, key),
        _ => panic!("{found:?}"),
    };
    assert_eq!(key(&found), (of(2, 1), 5));
    assert_eq!(key(&witness(&of_range(&[6]), "range-set")), (of(2, 1), 7));
    let counted = history(&[
        (1, Op::SetInsert, &[5], OK, &[], (1, 2)),
        (2, Op::SetRangeCount, &[4, 7], OK, &[2], (3, 4)),
    ]);
    assert_eq!(witness(&counted, "range-set").rule, "set-answer-in-order");
}

/// The explanation also names the value that the read should have answered.
#[test]
fn the_read_of_a_value_that_was_never_written_is_explained() {
    let of_register = |value| {
        history(&[
            (1, Op::RegisterWrite, &[5], OK, &[], (1, 2)),
            (2, Op::RegisterRead, &[], OK, &[value], (3, 4)),
            (1, Op::RegisterWrite, &[6], OK, &[], (5, 6)),
        ])
    };
    for (value, nobody) in [(-1, true), (6, true), (0, false)] {
        let found = witness(&of_register(value), "register");
        let (unwritten, expected) = of_key(&found);
        assert_eq!(unwritten, nobody.then_some(value), "{found:?}");
        assert_eq!(expected[..], [Expected::value(5)]);
    }
    let of_map = history(&[
        (1, Op::MapPut, &[3, 7], OK, &[], (1, 2)),
        (1, Op::MapPut, &[4, 8], OK, &[], (3, 4)),
        (2, Op::MapGet, &[3], OK, &[8], (5, 6)),
    ]);
    let found = witness(&of_map, "map");
    assert_eq!(of_key(&found).0, Some(8));
}

#[test]
fn every_answer_to_one_thread_must_be_right() {
    let spec = "fifo-per-producer:empty=lone".parse().expect("spec");
    let history = history(&[
        (1, Op::Enqueue, &[7], OK, &[], (1, 2)),
        (1, Op::Dequeue, &[], Status::Empty, &[], (3, 4)),
    ]);
    // But for one of which nothing is promised.
    let none = "fifo-per-producer:empty=none".parse().expect("spec");
    assert_eq!(sequential(&history, &none), Verdict::Consistent);
    assert_eq!(check(&history, &none, &Limits::default()), Verdict::Consistent);
    let Verdict::Violation(found) = sequential(&history, &spec) else { panic!("7 is inside") };
    assert_eq!(found.rule, "sequential");
    let failed = OperationId { thread: 0, index: 1 };
    let expected = Expected::value(7);
    let explanation = Explanation::Search(OfSearch::Sequential { failed, expected });
    assert_eq!(*found.explanation, explanation);
}

#[test]
fn sequential_simulations_are_accepted() {
    let mut random = Random::new(9);
    let has_object = |kind: &Kind| ![Family::Store, Family::Custom].contains(&kind.family());
    for kind in Kind::ALL.into_iter().filter(has_object) {
        let shape = Shape {
            kind,
            threads: (1, 1),
            operations: (1, 12),
            bulk: 30,
            elements: 3,
            pending: 20,
            duplicates: 0,
            corruptions: 0,
            hides: 0,
            counts: 0,
            voids: 0,
            relaxation: 0,
        };
        for _ in 0..2000 {
            let mut history = random::history(shape, &mut random);
            history.threads.truncate(1);
            assert_eq!(sequential(&history, &Spec::new(kind)), Verdict::Consistent, "{history:?}");
        }
    }
}

/// `count` pending pushes of 1, each by a thread of its own; then 1 is popped, and 2.
fn many_open(count: u32) -> History {
    let mut lines: Vec<Line> = (0..count)
        .map(|client| (client, Op::Push, &[1][..], Status::Pending, &[][..], (1, 2)))
        .collect();
    lines.push((count, Op::Pop, &[], OK, &[1], (3, 4)));
    lines.push((count, Op::Pop, &[], OK, &[2], (5, 6)));
    history(&lines)
}

#[test]
fn limits_make_a_check_inconclusive() {
    let spec = Spec::new(Kind::Lifo);
    let reason = |history: &History, limits: &Limits| match check(history, &spec, limits) {
        Verdict::Inconclusive(reason) => reason,
        verdict => panic!("{verdict:?}"),
    };
    let open = reason(&many_open(1025), &Limits::default());
    assert_eq!(open, Undecided::Exhausted(Exhausted::Open(1024)));
    let few = Limits { configurations_max: 10, ..Limits::default() };
    assert_eq!(reason(&many_open(20), &few), Exhausted::Configurations(10).into());
    let short = Limits { steps_max: 5, ..Limits::default() };
    assert_eq!(reason(&many_open(20), &short), Exhausted::Steps(5).into());
    // Only three thousand steps, but each copies a stack.
    let mut deep = History::default();
    for n in 0..3_000 {
        let (start, end) = (2 * n as u64, 2 * n as u64 + 1);
        let entry = Entry { op: Op::Push, status: OK, start, end, args: &[n], results: &[] };
        deep.push(1, entry).expect("in order");
    }
    let searched = |steps_max| {
        let limits = Limits { steps_max, ..Limits::default() };
        search(&deep, &Spec::new(Kind::Lifo), &limits)
    };
    assert!(matches!(searched(4_000), Verdict::Inconclusive(_)));
    assert_eq!(searched(100_000), Verdict::Consistent);
    let cancelled = Some(Arc::new(AtomicBool::new(true)));
    let stopped = Limits { cancelled, ..Limits::default() };
    assert_eq!(reason(&many_open(50), &stopped), Exhausted::Cancelled.into());
    let stranger = history(&[(1, Op::Enqueue, &[1], OK, &[], (1, 2))]);
    let foreign = Undecided::Foreign(Kind::Lifo, Op::Enqueue);
    assert_eq!(reason(&stranger, &Limits::default()), foreign);
}

fn add(client: u32, values: &[i64], timebox: (u64, u64)) -> Line<'_> {
    (client, Op::EnqueueBulk, values, OK, &[], timebox)
}

fn take(client: u32, values: &[i64], timebox: (u64, u64)) -> Line<'_> {
    (client, Op::DequeueBulk, &[100], OK, values, timebox)
}

/// What the model promises of producers holds if it does with some choice of who added which.
#[test]
fn values_added_twice_are_told_apart_in_every_way() {
    let of = |lines: &[Line], spec: &str| {
        let spec = spec.parse::<Spec>().expect(spec);
        match check(&history(lines), &spec, &Limits::default()) {
            Verdict::Consistent => true,
            Verdict::Violation(_) => false,
            Verdict::Inconclusive(why) => panic!("{why:?}"),
        }
    };
    let models = ["fifo-per-producer", "fifo-per-producer:bulk=run", "fifo:bulk=run"];
    let twice = [add(1, &[7], (1, 2)), add(2, &[7], (1, 2))];
    for model in models {
        assert!(of(&[twice[0], twice[1], take(3, &[7, 7], (3, 4))], model), "{model}");
        assert!(!of(&[twice[0], twice[1], take(3, &[7, 7, 7], (3, 4))], model), "{model}");
    }
    // Whoever took 7 took that between 1 and 3.
    let parts = [add(1, &[1, 7, 3], (1, 2)), add(2, &[7], (5, 6))];
    let apart = [parts[0], parts[1], take(3, &[1, 3], (3, 9)), take(4, &[7], (3, 9))];
    assert_eq!(models.map(|model| of(&apart, model)), [true, false, false]);
    let whole = [parts[0], parts[1], take(3, &[1, 7, 3], (3, 9)), take(4, &[7], (3, 9))];
    assert_eq!(models.map(|model| of(&whole, model)), [true; 3]);
    // Which of two the removal without an answer took makes a run, or none.
    for (since, is_good) in [(3, true), (10, false)] {
        let open = (2, Op::Dequeue, &[][..], Status::Pending, &[][..], (since, NEVER));
        let behind = [add(1, &[7, 7, 3], (1, 2)), open, take(3, &[7, 3], (4, 9))];
        assert_eq!(models.map(|model| of(&behind, model)), [is_good; 3]);
    }
    // Both of the first producer's are taken, and nobody takes the other 7: 8 does not leave first.
    let empty = (5, Op::Dequeue, &[][..], Status::Empty, &[][..], (5, 6));
    let before = [add(1, &[7, 8], (1, 2)), add(2, &[7], (1, 2)), take(3, &[7], (3, 4)), empty];
    let counts = |last| of(&[&before[..], &[last]].concat(), "fifo-per-producer:empty=count");
    assert!(!counts(take(4, &[8], (4, 9))));
    assert!(counts(take(4, &[8, 7], (4, 9))));
}

/// Each of 369,600 orders of these values would be a state of its own.
#[test]
fn the_order_of_values_that_nobody_takes_makes_no_states() {
    let limits = Limits { configurations_max: 1 << 14, ..Limits::default() };
    let decide = |values: &[i64], taken: &[i64], spec: &str| {
        let add = |(client, values)| add(client, values, (1, 10));
        let mut lines: Vec<Line> = (0..).zip(values.chunks(3)).map(add).collect();
        lines.push(take(9, taken, (11, 12)));
        check(&history(&lines), &spec.parse::<Spec>().expect(spec), &limits)
    };
    let distinct: Vec<i64> = (0..12).collect();
    assert_eq!(decide(&distinct, &[3, 0], "fifo"), Verdict::Consistent);
    assert!(matches!(decide(&distinct, &[4, 0], "fifo"), Verdict::Violation(_)));
    let equal = [7; 12];
    assert_eq!(decide(&equal, &[7, 7], "fifo:bulk=run"), Verdict::Consistent);
}

/// Far more elements move at once than a search can follow.
#[test]
fn bulk_calls_of_a_pool_are_decided_whatever_their_size() {
    let added: Vec<i64> = (0..600).collect();
    let taken: Vec<i64> = (0..600).rev().collect();
    let mut lines: Vec<Line> = Vec::new();
    for (client, values) in (0..).zip(added.chunks(100)) {
        lines.push(add(client, values, (1, 50)));
    }
    for (client, values) in (6..).zip(taken.chunks(150)) {
        lines.push((client, Op::DequeueBulk, &[150], OK, values, (20, 60)));
    }
    let empty = (12, Op::Dequeue, &[][..], Status::Empty, &[][..], (70, 71));
    let verdict =
        |lines: &[Line]| check(&history(lines), &Spec::new(Kind::Pool), &Limits::default());
    lines.push(empty);
    assert_eq!(verdict(&lines), Verdict::Consistent);
    // Nobody is known to have taken 150 of them: there was a call that may have, or one for less.
    lines.remove(6);
    assert!(matches!(verdict(&lines), Verdict::Violation(_)));
    for (most, is_good) in [(150, true), (149, false)] {
        let asked = [most];
        let open = (13, Op::DequeueBulk, &asked[..], Status::Pending, &[][..], (30, NEVER));
        let verdict = verdict(&[&lines[..], &[open]].concat());
        assert_eq!(verdict == Verdict::Consistent, is_good, "{verdict:?}");
        assert!(!matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
    }
}

/// A removal may take six equal values of four producers in 84 ways, and one of them is right.
/// Where they are too many for the limits, the check gives up, and accuses nobody.
#[test]
fn choices_that_are_too_many_are_no_violation() {
    let spec: Spec = "fifo-per-producer:empty=count,bulk=atomic".parse().expect("a model");
    let values: Vec<[i64; 4]> = (1..=4).map(|producer| [7, 7, 7, 100 + producer]).collect();
    let (mut gave_up, mut explained) = (0, 0);
    for (first, second) in [(101, 102), (101, 104), (102, 103), (103, 104)] {
        let mut lines = vec![(9, Op::Dequeue, &[][..], Status::Empty, &[][..], (1, 2))];
        lines.extend((1..).zip(&values).map(|(producer, values)| add(producer, values, (3, 4))));
        let last = [first, second];
        lines.extend([take(5, &[7; 6], (5, 6)), take(6, &last, (7, 8))]);
        for configurations_max in [1, 2, 5, 20, 50, 82, 83, 84, 85, 86, 100, 150, 200, 300, 400] {
            let limits = Limits { configurations_max, ..Limits::default() };
            match check(&history(&lines), &spec, &limits) {
                Verdict::Consistent => explained += 1,
                Verdict::Inconclusive(_) => gave_up += 1,
                verdict => panic!("{last:?}, {configurations_max}: {verdict:?}"),
            }
        }
    }
    assert!(gave_up > 0 && explained > 0, "{gave_up}, {explained}");
}

/// More steps are open at once than a word has bits.
#[test]
fn many_open_steps_are_decided() {
    let is_good = |lines: &[Line], spec: &str| {
        let spec = spec.parse::<Spec>().expect(spec);
        match check(&history(lines), &spec, &Limits::default()) {
            Verdict::Inconclusive(why) => panic!("{spec}: {why:?}"),
            verdict => verdict == Verdict::Consistent,
        }
    };
    let keys: Vec<i64> = (0..200).collect();
    let write = |(client, key)| {
        (client, Op::RegisterWrite, std::slice::from_ref(key), Status::Pending, &[][..], (1, NEVER))
    };
    let mut lines: Vec<Line> = (0..).zip(&keys).map(write).collect();
    for (time, value) in (2..).step_by(2).zip([&[150][..], &[70], &[199]]) {
        lines.push((300, Op::RegisterRead, &[], OK, value, (time, time + 1)));
    }
    assert!(is_good(&lines, "register"));
    // One write of 150 explains no second one.
    lines.push((300, Op::RegisterRead, &[], OK, &[150], (20, 21)));
    assert!(!is_good(&lines, "register"));

    let equal = [7; 70];
    for spec in ["fifo", "fifo:bulk=run", "fifo-per-producer", "fifo-per-producer:bulk=run"] {
        let all = [add(1, &equal, (1, 10)), take(2, &equal[..68], (2, 11))];
        assert!(is_good(&[all[0], all[1], take(3, &equal[..2], (2, 11))], spec), "{spec}");
        assert!(!is_good(&[all[0], all[1], take(3, &equal[..3], (2, 11))], spec), "{spec}");
    }
}

const QUEUES: Shape = Shape {
    kind: Kind::Fifo,
    threads: (2, 5),
    operations: (3, 15),
    bulk: 0,
    elements: 3,
    pending: 20,
    duplicates: 0,
    corruptions: 2,
    hides: 0,
    counts: 0,
    voids: 0,
    relaxation: 0,
};

#[test]
fn events_come_in_order_and_calls_before_returns() {
    let mut random = Random::new(4);
    for _ in 0..2000 {
        let mut history = random::history(QUEUES, &mut random);
        let order = |history: &History| -> Vec<_> {
            Events::new(history).map(|e| (e.time, e.returns, e.id.thread)).collect()
        };
        let events = order(&history);
        assert!(events.is_sorted_by_key(|(time, returns, _)| (*time, *returns)));
        let closed = history.ids().filter(|id| history.operation(*id).end != NEVER).count();
        assert_eq!(events.len(), history.len() + closed);
        // With many threads, a heap merges their events, in the same order.
        history.threads.resize_with(20, Default::default);
        assert_eq!(order(&history), events);
    }
}

#[test]
fn stamps_may_be_large() {
    let last = NEVER - 1;
    let history = history(&[
        (1, Op::Enqueue, &[1], OK, &[], (last - 3, last - 2)),
        (2, Op::Dequeue, &[], Status::Empty, &[], (last - 1, last)),
    ]);
    assert_eq!(witness(&history, "fifo").rule, "empty-while-full");
}

#[test]
fn overlap_is_that_of_all_pairs() {
    let mut random = Random::new(5);
    for _ in 0..5000 {
        let history = random::history(QUEUES, &mut random);
        let touches = |a, b| {
            let (a, b) = (history.operation(a), history.operation(b));
            a.end >= b.start && b.end >= a.start
        };
        let overlapping = history
            .ids()
            .filter(|a| history.ids().any(|b| a.thread != b.thread && touches(*a, b)))
            .count();
        let expected = Overlap { operations: history.len(), overlapping };
        assert_eq!(overlap(&history), expected);
    }
}
