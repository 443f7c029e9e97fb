//! Recordings of rr that other engines shrink: the recording stays, the shrunk finding is saved
//! beside it, and both count as one. rr is the script of `rr.rs`, which only pretends to record, so
//! rounds are those of native threads.

use std::path::Path;

use interlap::campaign::ledger::Ledger;
use interlap::core::plan::Engine;
use interlap::finding::Stored;
use interlap::finding::cross_engine::engine_words;
use interlap::report::recording;
use interlap::report::words::SHRUNK_TO;

use super::fake::Fake;
use super::rr::fake;
use super::tool::{Answer, Tool, read};

/// A register whose compare_exchange is a load and a store with a pause in between, as long as the
/// file `flag` exists.
fn register(head: &str, flag: &Path) -> String {
    let flag = flag.display();
    format!(
        r#"{head}#include <atomic>
#include <interlap.hpp>
#include <sched.h>
#include <unistd.h>
struct Register {{
    static constexpr auto model = "register";
    std::atomic<int64_t> word{{0}};
    bool is_broken = access("{flag}", F_OK) == 0;
    int64_t read() {{ return word.load(); }}
    void write(int64_t value) {{ word.store(value); }}
    bool compare_exchange(int64_t old, int64_t value) {{
        if (!is_broken) return word.compare_exchange_strong(old, value);
        if (word.load() != old) return false;
        sched_yield();
        word.store(value); // BUG
        return true;
    }}
}};
INTERLAP_TARGET(Register)
"#
    )
}

/// A broken register, found under the rr that only pretends to record.
struct Found {
    fake: Fake,
    tool: Tool,
    answer: Answer,
}

impl Found {
    fn with(head: &str, more: &str) -> Found {
        let (fake, tool) = (fake(), Tool::new());
        fake.file("broken", b"");
        fake.file("runs", b"");
        let text = register(head, &fake.path("broken"));
        let run = tool.fuzz_text("register.cpp", &text).findings(1).jobs(1);
        let run = run.with("--weight compare_exchange=3").with(more).engine("rr");
        let answer = run.arg("--rr").arg(fake.path("an rr")).with("--rr-arg -W").run();
        Found { fake, tool, answer }
    }

    fn recorded(&self) -> Stored {
        Stored::load(&self.tool.only_finding()).expect("a finding")
    }
}

fn text(directory: &Path, file: &str) -> String {
    read(directory.join(file))
}

#[test]
fn a_shrunk_recording_keeps_its_recording_and_stays_one_finding() {
    let found = Found::with("", "--shrink 10s --junit j.xml");
    let tool = &found.tool;
    found.answer.expect(1, &[SHRUNK_TO]);
    assert_eq!(tool.ledger().statistics.findings, 1);
    let recorded = found.recorded();
    let elsewhere = recorded.finding.cross_engine.clone().expect("it was looked for");
    let smaller = elsewhere.smaller.expect("the controlled engine shows it");
    assert_eq!((recorded.finding.plan.engine, smaller.engine), (Engine::Rr, Engine::Controlled));
    assert!(recorded.finding.shrunk.is_none() && recorded.recording().join("version").is_file());
    let shown = Stored::load(&recorded.smaller()).expect("a finding, too");
    assert_eq!(shown.finding.name, format!("{}/smaller", recorded.finding.name));
    let above = shown.finding.recorded_as.as_ref().expect("of rr");
    assert_eq!(above.name, recorded.finding.name);
    assert_eq!((shown.finding.plan.engine, shown.finding.confirmed), (smaller.engine, Some(true)));
    assert!(smaller.size.calls <= 6 && smaller.size.preemptions <= Some(3), "{}", smaller.size);
    // Each finding refers to the other, in text and on the page.
    for file in ["report.txt", "page.html"] {
        assert!(text(&recorded.directory, file).contains(&smaller.name), "{file}");
        let says = text(&shown.directory, file);
        assert!(says.contains(&format!("{} ({})", above.name, above.signature)), "{file}");
    }
    // The recording replays its own history, the shrunk finding the identical round each time.
    let same = ["the same violation"];
    tool.replay(&recorded.directory).with("--history-only").expect(1, &same);
    tool.replay(&shown.directory).expect(1, &["identical, record by record"]);
    tool.explain(&recorded.directory).expect(2, &["/smaller"]);
    tool.explain(&shown.directory).expect(1, &["BUG"]);
    // They are one finding.
    assert_eq!(tool.read("findings/run.json").matches("smaller").count(), 0);
    assert_eq!(tool.read("j.xml").matches("<testcase ").count(), 2);
    tool.call("triage").expect(1, &["1 distinct, 1 new"]);
    tool.call("merge findings").out("both").expect(1, &[]);
    assert_eq!(Ledger::load(&tool.path("both")).expect("a run").statistics.findings, 1);
    let moved = tool.path("both").join(&smaller.name);
    tool.replay(moved).expect(1, &["identical, record by record"]);
}

