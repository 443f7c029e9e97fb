//! Compares every checker with the enumeration, for every model and option.

use interlap::check::{Limits, Undecided, Verdict, check, search};
use interlap::core::history::{History, Operation, OperationId};
use interlap::core::interner::Interner;
use interlap::core::operation::Op;
use interlap::model::{Kind, Spec};
use interlap::view::explanation::sentences;

use super::random::{Random, Shape, history};
use super::{brute, streams, transactions};

/// Small histories: enumeration decides them.
pub const SMALL: Shape = Shape {
    kind: Kind::Set,
    threads: (2, 4),
    operations: (3, 8),
    bulk: 0,
    elements: 3,
    pending: 12,
    duplicates: 0,
    corruptions: 3,
    hides: 4,
    counts: 0,
    voids: 33,
    relaxation: 0,
};

/// Longer histories: only the general search decides them too.
const MEDIUM: Shape =
    Shape { threads: (3, 5), operations: (10, 20), pending: 6, corruptions: 2, ..SMALL };

/// Most calls overlap many others, so that their order is left open.
const WIDE: Shape = Shape { threads: (6, 10), operations: (10, 20), ..MEDIUM };

/// Long enough for wrong choices to show only after many more.
const LONG: Shape = Shape { threads: (3, 10), operations: (40, 80), ..MEDIUM };

fn spec(text: &str) -> Spec {
    text.parse().expect(text)
}

/// How often each verdict occurred.
#[derive(Default, Debug)]
pub struct Shares {
    histories: usize,
    explained: usize,
}

impl Shares {
    pub fn note(&mut self, explained: bool) {
        self.histories += 1;
        self.explained += usize::from(explained);
    }

    /// A comparison in which one verdict hardly occurs proves little.
    pub fn assert_healthy(&self, name: &str) {
        let percent = 100 * self.explained / self.histories;
        println!("{name}: {} histories, {percent} % explained, 0 mismatches", self.histories);
        assert!((5..=95).contains(&percent), "{name}: {percent} % explained");
    }
}

/// Whether a commit has no answer in a history with timestamps.
fn lacks_timestamp(history: &History) -> bool {
    let of = |id: OperationId| (history.operation(id), history.args(id), history.results(id));
    let stamped = history.ids().map(of).any(|(operation, args, results)| {
        let has_one = matches!(operation.op, Op::StoreBegin | Op::StoreCommit);
        has_one && !(args.is_empty() && results.is_empty())
    });
    let open = |(operation, args, _): (&Operation, &[i64], _)| {
        operation.op == Op::StoreCommit && operation.status.is_open() && args.is_empty()
    };
    stamped && history.ids().map(of).any(open)
}

/// Whether the verdict agrees with the truth; inconclusive never does.
pub fn assert_agrees(
    verdict: &Verdict,
    explained: bool,
    spec: &Spec,
    history: &History,
    who: &str,
) {
    let agrees = match verdict {
        Verdict::Consistent => explained,
        Verdict::Violation(witness) => {
            for id in &witness.operations {
                assert!(
                    (id.index as usize) < history.threads[id.thread as usize].operations().len()
                );
            }
            assert!(!witness.operations.is_empty());
            assert!(!sentences(&witness.explanation, history, &Interner::default()).is_empty());
            if witness.rule == "set-answer" {
                let alone = history.only(&witness.operations);
                assert!(!brute::explained(&alone, spec), "{witness:?} is explained");
            }
            !explained
        }
        // The enumeration tries only one timestamp for a commit without an answer.
        Verdict::Inconclusive(why) => {
            *why == Undecided::LacksTimestamp && !explained && lacks_timestamp(history)
        }
    };
    assert!(agrees, "{who} under {spec}: {verdict:?}, explained: {explained}\n{}", show(history));
}

fn show(history: &History) -> String {
    let mut text = format!("drained: {}\n", history.drained);
    for id in history.ids() {
        let operation = history.operation(id);
        text += &format!(
            "  thread {} [{}, {}] {:?} {:?} -> {:?} {:?}\n",
            id.thread,
            operation.start,
            operation.end as i64,
            operation.op,
            history.args(id),
            operation.status,
            history.results(id)
        );
    }
    text
}

