//! Models that other orders may explain than those of linearizability.

use interlap::report::words::NOTHING_FOUND;

use super::tool::Tool;

/// A value that was written is read by another thread only later.
const LATE: &str = r#"{"thread": 0, "op": "write", "args": [1], "start": 1, "end": 2}
{"thread": 1, "op": "read", "results": [0], "start": 3, "end": 4}
{"thread": 1, "op": "read", "results": [1], "start": 5, "end": 6}
"#;

#[test]
fn a_file_is_judged_by_other_orders() {
    let tool = Tool::new();
    let check = |text: &str, model: &str| {
        tool.call("check --model").arg(model).arg(tool.write("history.jsonl", text))
    };
    check(LATE, "register").expect(1, &["--model register:consistency=sequential` allows it"]);
    check(LATE, "register:consistency=sequential").expect(0, &["consistent with"]);
    check(LATE, "register:consistency=quiescent").expect(1, &["not-quiescently-consistent"]);
    // The two reads in the other order.
    let again = LATE.replace("[1], \"start\": 5", "[2], \"start\": 5");
    let words = ["not-sequentially-consistent", "keeps the order of each thread's own"];
    check(&again, "register:consistency=sequential").expect(1, &words);
    check(LATE, "serializable:consistency=sequential").expect(2, &["is not one of linearizable"]);
    check(LATE, "self:consistency=quiescent")
        .expect(2, &["is not one of linearizable, sequential"]);
}

#[test]
fn rounds_are_judged_by_other_orders() {
    let tool = Tool::new();
    let fuzz =
        |target: &str, model: &str| tool.fuzz(target).seed(1).with(format!("--model {model}"));
    for model in ["lifo:consistency=sequential", "self:consistency=sequential"] {
        fuzz("treiber_stack", model).rounds(300).expect(0, &[model, NOTHING_FOUND]);
    }
    fuzz("treiber_stack", "lifo:consistency=quiescent").rounds(300).expect(0, &[NOTHING_FOUND]);
    let model = "register:consistency=sequential";
    let found = fuzz("atomic_register_split_cas", model).rounds(20_000).findings(1);
    let finding = found.with("--shrink 5s").expect(1, &["not-sequentially-consistent"]).finding();
    tool.replay(&finding).expect(1, &["checked again: the same violation"]);
    tool.show(&finding).expect(0, &["not-sequentially-consistent"]);
}
