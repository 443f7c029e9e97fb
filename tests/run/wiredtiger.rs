//! The case study of docs/wiredtiger.md: what the library does, by the model and by the
//! specification, which allow what was published as surprising, and not what is wrong.

use std::path::Path;

use interlap::report::words::NOTHING_FOUND;
use serde_json::json;

use super::tool::Tool;

fn specification() -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.join("targets/specifications/WiredTiger.tla").display().to_string()
}

#[test]
fn the_library_does_what_model_and_specification_allow() {
    let tool = Tool::new();
    let run = || tool.fuzz("wiredtiger_timestamps").rounds(60).with("--threads 3 --calls 12");
    run().expect(0, &[NOTHING_FOUND, "model wiredtiger"]);
    run().with("--model").arg(specification()).expect(0, &[NOTHING_FOUND]);
}

/// Session, call with its arguments, and what it answers.
type Call<'a> = (u32, &'a str, &'a [i64], &'a [i64]);
/// One after the other.
type Calls<'a> = &'a [Call<'a>];

/// The calls as interlap's files have them.
fn history(calls: Calls) -> String {
    let line = |(at, (session, name, args, answer)): (usize, &Call)| {
        let params = vec!["int"; args.len()].join(", ");
        let (result, results) = match answer {
            [code] => ("int", json!([code])),
            [code, at] => ("record<code: int, at: int>", json!([{ "code": code, "at": at }])),
            other => panic!("{other:?}"),
        };
        let op = format!("{name}({params}) -> {result}");
        let (start, end) = (2 * at, 2 * at + 1);
        json!({ "thread": session, "op": op, "args": args, "results": results, "start": start,
                "end": end })
        .to_string()
    };
    calls.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

fn check(calls: Calls, status: i32, parts: &[&str]) {
    let tool = Tool::new();
    let file = tool.write("history.jsonl", &history(calls));
    for model in ["wiredtiger", &specification()] {
        let check = tool.call("check").arg(&file).args(["--model", model]);
        check.expect(status, parts);
    }
}

/// What is no instant, as docs/wiredtiger.md has it.
#[test]
fn histories_of_calls_that_are_no_instant_are_allowed() {
    let (tool, mut count) = (Tool::new(), 0);
    let folder = Path::new(&specification()).with_file_name("wiredtiger");
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let file = entry.expect("an entry").path();
        for model in ["wiredtiger", &specification()] {
            let check = tool.call("check").arg(&file).args(["--model", model]);
            check.expect(0, &["consistent"]);
        }
        count += 1;
    }
    assert_eq!(count, 11);
}

const ROLLBACK: i64 = -31800;
const NOTFOUND: i64 = -31803;
const EINVAL: i64 = 22;

#[test]
fn a_transaction_that_changed_nothing_commits_after_a_conflict() {
    let conflict: Calls = &[
        (0, "begin", &[], &[0]),
        (1, "begin", &[], &[0]),
        (0, "insert", &[0, 1, 5], &[0]),
        (1, "insert", &[0, 1, 6], &[ROLLBACK]),
        (1, "commit", &[], &[0]),
    ];
    check(conflict, 0, &["consistent"]);
    // One that changed something is refused, and stays open: it can only be rolled back.
    let changed: Calls = &[
        (0, "begin", &[], &[0]),
        (1, "begin", &[], &[0]),
        (0, "insert", &[0, 1, 5], &[0]),
        (1, "insert", &[0, 2, 6], &[0]),
        (1, "insert", &[0, 1, 6], &[ROLLBACK]),
        (1, "commit", &[], &[EINVAL]),
        (1, "rollback", &[], &[0]),
    ];
    check(changed, 0, &["consistent"]);
    let mut wrong = changed.to_vec();
    wrong[5].3 = &[0];
    check(&wrong, 1, &["violates"]);
}

/// They commit by themselves, which is no misuse.
#[test]
fn of_calls_outside_of_transactions_nothing_is_decided() {
    let tool = Tool::new();
    let outside: Calls = &[(0, "insert", &[0, 1, 5], &[0]), (0, "search", &[0, 1], &[5])];
    let file = tool.write("history.jsonl", &history(outside));
    let check = tool.call("check").arg(file).with("--model wiredtiger");
    check.expect(3, &["not decided", "insert[0, 1, 5] outside of a transaction"]);
}

#[test]
fn two_transactions_that_read_what_is_committed_both_change_a_key() {
    let both: Calls = &[
        (0, "begin_read_committed", &[], &[0]),
        (1, "begin_read_committed", &[], &[0]),
        (0, "insert", &[0, 1, 5], &[0]),
        (1, "insert", &[0, 1, 6], &[0]),
        (0, "commit", &[], &[0]),
        (1, "commit", &[], &[0]),
        (0, "begin", &[], &[0]),
        (0, "search", &[0, 1], &[6]),
    ];
    check(both, 0, &["consistent"]);
    let mut wrong = both.to_vec();
    wrong[7].3 = &[5];
    check(&wrong, 1, &["should be 6"]);
}

#[test]
fn commits_may_be_out_of_the_order_of_their_timestamps() {
    let out_of_order: Calls = &[
        (0, "begin", &[], &[0]),
        (0, "insert", &[0, 1, 5], &[0]),
        (0, "commit_at", &[3], &[0, 9]),
        (0, "begin", &[], &[0]),
        (0, "update", &[0, 1, 6], &[0]),
        (0, "commit_at", &[0], &[0, 7]),
        // The later modification hides the other, whatever is read.
        (0, "begin_at", &[0], &[0, 9]),
        (0, "search", &[0, 1], &[6]),
        (0, "commit", &[], &[0]),
        (0, "begin_at", &[3], &[0, 6]),
        (0, "search", &[0, 1], &[NOTFOUND]),
    ];
    check(out_of_order, 0, &["consistent"]);
    let mut wrong = out_of_order.to_vec();
    wrong[7].3 = &[5];
    check(&wrong, 1, &["should be 6"]);
    // Below the stable timestamp it is refused, and rolled back.
    let early: Calls = &[
        (0, "set_stable", &[0], &[0, 8]),
        (1, "begin", &[], &[0]),
        (1, "insert", &[0, 1, 5], &[0]),
        (1, "commit_at", &[0], &[EINVAL, 7]),
        (1, "begin", &[], &[0]),
        (1, "search", &[0, 1], &[NOTFOUND]),
    ];
    check(early, 0, &["consistent"]);
}

#[test]
fn a_prepared_transaction_hides_what_it_may_still_do() {
    let prepared: Calls = &[
        (0, "begin", &[], &[0]),
        (0, "insert", &[0, 1, 5], &[0]),
        (0, "prepare", &[1], &[0, 4]),
        (1, "begin", &[], &[0]),
        (1, "search", &[0, 1], &[-31808]),
        (1, "insert", &[0, 1, 6], &[ROLLBACK]),
        (2, "begin_at", &[0], &[0, 3]),
        (2, "search", &[0, 1], &[NOTFOUND]),
        (0, "search", &[0, 1], &[EINVAL]),
        (0, "rollback", &[], &[0]),
        (2, "search", &[0, 1], &[NOTFOUND]),
    ];
    check(prepared, 0, &["consistent"]);
    let mut wrong = prepared.to_vec();
    wrong[4].3 = &[NOTFOUND];
    check(&wrong, 1, &["violates"]);
}
