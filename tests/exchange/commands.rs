//! `check` and `convert` of other tools' files, as users call them.

use std::path::Path;

use crate::run::tool::Tool;

const BAD: &str = "{:process 0, :type :invoke, :f :append, :key \"k\", :value \"xa\"}
{:process 0, :type :ok, :f :append, :key \"k\", :value \"xa\"}
{:process 1, :type :invoke, :f :get, :key \"k\", :value nil}
{:process 1, :type :ok, :f :get, :key \"k\", :value \"xaxb\"}
";

fn data(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/histories/porcupine");
    folder.join(file).to_str().expect("UTF-8").to_string()
}

#[test]
fn the_format_is_told_from_the_content_or_said() {
    let tool = Tool::new();
    tool.run(&["check", &data("etcd_002.log")]).expect(0, &["consistent with register"]);
    tool.run(&["check", &data("c01-bad.txt")]).expect(1, &["violates kv"]);
    tool.run(&["check", &data("c01-ok.txt"), "--format", "edn"]).expect(0, &["consistent with kv"]);
    let other = tool.run(&["check", &data("c01-ok.txt"), "--format", "jsonl", "--model", "kv"]);
    other.expect(2, &["c01-ok.txt: line 1: "]);
    let noise = tool.adapter("noise.txt", "hello\n");
    let noise = noise.to_str().expect("UTF-8");
    tool.run(&["check", noise]).expect(2, &["noise.txt: not in a known format; expected"]);
    tool.adapter("empty.log", "");
    tool.run(&["check", "empty.log"]).expect(2, &["empty.log: the file is empty"]);
    let empty = tool.run(&["check", "empty.log", "--format", "jepsen-log"]);
    empty.expect(0, &["consistent with register (0 operations)"]);
}

#[test]
fn a_verdict_shows_the_files_own_values() {
    let tool = Tool::new();
    tool.adapter("bad.edn", BAD);
    let bad = tool.run(&["check", "bad.edn"]);
    bad.expect(1, &["get(\"k\")", "\"xa\", \"xb\"", "thread 1"]);
    assert!(!bad.out.contains("-92233"), "{}", bad.out);
    let json = tool.run(&["check", "bad.edn", "--json"]);
    json.expect(1, &["\\\"xa\\\"", "\"partials\"", "\"stuck\""]);
    assert!(!json.out.contains("-92233"), "{}", json.out);
}

#[test]
fn a_history_goes_round_through_every_format_of_text() {
    let tool = Tool::new();
    tool.adapter("bad.edn", BAD);
    let steps = [("bad.edn", "jsonl", "a"), ("a", "events", "b"), ("b", "edn", "c")];
    for (from, to, out) in steps {
        tool.run(&["convert", from, "--to", to, "-o", out]).expect(0, &[]);
        tool.run(&["check", out]).expect(1, &["violates kv"]);
    }
    let file = |name: &str| std::fs::read_to_string(tool.dir.path().join(name)).expect(name);
    assert_eq!(file("c"), BAD);
    let etcd = data("etcd_000.log");
    let same = tool.run(&["convert", &etcd, "--to", "jepsen-log"]);
    let read = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let original = std::fs::read_to_string(&etcd).expect("a log");
    let open = original.lines().filter(|line| line.contains(":info")).count();
    assert!(open > 0, "it has unknown outcomes");
    // Unknown outcomes come last, as that is all that is known of when they took effect.
    let mut lines: Vec<_> = original.lines().map(read).collect();
    let mut again: Vec<_> = same.out.lines().map(read).collect();
    lines.sort();
    again.sort();
    assert_eq!(lines, again);
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let tool = Tool::new();
    let queue = "{\"thread\":0,\"op\":\"enqueue\",\"args\":[7],\"start\":1,\"end\":2}\n";
    tool.adapter("queue.jsonl", queue);
    let convert = |to: &str, more: &[&str]| {
        let args = [&["convert", "queue.jsonl", "--model", "fifo", "--to", to], more].concat();
        tool.run(&args)
    };
    tool.adapter("stack.jsonl", &queue.replace("enqueue", "push"));
    tool.run(&["convert", "stack.jsonl", "--model", "lifo", "--to", "edn"])
        .expect(2, &["stack.jsonl: 'push' of a stack has no form in this format"]);
    convert("trace", &[]).expect(2, &["a trace is of a run of interlap"]);
    convert("events", &["-o", "/nowhere/x"]).expect(2, &["cannot write /nowhere/x"]);
    convert("jsonl", &["--round", "3"]).expect(2, &["queue.jsonl: no round 3 in it"]);
    convert("jsonl", &[]).expect(0, &["\"model\":\"fifo\"", "\"args\":[7]"]);
    tool.run(&["convert", &data("c01-ok.txt"), "--to", "jepsen-log"])
        .expect(2, &["no form for keys"]);
}
