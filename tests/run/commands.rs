//! The commands: what they print, their exit statuses, and what they leave behind.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use interlap::campaign::ledger::Ledger;
use interlap::check::{Exhausted, Undecided};
use interlap::finding::{Circumstance, Failure};
use interlap::fuzz::Ending;
use interlap::report::words::{
    CHECKED_AGAINST, CONFIRMED, HARDLY_TESTED, NOTHING_FOUND, REPRODUCE_WITH,
};
use interlap::view::explanation::UNEXPLAINED;
use interlap::view::explanation::undecided;
use rustix::process::Signal;

use super::adapters::{QUEUE, dequeue, enqueue};
use super::tool::{Answer, Tool, read};

/// A queue that sometimes answers the newest value: wrong even without threads.
const NOT_FIFO: &str =
    "if (added % 5 == 4) { value = values.back(); values.pop_back(); return true; }";

/// What is stored of the run in `findings`.
fn ledger(tool: &Tool) -> Ledger {
    Ledger::load(&tool.path("findings")).expect("a run")
}

/// Why that run ended.
fn ended(tool: &Tool) -> Ending {
    ledger(tool).parts[0].circumstances.as_ref().expect("those of this version").ended
}

#[test]
fn a_correct_queue_is_not_accused() {
    let tool = Tool::new();
    let json = tool.fuzz_text("queue.cpp", QUEUE).rounds(1000).json(0);
    assert_eq!(json["outcome"], "nothing-found");
    assert!(json["rounds"].as_u64() > Some(100), "{json}");
    assert!(json["overlapping"].as_u64() > Some(100), "{json}");
    assert!(tool.findings().is_empty());
}

#[test]
fn what_fails_with_one_call_at_a_time_is_found_first() {
    let tool = Tool::new();
    let run = tool.fuzz_text("lifo.cpp", &dequeue(NOT_FIFO)).rounds(1000);
    let answer = run.expect(1, &["(sequential)"]);
    let (stored, finding) = (answer.stored(), answer.finding());
    let Failure::Violation { rule, circumstance, .. } = &stored.finding.what else {
        panic!("a violation")
    };
    assert_eq!((&**rule, stored.round.start.sequential), ("sequential", true));
    assert_eq!(*circumstance, Some(Circumstance::NoOverlap));
    assert_eq!(ended(&tool), Ending::NotSequential);
    assert!(ledger(&tool).statistics.rounds < 1000);
    tool.replay(finding).with("--history-only").expect(1, &["checked again: the same violation"]);
}

#[test]
fn a_violation_is_shown_checked_and_replayed() {
    let tool = Tool::new();
    // Releases the lock between its look and its removal.
    let racy = dequeue("lock.unlock(); lock.lock(); if (values.empty()) return false;");
    let run = tool.fuzz_text("racy.cpp", &racy).native().findings(1);
    let answer = run.expect(1, &[UNEXPLAINED, REPRODUCE_WITH, "dequeue() -> "]);
    let finding = &answer.finding();
    tool.check(finding.join("trace.mpk")).expect(1, &["violates fifo"]);
    tool.show(finding).expect(0, &["interlap fuzz"]);
    tool.show(finding).with("--json").expect(0, &["\"signature\""]);
    let page = finding.join("page.html");
    let relative = page.strip_prefix(tool.dir.path()).expect("below it").display().to_string();
    answer.expect(1, &[&relative]);
    // A directory is often completed with a slash.
    let with_slash = format!("{}/", finding.display());
    tool.show(with_slash).expect(0, &[&relative]).lacks("//page.html");
    let page = read(page);
    assert!(page.contains("\"verdict\":\"violation\"") && page.contains(REPRODUCE_WITH));
    tool.show(finding).with("--html again.html").expect(0, &["again.html: opens in any"]);
    assert!(tool.path("again.html").exists());
    let history = tool.show(finding).with("--history").run();
    tool.check(tool.write("history.jsonl", &history.out)).expect(1, &["violates fifo"]);
    tool.replay(finding).within("30s").expect(1, &["the same violation", "It recurred after"]);
}

#[test]
fn a_finding_of_the_controlled_engine_is_confirmed_before_it_is_reported() {
    let tool = Tool::new();
    let run = tool.fuzz_text("lifo.cpp", &dequeue(NOT_FIFO)).rounds(1000).controlled().jobs(2);
    let answer = run.expect(1, &[CONFIRMED, REPRODUCE_WITH]);
    assert_eq!(answer.stored().finding.confirmed, Some(true));
    let json = tool.replay(answer.finding()).json(1);
    assert_eq!((&json["recurred"], &json["rounds"]), (&true.into(), &1.into()), "{json}");
}

