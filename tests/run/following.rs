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

const STRINGS: &str = r#"{"interlap": 1, "model": "kv"}
{"event": {"start": {"op": "put", "args": ["k", "a"]}}, "client_id": 0, "op_id": 0}
{"event": {"finish": {}}, "client_id": 0, "op_id": 0}
{"event": {"start": {"op": "append", "args": ["k", "b"]}}, "client_id": 1, "op_id": 1}
{"event": {"finish": {}}, "client_id": 1, "op_id": 1}
{"event": {"start": {"op": "get", "args": ["k"]}}, "client_id": 0, "op_id": 2}
"#;

/// Strings are told apart by all of a history, and lists by all that was appended.
#[test]
fn what_is_judged_as_a_whole_is_followed_too() {
    let tool = Tool::new();
    let follow = |text: &str| tool.call("check --follow").arg(tool.write("events.jsonl", text));
    let got = |found: &str| {
        let end = format!("{{\"results\": [\"{found}\"]}}}}, \"client_id\": 0, \"op_id\": 2}}\n");
        format!("{STRINGS}{{\"event\": {{\"finish\": {end}")
    };
    follow(STRINGS).expect(0, &["consistent with kv"]);
    follow(&got("ab")).expect(0, &["consistent with kv", "all 3 calls were judged together"]);
    follow(&got("a")).expect(1, &["violates kv", "get(\"k\") -> \"a\""]);
    let event = |what: &str, client: u32, id: u32| {
        format!("{{\"event\": {what}, \"client_id\": {client}, \"op_id\": {id}}}\n")
    };
    let calls = [
        (r#"{"op": "begin"}"#, "{}"),
        (r#"{"op": "append", "args": ["x", 1]}"#, "{}"),
        (r#"{"op": "read_list", "args": ["x"]}"#, r#"{"results": [1]}"#),
        (r#"{"op": "commit"}"#, "{}"),
    ];
    let mut text = "{\"interlap\": 1, \"model\": \"serializable\"}\n".to_string();
    for (id, (start, finish)) in (0..).zip(calls) {
        text += &event(&format!("{{\"start\": {start}}}"), 0, id);
        text += &event(&format!("{{\"finish\": {finish}}}"), 0, id);
    }
    follow(&text).expect(0, &["consistent with serializable", "judged together"]);
    follow(&text.replace("\"results\": [1]", "\"results\": []")).expect(1, &["own-write-lost"]);
}

/// It ends while whoever writes still goes on.
#[test]
fn a_bad_string_ends_it_soon() {
    let mut check = Command::new(env!("CARGO_BIN_EXE_interlap"));
    check.args(["check", "--follow", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = check.stderr(Stdio::null()).spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    let finish = r#"{"event": {"finish": {"results": ["c"]}}, "client_id": 0, "op_id": 2}"#;
    writeln!(input, "{STRINGS}{finish}").expect("it reads");
    let done = child.wait_with_output().expect("it ends before its input does");
    drop(input);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stdout).contains("violates kv"));
}

/// Of other orders than linearizable ones, what comes later may explain what came before.
#[test]
fn what_may_be_explained_later_is_judged_in_the_end() {
    let mut check = Command::new(env!("CARGO_BIN_EXE_interlap"));
    check.args(["check", "--follow", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = check.stderr(Stdio::null()).spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    let line = |event: &str, client: u32| {
        format!("{{\"event\": {event}, \"client_id\": {client}, \"op_id\": {client}}}\n")
    };
    let begun = [
        "{\"interlap\": 1, \"model\": \"kv:consistency=sequential\"}\n".to_string(),
        line(r#"{"start": {"op": "get", "args": ["k"]}}"#, 0),
        line(r#"{"finish": {"results": ["a"]}}"#, 0),
    ];
    input.write_all(begun.concat().as_bytes()).expect("it reads");
    // Long enough for a look, if it took one.
    std::thread::sleep(std::time::Duration::from_millis(600));
    let later =
        [line(r#"{"start": {"op": "put", "args": ["k", "a"]}}"#, 1), line(r#"{"finish": {}}"#, 1)];
    input.write_all(later.concat().as_bytes()).expect("it reads");
    drop(input);
    let done = child.wait_with_output().expect("it ends with its input");
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.code() == Some(0) && out.contains("consistent"), "{out}");
}
