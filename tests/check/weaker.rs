//! Weaker promises allow what stronger ones do, and sequential consistency is what an enumeration
//! of all orders that keep each thread's own says.

use std::collections::VecDeque;

use interlap::check::{Limits, Verdict, check, weaker};
use interlap::core::history::History;
use interlap::core::operation::{Op, Status};
use interlap::model::{Consistency, Kind, Spec};

use super::agreement::SMALL;
use super::brute;
use super::random::{Random, Record, Shape, history, written};

#[test]
fn what_a_model_allows_each_weaker_one_allows() {
    let specs = [
        "fifo",
        "fifo:empty=lone",
        "fifo:bulk=atomic",
        "fifo:size=exact",
        "lifo:size=upper",
        "fifo-per-producer:empty=strong,bulk=atomic",
        "fifo-per-producer:empty=identity",
        "fifo-relaxed:empty=strong,k=2",
        "pool",
        "lifo",
        "deque",
        "priority-queue",
        "lifo:k=2",
    ];
    for (at, text) in specs.iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(700 + at as u64);
        let (mut allowed, mut only_weaker) = (0, 0);
        for _ in 0..crate::how_many(8_000) {
            let bulk = if spec.kind == Kind::Lifo { 0 } else { 30 };
            let counts = if text.contains("size=") { 20 } else { 0 };
            let shape = Shape { kind: spec.kind, bulk, counts, threads: (2, 3), ..SMALL };
            let history = history(Shape { operations: (3, 6), ..shape }, &mut random);
            let verdict = |spec: &Spec| check(&history, spec, &Limits::default());
            let is_allowed = verdict(&spec) == Verdict::Consistent;
            let weaker = spec.weaker();
            assert!(!weaker.is_empty(), "{text}");
            let by_weaker = weaker.iter().filter(|weaker| verdict(weaker) == Verdict::Consistent);
            let by_weaker = by_weaker.count();
            assert!(!is_allowed || by_weaker == weaker.len(), "{text}: {history:?}");
            allowed += usize::from(is_allowed);
            only_weaker += usize::from(!is_allowed && by_weaker > 0);
        }
        assert!(allowed > 0 && only_weaker > 0, "{text}: {allowed}, {only_weaker}");
    }
}

#[test]
fn models_without_options_have_no_weaker_ones() {
    for kind in [Kind::Set, Kind::Map, Kind::Counter, Kind::Log, Kind::Serializable] {
        assert!(Spec::new(kind).weaker().is_empty());
    }
}

#[test]
fn the_least_weak_promise_is_named() {
    let record = |op, start, end, args: &[i64], results: &[i64]| Record {
        op,
        status: if results.is_empty() && args.is_empty() { Status::Empty } else { Status::Ok },
        start,
        end,
        args: args.to_vec(),
        results: results.to_vec(),
    };
    use Op::{Dequeue, Enqueue};
    // A dequeue answers "empty" beside another one, and a value was inside all the time.
    let queue = written(&[
        vec![record(Enqueue, 1, 2, &[1], &[]), record(Enqueue, 3, 4, &[2], &[])],
        vec![record(Dequeue, 5, 8, &[], &[1])],
        vec![record(Dequeue, 6, 7, &[], &[])],
    ]);
    let named = weaker(&queue, &"fifo".parse().expect("a model"), &Limits::default());
    let weaker = ["fifo:empty=lone", "fifo:consistency=sequential"];
    assert_eq!(named, weaker.map(|text| text.parse().expect("a model")));
}

/// All histories in which the operations of these threads come one after another, each thread's in
/// its own order.
fn any_order(
    left: &mut [VecDeque<Record>],
    done: &mut Vec<Vec<Record>>,
    explained: &mut dyn FnMut(&[Vec<Record>]) -> bool,
) -> bool {
    if left.iter().all(|thread| thread.is_empty()) {
        return explained(done);
    }
    for thread in 0..left.len() {
        let Some(record) = left[thread].pop_front() else { continue };
        let start = 2 * done.iter().map(|records| records.len() as u64).sum::<u64>() + 1;
        let end = if record.status.is_open() { record.end } else { start + 1 };
        done[thread].push(Record { start, end, ..record.clone() });
        let found = any_order(left, done, explained);
        done[thread].pop();
        left[thread].push_front(record);
        if found {
            return true;
        }
    }
    false
}