#[test]
fn shards_are_merged() {
    let tool = Tool::new();
    let fuzz = |target: &str, shard: &str, out: &str| {
        let text = if target == "good.cpp" { QUEUE.to_string() } else { dequeue(NOT_FIFO) };
        let run = tool.fuzz_text(target, &text).native().rounds(40);
        run.with(format!("--shard {shard}")).out(out).run();
    };
    fuzz("lifo.cpp", "0/2", "a");
    fuzz("lifo.cpp", "1/2", "b");
    fuzz("lifo.cpp", "1/4", "c");
    fuzz("good.cpp", "0/1", "d");
    let merged = tool.call("merge a b").out("both").with("--json").expect(1, &[]);
    assert!(!merged.err.contains("warning"), "{}", merged.err);
    let json = merged.json();
    let sightings: u64 = ["a", "b"].map(|dir| sightings(&tool, dir)).iter().sum();
    assert_eq!(json["details"][0]["sightings"], sightings, "{json}");
    assert_eq!(json["parts"].as_array().map(Vec::len), Some(2));
    tool.call("merge both c").expect(1, &["have rounds in common", "seen"]);
    tool.call("merge d a").expect(2, &["runs of different targets: good"]);
    tool.call("merge a nowhere").expect(2, &["nowhere", "`interlap fuzz --out` wrote"]);
    tool.fuzz("ring_spsc").with("--shard 2/2").expect(2, &["0 <= i < n"]);
}

fn sightings(tool: &Tool, dir: &str) -> u64 {
    let ledger = read(tool.path(dir).join("run.json"));
    let json: serde_json::Value = serde_json::from_str(&ledger).expect("JSON");
    json["statistics"]["sightings"].as_u64().expect("a number")
}

#[test]
fn native_threads_have_one_job() {
    let tool = Tool::new();
    let run = tool.fuzz_text("queue.cpp", QUEUE).native().rounds(20).jobs(3);
    let answer = run.finds_nothing();
    assert!(answer.err.contains("--jobs: the native engine"), "{}", answer.all());
    let ledger = ledger(&tool);
    assert_eq!((ledger.parts[0].jobs, ledger.statistics.rounds), (1, 20));
}

#[test]
fn what_is_not_decided_in_time_is_said_to_be_undecided() {
    let tool = Tool::new();
    // The second write overlaps the first, so that a search is needed.
    let history = [
        r#"{"thread": 0, "op": "write", "args": [1], "start": 10, "end": 30}"#,
        r#"{"thread": 1, "op": "write", "args": [2], "start": 20, "end": 40}"#,
        r#"{"thread": 2, "op": "read", "start": 50, "end": 60, "results": [1]}"#,
    ];
    let file = tool.write("history.jsonl", &history.join("\n"));
    let check = tool.check(file).with("--model register --for");
    assert_eq!(check.clone().arg("1h").json(0)[0]["verdict"], "consistent");
    let verdict = &check.arg("0").json(3)[0];
    let reason = undecided::reason(&Undecided::Exhausted(Exhausted::Deadline));
    assert_eq!([&verdict["verdict"], &verdict["explanation"]], ["inconclusive", reason.as_str()]);
}

#[test]
fn check_exits_by_its_verdict() {
    let tool = Tool::new();
    let line = |op: &str, args: &str, start: u32, end: u32, results: &str| {
        format!(
            "{{\"thread\":0,\"op\":\"{op}\",\"args\":{args},\"start\":{start},\"end\":{end},\
             \"results\":{results}}}\n"
        )
    };
    let good = line("enqueue", "[7]", 1, 2, "[]") + &line("dequeue", "[]", 3, 4, "[7]");
    let bad = line("enqueue", "[7]", 1, 2, "[]") + &line("dequeue", "[]", 3, 4, "[8]");
    let check = |name: &str, text: &str| {
        let path = tool.adapter(name, text);
        tool.check(path).with("--model fifo").run()
    };
    check("good.jsonl", &good).expect(0, &["consistent with fifo (2 operations)"]);
    check("bad.jsonl", &bad).expect(1, &["violates fifo"]);
    check("broken.jsonl", "{\"thread\": 0").expect(2, &["broken.jsonl: line 1"]);
    check("noise.jsonl", "\u{1}\u{2}\u{3}").expect(2, &["error:"]);
    tool.check("absent.jsonl").expect(2, &["cannot read absent.jsonl"]);
}

