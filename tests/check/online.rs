//! Compares the online check with the check of every prefix, and checks that it prunes enough.

use interlap::check::{Events, Limits, Online, Verdict, check};
use interlap::core::history::{Entry, History, Misfit, NEVER, Thread};
use interlap::core::operation::{Op, Status};
use interlap::fuzz::online_round::OnlineRound;
use interlap::model::Spec;
use interlap::trace::frame::RoundStart;
use interlap::trace::rounds::Part;

use super::agreement::SMALL;
use super::random::{Random, Shape, history};

const SPECS: [&str; 27] = [
    "set",
    "map",
    "register",
    "counter",
    "log",
    "kv",
    "range-set",
    "fifo:empty=none",
    "fifo:empty=lone",
    "fifo",
    "fifo-relaxed",
    "fifo-per-producer",
    "fifo-per-producer:empty=count",
    "fifo-per-producer:empty=identity",
    "fifo-per-producer:empty=strong",
    "pool",
    "lifo",
    "deque",
    "priority-queue:empty=lone",
    "priority-queue",
    "fifo:size=exact",
    "fifo-per-producer:size=exact",
    "lifo:size=upper",
    "pool:size=lone",
    "lifo:k=2",
    "deque:k=2",
    "priority-queue:k=2",
];

/// The shape of the histories of a model; those of one that promises a size have calls for it.
fn shaped(text: &str, shape: Shape) -> Shape {
    let kind = text.parse::<Spec>().expect(text).kind;
    let counts = if text.contains("size=") { 15 } else { 0 };
    Shape { kind, counts, ..shape }
}

/// The prefix of `history` up to and including `time`.
pub fn until(history: &History, time: u64) -> History {
    let mut before = History::default();
    for (at, thread) in history.threads.iter().enumerate() {
        before.threads.push(Thread::new(thread.client));
        for index in 0..thread.operations().len() as u32 {
            let id = interlap::core::history::OperationId { thread: at as u32, index };
            let mut entry = history.entry(id);
            if entry.start > time {
                break;
            }
            if entry.end > time && entry.status != Status::Unknown {
                (entry.status, entry.end, entry.results) = (Status::Pending, NEVER, &[]);
            }
            before.threads[at].push(entry).expect("in order");
        }
    }
    before
}

/// Feeds `history`. After all events of each time with a response, calls `look` with that time and
/// with the time of the violation plus one, or 0.
fn feed(online: &mut Online, history: &History, mut look: impl FnMut(u64, &mut Online, u64)) {
    let events: Vec<_> = Events::new(history).collect();
    let mut found = 0;
    for (at, event) in events.iter().enumerate() {
        let (client, time) = (event.id.thread, event.time);
        let entry = history.entry(event.id);
        if event.returns {
            let answered = online.answer(client, entry.status, entry.results, time);
            found = answered.expect("in order").map_or(0, |found| found.time + 1);
        } else {
            online.call(client, entry.op, entry.args, time).expect("in order");
        }
        let is_last = events.get(at + 1).is_none_or(|next| next.time > time);
        if event.returns && is_last {
            look(time, online, found);
        }
    }
}

fn compare(shape: Shape, histories: usize) {
    let histories = crate::how_many(histories);
    let limits = Limits::default();
    for (at, text) in SPECS.into_iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(500 + at as u64);
        let mut bad = 0;
        for _ in 0..histories {
            let history = history(shaped(text, shape), &mut random);
            let mut online = Online::new(spec, limits.clone());
            let mut first = 0;
            feed(&mut online, &history, |time, _, found| {
                let known = until(&history, time);
                match check(&known, &spec, &limits) {
                    Verdict::Violation(_) => {
                        assert_ne!(found, 0, "{text}: too late, after {time}: {history:?}")
                    }
                    Verdict::Consistent => {
                        assert_eq!(found, 0, "{text}: a false alarm after {time}: {history:?}")
                    }
                    Verdict::Inconclusive(_) => {}
                }
                first = found;
            });
            bad += usize::from(first != 0);
            let (verdict, of) = online.finish(history.drained);
            let whole = check(&history, &spec, &limits);
            let agree = std::mem::discriminant(&verdict) == std::mem::discriminant(&whole);
            assert!(agree, "{text}: {verdict:?} but {whole:?}: {history:?}");
            if let Verdict::Violation(witness) = verdict {
                assert!(witness.operations.iter().all(|id| of.ids().any(|other| other == *id)));
            }
            // A check at fewer times finds the same, later.
            let mut rarely = Online::new(spec, limits.clone()).every(5);
            let mut last = 0;
            feed(&mut rarely, &history, |_, _, found| last = found);
            let known = until(&history, u64::MAX - 1);
            assert!(last == 0 || last == first, "{text}: {last} for {first}: {known:?}");
        }
        println!("{text}: {histories} histories, {bad} found bad on the way, 0 mismatches");
        assert!(bad > histories / 50, "{text}: hardly any history is bad");
    }
}

#[test]
fn online_agrees_on_every_prefix_of_small_histories() {
    compare(SMALL, 10_000);
}

/// Long enough that operations are pruned several times before the violation.
#[test]
fn online_agrees_on_every_prefix_of_longer_histories() {
    let shape = Shape { threads: (2, 3), operations: (20, 40), corruptions: 2, ..SMALL };
    compare(Shape { pending: 3, hides: 1, ..shape }, 1_000);
}

