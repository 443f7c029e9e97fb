//! `interlap export`: the program compiles with a plain compiler and without a warning, and shows
//! the bug when it is run; the README claims only what was seen.

use interlap::report::words::{CONFIRMED, FINDING};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::orders::RING;
use super::tool::{Tool, data};

pub fn shrunk(tool: &Tool, target: &str, more: &[&str]) -> PathBuf {
    let command = ["fuzz", target, "--engine", "controlled", "--seed", "5", "--for", "60s"];
    let limits = ["--findings", "1", "--shrink", "20s"];
    tool.run(&[&command[..], &limits, more].concat()).expect(1, &[CONFIRMED]);
    tool.only_finding()
}

fn run(program: &str, args: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(directory);
    command.output().unwrap_or_else(|error| panic!("{program}: {error}"))
}

pub fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Compiles the program as its README says, with all warnings.
fn compile(directory: &Path) {
    let readme = std::fs::read_to_string(directory.join("README.md")).expect("the README");
    let is_command = |line: &&str| line.starts_with("g++ ") || line.starts_with("gcc ");
    let line = readme.lines().find(is_command).expect("a command");
    let output = run("sh", &["-c", &line.replace("-O2", "-O2 -Wall -Werror")], directory);
    assert!(output.status.success(), "{}", text(&output));
}

/// Compiles the program, runs it three times, and gives its last output.
pub fn compiled_and_run(directory: &Path) -> Output {
    compile(directory);
    // For 20 seconds at most; calls that have not returned for two seconds hang.
    let outputs = [(); 3].map(|()| run("./reproducer", &["20", "2"], directory));
    let codes: Vec<Option<i32>> = outputs.iter().map(|output| output.status.code()).collect();
    assert!(codes.iter().all(|code| *code == codes[0]), "{codes:?}");
    outputs.into_iter().next_back().expect("three runs")
}

fn program(export: &Path) -> String {
    std::fs::read_to_string(export.join("reproducer.c")).expect("the program")
}

/// A twin's reproducer shows its bug in every run.
fn shown(twin: &str) -> String {
    let tool = Tool::new();
    let finding = tool.twin(twin);
    tool.export(&finding).expect(1, &["reproduces in every run (20 of 20)", "report.md"]);
    let export = finding.join("export");
    let output = compiled_and_run(&export);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("REPRODUCED: "), "{}", text(&output));
    let readme = std::fs::read_to_string(export.join("README.md")).expect("the README");
    assert!(readme.contains("**it reproduces in every run"), "{readme}");
    program(&export)
}

#[test]
fn the_bug_of_a_stack_is_shown() {
    let program = shown("treiber_aba");
    assert!(program.contains(", SWAP, 8, 1}"), "{program}");
}

#[test]
fn the_bugs_of_a_queue_a_set_and_a_map_are_shown() {
    for twin in ["ring_mpmc_early_publish", "harris_set_marked_contains", "mutex_map_lost_update"] {
        shown(twin);
    }
}

/// The runtime holds the store back, as a processor's store buffer does.
#[test]
fn a_missing_fence_is_shown_in_every_run() {
    let program = shown("chase_lev_no_fence");
    assert!(program.contains(", DRAIN, "), "{program}");
}

/// Each adapter needs another of these: a load of an older store, a compare-exchange that fails for
/// no reason, a store that comes before one that was made earlier.
#[test]
fn what_the_memory_of_cpp_allows_is_shown_in_every_run() {
    let ring = RING.replace("(at + 1)", "(at + 1, std::memory_order_relaxed)");
    let adapters = [(&ring[..], "LOAD, 8, "), (ONCE, "SWAP, 4, "), (TWO, "STORE, 4, ")];
    for (text, older) in adapters {
        let tool = Tool::new();
        let run = tool.fuzz_text("older.cpp", text).controlled().findings(1).rounds(50_000);
        let answer = run.with("--memory-model c11").shrinking("20s").expect(1, &[CONFIRMED]);
        let finding = answer.finding();
        tool.export(&finding).expect(1, &["reproduces in every run (20 of 20)"]);
        let output = compiled_and_run(&finding.join("export"));
        assert!(self::text(&output).contains("REPRODUCED: "), "{}", self::text(&output));
        let program = program(&finding.join("export"));
        let list = program.split("older older[] = {").nth(1).expect("a list");
        assert!(list.split("};").next().is_some_and(|list| list.contains(older)), "{program}");
    }
}