#[test]
fn a_trace_cut_at_any_byte_is_never_taken_for_a_whole_one() {
    let tool = Tool::new();
    tool.fuzz_text("lifo.cpp", &dequeue(NOT_FIFO)).rounds(1000).expect(1, &[]);
    let bytes = std::fs::read(tool.only_finding().join("trace.mpk")).expect("trace");
    let path = tool.path("cut.mpk");
    // Wherever its first frames end.
    let frames = 0..bytes.len().min(1000);
    let cuts = frames.chain((1000..bytes.len()).step_by(1 + bytes.len() / 40));
    for cut in cuts {
        std::fs::write(&path, &bytes[..cut]).expect("cut");
        let answer = tool.check("cut.mpk").with("--model fifo").run();
        assert!([0, 2, 3].contains(&answer.status), "{cut}: {}", answer.all());
        assert!(answer.status != 0 || cut == 0, "{cut}: {}", answer.all());
    }
}

#[test]
fn new_adapters_of_every_family_run_at_once() {
    let families = ["queue", "stack", "deque", "set", "range-set", "map", "register"];
    for family in families.into_iter().chain(["priority-queue", "counter", "log"]) {
        let tool = Tool::new();
        let name = format!("my_{family}").replace('-', "_");
        let file = format!("{name}.cpp");
        tool.call("new").arg(family).arg(&name).expect(0, &[&file]);
        tool.fuzz(&file).rounds(60).expect(0, &[NOTHING_FOUND]);
        assert_eq!(ledger(&tool).statistics.rounds, 60);
        tool.call("new").arg(family).arg(&name).expect(2, &["exists already"]);
    }
}

/// `compile::` compiles those of the other families.
#[test]
fn new_adapters_in_c_run_at_once() {
    let tool = Tool::new();
    for family in ["kv", "store"] {
        let name = format!("my_{family}");
        tool.call("new --c").arg(family).arg(&name).expect(0, &[&format!("{name}.c")]);
        tool.fuzz(format!("{name}.c")).rounds(60).expect(0, &[NOTHING_FOUND]);
    }
    assert_eq!(ledger(&tool).statistics.rounds, 60);
}

#[test]
fn every_bundled_target_is_listed_with_its_guarantee() {
    let answer = Tool::new().call("targets --json").expect(0, &[]);
    let json = answer.json();
    let targets = json.as_array().expect("an array");
    for target in targets {
        let broken = target["origin"] == "broken";
        let head = &target["head"];
        let kept = if broken { &head["bug"] } else { &head["guarantee"] };
        assert!(kept.is_string(), "{target}");
        assert!(broken || head["source"].is_string(), "{target}");
        // One is its own model.
        let is_own = target["name"] == "relaxed_structures";
        assert_eq!(head["model"].is_string(), !is_own, "{target}");
    }
    assert!(targets.len() > 60);
    let hookable = |name: &str| {
        let target = targets.iter().find(|target| target["name"] == name).expect(name);
        target["head"]["hookable"].as_bool().expect("a bool")
    };
    assert!(hookable("moodycamel") && !hookable("wiredtiger"));
}

#[test]
fn doctor_describes_the_clock() {
    Tool::new().call("doctor").expect(0, &["TSC", "C++"]);
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let tool = Tool::new();
    tool.fuzz("moodycaml").expect(2, &["did you mean moodycamel"]);
    tool.fuzz("absent.cpp").expect(2, &["no file absent.cpp; `interlap new` writes"]);
    tool.fuzz("ring_spsc").within("soon").expect(2, &["30s, 10m or 2h"]);
    tool.fuzz("ring_spsc").with("--weight pop=1").within("1s").expect(2, &["no operation 'pop'"]);
    tool.replay("nowhere").expect(2, &["name a directory that `interlap fuzz` wrote"]);
}

