//! Calls and answers in words, as people write them.

use super::history::{History, OperationId};
use super::operation::{Status, listed};

/// "dequeue() -> 1000003": an invocation and its response.
pub fn call(history: &History, id: OperationId) -> String {
    let operation = history.operation(id);
    let list = |values: &[i64]| listed(values.iter());
    let args = list(history.args(id));
    let results = history.results(id);
    let answer = match (operation.status, results) {
        (status, []) => operation.op.said(status).to_string(),
        (Status::Ok, values) => list(values),
        (status, values) => format!("{} ({})", operation.op.said(status), list(values)),
    };
    format!("{}({args}) -> {answer}", operation.op.name())
}
