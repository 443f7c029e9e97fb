//! Output that nobody reads or that cannot be written: the verdict decides the exit status, and a
//! finding is saved before anything is printed.

use interlap::report::words::FINDING;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use super::adapters::{dequeue, enqueue};
use super::tool::{Call, Tool, findings, read};

/// Has a violation in each run: no order explains the answer of a dequeue.
fn faulty(tool: &Tool) -> Call<'_> {
    let text = dequeue("if (added > 3) value++;");
    tool.fuzz_text("faulty.cpp", &text).controlled().rounds(100).findings(1)
}

/// A recorded violation.
fn bad_trace(tool: &Tool) -> PathBuf {
    faulty(tool).expect(1, &[FINDING]).finding().join("trace.mpk")
}

/// The write end of a pipe without a reader.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("a device of Linux").into()
}

fn ends(mut command: Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().expect("the program starts");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

fn with_stdout(call: &Call, stdout: Stdio) -> (Option<i32>, String) {
    let mut command = call.command();
    command.stdout(stdout).stderr(Stdio::piped());
    ends(command)
}

fn is_saved(tool: &Tool, folder: &str) {
    let found = findings(&tool.path(folder));
    let is_whole = |path: &PathBuf| path.join("trace.mpk").is_file();
    assert!(found.len() == 1 && found.iter().all(is_whole), "{found:?}");
}

#[test]
fn what_a_target_prints_does_not_control_the_terminal() {
    let tool = Tool::new();
    let body =
        r#"if (added > 3) { fputs("\033[31mterminate called: \033]0;x\007\n", stderr); abort(); }"#;
    let text = enqueue(body).replace("<cstdlib>", "<cstdlib>\n#include <cstdio>");
    let answer = tool.fuzz_text("prints.cpp", &text).native().rounds(30).findings(1).run();
    answer.expect(1, &[]);
    let shown = tool.call("show").arg(answer.finding()).run();
    for text in [answer.all(), shown.all(), read(answer.finding().join("report.txt"))] {
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
    assert!(shown.all().contains("\\u001b[31m"), "{}", shown.all());
}

#[test]
fn a_check_whose_output_nobody_reads_exits_by_its_verdict() {
    let tool = Tool::new();
    let trace = bad_trace(&tool);
    for call in [tool.check(&trace), tool.check(&trace).with("--json")] {
        let (status, err) = with_stdout(&call, closed());
        assert_eq!(status, Some(1), "{err}");
        assert!(!err.contains("panicked") && !err.contains("Broken pipe"), "{err}");
    }
}

#[test]
fn a_run_whose_output_nobody_reads_exits_by_its_verdict_and_saves_its_finding() {
    let tool = Tool::new();
    for (folder, json) in [("a", ""), ("b", "--json")] {
        let (status, err) = with_stdout(&faulty(&tool).out(folder).with(json), closed());
        assert_eq!(status, Some(1), "{err}");
        assert!(!err.contains("panicked") && !err.contains("Broken pipe"), "{err}");
        is_saved(&tool, folder);
    }
}

#[test]
fn a_run_whose_messages_nobody_reads_exits_by_its_verdict_and_saves_its_finding() {
    let tool = Tool::new();
    let mut command = faulty(&tool).command();
    command.stdout(Stdio::null()).stderr(closed());
    assert_eq!(command.status().expect("the program starts").code(), Some(1));
    is_saved(&tool, "findings");
}

/// A file that is written in place loses what it had before the new content is whole; the second
/// name of such a file shows it.
#[test]
fn what_people_keep_is_replaced_and_not_written_in_place() {
    let tool = Tool::new();
    let trace = bad_trace(&tool).display().to_string();
    for (file, command) in [
        ("history", format!("convert {trace} --to jsonl --out history")),
        ("page", format!("check {trace} --html page")),
        ("check", format!("check {trace} --junit check")),
        ("junit", "triage findings --junit junit".to_string()),
        ("sarif", "triage findings --sarif sarif".to_string()),
        ("known", "triage findings --add bug --known known".to_string()),
    ] {
        let path = tool.write(file, "");
        std::fs::hard_link(&path, tool.path("before")).expect("room");
        assert_ne!(tool.call(&command).run().status, 2, "{command}");
        assert_eq!((tool.read("before").as_str(), tool.read(file).is_empty()), ("", false));
        std::fs::remove_file(tool.path("before")).expect("ours");
    }
}

/// Asserts that one sentence says that the output cannot be written.
#[track_caller]
fn cannot_be_written((status, err): (Option<i32>, String)) {
    assert_eq!(status, Some(2), "{err}");
    let sentences = err.lines().filter(|line| line.contains("standard output")).count();
    assert!(sentences == 1 && !err.contains("panicked"), "{err}");
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_the_finding_is_saved() {
    let tool = Tool::new();
    let trace = bad_trace(&tool);
    let check = with_stdout(&tool.check(&trace), full());
    assert_eq!(check.1.lines().count(), 1, "{}", check.1);
    cannot_be_written(check);
    cannot_be_written(with_stdout(&faulty(&tool).out("full"), full()));
    is_saved(&tool, "full");
}
