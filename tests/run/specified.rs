//! Specifications in TLA+ as models of targets and files.

use std::path::PathBuf;

use interlap::report::words::NOTHING_FOUND;

use super::tool::{Tool, data, read};

const HISTORY: &str = r#"{"thread": 0, "op": "enqueue", "args": [3], "start": 1, "end": 2}
{"thread": 0, "op": "enqueue", "args": [4], "start": 3, "end": 4}
{"thread": 1, "op": "dequeue", "results": [3], "start": 5, "end": 6}
"#;

/// A queue's specification with this in place of that.
fn changed(tool: &Tool, from: &str, to: &str) -> PathBuf {
    let text = read(data("tla/Queue.tla"));
    assert!(text.contains(from), "{from}");
    tool.write("Queue.tla", &text.replace(from, to))
}

fn check(tool: &Tool, model: PathBuf, history: &str, status: i32, parts: &[&str]) {
    let file = tool.write("history.jsonl", history);
    tool.call("check --model").arg(model).arg(file).expect(status, parts);
}

#[test]
fn a_file_is_judged_by_a_specification() {
    let (tool, queue) = (Tool::new(), data("tla/Queue.tla"));
    check(&tool, queue.clone(), HISTORY, 0, &["consistent with Queue"]);
    let wrong = HISTORY.replace("\"results\": [3]", "\"results\": [4]");
    let said = ["leaves q = <<3, 4>>", "dequeue() = 4", "should be 3"];
    check(&tool, queue.clone(), &wrong, 1, &said);
    let empty = HISTORY.replace("\"results\": [3]", "\"status\": \"empty\"");
    check(&tool, queue.clone(), &empty, 1, &["dequeue() = empty", "should be 3"]);
    // Whatever it took out.
    let open = HISTORY.replace("\"results\": [3], \"start\": 5, \"end\": 6", "\"start\": 5");
    let open = open.replace("\"start\": 5", "\"start\": 5, \"end\": null, \"status\": \"pending\"");
    let after = r#"{"thread": 2, "op": "dequeue", "results": [4], "start": 7, "end": 8}"#;
    check(&tool, queue.clone(), &format!("{open}{after}\n"), 0, &["consistent with Queue"]);
    let again = after.replace("\"start\": 7, \"end\": 8", "\"start\": 9, \"end\": 10");
    check(&tool, queue, &format!("{HISTORY}{after}\n{again}\n"), 1, &["should be empty"]);
    // The answer may be asked for before anything says it, and names may be those of answers.
    let asked = changed(&tool, "q # <<>>\n", "q # <<>> /\\ result # Empty\n");
    check(&tool, asked, &wrong, 1, &["dequeue() = 4"]);
    let named = changed(&tool, "Init == q = <<>>", "Done == <<>>\nInit == q = Done");
    check(&tool, named, HISTORY, 0, &["consistent with Queue"]);
    // The conjunct that is false, where no answer is right.
    let full = changed(&tool, "q' = Append(q, value)", "q = <<>> /\\ q' = Append(q, value)");
    check(&tool, full, HISTORY, 1, &["refused: line", "q = <<>> /\\ q' = "]);
}

/// A string is a value also where an operation of a family has the name of the call.
#[test]
fn strings_are_answers() {
    let tool = Tool::new();
    let store = "---- MODULE Store ----\nVARIABLE s\nInit == s = [k \\in {\"a\"} |-> \"\"]\n\
                 Put(key, value) == s' = [s EXCEPT ![key] = value]\n\
                 Get(key, answer) == answer = s[key] /\\ UNCHANGED s\n====\n";
    let store = tool.write("Store.tla", store);
    let history = r#"{"thread": 0, "op": "put", "args": ["a", "x"], "start": 1, "end": 2}
{"thread": 0, "op": "get", "args": ["a"], "results": ["x"], "start": 3, "end": 4}
"#;
    check(&tool, store.clone(), history, 0, &["consistent with Store"]);
    let wrong = history.replace("[\"x\"]", "[\"y\"]");
    check(&tool, store, &wrong, 1, &["should be \"x\""]);
}

