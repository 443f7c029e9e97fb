//! Findings of the controlled engine under gdb: it stops at the requested places in the target's
//! code.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use interlap::core::history::{NEVER, OperationId};
use interlap::core::plan::{Engine, Plan};
use interlap::finding::Stored;
use interlap::report::words::BREAK_AT_IT_WITH;

use super::adapters;
use super::tool::{Answer, Tool, data, read};

/// Fuzzes until something is found, in a folder whose name needs quotes; gives the findings'
/// directories.
fn findings(tool: &Tool, target: impl AsRef<OsStr>, more: &str) -> Vec<PathBuf> {
    let run = tool.fuzz(target).controlled().seed(5).jobs(1).rounds(20_000).findings(1);
    run.out("it's here").with(more).expect(1, &[BREAK_AT_IT_WITH]).findings
}

/// `interlap replay FINDING --gdb OPTIONS`, then these commands of gdb.
fn debug(tool: &Tool, finding: &Path, options: &str, commands: &[String]) -> Answer {
    let replay = tool.replay(finding).with("--gdb").with(options).with("-- -nx -batch");
    replay.args(commands.iter().flat_map(|command| ["-ex", command])).run()
}

fn commands(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| line.to_string()).collect()
}

/// Asserts that the text contains `parts` in this order.
#[track_caller]
fn in_order(text: &str, parts: &[String]) {
    let mut rest = text;
    for part in parts {
        match rest.split_once(part.as_str()) {
            Some((_, behind)) => rest = behind,
            None => panic!("no {part:?} (in this order) in {text}"),
        }
    }
}

/// A gdb command that prints where the engine has stopped the program last: the step, and the
/// operation (from 1) that was gone to last.
const WHERE: &str =
    "printf \"step %lu, operation %d\\n\", *(unsigned long *)&interlap_stop_step, $il_at";

fn stopped(step: u64, operation: usize) -> String {
    format!("step {step}, operation {operation}\n")
}

/// Plain gdb commands for the markers of an operation, and gdb's expected output.
fn markers(stored: &Stored, id: OperationId) -> (Vec<String>, Vec<String>) {
    let history = &stored.round.history;
    let (operation, index) = (history.operation(id), id.index);
    let thread = history.threads[id.thread as usize].client;
    let (mut asked, mut expected) = (commands(&["interlap-start"]), Vec::new());
    for (name, stamp) in [("begin", operation.start), ("end", operation.end)] {
        if stamp == NEVER {
            continue;
        }
        asked.push(format!("tbreak *interlap_op_{name} if $rdx == {stamp}"));
        asked.push("continue".to_string());
        asked.push(format!("printf \"{name} %lu %lu %lu\\n\", $rdi, $rsi, $rdx"));
        expected.push(format!("{name} {thread} {index} {stamp}\n"));
    }
    (asked, expected)
}

/// Uses every command of a finding's script in one gdb: its first operation by the plain markers,
/// then all by `interlap-op` and `interlap-next`, each in the target's code; then a past step.
fn all_commands(tool: &Tool, finding: &Path, source: &str) {
    let stored = Stored::load(finding).expect("a finding");
    let (history, shown) = (&stored.round.history, stored.shown());
    let (mut asked, mut expected) = markers(&stored, shown[0]);
    asked.insert(0, "interlap-ops".to_string());
    let lines = shown.iter().zip('A'..='Z').map(|(id, letter)| {
        let client = history.threads[id.thread as usize].client;
        let name = match client == stored.round.start.threads {
            true => "drain".to_string(),
            false => format!("thread {client}"),
        };
        format!("{letter}  {name}")
    });
    let lines: Vec<String> = lines.collect();
    expected.splice(0..0, lines.clone());
    for (at, (id, line)) in shown.iter().zip(lines).enumerate() {
        asked.push(if at == 0 { "interlap-op a" } else { "interlap-next" }.to_string());
        // Debug information of inlined functions has gaps, so gdb may stop behind the access.
        asked.extend(commands(&[WHERE, "backtrace", "interlap-finish", "backtrace"]));
        expected.extend([line, stopped(history.operation(*id).start + 1, at + 1)]);
        expected.extend(["interlap_stop".to_string(), format!("/{source}:")]);
    }
    // There is no next one.
    asked.extend(commands(&["interlap-next", WHERE]));
    let last = history.operation(*shown.last().expect("some")).start + 1;
    expected.push(stopped(last, shown.len()));
    asked.extend(commands(&["interlap-step 3", WHERE, "interlap-step", WHERE]));
    // The round was begun anew.
    expected.extend([stopped(3, 0), stopped(4, 0)]);
    let answer = debug(tool, finding, "--op 1", &asked);
    in_order(&answer.expect(0, &[]).out, &expected);
}

#[test]
fn gdb_stops_at_every_operation_of_a_finding() {
    let tool = Tool::new();
    all_commands(&tool, &tool.twin("mutex_map_lost_update"), "mutex_map.hpp");
}

/// Of another family.
#[test]
#[ignore = "starts gdb for each of its operations: make test-long"]
fn gdb_stops_at_every_operation_of_another_finding() {
    let tool = Tool::new();
    all_commands(&tool, &tool.twin("slot_log_early_tail"), "slot_log.hpp");
}

/// A queue that answers wrongly at once, so that the witness is known.
fn forgetful(tool: &Tool) -> PathBuf {
    let text = adapters::dequeue("if (added > 3) value++;");
    findings(tool, tool.adapter("forgetful.cpp", &text), "").remove(0)
}

