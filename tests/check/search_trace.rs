//! Compares the search trace and the orders of good histories with the sequential objects. The ends
//! of the trace must be the partial linearizations, which `partials` compares with an enumeration.

use std::collections::BTreeSet;

use interlap::check::{
    AttemptOutcome, Limits, Partials, SearchTrace, Verdict, check, order, partials, search_trace,
};
use interlap::core::history::{History, NEVER, OperationId};
use interlap::model::Spec;

use super::agreement::SMALL;
use super::random::{Random, Shape, history};

const SPECS: [&str; 14] = [
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
    "fifo-relaxed:k=2",
    "fifo-per-producer",
    "deque",
    "kv",
];

fn drawn(at: usize, text: &str, seed: u64) -> (Spec, Shape, Random) {
    let spec: Spec = text.parse().expect(text);
    (spec, Shape { kind: spec.kind, hides: 0, ..SMALL }, Random::new(seed + at as u64))
}

/// The steps up to a node: its parent's and its own.
fn done(trace: &SearchTrace, node: usize) -> BTreeSet<usize> {
    match trace.nodes[node].parent {
        None => trace.nodes[node].done.iter().copied().collect(),
        Some((parent, step)) => {
            let mut all = done(trace, parent);
            assert!(all.insert(step), "a step is taken once");
            all
        }
    }
}

/// Compares a trace with the partial linearizations: the ends and their states are the same.
fn compare(trace: &SearchTrace, partials: &Partials, text: &str) {
    let ends = trace.nodes.iter().enumerate().filter(|(_, node)| {
        node.tries.iter().all(|tried| matches!(tried.outcome, AttemptOutcome::Refused(_)))
    });
    let named = |steps: &BTreeSet<usize>| -> Vec<OperationId> {
        let mut ids: Vec<_> = steps.iter().map(|step| trace.steps[*step].operation).collect();
        ids.sort_unstable();
        ids
    };
    let traced: BTreeSet<(Vec<OperationId>, String)> = ends
        .map(|(at, node)| (named(&done(trace, at)), trace.states[node.state].clone()))
        .collect();
    let found: BTreeSet<(Vec<OperationId>, String)> = partials
        .partials
        .iter()
        .map(|partial| {
            let steps = partial.steps.iter().map(|step| step.operation);
            let mut ids: Vec<_> = steps.chain(partial.done_before.iter().copied()).collect();
            ids.sort_unstable();
            let state = partial.steps.last().map_or(&partial.before, |step| &step.state);
            (ids, state.clone())
        })
        .collect();
    assert_eq!(traced, found, "{text}");
}

#[test]
fn the_trace_ends_where_the_partial_linearizations_do() {
    for (at, text) in SPECS.into_iter().enumerate() {
        let (spec, shape, mut random) = drawn(at, text, 900);
        let mut compared = 0;
        while compared < 300 {
            // An order has several steps of a bulk operation, a set has it once.
            let history = history(Shape { bulk: 0, ..shape }, &mut random);
            let Verdict::Violation(witness) = check(&history, &spec, &Limits::default()) else {
                continue;
            };
            let Ok(partials) = partials(&history, &spec, &witness.operations, &Limits::default())
            else {
                continue;
            };
            let trace =
                search_trace(&history, &spec, Some(&partials), &Limits::default()).expect(text);
            assert_eq!((trace.found, trace.is_cut), (None, false), "{text}: {history:?}");
            if partials.more == 0 && !history_splits(&trace) {
                compare(&trace, &partials, text);
                compared += 1;
            }
        }
    }
}

fn history_splits(trace: &SearchTrace) -> bool {
    trace.steps.iter().any(|step| step.parts > 1)
}

/// Whether each operation comes after all that returned before its invocation.
fn respects_boxes(history: &History, ids: &[OperationId]) -> bool {
    let mut called = 0;
    ids.iter().all(|id| {
        let operation = history.operation(*id);
        called = called.max(operation.start);
        called <= operation.end
    })
}