#[test]
fn shrinking_a_recording_again_starts_from_its_shrunk_finding() {
    let found = Found::with("", "");
    found.answer.expect(1, &[]);
    let mut recorded = found.recorded();
    assert!(recorded.finding.recorded.is_some() && recorded.recording().is_dir());
    assert!(recorded.finding.cross_engine.is_none() && !recorded.smaller().exists());
    let trace = std::fs::read(recorded.directory.join("trace.mpk")).expect("a trace");
    let json = found.tool.shrink(&recorded.directory).within("5s").json(1);
    assert_eq!(json["shrunk"], true);
    assert_eq!(json["finding"]["recorded_as"]["name"], recorded.finding.name);
    // By either name.
    for directory in [recorded.directory.clone(), recorded.smaller()] {
        found.tool.shrink(directory).within("3s").expect(1, &[SHRUNK_TO, "/smaller"]);
    }
    let shown = Stored::load(&recorded.smaller()).expect("a finding");
    let smaller = found.recorded().finding.cross_engine.and_then(|elsewhere| elsewhere.smaller);
    assert_eq!(Some(shown.finding.shrunk.expect("shrunk").size), smaller.map(|found| found.size));
    assert_eq!(std::fs::read(recorded.directory.join("trace.mpk")).expect("a trace"), trace);
    // Another recording replaces it, which was not shrunk.
    recorded.finding.cross_engine = None;
    recorded.save().expect("room");
    assert!(!recorded.smaller().exists());
}

/// rr records no stacks of a hang: the controlled engine sees which calls wait in a deadlock.
#[test]
fn a_hang_that_rr_recorded_is_shown_as_a_deadlock() {
    let text = "
        #include <interlap.hpp>
        #include <mutex>
        #include <sched.h>
        struct Register {
            std::mutex one, other;
            int64_t value = 0;
            int64_t read() {
                std::lock_guard<std::mutex> first(one);
                sched_yield();
                std::lock_guard<std::mutex> second(other);
                return value;
            }
            void write(int64_t to) {
                std::lock_guard<std::mutex> first(other);
                sched_yield();
                std::lock_guard<std::mutex> second(one);
                value = to;
            }
        };
        INTERLAP_TARGET(Register)
    ";
    let (fake, tool) = (fake(), Tool::new());
    fake.file("runs", b"");
    let run = tool.fuzz_text("register.cpp", text).findings(1).jobs(1).engine("rr");
    let run = run.with("--hang 2s --shrink 20s").arg("--rr").arg(fake.path("an rr"));
    run.with("--rr-arg -W").expect(1, &["hang", SHRUNK_TO]);
    let recorded = Stored::load(&tool.only_finding()).expect("a finding");
    let elsewhere = recorded.finding.cross_engine.as_ref().expect("it was looked for");
    let smaller = elsewhere.smaller.as_ref().expect("the controlled engine shows it");
    assert_eq!(smaller.engine, Engine::Controlled);
    assert!(smaller.signature.to_string().starts_with("deadlock calling"), "{smaller:?}");
    assert_eq!(smaller.size.calls, 2, "{smaller:?}");
}

#[test]
fn a_recording_that_no_other_engine_reproduces_is_kept() {
    let found = Found::with("", "");
    found.answer.expect(1, &[]);
    assert!(found.recorded().finding.recorded.is_some());
    std::fs::remove_file(found.fake.path("broken")).expect("it was there");
    let directory = found.tool.only_finding();
    let answer = found.tool.shrink(&directory).within("6s").run();
    let says = [
        "was not shown in ",
        "rounds of the controlled engine",
        ", nor in ",
        "the recording stands",
    ];
    answer.expect(3, &says);
    let recorded = found.recorded();
    let elsewhere = recorded.finding.cross_engine.as_ref().expect("it was looked for");
    assert!(elsewhere.smaller.is_none() && !recorded.smaller().exists());
    assert_eq!(elsewhere.tried.len(), 2);
    assert!(elsewhere.tried[0].rounds > 100, "{:?}", elsewhere.tried);
    let report = text(&directory, "report.txt");
    for line in recording::cross_engine(&recorded, elsewhere) {
        assert!(report.contains(&line), "no {line:?} in {report}");
    }
    assert!(recorded.recording().join("version").is_file());
}

#[test]
fn native_threads_shrink_a_recording_that_cannot_be_controlled() {
    let found = Found::with("// A register.\n// Engine: native\n", "--shrink 15s");
    found.answer.expect(1, &[SHRUNK_TO]);
    let elsewhere = found.recorded().finding.cross_engine.expect("it was looked for");
    let trouble = elsewhere.tried[0].trouble.clone().expect("no hooks");
    assert!(trouble.contains("Engine: native") && elsewhere.tried[0].rounds == 0, "{trouble}");
    let smaller = elsewhere.smaller.expect("they show it");
    let measured = smaller.measured.expect("and how often");
    assert!(smaller.engine == Engine::Native && measured.shown > 0, "{smaller:?}");
    let says = text(&found.tool.only_finding(), "report.txt");
    for part in [engine_words(Engine::Native).to_string(), measured.to_string()] {
        assert!(says.contains(&part), "no {part:?} in {says}");
    }
}