/// The size of the window depends on the structure's size, not on the length of the run.
#[test]
fn long_runs_need_little_memory() {
    let shape = Shape {
        threads: (3, 3),
        operations: (3_000, 3_000),
        corruptions: 0,
        pending: 0,
        hides: 0,
        ..SMALL
    };
    let bounded = SPECS.into_iter().filter(|text| {
        // A log's window has every record; for relaxed models the search prunes too little.
        let unbounded = ["log", "fifo-relaxed"];
        !unbounded.contains(text) && !text.contains("size=") && !text.contains("k=")
    });
    for text in bounded {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(9);
        let history = history(shaped(text, shape), &mut random);
        let limits = Limits { steps_max: 200_000, ..Limits::default() };
        let mut online = Online::new(spec, limits).every(256);
        feed(&mut online, &history, |_, _, found| assert_eq!(found, 0, "{text}"));
        let (_, most) = online.held();
        println!("{text}: {most} operations of {}", history.len());
        assert!(most < 1_500, "{text} held {most} operations of {}", history.len());
        let (verdict, _) = online.finish(history.drained);
        assert_eq!(verdict, Verdict::Consistent, "{text}");
    }
}

/// The history in parts, split at each quiescent instant.
fn parts(history: &History) -> Vec<History> {
    let mut ids: Vec<_> = history.ids().collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    let (mut parts, mut end): (Vec<Vec<_>>, _) = (Vec::new(), 0);
    for id in ids {
        let operation = history.operation(id);
        if parts.is_empty() || operation.start > end {
            parts.push(Vec::new());
        }
        end = end.max(operation.end);
        parts.last_mut().expect("there is one").push(id);
    }
    parts.iter().map(|ids| history.only(ids)).collect()
}

/// A round in parts has the verdict of the whole round, and a history that shows it.
#[test]
fn rounds_in_parts_have_the_verdict_of_the_whole() {
    let shape = Shape { threads: (2, 3), operations: (20, 40), pending: 0, hides: 0, ..SMALL };
    let limits = Limits::default();
    for (at, text) in SPECS.into_iter().chain(["fifo-per-producer:bulk=run"]).enumerate() {
        let spec: Spec = text.parse().expect(text);
        let mut random = Random::new(900 + at as u64);
        let (rounds, mut bad, mut cuts) = (crate::how_many(10_000), 0, 0);
        for _ in 0..rounds {
            let history = history(shaped(text, shape), &mut random);
            let start =
                RoundStart { round: 3, threads: 3, calls: 0, sequential: false, fresh: false };
            let mut watch = OnlineRound::new(start.clone(), spec, limits.clone());
            let mut early = false;
            for (number, history) in parts(&history).into_iter().enumerate() {
                cuts += usize::from(number > 0);
                let part = Part { start: start.clone(), number: number as u64, history, end: None };
                if watch.take(part.clone()) {
                    early = true;
                    break;
                }
            }
            let watched = watch.finish(history.drained && !early);
            let kind = std::mem::discriminant::<Verdict>;
            let whole = check(&history, &spec, &limits);
            let verdict = watched.verdict;
            assert_eq!(kind(&verdict), kind(&whole), "{text}: {verdict:?}, {whole:?}: {history:?}");
            if let Verdict::Violation(witness) = &verdict {
                bad += 1;
                let again = check(&watched.history, &spec, &limits);
                assert_eq!(kind(&again), kind(&verdict), "{text}: {witness:?}: {history:?}");
            }
        }
        println!("{text}: {cuts} cuts, {bad} of {rounds} bad, 0 mismatches");
        assert!(bad > rounds / 50 && cuts > rounds, "{text}: {bad} bad, {cuts} cuts");
    }
}

#[test]
fn events_that_do_not_fit_are_refused() {
    let mut online = Online::new("fifo".parse().expect("a model"), Limits::default());
    let shape = |result: Result<(), Misfit>| matches!(result, Err(Misfit::Shape(_)));
    let order = |result: Result<(), Misfit>| matches!(result, Err(Misfit::Order(_)));
    assert!(shape(online.call(0, Op::Push, &[1], 5)));
    assert!(shape(online.call(0, Op::Enqueue, &[], 5)));
    online.call(0, Op::Enqueue, &[1], 6).expect("in order");
    assert!(order(online.call(0, Op::Enqueue, &[2], 7)));
    assert!(order(online.call(1, Op::Enqueue, &[2], 5)));
    assert!(order(online.answer(1, Status::Ok, &[], 8).map(drop)));
    let later = |start: u64, status| {
        let mut later = History::default();
        let entry = Entry { op: Op::Enqueue, status, start, end: 20, args: &[3], results: &[] };
        later.push(0, entry).expect("in order");
        later
    };
    assert!(order(online.append(later(10, Status::Ok))), "a call is under way");
    online.answer(0, Status::Ok, &[], 9).expect("it was called");
    assert!(order(online.call(0, Op::Enqueue, &[2], 9)));
    assert!(order(online.append(later(8, Status::Ok))), "too early");
    assert!(order(online.append(later(10, Status::Pending))), "still under way");
    online.append(later(10, Status::Ok)).expect("in order");
    assert!(order(online.call(0, Op::Enqueue, &[2], 20)));
    assert_eq!((online.returned(), online.held().0), (2, 2));
}
