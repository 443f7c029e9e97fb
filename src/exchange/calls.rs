//! Calls and answers as a user's own types read them from JSON: `"peek"`, `{"release": 3}`,
//! `{"put": [1, 2]}`; and `true`, `null` (of a void, or an optional without a value), `"empty"`.

use std::io::{BufRead, Cursor};

use serde_json::{Value as Json, json};

use super::events::at;
use super::jsonl::{self, EventJson, Header, OperationLine};
use super::typed;
use crate::core::annotations::AnnotationLine;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::interner::{Interner, Value};
use crate::core::method::Method;
use crate::core::operation::{Op, Status};
use crate::core::recorder::{self, Answered};
use crate::core::value::{NoValue, Type};
use crate::model::program::Calls;

/// A call: its name, with its arguments if it has some. Of a signature only the name is left.
/// `marks`: one argument that is a list is told from several.
fn call_of(name: &str, mut args: Vec<Json>, marks: bool) -> Json {
    let name = name.split('(').next().unwrap_or(name);
    let arguments = match args.len() {
        0 => return name.into(),
        1 if !(marks && args[0].is_array()) => args.remove(0),
        _ => Json::Array(args),
    };
    json!({ name: arguments })
}

/// What was returned: nothing, a value, or a list of several; what a method threw; or the status,
/// with a value if it has one. None where the outcome is not known.
fn answer_of(name: &str, status: Status, mut results: Vec<Json>) -> Option<Json> {
    let value = match results.len() {
        0 => Json::Null,
        1 => results.remove(0),
        _ => Json::Array(results),
    };
    Some(match status {
        _ if status.is_open() => return None,
        Status::Ok => value,
        Status::Failed if is_signature(name) => json!({ "threw": value }),
        _ if value.is_null() => status.name().into(),
        _ => json!({ status.name(): value }),
    })
}

fn is_signature(name: &str) -> bool {
    name.contains('(')
}

/// Whether a method answered that nothing was done, as it may at any time.
fn is_spurious(name: &str, status: Status, results: &[Json]) -> bool {
    let Ok(method) = Method::new(name) else { return false };
    let words = typed::read(std::slice::from_ref(method.result()), results);
    status == Status::Ok && method.spurious().is_some_and(|may| words.as_deref() == Some(may))
}

/// An operation of a history of interlap's; `marks`: sets and maps are told from lists.
///
/// # Errors
/// If arguments or results of a method are no values of its types.
pub fn of_history(
    history: &History,
    id: OperationId,
    strings: &Interner,
    marks: bool,
) -> Result<Answered<Json, Json>, NoValue> {
    let operation = history.operation(id);
    let (args, results) = (history.args(id), history.results(id));
    let known = |values: &[i64]| -> Vec<Json> {
        values.iter().map(|value| json_of(strings.value(*value))).collect()
    };
    let (args, results) = match operation.op {
        Op::Method(method) => {
            let types = match operation.status {
                Status::Ok => std::slice::from_ref(method.result()),
                Status::Failed => &[Type::String],
                _ => &[],
            };
            let written = |types: &[Type], words| match typed::write(types, words) {
                Ok(values) if marks => Ok(typed::marked(types, values)),
                written => written,
            };
            (written(method.arguments(), args)?, written(types, results)?)
        }
        op if marks => {
            let (args, results) = (known(args), known(results));
            let results = marked_results(op.name(), operation.status, results, true);
            (marked_args(op.name(), args, true), results)
        }
        _ => (known(args), known(results)),
    };
    let name = match operation.op {
        Op::Method(method) => method.text(),
        op => op.name(),
    };
    let answer = answer_of(name, operation.status, results);
    Ok(Answered { call: call_of(name, args, marks), answer })
}

/// Words that are no JSON are strings.
fn json_of(value: Value) -> Json {
    match value {
        Value::Integer(number) => number.into(),
        Value::Text(text) => text.into(),
        value if value == Value::nil() => Json::Null,
        Value::Word(word) => serde_json::from_str(&word).unwrap_or(Json::String(word)),
    }
}

