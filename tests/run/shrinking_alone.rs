//! Shrinks violations that show with one call at a time, with either engine.

use interlap::core::operation::Op;
use interlap::finding::{Failure, Stored};
use interlap::report::words::{FINDING, SHRUNK_TO};

use super::tool::Tool;

/// A stack whose pop takes the wrong value once there are four.
const STACK: &str = "#include <interlap.hpp>
#include <mutex>
#include <vector>
struct Stack {
    std::mutex lock;
    std::vector<int64_t> values;
    bool push(int64_t value) {
        std::lock_guard<std::mutex> guard(lock);
        values.push_back(value);
        return true;
    }
    bool pop(int64_t &value) {
        std::lock_guard<std::mutex> guard(lock);
        if (values.empty()) return false;
        size_t at = values.size() > 3 ? values.size() - 2 : values.size() - 1;
        value = values[at];
        values.erase(values.begin() + at);
        return true;
    }
};
INTERLAP_TARGET(Stack)
";

/// Four pushes, and a pop of the wrong value in the drain.
fn becomes_four_calls(engine: &str) {
    let tool = Tool::new();
    // One job, so that the sequential rounds come first.
    let run = tool.fuzz_text("stack.cpp", STACK).engine(engine).findings(1).jobs(1);
    let found = run.expect(1, &[FINDING]).stored();
    assert!(found.round.start.sequential && found.round.history.len() > 9);
    let directory = &found.directory;
    tool.shrink(directory).within("60s").expect(1, &[SHRUNK_TO, "4 calls of 1 thread"]);
    let shrunk = Stored::load(&found.directory).expect("written");
    assert_eq!(shrunk.finding.signature, found.finding.signature);
    assert!(shrunk.round.start.sequential, "it is checked as it was");
    assert!(
        matches!(&shrunk.finding.what, Failure::Violation { rule, .. } if rule == "sequential")
    );
    let calls = &shrunk.finding.plan.scenarios[0].threads[0];
    let pushed = calls.iter().filter(|call| call.op == Op::Push).map(|call| call.args[0]);
    assert_eq!(pushed.collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(shrunk.directory.join("original.mpk").exists());
    tool.replay(directory).expect(1, &["the same violation"]);
    tool.export(directory).expect(1, &["reproduces in every run"]);
}

#[test]
fn a_sequential_violation_under_control_becomes_small() {
    becomes_four_calls("controlled");
}

#[test]
fn a_sequential_violation_of_native_threads_becomes_small() {
    becomes_four_calls("native");
}

#[test]
fn a_run_shrinks_a_sequential_violation() {
    let tool = Tool::new();
    let run = tool.fuzz_text("stack.cpp", STACK).findings(1).shrinking("60s");
    run.expect(1, &[SHRUNK_TO, "4 calls of 1 thread"]);
}
