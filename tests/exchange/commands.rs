//! `check` and `convert` of other tools' files, as users call them.

use std::path::PathBuf;

use crate::run::tool::{self, Tool};

const BAD: &str = "{:process 0, :type :invoke, :f :append, :key \"k\", :value \"xa\"}
{:process 0, :type :ok, :f :append, :key \"k\", :value \"xa\"}
{:process 1, :type :invoke, :f :get, :key \"k\", :value nil}
{:process 1, :type :ok, :f :get, :key \"k\", :value \"xaxb\"}
";

fn data(file: &str) -> PathBuf {
    tool::data("histories/porcupine").join(file)
}

#[test]
fn a_format_is_detected_from_the_content_or_given() {
    let tool = Tool::new();
    tool.check(data("etcd_002.log")).expect(0, &["consistent with register"]);
    tool.check(data("c01-bad.txt")).expect(1, &["violates kv"]);
    let check = tool.check(data("c01-ok.txt"));
    check.clone().with("--format edn").expect(0, &["consistent with kv"]);
    check.with("--format jsonl --model kv").expect(2, &["c01-ok.txt: line 1: "]);
    tool.check(tool.write("noise.txt", "hello\n"))
        .expect(2, &["noise.txt: not in a known format; expected"]);
    tool.write("empty.log", "");
    tool.check("empty.log").expect(2, &["empty.log: the file is empty"]);
    let check = tool.check("empty.log").with("--format jepsen-log");
    check.expect(0, &["consistent with register (0 operations)"]);
}

#[test]
fn a_verdict_shows_the_files_own_values() {
    let tool = Tool::new();
    tool.write("bad.edn", BAD);
    let bad = tool.check("bad.edn").expect(1, &["get(\"k\")", "\"xa\", \"xb\"", "thread 1"]);
    assert!(!bad.out.contains("-92233"), "{}", bad.out);
    let run = tool.check("bad.edn").with("--json");
    let json = run.expect(1, &["\\\"xa\\\"", "\"partials\"", "\"stuck\""]);
    assert!(!json.out.contains("-92233"), "{}", json.out);
}

#[test]
fn a_history_round_trips_through_every_text_format() {
    let tool = Tool::new();
    tool.write("bad.edn", BAD);
    let steps = [("bad.edn", "jsonl", "a"), ("a", "events", "b"), ("b", "edn", "c")];
    for (from, to, out) in steps {
        tool.call(&format!("convert {from} --to {to} -o {out}")).expect(0, &[]);
        tool.check(out).expect(1, &["violates kv"]);
    }
    assert_eq!(tool.read("c"), BAD);
    let etcd = data("etcd_000.log");
    let same = tool.call("convert").arg(&etcd).with("--to jepsen-log").run();
    let read = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let original = tool::read(&etcd);
    let open = original.lines().filter(|line| line.contains(":info")).count();
    assert!(open > 0, "it has unknown outcomes");
    // Operations of unknown outcome come last, because they may take effect at any later time.
    let mut lines: Vec<_> = original.lines().map(read).collect();
    let mut again: Vec<_> = same.out.lines().map(read).collect();
    lines.sort();
    again.sort();
    assert_eq!(lines, again);
}

#[test]
fn an_operation_that_a_format_cannot_express_is_an_error() {
    let tool = Tool::new();
    let queue = "{\"thread\":0,\"op\":\"enqueue\",\"args\":[7],\"start\":1,\"end\":2}\n";
    tool.write("queue.jsonl", queue);
    let convert = |to: &str| tool.call("convert queue.jsonl --model fifo --to").with(to);
    tool.write("stack.jsonl", &queue.replace("enqueue", "push"));
    tool.call("convert stack.jsonl --model lifo --to edn")
        .expect(2, &["stack.jsonl: 'push' of a stack has no form in this format"]);
    convert("trace").expect(2, &["possible values: jsonl, events, edn, jepsen-log, s2"]);
    convert("events -o /nowhere/x").expect(2, &["cannot write /nowhere/x"]);
    convert("jsonl --round 3").expect(2, &["queue.jsonl: no round 3 in it"]);
    convert("jsonl").expect(0, &["\"model\":\"fifo\"", "\"args\":[7]"]);
    let run = tool.call("convert").arg(data("c01-ok.txt")).with("--to jepsen-log");
    run.expect(2, &["no form for keys"]);
}