fn records(history: &History) -> Vec<VecDeque<Record>> {
    let mut all = vec![VecDeque::new(); history.threads.len()];
    for id in history.ids() {
        let operation = history.operation(id);
        all[id.thread as usize].push_back(Record {
            op: operation.op,
            status: operation.status,
            start: operation.start,
            end: operation.end,
            args: history.args(id).to_vec(),
            results: history.results(id).to_vec(),
        });
    }
    all
}

/// Models of which other orders may explain a history.
const CONSISTENCIES: [&str; 8] =
    ["fifo", "fifo:empty=none", "lifo", "set", "map", "register", "counter", "deque"];

#[test]
fn sequential_consistency_is_what_an_enumeration_says() {
    for (at, text) in CONSISTENCIES.into_iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let sequential = Spec { consistency: Consistency::Sequential, ..spec };
        let mut random = Random::new(800 + at as u64);
        let (mut only_so, mut never) = (0, 0);
        for _ in 0..crate::how_many(2_000) {
            let shape = Shape { kind: spec.kind, threads: (2, 3), operations: (3, 5), ..SMALL };
            let history = history(shape, &mut random);
            let mut left = records(&history);
            let mut done = vec![Vec::new(); left.len()];
            let expected = any_order(&mut left, &mut done, &mut |records| {
                let ordered = History { drained: history.drained, ..written(records) };
                brute::explained(&ordered, &spec)
            });
            let verdict = check(&history, &sequential, &Limits::default());
            assert_eq!(verdict == Verdict::Consistent, expected, "{text}: {history:?}");
            let named = weaker(&history, &spec, &Limits::default());
            assert_eq!(named.contains(&sequential), expected, "{text}: {history:?}");
            only_so += usize::from(expected && !brute::explained(&history, &spec));
            never += usize::from(!expected);
        }
        assert!(only_so > 0 && never > 0, "{text}: {only_so}, {never}");
    }
}

/// Operations, each with the number of the time without quiescence that it is in: as each a thread
/// of its own, in every order that keeps these times apart.
fn any_quiescent_order(
    left: &mut Vec<(usize, Record)>,
    done: &mut Vec<Vec<Record>>,
    explained: &mut dyn FnMut(&[Vec<Record>]) -> bool,
) -> bool {
    let Some(first) = left.first().map(|(time, _)| *time) else { return explained(done) };
    for at in 0..left.len() {
        if left[at].0 > first {
            break;
        }
        let (time, record) = left.remove(at);
        let start = 2 * done.len() as u64 + 1;
        let end = if record.status.is_open() { record.end } else { start + 1 };
        done.push(vec![Record { start, end, ..record.clone() }]);
        let found = any_quiescent_order(left, done, explained);
        done.pop();
        left.insert(at, (time, record));
        if found {
            return true;
        }
    }
    false
}

/// The operations of a history by their start, with those numbers.
fn by_time(history: &History) -> Vec<(usize, Record)> {
    let mut all: Vec<Record> = records(history).into_iter().flatten().collect();
    all.sort_by_key(|record| record.start);
    let mut times: Vec<(usize, Record)> = Vec::new();
    for record in all {
        let is_apart = times.iter().all(|(_, before)| before.end < record.start);
        let time = times.last().map_or(0, |(time, _)| time + usize::from(is_apart));
        times.push((time, record));
    }
    times
}

#[test]
fn quiescent_consistency_is_what_an_enumeration_says() {
    for (at, text) in CONSISTENCIES.into_iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let quiescent = Spec { consistency: Consistency::Quiescent, ..spec };
        let mut random = Random::new(900 + at as u64);
        let (mut only_so, mut never) = (0, 0);
        for _ in 0..crate::how_many(2_000) {
            let shape = Shape { kind: spec.kind, threads: (2, 3), operations: (3, 5), ..SMALL };
            let history = history(shape, &mut random);
            let mut left = by_time(&history);
            // All orders of these are made.
            if left.len() > 7 {
                continue;
            }
            let expected = any_quiescent_order(&mut left, &mut Vec::new(), &mut |records| {
                let ordered = History { drained: history.drained, ..written(records) };
                brute::explained(&ordered, &spec)
            });
            let verdict = check(&history, &quiescent, &Limits::default());
            assert_eq!(verdict == Verdict::Consistent, expected, "{text}: {history:?}");
            only_so += usize::from(expected && !brute::explained(&history, &spec));
            never += usize::from(!expected);
        }
        assert!(only_so > 0 && never > 0, "{text}: {only_so}, {never}");
    }
}