/// ThreadSanitizer reports the race, also between calls that did not overlap, and nothing once it
/// is mended.
#[test]
fn a_race_is_shown_by_thread_sanitizer() {
    let tool = Tool::new();
    let lock = "std::lock_guard<std::mutex> hold(mutex);";
    let text = format!(
        "#include <interlap.hpp>\n#include <mutex>
        struct Target {{
            static constexpr auto model = \"counter\";
            std::mutex mutex;
            int64_t value = 0;
            void add(int64_t more) {{ {lock} value += more; }}
            int64_t read() {{ return value; }}
        }};
        INTERLAP_TARGET(Target)"
    );
    let found = tool.fuzz_text("racy.cpp", &text).with("--races --threads 2").findings(1);
    let finding = found.shrinking("20s").expect(1, &[CONFIRMED]).finding();
    tool.export(&finding).expect(1, &["reproduces in every run"]);
    let export = finding.join("export");
    let output = compiled_and_run(&export);
    assert_eq!(output.status.code(), Some(1), "{}", self::text(&output));
    assert!(self::text(&output).contains("data race"), "{}", self::text(&output));
    let mended = text.replace("return value", &format!("{lock} return value"));
    std::fs::write(export.join("adapter/racy.cpp"), mended).expect("room");
    compile(&export);
    let output = run("./reproducer", &["1", "2"], &export);
    assert_eq!(output.status.code(), Some(0), "{}", self::text(&output));
    assert!(self::text(&output).contains("not seen in"), "{}", self::text(&output));
}

const ONCE: &str = "#include <atomic>
#include <interlap_operations.hpp>
struct Once {
    std::atomic<int> taken{0};
    bool take() { int none = 0; return taken.compare_exchange_weak(none, 1); }
};
struct Model {
    bool taken = false;
    bool take() { return !std::exchange(taken, true); }
};
INTERLAP_OPERATIONS(Once, take)
INTERLAP_MODEL(Model)
";

/// 2+2W: both last values may be those that were stored first.
const TWO: &str = "#include <atomic>
#include <interlap_operations.hpp>
struct Two {
    static constexpr auto relaxed = std::memory_order_relaxed;
    std::atomic<int> x{0}, y{0}, begun{0}, done{0};
    void first() {
        if (begun.fetch_or(1) & 1) return;
        x.store(1, relaxed), y.store(2, relaxed), done.fetch_or(1);
    }
    void second() {
        if (begun.fetch_or(2) & 2) return;
        y.store(1, relaxed), x.store(2, relaxed), done.fetch_or(2);
    }
    bool crossed() { return done.load() == 3 && x.load() == 1 && y.load() == 1; }
};
struct Model {
    void first() {}
    void second() {}
    bool crossed() { return false; }
};
INTERLAP_OPERATIONS(Two, first, second, crossed)
INTERLAP_MODEL(Model)
";

/// Two locks in two orders.
const LOCKS: &str = "#include <interlap.hpp>
#include <mutex>
struct Register {
    std::mutex first, second;
    int64_t value = 0;
    int64_t read() {
        std::lock_guard<std::mutex> a(first);
        std::lock_guard<std::mutex> b(second);
        return value;
    }
    void write(int64_t to) {
        std::lock_guard<std::mutex> b(second);
        std::lock_guard<std::mutex> a(first);
        value = to;
    }
};
INTERLAP_TARGET(Register)
";

#[test]
fn a_deadlock_is_shown() {
    let tool = Tool::new();
    let adapter = tool.adapter("locks.cpp", LOCKS);
    let finding = shrunk(&tool, adapter.to_str().expect("UTF-8"), &["--threads", "2"]);
    let into = tool.dir.path().join("bug 17");
    let into = into.to_str().expect("UTF-8");
    let answer = tool.run(&["export", finding.to_str().expect("UTF-8"), "--into", into]);
    answer.expect(1, &["reproduces in "]);
    let output = compiled_and_run(Path::new(into));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("REPRODUCED: calls do not return"), "{}", text(&output));
    // Fixed, and slow: a call that sleeps returns.
    let source = Path::new(into).join("adapter/locks.cpp");
    let slow = "{ std::lock_guard<std::mutex> b(second); }\n        usleep(1500000);\n";
    let wrong =
        "std::lock_guard<std::mutex> b(second);\n        std::lock_guard<std::mutex> a(first);\n";
    let fixed = LOCKS.replace(wrong, slow).replace("<mutex>\n", "<mutex>\n#include <unistd.h>\n");
    assert!(fixed.contains("usleep"), "{fixed}");
    std::fs::write(source, fixed).expect("room");
    compile(Path::new(into));
    let output = run("./reproducer", &["20", "4"], Path::new(into));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