/// A call and its answer as a recorder writes them, or as our events have them. No answer: the
/// outcome is not known. None if nothing was done.
fn of_event(
    made: &Answered<Json, Json>,
    marks: bool,
) -> Result<Option<Answered<Json, Json>>, String> {
    let is_ours = made.call.get("op").is_some_and(Json::is_string);
    let ours = |event: &str, value: &Json| serde_json::from_value(json!({ event: value }));
    let Ok(EventJson::Start { op, args }) = ours("start", &made.call) else {
        return Ok(Some(made.clone()));
    };
    if !is_ours {
        return Ok(Some(made.clone()));
    }
    let answer = match &made.answer {
        None => None,
        Some(answer) => match ours("finish", answer) {
            Ok(EventJson::Finish { status, results }) => {
                if is_spurious(&op, status, &results) {
                    return Ok(None);
                }
                answer_of(&op, status, marked_results(&op, status, results, marks))
            }
            _ => return Err(format!("{answer} is no answer to {op}")),
        },
    };
    Ok(Some(Answered { call: call_of(&op, marked_args(&op, args, marks), marks), answer }))
}

/// Sets, maps, and lists of one value told from that value, if `marks` says so.
fn marked_args(op: &str, args: Vec<Json>, marks: bool) -> Vec<Json> {
    match Method::new(op) {
        Ok(method) if marks && is_signature(op) => typed::marked(method.arguments(), args),
        _ if marks && op == Op::EnqueueBulk.name() => vec![Json::Array(args)],
        _ => args,
    }
}

fn marked_results(op: &str, status: Status, results: Vec<Json>, marks: bool) -> Vec<Json> {
    let lists = [Op::DequeueBulk.name(), Op::SetRangeList.name()];
    match Method::new(op) {
        _ if !marks || status != Status::Ok => results,
        Ok(method) if is_signature(op) => {
            typed::marked(std::slice::from_ref(method.result()), results)
        }
        _ if lists.contains(&op) => vec![Json::Array(results)],
        _ => results,
    }
}

/// Reads JSON Lines, of interlap's operations or of any that a recorder wrote (`core::recorder`). A
/// call that did nothing, as it may at any time, is left out. `marks`: sets and maps are told from
/// lists. Errors begin with the number of the line.
pub fn read(text: &str, marks: bool) -> Result<Calls, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let mut drained = false;
    if let Some((number, line)) = lines.peek().filter(|(_, line)| line.contains("\"interlap\"")) {
        let header: Header = jsonl::parse(*number, line)?;
        drained = header.drained;
        lines.next();
    }
    let first = lines.clone().find(|(_, line)| AnnotationLine::read(line).is_none());
    let mut calls = match first.is_some_and(|(_, line)| line.contains("\"event\"")) {
        true => events(text, marks)?,
        false => operations(lines, marks)?,
    };
    calls.drained = drained;
    Ok(calls)
}

fn events(text: &str, marks: bool) -> Result<Calls, String> {
    let mut lines = Cursor::new(text);
    if text.lines().next().is_some_and(|line| line.contains("\"interlap\"")) {
        lines.read_line(&mut String::new()).map_err(|error| error.to_string())?;
    }
    let read = recorder::read::<Json, Json>(lines)?;
    let mut calls = Calls::default();
    calls.annotations = read.annotations.clone();
    for (id, timed) in read.operations() {
        let Some(made) = of_event(&timed.operation, marks)? else { continue };
        let end = made.answer.is_some().then_some(timed.end);
        let pushed = calls.push(read.client(id), made.into(), timed.start, end);
        pushed.map_err(|misfit| misfit.to_string())?;
    }
    Ok(calls)
}

