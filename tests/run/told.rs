//! What people read, as a whole, against what it was when somebody last read it (tests/data/told).
//! `UPDATE_EXPECT=1 cargo test --test it told` writes it anew: read what has changed.

use std::path::Path;

use expect_test::expect_file;

use super::tool::{Answer, Tool};

/// A register whose compare_exchange is a load and a store: a violation.
const REGISTER: &str = "#include <atomic>
#include <interlap.hpp>
struct Register {
    static constexpr auto model = \"register\";
    std::atomic<int64_t> word{0};
    int64_t read() { return word.load(); }
    void write(int64_t value) { word.store(value); }
    bool compare_exchange(int64_t old, int64_t value) {
        if (word.load() != old) return false;
        word.store(value); // BUG: it may be another by now
        return true;
    }
};
INTERLAP_TARGET(Register)
";

/// Two locks in two orders: a fault.
const ACCOUNTS: &str = "#include <interlap.hpp>
#include <mutex>
struct Accounts {
    std::mutex a, b;
    int64_t sum = 0;
    void add(int64_t amount) {
        std::lock_guard<std::mutex> one(a), two(b);
        sum += amount;
    }
    int64_t read() {
        std::lock_guard<std::mutex> one(b), two(a);
        return sum;
    }
};
INTERLAP_TARGET(Accounts)
";

/// One finding, the same each time: few calls, and no step but at atomic accesses and locks.
fn found(file: &str, adapter: &str) -> (Tool, String) {
    let tool = Tool::new();
    let engine = ["--engine", "controlled", "--plain-points=none", "--memory-model", "sc"];
    let few = ["--threads", "2", "--calls", "3", "--keys", "1", "--rounds", "5000"];
    let one = ["--jobs", "1", "--findings", "1"];
    tool.fuzz(file, adapter, &[&engine[..], &few, &one].concat()).expect(1, &["Finding "]);
    let finding = tool.only_finding();
    let finding = finding.strip_prefix(tool.dir.path()).expect("below").display().to_string();
    (tool, finding)
}

/// Without what differs from machine to machine.
fn words(tool: &Tool, text: &str) -> String {
    let text = text.replace(&tool.dir.path().display().to_string(), "DIR");
    let lines = text.split_once("\n## Versions\n").map_or(&*text, |(before, _)| before);
    lines.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

fn told(tool: &Tool, args: &[&str]) -> String {
    let Answer { out, .. } = tool.run(args);
    words(tool, &out)
}

#[test]
fn a_violation() {
    let (tool, finding) = found("register.cpp", REGISTER);
    expect_file!["../data/told/explain.txt"].assert_eq(&told(&tool, &["explain", &finding]));
    let all = told(&tool, &["explain", &finding, "--all"]);
    expect_file!["../data/told/explain-all.txt"].assert_eq(&all);
    expect_file!["../data/told/violation.txt"].assert_eq(&told(&tool, &["show", &finding]));
    expect_file!["../data/told/triage.txt"].assert_eq(&told(&tool, &["triage"]));
    told(&tool, &["export", &finding, "--no-try"]);
    let export = tool.dir.path().join(&finding).join("export");
    for (file, expected) in [
        ("report.md", expect_file!["../data/told/report.md"]),
        ("README.md", expect_file!["../data/told/README.md"]),
    ] {
        expected.assert_eq(&words(&tool, &read(&export.join(file))));
    }
}

#[test]
fn a_fault() {
    let (tool, finding) = found("accounts.cpp", ACCOUNTS);
    told(&tool, &["explain", &finding]);
    expect_file!["../data/told/deadlock.txt"].assert_eq(&told(&tool, &["show", &finding]));
}

#[test]
fn a_history() {
    let tool = Tool::new();
    let lines = [
        r#"{"client": 1, "op": "enqueue", "args": [7], "start": 0, "end": 8}"#,
        r#"{"client": 1, "op": "enqueue", "args": [8], "start": 10, "end": 18}"#,
        r#"{"client": 2, "op": "dequeue", "results": [8], "start": 20, "end": 28}"#,
        r#"{"client": 2, "op": "dequeue", "results": [7], "start": 30, "end": 38}"#,
    ];
    std::fs::write(tool.dir.path().join("queue.jsonl"), lines.join("\n")).expect("room");
    let check = told(&tool, &["check", "queue.jsonl", "--model", "fifo"]);
    expect_file!["../data/told/check.txt"].assert_eq(&check);
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("written")
}