#[test]
fn a_bundled_queue_is_judged_by_a_specification() {
    let (tool, queue) = (Tool::new(), data("tla/Queue.tla"));
    let fuzz = |target: &str, rounds| {
        let run = tool.fuzz(target).seed(1).rounds(rounds).findings(1);
        run.with("--threads 3 --calls 4 --shrink 2s --model").arg(&queue)
    };
    fuzz("ms_queue", 300).expect(0, &[NOTHING_FOUND, "Queue.tla"]);
    let found = fuzz("ms_queue_no_recheck", 2_000).expect(1, &["not-linearizable"]);
    tool.replay(found.finding()).expect(1, &["checked again: the same violation"]);
}

/// Of a class that lists its methods, with constants from a configuration.
#[test]
fn methods_are_judged_by_a_specification() {
    let pool = r#"
        #include <interlap_operations.hpp>
        #include <mutex>
        struct Pool {
            std::mutex mutex;
            std::atomic<bool> used[2] = {};
            std::optional<int> acquire() {
                GUARD
                for (int id : {0, 1})
                    if (!used[id]) {
                        used[id] = true;
                        return id;
                    }
                return std::nullopt;
            }
            bool release(int id) {
                std::lock_guard<std::mutex> guard(mutex);
                return (id == 0 || id == 1) && used[id].exchange(false);
            }
        };
        INTERLAP_OPERATIONS(Pool, acquire, release)
    "#;
    let run = |guard: &str, status: i32, part: &str| {
        let tool = Tool::new();
        let text = format!("#include <atomic>\n{}", pool.replace("GUARD", guard));
        let run = tool.fuzz_text("pool.cpp", &text).rounds(600).findings(1);
        let run = run.with("--threads 3 --calls 3 --shrink 2s --model").arg(data("tla/Ids.tla"));
        run.expect(status, &[part]);
    };
    run("std::lock_guard<std::mutex> guard(mutex);", 0, NOTHING_FOUND);
    run("", 1, "not-linearizable of acquire");
}

#[test]
fn what_is_wrong_with_a_specification_is_said() {
    let tool = Tool::new();
    let refused = |from: &str, to: &str, parts: &[&str]| {
        let model = changed(&tool, from, to);
        let file = tool.write("history.jsonl", HISTORY);
        let run = tool.call("check --model").arg(model).arg(file).run();
        assert!(run.status != 0 && run.status != 1, "{}", run.all());
        run.expect(run.status, parts);
    };
    refused("Head(q)", "Hed(q)", &["Queue.tla:15:", "Hed is not defined"]);
    refused("q # <<>>", "q # <<>> /\\ TRUE \\/ FALSE", &["Queue.tla:14:", "ambiguous"]);
    refused("EXTENDS Sequences", "EXTENDS Integers", &["EXTENDS Sequences has it"]);
    refused("EXTENDS Sequences", "EXTENDS Sequences, Other", &["there is no", "Other.tla"]);
    refused("Init == q = <<>>", "Begin == q = <<>>", &["Init is not defined"]);
    refused("Sequences\nCONSTANT Empty", "Sequences", &["Queue.tla:11:", "Empty is not defined"]);
    refused("q # <<>>\n", "Len(q) # N\n", &["N is not defined"]);
    let assumes = "ASSUME \\A n \\in {Empty} : n # Empty\nVARIABLE q";
    refused("VARIABLE q", assumes, &["Queue.tla:4:", "this assumption is false"]);
    refused("Enqueue(value) ==", "Put(value) ==", &["no action Enqueue for enqueue"]);
    refused("Dequeue(result)", "Dequeue(a, result)", &["needs one for each argument"]);
    // With nothing inside it cannot be evaluated.
    let guarded = "Append(q, value) /\\ Head(Tail(q)) = 3";
    refused("Append(q, value)", guarded, &["Tail of an empty sequence", "where q = <<>>"]);
    refused("q' = Append(q, value)", "TRUE", &["Queue has no action Enqueue"]);
    refused("q' = Tail(q)", "TRUE", &["nothing says what q is in the next state"]);
    refused("result = Head(q)", "result = \"a\"", &["cannot be compared"]);
}
