//! Reads and writes our own exchange format: JSON Lines.
//! A line is an operation, and those of each thread are in order; or a line is an event, and all
//! events are in the order of time. `docs/histories.md` has the schema.
//!
//! ```text
//! {"interlap": 1, "model": "fifo", "drained": true, "drain": 4}           optional first line
//! {"thread": 0, "op": "enqueue", "args": [7], "start": 10, "end": 14}
//! {"thread": 1, "op": "dequeue", "start": 12, "end": 19, "status": "ok", "results": [7]}
//! {"thread": 1, "op": "dequeue", "start": 20, "end": null, "status": "pending"}
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Imported;
use super::events::{self, HistoryEvent, Pairs, Record, at};
use super::pieces::Split;
use super::typed;
use crate::core::annotations::AnnotationLine;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::interner::{Interner, Value};
use crate::core::method::Method;
use crate::core::operation::{Family, Op, Status};
use crate::core::value::Type;
use crate::model::Spec;

const FORMAT_VERSION: u32 = 1;
/// Characters of a value in an error at most.
const SHOWN_MAX: usize = 60;

#[derive(Serialize, Deserialize)]
pub struct Header {
    interlap: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default)]
    pub drained: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drain: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationLine {
    #[serde(alias = "client")]
    pub thread: u32,
    pub op: String,
    #[serde(default)]
    pub args: Vec<Json>,
    pub start: u64,
    #[serde(alias = "finish")]
    pub end: Option<u64>,
    #[serde(default = "ok")]
    pub status: Status,
    #[serde(default)]
    pub results: Vec<Json>,
    /// The timebox is that of the thread's operation before, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    event: EventJson,
    client_id: u32,
    op_id: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum EventJson {
    Start {
        op: String,
        #[serde(default)]
        args: Vec<Json>,
    },
    Finish {
        #[serde(default = "ok")]
        status: Status,
        #[serde(default)]
        results: Vec<Json>,
    },
    /// A finish with this status.
    Unknown,
    /// Something is said of the call.
    Note(String),
}

fn ok() -> Status {
    Status::Ok
}

/// A value of a family's operation: a number, a string, `null`, `true` or `false`.
fn scalar(value: &Json) -> Result<Value, String> {
    Ok(match value {
        Json::String(text) => Value::Text(text.clone()),
        Json::Bool(flag) => Value::Word(flag.to_string()),
        Json::Null => Value::nil(),
        value => Value::Integer(value.as_i64().ok_or_else(|| {
            let other = beginning(value);
            format!("{other}: expected an integer of 64 bits, a string, true, false or null")
        })?),
    })
}

/// A value, or how a long one begins.
fn beginning(value: &Json) -> String {
    value.to_string().chars().take(SHOWN_MAX).collect()
}

fn of_scalar(value: Value) -> Json {
    match value {
        Value::Integer(value) => value.into(),
        Value::Word(word) if word == "nil" => Json::Null,
        Value::Word(word) if word == "true" || word == "false" => Json::Bool(word == "true"),
        Value::Word(text) | Value::Text(text) => Json::String(text),
    }
}

/// The arguments of an operation.
fn args_of(op: Op, args: &[Json]) -> Result<Vec<Value>, String> {
    match op {
        Op::Method(method) => words(method, method.arguments(), args),
        _ => args.iter().map(scalar).collect(),
    }
}

/// The results of an operation: of a method its result, or the name of an exception.
fn results_of(op: Op, status: Status, results: &[Json]) -> Result<Vec<Value>, String> {
    match op {
        Op::Method(method) => {
            let types = match status {
                Status::Ok => std::slice::from_ref(method.result()),
                Status::Failed => &[Type::String],
                _ => &[],
            };
            words(method, types, results)
        }
        _ => results.iter().map(scalar).collect(),
    }
}

fn words(method: Method, types: &[Type], values: &[Json]) -> Result<Vec<Value>, String> {
    let words = typed::read(types, values).ok_or_else(|| {
        let given = beginning(&Json::Array(values.to_vec()));
        format!("{given} are no such values of {}", method.text())
    })?;
    Ok(words.into_iter().map(Value::Integer).collect())
}

/// Reads `text`; `model` overrides the one in the header. Errors begin with the number of the line.
pub fn read(text: &str, model: Option<Spec>) -> Result<Imported, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let mut named = None;
    let (mut drained, mut drain) = (false, None);
    if let Some((number, line)) = lines.peek().filter(|(_, line)| line.contains("\"interlap\"")) {
        let (model, header) = header_of(*number, line)?;
        (named, drained, drain) = (model, header.drained, header.drain);
        lines.next();
    }
    let model = model.or(named).ok_or("the file names no model; name one with --model")?;
    let first = lines.clone().find(|(_, line)| AnnotationLine::read(line).is_none());
    let of_events = first.is_some_and(|(_, line)| line.contains("\"event\""));
    let mut imported = match of_events {
        true => events_of(lines, model)?,
        false => operations_of(lines, model)?,
    };
    (imported.history.drained, imported.history.drain) = (drained, drain);
    Ok(imported)
}