#[test]
fn gdb_stops_at_steps_and_at_preemptions_and_continues() {
    let tool = Tool::new();
    let finding = findings(&tool, "mutex_map_lost_update", "").remove(0);
    let stored = Stored::load(&finding).expect("a finding");
    let step = stored.round.history.operation(stored.shown()[0]).start + 1;
    let asked = [
        WHERE,
        "info threads",
        "interlap-finish",
        "interlap-preemptions",
        "backtrace",
        "interlap-preemptions",
        "backtrace",
        "interlap-step 3",
        WHERE,
        // Without a letter, and with one that there is not: nothing happens.
        "interlap-op",
        "interlap-op 99",
        WHERE,
        "interlap-fault",
    ];
    let expected = [
        &stopped(step, 0),
        "\"thread 0\"",
        "Temporary breakpoint",
        "interlap_preempted",
        "interlap_preempted",
        &stopped(3, 0),
        &stopped(3, 0),
        "exited normally",
    ];
    let answer = debug(&tool, &finding, &format!("--step {step}"), &commands(&asked));
    in_order(&answer.expect(0, &["came to its end"]).out, &commands(&expected));
    let count = stored.shown().len();
    let letter = |at: usize| ('A'..='Z').nth(at).expect("few operations").to_string();
    let answer = debug(&tool, &finding, &format!("--op {}", letter(count)), &[]);
    answer.expect(2, &[]);
    // It names the letters that there are.
    let mut named = answer.err.split(|c: char| !c.is_alphanumeric());
    assert!(named.any(|word| word == "A") && named.any(|word| word == letter(count - 1)));
}

/// Runs a target to its fault in gdb, which must stop there and print this.
#[track_caller]
fn stops_at_fault(file: &str, text: &str, more: &str, expected: &[&str]) {
    let tool = Tool::new();
    for finding in findings(&tool, tool.adapter(file, text), more) {
        let asked = ["interlap-ops", "interlap-op A", "backtrace"];
        let answer = debug(&tool, &finding, "", &commands(&asked));
        let all: Vec<&str> =
            expected.iter().copied().chain(["A  thread ", "A  thread ", "interlap_stop"]).collect();
        in_order(&answer.expect(0, &[]).out, &commands(&all));
    }
}

/// A name, what goes wrong, and where gdb says that it is.
type FaultCase = (&'static str, &'static str, &'static str);

#[test]
fn gdb_stops_at_faults() {
    stops_at_faults([
        ("wild", "if (added > 5) *(volatile int *)0xdead000000000000 = 1;", "interlap_fault"),
        ("hang", "if (added > 5) for (;;) asm volatile(\"\");", "interlap_fault"),
    ]);
    let text = read(data("controlled/abba.cpp"));
    stops_at_fault("abba.cpp", &text, "", &["deadlock", "abba.cpp:"]);
}

#[test]
#[ignore = "starts gdb three times more: make test-long"]
fn gdb_stops_at_more_faults() {
    stops_at_faults([
        ("crash", "if (added > 5) *(volatile int *)8 = 1;", "signal SIGSEGV"),
        ("ends", "if (added > 5) exit(3);", "_exit"),
        ("freed", "if (added > 5) { auto *p = new int64_t; delete p; *p = value; }", "fault"),
    ]);
}

fn stops_at_faults<const N: usize>(cases: [FaultCase; N]) {
    for (name, code, expected) in cases {
        let text = adapters::enqueue(code);
        let line = text.lines().position(|line| line.contains(code)).expect("the line") + 1;
        let more = if name == "hang" { "--hang 2s" } else { "" };
        let place = format!("{name}.cpp:{line}");
        stops_at_fault(&format!("{name}.cpp"), &text, more, &[expected, &place]);
    }
}

/// A violation with one call at a time, perhaps by the thread that drains.
#[test]
fn gdb_stops_in_rounds_of_one_call_at_a_time() {
    let tool = Tool::new();
    let finding = forgetful(&tool);
    assert_eq!(Stored::load(&finding).expect("a finding").round.start.round, 0);
    let asked = ["backtrace", "step", "frame", "next", "backtrace"];
    let answer = debug(&tool, &finding, "--op A", &commands(&asked));
    let expected = ["A  thread 0", "forgetful.cpp:", "Temporary breakpoint", "forgetful.cpp:"];
    in_order(&answer.expect(0, &[]).out, &commands(&expected));
    // As gdb says it of a step in the engine.
    answer.lacks("Single stepping until exit from function interlap_stop");
}

#[test]
fn the_error_for_a_finding_that_cannot_be_debugged_says_what_to_do() {
    let tool = Tool::new();
    let finding = forgetful(&tool);
    let mut command = tool.replay(&finding).with("--gdb").command();
    let answer =
        Answer::from_output(command.env("PATH", "/nonexistent").output().expect("it starts"));
    answer.expect(2, &["gdb is not installed", "apt-get install gdb"]);
    tool.replay(&finding).with("--gdb --op AB").expect(2, &["a letter of the finding"]);
    let text = adapters::dequeue("if (added > 3) value++;");
    let run = tool.fuzz_text("forgetful.cpp", &text).native().findings(1);
    let native = run.out("native").expect(1, &[BREAK_AT_IT_WITH]);
    let plan = Plan { engine: Engine::Controlled, ..native.stored().finding.plan };
    native.expect(1, &[&format!("{plan}\n")]);
    tool.replay(native.finding())
        .with("--gdb")
        .expect(2, &["native threads, which run differently each time", "--engine controlled"]);
}
