//! Tests the page's script under Node.js, without a browser: its decoding and its search. Without
//! Node.js the tests print that they were skipped.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use interlap::check::{Limits, Verdict, check, partials};
use interlap::core::annotations::AnnotationLine;
use interlap::core::history::{History, OperationId};
use interlap::core::journal::Journal;
use interlap::core::words;
use interlap::model::{Model, Spec};
use interlap::view::judged::Judged;
use serde_json::{Value, json};

use super::sizes::sets;
use super::{BAD, data, good, page_of, read};

/// Runs `tests/page/logic.js` on a page's data; none without Node.js.
fn run(expected: &Value, page: &str) -> Option<()> {
    let dir = tempfile::tempdir().expect("temp dir");
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).expect("a file");
        dir.path().join(name)
    };
    let script = write("script.js", &interlap::view::page::script());
    let input = json!({ "data": data(page), "expected": expected }).to_string();
    let input = write("input.json", &input);
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/logic.js");
    let output = match Command::new("node").arg(test).arg(script).arg(input).output() {
        Ok(output) => output,
        Err(error) => {
            // Past the test runner, which swallows what passing tests print.
            writeln!(std::io::stderr(), "SKIPPED, the page's script: node: {error}").expect("said");
            return None;
        }
    };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}{error}");
    print!("{printed}");
    Some(())
}

/// What the script should decode: the operations in the order of their starts.
fn expected(history: &History) -> Value {
    let mut ids: Vec<_> = history.ids().collect();
    ids.sort_by_key(|id| (history.operation(*id).start, *id));
    let labels: Vec<_> =
        ids.iter().map(|id| words::operation(history, *id, &words::number)).collect();
    let zero = history.operation(ids[0]).start;
    let starts: Vec<_> = ids.iter().map(|id| history.operation(*id).start - zero).collect();
    json!({ "labels": labels, "starts": starts })
}

/// A semaphore for one, of which two get hold.
struct Semaphore;

impl Model<String> for Semaphore {
    type State = bool;

    fn init(&self) -> bool {
        false
    }

    fn step(&self, held: &bool, operation: &String, next: &mut Vec<bool>) {
        let is_right = operation.ends_with(&format!("-> {}", !held));
        next.extend(is_right.then_some(true));
    }

    fn describe(&self, operation: &String) -> String {
        operation.clone()
    }
}

#[test]
fn the_script_shows_operations_of_ones_own_in_their_words() {
    let mut journal = Journal::default();
    for (client, answer) in (0..).zip(["true", "true", "false"]) {
        let operation = format!("acquire(\"<{client}>\") -> {answer}");
        journal.push(client, operation, 10 + u64::from(client), Some(20)).expect("one each");
    }
    journal.push(3, "release".to_string(), 30, None).expect("the first of its client");
    let judged = Judged::new(journal, Semaphore, &Limits::default());
    assert!(!judged.is_consistent());
    let labels = ["acquire(\"<0>\") -> true", "acquire(\"<1>\") -> true"];
    let labels = [&labels[..], &["acquire(\"<2>\") -> false", "release -> unknown"]].concat();
    run(&json!({ "labels": labels, "starts": [0, 1, 2, 20] }), &judged.page("x"));
    let mut of_two = Journal::default();
    let point = AnnotationLine::Point { note: "n2 leads".to_string() };
    of_two.annotations.add(point, 2).expect("a point");
    of_two.annotations.of_operations.insert(OperationId { thread: 0, index: 0 }, vec!["x".into()]);
    of_two.push(0, "acquire -> true".to_string(), 1, Some(2)).expect("the first");
    of_two.push(0, "try".to_string(), 3, None).expect("the next");
    let judged = Judged::new(of_two, Semaphore, &Limits::default());
    assert!(judged.is_consistent());
    let (labels, rows) = (["acquire -> true", "try -> unknown"], ["notes", "client 0"]);
    let said = json!([{ "text": "n2 leads", "start": 1, "end": 1 }]);
    let expected = json!({
        "labels": labels, "starts": [0, 2], "rows": rows,
        "annotations": said, "notes": { "0": ["x"] },
    });
    run(&expected, &judged.page("x"));
}

#[test]
fn the_script_decodes_the_packed_history() {
    let history = read(BAD);
    run(&expected(&history), &page_of(&history, "fifo", "x"));
    let history = read(&good());
    run(&expected(&history), &page_of(&history, "fifo", "x"));
    let history = sets(3_000);
    run(&expected(&history), &page_of(&history, "set", "x"));
}

#[test]
fn the_script_finds_the_longest_partial_linearizations() {
    let history = read(BAD);
    let model: Spec = "fifo".parse().expect("a model");
    let Verdict::Violation(witness) = check(&history, &model, &Limits::default()) else {
        panic!("it is bad");
    };
    let found = partials(&history, &model, &witness.operations, &Limits::default()).expect("some");
    let mut expected = expected(&history);
    expected["orders"] = found.partials.len().into();
    expected["longest"] = found.partials[0].steps.len().into();
    expected["states"] = found.partials[0].steps.iter().map(|s| s.state.clone()).collect();
    run(&expected, &page_of(&history, "fifo", "x"));
}