/// The first line, and the model that it names.
fn header_of(number: usize, line: &str) -> Result<(Option<Spec>, Header), String> {
    let header: Header = parse(number, line)?;
    if header.interlap != FORMAT_VERSION {
        let version = header.interlap;
        let error = format!("version {version} of the format; expected {FORMAT_VERSION}");
        return Err(at(number + 1, &error));
    }
    let spec = header.model.as_deref().map(str::parse::<Spec>).transpose();
    Ok((spec.map_err(|error| at(number + 1, &error))?, header))
}

pub fn parse<'a, T: Deserialize<'a>>(number: usize, line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| {
        let text = error.to_string();
        // The parser sees one line only, so its line number is always 1.
        at(number + 1, &text.replace(" at line 1 column ", " at column "))
    })
}

fn operations_of<'a>(
    lines: impl Iterator<Item = (usize, &'a str)> + Clone,
    model: Spec,
) -> Result<Imported, String> {
    let mut imported = Imported::new(History::default(), Some(model));
    let split = match model.kind.family() {
        Family::Kv => events::split(&records(lines.clone(), model)?),
        _ => Split::Nowhere,
    };
    for (number, line) in lines {
        let record = record(number, line, model)?;
        let pushed = record.push(&mut imported.history, &mut imported.interner, split);
        pushed.map_err(|error| at(number + 1, &error))?;
    }
    Ok(imported)
}

fn records<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    model: Spec,
) -> Result<Vec<Record>, String> {
    lines.map(|(number, line)| record(number, line, model)).collect()
}

fn record(number: usize, line: &str, model: Spec) -> Result<Record, String> {
    let line: OperationLine = parse(number, line)?;
    let op = op(&line.op, model).map_err(|error| at(number + 1, &error))?;
    let end = match (line.end, line.status.is_open()) {
        (Some(end), _) => end,
        (None, true) => NEVER,
        (None, false) => {
            let error = "\"end\" may be null only with \"status\": \"pending\" or \"unknown\"";
            return Err(at(number + 1, error));
        }
    };
    let args = args_of(op, &line.args).map_err(|error| at(number + 1, &error))?;
    let results = results_of(op, line.status, &line.results);
    let results = results.map_err(|error| at(number + 1, &error))?;
    let OperationLine { thread: client, status, start, shared, .. } = line;
    Ok(Record { client, line: number + 1, op, status, args, results, start, end, shared })
}

fn op(name: &str, model: Spec) -> Result<Op, String> {
    let families = model.kind.families();
    if families.contains(&Family::Custom)
        && let Ok(method) = Method::new(name)
    {
        return Ok(Op::Method(method));
    }
    families.iter().find_map(|family| Op::from_name(*family, name)).ok_or_else(|| {
        let is_of_model = |op: &&Op| families.contains(&op.family());
        let known = Op::ALL.iter().filter(is_of_model).map(|op| op.name());
        let known = known.collect::<Vec<_>>().join(", ");
        format!("model {model} has no operation '{name}'; it has {known}")
    })
}

