//! Compares the check of journals against users' own models with the enumeration: independent parts
//! on several threads, operations of several steps, and limits.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use interlap::check::{Exhausted, Explanation, Limits, OfSearch, Verdict, check};
use interlap::core::history::{History, NEVER, OperationId};
use interlap::core::journal::Journal;
use interlap::core::operation::{Op, Status};
use interlap::model::{Call, Dictionary, Model, Sequence, Spec, key};

use super::agreement::{SMALL, Shares};
use super::brute;
use super::random::{Random, Shape, history};

const NOBODY: OperationId = OperationId { thread: 0, index: 0 };

/// A call that owns its values, as a user's would.
#[derive(Clone, Debug)]
pub struct Owned {
    pub op: Op,
    pub status: Status,
    pub args: Vec<i64>,
    pub results: Vec<i64>,
}

impl Owned {
    fn call(&self) -> Call<'_> {
        let Owned { op, status, args, results } = self;
        Call { op: *op, status: *status, args, results, id: NOBODY, queue: None }
    }
}

pub fn journal(history: &History) -> Journal<Owned> {
    let mut journal = Journal::default();
    journal.drained = history.drained;
    for id in history.ids() {
        let entry = history.entry(id);
        let (op, status) = (entry.op, entry.status);
        let owned = Owned { op, status, args: entry.args.into(), results: entry.results.into() };
        let end = (entry.end != NEVER).then_some(entry.end);
        journal.push(id.thread, owned, entry.start, end).expect("it was a history");
    }
    journal
}

/// A map of independent keys.
#[derive(Clone)]
pub struct Map;

impl Model<Owned> for Map {
    type State = <Dictionary as Model<Call<'static>>>::State;

    fn init(&self) -> Self::State {
        Default::default()
    }

    fn step(&self, state: &Self::State, operation: &Owned, next: &mut Vec<Self::State>) {
        Dictionary { initial: None }.step(state, &operation.call(), next);
    }

    fn part(&self, operation: &Owned) -> Option<impl Eq + Hash + Debug> {
        Some(key(operation.op, &operation.args))
    }

    fn reads(&self, operation: &Owned) -> bool {
        operation.call().is_read()
    }

    fn describe_state(&self, state: &Self::State) -> String {
        Dictionary { initial: None }.describe_state(state)
    }
}

/// A register, which holds 0 at first.
pub struct Register;

impl Model<Owned> for Register {
    type State = <Dictionary as Model<Call<'static>>>::State;

    fn init(&self) -> Self::State {
        Dictionary { initial: Some(0) }.init()
    }

    fn step(&self, state: &Self::State, operation: &Owned, next: &mut Vec<Self::State>) {
        Dictionary { initial: Some(0) }.step(state, &operation.call(), next);
    }

    fn describe_state(&self, state: &Self::State) -> String {
        Dictionary { initial: Some(0) }.describe_state(state)
    }
}

/// A queue whose bulk calls take several steps.
#[derive(Clone)]
pub struct Queue;

impl Model<Owned> for Queue {
    type State = std::collections::VecDeque<i64>;

    fn init(&self) -> Self::State {
        Default::default()
    }

    fn step(&self, state: &Self::State, operation: &Owned, next: &mut Vec<Self::State>) {
        Sequence.step(state, &operation.call(), next);
    }

    fn is_empty(&self, state: &Self::State) -> bool {
        state.is_empty()
    }

    fn describe_state(&self, state: &Self::State) -> String {
        Sequence.describe_state(state)
    }

