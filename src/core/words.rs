//! Calls and their answers in words, as people write them: "dequeue() -> 7".

use super::history::{History, OperationId};
use super::operation::{Op, Status, listed};

/// "dequeue() -> 1000003". A long list of values is shortened.
pub fn operation(history: &History, id: OperationId) -> String {
    let operation = history.operation(id);
    let call = call(operation.op, history.args(id));
    format!("{call} -> {}", answer(operation.op, operation.status, history.results(id)))
}

/// "push(7)". A long list of values is shortened.
pub fn call(op: Op, args: &[i64]) -> String {
    format!("{}({})", op.name(), listed(args.iter()))
}

/// "ok", "3, 4", "never returned". A long list of values is shortened.
pub fn answer(op: Op, status: Status, results: &[i64]) -> String {
    answer_with(op, status, results, |values| listed(values.iter()))
}

/// "push(7)", with all values.
pub fn call_in_full(history: &History, id: OperationId) -> String {
    format!("{}({})", history.operation(id).op.name(), list(history.args(id)))
}

/// "ok", "3, 4", "absent", with all values; none for a call that never returned.
pub fn answer_in_full(history: &History, id: OperationId) -> Option<String> {
    let (operation, results) = (history.operation(id), history.results(id));
    let has_returned = operation.status != Status::Pending;
    has_returned.then(|| answer_with(operation.op, operation.status, results, list))
}

fn answer_with(op: Op, status: Status, results: &[i64], list: fn(&[i64]) -> String) -> String {
    match (status, results) {
        (status, []) => op.answer_word(status).to_string(),
        (Status::Ok, values) => list(values),
        (status, values) => format!("{} ({})", op.answer_word(status), list(values)),
    }
}

fn list(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