fn events_of<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    model: Spec,
) -> Result<Imported, String> {
    let mut pairs = Pairs::default();
    for (number, line) in lines {
        if let Some(annotation) = AnnotationLine::read(line) {
            pairs.annotation(annotation).map_err(|error| at(number + 1, &error))?;
            continue;
        }
        let EventLine { event, client_id, op_id } = parse(number, line)?;
        let call = (client_id, op_id);
        let finish = |pairs: &mut Pairs, status, results: &[Json]| {
            let op = pairs.pending(client_id, op_id)?.op;
            pairs.finish(client_id, status, results_of(op, status, results)?);
            Ok(())
        };
        let taken = match event {
            EventJson::Start { op: name, args } => {
                let op = op(&name, model).map_err(|error| at(number + 1, &error))?;
                args_of(op, &args).and_then(|args| pairs.start(call, number + 1, op, args))
            }
            EventJson::Finish { status, results } => finish(&mut pairs, status, &results),
            EventJson::Unknown => finish(&mut pairs, Status::Unknown, &[]),
            EventJson::Note(text) => pairs.note(call, text),
        };
        taken.map_err(|error| at(number + 1, &error))?;
    }
    let (mut annotations, mut notes) = pairs.take_annotations();
    let mut imported = Imported::from_records(&pairs.records(), None, Some(model))?;
    for id in imported.history.ids() {
        let texts = notes.remove(&imported.history.operation(id).start);
        texts.into_iter().for_each(|texts| drop(annotations.of_operations.insert(id, texts)));
    }
    imported.history.annotations = (!annotations.is_empty()).then(|| Arc::new(annotations));
    Ok(imported)
}

/// An invocation or a response, as a checker takes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Call { client: u32, op: Op, args: Vec<i64> },
    Return { client: u32, status: Status, results: Vec<i64> },
}

/// Reads events line by line, while they are written.
pub struct EventReader {
    model: Option<Spec>,
    drained: bool,
    interner: Interner,
    /// Lines read so far.
    number: usize,
    /// The calls that are under way.
    pairs: Pairs,
}

impl EventReader {
    /// `model` overrides the one in the first line.
    pub fn new(model: Option<Spec>) -> EventReader {
        let (interner, pairs) = (Interner::default(), Pairs::default());
        EventReader { model, drained: false, interner, number: 0, pairs }
    }

    pub fn model(&self) -> Option<Spec> {
        self.model
    }

    pub fn drained(&self) -> bool {
        self.drained
    }

    pub fn into_interner(self) -> Interner {
        self.interner
    }

    /// An error about the line that was read last.
    pub fn at(&self, error: &str) -> String {
        at(self.number, error)
    }

    /// The event in the next line; none in a first one that names the model, and in empty ones.
    ///
    /// # Errors
    /// In words, with the number of the line.
    pub fn line(&mut self, line: &str) -> Result<Option<Event>, String> {
        self.number += 1;
        if line.trim().is_empty() {
            return Ok(None);
        }
        if self.number == 1 && line.contains("\"interlap\"") {
            let (model, header) = header_of(0, line)?;
            (self.model, self.drained) = (self.model.or(model), header.drained);
            return Ok(None);
        }
        if AnnotationLine::read(line).is_some() {
            return Ok(None);
        }
        let EventLine { event, client_id, op_id } = parse(self.number - 1, line)?;
        let taken = self.event(event, (client_id, op_id));
        taken.map_err(|error| self.at(&error))
    }

    fn event(
        &mut self,
        event: EventJson,
        (client, call): (u32, u64),
    ) -> Result<Option<Event>, String> {
        let model = self.model.ok_or("the events name no model; name one with --model")?;
        match event {
            EventJson::Start { op: name, args } => {
                let op = op(&name, model)?;
                let args = args_of(op, &args)?;
                self.pairs.start((client, call), self.number, op, Vec::new())?;
                Ok(Some(Event::Call { client, op, args: self.numbers(&args)? }))
            }
            EventJson::Finish { status, results } => {
                let op = self.pairs.take(client, call)?.op;
                let results = self.numbers(&results_of(op, status, &results)?)?;
                Ok(Some(Event::Return { client, status, results }))
            }
            EventJson::Unknown => {
                self.pairs.take(client, call)?;
                let (status, results) = (Status::Unknown, Vec::new());
                Ok(Some(Event::Return { client, status, results }))
            }
            EventJson::Note(_) => self.pairs.pending(client, call).map(|_| None),
        }
    }

    fn numbers(&mut self, values: &[Value]) -> Result<Vec<i64>, String> {
        values.iter().map(|value| self.interner.id(value)).collect()
    }
}