    fn split(&self, operation: &Owned, steps: &mut Vec<Owned>) {
        let none = Vec::new;
        match (operation.op, operation.status) {
            (Op::EnqueueBulk, Status::Ok | Status::Pending | Status::Unknown) => {
                steps.extend(operation.args.iter().map(|value| Owned {
                    op: Op::Enqueue,
                    args: vec![*value],
                    ..operation.clone()
                }));
            }
            (Op::DequeueBulk, Status::Ok) => {
                steps.extend(operation.results.iter().map(|value| Owned {
                    op: Op::Dequeue,
                    args: none(),
                    results: vec![*value],
                    ..operation.clone()
                }));
            }
            (Op::DequeueBulk, Status::Pending | Status::Unknown) => {
                steps.extend((0..operation.args[0]).map(|_| Owned {
                    op: Op::Dequeue,
                    args: none(),
                    ..operation.clone()
                }));
            }
            _ => {}
        }
    }
}

fn compare<M: Model<Owned> + Sync>(model: &M, text: &str, shape: Shape, histories: usize) {
    let histories = crate::how_many(histories);
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(23));
    let mut shares = Shares::default();
    for number in 0..histories {
        let history = history(Shape { kind: spec.kind, ..shape }, &mut random);
        let explained = brute::explained(&history, &spec);
        shares.note(explained);
        let limits = Limits { jobs: 1 + usize::from(number % 16 == 0), ..Limits::default() };
        let verdict = check(&journal(&history), model, &limits);
        let agrees = match &verdict {
            Verdict::Consistent => explained,
            Verdict::Violation(_) => !explained,
            Verdict::Inconclusive(_) => false,
        };
        assert!(agrees, "{verdict:?}, explained: {explained}, {history:?}");
    }
    shares.assert_healthy(text);
}

#[test]
fn independent_parts() {
    compare(&Map, "map", SMALL, 100_000);
}

#[test]
fn operations_of_several_steps() {
    let shape = Shape { bulk: 30, threads: (2, 3), operations: (3, 6), hides: 0, ..SMALL };
    compare(&Queue, "fifo", shape, 20_000);
}

/// `keys` keys, each with two writes and a read; a read of a key in `bad` finds a value that was
/// never written.
fn many_keys(keys: i64, bad: &[i64]) -> Journal<Owned> {
    let mut journal = Journal::default();
    for key in 0..keys {
        let start = 10 * key as u64;
        let mut push = |client, op, args: Vec<i64>, results: Vec<i64>, at| {
            let owned = Owned { op, status: Status::Ok, args, results };
            journal.push(client, owned, start + at, Some(start + at + 3)).expect("apart");
        };
        push(1, Op::MapPut, vec![key, 1], vec![], 0);
        push(2, Op::MapPut, vec![key, 2], vec![], 1);
        let read = if bad.contains(&key) { 3 } else { 1 };
        push(3, Op::MapGet, vec![key], vec![read], 2);
    }
    journal
}

#[test]
fn the_first_violated_part_is_the_answer_on_any_number_of_threads() {
    let journal = many_keys(500, &[211, 300, 490]);
    for jobs in [1, 2, 4] {
        let limits = Limits { jobs, ..Limits::default() };
        let Verdict::Violation(witness) = check(&journal, &Map, &limits) else { panic!("bad") };
        let failed = journal.get(*witness.operations.last().expect("one"));
        assert_eq!(failed.operation.args, [211], "{jobs} jobs: {witness:?}");
        let Explanation::Search(OfSearch::OfModel { client: 3, .. }) = *witness.explanation else {
            panic!("{witness:?}")
        };
    }
    let limits = Limits { jobs: 4, ..Limits::default() };
    assert_eq!(check(&many_keys(500, &[]), &Map, &limits), Verdict::Consistent);
}

