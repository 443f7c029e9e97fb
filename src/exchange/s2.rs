//! Reads and writes the logs of S2's `collect-history`.
//! They are JSON Lines, the start or the finish of an operation a line, in the order of time. The
//! operations append a batch, read the whole stream, or ask for its tail. `docs/histories.md` has
//! the schema.
//!
//! A definite failure had no effect and claims nothing, so it is left out. An append with an
//! indefinite failure may take effect at any later time at which its conditions hold, or never.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Imported;
use super::events::{HistoryEvent, Pairs, at, events_in_order};
use crate::core::history::{History, OperationId};
use crate::core::interner::{Interner, NIL, Value};
use crate::core::operation::{Op, Status};
use crate::model::{Kind, Spec};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    event: Event,
    client_id: u32,
    op_id: u64,
}

#[derive(Deserialize, Serialize)]
enum Event {
    Start(Start),
    Finish(Finish),
}

#[derive(Deserialize, Serialize)]
enum Start {
    Append(Append),
    Read,
    CheckTail,
}

#[derive(Deserialize, Serialize)]
struct Append {
    num_records: u64,
    /// The xxh3 of the body of each record of the batch.
    record_hashes: Option<Vec<u64>>,
    set_fencing_token: Option<String>,
    fencing_token: Option<String>,
    match_seq_num: Option<u64>,
}

#[derive(Deserialize, Serialize)]
enum Finish {
    AppendSuccess { tail: u64 },
    AppendDefiniteFailure,
    AppendIndefiniteFailure,
    ReadSuccess { tail: u64, stream_hash: Option<u64> },
    ReadFailure,
    CheckTailSuccess { tail: u64 },
    CheckTailFailure,
}

/// The error for logs of older collectors, which logged only the last record of a stream.
const OLD: &str = "the log has no hash of each record and of the whole stream (record_hashes, \
                   stream_hash), because an older collector of S2 wrote it; expected one from a \
                   newer collect-history";

/// Reads `text`. Errors begin with the number of the line.
pub fn read(text: &str, model: Option<Spec>) -> Result<Imported, String> {
    let mut pairs = Pairs::default();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let taken = serde_json::from_str(line)
            .map_err(|error| error.to_string().replace(" at line 1 column ", " at column "))
            .and_then(|line| take(&mut pairs, number + 1, line));
        taken.map_err(|error| at(number + 1, &error))?;
    }
    let model = model.unwrap_or(Spec::new(Kind::Log));
    Imported::from_records(&pairs.records(), None, Some(model))
}

fn take(
    pairs: &mut Pairs,
    line: usize,
    EventLine { event, client_id, op_id }: EventLine,
) -> Result<(), String> {
    let call = (client_id, op_id);
    let finish = match event {
        Event::Start(Start::Append(append)) => {
            return pairs.start(call, line, Op::LogAppendBatch, arguments(append)?);
        }
        Event::Start(Start::Read) => return pairs.start(call, line, Op::LogReadAll, Vec::new()),
        Event::Start(Start::CheckTail) => {
            return pairs.start(call, line, Op::LogCheckTail, Vec::new());
        }
        Event::Finish(finish) => finish,
    };
    let pending = pairs.pending(client_id, op_id)?;
    let (op, name) = finish.operation();
    if op != pending.op {
        let (found, line) = (pending.op.name(), pending.line);
        return Err(format!("{name} of an operation that is {found} (line {line})"));
    }
    match finish {
        Finish::AppendSuccess { tail } | Finish::CheckTailSuccess { tail } => {
            pairs.finish(client_id, Status::Ok, vec![number(tail)?]);
        }
        Finish::ReadSuccess { tail, stream_hash } => {
            let hash = Value::Integer(stream_hash.ok_or(OLD)? as i64);
            pairs.finish(client_id, Status::Ok, vec![number(tail)?, hash]);
        }
        Finish::AppendIndefiniteFailure => pairs.finish(client_id, Status::Unknown, Vec::new()),
        Finish::AppendDefiniteFailure | Finish::ReadFailure | Finish::CheckTailFailure => {
            pairs.discard(client_id);
        }
    }
    Ok(())
}

