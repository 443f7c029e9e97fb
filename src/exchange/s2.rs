//! The logs of S2's `collect-history`: JSON Lines, the start or the finish of an operation a line,
//! in the order of time. Text comes in; a history of appends of batches, reads of the whole stream
//! and looks at its tail goes out. `docs/histories.md` has the schema.
//!
//! A call that failed for certain had no effect, and says nothing of why; it is left out. An append
//! whose failure is indefinite may take effect at any later time, or never, if its conditions hold.

use serde::Deserialize;

use super::Imported;
use super::events::{Recorder, at};
use super::strings::Value;
use crate::model::{Kind, Spec};
use crate::operation::{Op, Status};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    event: Event,
    client_id: u32,
    op_id: u64,
}

#[derive(Deserialize)]
enum Event {
    Start(Start),
    Finish(Finish),
}

#[derive(Deserialize)]
enum Start {
    Append(Append),
    Read,
    CheckTail,
}

#[derive(Deserialize)]
struct Append {
    num_records: u64,
    /// Of each record of the batch: the xxh3 of its body.
    record_hashes: Option<Vec<u64>>,
    set_fencing_token: Option<String>,
    fencing_token: Option<String>,
    match_seq_num: Option<u64>,
}

#[derive(Deserialize)]
enum Finish {
    AppendSuccess { tail: u64 },
    AppendDefiniteFailure,
    AppendIndefiniteFailure,
    ReadSuccess { tail: u64, stream_hash: Option<u64> },
    ReadFailure,
    CheckTailSuccess { tail: u64 },
    CheckTailFailure,
}

/// What older collectors wrote, which knew the last record of a stream alone.
const OLD: &str = "the log has no hash of each record and of the whole stream (record_hashes, \
                   stream_hash), as older collectors of S2 wrote it; expected one collected with a \
                   newer collect-history";

/// Reads `text`. Errors begin with the number of the line.
pub fn read(text: &str, model: Option<Spec>) -> Result<Imported, String> {
    let mut recorder = Recorder::default();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let taken = serde_json::from_str(line)
            .map_err(|error| error.to_string().replace(" at line 1 column ", " at column "))
            .and_then(|line| take(&mut recorder, number + 1, line));
        taken.map_err(|error| at(number + 1, &error))?;
    }
    let model = model.unwrap_or(Spec::new(Kind::Log));
    Imported::of(&recorder.records(), None, Some(model))
}

fn take(
    recorder: &mut Recorder,
    line: usize,
    Line { event, client_id, op_id }: Line,
) -> Result<(), String> {
    let call = (client_id, op_id);
    let finish = match event {
        Event::Start(Start::Append(append)) => {
            return recorder.start(call, line, Op::LogAppendBatch, arguments(append)?);
        }
        Event::Start(Start::Read) => return recorder.start(call, line, Op::LogReadAll, Vec::new()),
        Event::Start(Start::CheckTail) => {
            return recorder.start(call, line, Op::LogCheckTail, Vec::new());
        }
        Event::Finish(finish) => finish,
    };
    let known = recorder.under_way(client_id, op_id)?;
    let (op, name) = finish.of();
    if op != known.op {
        let (found, line) = (known.op.name(), known.line);
        return Err(format!("{name} of an operation that is {found} (line {line})"));
    }
    match finish {
        Finish::AppendSuccess { tail } | Finish::CheckTailSuccess { tail } => {
            recorder.finish(client_id, Status::Ok, vec![number(tail)?]);
        }
        Finish::ReadSuccess { tail, stream_hash } => {
            let hash = Value::Integer(stream_hash.ok_or(OLD)? as i64);
            recorder.finish(client_id, Status::Ok, vec![number(tail)?, hash]);
        }
        Finish::AppendIndefiniteFailure => recorder.finish(client_id, Status::Unknown, Vec::new()),
        Finish::AppendDefiniteFailure | Finish::ReadFailure | Finish::CheckTailFailure => {
            recorder.forget(client_id);
        }
    }
    Ok(())
}

impl Finish {
    /// The operation that may finish so, and the name it has in the file.
    fn of(&self) -> (Op, &'static str) {
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
