//! Compares partial linearizations with an enumeration of all that can be made step by step.

use std::collections::BTreeSet;

use interlap::check::{Limits, Partials, Verdict, check, partials};
use interlap::core::history::{Entry, History, NEVER, OperationId};
use interlap::core::interner::Interner;
use interlap::core::operation::{Op, Status};
use interlap::model::{
    Bag, Call, Counter, Dictionary, Kind, Log, Model, OrderedSet, Sequence, Spec,
};
use interlap::view::explanation;

use super::agreement::SMALL;
use super::random::{Random, Shape, history};

/// The operations of a maximal partial linearization.
pub type Done = BTreeSet<OperationId>;

/// Follows every order; collects its end.
fn ends<'a, M: Model<Call<'a>>>(
    (history, key): (&'a History, Option<i64>),
    last: u64,
    model: &M,
    done: &Done,
    state: &M::State,
    found: &mut BTreeSet<(Done, String)>,
) {
    let on_key = |id: &OperationId| key.is_none_or(|key| history.args(*id)[0] == key);
    let ids = history.ids().filter(on_key);
    let left: Vec<OperationId> = ids.filter(|id| !done.contains(id)).collect();
    let ends_at = left.iter().map(|id| history.operation(*id).end).filter(|end| *end <= last);
    let due = ends_at.min().unwrap_or(NEVER).min(last);
    let mut is_last = true;
    for id in left.into_iter().filter(|id| history.operation(*id).start <= due) {
        let entry = history.entry(id);
        let (op, status, args, results) = (entry.op, entry.status, entry.args, entry.results);
        let call = Call { op, status, args, results, id, queue: None };
        let mut next = Vec::new();
        model.step(state, &call, &mut next);
        for state in next {
            is_last = false;
            let mut done = done.clone();
            done.insert(id);
            ends((history, key), last, model, &done, &state, found);
        }
    }
    if is_last {
        found.insert((done.clone(), model.describe_state(state)));
    }
}

/// The ends of all partial linearizations until `last`, of which also answers that came later are
/// known.
pub fn enumerated(
    history: (&History, Option<i64>),
    last: u64,
    spec: &Spec,
) -> BTreeSet<(Done, String)> {
    let mut found = BTreeSet::new();
    let (f, none) = (&mut found, Done::new());
    let initial = (spec.kind == Kind::Register).then_some(0);
    let cells = Dictionary { initial };
    match spec.kind {
        Kind::Fifo | Kind::Lifo => ends(history, last, &Sequence, &none, &Sequence.init(), f),
        Kind::Pool | Kind::PriorityQueue => {
            let bag = Bag { k: spec.k as usize };
            ends(history, last, &bag, &none, &bag.init(), f);
        }
        Kind::Counter => ends(history, last, &Counter, &none, &Counter.init(), f),
        Kind::Log => ends(history, last, &Log, &none, &Log.init(), f),
        Kind::RangeSet => ends(history, last, &OrderedSet, &none, &OrderedSet.init(), f),
        _ => ends(history, last, &cells, &none, &cells.init(), f),
    }
    // The state of a set is shown as its keys.
    let words =
        |state: String| if spec.kind == Kind::Set { state.replace(": 1", "") } else { state };
    found.into_iter().map(|(done, state)| (done, words(state))).collect()
}

/// The prefix up to the response that no order explains.
fn known(history: &History, partials: &Partials) -> History {
    let time = history.operation(partials.failed).end;
    let mut known = History::default();
    for thread in &history.threads {
        known.threads.push(interlap::core::history::Thread::new(thread.client));
    }
    for id in history.ids() {
        let mut entry = history.entry(id);
        if entry.end > time {
            (entry.status, entry.end) = (interlap::core::operation::Status::Pending, NEVER);
            entry.results = &[];
        }
        if entry.start <= time {
            known.threads[id.thread as usize].push(entry).expect("in order");
        }
    }
    known
}

/// The key of the violation, if it concerns one.
fn key(history: &History, partials: &Partials) -> Option<i64> {
    partials.key.as_ref().map(|_| history.args(partials.failed)[0])
}

const SPECS: [&str; 10] = [
    "set",
    "map",
    "register",
    "counter",
    "log",
    "range-set",
    "fifo",
    "lifo",
    "pool",
    "priority-queue",
];

fn bad(spec: &Spec, shape: Shape, random: &mut Random) -> Option<(History, Partials)> {
    let history = history(Shape { kind: spec.kind, ..shape }, random);
    match check(&history, spec, &Limits::default()) {
        Verdict::Violation(witness) => {
            match partials(&history, spec, &witness.operations, &Limits::default()) {
                Ok(partials) => Some((history, partials)),
                // A value left over at the end is in no prefix.
                Err(why) => {
                    assert!(history.drained, "{spec}: {why:?}: {history:?}");
                    None
                }
            }
        }
        _ => None,
    }
}

#[test]
fn all_partial_linearizations_of_small_histories_are_found() {
    for (at, text) in SPECS.into_iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let (mut random, mut compared) = (Random::new(700 + at as u64), 0);
        // "full" answers, for which the object has no step.
        let shape = Shape { hides: 0, ..SMALL };
        while compared < 1_000 {
            let Some((history, partials)) = bad(&spec, shape, &mut random) else { continue };
            // The list is limited.
            if partials.more > 0 {
                continue;
            }
            let found: BTreeSet<(Done, String)> = partials
                .partials
                .iter()
                .map(|partial| {
                    let done = partial.steps.iter().map(|step| step.operation).collect();
                    let state = partial.steps.last().map(|step| &step.state);
                    (done, state.unwrap_or(&partial.before).clone())
                })
                .collect();
            let known = known(&history, &partials);
            let known = (&known, key(&history, &partials));
            let all = enumerated(known, history.operation(partials.last).end, &spec);
            assert_eq!(found, all, "{text}: {history:?}");
            let stuck = partials.partials.iter().all(|partial| {
                !partial.stuck.is_empty() && partial.stuck.len() == partial.expected.len()
            });
            assert!(stuck, "{text}: {partials:?}");
            let words = explanation::partials::text(&partials, &history, &Interner::default());
            assert!(words.lines().count() >= 2);
            compared += 1;
        }
    }
}

