//! Long rounds of native threads, which are judged while they go on: what is found ends them, and
//! stands in a history of its own; what is right is not accused; nothing is lost where they end
//! before their time.

use super::tool::Tool;

/// So many that no test sees the end of a round.
const ENDLESS: &str = "1000000000";
/// Long enough for several parts, for two threads.
const SOME: &str = "500000";

#[test]
fn correct_structures_are_not_accused_in_long_rounds() {
    let tool = Tool::new();
    for target in [
        "treiber_stack",
        "ms_queue",
        "harris_set",
        "unordered_set",
        "ring_mpmc",
        "chase_lev",
        "mutex_map",
        "atomic_register",
        "atomic_counter",
        "slot_log",
        "locked_range_set",
        "locked_kv",
    ] {
        let args = ["--engine", "native", "--calls", SOME, "--threads", "2", "--rounds", "18"];
        let args = [&["fuzz", target, "--for", "60s", "--json"][..], &args[..]].concat();
        let answer = tool.run(&args);
        answer.expect(0, &[]);
        let statistics = &answer.json();
        let rounds = statistics["rounds"].as_u64().expect("a number");
        let undecided = statistics["inconclusive"].as_object().map_or(0, |all| all.len());
        println!("{target}: {rounds} rounds, {undecided} reasons not to decide");
        assert_eq!((rounds, undecided), (18, 0), "{target}: {}", answer.all());
    }
}

/// Runs a broken twin in rounds of so many calls until it is found; the history of the finding, and
/// the trace of the run, must show the same to the check of a whole history.
fn found(target: &str, calls: &str, more: &[&str]) {
    let tool = Tool::new();
    let args = ["--engine", "native", "--calls", calls, "--threads", "4", "--findings", "1"];
    let first = ["fuzz", target, "--for", "120s", "--trace", "all.mpk", "--json"];
    let answer = tool.run(&[&first[..], &args, more].concat());
    answer.expect(1, &[]);
    let finding = tool.only_finding();
    let text = std::fs::read_to_string(finding.join("finding.json")).expect("a finding");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rule = json.pointer("/what/violation/rule").and_then(|rule| rule.as_str());
    let rule = rule.unwrap_or_else(|| panic!("no rule in {text}"));
    for trace in [finding.join("trace.mpk"), "all.mpk".into()] {
        let checked = tool.run(&["check", trace.to_str().expect("UTF-8")]);
        // Of the whole another witness may be chosen.
        checked.expect(1, if trace.is_absolute() { std::slice::from_ref(&rule) } else { &[] });
    }
}

/// A round has one shape: of one without an end it is given, so that it shows the bug.
#[test]
fn a_broken_twin_ends_a_round_without_an_end() {
    let weights = ["get", "put", "insert_if_absent", "remove", "compare_exchange"]
        .map(|op| format!("{op}=1"));
    let weights: Vec<&str> = weights.iter().flat_map(|w| ["--weight", w.as_str()]).collect();
    found("mutex_map_lost_update", ENDLESS, &weights);
}

#[test]
fn broken_twins_are_found_in_some_long_round() {
    for target in [
        "atomic_register_split_cas",
        "slot_log_early_tail",
        "range_set_torn_count",
        "locked_kv_lost_append",
        "set_undecided_insert",
    ] {
        found(target, "100000", &[]);
    }
}

/// Nothing is kept of transactions but what they left behind, so that nothing is left to judge when
/// the time is over.
#[test]
fn long_rounds_of_transactions_end_in_time() {
    let tool = Tool::new();
    let more = ["--engine", "native", "--calls", ENDLESS, "--for", "8s", "--threads", "3"];
    let began = std::time::Instant::now();
    let answer = tool.run(&[&["fuzz", "versioned_store", "--json"][..], &more[..]].concat());
    let took = began.elapsed().as_secs();
    answer.expect(0, &[]);
    let undecided = answer.json()["inconclusive"].as_object().map_or(0, |all| all.len());
    assert_eq!(undecided, 0, "{}", answer.all());
    assert!(took < 60, "it took {took} s");
}

#[test]
fn an_update_that_is_lost_in_a_long_round_is_found() {
    found("versioned_store_lost_update", "1000000", &[]);
}

/// A counter that dies, loses additions or goes on for ever, late in a long round.
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
        if (calls.fetch_add(1) == 700000) {{ {late} }}
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
    let more = ["--engine", "native", "--calls", ENDLESS, "--for", "60s", "--findings", "1"];
    let answer = tool.fuzz("late.cpp", &counter("abort();"), &more);
    answer.expect(1, &["SIGABRT"]);
    let trace = tool.only_finding().join("trace.mpk");
    // What is held of the round explains itself: the counts before are not forgotten.
    tool.run(&["check", trace.to_str().expect("UTF-8")]).expect(0, &[]);
}

#[test]
fn an_addition_that_is_lost_late_is_found() {
    let tool = Tool::new();
    let more = ["--engine", "native", "--calls", ENDLESS, "--for", "60s", "--findings", "1"];
    let answer = tool.fuzz("late.cpp", &counter("return;"), &more);
    answer.expect(1, &["Reproduce with"]);
    let text = std::fs::read_to_string(tool.only_finding().join("finding.json"));
    assert!(text.expect("a finding").contains("checked while it ran"));
}

/// In what order values lie in a stack is seldom certain: so it is emptied between the parts, and
/// what was before may be forgotten.
#[test]
fn of_a_stack_that_grows_little_is_held() {
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
        if (++pushes != 700000) values.push_back(value);
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
    let weights = ["--weight", "push=8", "--weight", "pop=1"];
    let more = ["--engine", "native", "--calls", ENDLESS, "--for", "60s", "--findings", "1"];
    let answer = tool.fuzz("late.cpp", stack, &[&more[..], &weights].concat());
    answer.expect(1, &["Reproduce with"]);
    let text = std::fs::read_to_string(tool.only_finding().join("finding.json"));
    assert!(text.expect("a finding").contains("checked while it ran"));
}

#[test]
fn a_long_round_that_time_ends_is_judged_so_far() {
    let tool = Tool::new();
    let more = ["--engine", "native", "--calls", ENDLESS, "--for", "4s", "--trace", "all.mpk"];
    let answer = tool.fuzz("late.cpp", &counter("calls = 0;"), &more);
    answer.expect(0, &["Nothing found"]);
    let checked = tool.run(&["check", "all.mpk"]);
    checked.expect(0, &[]);
}
