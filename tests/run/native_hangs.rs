//! Native threads that do not come to an end: which of them are a hang, and where they are then.

use interlap::finding::signature::Signature;
use interlap::finding::{Failure, FaultPlace, Stored};
use interlap::process::fault::FaultKind;
use interlap::report::words;
use interlap::trace::area::Stage;
use interlap::trace::frame::{Awaited, Deed, When};

use super::adapters::{enqueue, member};
use super::tool::Tool;

/// A counter whose calls take two locks in opposite orders.
const TWO_LOCKS: &str = r#"#include <interlap.hpp>
#include <mutex>
#include <sched.h>
struct Account {
    static constexpr auto model = "counter";
    std::mutex left, right;
    int64_t sum = 0;
    [[gnu::noinline]] void forth(int64_t amount) {
        std::lock_guard one(left);
        sched_yield();
        std::lock_guard two(right);
        sum += amount;
    }
    [[gnu::noinline]] int64_t back() {
        std::lock_guard two(right);
        sched_yield();
        std::lock_guard one(left);
        return sum;
    }
    void add(int64_t amount) { forth(amount); }
    int64_t read() { return back(); }
};
INTERLAP_TARGET(Account)
"#;

/// The places of a hang that calls the structure.
fn places(stored: &Stored) -> &[FaultPlace] {
    let (kind, stage) = (FaultKind::Hang, Stage::Calls);
    assert_eq!(stored.finding.signature, Signature::Fault { kind, stage, site: None });
    let Failure::Fault { places, .. } = &stored.finding.what else { panic!("a hang") };
    places
}

#[test]
fn a_deadlock_of_native_threads_is_a_hang_with_the_stacks_of_both() {
    let tool = Tool::new();
    let run = tool.fuzz_text("account.cpp", TWO_LOCKS).native().findings(1).threads(2);
    let answer = run.with("--hang 1s").expect(1, &[]);
    let stored = answer.stored();
    let places = places(&stored);
    let mut functions = Vec::new();
    for place in places {
        let line = place.line.as_ref().expect("it is in the target's code");
        functions.push(line.function.as_str());
        assert!(line.file.ends_with("account.cpp") && line.text.contains("std::lock_guard"));
        let Deed::Waits(wait) = place.deed else { panic!("{place:?}") };
        assert!(wait.on == Awaited::Futex && wait.address != 0, "{place:?}");
        assert!(matches!(place.who.when, When::InCall(_)) && place.call.is_some(), "{place:?}");
    }
    functions.sort_unstable();
    assert_eq!(functions, ["Account::back", "Account::forth"]);
    let pending = |place: &FaultPlace| {
        let threads = &stored.round.history.threads;
        let own = threads.iter().find(|own| own.client == place.who.thread).expect("it calls");
        own.operations().last().expect("a call").status.is_open()
    };
    assert!(places.iter().all(pending));
    // As of the other engine: in the report, on the page and in finding.json.
    let (page, report) = ("page.html", "report.txt");
    for said in words::places(&stored.finding.what) {
        let text = std::fs::read_to_string(stored.directory.join(report)).expect("written");
        assert!(text.contains(&said), "{said} is not in {text}");
    }
    let text = std::fs::read_to_string(stored.directory.join(page)).expect("written");
    assert!(text.contains("Account::forth"));
}

#[test]
fn native_threads_that_spin_for_ever_hang() {
    let tool = Tool::new();
    let text = enqueue("while (added > 20) asm volatile(\"\");");
    let run = tool.fuzz_text("spins.cpp", &text).native().calls(50).findings(1);
    let stored = run.with("--hang 1s --threads 1").expect(1, &[]).stored();
    let [place] = places(&stored) else { panic!("{:?}", stored.finding.what) };
    assert_eq!(place.deed, Deed::Runs);
    assert_eq!(place.line.as_ref().map(|line| &*line.function), Some("Queue::enqueue"));
}

#[test]
fn threads_that_cannot_enter_the_structure_hang() {
    let tool = Tool::new();
    let text = member("struct Local { Local(Queue &, unsigned) { for (;;) pause(); } };");
    let run = tool.fuzz_text("enters.cpp", &text).native().findings(1);
    let stored = run.with("--hang 1s").expect(1, &[]).stored();
    let places = places(&stored);
    assert!(!places.is_empty(), "{:?}", stored.finding.what);
    assert!(places.iter().all(|place| place.who.when == When::BeforeCalls), "{places:?}");
}

/// Only the first process: the run goes on with another.
#[test]
fn a_process_that_is_stopped_is_no_hang() {
    let tool = Tool::new();
    let text = enqueue(
        "if (added == 5 && open(\"stopped\", O_CREAT | O_EXCL, 0600) >= 0) raise(SIGSTOP);",
    );
    let text = text.replace("<cstdlib>", "<cstdlib>\n#include <csignal>\n#include <fcntl.h>");
    let run = tool.fuzz_text("stops.cpp", &text).native().jobs(1).rounds(40).calls(20);
    let answer = run.with("--hang 300ms").finds_nothing();
    assert!(answer.err.contains(words::STOOD_STILL), "{}", answer.all());
    assert!(tool.path("stopped").exists(), "{}", answer.all());
}

/// Beside many busy processes: `make test-timing`. SOAK_SECONDS is the time for each target.
mod timing {
    use std::process::{Child, Command};

    use super::*;

    const TARGETS: [&str; 6] =
        ["ms_queue", "ring_mpmc", "moodycamel", "treiber_stack", "chase_lev", "locked_range_set"];
    const BUSY: usize = 30;

    /// Processes that never sleep, until dropped.
    struct Load(Vec<Child>);

    impl Load {
        fn start() -> Load {
            let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
            Load((0..BUSY).map(|_| busy().expect("a shell")).collect())
        }
    }

    impl Drop for Load {
        fn drop(&mut self) {
            for busy in &mut self.0 {
                let _ = busy.kill();
                let _ = busy.wait();
            }
        }
    }

    #[test]
    #[ignore = "goes by the clock: make test-timing"]
    fn bundled_targets_do_not_hang_beside_a_load() {
        let seconds = std::env::var("SOAK_SECONDS").unwrap_or_else(|_| "10".to_string());
        let targets = std::env::var("TARGETS").unwrap_or_else(|_| TARGETS.join(" "));
        let _load = Load::start();
        for target in targets.split_whitespace() {
            let tool = Tool::new();
            let run = tool.fuzz(target).native().within(&format!("{seconds}s"));
            let answer = run.with("--hang 2s").run();
            println!("{}", answer.all());
            assert_eq!(tool.findings(), Vec::<std::path::PathBuf>::new(), "{}", answer.all());
        }
    }
}