/// In long histories too, some order explains the operations of a partial linearization.
#[test]
fn partial_linearizations_of_long_histories_are_right_near_the_end() {
    for (at, text) in SPECS.into_iter().enumerate() {
        let spec: Spec = text.parse().expect(text);
        let (mut random, mut compared) = (Random::new(800 + at as u64), 0);
        let shape = Shape {
            threads: (2, 3),
            operations: (60, 120),
            corruptions: 2,
            pending: 0,
            hides: 0,
            ..SMALL
        };
        let mut tried = 0;
        while compared < 50 && tried < 2_000 {
            tried += 1;
            let Some((history, partials)) = bad(&spec, shape, &mut random) else { continue };
            let known = known(&history, &partials);
            // No order may be left long before the response that failed.
            let last = history.operation(partials.last).end;
            for partial in &partials.partials {
                let took = partial.steps.iter().map(|step| step.operation);
                let took: Done = took.chain(partial.done_before.iter().copied()).collect();
                let key = key(&history, &partials);
                let on_key = |id| key.is_none_or(|key| known.args(id)[0] == key);
                let settled = |id: &OperationId| {
                    let is_past = history.operation(*id).start <= last;
                    is_past && !partials.near.contains(id) && on_key(*id)
                };
                let kept = |id: &OperationId| took.contains(id) || settled(id);
                let ids: Vec<OperationId> = known.ids().filter(kept).collect();
                let verdict = check(&known.only(&ids), &spec, &Limits::default());
                assert_eq!(verdict, Verdict::Consistent, "{text}: {partial:?}: {history:?}");
            }
            compared += 1;
        }
        println!("{text}: {compared} of {tried}");
        assert!(compared >= 20, "{text}: only {compared} of {tried}");
    }
}

/// Of each three writes at once the first is read. The last read finds the very first value.
fn long_register(blocks: i64) -> History {
    let mut history = History::default();
    let mut push = |client, op, (start, end), args: &[i64], results: &[i64]| {
        let entry = Entry { op, status: Status::Ok, start, end, args, results };
        history.push(client, entry).expect("in order");
    };
    for block in 0..blocks {
        let (time, first) = (10 * block as u64, 3 * block + 1);
        for client in 0..3 {
            let value = first + i64::from(client);
            push(client, Op::RegisterWrite, (time + 1, time + 5), &[value], &[]);
        }
        let read = if block + 1 == blocks { 1 } else { first };
        push(3, Op::RegisterRead, (time + 6, time + 7), &[], &[read]);
    }
    history
}

#[test]
fn a_long_history_has_its_partial_linearizations() {
    let (history, spec) = (long_register(10_000), Spec::new(Kind::Register));
    // What would be enough for a short one is not.
    let few = Limits { steps_max: 100_000, ..Limits::default() };
    assert!(matches!(check(&history, &spec, &few), Verdict::Inconclusive(_)));
    let Verdict::Violation(witness) = check(&history, &spec, &Limits::default()) else {
        panic!("a value that was overwritten")
    };
    let found = partials(&history, &spec, &witness.operations, &Limits::default());
    let found = found.expect("partial linearizations");
    assert_eq!(found.failed, OperationId { thread: 3, index: 9_999 });
    // Each of the last three writes may be the last, and none leaves what was read.
    let longest = found.partials.iter().filter(|partial| partial.stuck == [found.failed]);
    let left = longest.filter_map(|partial| Some(&partial.steps.last()?.state));
    assert_eq!(left.collect::<BTreeSet<_>>().len(), 3, "{found:?}");
}