/// The threads are left to chance, and memory of `malloc` has other contents than under interlap.
#[test]
fn an_answer_of_uninitialised_memory_is_told_from_a_value() {
    let forgets = "#include <interlap.hpp>
#include <mutex>
struct Register {
    std::mutex lock;
    int64_t *box = new int64_t(0);
    ~Register() { delete box; }
    int64_t read() {
        std::lock_guard<std::mutex> guard(lock);
        return *box;
    }
    void write(int64_t value) {
        std::lock_guard<std::mutex> guard(lock);
        delete box;
        box = new int64_t;
        if (value % 2 == 0) *box = value; // BUG: nothing is there else
    }
};
INTERLAP_TARGET(Register)
";
    let tool = Tool::new();
    let adapter = tool.adapter("forgets.cpp", forgets);
    let finding = shrunk(&tool, adapter.to_str().expect("UTF-8"), &["--threads", "2"]);
    let said = "is no value: it is uninitialised memory of the heap.";
    tool.show(&finding).expect(0, &[said, "read() -> -6510615555426900571"]);
    tool.export(&finding).with("--no-try").expect(3, &["not tried"]);
    let export = finding.join("export");
    let output = compiled_and_run(&export);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    // What is right is not taken for it.
    std::fs::write(export.join("adapter/forgets.cpp"), forgets.replace("if (value % 2 == 0) ", ""))
        .expect("room");
    compile(&export);
    let output = run("./reproducer", &["1", "2"], &export);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

/// A reader reads a box that a writer has freed.
const BOX: &str = "#include <interlap.hpp>
#include <atomic>
struct Register {
    std::atomic<int64_t *> box{new int64_t(0)};
    ~Register() { delete box.load(); }
    int64_t read() {
        int64_t *seen = box.load();
        return *seen;
    }
    void write(int64_t value) {
        int64_t *old = box.exchange(new int64_t(value));
        delete old;
    }
};
INTERLAP_TARGET(Register)
";

#[test]
fn a_use_after_free_is_shown() {
    let tool = Tool::new();
    let adapter = tool.adapter("box.cpp", BOX);
    let finding =
        shrunk(&tool, adapter.to_str().expect("UTF-8"), &["--plain-points", "--races=off"]);
    let answer = tool.run(&["export", finding.to_str().expect("UTF-8")]);
    answer.expect(1, &["reproduces in every run"]);
    let output = compiled_and_run(&finding.join("export"));
    assert!(text(&output).contains("REPRODUCED: use-after-free"), "{}", text(&output));
}

/// By the model of a family, and by the structure alone.
#[test]
#[ignore = "other tests find bugs of listed methods, and export those of families: make test-long"]
fn a_bug_of_listed_methods_is_shown() {
    let stack = data("custom/stack.cpp");
    let stack = stack.to_str().expect("UTF-8");
    for model in ["lifo", "self"] {
        let tool = Tool::new();
        let finding = shrunk(&tool, stack, &["--cflag=-DWRONG", "--model", model]);
        let answer = tool.run(&["export", finding.to_str().expect("UTF-8")]);
        answer.expect(1, &["reproduces in every run"]);
        let output = compiled_and_run(&finding.join("export"));
        assert!(text(&output).contains("REPRODUCED: "), "{}", text(&output));
    }
}

/// A library in a directory of its own, whose bug is between the arguments of a call.
const HEADER: &str = "#pragma once
#include <atomic>
#include <cstdint>
namespace tiny {
class counter {
    std::atomic<int64_t> value{0};
public:
    void add(int64_t amount) {
        value.store(value.load() + amount);
    }
    int64_t get() const { return value.load(); }
};
}
";

/// The library's header is not copied, so the program tests a fix of it.
#[test]
fn a_fixed_library_passes_with_the_same_program() {
    let tool = Tool::new();
    let include = tool.dir.path().join("my include");
    let header = include.join("tiny/counter.hpp");
    std::fs::create_dir_all(include.join("tiny")).expect("room");
    std::fs::write(&header, HEADER).expect("room");
    let adapter = tool.adapter(
        "adapter.cpp",
        "#include <interlap.hpp>\n#include <tiny/counter.hpp>\nstruct Counter {\n    \
         tiny::counter counter;\n    void add(int64_t amount) { counter.add(amount); }\n    \
         int64_t read() { return counter.get(); }\n};\nINTERLAP_TARGET(Counter)\n",
    );
    let include = include.to_str().expect("UTF-8");
    let finding = shrunk(&tool, adapter.to_str().expect("UTF-8"), &["-I", include]);
    let answer = tool.run(&["export", finding.to_str().expect("UTF-8")]);
    answer.expect(1, &["reproduces in every run"]);
    let export = finding.join("export");
    let output = compiled_and_run(&export);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let more = HEADER.replace("value.store(", "if (amount == 0) { return; }\n        value.store(");
    std::fs::write(&header, more).expect("room");
    let output = compiled_and_run(&export);
    assert_eq!(output.status.code(), Some(1), "edited, not mended: {}", text(&output));
    let mended = HEADER.replace("value.store(value.load() + amount)", "value.fetch_add(amount)");
    std::fs::write(&header, mended).expect("room");
    let output = compiled_and_run(&export);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let printed = text(&output);
    assert!(
        printed.contains("not reproduced: the schedule could be followed to step"),
        "{printed}"
    );
}

/// Without the engine's hooks, its atomics are calls of libatomic.
#[test]
fn a_structure_with_wide_atomics_is_linked_with_their_library() {
    let tool = Tool::new();
    let text = "#include <interlap.hpp>
#include <atomic>
struct Pair { int64_t value, count; };
struct Register {
    std::atomic<Pair> pair{Pair{0, 0}};
    int64_t read() { return pair.load().value; }
    void write(int64_t value) { pair.store(Pair{value, 0}); }
    bool compare_exchange(int64_t old, int64_t value) {
        Pair seen = pair.load();
        if (seen.value != old) return false;
        pair.store(Pair{value, seen.count + 1});
        return true;
    }
};
INTERLAP_TARGET(Register)
";
    let adapter = tool.adapter("wide.cpp", text);
    let finding = shrunk(&tool, adapter.to_str().expect("UTF-8"), &[]);
    let answer = tool.run(&["export", finding.to_str().expect("UTF-8")]);
    answer.expect(1, &["reproduces in "]);
    let export = finding.join("export");
    assert!(program(&export).lines().any(|line| line.ends_with(" -latomic")), "no -latomic");
    assert_eq!(compiled_and_run(&export).status.code(), Some(1));
}

/// The library of a counter, as a source.
const TINY: &str = "#include <stdatomic.h>
#include <stdint.h>
int64_t tiny_add(_Atomic int64_t *value, int64_t amount) {
    int64_t before = atomic_load(value);
    if (amount != 0) atomic_store(value, before + amount);
    return before;
}
";

/// Its adapter in C.
const COUNTER: &str = "// interlap: source tiny.c
#include <interlap_c.h>
typedef _Atomic int64_t counter;
int64_t tiny_add(counter *value, int64_t amount);
static counter *create(void) { return calloc(1, sizeof(counter)); }
static void destroy(counter *it) { free((void *)it); }
static void add(counter *it, int64_t amount, int64_t *before) { *before = tiny_add(it, amount); }
static int64_t get(counter *it) { return tiny_add(it, 0); }
INTERLAP_COUNTER(counter, .create = create, .destroy = destroy, .add = add, .read = get,
                 .library = \"a counter\", .version = \"1.2\")
";

#[test]
fn an_adapter_in_c_with_a_source_of_its_library_becomes_a_program_in_c() {
    let tool = Tool::new();
    tool.write("tiny.c", TINY);
    let adapter = tool.write("counter.c", COUNTER);
    let finding = shrunk(&tool, adapter.to_str().expect("UTF-8"), &[]);
    let answer = tool.run(&["export", finding.to_str().expect("UTF-8")]);
    // The source has hooks, so that the schedule can be followed in it.
    answer.expect(1, &["reproduces in every run"]);
    let output = compiled_and_run(&finding.join("export"));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let report = std::fs::read_to_string(finding.join("export/report.md")).expect("the report");
    assert!(report.contains("# a counter: ") && report.contains("a counter 1.2"), "{report}");
}

/// Native threads have no schedule: the program compiles, and the README says what was seen.
#[test]
fn the_program_of_a_native_finding_is_tried_for_a_while() {
    let tool = Tool::new();
    let command = ["fuzz", "atomic_register_split_cas", "--engine", "native", "--for", "60s"];
    let limits = ["--findings", "1", "--calls", "6", "--threads", "2"];
    tool.run(&[&command[..], &limits].concat()).expect(1, &[FINDING]);
    let finding = tool.only_finding();
    let answer = tool.export(&finding).with("--try-for 4s --json").run();
    let json = answer.json();
    let reproduces = json["reproduces"].as_bool().expect("it was tried");
    assert_eq!(answer.status, if reproduces { 1 } else { 3 }, "{json}");
    let readme = std::fs::read_to_string(finding.join("export/README.md")).expect("the README");
    let gives_up = readme.contains("could not be reproduced without interlap");
    assert_eq!(gives_up, !reproduces, "{readme}");
    assert!(readme.contains("A call waits only for those calls that had returned"), "{readme}");
    let export = finding.join("export");
    compile(&export);
    let output = run("./reproducer", &["1"], &export);
    assert!(text(&output).contains("thread 1"), "{}", text(&output));
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output));
}

