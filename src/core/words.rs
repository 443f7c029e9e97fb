//! Calls and their answers in words, as people write them: "dequeue() -> 7".

use super::history::{History, OperationId};
use super::operation::{Op, Status, listed};
use super::value::{Type, all};

/// How a value is shown: as a number, or as what the number stands for.
pub type Shown<'a> = &'a dyn Fn(i64) -> String;

/// A value as a number.
pub fn number(value: i64) -> String {
    value.to_string()
}

/// A value of this operation, where `text` is how other operations show it. Hashes of streams have
/// no sign.
pub fn of_operation(op: Op, value: i64, text: String) -> String {
    let is_hash = op.is_of_streams() && value < 0 && text == number(value);
    if is_hash { (value as u64).to_string() } else { text }
}

/// "dequeue() -> 1000003". A long list of values is shortened.
pub fn operation(history: &History, id: OperationId, shown: Shown) -> String {
    let operation = history.operation(id);
    let call = call(operation.op, history.args(id), shown);
    match answer(operation.op, operation.status, history.results(id), shown) {
        answer if answer.is_empty() => call,
        answer => format!("{call} -> {answer}"),
    }
}

/// "push(7)". A long list of values is shortened.
pub fn call(op: Op, args: &[i64], shown: Shown) -> String {
    let args = match op {
        // The first of its steps, which all have the text of the whole.
        Op::Described => return shown(args[0]),
        Op::Method(method) => method.shown_arguments(args).unwrap_or_else(|_| list(args)),
        _ => listed(args.iter().map(|value| of_operation(op, *value, shown(*value)))),
    };
    format!("{}({args})", op.name())
}

/// "ok", "3, 4", "never returned". A long list of values is shortened.
pub fn answer(op: Op, status: Status, results: &[i64], shown: Shown) -> String {
    let of = |value: &i64| of_operation(op, *value, shown(*value));
    let list = |values: &[i64]| listed(values.iter().map(of));
    answer_with(op, status, results, &list)
}

/// As [`answer`], where `missing` should have come before a result: "1, [2 is missing], 3".
pub fn answer_without(
    (op, status): (Op, Status),
    results: &[i64],
    (before, missing): (usize, &[i64]),
    shown: Shown,
) -> String {
    let verb = if missing.len() == 1 { "is" } else { "are" };
    let gap = format!("[{} {verb} missing]", listed(missing.iter().map(|value| shown(*value))));
    let (first, rest) = results.split_at(before.min(results.len()));
    let said = |part: &[i64]| answer(op, status, part, shown);
    // "empty" is said once; "ok" is not, which would say that nothing is missing.
    let start = match (first, status) {
        ([], Status::Ok) => None,
        (first, _) => Some(said(first)),
    };
    let end = (!rest.is_empty()).then(|| said(rest));
    [start, Some(gap), end].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// "push(7)", with all values.
pub fn call_in_full(history: &History, id: OperationId) -> String {
    let (op, args) = (history.operation(id).op, history.args(id));
    match op {
        Op::Method(_) => call(op, args, &number),
        _ => format!("{}({})", op.name(), list(args)),
    }
}

/// "ok", "3, 4", "absent", with all values; none for a call that never returned.
pub fn answer_in_full(history: &History, id: OperationId) -> Option<String> {
    let (operation, results) = (history.operation(id), history.results(id));
    let has_returned = operation.status != Status::Pending;
    has_returned.then(|| answer_with(operation.op, operation.status, results, &list))
}

fn answer_with(op: Op, status: Status, results: &[i64], list: &dyn Fn(&[i64]) -> String) -> String {
    if let Op::Method(method) = op
        && !results.is_empty()
    {
        let exception = |name: String| format!("throws {}", name.trim_matches('"'));
        let shown = match status {
            Status::Failed => all(&[Type::String], results).map(exception),
            _ => method.shown_result(results),
        };
        return shown.unwrap_or_else(|_| list(results));
    }
    answer_by_list(op, status, results, list)
}

/// The answer of a method whose types are not at hand: the words of its result.
pub fn answer_of_words(op: Op, status: Status, results: &[i64]) -> String {
    answer_by_list(op, status, results, &list)
}

fn answer_by_list(
    op: Op,
    status: Status,
    results: &[i64],
    list: &dyn Fn(&[i64]) -> String,
) -> String {
    match (status, results) {
        (status, []) => op.answer_word(status).to_string(),
        (Status::Ok, values) => list(values),
        (status, values) => format!("{} ({})", op.answer_word(status), list(values)),
    }
}

fn list(values: &[i64]) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// The word, quoted for a POSIX shell where necessary.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// At most so many characters of a text; no number is cut in two.
pub fn brief(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text,
        Some((end, _)) => {
            let end = text[..end].rfind(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(end);
            format!("{}...", &text[..end])
        }
    }
}
