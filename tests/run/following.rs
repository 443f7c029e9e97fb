//! Histories that are judged while they are written.

use std::io::Write;
use std::process::{Command, Stdio};

use super::tool::Tool;

const START: &str = r#"{"interlap": 1, "model": "fifo"}
{"event": {"start": {"op": "enqueue", "args": ["a"]}}, "client_id": 0, "op_id": 0}
{"event": {"start": {"op": "dequeue"}}, "client_id": 1, "op_id": 1}
{"event": {"finish": {"results": ["a"]}}, "client_id": 1, "op_id": 1}
"#;
const TWICE: &str = r#"{"event": {"start": {"op": "dequeue"}}, "client_id": 2, "op_id": 2}
{"event": {"finish": {"results": ["a"]}}, "client_id": 2, "op_id": 2}
"#;

#[test]
fn a_file_of_events_is_judged_as_it_is_read() {
    let tool = Tool::new();
    let follow = |text: &str| tool.call("check --follow").arg(tool.write("events.jsonl", text));
    follow(START).expect(0, &["consistent with fifo", "1 calls returned"]);
    let later = format!("{START}{TWICE}this line is never read\n");
    follow(&later).expect(1, &["violates fifo (taken-twice)", "dequeue() -> \"a\""]);
    follow(&format!("{START}{{}}\n")).expect(2, &["line 5", "missing field"]);
    follow(&START.replace("\"op_id\": 1}\n{", "\"op_id\": 3}\n{")).expect(2, &["line 4"]);
    let no_model = START.split_once('\n').expect("lines").1;
    follow(no_model).expect(2, &["line 1", "--model"]);
    follow(no_model).with("--model fifo").expect(0, &["consistent"]);
    follow(START).with("--format edn").expect(2, &["only events can be followed"]);
}

/// It ends while whoever writes still goes on.
#[test]
fn the_first_bad_response_ends_it() {
    let mut check = Command::new(env!("CARGO_BIN_EXE_interlap"));
    check.args(["check", "--follow", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = check.stderr(Stdio::null()).spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(format!("{START}{TWICE}").as_bytes()).expect("it reads");
    let done = child.wait_with_output().expect("it ends before its input does");
    drop(input);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stdout).contains("taken-twice"));
}