fn operations<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    marks: bool,
) -> Result<Calls, String> {
    let mut calls = Calls::default();
    for (number, line) in lines {
        let line: OperationLine = jsonl::parse(number, line)?;
        let located = |error: String| at(number + 1, &error);
        if line.shared {
            return Err(located("a shared timebox; expected one for each call".to_string()));
        }
        if is_spurious(&line.op, line.status, &line.results) {
            continue;
        }
        let results = marked_results(&line.op, line.status, line.results, marks);
        let answer = answer_of(&line.op, line.status, results);
        let call = call_of(&line.op, marked_args(&line.op, line.args, marks), marks);
        let end = answer.is_some().then_some(line.end.unwrap_or(NEVER));
        let made = Answered { call, answer }.into();
        let pushed = calls.push(line.thread, made, line.start, end);
        pushed.map_err(|misfit| located(misfit.to_string()))?;
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls and answers, as they are written, in the order of that.
    fn sorted(all: impl IntoIterator<Item = Answered<Json, Json>>) -> Vec<String> {
        let shown = |made: Answered<Json, Json>| {
            let answer = made.answer.map_or("?".to_string(), |answer| answer.to_string());
            format!("{} {answer}", made.call)
        };
        let mut all: Vec<String> = all.into_iter().map(shown).collect();
        all.sort();
        all
    }

    fn made(text: &str) -> Vec<String> {
        let calls = read(text, false).expect(text);
        sorted(calls.operations().map(|(_, timed)| timed.operation.read()))
    }

    #[test]
    fn calls_are_the_same_from_operations_events_and_histories() {
        let lines = r#"{"interlap": 1, "model": "self", "drained": true}
            {"thread": 0, "op": "put(string, int) -> void", "args": ["a", 1], "start": 1, "end": 4}
            {"thread": 0, "op": "peek() -> optional<int>", "start": 5, "end": 6, "results": [null]}
            {"thread": 1, "op": "pop() -> tuple<int, bool>", "start": 2, "end": 3,
             "results": [[7, true]]}
            {"thread": 1, "op": "pop() -> tuple<int, bool>", "start": 4, "end": 5,
             "status": "failed", "results": ["Empty"]}
            {"thread": 1, "op": "give(int) -> void", "args": [3], "start": 7, "end": null,
             "status": "pending"}"#;
        let lines = lines.replace(",\n             ", ", ");
        let wanted = [
            r#""peek" null"#,
            r#""pop" [7,true]"#,
            r#""pop" {"threw":"Empty"}"#,
            r#"{"give":3} ?"#,
            r#"{"put":["a",1]} null"#,
        ];
        assert_eq!(made(&lines), wanted);
        assert!(read(&lines, false).expect("read").drained);

        let imported = jsonl::read(&lines, None).expect("read");
        let strings = &imported.interner;
        let of = |id| of_history(&imported.history, id, strings, false).expect("by its types");
        assert_eq!(sorted(imported.history.ids().map(of)), wanted);
        let events = jsonl::write_events(&imported.history, "self", strings);
        assert_eq!(made(&events), wanted);
        let line =
            r#"{"thread": 0, "op": "all() -> set<int>", "start": 1, "end": 4, "results": [[2]]}"#;
        let marked = read(line, true).expect("read");
        let marked = sorted(marked.operations().map(|(_, timed)| timed.operation.read()));
        assert_eq!(marked, [r##""all" {"#set":[2]}"##]);
        let line = r#"{"thread": 0, "op": "range_list", "args": [1, 9], "start": 1, "end": 4,
            "results": [2]}"#;
        let line = &line.replace('\n', " ");
        let marked = read(line, true).expect("read");
        let marked = sorted(marked.operations().map(|(_, timed)| timed.operation.read()));
        assert_eq!(marked, [r#"{"range_list":[1,9]} [2]"#]);
    }

    #[test]
    fn operations_of_families_and_of_recorders_are_read() {
        let of_a_family = r#"
            {"thread": 0, "op": "insert_if_absent", "args": [1, 5], "start": 1, "end": 2,
             "status": "failed", "results": [4]}
            {"thread": 0, "op": "dequeue", "start": 3, "end": 4, "status": "empty"}"#;
        let of_a_family = of_a_family.replace(",\n             ", ", ");
        let wanted = [r#""dequeue" "empty""#, r#"{"insert_if_absent":[1,5]} {"failed":4}"#];
        assert_eq!(made(&of_a_family), wanted);
        let recorded = r#"{"event":{"start":{"op":"mine","key":[]}},"client_id":3,"op_id":0}
            {"event":{"start":{"Get":[]}},"client_id":4,"op_id":1}
            {"event":{"finish":[]},"client_id":3,"op_id":0}
            {"note":"n1 leads"}
            {"event":"unknown","client_id":4,"op_id":1}"#;
        assert_eq!(made(recorded), [r#"{"Get":[]} ?"#, r#"{"key":[],"op":"mine"} []"#]);
        assert_eq!(read(recorded, false).expect("read").annotations.all.len(), 1);
    }

    #[test]
    fn a_call_that_may_do_nothing_at_any_time_is_left_out() {
        let operation = |op: &str, answer: bool| {
            format!(r#"{{"thread": 0, "op": "{op}", "start": 1, "end": 2, "results": [{answer}]}}"#)
        };
        let count =
            |op: &str, answer: bool| read(&operation(op, answer), false).expect("read").len();
        assert_eq!(count("try() -> bool or false", false), 0);
        assert_eq!(count("try() -> bool or false", true), 1);
        assert_eq!(count("try() -> bool", false), 1);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| read(text, false).expect_err(text);
        let operation =
            r#"{"thread": 0, "op": "f() -> int", "start": 3, "end": 4, "results": [1]}"#;
        assert!(error(&format!("{operation}\n{operation}")).starts_with("line 2: "));
        let event = r#"{"event":{"finish":1},"client_id":0,"op_id":7}"#;
        assert!(error(&format!("{event}\n")).contains("line 1: client 0 made no call 7"));
    }
}
