//! Metamorphic tests: how the verdicts on a history and on a changed one must relate, for every
//! model. Histories are longer than an enumeration could decide.

use interlap::check::{Limits, Verdict, check};
use interlap::core::history::{Entry, History, NEVER, OperationId};
use interlap::core::operation::{Op, Status};
use interlap::model::{Empty, Kind, Spec};

use super::agreement::SMALL;
use super::random::{Random, Shape, history};

const HISTORIES: usize = 4_000;

const SPECS: [&str; 17] = [
    "set",
    "map",
    "register",
    "kv",
    "range-set",
    "counter",
    "log",
    "fifo",
    "fifo:empty=lone",
    "fifo-relaxed",
    "fifo-per-producer",
    "fifo-per-producer:empty=strong",
    "pool",
    "lifo",
    "lifo:empty=lone",
    "deque",
    "priority-queue",
];

fn shape(spec: &Spec) -> Shape {
    Shape { kind: spec.kind, threads: (2, 5), operations: (6, 24), corruptions: 1, ..SMALL }
}

/// Whether some order explains it; none where the check is inconclusive.
fn explained(history: &History, spec: &Spec) -> Option<bool> {
    match check(history, spec, &Limits::default()) {
        Verdict::Consistent => Some(true),
        Verdict::Violation(_) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// The history with each entry changed, or dropped.
fn changed<'a>(
    history: &'a History,
    mut change: impl FnMut(OperationId, Entry<'a>) -> Option<Entry<'a>>,
) -> History {
    let mut other = History { drained: history.drained, ..History::default() };
    for id in history.ids() {
        if let Some(entry) = change(id, history.entry(id)) {
            other.push(id.thread, entry).expect("it follows as it did");
        }
    }
    other
}

/// Asserts that no history has the first verdict of the pair while its `change` has the second.
fn assert_never(
    specs: &[&str],
    (before, after): (bool, bool),
    mut change: impl FnMut(&History, &mut Random) -> Option<History>,
) {
    for (at, text) in specs.iter().enumerate() {
        let spec: Spec = text.parse().expect("a model");
        let mut random = Random::new(1000 + at as u64);
        let mut compared = 0;
        for _ in 0..HISTORIES {
            let history = history(shape(&spec), &mut random);
            let Some(other) = change(&history, &mut random) else { continue };
            if explained(&history, &spec) == Some(before) {
                compared += 1;
                let verdict = explained(&other, &spec);
                assert_ne!(verdict, Some(after), "{text}: {history:?}\nbecame {other:?}");
            }
        }
        println!("{text}: {compared} compared");
        assert!(compared > HISTORIES / 50, "{text}: only {compared} compared");
    }
}

/// Narrower timeboxes allow fewer orders.
#[test]
fn a_bad_history_stays_bad_when_boxes_shrink() {
    assert_never(&SPECS, (false, true), |history, random| {
        let shrunk = changed(history, |_, entry| {
            let (start, end) = (entry.start, entry.end);
            if random.percent(60) {
                return Some(entry);
            }
            if end == NEVER {
                return Some(Entry { start: start + random.below(3) as u64, ..entry });
            }
            let start = start + random.below((end - start + 1) as usize) as u64;
            let end = start + random.below((end - start + 1) as usize) as u64;
            Some(Entry { start, end, ..entry })
        });
        Some(shrunk)
    });
}

/// Whether the operation never changes anything.
fn is_read(op: Op) -> bool {
    use Op::*;
    let of_sets = matches!(op, SetContains | SetRangeCount | SetRank | SetSize | SetSelect);
    let of_maps = matches!(op, SetRangeList | MapGet | KvGet);
    of_sets || of_maps || matches!(op, RegisterRead | CounterRead | LogRead | LogCheckTail)
}

/// Models whose "empty" does not depend on which calls overlap it.
fn plain() -> Vec<&'static str> {
    let means_it = |text: &&str| text.parse::<Spec>().expect("a model").empty == Empty::Strong;
    SPECS.into_iter().filter(means_it).collect()
}

#[test]
fn a_good_history_stays_good_without_one_of_its_reads() {
    assert_never(&plain(), (true, false), |history, random| {
        let reads = |id: &OperationId| {
            let operation = history.operation(*id);
            let empty = operation.status == Status::Empty && !history.drained;
            operation.end != NEVER && (is_read(operation.op) || empty)
        };
        let reads: Vec<OperationId> = history.ids().filter(reads).collect();
        let gone = *reads.get(random.below(reads.len().max(1)))?;
        Some(changed(history, |id, entry| (id != gone).then_some(entry)))
    });
}

/// Overlapping calls on other keys change no verdict.
#[test]
fn the_verdict_on_a_key_does_not_depend_on_other_keys() {
    for text in ["set", "map", "kv"] {
        let spec: Spec = text.parse().expect("a model");
        let mut random = Random::new(7);
        let mut seen = [0; 4];
        for _ in 0..HISTORIES {
            let [one, two] = [(); 2].map(|()| history(shape(&spec), &mut random));
            let (Some(first), Some(second)) = (explained(&one, &spec), explained(&two, &spec))
            else {
                continue;
            };
            let both = beside(&one, &two);
            assert_eq!(explained(&both, &spec), Some(first && second), "{text}: {both:?}");
            seen[usize::from(first) * 2 + usize::from(second)] += 1;
        }
        println!("{text}: {seen:?}");
        assert!(seen.iter().all(|count| *count > 10), "{text}: {seen:?}");
    }
}

/// Both histories at once, with separate threads and keys.
fn beside(one: &History, two: &History) -> History {
    let mut both = one.clone();
    let first = 1 + both.threads.iter().map(|thread| thread.client).max().unwrap_or(0);
    for id in two.ids() {
        let entry = two.entry(id);
        let mut args = entry.args.to_vec();
        args[0] += 1000;
        let entry = Entry { args: &args, ..entry };
        both.push(first + id.thread, entry).expect("it follows as it did");
    }
    both
}

#[test]
fn kinds_are_all_there() {
    let has =
        |kind: Kind| SPECS.iter().any(|text| text.parse::<Spec>().expect("known").kind == kind);
    // Objects in the library of a target: `check::itself` enumerates them.
    let others = [Kind::Snapshot, Kind::Serializable, Kind::Itself, Kind::Class];
    let missing: Vec<Kind> =
        Kind::ALL.iter().copied().filter(|kind| !has(*kind) && !others.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
