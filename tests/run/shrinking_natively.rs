//! Shrinking with native threads: findings become small, remain the same finding, and have the
//! measured share of rounds that show them.

use interlap::core::measured::Measured;
use interlap::finding::{Failure, Finding, Stored};
use interlap::report::words::{REPRODUCE_WITH, SHRUNK_TO};

use super::shrinking::{EVENT, is_the_same};
use super::tool::{Answer, Tool};

/// A set whose `insert` reads, lets others run, and writes, so two threads can insert one key. Runs
/// `before` in each call.
fn hasty_set(before: &str) -> String {
    format!(
        r#"
#include <interlap.hpp>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
struct Set {{
    std::atomic<bool> present[64]{{}};
    std::atomic<uint64_t> caller{{0}};
    bool insert(int64_t key) {{
        {before}
        if (present[key]) return false;
        for (int turn = 0; turn < 3; turn++) sched_yield();
        for (volatile int turn = 0; turn < 3000; turn = turn + 1) {{}}
        present[key] = true;
        return true;
    }}
    bool remove(int64_t key) {{ return present[key].exchange(false); }}
    bool contains(int64_t key) {{ return present[key]; }}
}};
INTERLAP_TARGET(Set)
"#
    )
}

/// Finds one violation in such a set with native threads.
fn found(tool: &Tool, text: &str, more: &str) -> (Answer, Stored) {
    let run = tool.fuzz_text("hasty.cpp", text).native().findings(1);
    let answer = run.with(more).expect(1, &[REPRODUCE_WITH]);
    let stored = answer.stored();
    (answer, stored)
}

fn measured(finding: &Finding) -> Measured {
    let measured = finding.shrunk.as_ref().expect("it was shrunk").measured;
    measured.expect("native threads show it in some rounds")
}

/// Asserts that the finding is small, measured, reported, and shown by a replay.
#[track_caller]
fn is_small(tool: &Tool, found: &Stored, calls_max: usize) {
    let directory = &found.directory;
    let shrunk = Stored::load(&found.directory).expect("written");
    assert_eq!(found.finding.name, shrunk.finding.name);
    let size = shrunk.finding.shrunk.as_ref().expect("it was shrunk").size;
    assert!((2..=calls_max).contains(&size.calls), "{size}");
    assert!((2..=calls_max / 2).contains(&size.threads), "{size}");
    assert_eq!(shrunk.finding.plan.scenarios[0].calls(), size.calls);
    let measured = measured(&shrunk.finding);
    assert!(0 < measured.shown && measured.shown <= measured.rounds, "{measured}");
    let words = [SHRUNK_TO, &measured.to_string(), &measured.certainty()];
    tool.show(directory).expect(0, &words);
    let words = ["Running these calls until it recurs", "19 times in 20", "It recurred after"];
    tool.replay(directory).expect(1, &words);
}

/// Each sighting costs a process, so how small it becomes depends on the machine. Any two threads
/// that call show it, however they are scheduled.
#[test]
fn a_crash_of_native_threads_becomes_small() {
    let tool = Tool::new();
    let text = hasty_set(
        "uint64_t first = 0, me = pthread_self(); \
         if (!caller.compare_exchange_strong(first, me) && first != me) abort();",
    );
    let (_, found) = found(&tool, &text, "--threads 3 --calls 40");
    assert!(
        found.finding.signature.to_string().starts_with("SIGABRT"),
        "{}",
        found.finding.signature
    );
    let directory = &found.directory;
    tool.shrink(directory).within("20s").expect(1, &[SHRUNK_TO]);
    is_the_same(&found, &Stored::load(&found.directory).expect("written"));
    is_small(&tool, &found, 20);
}

/// It is no bug that a call waits for ever if no other call could wake it.
#[test]
fn a_lost_wakeup_of_native_threads_keeps_the_call_that_should_have_woken() {
    let (_, stored) = found(&Tool::new(), EVENT, "--hang 1s --shrink 4s");
    assert!(stored.finding.signature.is_hang(), "{}", stored.finding.signature);
    // So rare that the time may not suffice.
    let size = stored.finding.shrunk.as_ref().map(|shrunk| shrunk.size);
    assert!(size.is_none_or(|size| size.threads > 1), "{size:?}");
}

/// Only the first process has the bug.
#[test]
fn a_finding_that_does_not_recur_is_left_as_it_is() {
    let tool = Tool::new();
    let first = "static bool first = open(\"seen\", O_CREAT | O_EXCL, 0600) >= 0; if (!first) \
                 return !present[key].exchange(true);";
    let (answer, stored) = found(&tool, &hasty_set(first), "--shrink 2s");
    answer.expect(1, &["was not shrunk", "try longer: interlap shrink", "NOT seen again in"]);
    let files = ["finding.json", "trace.mpk", "report.txt"];
    let read = || files.map(|name| std::fs::read(stored.directory.join(name)).expect("written"));
    let before = read();
    let shrink = tool.shrink(&stored.directory).within("2s");
    shrink.expect(3, &["was not shrunk", "Nothing was changed"]);
    assert_eq!(read(), before);
    assert!(stored.finding.shrunk.is_none() && !stored.directory.join("original.mpk").exists());
}