/// Compares `check`, and the general search alone, with the enumeration.
fn compare_small(specs: &[&str], shape: Shape, histories: usize) {
    let histories = crate::how_many(histories);
    let limits = Limits::default();
    for (at, text) in specs.iter().enumerate() {
        let spec = spec(text);
        let mut random = Random::new(at as u64 + 1);
        let mut shares = Shares::default();
        for number in 0..histories {
            let history = history(Shape { kind: spec.kind, ..shape }, &mut random);
            let explained = brute::explained(&history, &spec);
            shares.note(explained);
            let verdict = check(&history, &spec, &limits);
            assert_agrees(&verdict, explained, &spec, &history, "check");
            let literal = text.contains("count") || text.contains("run");
            if !literal && number % 4 == 0 {
                let verdict = search(&history, &spec, &limits);
                assert_agrees(&verdict, explained, &spec, &history, "search");
            }
        }
        shares.assert_healthy(text);
    }
}

#[test]
fn set() {
    compare_small(&["set"], SMALL, 100_000);
}

#[test]
fn map_and_register() {
    compare_small(&["map", "register"], SMALL, 100_000);
}

#[test]
fn fifo() {
    compare_small(&["fifo:empty=none", "fifo:empty=lone", "fifo"], SMALL, 100_000);
}

#[test]
fn fifo_bulk() {
    let shape = Shape { bulk: 30, threads: (2, 3), operations: (3, 6), ..SMALL };
    compare_small(&["fifo", "fifo:bulk=run", "fifo:bulk=atomic"], shape, 100_000);
}

#[test]
fn lifo() {
    compare_small(&["lifo:empty=none", "lifo:empty=lone", "lifo"], SMALL, 100_000);
}

#[test]
fn deque() {
    compare_small(&["deque:empty=none", "deque:empty=lone", "deque"], SMALL, 100_000);
}

#[test]
fn pool() {
    compare_small(&["pool:empty=none", "pool:empty=lone", "pool"], SMALL, 100_000);
    let shape = Shape { bulk: 40, pending: 30, threads: (2, 3), operations: (3, 6), ..SMALL };
    compare_small(&["pool:empty=none", "pool:empty=lone", "pool"], shape, 50_000);
}

/// Sizes, and bulk removals that fail because too few values are inside.
fn compare_sizes(histories: usize) {
    let sized = |models: &[&str], shape: Shape| {
        for size in ["none", "lone", "upper", "exact"] {
            let with = |model: &&str| {
                let option = if model.contains(':') { "," } else { ":" };
                format!("{model}{option}size={size}")
            };
            let models: Vec<String> = models.iter().map(with).collect();
            compare_small(&models.iter().map(String::as_str).collect::<Vec<_>>(), shape, histories);
        }
    };
    let counts = Shape { counts: 20, ..SMALL };
    sized(&["fifo", "fifo:empty=lone", "fifo-per-producer", "fifo-relaxed", "pool"], counts);
    sized(&["lifo", "lifo:empty=none", "deque", "priority-queue"], counts);
    let bulk = Shape { bulk: 40, threads: (2, 3), operations: (3, 6), counts: 10, ..SMALL };
    sized(&["fifo", "fifo:bulk=atomic", "fifo-per-producer", "fifo-per-producer:bulk=run"], bulk);
    sized(&["fifo-relaxed", "pool"], bulk);
    let equal = Shape { duplicates: 50, ..bulk };
    sized(&["fifo", "fifo-relaxed:k=3", "pool", "fifo-per-producer:bulk=run"], equal);
    sized(&["fifo:bulk=run", "fifo-per-producer:empty=count"], Shape { pending: 30, ..equal });
}

#[test]
fn sizes() {
    compare_sizes(4_000);
}

/// A stack or a deque of which no order is promised.
#[test]
fn pools_of_stacks_and_deques() {
    for (at, kind) in [Kind::Lifo, Kind::Deque].into_iter().enumerate() {
        for empty in ["none", "lone", "strong"] {
            let spec = spec(&format!("pool:empty={empty}"));
            let (mut random, mut shares) = (Random::new(40 + at as u64), Shares::default());
            for _ in 0..crate::how_many(20_000) {
                let history = history(Shape { kind, ..SMALL }, &mut random);
                let explained = brute::explained(&history, &spec);
                shares.note(explained);
                let verdict = check(&history, &spec, &Limits::default());
                assert_agrees(&verdict, explained, &spec, &history, "check");
                let verdict = search(&history, &spec, &Limits::default());
                assert_agrees(&verdict, explained, &spec, &history, "search");
            }
            shares.assert_healthy(&format!("{spec} of {kind:?}"));
        }
    }
}

#[test]
fn priority_queue() {
    let specs = ["priority-queue:empty=none", "priority-queue:empty=lone", "priority-queue"];
    compare_small(&specs, SMALL, 100_000);
}

