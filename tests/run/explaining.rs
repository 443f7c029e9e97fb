//! `interlap explain`: the tables of the broken twins name the line of the bug, and are the same
//! each time.

use std::path::Path;

use interlap::core::operation::Op;
use interlap::finding::interleaving::{Action, Call, Memory, Row, RowKind, Value, in_short};
use interlap::finding::{Failure, FaultPlace, Stored};
use interlap::process::fault::FaultKind;
use interlap::report::words::{FINDING, HOW_IT_WENT, SHRUNK_TO, STOPPED_INSIDE};
use interlap::trace::frame::{Awaited, Deed, DetectedKind, When};
use interlap::view::timeline::witness_note;

use super::tool::{Tool, read};

/// Twins, with a part of the line in which the bug takes effect.
const TWINS: [(&str, &str); 14] = [
    ("treiber_aba", "top.compare_exchange_weak(old, Tags::moved(old, next)"),
    ("ms_queue_untagged", "Tags::moved("),
    ("harris_set_marked_contains", "Contains::present(node->next.load())"),
    ("set_undecided_insert", "uint32_t state = node->state.load();"),
    ("ring_mpmc_early_publish", "BUG: before the value is there"),
    ("ring_spsc_early_publish", "BUG: before the value is there"),
    ("slot_log_early_tail", "BUG: nothing stands there yet"),
    ("atomic_register_split_cas", "BUG: the register may hold something else by now"),
    ("mutex_map_lost_update", "BUG: what was found need not hold any more"),
    ("ms_queue_no_recheck", "uint64_t next = pool[index_of(first)].next.load();"),
    ("locked_kv_lost_append", "locked_kv_lost_append.cpp:10"),
    ("range_set_torn_count", "BUG: the set may be another one by now"),
    ("chase_lev_no_fence", "BUG: the fence behind it is missing"),
    ("versioned_store_lost_update", "versions[change.first].push_back({now, change.second});"),
];

/// The stored report of the twin's finding, and the output of `explain`.
fn explained(tool: &Tool, finding: &Path, twin: &str) -> (String, String) {
    let answer = tool.explain(finding).expect(1, &[twin]);
    (read(finding.join("report.txt")), answer.out)
}

/// All rows of the stored table.
fn rows(stored: &Stored) -> &[Row] {
    &stored.interleaving.as_ref().expect("a table").rows
}

/// The rows of the stored table that a report shows.
fn rows_shown(stored: &Stored) -> Vec<Row> {
    in_short(rows(stored))
}

/// Asserts that some row's action fits.
#[track_caller]
fn does(rows: &[Row], fits: impl Fn(&Action) -> bool) {
    assert!(rows.iter().filter_map(Row::action).any(fits), "{rows:#?}");
}

/// A member of the structure under test.
fn member(path: &str) -> Memory {
    Memory::Member { block: None, index: None, path: path.to_string() }
}

/// Whether it is a member of a block of memory.
fn is_of_block(memory: &Memory, member: &str) -> bool {
    matches!(memory, Memory::Member { block: Some(_), path, .. } if path == member)
}

/// The kind of a fault and its places.
#[track_caller]
fn fault(stored: &Stored) -> (FaultKind, &[FaultPlace]) {
    match &stored.finding.what {
        Failure::Fault { kind, places, .. } => (*kind, places),
        violation => panic!("{violation:?}"),
    }
}

fn had_freed(place: &&FaultPlace) -> bool {
    matches!(place.deed, Deed::HadFreed { .. })
}

/// So many of them are looked at each time.
const FIRST: usize = 5;

#[test]
fn the_line_of_the_bug_is_named() {
    is_named(&TWINS[..FIRST]);
}

#[test]
#[ignore = "nine structures more: make test-long"]
fn the_line_of_the_bug_is_named_of_more_twins() {
    is_named(&TWINS[FIRST..]);
}

fn is_named(twins: &[(&str, &str)]) {
    for &(twin, line) in twins {
        let tool = Tool::new();
        let finding = tool.twin(twin);
        let (report, output) = explained(&tool, &finding, twin);
        assert!(output.contains(line), "{twin}: no {line:?} in\n{output}\n{report}");
        // In transactions, whole calls of two clients take turns.
        let stops = output.contains(STOPPED_INSIDE) || twin == "versioned_store_lost_update";
        assert!(stops, "{twin}:\n{output}");
        if twin == "treiber_aba" {
            // A member of the structure, and a member of a block that it points to.
            let stored = Stored::load(&finding).expect("written");
            let shown = rows_shown(&stored);
            let (from, to) = (Value::Number(1), Value::Number(0));
            let taken = Action::Exchanges { at: member("top"), from, to };
            does(&shown, |did| *did == taken);
            let is_next = |at: &Memory| {
                is_of_block(at, "next") && matches!(at, Memory::Member { index: Some(1), .. })
            };
            does(
                &shown,
                |did| matches!(did, Action::Reads { at, value: Value::Number(0) } if is_next(at)),
            );
        }
    }
}