#[test]
fn a_native_finding_says_what_is_known_of_it_and_which_engine_can_stop_at_it() {
    let tool = Tool::new();
    let untried = "were not tried again by themselves";
    let (answer, _) = found(&tool, &hasty_set(""), "");
    answer.expect(1, &["Seen once in the run", untried, "--engine controlled"]);
    let tool = Tool::new();
    let text = format!("// Engine: native, as a test says\n{}", hasty_set(""));
    let (answer, _) = found(&tool, &text, "");
    answer.expect(1, &[untried, "cannot run this target"]).lacks("--engine controlled");
}

/// The result of a search of so many seconds depends on the load of the machine: `make
/// test-timing`.
mod timing {
    use super::*;

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_race_becomes_two_calls_that_show_it_in_some_rounds() {
        let tool = Tool::new();
        let (_, found) = found(&tool, &hasty_set(""), "--calls 500");
        let directory = &found.directory;
        tool.shrink(directory).within("15s").expect(1, &[SHRUNK_TO]);
        let shrunk = Stored::load(&found.directory).expect("written");
        is_the_same(&found, &shrunk);
        is_small(&tool, &found, 6);
        let original = interlap::trace::rounds::read(&found.directory.join("original.mpk"));
        assert_eq!(original.expect("kept").rounds[0].history, found.round.history);
        // Shrinking it again keeps the original finding.
        tool.shrink(directory).within("2s").run();
        let again = Stored::load(&found.directory).expect("written");
        let before = |stored: &Stored| stored.finding.shrunk.as_ref().expect("shrunk").before;
        assert_eq!(before(&again), before(&shrunk));
    }

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_run_of_native_threads_shrinks_what_it_found() {
        let tool = Tool::new();
        let (answer, stored) = found(&tool, &hasty_set(""), "--shrink 10s");
        answer.expect(1, &["hasty", SHRUNK_TO, &measured(&stored.finding).to_string()]);
        is_small(&tool, &stored, 8);
        assert!(stored.directory.join("original.mpk").exists());
    }

    /// Each sighting costs a process and the time until it counts as hung.
    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_deadlock_of_native_threads_becomes_small() {
        let tool = Tool::new();
        let text = "#include <interlap.hpp>
#include <mutex>
#include <sched.h>
struct Accounts {
    std::mutex a, b;
    int64_t sum = 0;
    void add(int64_t amount) {
        std::lock_guard<std::mutex> one(a);
        for (int turn = 0; turn < 20; turn++) sched_yield();
        std::lock_guard<std::mutex> two(b);
        sum += amount;
    }
    int64_t read() {
        std::lock_guard<std::mutex> one(b), two(a);
        return sum;
    }
};
INTERLAP_TARGET(Accounts)
";
        let (answer, stored) = found(&tool, text, "--hang 2s --shrink 10s");
        answer.expect(1, &[SHRUNK_TO, &measured(&stored.finding).to_string()]);
        let Failure::Fault { hang: Some(hang), .. } = &stored.finding.what else {
            panic!("a hang")
        };
        assert_eq!(hang.seconds, 2);
        assert!(stored.finding.signature.is_hang(), "{}", stored.finding.signature);
        // Two calls, if the machine has time for it: each sighting takes some 0.3 seconds.
        is_small(&tool, &stored, 16);
    }

    /// It shows in 0.4 seconds of every 3.6: once during the search, and once during the
    /// measurement if that is long enough.
    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn a_finding_that_recurs_seldom_is_waited_for() {
        let tool = Tool::new();
        let seldom = "using Clock = std::chrono::system_clock; struct stat began; \
                  close(open(\"began\", O_CREAT, 0600)); stat(\"began\", &began); \
                  const auto since = Clock::now().time_since_epoch() - \
                      std::chrono::seconds(began.st_mtim.tv_sec) - \
                      std::chrono::nanoseconds(began.st_mtim.tv_nsec); \
                  const auto is_racy = since % std::chrono::milliseconds(3600) < \
                      std::chrono::milliseconds(400); \
                  if (!is_racy) return !present[key].exchange(true);";
        let includes = "#include <chrono>\n#include <sys/stat.h>\n";
        let text = format!("{includes}{}", hasty_set(seldom));
        let (answer, stored) = found(&tool, &text, "--shrink 10s");
        let measured = measured(&stored.finding);
        answer.expect(1, &[SHRUNK_TO, &measured.to_string()]);
        assert!(measured.seconds > 1.0);
    }
}
