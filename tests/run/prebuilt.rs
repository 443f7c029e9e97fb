//! Structures in an uninstrumented prebuilt library: the controlled engine sees only the adapter.

use std::path::PathBuf;
use std::process::Command;

use interlap::report::words::{HARDLY_TESTED, NOTHING_FOUND, REPRODUCE_WITH};

use super::tool::{Answer, Tool};

/// A library that loses additions, without hooks, locks or atomics.
const LIBRARY: &str = "
    long lossy_new(long *at) { return *at = 0; }
    void lossy_add(volatile long *at, long amount) {
        long before = *at;
        for (volatile int i = 0; i < 200; i++) {}
        *at = before + amount;
    }
    long lossy_read(volatile long *at) { return *at; }
";

const ADAPTER: &str = r#"// A counter of a prebuilt library, which the adapter counts the calls of.
// interlap: -L. -Wl,-rpath,$FOLDER -llossy
#include <interlap.hpp>
#include <mutex>
extern "C" void lossy_new(long *);
extern "C" void lossy_add(long *, long);
extern "C" long lossy_read(long *);
struct Counter {
    std::mutex lock;
    long calls = 0, sum;
    Counter() { lossy_new(&sum); }
    void add(int64_t amount) {
        { std::lock_guard guard(lock); calls++; }
        lossy_add(&sum, amount);
    }
    int64_t read() { return lossy_read(&sum); }
};
INTERLAP_TARGET(Counter)
"#;

/// Builds the library, and gives the adapter beside it.
fn adapter(tool: &Tool) -> String {
    let folder = tool.dir.path();
    let source = tool.write("lossy.c", LIBRARY);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(folder.join("liblossy.so")).arg(source);
    assert!(compiler.status().expect("a C compiler").success());
    ADAPTER.replace("$FOLDER", folder.to_str().expect("UTF-8"))
}

/// The line about a run without findings.
#[track_caller]
fn verdict(answer: &Answer) -> &str {
    answer.expect(0, &[]);
    let line = answer.out.lines().find(|line| line.starts_with(NOTHING_FOUND));
    line.unwrap_or_else(|| panic!("no verdict in {}", answer.all()))
}

#[test]
fn native_threads_take_over_where_only_the_adapter_is_instrumented() {
    let tool = Tool::new();
    let text = adapter(&tool);
    let answer = tool.fuzz_text("lossy.cpp", &text).findings(1).within("60s").run();
    let words = ["next to no access", "liblossy.so's", "going on with native threads"];
    answer.expect(1, &words).expect(1, &["--engine native", REPRODUCE_WITH]);
}

#[test]
fn a_run_that_saw_few_accesses_says_so() {
    let tool = Tool::new();
    let text = adapter(&tool);
    let answer = tool.fuzz_text("lossy.cpp", &text).rounds(500).controlled().run();
    assert!(verdict(&answer).contains("liblossy.so"), "{}", answer.all());
    let statistics = tool.ledger().statistics;
    assert_eq!(statistics.rounds, 500);
    assert!(statistics.coverage.expect("of the controlled engine").has_few_pairs());
}

#[test]
fn locks_alone_are_enough_if_all_code_is_instrumented() {
    let tool = Tool::new();
    let answer = tool.fuzz("mutex_map").seed(1).rounds(3000).run();
    assert!(!verdict(&answer).contains(".so"), "{}", answer.all());
    assert_eq!(tool.ledger().statistics.coverage.expect("of the controlled engine").pairs.total, 0);
    assert!(!answer.err.contains("native threads"), "{}", answer.all());
}

/// A register whose loads and stores are inline assembly, and an atomic that nobody writes.
const ASSEMBLY: &str = r#"#include <interlap.hpp>
#include <atomic>
struct Register {
    static constexpr auto model = "register";
    std::atomic<bool> closed{false};
    int64_t *cell = new int64_t(0);
    ~Register() { delete cell; }
    void write(int64_t value) {
        if (closed.load()) return;
        asm volatile("mov %1, %0" : "=m"(*cell) : "r"(value) : "memory");
    }
    int64_t read() {
        int64_t value;
        asm volatile("mov %1, %0" : "=r"(value) : "m"(*cell) : "memory");
        return value;
    }
};
INTERLAP_TARGET(Register)
"#;

#[test]
fn a_run_in_which_nothing_shared_was_seen_is_not_called_good() {
    let tool = Tool::new();
    let run = tool.fuzz_text("assembly.cpp", ASSEMBLY).controlled().jobs(1).rounds(100);
    let answer = run.with("--junit j.xml").run();
    answer.expect(3, &[HARDLY_TESTED, "--engine native"]).lacks(NOTHING_FOUND);
    assert!(tool.read("j.xml").contains("errors=\"1\""), "{}", tool.read("j.xml"));
    let answer = tool.fuzz_text("assembly.cpp", ASSEMBLY).jobs(1).within("4s").run();
    answer.expect(0, &["going on with native threads", NOTHING_FOUND]);
}