/// The history as text that [`read`] accepts.
pub fn write(history: &History, model: &str, interner: &Interner) -> String {
    let mut text = header(history, model);
    let mut ids: Vec<OperationId> = history.ids().collect();
    if history.has_blocks() {
        let clients = history.clients().into_iter();
        ids = clients.flat_map(|client| history.program_order(client)).collect();
    }
    let mut before = None;
    for id in ids {
        let timebox = (history.threads[id.thread as usize].client, history.operation(id).start);
        let shared = before.replace(timebox) == Some(timebox);
        text += &operation_line(history, id, shared, interner);
    }
    text
}

fn operation_line(history: &History, id: OperationId, shared: bool, interner: &Interner) -> String {
    let operation = history.operation(id);
    let (args, results) = shown_values(history, id, interner);
    json(&OperationLine {
        thread: history.threads[id.thread as usize].client,
        op: name(operation.op),
        args,
        start: operation.start,
        end: (!operation.status.is_open()).then_some(operation.end),
        status: operation.status,
        results,
        shared,
    })
}

/// The history as a list of events, which [`read`] accepts as well.
pub fn write_events(history: &History, model: &str, interner: &Interner) -> String {
    let mut text = header(history, model);
    let mut numbers = HashMap::new();
    for HistoryEvent { id, client, is_response } in events::events_in_order(history) {
        let operation = history.operation(id);
        let next = numbers.len() as u64;
        let op_id = *numbers.entry(id).or_insert(next);
        let (args, results) = shown_values(history, id, interner);
        let event = match is_response {
            false => EventJson::Start { op: name(operation.op), args },
            true => EventJson::Finish { status: operation.status, results },
        };
        text += &json(&EventLine { event, client_id: client, op_id });
    }
    text
}

fn header(history: &History, model: &str) -> String {
    let (interlap, model) = (FORMAT_VERSION, Some(model.to_string()));
    let (drained, drain) = (history.drained, history.drain);
    json(&Header { interlap, model, drained, drain })
}

/// The name of an operation; the signature of a method.
fn name(op: Op) -> String {
    match op {
        Op::Method(method) => method.text().to_string(),
        op => op.name().to_string(),
    }
}