/// The table is saved with the finding, as text and as JSON.
#[test]
fn a_shrunk_finding_has_its_table() {
    let tool = Tool::new();
    let name = &tool.twin("atomic_register_split_cas");
    let (report, output) = explained(&tool, name, "atomic_register_split_cas");
    assert!(report.contains(HOW_IT_WENT), "{report}");
    let table: Vec<&str> = output.lines().filter(|line| line.contains("thread")).collect();
    let last = table.iter().rev().take(20);
    assert!(table.len() > 5 && last.into_iter().all(|line| report.contains(line)), "{report}");
    let all = tool.explain(name).with("--all").run();
    assert!(all.out.lines().count() > output.lines().count(), "{}", all.all());
    let json = tool.explain(name).json(1);
    let rows = json["rows"].as_array().expect("rows");
    let lines = rows.iter().filter_map(|row| row["what"]["act"]["place"]["line"].as_u64());
    assert!(lines.count() > 5, "{json}");
    // Each line is that of the named file, also in our header.
    let mut ours = 0;
    for place in rows.iter().map(|row| &row["what"]["act"]["place"]).filter(|it| !it.is_null()) {
        assert!(place["text"].as_str().is_some_and(|text| !text.is_empty()), "{place}");
        if place["function"].as_str().is_some_and(|name| name.starts_with("interlap::")) {
            assert!(place["file"].as_str().expect("a file").ends_with("interlap.hpp"), "{place}");
            ours += 1;
        }
    }
    assert!(ours > 0, "{json}");
    tool.show(name).expect(0, &[HOW_IT_WENT, STOPPED_INSIDE]);
}

#[test]
fn only_findings_of_the_controlled_engine_are_explained() {
    let tool = Tool::new();
    tool.explain("findings/none")
        .expect(2, &["cannot read", "name a directory that `interlap fuzz` wrote"]);
    let finding =
        tool.fuzz("mutex_map_lost_update").native().findings(1).expect(1, &[FINDING]).finding();
    tool.explain(finding).expect(2, &["not found by the controlled engine", "how to hunt it"]);
}

/// A race that ends in a crash: the process sends its trail before it dies.
#[test]
fn a_crash_has_its_table() {
    let text = r#"// A stack that looks at its top twice.
#include <interlap.hpp>
#include <atomic>
struct Node { int64_t value; Node *next; };
struct Stack {
    std::atomic<Node *> top{nullptr};
    bool push(int64_t value) {
        Node *node = new Node{value, top.load()};
        while (!top.compare_exchange_weak(node->next, node)) {}
        return true;
    }
    bool pop(int64_t &value) {
        for (;;) {
            if (!top.load()) return false;
            Node *node = top.load();
            Node *next = node->next;  // BUG: there may be none any more
            if (top.compare_exchange_strong(node, next)) {
                value = node->value;
                return true;
            }
        }
    }
};
INTERLAP_TARGET(Stack)
"#;
    let tool = Tool::new();
    let run = tool.fuzz_text("looks_twice.cpp", text).controlled().rounds(20_000).findings(1);
    let found = run.shrinking("20s").expect(1, &["SIGSEGV"]).stored();
    assert_eq!(fault(&found).0, FaultKind::Signal(libc::SIGSEGV));
    assert_eq!(found.finding.confirmed, Some(true));
    let size = found.finding.shrunk.as_ref().expect("it was shrunk").size;
    assert_eq!(size.preemptions, Some(1), "{size}");
    let line = "BUG: there may be none any more";
    let output = tool.explain(&found.directory).expect(1, &["SIGSEGV", "pop()", line]);
    let stored = Stored::load(&found.directory).expect("written");
    let shown = rows_shown(&stored);
    let stops = RowKind::Stopped(Call { op: Op::Pop, args: Vec::new() });
    assert!(shown.iter().any(|row| row.what == stops), "{}", output.all());
    let from = Value::Pointer { to: Memory::Block { number: 2, offset: 0 }, tag: 0 };
    let taken = Action::Exchanges { at: member("top"), from, to: Value::Number(0) };
    does(&shown, |did| *did == taken);
    let crash = Action::Crashes { signal: libc::SIGSEGV, at: Some(Memory::Address(8)) };
    let crash = shown.iter().find(|row| row.action() == Some(&crash)).expect("the crash");
    assert!(crash.place().is_some_and(|place| place.text.contains(line)), "{crash:?}");
}