#[test]
fn rounds_of_the_warm_up_are_not_counted() {
    let tool = Tool::new();
    for engine in ["native", "controlled"] {
        let run = tool.fuzz("ms_queue").engine(engine).seed(3).jobs(1).rounds(20);
        let json = run.finds_nothing().json();
        assert_eq!(
            (&json["rounds"], &json["decided"], &json["undecided"]),
            (&20.into(), &20.into(), &0.into())
        );
        assert_eq!(json["warm_up"], 16);
        let overlap = json["overlap"].as_f64().expect("a share");
        let (some, all) = (json["overlapping"].as_f64(), json["operations"].as_f64());
        let expected = some.expect("a count") / all.expect("a count");
        assert!((overlap - expected).abs() < 1e-9, "{overlap} {expected}");
    }
    let answer = tool.fuzz("ms_queue").threads(1).seed(3).jobs(1).rounds(20).run();
    answer.expect(3, &[HARDLY_TESTED, "--threads"]).lacks(NOTHING_FOUND);
}

mod snapshots {
    use super::*;

    #[test]
    fn a_run_says_where_threads_were_switched() {
        let (between, inside) = ("Threads were switched between accesses", "never inside");
        let tool = Tool::new();
        let text = adapter(&tool);
        let answer = tool.fuzz_text("lossy.cpp", &text).rounds(500).controlled().run();
        answer.expect(0, &["never inside liblossy.so"]).lacks(between);
        let answer = tool.fuzz("mutex_map").seed(1).rounds(100).controlled().run();
        answer.expect(0, &[between]).lacks(inside);
    }
}

/// A register in an object, compiled with hooks by its user.
const HOOKED: &str = "
    #include <cstdint>
    extern \"C\" int64_t hooked_read(int64_t *at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
    extern \"C\" void hooked_write(int64_t *at, int64_t value) {
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
    }
    extern \"C\" bool hooked_exchange(int64_t *at, int64_t old, int64_t value) {
        if (hooked_read(at) != old) return false;
        hooked_write(at, value);
        return true;
    }
";

const OF_HOOKED: &str = "// interlap: hooked.o
    #include <interlap.hpp>
    extern \"C\" int64_t hooked_read(int64_t *);
    extern \"C\" void hooked_write(int64_t *, int64_t);
    extern \"C\" bool hooked_exchange(int64_t *, int64_t, int64_t);
    struct Register {
        int64_t value = 0;
        int64_t read() { return hooked_read(&value); }
        void write(int64_t to) { hooked_write(&value, to); }
        bool compare_exchange(int64_t old, int64_t to) { return hooked_exchange(&value, old, to); }
    };
    INTERLAP_TARGET(Register)
";

/// The register's adapter, with such an object of `source` beside it.
fn with_hooked_object(tool: &Tool, source: &str) -> PathBuf {
    let (source, object) = (tool.write("hooked.cpp", source), tool.path("hooked.o"));
    let mut compiler = Command::new("c++");
    compiler.args(["-O1", "-g", "-fPIC", "-fsanitize=thread", "-c", "-o"]).arg(&object).arg(source);
    assert!(compiler.status().expect("a C++ compiler").success());
    tool.write("register.cpp", OF_HOOKED)
}

/// What one thread alone shows has no order to force: the program runs without turns.
#[test]
fn an_object_with_hooks_is_exported_where_no_order_is_forced() {
    let tool = Tool::new();
    let forgets =
        HOOKED.replace("        hooked_write(at, value);\n        return true", "return true");
    let adapter = with_hooked_object(&tool, &forgets);
    let run = tool.fuzz(&adapter).controlled().seed(3).jobs(1).findings(1).threads(2).calls(3);
    let found = run.rounds(20_000).expect(1, &[]).finding();
    tool.export(&found).expect(1, &["reproduces in every run"]);
    let program = super::tool::read(found.join("export/reproducer.c"));
    assert!(program.contains("#include \"hooks.c\"") && !program.contains("schedule.c"));
}

#[test]
fn an_object_with_hooks_is_replayed_and_exported_and_refused_by_native_threads() {
    let tool = Tool::new();
    let adapter = with_hooked_object(&tool, HOOKED);
    let run = tool.fuzz(&adapter).controlled().seed(3).jobs(1).findings(1).threads(2).calls(3);
    let found = run.rounds(20_000).expect(1, &[]).finding();
    tool.replay(&found).expect(1, &["the history is identical, record by record"]);
    tool.export(&found).expect(1, &["reproduces in every run"]);
    let native = tool.fuzz(&adapter).native().rounds(20).run();
    native.expect(2, &["was compiled with -fsanitize=thread", "use --engine controlled"]);
    native.lacks("a library is missing");
}