/// Bundled libraries in which a bug is found within a minute.
const LIBRARIES: [&str; 6] = [
    "std_semaphore",
    "xenium_bounded_kfifo_queue",
    "xenium_chase_lev_growing",
    "cds_iterable_list",
    "cds_cuckoo_set",
    "cds_avl_map",
];

/// `cargo test --test it in_how_many_runs_findings_reproduce -- --ignored --nocapture`: the program
/// of each twin's finding, and of each library's, compiled as its README says and run 20 times.
/// TARGETS="a b" names others.
#[test]
#[ignore = "minutes, and some libraries may not be installed"]
fn in_how_many_runs_findings_reproduce() {
    let all = super::shrinking::TWINS.iter().chain(&LIBRARIES).copied().collect::<Vec<_>>();
    let targets = std::env::var("TARGETS").unwrap_or(all.join(" "));
    for target in targets.split_whitespace() {
        let tool = Tool::new();
        let command = ["fuzz", target, "--engine", "controlled", "--seed", "5", "--for", "60s"];
        let found = tool.run(&[&command[..], &["--findings", "1", "--shrink", "20s"]].concat());
        if found.status != 1 {
            println!("{target}: nothing found");
            continue;
        }
        let finding = tool.only_finding();
        let answer = tool.run(&["export", finding.to_str().expect("UTF-8")]);
        assert!([1, 3].contains(&answer.status), "{}", answer.all());
        let export = finding.join("export");
        compile(&export);
        let is_shown = |_: &i32| {
            // Status 3: calls hang for another reason than the finding's.
            let output = run("./reproducer", &["10", "4"], &export);
            let printed = [&output.stdout[..], &output.stderr].concat();
            let printed = String::from_utf8_lossy(&printed).into_owned();
            let reproduced = printed.contains("REPRODUCED") || printed.contains("AddressSanitizer");
            output.status.code().is_none_or(|status| status == 1 && reproduced)
        };
        let shown = (0..20).filter(is_shown).count();
        println!("{target}: reproduces in {shown} of 20 runs");
    }
}

#[test]
fn files_of_the_user_are_not_overwritten() {
    let tool = Tool::new();
    tool.run(&["export", "findings/none"]).expect(2, &["name a directory that `interlap fuzz`"]);
    let finding = tool.twin("atomic_register_split_cas");
    let finding = finding.to_str().expect("UTF-8");
    let export = ["export", finding, "--no-try", "--into", "out"];
    tool.run(&export).expect(3, &["not tried"]);
    tool.run(&export).expect(3, &["not tried"]);
    let program = tool.dir.path().join("out/reproducer.c");
    std::fs::write(&program, "mine").expect("room");
    tool.run(&export).expect(2, &["was changed since it was exported", "--into"]);
    assert_eq!(std::fs::read_to_string(&program).expect("there"), "mine");
    std::fs::remove_file(tool.dir.path().join("out/export.json")).expect("there");
    tool.run(&export).expect(2, &["holds other files", "--into"]);
}