/// Stacks, deques and priority queues that are relaxed.
#[test]
fn relaxed() {
    let specs = ["lifo:k=2", "lifo:empty=lone,k=3", "deque:k=2", "deque:empty=none,k=3"];
    for relaxation in [0, 2, 3] {
        let shape = Shape { relaxation, ..SMALL };
        compare_small(&specs, shape, 10_000);
        compare_small(&["priority-queue:k=2", "priority-queue:empty=lone,k=3"], shape, 10_000);
        compare_small(&["lifo:size=upper,k=2"], Shape { counts: 20, ..shape }, 5_000);
    }
    // What a relaxed structure does is never accused.
    for text in ["lifo:k=3", "deque:k=3", "priority-queue:k=3"] {
        let (spec, mut random) = (spec(text), Random::new(3));
        let shape = Shape { kind: spec.kind, relaxation: 3, corruptions: 0, hides: 0, ..MEDIUM };
        for _ in 0..crate::how_many(3_000) {
            let history = history(shape, &mut random);
            assert_eq!(check(&history, &spec, &Limits::default()), Verdict::Consistent);
        }
    }
}

#[test]
fn fifo_relaxed() {
    let specs = ["fifo-relaxed:empty=none,k=3", "fifo-relaxed", "fifo-relaxed:empty=strong,k=1"];
    compare_small(&specs, SMALL, 100_000);
    let shape = Shape { bulk: 30, pending: 30, threads: (2, 3), operations: (3, 6), ..SMALL };
    compare_small(&specs, shape, 20_000);
}

#[test]
fn counter() {
    compare_small(&["counter"], SMALL, 100_000);
}

#[test]
fn log() {
    compare_small(&["log"], Shape { pending: 30, ..SMALL }, 100_000);
    compare_small(&["log"], Shape { pending: 30, duplicates: 30, ..SMALL }, 20_000);
}

#[test]
fn kv() {
    compare_small(&["kv"], SMALL, 100_000);
}

#[test]
fn range_set() {
    compare_small(&["range-set"], SMALL, 100_000);
}

const PER_PRODUCER: [&str; 5] = [
    "fifo-per-producer:empty=none",
    "fifo-per-producer",
    "fifo-per-producer:empty=count",
    "fifo-per-producer:empty=identity",
    "fifo-per-producer:empty=strong",
];

#[test]
fn per_producer() {
    compare_small(&PER_PRODUCER, SMALL, 100_000);
}

#[test]
fn per_producer_bulk() {
    let shape = Shape { bulk: 40, threads: (2, 3), operations: (3, 6), ..SMALL };
    for bulk in ["element", "run", "atomic"] {
        let specs = ["none", "lone", "count", "identity", "strong"]
            .map(|empty| format!("fifo-per-producer:empty={empty},bulk={bulk}"));
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        compare_small(&specs, shape, 20_000);
    }
}

/// Every model of queues, stacks and deques with every option.
fn containers() -> Vec<String> {
    let with = |kind: &str, option: &str, choices: &[&str]| -> Vec<String> {
        choices.iter().map(|choice| format!("{kind}{option}={choice}")).collect()
    };
    let single = ["none", "lone", "strong"];
    let mut all = Vec::new();
    for kind in ["pool", "lifo", "deque", "priority-queue", "fifo-relaxed"] {
        all.extend(with(kind, ":empty", &single));
    }
    let every = ["none", "lone", "count", "identity", "strong"];
    let queues = [("fifo", &single[..]), ("fifo-per-producer", &every[..])];
    for empty in queues.iter().flat_map(|(kind, empty)| with(kind, ":empty", empty)) {
        all.extend(with(&empty, ",bulk", &["element", "run", "atomic"]));
    }
    all
}

#[test]
fn histories_that_add_a_value_twice() {
    let specs = containers();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let shape = Shape {
        duplicates: 50,
        bulk: 30,
        threads: (2, 3),
        operations: (3, 6),
        pending: 15,
        ..SMALL
    };
    compare_small(&specs, shape, 2_500);
}