/// A failed assertion, and an exit: the table ends with the adapter's line.
#[test]
fn the_end_of_the_process_has_its_line() {
    for (code, kind) in [
        ("assert(added < 3);", FaultKind::Signal(libc::SIGABRT)),
        ("if (added == 3) exit(3);", FaultKind::Exit(3)),
    ] {
        let tool = Tool::new();
        let text = super::adapters::enqueue(code);
        let run = tool.fuzz_text("ends.cpp", &text).controlled().rounds(200).findings(1);
        let finding = run.expect(1, &[FINDING]).finding();
        tool.explain(&finding).expect(1, &[code]);
        let stored = Stored::load(&finding).expect("written");
        assert_eq!(fault(&stored).0, kind);
        let ends = |row: &&Row| match row.action() {
            Some(Action::Crashes { signal, .. }) => kind == FaultKind::Signal(*signal),
            Some(Action::EndsProcess) => kind == FaultKind::Exit(3),
            _ => false,
        };
        let shown = rows_shown(&stored);
        let end = shown.iter().find(ends).expect("the end");
        assert!(end.place().is_some_and(|place| place.text.contains(code)), "{end:?}");
    }
}

/// Not at the line of the header that calls `delete` for the target, and that is not inlined.
#[test]
fn the_free_of_a_block_is_reported_at_a_line_of_the_target() {
    let tool = Tool::new();
    let text = r#"
#include <interlap.hpp>
#include <atomic>
#include <memory>
struct Register {
    std::atomic<int64_t *> value{new int64_t(0)};
    ~Register() { delete value.load(); }
    int64_t read() {
        int64_t *now = value.load();
        return *now;
    }
    void write(int64_t number) {
        std::unique_ptr<int64_t> old(value.exchange(new int64_t(number)));
        old.reset(); // here
    }
};
INTERLAP_TARGET(Register)
"#;
    let run = tool
        .fuzz_text("freed.cpp", text)
        .with("--cflag -O0 --races=off")
        .findings(1)
        .shrinking("4s");
    let stored = run.rounds(100_000).expect(1, &[SHRUNK_TO]).stored();
    let (_, places) = fault(&stored);
    let freed = places.iter().find(had_freed).expect("the free");
    let line = freed.line.as_ref().expect("its line");
    assert_eq!((&*line.function, line.line), ("Register::write", 14), "{line:?}");
    assert!(line.file.ends_with("freed.cpp"), "{line:?}");
    let report = read(stored.directory.join("report.txt"));
    assert!(report.contains("Register::write at freed.cpp:14"), "{report}");
}

/// The freed block and the call that freed it have the target's names.
#[test]
fn memory_and_calls_of_a_use_after_free_have_their_names() {
    let shared = r#"
#include <interlap.hpp>
#include <memory>
struct Register {
    std::shared_ptr<int64_t> value = std::make_shared<int64_t>(0);
    int64_t read() {
        std::shared_ptr<int64_t> now = value; // here
        return *now;
    }
    void write(int64_t number) { value = std::make_shared<int64_t>(number); }
};
INTERLAP_TARGET(Register)
"#;
    let tool = Tool::new();
    let run = tool.fuzz_text("shared.cpp", shared).controlled().findings(1).shrinking("4s");
    let run = run.with("--races=off");
    let stored = run.rounds(100_000).expect(1, &[SHRUNK_TO]).stored();
    let (_, places) = fault(&stored);
    let is_named = |memory: &Memory| memory.block().is_some();
    let accessed = &places[0];
    assert!(matches!(accessed.deed, Deed::AccessedFreed { .. }), "{accessed:?}");
    assert!(accessed.memory.as_ref().is_some_and(is_named), "{accessed:?}");
    let freed = places.iter().find(had_freed).expect("the free");
    assert!(freed.call.as_ref().is_some_and(|call| call.op == Op::RegisterWrite), "{freed:?}");
    let shown = rows_shown(&stored);
    does(&shown, |did| matches!(did, Action::Frees { block } if is_named(block)));
    let kind = DetectedKind::UseAfterFree;
    let last = shown.iter().filter_map(Row::action).next_back();
    assert!(
        matches!(last, Some(Action::Faults { kind: last, at: Some(at) })
            if *last == kind && is_of_block(at, "use_count")),
        "{last:?}"
    );
    let report = read(stored.directory.join("report.txt"));
    for part in [", write(", ".use_count"] {
        assert!(report.contains(part), "no {part:?} in {report}");
    }
}

