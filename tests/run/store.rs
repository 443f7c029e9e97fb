//! Rounds that runs keep in a store: listed, and judged again under other models.

use std::path::Path;

use super::tool::{Tool, data};

const STACK: &str = "---- MODULE Stack ----
EXTENDS Sequences
VARIABLE q
CONSTANT Empty
Init == q = <<>>
Enqueue(v) == q' = <<v>> \\o q
Dequeue(v) == IF q = <<>> THEN v = Empty /\\ UNCHANGED q ELSE v = Head(q) /\\ q' = Tail(q)
====
";

fn specification(file: &str) -> String {
    data("tla").join(file).display().to_string()
}

#[test]
fn rounds_are_kept_listed_and_judged_again() {
    let tool = Tool::new();
    let store = tool.path("rounds");
    let shown = store.display().to_string();
    let run = tool.fuzz("ms_queue").seed(1).rounds(30).with("--threads 2 --calls 3 --store");
    run.arg(&store).expect(0, &[]);
    let listed = tool.call("list").arg(&store).expect(0, &["46 of 46 rounds, of 1 run"]);
    listed.expect(0, &["ms_queue-1", "consistent"]);
    let slow = tool.call("list --slow 2").arg(&store).json(0);
    let seconds = |at: usize| slow[at]["seconds"].as_f64().expect("a number");
    assert!(slow.as_array().is_some_and(|all| all.len() == 2) && seconds(0) >= seconds(1));
    tool.call("list --undecided").arg(&store).expect(0, &["0 of 46 rounds, of 1 run"]);

    let check = |model: &str| tool.call("check").arg(&store).args(["--model", model]);
    let all = "46 rounds: 46 consistent, 0 violations, 0 undecided";
    check(&specification("Queue.tla")).expect(0, &[all, "the same was made before"]);
    // Each run's own model judges again, if no other is named.
    let own = tool.path("own");
    let run = tool.fuzz("ms_queue").rounds(5).with("--model").arg(specification("Queue.tla"));
    run.arg("--store").arg(&own).expect(0, &[]);
    tool.call("check").arg(&own).expect(0, &["21 rounds: 21 consistent", "the same was made"]);
    // A queue is no stack: each round that shows it is told, and that it was right before.
    let stack = tool.write("Stack.tla", STACK).display().to_string();
    let other = check(&stack).expect(1, &["violation", "(it was consistent)"]);
    other.expect(1, &[&format!("{shown}/ms_queue-1, round ")]);
    let json = check(&stack).json(1);
    assert_eq!(json[0]["stored"], "consistent");
}

#[test]
fn what_is_not_consistent_is_kept_whatever_its_number() {
    let tool = Tool::new();
    let store = tool.path("rounds");
    let twin = tool.fuzz("ms_queue_no_recheck").seed(1).rounds(20_000).findings(1);
    twin.with("--every 1000 --store").arg(&store).expect(1, &[]);
    let all = tool.call("list").arg(&store).json(0);
    let all = all.as_array().expect("a list");
    let is_kept = |round: &serde_json::Value| {
        round["round"].as_u64().expect("a number").is_multiple_of(1000)
            || round["verdict"] != "consistent"
    };
    assert!(all.iter().all(is_kept), "{all:?}");
    assert!(all.iter().any(|round| round["verdict"] == "violation"), "{all:?}");
    tool.call("check").arg(&store).expect(1, &["the same was made before"]);
}

#[test]
fn long_rounds_and_faults_are_kept() {
    let tool = Tool::new();
    let store = tool.path("rounds");
    let keep = |target: &Path, options: &str| {
        tool.fuzz(target).seed(1).with(options).with("--store").arg(&store).run()
    };
    keep(Path::new("ms_queue"), "--engine native --calls 300000 --rounds 1 --threads 2");
    let crashes = "#include <cstdlib>\n#include <interlap.hpp>\nstruct Crash {\n\
                   void enqueue(int64_t) { std::abort(); }\n\
                   bool dequeue(int64_t &) { return false; }\n};\nINTERLAP_TARGET(Crash)\n";
    let adapter = tool.adapter("crash.cpp", crashes);
    keep(&adapter, "--model pool --rounds 1");
    let all = tool.call("list").arg(&store).expect(0, &["ms_queue-1", "crash-1", "fault"]);
    all.expect(0, &["60000", "of 2 runs"]);
}

#[test]
fn a_directory_without_rounds_is_none() {
    let tool = Tool::new();
    let says = ["no rounds are kept there", "fuzz TARGET --store"];
    tool.call("list").arg(tool.path("")).expect(2, &says);
    let both = tool.fuzz("ms_queue").with("--store a --trace b");
    both.expect(2, &["cannot be used with"]);
}