/// Arguments and results, with the pieces of each string joined.
fn shown_values(history: &History, id: OperationId, interner: &Interner) -> (Vec<Json>, Vec<Json>) {
    let (args, results) = (history.args(id), history.results(id));
    let one = |value: &i64| of_scalar(interner.value(*value));
    let text = |values: &[i64]| Json::String(interner.joined(values));
    let status = history.operation(id).status;
    match history.operation(id).op {
        Op::KvGet if status == Status::Ok => (vec![one(&args[0])], vec![text(results)]),
        Op::Method(method) => {
            let of_result = match status {
                Status::Failed => &[Type::String],
                _ => std::slice::from_ref(method.result()),
            };
            // A history holds no other words.
            let typed = |types, words| typed::write(types, words).unwrap_or_default();
            (typed(method.arguments(), args), typed(of_result, results))
        }
        Op::KvPut | Op::KvAppend => (vec![one(&args[0]), text(&args[1..])], Vec::new()),
        _ => (args.iter().map(one).collect(), results.iter().map(one).collect()),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"interlap": 1, "model": "fifo", "drained": true, "drain": 1}
{"thread": 0, "op": "enqueue", "args": [7], "start": 10, "end": 14}
{"thread": 1, "op": "dequeue", "start": 12, "end": 19, "status": "ok", "results": [7]}

{"thread": 1, "op": "dequeue", "start": 20, "end": null, "status": "pending"}
"#;

    #[test]
    fn a_history_round_trips() {
        let imported = read(TEXT, None).expect("good");
        assert_eq!(imported.history.len(), 3);
        assert!(imported.history.drained);
        let text = write(&imported.history, "fifo", &imported.interner);
        assert_eq!(read(&text, None).expect("good").history, imported.history);
        let text = write_events(&imported.history, "fifo", &imported.interner);
        let again = read(&text, None).expect("good");
        assert_eq!(write_events(&again.history, "fifo", &again.interner), text);
        assert_eq!(text.lines().count(), 1 + 2 + 2 + 1);
    }

    #[test]
    fn operations_that_share_a_timebox_say_so() {
        let text = r#"{"thread": 0, "op": "push", "args": [7], "start": 1, "end": 5}
{"thread": 0, "op": "push", "args": [8], "start": 1, "end": 5, "status": "unknown", "shared": true}
{"thread": 0, "op": "pop", "start": 1, "end": 5, "results": [7], "shared": true}
{"thread": 0, "op": "pop", "start": 6, "end": 9, "status": "empty"}
{"thread": 0, "op": "pop", "start": 6, "end": 9, "status": "empty", "shared": true}
{"thread": 1, "op": "pop", "start": 1, "end": 5, "status": "empty"}
"#;
        let imported = read(text, "lifo".parse().ok()).expect("good");
        let history = &imported.history;
        assert!(history.has_blocks() && history.threads.len() == 4);
        let order: Vec<u32> = history.program_order(0).iter().map(|id| id.thread).collect();
        assert_eq!(order, [0, 1, 2, 0, 2], "the second goes on no more");
        let written = write(history, "lifo", &imported.interner);
        assert_eq!(read(&written, None).expect("good").history, *history);
        let error = read(
            &text.replacen("\"args\": [8], \"start\": 1", "\"args\": [8], \"start\": 2", 1),
            "lifo".parse().ok(),
        );
        let error = error.map(|_| ()).expect_err("another timebox");
        assert!(error.contains("line 2: shares no timebox"), "{error}");
    }

    #[test]
    fn alternative_field_names_and_values_that_are_not_integers_are_read() {
        let text = r#"{"interlap": 1, "model": "register"}
{"client": 0, "op": "write", "args": ["a"], "start": 1, "finish": 2}
{"client": 0, "op": "write", "args": [null], "start": 3, "finish": 4}
{"client": 0, "op": "write", "args": [true], "start": 5, "finish": null, "status": "unknown"}
{"client": 0, "op": "read", "results": ["a"], "start": 6, "finish": 7}
"#;
        let imported = read(text, None).expect("good");
        assert_eq!(imported.history.threads.len(), 2, "the client continued as another");
        let text = write(&imported.history, "register", &imported.interner);
        for part in [r#"["a"]"#, "[null]", "[true]"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(read(&text, None).expect("good").history, imported.history);
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let error = |text: &str| read(text, "fifo".parse().ok()).expect_err(text);
        assert!(error("{\"interlap\": 9}").contains("line 1: version 9"));
        assert!(error("\n{\"thread\": 0}").contains("line 2: missing field"));
        let unknown = r#"{"thread":0,"op":"push","args":[1],"start":1,"end":2}"#;
        assert!(error(unknown).contains("it has enqueue, dequeue"));
        let backwards = r#"{"thread":0,"op":"dequeue","start":3,"end":2,"status":"empty"}"#;
        assert!(error(backwards).contains("ends before it starts"));
        let open = r#"{"thread":0,"op":"dequeue","start":3,"end":null}"#;
        assert!(error(open).contains("\"pending\" or \"unknown\""));
        let list = r#"{"thread":0,"op":"enqueue","args":[[1]],"start":3,"end":4}"#;
        assert!(error(list).contains("expected an integer"), "{}", error(list));
        let client = r#"{"thread":4294967295,"op":"enqueue","args":[1],"start":3,"end":4}"#;
        assert!(error(client).contains("client 4294967295; expected at most"), "{}", error(client));
        assert!(read("", None).expect_err("no model").contains("--model"));
    }

    #[test]
    fn events_that_do_not_pair_are_refused() {
        let start = r#"{"event":{"start":{"op":"dequeue"}},"client_id":3,"op_id":8}"#;
        let end = r#"{"event":{"finish":{"status":"empty"}},"client_id":3,"op_id":8}"#;
        let error =
            |lines: &[&str]| read(&lines.join("\n"), "fifo".parse().ok()).expect_err("wrong");
        let good = read(&[start, end, start].join("\n"), "fifo".parse().ok()).expect("good");
        assert_eq!(good.history.len(), 2);
        assert!(error(&[end]).contains("line 1: client 3 ends an operation that it did not start"));
        let twice = error(&[start, start]);
        assert!(twice.contains("line 2") && twice.contains("of line 1 is under way"), "{twice}");
        let other = end.replace("8", "9");
        assert!(error(&[start, &other]).contains("the end of operation 9 of client 3"));
        let capital = start.replace("start", "Start");
        assert!(error(&[&capital]).contains("expected one of `start`, `finish`, `unknown`"));
    }
}
