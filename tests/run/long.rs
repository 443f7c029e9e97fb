//! Long rounds of native threads, which are checked while they go on: a violation ends them, and
//! has a history of its own; correct structures are not accused; nothing is lost if they end early.

use interlap::finding::{Circumstance, Failure, Stored};
use interlap::report::words::REPRODUCE_WITH;

use super::tool::{Tool, read};

/// So many calls that no round ends during a test.
const ENDLESS: u64 = 1_000_000_000;

#[test]
fn correct_structures_are_not_accused_in_long_rounds() {
    are_not_accused([
        "treiber_stack",
        "ms_queue",
        "harris_set",
        "chase_lev",
        "mutex_map",
        "slot_log",
    ]);
}

#[test]
#[ignore = "of families whose checkers other tests run, too: make test-long"]
fn more_correct_structures_are_not_accused_in_long_rounds() {
    are_not_accused([
        "unordered_set",
        "ring_mpmc",
        "atomic_register",
        "atomic_counter",
        "locked_range_set",
        "locked_kv",
    ]);
}

fn are_not_accused<const N: usize>(targets: [&str; N]) {
    let tool = Tool::new();
    for target in targets {
        // Long enough for two parts.
        let run = tool.fuzz(target).native().calls(140_000).threads(2).rounds(1);
        let statistics = run.json(0);
        let rounds = statistics["rounds"].as_u64().expect("a number");
        let undecided = statistics["inconclusive"].as_array().map_or(0, |all| all.len());
        println!("{target}: {rounds} rounds, {undecided} reasons not to decide");
        assert_eq!((rounds, undecided), (1, 0), "{target}: {statistics}");
    }
}

/// Runs a broken twin in rounds of so many calls until it is found. The check of the whole history
/// must give the same verdict on the finding's history and on the trace of the run.
fn found(target: &str, calls: u64, more: &str) {
    let tool = Tool::new();
    let run = tool.fuzz(target).native().calls(calls).threads(4).findings(1);
    let finding = run.with("--trace all.mpk").with(more).expect(1, &[]).finding();
    let text = read(finding.join("finding.json"));
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rule = json.pointer("/what/violation/rule").and_then(|rule| rule.as_str());
    let rule = rule.unwrap_or_else(|| panic!("no rule in {text}"));
    for trace in [finding.join("trace.mpk"), "all.mpk".into()] {
        let checked = tool.check(&trace).run();
        // The check of the whole history may choose another witness.
        checked.expect(1, if trace.is_absolute() { std::slice::from_ref(&rule) } else { &[] });
    }
}

fn assert_pruned(stored: &Stored) {
    let Failure::Violation { circumstance, .. } = &stored.finding.what else {
        panic!("{:?}", stored.finding.what)
    };
    assert!(matches!(circumstance, Some(Circumstance::Pruned { .. })), "{circumstance:?}");
}

/// The only round has the given weights, so that it shows the bug.
#[test]
fn a_broken_twin_ends_a_round_without_an_end() {
    let weights = ["get", "put", "insert_if_absent", "remove", "compare_exchange"]
        .map(|operation| format!("--weight {operation}=1"));
    found("mutex_map_lost_update", ENDLESS, &weights.join(" "));
}

#[test]
fn broken_twins_are_found_in_some_long_round() {
    found("slot_log_early_tail", 100_000, "");
    found("set_undecided_insert", 100_000, "");
}

#[test]
#[ignore = "three structures more: make test-long"]
fn more_broken_twins_are_found_in_some_long_round() {
    found("atomic_register_split_cas", 100_000, "");
    found("range_set_torn_count", 100_000, "");
    found("locked_kv_lost_append", 100_000, "");
}

#[test]
fn an_update_that_is_lost_in_a_long_round_is_found() {
    found("versioned_store_lost_update", 1_000_000, "");
}