impl Finish {
    /// The operation that may finish like this, and the name of the event in the file.
    fn operation(&self) -> (Op, &'static str) {
        match self {
            Finish::AppendSuccess { .. } => (Op::LogAppendBatch, "AppendSuccess"),
            Finish::AppendDefiniteFailure => (Op::LogAppendBatch, "AppendDefiniteFailure"),
            Finish::AppendIndefiniteFailure => (Op::LogAppendBatch, "AppendIndefiniteFailure"),
            Finish::ReadSuccess { .. } => (Op::LogReadAll, "ReadSuccess"),
            Finish::ReadFailure => (Op::LogReadAll, "ReadFailure"),
            Finish::CheckTailSuccess { .. } => (Op::LogCheckTail, "CheckTailSuccess"),
            Finish::CheckTailFailure => (Op::LogCheckTail, "CheckTailFailure"),
        }
    }
}

/// The conditions of an append, then its records.
fn arguments(append: Append) -> Result<Vec<Value>, String> {
    let hashes = append.record_hashes.ok_or(OLD)?;
    if hashes.len() as u64 != append.num_records {
        let (records, found) = (append.num_records, hashes.len());
        return Err(format!("{found} record_hashes; expected num_records of them, {records}"));
    }
    let text = |token: Option<String>| token.map_or_else(Value::nil, Value::Text);
    let at = append.match_seq_num.map(number).transpose()?.unwrap_or_else(Value::nil);
    let mut args = vec![at, text(append.fencing_token), text(append.set_fencing_token)];
    args.extend(hashes.into_iter().map(|hash| Value::Integer(hash as i64)));
    Ok(args)
}

fn number(position: u64) -> Result<Value, String> {
    let position = i64::try_from(position);
    position.map(Value::Integer).map_err(|_| "a position above 2^63".to_string())
}

/// The history as S2's collector writes it, or the reason why the format cannot express it.
pub fn write(history: &History, interner: &Interner) -> Result<String, String> {
    let (mut text, mut count, mut pending) = (String::new(), 0, HashMap::new());
    for HistoryEvent { id, client, is_response } in events_in_order(history) {
        let event = if is_response {
            Event::Finish(finished(history, id)?)
        } else {
            count += 1;
            pending.insert(client, count);
            Event::Start(started(history, id, interner)?)
        };
        let line = EventLine { event, client_id: client, op_id: pending[&client] };
        text += &serde_json::to_string(&line).map_err(|error| error.to_string())?;
        text.push('\n');
    }
    Ok(text)
}

fn started(history: &History, id: OperationId, interner: &Interner) -> Result<Start, String> {
    let token = |value: i64| match interner.value(value) {
        _ if value == NIL => None,
        Value::Text(text) => Some(text),
        other => Some(other.written()),
    };
    match (history.operation(id).op, history.args(id)) {
        (Op::LogAppendBatch, [at, fence, set, records @ ..]) => Ok(Start::Append(Append {
            num_records: records.len() as u64,
            record_hashes: Some(records.iter().map(|record| *record as u64).collect()),
            set_fencing_token: token(*set),
            fencing_token: token(*fence),
            match_seq_num: if *at == NIL { None } else { Some(position(*at)?) },
        })),
        (Op::LogReadAll, _) => Ok(Start::Read),
        (Op::LogCheckTail, _) => Ok(Start::CheckTail),
        (op, _) => Err(format!(
            "'{}' of a {} has no form in this format; expected append_batch, read_all and \
             check_tail",
            op.name(),
            op.family().name()
        )),
    }
}

fn finished(history: &History, id: OperationId) -> Result<Finish, String> {
    let operation = history.operation(id);
    Ok(match (operation.op, operation.status, history.results(id)) {
        (Op::LogAppendBatch, Status::Ok, [tail]) => {
            Finish::AppendSuccess { tail: position(*tail)? }
        }
        (Op::LogAppendBatch, Status::Failed, _) => Finish::AppendDefiniteFailure,
        (Op::LogAppendBatch, ..) => Finish::AppendIndefiniteFailure,
        (Op::LogReadAll, Status::Ok, [tail, hash]) => {
            Finish::ReadSuccess { tail: position(*tail)?, stream_hash: Some(*hash as u64) }
        }
        (Op::LogReadAll, ..) => Finish::ReadFailure,
        (_, Status::Ok, [tail]) => Finish::CheckTailSuccess { tail: position(*tail)? },
        _ => Finish::CheckTailFailure,
    })
}

fn position(value: i64) -> Result<u64, String> {
    value.try_into().map_err(|_| format!("the position {value}; expected one from 0 on"))
}