#[test]
fn the_monotonic_clock_finds_bugs_too() {
    let tool = Tool::new();
    let run = tool.fuzz_text("queue.cpp", QUEUE).rounds(500).with("--clock monotonic");
    run.expect(0, &["CLOCK_MONOTONIC", NOTHING_FOUND]);
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_its_summary() {
    ends_by(&[Signal::INT]);
}

#[test]
fn a_termination_sent_twice_ends_the_run_and_keeps_its_summary() {
    ends_by(&[Signal::TERM, Signal::TERM]);
}

#[test]
fn a_terminal_that_is_closed_ends_the_run_and_keeps_its_summary() {
    ends_by(&[Signal::HUP]);
}

fn ends_by(signals: &[Signal]) {
    let tool = Tool::new();
    stopped(&tool, signals);
    assert_eq!(ended(&tool), Ending::Stopped);
    let ledger = ledger(&tool);
    assert!(ledger.statistics.rounds > 0, "they are counted");
    let report = tool.read("j.xml");
    let command = ledger.parts[0].plan.to_string();
    assert!(report.contains("tests=\"1\"") && report.contains(&command), "{report}");
}

/// Sends a run these signals, a moment apart.
fn stopped(tool: &Tool, signals: &[Signal]) -> Answer {
    // Who runs the tests may ignore the end of the terminal, as `nohup` does.
    let run = tool.fuzz_text("queue.cpp", QUEUE).with("--junit j.xml").command();
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(run.get_program()).args(run.get_args());
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(run.get_current_dir().expect("a folder of its own"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("coreutils");
    // This line is printed once the target is loaded.
    let (stderr, mut printed) = (child.stderr.as_mut().expect("piped"), Vec::new());
    while !String::from_utf8_lossy(&printed).contains(CHECKED_AGAINST) {
        let mut byte = [0];
        stderr.read_exact(&mut byte).expect("a line about the target");
        printed.extend(byte);
    }
    std::thread::sleep(Duration::from_secs(1));
    let pid = rustix::process::Pid::from_child(&child);
    for signal in signals {
        // It may have ended after the first signal.
        let _ = rustix::process::kill_process(pid, *signal);
        std::thread::sleep(Duration::from_millis(2));
    }
    let answer = Answer::from_output(child.wait_with_output().expect("ends"));
    answer.expect(0, &[]);
    answer
}

#[test]
fn a_trace_that_cannot_be_written_is_named() {
    let run = Tool::new();
    let run = run.fuzz_text("queue.cpp", QUEUE).rounds(5).with("--trace nowhere/t.mpk");
    run.expect(2, &["nowhere/t.mpk", "(--trace)", "its folder must exist"]);
}

#[test]
fn an_unwritable_folder_is_reported_before_the_run() {
    let tool = Tool::new();
    tool.write("file", "");
    let run = tool.fuzz_text("queue.cpp", QUEUE).within("60s").out("file/findings");
    let answer = run.expect(2, &["cannot write to file/findings", "Not a directory", "--out DIR"]);
    assert!(!answer.err.contains("interlap fuzz"), "{}", answer.all());
}

#[test]
fn a_finding_that_cannot_be_saved_is_still_reported() {
    let tool = Tool::new();
    let folder = tool.path("findings");
    let folder = folder.to_str().expect("UTF-8");
    let spoil = format!(
        "if (added > 20) {{ if (rename(\"{folder}\", \"{folder}-old\") == 0) \
         fclose(fopen(\"{folder}\", \"w\")); abort(); }}"
    );
    for engine in ["native", "controlled"] {
        let run = tool.fuzz_text("spoils.cpp", &enqueue(&spoil)).engine(engine);
        let answer = run
            .findings(1)
            .calls(50)
            .expect(1, &["SIGABRT", REPRODUCE_WITH, "cannot be kept", "Not a directory"]);
        answer.expect(1, &["(not written): ", "run.json"]);
        std::fs::remove_file(folder).expect("the file in the folder's place");
    }
}

/// A hang is noticed only after the end of this run.
fn without_a_finished_round(tool: &Tool, time: &str) -> Answer {
    let run = tool.fuzz_text("waits.cpp", &enqueue("for (;;) usleep(1000);")).native();
    run.within(time).with("--hang 8s --junit j.xml").expect(3, &[])
}

#[test]
fn a_run_without_a_finished_round_is_inconclusive() {
    let tool = Tool::new();
    let answer = without_a_finished_round(&tool, "4s");
    answer.lacks(NOTHING_FOUND);
    // The part of --hang after which a round is stuck has passed.
    assert!(answer.err.contains("was stuck when the run ended"), "{}", answer.all());
    assert!(answer.err.contains("Queue::enqueue at waits.cpp:"), "{}", answer.all());
    assert_eq!(ledger(&tool).statistics.rounds, 0);
    let report = tool.read("j.xml");
    let is_error = report.contains("errors=\"1\"") && report.contains("<error message=");
    assert!(is_error && report.contains("failures=\"0\""), "{report}");
}

/// What is said of a run that ended early.
mod snapshots {
    use super::*;

    #[test]
    fn a_stopped_run_says_so() {
        let tool = Tool::new();
        stopped(&tool, &[Signal::INT]).expect(0, &["Stopped; what was found is kept."]);
        assert!(tool.read("j.xml").contains("Stopped; what was found is kept."));
    }

    #[test]
    fn a_run_that_tried_nothing_says_so() {
        let tool = Tool::new();
        let answer = without_a_finished_round(&tool, "1s");
        answer.expect(3, &[HARDLY_TESTED, "no round was over whose calls can overlap"]);
        assert!(tool.read("j.xml").contains("no round was over whose calls can overlap"));
    }

    #[test]
    fn a_run_that_needs_no_threads_to_fail_says_so() {
        let tool = Tool::new();
        let run = tool.fuzz_text("lifo.cpp", &dequeue(NOT_FIFO)).rounds(1000);
        run.expect(1, &["fails even when called from one thread"]);
    }
}