/// What threads wait for, and the containers that they change, have the target's names.
#[test]
fn memory_and_calls_of_a_deadlock_have_their_names() {
    let asleep = r#"
#include <interlap.hpp>
#include <condition_variable>
#include <mutex>
#include <vector>
struct Counter {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int64_t> added;
    bool busy = false;
    void add(int64_t amount) {
        std::unique_lock<std::mutex> lock(mutex);
        added.push_back(amount);
        while (busy) changed.wait(lock);
        busy = true;
        lock.unlock();
        lock.lock();
        busy = false; // BUG: nobody is told
    }
    int64_t read() {
        std::lock_guard<std::mutex> lock(mutex);
        int64_t sum = 0;
        for (int64_t amount : added) sum += amount;
        return sum;
    }
};
INTERLAP_TARGET(Counter)
"#;
    let tool = Tool::new();
    let run = tool.fuzz_text("asleep.cpp", asleep).controlled().findings(1).shrinking("4s");
    let stored = run.rounds(100_000).expect(1, &[SHRUNK_TO]).stored();
    let (kind, places) = fault(&stored);
    assert_eq!(kind, FaultKind::Detected(DetectedKind::Deadlock));
    let adds = |place: &FaultPlace| place.call.as_ref().is_some_and(|c| c.op == Op::CounterAdd);
    assert!(places.iter().any(adds), "{places:?}");
    // In each deadlock, the thread that created the structure waits for the others.
    assert!(places.iter().all(|place| place.who.when != When::Keeper), "{places:?}");
    let shown = rows_shown(&stored);
    does(&shown, |did| {
        matches!(did, Action::WaitsForEver { wait, at }
            if wait.on == Awaited::Condition && *at == member("changed"))
    });
    // The growth of a vector is one row.
    let grows = Action::WorksIn { container: member("added"), changes: true };
    does(&shown, |did| *did == grows);
    let all = tool.explain(&stored.directory).with("--all");
    all.expect(1, &["added.begin", "added.end_of_storage"]);
    for path in ["added.begin", "added.end_of_storage"] {
        let is_block = |to: &Value| matches!(to, Value::Pointer { to, .. } if to.block().is_some());
        let is_it = |at: &Memory| *at == member(path);
        does(
            rows(&stored),
            |did| matches!(did, Action::Sets { at, to, .. } if is_it(at) && is_block(to)),
        );
    }
}

/// The bug needs two neighbouring keys, and not the first one.
#[test]
fn keys_that_the_drain_finds_absent_are_not_shown() {
    let text = r#"
#include <interlap.hpp>
#include <atomic>
struct Map {
    std::atomic<int64_t> pairs[64][2] = {};
    static size_t row(int64_t key) { return (key + 1) / 2 % 64; }
    bool get(int64_t key, int64_t &value) {
        value = pairs[row(key)][key % 2];
        return value != 0;
    }
    void put(int64_t key, int64_t value) {
        auto &pair = pairs[row(key)];
        int64_t other = pair[(key + 1) % 2];
        pair[key % 2] = value;
        pair[(key + 1) % 2] = other; // BUG: it may have changed
    }
};
INTERLAP_TARGET(Map)
"#;
    let tool = Tool::new();
    let run = tool.fuzz_text("pairs.cpp", text).with("--keys 4").findings(1).shrinking("4s");
    let stored = run.rounds(100_000).expect(1, &[SHRUNK_TO]).stored();
    let report = read(stored.directory.join("report.txt"));
    let history = &stored.round.history;
    let idle: Vec<_> = history.ids().filter(|id| stored.is_uninformative(*id)).collect();
    assert!(!idle.is_empty() && history.len() <= 12, "another seed is needed: {report}");
    assert!(stored.shown().iter().all(|id| !idle.contains(id)));
    for id in idle {
        let key = history.args(id)[0];
        assert!(!report.contains(&format!("get({key})")), "{report}");
    }
}

/// The operation alone would not show why its answer is wrong.
#[test]
fn a_single_operation_is_shown_with_what_came_before_it() {
    let tool = Tool::new();
    let run = tool.fuzz("mutex_map_lost_update").controlled().seed(2).findings(1).shrinking("0s");
    let answer = run.expect(1, &[FINDING]);
    let stored = answer.stored();
    let Failure::Violation { operations, .. } = &stored.finding.what else { panic!("a violation") };
    assert!(operations.len() == 1 && stored.round.history.len() > 12, "another seed is needed");
    let note = witness_note(&stored.shown(), operations).expect("others are shown, too");
    answer.expect(1, &[&note]);
    tool.explain(answer.finding()).expect(1, &["BUG: what was found need not hold any more"]);
}