#[test]
fn good_histories_have_an_order_and_it_is_one() {
    for (at, text) in SPECS.into_iter().enumerate() {
        let (spec, shape, mut random) = drawn(at, text, 1000);
        let (mut good, mut found) = (0, 0);
        while good < 500 {
            let history = history(Shape { corruptions: 0, ..shape }, &mut random);
            if check(&history, &spec, &Limits::default()) != Verdict::Consistent {
                continue;
            }
            good += 1;
            let Ok(order) = order(&history, &spec, &Limits::default()) else { continue };
            found += 1;
            assert!(respects_boxes(&history, &order.operations), "{text}: {history:?}");
            // The order is consistent as a sequential history, too.
            let verdict = check(&in_turn(&history, &order.operations), &spec, &Limits::default());
            assert_eq!(verdict, Verdict::Consistent, "{text}: {order:?}: {history:?}");
            assert_eq!(order.states.len(), order.operations.len());
            let missing = history.ids().filter(|id| !order.operations.contains(id));
            for id in missing {
                let operation = history.operation(id);
                let idle = operation.status.name() == "empty" || operation.status.name() == "full";
                assert!(operation.end == NEVER || idle, "{text}: {id:?}: {history:?}");
            }
        }
        println!("{text}: {found} orders of {good} good histories");
        assert!(found == good, "{text}: {found} of {good}");
    }
}

/// Which of two puts came last is seen only thousands of steps later: the search goes back to
/// configurations that it no longer has.
#[test]
fn an_order_is_found_where_little_room_is() {
    let spec: Spec = "map".parse().expect("a model");
    for last in [1, 2] {
        let line = |thread: i64, call: &str, [start, end]: [i64; 2]| {
            format!("{{\"thread\": {thread}, {call}, \"start\": {start}, \"end\": {end}}}\n")
        };
        let put = |key: i64, value: i64, status: &str| {
            format!("\"op\": \"put\", \"args\": [{key}, {value}], \"status\": \"{status}\"")
        };
        let mut text =
            line(0, &put(0, 9, "failed"), [1, 2]) + &line(0, &put(1, 0, "failed"), [3, 4]);
        text += &(line(0, &put(0, 1, "ok"), [5, 6]) + &line(1, &put(0, 2, "ok"), [5, 6]));
        for at in 1..4_000 {
            text += &line(0, &put(1, at, "ok"), [10 * at, 10 * at + 1]);
        }
        let get = format!("\"op\": \"get\", \"args\": [0], \"results\": [{last}]");
        text += &line(1, &get, [50_000, 50_001]);
        let history = interlap::exchange::jsonl::read(&text, Some(spec)).expect("good").history;
        let found =
            |memory_max| order(&history, &spec, &Limits { memory_max, ..Limits::default() });
        let order = found(1).expect("there is one");
        assert_eq!(Ok(&order), found(usize::MAX).as_ref());
        let verdict = check(&in_turn(&history, &order.operations), &spec, &Limits::default());
        assert_eq!((verdict, order.operations.len()), (Verdict::Consistent, history.len()));
    }
}

/// The operations one after the other, in timeboxes that do not overlap. The timebox of an
/// operation with several steps reaches from the first to the last.
fn in_turn(history: &History, ids: &[OperationId]) -> History {
    let mut turns: Vec<(OperationId, u64, u64)> = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let at = 2 * at as u64 + 1;
        match turns.iter_mut().find(|(other, ..)| other == id) {
            Some((_, _, end)) => *end = at,
            None => turns.push((*id, at, at)),
        }
    }
    turns.sort_unstable();
    let mut in_turn = history.without_threads();
    let threads = history.threads.iter();
    in_turn.threads.extend(threads.map(|t| interlap::core::history::Thread::new(t.client)));
    for (id, start, end) in turns {
        let mut entry = history.entry(id);
        (entry.start, entry.end) = (start, end);
        in_turn.threads[id.thread as usize].push(entry).expect("in order");
    }
    in_turn
}

/// Nine overlapping enqueues, and an answer that no order of them explains.
#[test]
fn a_trace_that_is_too_long_says_that_it_was_cut() {
    let spec: Spec = "fifo".parse().expect("a model");
    let mut text = String::from("{\"interlap\": 1, \"model\": \"fifo\"}\n");
    for thread in 0..9 {
        text += &format!(
            "{{\"thread\": {thread}, \"op\": \"enqueue\", \"args\": [{thread}], \"start\": 1, \
             \"end\": 9}}\n"
        );
    }
    text += "{\"thread\": 9, \"op\": \"dequeue\", \"results\": [99], \"start\": 1, \"end\": 9}\n";
    let history = interlap::exchange::jsonl::read(&text, Some(spec)).expect("good").history;
    let trace = search_trace(&history, &spec, None, &Limits::default()).expect("a trace");
    assert_eq!((trace.found, trace.nodes.len()), (None, 4_000));
    assert!(trace.is_cut);
}
