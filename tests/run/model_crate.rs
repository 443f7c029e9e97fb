//! Runs with a model in Rust, in a program of its own (`--model-crate`).

use std::path::Path;

use interlap::report::words::NOTHING_FOUND;
use serde_json::json;

use super::tool::{Tool, data};
use crate::check::program::program;
use crate::exchange::omnilink_logs;

#[test]
fn a_bug_is_found_shown_and_replayed_and_what_is_right_is_not_accused() {
    let tool = Tool::new();
    let model = program(tool.dir.path(), "id_pool");
    let fuzz = || tool.fuzz(data("custom/id_pool.cpp")).seed(1).arg("--model-crate").arg(&model);
    fuzz().rounds(400).expect(0, &[NOTHING_FOUND]);
    fuzz().native().rounds(40).within("20s").finds_nothing();

    let found = fuzz().rounds(20_000).findings(1).with("--cflag=-DWRONG --shrink 20s");
    let found = found.expect(1, &["not-linearizable of acquire", "Confirmed"]);
    let finding = found.finding();
    tool.replay(&finding).expect(1, &["checked again: the same violation", "is identical"]);
    tool.show(&finding).expect(0, &["from [3, 2, 1, 0]", "should be Some("]);

    // What a file names is not started.
    let trace = finding.join("trace.mpk");
    tool.check(&trace).expect(3, &["name it with --model-crate"]);
    tool.check(&trace).arg("--model-crate").arg(&model).expect(1, &["should be Some("]);
}

/// `a_crate_is_built` builds it.
#[test]
fn a_new_model_fits_a_new_adapter() {
    let tool = Tool::new();
    tool.call("new custom mine").expect(0, &["mine.cpp"]);
    let model = program(tool.dir.path(), "semaphore");
    let fuzz = tool.fuzz("mine.cpp").seed(1).rounds(400).arg("--model-crate").arg(model);
    fuzz.expect(0, &[NOTHING_FOUND]);
}

/// The model need not know of it.
#[test]
fn a_call_that_may_fail_at_any_time_is_not_accused() {
    let tool = Tool::new();
    tool.call("new custom mine").expect(0, &["mine.cpp"]);
    let model = program(tool.dir.path(), "semaphore");
    let fuzz = |text: &str| {
        let file = tool.write("mine.cpp", text);
        tool.fuzz(file).seed(1).rounds(2_000).findings(1).arg("--model-crate").arg(&model)
    };
    let taken =
        "std::lock_guard<std::mutex> guard(mutex);\n        if (permits == 0) return false;";
    let tries = "std::unique_lock<std::mutex> guard(mutex, std::try_to_lock);\n        \
                 if (!guard || permits == 0) return false;";
    let spurious = tool.read("mine.cpp").replacen(taken, tries, 1);
    assert!(spurious.contains("try_to_lock"));
    fuzz(&spurious).expect(1, &["not-linearizable of"]);
    let may = "INTERLAP_METHOD(Semaphore, try_acquire, interlap::may_answer(\"false\"))\n";
    fuzz(&(spurious.clone() + may)).expect(0, &[NOTHING_FOUND]);
    let wrong = spurious.replace("permits--;", "");
    fuzz(&(wrong + may)).expect(1, &["not-linearizable of", "Confirmed"]);
}

/// The model cannot say whether it should.
#[test]
fn a_call_that_waits_for_ever_is_not_accused() {
    let tool = Tool::new();
    let model = program(tool.dir.path(), "semaphore");
    let text = r#"
#include <condition_variable>
#include <interlap_operations.hpp>
struct Semaphore {
    std::mutex mutex;
    std::condition_variable some;
    int permits = 2;
    bool try_acquire() {
        std::unique_lock<std::mutex> guard(mutex);
        some.wait(guard, [&] { return permits > 0; });
        permits--;
        return true;
    }
    void release() {
        std::lock_guard<std::mutex> guard(mutex);
        permits++;
        some.notify_one();
    }
};
INTERLAP_OPERATIONS(Semaphore, try_acquire, release)
"#;
    let fuzz = |text: &str| {
        let file = tool.write("waits.cpp", text);
        tool.fuzz(file).seed(1).rounds(600).findings(1).arg("--model-crate").arg(&model)
    };
    fuzz(text).expect(0, &[NOTHING_FOUND]);
    let wrong = text.replace("return true;", "return permits > 0;");
    fuzz(&wrong).expect(1, &["not-linearizable of try_acquire"]);
}