/// Up to twelve operations are always decided, whatever the model, the option and the values: of
/// twelve threads; of four, whose bulk calls move up to three values; of three, up to twelve.
#[test]
fn no_short_history_is_undecided() {
    let keyed = ["set", "range-set", "map", "kv", "register", "counter", "log"];
    let sized = ["fifo", "fifo-relaxed", "fifo-per-producer", "pool", "lifo", "deque"]
        .map(|kind| format!("{kind}:size=exact"));
    let specs = containers().into_iter().chain(keyed.map(str::to_string)).chain(sized);
    for (at, text) in specs.enumerate() {
        let spec = spec(&text);
        let counts = if text.contains("size") { 25 } else { 0 };
        let mut random = Random::new(500 + at as u64);
        for number in 0..crate::how_many(300) {
            let many = [(12, 0, 1), (4, 50, 3), (3, 50, 12)];
            let (threads, bulk, elements) = many[number % 3];
            // Which producer's each of many equal values is can be too much to try.
            let elements = if text.contains("count") { elements.min(3) } else { elements };
            let (duplicates, pending) = ([0, 50, 95][number / 3 % 3], [0, 60][number / 9 % 2]);
            let shape = Shape { kind: spec.kind, threads: (2, threads), bulk, elements, ..SMALL };
            let shape = Shape { operations: (9, 12), duplicates, pending, counts, ..shape };
            let history = history(shape, &mut random);
            let verdict = check(&history, &spec, &Limits::default());
            let is_decided = !matches!(verdict, Verdict::Inconclusive(_));
            assert!(is_decided, "{text}: {verdict:?}\n{}", show(&history));
        }
    }
}

#[test]
fn histories_of_medium_length() {
    compare_medium(&MEDIUM_MODELS, MEDIUM, 20_000);
}

#[test]
fn bulk_calls_of_a_queue() {
    let shape = Shape { bulk: 50, hides: 15, operations: (6, 12), ..MEDIUM };
    compare_medium(&["fifo", "fifo:empty=lone"], shape, 2_000);
}

#[test]
fn histories_in_which_many_calls_overlap() {
    compare_medium(&["range-set"], WIDE, 20_000);
    compare_medium(&["range-set"], LONG, 20_000);
}

/// The long run: `make test-long`. Every model and option, ten times as often.
#[test]
#[ignore = "takes ten minutes"]
fn a_million_of_each() {
    const MILLION: usize = 1_000_000;
    let free = [
        "set",
        "map",
        "register",
        "kv",
        "range-set",
        "counter",
        "fifo-relaxed",
        "fifo-relaxed:empty=strong,k=1",
        "fifo-relaxed:empty=none,k=3",
    ];
    compare_small(&free, SMALL, MILLION);
    compare_small(&["log"], Shape { pending: 30, ..SMALL }, MILLION);
    for kind in ["fifo", "pool", "lifo", "deque", "priority-queue"] {
        let specs = ["none", "lone", "strong"].map(|empty| format!("{kind}:empty={empty}"));
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        compare_small(&specs, SMALL, MILLION);
    }
    compare_small(&PER_PRODUCER, SMALL, MILLION);
    compare_sizes(MILLION / 10);
    let bulk = Shape { bulk: 40, threads: (2, 3), operations: (3, 6), ..SMALL };
    for of in ["fifo", "fifo-per-producer"] {
        let specs = ["element", "run", "atomic"].map(|bulk| format!("{of}:bulk={bulk}"));
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        compare_small(&specs, bulk, MILLION);
    }
    compare_small(&["pool"], bulk, MILLION);
    let specs = containers();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    compare_small(&specs, Shape { duplicates: 50, ..bulk }, MILLION / 10);
    streams::compare(MILLION);
    transactions::compare("snapshot", MILLION);
    transactions::compare("serializable", MILLION);
    compare_medium(&MEDIUM_MODELS, MEDIUM, MILLION / 10);
    compare_medium(&["range-set"], WIDE, MILLION / 10);
    compare_medium(&["range-set"], LONG, MILLION / 10);
}

const MEDIUM_MODELS: [&str; 15] = [
    "set",
    "map",
    "register",
    "fifo",
    "fifo:empty=lone",
    "lifo",
    "deque",
    "fifo-per-producer",
    "fifo-per-producer:empty=strong",
    "fifo-per-producer:empty=identity",
    "pool",
    "priority-queue",
    "counter",
    "log",
    "range-set",
];

/// The specialised checkers against the general search where enumeration would take too long.
fn compare_medium(specs: &[&str], shape: Shape, histories: usize) {
    let histories = crate::how_many(histories);
    let limits = Limits::default();
    for (at, text) in specs.iter().enumerate() {
        let spec = spec(text);
        let mut random = Random::new(100 + at as u64);
        let mut shares = Shares::default();
        for _ in 0..histories {
            let history = history(Shape { kind: spec.kind, ..shape }, &mut random);
            let explained = match search(&history, &spec, &limits) {
                Verdict::Consistent => true,
                Verdict::Violation(_) => false,
                // A few histories are too hard for the general search, which is then inconclusive.
                Verdict::Inconclusive(_) => continue,
            };
            shares.note(explained);
            let verdict = check(&history, &spec, &limits);
            assert_agrees(&verdict, explained, &spec, &history, "check");
        }
        shares.assert_healthy(text);
    }
}