/// A counter that crashes, loses additions or hangs, late in a long round.
fn counter(late: &str) -> String {
    format!(
        r#"
#include <atomic>
#include <cstdlib>
#include <interlap.hpp>
struct Target {{
    static constexpr auto model = "counter";
    std::atomic<int64_t> value{{0}}, calls{{0}};
    void add(int64_t amount) {{
        if (calls.fetch_add(1) == 400000) {{ {late} }}
        value.fetch_add(amount);
    }}
    int64_t read() {{ return value.load(); }}
}};
INTERLAP_TARGET(Target)
"#
    )
}

#[test]
fn a_crash_late_in_a_long_round_leaves_its_history() {
    let tool = Tool::new();
    let run = tool.fuzz_text("late.cpp", &counter("abort();")).native().calls(ENDLESS);
    let finding = run.findings(1).expect(1, &["SIGABRT"]).finding();
    // The saved part of the round is consistent by itself: it includes the counts before it.
    tool.check(finding.join("trace.mpk")).expect(0, &[]);
}

#[test]
fn an_addition_that_is_lost_late_is_found() {
    let tool = Tool::new();
    let run = tool.fuzz_text("late.cpp", &counter("return;")).native().calls(ENDLESS);
    let stored = run.findings(1).expect(1, &[REPRODUCE_WITH]).stored();
    assert_pruned(&stored);
}

/// The order of a stack's values is rarely certain, so it is emptied between the parts, and earlier
/// operations can be pruned.
#[test]
fn a_lost_push_is_found_in_a_stack_that_grows() {
    let stack = r#"
#include <interlap.hpp>
#include <mutex>
#include <vector>
struct Target {
    std::mutex mutex;
    std::vector<int64_t> values;
    long pushes = 0;
    void push(int64_t value) {
        std::lock_guard<std::mutex> guard(mutex);
        if (++pushes != 280000) values.push_back(value);
    }
    bool pop(int64_t &value) {
        std::lock_guard<std::mutex> guard(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
};
INTERLAP_TARGET(Target)
"#;
    let tool = Tool::new();
    let run = tool.fuzz_text("late.cpp", stack).native().calls(ENDLESS);
    let run = run.findings(1).with("--weight push=8 --weight pop=1");
    let stored = run.expect(1, &[REPRODUCE_WITH]).stored();
    assert_pruned(&stored);
}

/// A slow machine may not judge most of it in time, which is no finding either.
#[test]
fn a_long_round_that_time_ends_is_checked_as_far_as_it_went() {
    let tool = Tool::new();
    let run = tool.fuzz_text("late.cpp", &counter("calls = 0;")).native().calls(ENDLESS);
    let answer = run.within("4s").with("--trace all.mpk").run();
    assert!(matches!(answer.status, 0 | 3), "{}", answer.all());
    let checked = tool.check("all.mpk").run();
    assert!(matches!(checked.status, 0 | 3), "{}", checked.all());
}

/// `make test-timing`.
mod timing {
    use super::*;

    /// Transactions before a checkpoint are pruned, so that little is left to check when the time
    /// is over: without that, the check takes minutes.
    #[test]
    #[ignore = "asserts a time: make test-timing"]
    fn long_rounds_of_transactions_end_in_time() {
        let tool = Tool::new();
        let began = std::time::Instant::now();
        let run = tool.fuzz("versioned_store").native().calls(ENDLESS).within("8s").threads(3);
        let json = run.json(0);
        let took = began.elapsed().as_secs();
        let undecided = json["inconclusive"].as_array().map_or(0, |all| all.len());
        assert_eq!(undecided, 0, "{json}");
        assert!(took < 60, "it took {took} s");
    }

    /// Its check alone would take a minute or more.
    #[test]
    #[ignore = "asserts a time: make test-timing"]
    fn a_hard_round_ends_with_the_time() {
        let tool = Tool::new();
        let began = std::time::Instant::now();
        let run = tool.fuzz("versioned_store").native().calls(10_000).threads(50).rounds(1);
        let json = run.within("10s").json(3);
        let took = began.elapsed().as_secs();
        assert_eq!(json["inconclusive"], serde_json::json!([[{"exhausted": "deadline"}, 1]]));
        assert!(took < 30, "with compiling it took {took} s");
    }
}
