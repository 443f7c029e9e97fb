//! Snapshots of whole reports (tests/data/snapshots). `UPDATE_EXPECT=1 cargo test --test it
//! snapshots` writes them anew: review the changes.

use expect_test::expect_file;
use interlap::check::Limits;
use interlap::core::recorder::{Answered, Recorder};
use interlap::finding::Stored;
use interlap::model::Model;
use interlap::report::text;
use interlap::view::judged::Judged;

use super::tool::{Tool, read};

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

/// One finding, the same each time: few calls, with scheduling points only at atomic accesses and
/// locks.
fn found(file: &str, adapter: &str) -> (Tool, String) {
    let tool = Tool::new();
    let run =
        tool.fuzz(tool.write(file, adapter)).seed(1).controlled().threads(2).calls(3).rounds(5000);
    let run = run.with("--keys 1 --plain-points=none --memory-model sc").jobs(1).findings(1);
    let finding = run.expect(1, &["Finding "]).finding();
    let finding = finding.strip_prefix(tool.dir.path()).expect("below").display().to_string();
    (tool, finding)
}

/// The text without what differs between machines.
fn words(tool: &Tool, text: &str) -> String {
    let text = text.replace(&tool.dir.path().display().to_string(), "DIR");
    let lines = text.split_once("\n## Versions\n").map_or(&*text, |(before, _)| before);
    lines.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

fn printed(tool: &Tool, line: &str) -> String {
    words(tool, &tool.call(line).run().out)
}

#[test]
fn the_report_of_a_violation() {
    let (tool, finding) = found("register.cpp", REGISTER);
    for (line, expected) in [
        (format!("explain {finding}"), expect_file!["../data/snapshots/explain.txt"]),
        (format!("explain {finding} --all"), expect_file!["../data/snapshots/explain-all.txt"]),
        (format!("show {finding}"), expect_file!["../data/snapshots/violation.txt"]),
        ("triage".to_string(), expect_file!["../data/snapshots/triage.txt"]),
    ] {
        expected.assert_eq(&printed(&tool, &line));
    }
    let stored = Stored::load(&tool.path(&finding)).expect("a finding");
    let told = [text::brief(&stored), text::in_few_lines(&stored)].join("\n\n");
    expect_file!["../data/snapshots/brief.txt"].assert_eq(&words(&tool, &told));
    printed(&tool, &format!("export {finding} --no-try"));
    let export = tool.path(&finding).join("export");
    for (file, expected) in [
        ("report.md", expect_file!["../data/snapshots/report.md"]),
        ("README.md", expect_file!["../data/snapshots/README.md"]),
    ] {
        expected.assert_eq(&words(&tool, &read(export.join(file))));
    }
}

/// A register with a second bug: of two calls at once, one read fails.
#[test]
fn a_run_shows_its_first_finding_and_tells_of_the_others_in_a_few_lines() {
    let tool = Tool::new();
    let fails = "if (inside++ > 0) throw 1; int64_t now = word.load(); inside--; return now;";
    let adapter = REGISTER.replace("return word.load();", fails);
    let adapter = adapter.replace("word{0};", "word{0}; std::atomic<int> inside{0};");
    let run =
        tool.fuzz(tool.write("register.cpp", &adapter)).seed(1).controlled().rounds(2000).jobs(1);
    let run = run.findings(2).briefly();
    let answer = run.expect(1, &[]);
    let count = |words: &str| answer.err.matches(words).count();
    let (pictures, commands) = (count("Time runs to the right"), count("interlap show "));
    assert_eq!((pictures, commands), (1, 2), "{}", answer.all());
    assert!(!answer.all().contains("policy"), "{}", answer.all());
}

#[test]
fn the_report_of_a_fault() {
    let (tool, finding) = found("accounts.cpp", ACCOUNTS);
    printed(&tool, &format!("explain {finding}"));
    let shown = printed(&tool, &format!("show {finding}"));
    expect_file!["../data/snapshots/deadlock.txt"].assert_eq(&shown);
}

#[test]
fn the_report_of_a_checked_history() {
    let tool = Tool::new();
    let lines = [
        r#"{"client": 1, "op": "enqueue", "args": [7], "start": 0, "end": 8}"#,
        r#"{"client": 1, "op": "enqueue", "args": [8], "start": 10, "end": 18}"#,
        r#"{"client": 2, "op": "dequeue", "results": [8], "start": 20, "end": 28}"#,
        r#"{"client": 2, "op": "dequeue", "results": [7], "start": 30, "end": 38}"#,
    ];
    tool.write("queue.jsonl", &lines.join("\n"));
    let check = printed(&tool, "check queue.jsonl --model fifo");
    expect_file!["../data/snapshots/check.txt"].assert_eq(&check);
}

/// A counter whose answers are the numbers before.
struct Tickets;

impl Model<Answered<u32, u32>> for Tickets {
    type State = u32;

    fn init(&self) -> u32 {
        0
    }

    fn step(&self, next: &u32, operation: &Answered<u32, u32>, after: &mut Vec<u32>) {
        if operation.answer.is_none_or(|answer| answer == *next) {
            after.push(next + operation.call);
        }
    }

    fn right_answer(&self, next: &u32, _: &Answered<u32, u32>) -> Option<String> {
        Some(next.to_string())
    }
}

#[test]
fn operations_of_ones_own() {
    let recorder = Recorder::new();
    recorder.invoke(0, 2).returned(0);
    let [first, second] = [1, 2].map(|client| recorder.invoke(client, 1));
    first.note("asks n2");
    first.returned(3);
    let _cut_off = recorder.span("n2 is cut off");
    recorder.note("n1 leads");
    recorder.invoke(0, 1).returned(2);
    second.returned(4);
    let judged = Judged::new(recorder.journal(), Tickets, &Limits::default());
    expect_file!["../data/snapshots/judged.txt"].assert_eq(&judged.text("tickets"));
}