/// Whether some order of the records is allowed, in which each is at most `factor` places from
/// where it is in some linearization. `order`: those that come first.
fn any_shifted(
    (records, factor): (&[Record], usize),
    order: &mut Vec<usize>,
    allowed: &dyn Fn(&[usize]) -> bool,
) -> bool {
    if order.len() == records.len() {
        return is_near((records, factor), order, &mut Vec::new()) && allowed(order);
    }
    (0..records.len()).filter(|at| !order.contains(at)).collect::<Vec<_>>().into_iter().any(|at| {
        order.push(at);
        let found = any_shifted((records, factor), order, allowed);
        order.pop();
        found
    })
}

/// Whether a linearization that begins with these has each so near to where it is in `order`.
fn is_near(
    (records, factor): (&[Record], usize),
    order: &[usize],
    linearized: &mut Vec<usize>,
) -> bool {
    let place = linearized.len();
    let left = |at: &usize| !linearized.contains(at);
    let may_be_next = |at: usize| {
        let is_first = (0..order.len()).filter(left).all(|o| records[o].end >= records[at].start);
        let own = order.iter().position(|other| *other == at).expect("all are in it");
        left(&at) && is_first && own.abs_diff(place) <= factor
    };
    let next: Vec<usize> = (0..order.len()).filter(|at| may_be_next(*at)).collect();
    place == order.len()
        || next.into_iter().any(|at| {
            linearized.push(at);
            let found = is_near((records, factor), order, linearized);
            linearized.pop();
            found
        })
}

#[test]
fn quasi_linearizability_is_what_an_enumeration_says() {
    for (at, text) in CONSISTENCIES.into_iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(1_000 + at as u64);
        let (mut only_so, mut never) = (0, 0);
        for number in 0..crate::how_many(2_000) {
            let factor = 1 + number % 2;
            let quasi = Spec { consistency: Consistency::Quasi(factor as u32), ..spec };
            let shape = Shape { kind: spec.kind, threads: (2, 3), operations: (3, 5), ..SMALL };
            let history = history(Shape { pending: 0, ..shape }, &mut random);
            let says = |record: &Record| match record.status {
                Status::Full => false,
                status => status != Status::Empty || !text.contains("empty=none"),
            };
            let all = records(&history).into_iter().flatten();
            let all: Vec<Record> = all.filter(says).collect();
            if all.len() > 7 {
                continue;
            }
            let expected = any_shifted((&all, factor), &mut Vec::new(), &|order| {
                let apart = |(time, at): (u64, &usize)| {
                    vec![Record { start: 2 * time, end: 2 * time + 1, ..all[*at].clone() }]
                };
                let threads: Vec<Vec<Record>> = (0..).zip(order).map(apart).collect();
                let ordered = History { drained: history.drained, ..written(&threads) };
                brute::explained(&ordered, &spec)
            });
            let verdict = check(&history, &quasi, &Limits::default());
            assert_eq!(verdict == Verdict::Consistent, expected, "{quasi}: {history:?}");
            only_so += usize::from(expected && !brute::explained(&history, &spec));
            never += usize::from(!expected);
        }
        assert!(only_so > 0 && never > 0, "{text}: {only_so}, {never}");
    }
}

/// A call that never returned may have come before what it explains, by so many places.
#[test]
fn a_call_that_never_returned_may_be_shifted() {
    use Op::{Dequeue, Enqueue};
    let record = |op, status, start, args: &[i64], results: &[i64]| Record {
        op,
        status,
        start,
        end: start + 1,
        args: args.to_vec(),
        results: results.to_vec(),
    };
    let queue = |others: u64| {
        let taken = record(Dequeue, Status::Ok, 1, &[], &[7]);
        let more = (0..others).map(|at| record(Enqueue, Status::Ok, 3 + 2 * at, &[at as i64], &[]));
        let added = record(Enqueue, Status::Pending, 90, &[7], &[]);
        written(&[std::iter::once(taken).chain(more).collect(), vec![added]])
    };
    let allows = |others, text: &str| {
        let spec: Spec = text.parse().expect(text);
        check(&queue(others), &spec, &Limits::default()) == Verdict::Consistent
    };
    assert!(!allows(0, "fifo") && allows(0, "fifo:consistency=quasi-1"));
    assert!(!allows(1, "fifo:consistency=quasi-1") && allows(1, "fifo:consistency=quasi-2"));
}