#[test]
fn limits_make_a_check_inconclusive() {
    let mut journal = Journal::default();
    for client in 0..20 {
        let args = vec![i64::from(client)];
        let owned = Owned { op: Op::Enqueue, status: Status::Ok, args, results: Vec::new() };
        journal.push(client, owned, 1, Some(9)).expect("one each");
    }
    assert_eq!(check(&journal, &Queue, &Limits::default()), Verdict::Consistent);
    // One order is soon found; that there is none is not.
    let taken = Owned { op: Op::Dequeue, status: Status::Ok, args: vec![], results: vec![99] };
    journal.push(20, taken, 10, Some(11)).expect("in turn");
    let reason = |limits: &Limits| match check(&journal, &Queue, limits) {
        Verdict::Inconclusive(reason) => reason,
        verdict => panic!("{verdict:?}"),
    };
    let small = Limits { memory_max: 1 << 20, ..Limits::default() };
    assert_eq!(reason(&small), Exhausted::Memory(1 << 20).into());
    let stopped = Limits { cancelled: Some(Arc::new(AtomicBool::new(true))), ..Limits::default() };
    assert_eq!(reason(&stopped), Exhausted::Cancelled.into());
    let short = Limits { steps_max: 10, ..Limits::default() };
    assert_eq!(reason(&short), Exhausted::Steps(10).into());
}

/// What was committed last, what the reader's transaction sees of it, and who else called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    committed: u32,
    snapshot: Option<u32>,
    called: u64,
}

#[derive(Clone, Debug)]
enum Versioned {
    Commit(u32),
    Begin,
    Read(u32),
    /// Nothing later was committed yet.
    Until(u32),
    Other(u32),
}

struct Store;

impl Model<Versioned> for Store {
    type State = Seen;

    fn init(&self) -> Seen {
        Seen { committed: 0, snapshot: None, called: 0 }
    }

    fn step(&self, seen: &Seen, operation: &Versioned, next: &mut Vec<Seen>) {
        let mut seen = seen.clone();
        match *operation {
            Versioned::Commit(value) => seen.committed = value,
            Versioned::Begin => seen.snapshot = Some(seen.committed),
            Versioned::Read(value) if seen.snapshot != Some(value) => return,
            Versioned::Until(value) if value < seen.committed => return,
            Versioned::Read(_) | Versioned::Until(_) => {}
            Versioned::Other(bit) => seen.called |= 1 << bit,
        }
        next.push(seen);
    }
}

/// Three commits, forty calls that may come in any order, and these of client 0.
fn among_commits(calls: impl IntoIterator<Item = (Versioned, RangeInclusive<u64>)>) -> Verdict {
    let mut journal = Journal::default();
    let mut push = |client, operation, start, end| {
        journal.push(client, operation, start, Some(end)).expect("in order");
    };
    push(1, Versioned::Commit(1), 10, 11);
    push(1, Versioned::Commit(2), 20, 21);
    push(1, Versioned::Commit(3), 30, 31);
    (0..40).for_each(|other| push(2 + other, Versioned::Other(other), 40, 45));
    calls.into_iter().for_each(|(call, time)| push(0, call, *time.start(), *time.end()));
    check(&journal, &Store, &Limits { configurations_max: 10_000, ..Limits::default() })
}

/// The transaction must begin between two commits, long before its first read.
fn begun(begin: RangeInclusive<u64>, read: u32) -> Verdict {
    among_commits([(Versioned::Begin, begin), (Versioned::Read(read), 50..=60)])
}

#[test]
fn what_is_to_blame_long_before_a_dead_end_is_moved() {
    for read in 0..=3 {
        assert_eq!(begun(0..=35, read), Verdict::Consistent, "{read}");
    }
    // It is not moved out of its timebox, and not past what it does not explain.
    for (begin, read) in [(12..=35, 0), (22..=35, 1), (0..=19, 2), (0..=29, 3), (0..=35, 4)] {
        assert_ne!(begun(begin, read), Verdict::Consistent, "{read}");
    }
}

#[test]
fn what_is_due_and_comes_too_late_is_moved() {
    for value in 0..=2 {
        let until = |time| among_commits([(Versioned::Until(value), time)]);
        assert_eq!(until(0..=70), Verdict::Consistent, "{value}");
        // The next one was committed before it was called.
        assert_ne!(until(u64::from(value) * 10 + 12..=70), Verdict::Consistent, "{value}");
    }
}
