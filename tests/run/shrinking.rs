//! Shrinking: findings become small and remain the same finding.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use interlap::core::operation::Op;
use interlap::finding::{Failure, Size, Stored};
use interlap::report::words::{CONFIRMED, FINDING, SHRUNK_TO};
use interlap::view::explanation::UNEXPLAINED;
use rustix::process::{Pid, Signal, kill_process};

use super::tool::{Tool, data};

/// The command that a run gives for a finding while it shrinks it.
const SHOW: &str = "interlap show ";

/// All broken twins.
pub const TWINS: [&str; 14] = [
    "treiber_aba",
    "ms_queue_untagged",
    "ms_queue_no_recheck",
    "harris_set_marked_contains",
    "set_undecided_insert",
    "ring_mpmc_early_publish",
    "ring_spsc_early_publish",
    "atomic_register_split_cas",
    "mutex_map_lost_update",
    "locked_kv_lost_append",
    "range_set_torn_count",
    "slot_log_early_tail",
    "versioned_store_lost_update",
    "chase_lev_no_fence",
];

/// The first finding, as it was found, and shrunk for at most so long.
fn found_and_shrunk(
    tool: &Tool,
    target: impl AsRef<OsStr>,
    seed: u64,
    time: &str,
) -> (Stored, Stored) {
    let run = tool.fuzz(target).seed(seed).rounds(100_000).findings(1).jobs(1);
    let found = run.expect(1, &[CONFIRMED]).stored();
    let shrink = tool.shrink(&found.directory).within(time);
    shrink.expect(1, &[SHRUNK_TO, CONFIRMED]);
    let shrunk = Stored::load(&found.directory).expect("written");
    assert_eq!(found.finding.name, shrunk.finding.name);
    is_the_same(&found, &shrunk);
    (found, shrunk)
}

/// Asserts that the shrunk finding breaks the same rule, with no other operations.
#[track_caller]
pub fn is_the_same(found: &Stored, shrunk: &Stored) {
    match (&found.finding.what, &shrunk.finding.what) {
        (Failure::Violation { rule, .. }, Failure::Violation { rule: after, .. }) => {
            assert_eq!(rule, after);
            let named = |stored: &Stored| -> BTreeSet<Op> {
                stored.finding.signature.operations().iter().copied().collect()
            };
            assert!(named(shrunk).is_subset(&named(found)));
        }
        (Failure::Fault { .. }, Failure::Fault { .. }) => {
            assert_eq!(found.finding.signature, shrunk.finding.signature);
        }
        (before, after) => panic!("{before:?} became {after:?}"),
    }
}

fn size(stored: &Stored) -> Size {
    stored.finding.shrunk.as_ref().expect("it was shrunk").size
}

/// Asserts that the target's finding becomes small, and that `replay` gives the identical round.
#[track_caller]
fn becomes_small(target: &str, seed: u64) {
    let tool = Tool::new();
    let (found, shrunk) = found_and_shrunk(&tool, target, seed, "60s");
    let Size { calls, preemptions, .. } = size(&shrunk);
    assert!(calls <= 6, "{target}: {calls} calls");
    assert!(preemptions.is_some_and(|n| n <= 3), "{target}: {preemptions:?} preemptions");
    assert_eq!(shrunk.finding.plan.scenarios[0].calls(), calls);
    tool.replay(&found.directory).expect(1, &["the history is identical, record by record"]);
    let original = interlap::trace::rounds::read(&found.directory.join("original.mpk"));
    assert_eq!(original.expect("kept").rounds[0].history, found.round.history);
}

#[test]
fn a_torn_compare_exchange_becomes_small() {
    becomes_small("atomic_register_split_cas", 5);
}

/// A value from nowhere, or one that is taken twice, which needs a whole turn of the ring.
#[test]
fn an_early_published_cell_becomes_small() {
    becomes_small("ring_spsc_early_publish", 6);
}

#[test]
fn a_set_that_answers_too_early_becomes_small() {
    becomes_small("set_undecided_insert", 5);
}

#[test]
fn a_deadlock_becomes_small_and_stays_that_deadlock() {
    let tool = Tool::new();
    let (_, shrunk) = found_and_shrunk(&tool, data("controlled/abba.cpp"), 5, "60s");
    // Two threads suffice for a deadlock; a third that waits is part of the signature, and stays.
    let Size { calls, threads, preemptions } = size(&shrunk);
    assert!((2..=3).contains(&calls) && calls == threads, "{calls} calls of {threads} threads");
    assert!(preemptions.is_some_and(|n| n <= 2), "{preemptions:?} preemptions");
}

#[test]
fn a_livelock_becomes_small() {
    let tool = Tool::new();
    let (found, shrunk) = found_and_shrunk(&tool, data("controlled/never_filled.cpp"), 5, "60s");
    let Size { calls, threads, preemptions } = size(&shrunk);
    assert!(found.round.history.len() > 2, "{} operations", found.round.history.len());
    assert_eq!((calls, threads), (2, 2));
    assert!(preemptions.is_some_and(|n| n <= 2), "{preemptions:?} preemptions");
}

