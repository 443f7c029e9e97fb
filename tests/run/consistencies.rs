//! Models that other orders may explain than those of linearizability.

use std::path::Path;

use interlap::report::words::NOTHING_FOUND;

use super::tool::{Tool, data};

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
    check(LATE, "fifo-per-producer:consistency=quiescent")
        .expect(2, &["is not one of linearizable, sequential"]);
}

/// A counting network of two wires (Aspnes, Herlihy, Shavit, JACM 1994).
const COUNTING: &str = "#include <atomic>
#include <interlap_operations.hpp>
class Counting {
    std::atomic<int> wire{0}, counts[2] = {0, 1};
  public:
    int next() {
        std::atomic<int> &count = counts[wire.fetch_xor(1)];
#ifdef WRONG
        int own = count;
        count = own + 2;
        return own;
#else
        return count.fetch_add(2);
#endif
    }
};
INTERLAP_OPERATIONS(Counting, next)
";

/// A structure that is its own model, where a thread's calls have no order either, or are shifted.
#[test]
fn a_structure_of_no_family_may_be_quiescently_consistent() {
    let tool = Tool::new();
    let adapter = tool.adapter("counting.cpp", COUNTING);
    let fuzz = |adapter: &Path, model: &str, flags: &str| {
        let run = tool.fuzz(adapter).seed(1).rounds(600).findings(1);
        run.with(format!("--threads 3 --calls 4 --model self{model} --shrink 1s {flags}"))
    };
    let quiescent = ":consistency=quiescent";
    fuzz(&adapter, "", "--out strict").expect(1, &["not-linearizable of next"]);
    fuzz(&adapter, quiescent, "").expect(0, &[NOTHING_FOUND]);
    let found = fuzz(&adapter, quiescent, "--cflag=-DWRONG");
    let finding = found.expect(1, &["not-quiescently-consistent"]).finding();
    tool.replay(finding).expect(1, &["checked again: the same violation"]);
    let (near, far) = (":consistency=quasi-1", ":consistency=quasi-2");
    fuzz(&adapter, near, "--out near").expect(1, &["not-quasi-linearizable of next"]);
    fuzz(&adapter, far, "").expect(0, &[NOTHING_FOUND]);
    let found = fuzz(&adapter, far, "--cflag=-DWRONG --out far");
    found.expect(1, &["within 2 places of where a"]);
    let of_threads = data("custom/id_pool.cpp");
    fuzz(&of_threads, quiescent, "").expect(2, &["state of each thread (Local)"]);
    let own = "#include <interlap_operations.hpp>
struct Counter {
    int own() { static thread_local int calls = 0; return calls++; }
};
INTERLAP_OPERATIONS(Counter, own)
";
    let own = tool.adapter("own.cpp", own);
    fuzz(&own, quiescent, "").expect(2, &["own() depends on which thread calls it"]);
}

#[test]
fn rounds_are_judged_by_other_orders() {
    let tool = Tool::new();
    let fuzz =
        |target: &str, model: &str| tool.fuzz(target).seed(1).with(format!("--model {model}"));
    // Rounds of more calls are often undecided, after a long search.
    for model in ["lifo:consistency=sequential", "self:consistency=sequential"] {
        let run = fuzz("treiber_stack", model).rounds(300).threads(3).calls(3);
        run.expect(0, &[model, NOTHING_FOUND]).lacks("undecided");
    }
    fuzz("treiber_stack", "lifo:consistency=quiescent").rounds(300).expect(0, &[NOTHING_FOUND]);
    let model = "register:consistency=sequential";
    let found = fuzz("atomic_register_split_cas", model).rounds(20_000).findings(1);
    let finding = found.with("--shrink 5s").expect(1, &["not-sequentially-consistent"]).finding();
    tool.replay(&finding).expect(1, &["checked again: the same violation"]);
    tool.show(&finding).expect(0, &["not-sequentially-consistent"]);
}