#[test]
fn what_a_model_lacks_or_does_wrong_ends_the_run() {
    let tool = Tool::new();
    let with = |target: &str, model: &Path| {
        tool.fuzz(target).seed(1).rounds(50).arg("--model-crate").arg(model).run()
    };
    let model = program(tool.dir.path(), "id_pool");
    with("ms_queue", &model).expect(2, &["the model does not know the call"]);
    let bad = program(tool.dir.path(), "panic");
    with("ms_queue", &bad).expect(2, &["the model panicked at ", "no more ids"]);
    with("ms_queue", Path::new("/bin/true")).expect(2, &["must call interlap::serve::serve"]);
    with("ms_queue", Path::new("nowhere")).expect(2, &["--model-crate nowhere"]);
    let two = tool.fuzz("ms_queue").with("--model fifo --model-crate").arg(&model);
    two.expect(2, &["names a model, and so does --model-crate"]);
}

#[test]
fn what_a_recorder_wrote_is_checked_by_the_model() {
    let tool = Tool::new();
    let model = program(tool.dir.path(), "id_pool");
    let events = |answer: u32| {
        format!(
            r#"{{"event":{{"start":"acquire"}},"client_id":0,"op_id":0}}
{{"event":{{"finish":0}},"client_id":0,"op_id":0}}
{{"note":"n1 leads"}}
{{"event":{{"start":{{"release":0}}}},"client_id":1,"op_id":1}}
{{"event":{{"start":"acquire"}},"client_id":0,"op_id":2}}
{{"event":{{"finish":{answer}}},"client_id":0,"op_id":2}}
"#
        )
    };
    let check = |answer: u32, more: &str| {
        let file = tool.write("recorded.jsonl", &events(answer));
        tool.check(&file).arg("--model-crate").arg(&model).with(more).run()
    };
    check(0, "").expect(0, &["consistent with Pool (3 operations)"]);
    check(1, "--html page.html").expect(0, &["consistent"]);
    assert!(tool.read("page.html").contains("n1 leads"));
    check(2, "").expect(1, &["Acquire by client 0, which answered Some(2)", "n1 leads"]);
    let sequential = "--model crate:consistency=sequential";
    check(2, sequential).expect(1, &["violates Pool with Sequential consistency"]);
    check(0, "--follow").expect(0, &["consistent with Pool", "3 calls were judged together"]);
    check(2, "--follow").expect(1, &["Acquire by client 0, which answered Some(2)"]);
}

#[test]
fn omnilinks_logs_of_any_specification_are_checked_by_the_model() {
    let tool = Tool::new();
    let model = program(tool.dir.path(), "counter");
    let inc =
        |box_: (u64, u64), before: u64| ("Inc", box_, json!({"prev": before, "by": {"n": 2}}));
    let checked = |second: u64| {
        let logs = omnilink_logs("Counter", &[vec![inc((5, 9), 0)], vec![inc((7, 12), second)]]);
        tool.check(logs.path()).arg("--model-crate").arg(&model).run()
    };
    checked(2).expect(0, &["consistent with Counter (2 operations)"]);
    checked(3).expect(1, &["violates Counter", "should be 2"]);
}

#[test]
#[ignore = "compiles interlap's library again: make test-long"]
fn a_crate_is_built() {
    let tool = Tool::new();
    tool.call("new custom mine").expect(0, &["mine.cpp"]);
    tool.call("new model my_model").expect(0, &["--model-crate ./my_model"]);
    let fuzz = || tool.fuzz("mine.cpp").seed(1).rounds(400).args(["--model-crate", "my_model"]);
    fuzz().expect(0, &[NOTHING_FOUND]);
    let source = tool.read("my_model/src/main.rs");
    tool.write("my_model/src/main.rs", &source.replace("left - 1", "left"));
    fuzz().expect(1, &["not-linearizable of", "the model it names does not fit it"]);
    tool.write("my_model/src/main.rs", "nonsense");
    let by_manifest = tool.fuzz("mine.cpp").args(["--model-crate", "my_model/Cargo.toml"]);
    by_manifest.expect(2, &["/my_model does not compile"]);
    fuzz().expect(2, &["does not compile"]);
}