/// A report before and after shrinking would have to be compared by the reader.
#[test]
fn a_finding_is_reported_once() {
    let tool = Tool::new();
    let run = tool.fuzz("mutex_map_lost_update").controlled().seed(5).findings(1);
    let answer = run.shrinking("2s").expect(1, &[SHRUNK_TO]);
    let notice = answer.err.find(SHOW).expect("how to see it as it is, before it is reported");
    assert!(Some(notice) < answer.err.find(UNEXPLAINED), "{}", answer.err);
    assert_eq!(answer.err.matches(UNEXPLAINED).count(), 1, "{}", answer.err);
    // If the user ends the shrinking, the finding so far is reported.
    let tool = Tool::new();
    let run = tool.fuzz("mutex_map_lost_update").controlled().seed(5).findings(9);
    let mut command = run.shrinking("60s").command();
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("starts");
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut lines = lines.map(|line| line.expect("UTF-8"));
    assert!(lines.any(|line| line.contains(SHOW)));
    let pid = Pid::from_raw(child.id() as i32).expect("a process");
    kill_process(pid, Signal::INT).expect("it is there");
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("ends").code(), Some(1), "{rest:?}");
    let whole = rest.iter().filter(|line| line.starts_with(FINDING)).count();
    assert_eq!(whole, tool.findings().len(), "{rest:#?}");
}

/// `fuzz` shrinks by itself; `shrink` continues with a shrunk finding, and the original finding
/// stays beside it.
#[test]
fn a_run_shrinks_and_shrinking_can_continue() {
    let tool = Tool::new();
    let run = tool.fuzz("atomic_register_split_cas").seed(5).findings(1).shrinking("30s");
    let once = run.expect(1, &[SHOW, SHRUNK_TO]).stored();
    let original = std::fs::read(once.directory.join("original.mpk")).expect("kept");
    tool.shrink(&once.directory).within("5s").expect(1, &[SHRUNK_TO]);
    let twice = Stored::load(&once.directory).expect("written");
    let before = |stored: &Stored| stored.finding.shrunk.as_ref().expect("shrunk").before;
    assert_eq!(before(&once), before(&twice));
    assert!(size(&twice).calls <= size(&once).calls);
    assert_eq!(original, std::fs::read(once.directory.join("original.mpk")).expect("kept"));
}

/// The wake-up is lost if it comes between the waiter's check and its wait.
pub const EVENT: &str = "#include <interlap.hpp>
#include <atomic>
#include <condition_variable>
struct Event {
    std::mutex mutex;
    std::condition_variable told;
    std::atomic<bool> ready{false};
    std::atomic<int64_t> sum{0};
    struct Local { unsigned thread; Local(Event &, unsigned thread) : thread(thread) {} };
    void add(Local &local, int64_t amount) {
        if (local.thread != 0 && !ready) {
            std::unique_lock<std::mutex> lock(mutex);
            told.wait(lock);
        }
        sum += amount;
        if (local.thread == 0) tell();
    }
    int64_t read(Local &local) {
        if (local.thread == 0) tell();
        return sum;
    }
    void tell() { ready = true, told.notify_all(); }
};
INTERLAP_TARGET(Event)
";

/// Without the call that wakes it, a waiting call waits for ever, which is no bug: the shrunk
/// finding must still depend on the schedule.
#[test]
fn a_lost_wakeup_keeps_the_call_that_should_have_woken() {
    let tool = Tool::new();
    let adapter = tool.adapter("event.cpp", EVENT);
    let (_, shrunk) = found_and_shrunk(&tool, adapter, 3, "5s");
    let callers = shrunk.round.history.threads.iter().filter(|t| !t.operations().is_empty());
    let callers: Vec<u32> = callers.map(|thread| thread.client).collect();
    assert_eq!((callers, size(&shrunk).calls), (vec![0, 1], 2));
}

/// `cargo test --test it how_small -- --ignored --nocapture`: every twin, several seeds, each
/// shrunk for as long as `fuzz` does by itself. SEEDS="1 2" and TWINS="a b" name others.
#[test]
#[ignore = "minutes, and how far it gets in ten seconds depends on the machine"]
fn how_small_the_twins_become() {
    let words = |name: &str, or: String| std::env::var(name).unwrap_or(or);
    let (twins, seeds) = (words("TWINS", TWINS.join(" ")), words("SEEDS", "1 2 3".to_string()));
    println!("| twin | seed | found | shrunk | seconds |\n|---|---|---|---|---|");
    for twin in twins.split_whitespace() {
        for seed in seeds.split_whitespace().map(|seed| seed.parse().expect("a number")) {
            let (tool, started) = (Tool::new(), std::time::Instant::now());
            let (_, shrunk) = found_and_shrunk(&tool, twin, seed, "10s");
            let (seconds, size) = (started.elapsed().as_secs_f64(), size(&shrunk));
            let before = shrunk.finding.shrunk.as_ref().expect("shrunk").before;
            println!("| {twin} | {seed} | {before} | {size} | {seconds:.1} |");
        }
    }
}

mod timing {
    use super::*;

    /// They once took most of the time: 42 calls were left after 20 seconds.
    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn candidates_that_never_end_cost_little() {
        let adapter = data("controlled/turned_by_reads.cpp");
        let (found, shrunk) = found_and_shrunk(&Tool::new(), adapter, 4, "10s");
        let (calls, size) = (found.round.history.len(), size(&shrunk));
        assert!(calls > 20 && size.calls <= 10 && size.threads == 2, "{calls}, {size:?}");
    }
}
