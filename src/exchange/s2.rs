//! Reads and writes the logs of S2's `collect-history`.
//! They are JSON Lines, the start or the finish of an operation a line, in the order of time. The
//! operations append a batch, read the whole stream, or ask for its tail. `docs/histories.md` has
//! the schema. Older collectors wrote the hash of the last record alone, or none.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record_hashes: Option<Vec<u64>>,
    /// Of the last record alone, from older collectors; the oldest have neither.
    #[serde(default, alias = "last_record_crc32", skip_serializing_if = "Option::is_none")]
    last_record_xxh3: Option<u64>,
    set_fencing_token: Option<String>,
    fencing_token: Option<String>,
    match_seq_num: Option<u64>,
}

#[derive(Deserialize, Serialize)]
enum Finish {
    AppendSuccess {
        tail: u64,
    },
    AppendDefiniteFailure,
    AppendIndefiniteFailure,
    ReadSuccess {
        tail: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stream_hash: Option<u64>,
        /// Of the last record alone, from older collectors.
        #[serde(default, alias = "crc32", skip_serializing_if = "Option::is_none")]
        xxh3: Option<u64>,
    },
    ReadFailure,
    CheckTailSuccess {
        tail: u64,
    },
    CheckTailFailure,
}

/// Reads `text`. Errors begin with the number of the line.
pub fn read(text: &str, model: Option<Spec>) -> Result<Imported, String> {
    let (mut pairs, mut hashes) = (Pairs::default(), None);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let taken = serde_json::from_str(line)
            .map_err(|error| error.to_string().replace(" at line 1 column ", " at column "))
            .and_then(|line| take(&mut pairs, &mut hashes, number + 1, line));
        taken.map_err(|error| at(number + 1, &error))?;
    }
    let model = model.unwrap_or(Spec::new(Kind::Log));
    Imported::from_records(&pairs.records(), None, Some(model))
}

/// What a log tells of the records.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hashes {
    OfAll,
    OfLast,
    None,
}

impl Hashes {
    fn of(history: &History) -> Hashes {
        let any =
            |op: Op| history.threads.iter().any(|thread| thread.ops().iter().any(|o| o == op));
        let is_bare = |id: OperationId| {
            history.operation(id).op == Op::LogReadAll && history.results(id).len() == 1
        };
        match any(Op::LogAppendLast) {
            _ if history.ids().any(is_bare) => Hashes::None,
            true => Hashes::OfLast,
            false => Hashes::OfAll,
        }
    }

    /// What is told in a line; all lines must tell the same.
    fn known(log: &mut Option<Hashes>, all: bool, last: bool) -> Result<Hashes, String> {
        let own = match (all, last) {
            (true, false) => Hashes::OfAll,
            (false, true) => Hashes::OfLast,
            (false, false) => Hashes::None,
            (true, true) => return Err("hashes of all records, and of the last".to_string()),
        };
        match *log.get_or_insert(own) {
            known if known == own => Ok(own),
            _ => Err("other hashes than in the lines before; expected the hashes of all records \
                      (record_hashes, stream_hash), of the last ones (last_record_xxh3, xxh3), or \
                      none throughout"
                .to_string()),
        }
    }
}

fn take(
    pairs: &mut Pairs,
    hashes: &mut Option<Hashes>,
    line: usize,
    EventLine { event, client_id, op_id }: EventLine,
) -> Result<(), String> {
    let call = (client_id, op_id);
    let finish = match event {
        Event::Start(Start::Append(append)) => {
            let (op, args) = arguments(append, hashes)?;
            return pairs.start(call, line, op, args);
        }
        Event::Start(Start::Read) => return pairs.start(call, line, Op::LogReadAll, Vec::new()),
        Event::Start(Start::CheckTail) => {
            return pairs.start(call, line, Op::LogCheckTail, Vec::new());
        }
        Event::Finish(finish) => finish,
    };
    let pending = pairs.pending(client_id, op_id)?;
    let (ops, name) = finish.operation();
    if !ops.contains(&pending.op) {
        let (found, line) = (pending.op.name(), pending.line);
        return Err(format!("{name} of an operation that is {found} (line {line})"));
    }
    match finish {
        Finish::AppendSuccess { tail } | Finish::CheckTailSuccess { tail } => {
            pairs.finish(client_id, Status::Ok, vec![number(tail)?]);
        }
        Finish::ReadSuccess { tail, stream_hash, xxh3 } => {
            Hashes::known(hashes, stream_hash.is_some(), xxh3.is_some())?;
            let hash = stream_hash.or(xxh3).map(|hash| Value::Integer(hash as i64));
            let results = [number(tail)?].into_iter().chain(hash).collect();
            pairs.finish(client_id, Status::Ok, results);
        }
        Finish::AppendIndefiniteFailure => pairs.finish(client_id, Status::Unknown, Vec::new()),
        Finish::AppendDefiniteFailure | Finish::ReadFailure | Finish::CheckTailFailure => {
            pairs.discard(client_id);
        }
    }
    Ok(())
}

impl Finish {
    /// The operations that may finish like this, and the name of the event in the file.
    fn operation(&self) -> (&'static [Op], &'static str) {
        const APPENDS: [Op; 2] = [Op::LogAppendBatch, Op::LogAppendLast];
        match self {
            Finish::AppendSuccess { .. } => (&APPENDS, "AppendSuccess"),
            Finish::AppendDefiniteFailure => (&APPENDS, "AppendDefiniteFailure"),
            Finish::AppendIndefiniteFailure => (&APPENDS, "AppendIndefiniteFailure"),
            Finish::ReadSuccess { .. } => (&[Op::LogReadAll], "ReadSuccess"),
            Finish::ReadFailure => (&[Op::LogReadAll], "ReadFailure"),
            Finish::CheckTailSuccess { .. } => (&[Op::LogCheckTail], "CheckTailSuccess"),
            Finish::CheckTailFailure => (&[Op::LogCheckTail], "CheckTailFailure"),
        }
    }
}

/// The conditions of an append, then its records, or how many they are and the last one.
fn arguments(append: Append, log: &mut Option<Hashes>) -> Result<(Op, Vec<Value>), String> {
    let last = append.last_record_xxh3;
    let known = Hashes::known(log, append.record_hashes.is_some(), last.is_some())?;
    let hashes = append.record_hashes.unwrap_or_default();
    if known == Hashes::OfAll && hashes.len() as u64 != append.num_records {
        let (records, found) = (append.num_records, hashes.len());
        return Err(format!("{found} record_hashes; expected num_records of them, {records}"));
    }
    let text = |token: Option<String>| token.map_or_else(Value::nil, Value::Text);
    let at = append.match_seq_num.map(number).transpose()?.unwrap_or_else(Value::nil);
    let mut args = vec![at, text(append.fencing_token), text(append.set_fencing_token)];
    args.extend(hashes.into_iter().map(|hash| Value::Integer(hash as i64)));
    if known == Hashes::OfAll {
        return Ok((Op::LogAppendBatch, args));
    }
    // Where no hash is known, all are the same.
    args.extend([number(append.num_records)?, Value::Integer(last.unwrap_or(0) as i64)]);
    Ok((Op::LogAppendLast, args))
}

fn number(position: u64) -> Result<Value, String> {
    let position = i64::try_from(position);
    position.map(Value::Integer).map_err(|_| "a position above 2^63".to_string())
}

/// Why a history cannot be written.
const MIXED: &str = "hashes of all records, and of the last ones or none; expected the same of all";

/// The history as S2's collector writes it, or the reason why the format cannot express it.
pub fn write(history: &History, interner: &Interner) -> Result<String, String> {
    let (mut text, mut count, mut pending) = (String::new(), 0, HashMap::new());
    let hashes = Hashes::of(history);
    for HistoryEvent { id, client, is_response } in events_in_order(history) {
        let event = if is_response {
            Event::Finish(finished(history, id, hashes)?)
        } else {
            count += 1;
            pending.insert(client, count);
            Event::Start(started(history, id, hashes, interner)?)
        };
        let line = EventLine { event, client_id: client, op_id: pending[&client] };
        text += &serde_json::to_string(&line).map_err(|error| error.to_string())?;
        text.push('\n');
    }
    Ok(text)
}

fn started(
    history: &History,
    id: OperationId,
    hashes: Hashes,
    interner: &Interner,
) -> Result<Start, String> {
    let token = |value: i64| match interner.value(value) {
        _ if value == NIL => None,
        Value::Text(text) => Some(text),
        other => Some(other.written()),
    };
    match (history.operation(id).op, history.args(id)) {
        (op @ (Op::LogAppendBatch | Op::LogAppendLast), [at, fence, set, records @ ..]) => {
            if op == Op::LogAppendBatch && hashes != Hashes::OfAll {
                return Err(MIXED.to_string());
            }
            let all = || records.iter().map(|record| *record as u64).collect();
            let (num_records, record_hashes, last_record_xxh3) = match (op, records) {
                (Op::LogAppendLast, [count, last]) => {
                    let last = (hashes == Hashes::OfLast).then_some(*last as u64);
                    (position(*count)?, None, last)
                }
                _ => (records.len() as u64, Some(all()), None),
            };
            Ok(Start::Append(Append {
                num_records,
                record_hashes,
                last_record_xxh3,
                set_fencing_token: token(*set),
                fencing_token: token(*fence),
                match_seq_num: if *at == NIL { None } else { Some(position(*at)?) },
            }))
        }
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

fn finished(history: &History, id: OperationId, hashes: Hashes) -> Result<Finish, String> {
    let operation = history.operation(id);
    Ok(match (operation.op, operation.status, history.results(id)) {
        (Op::LogAppendBatch | Op::LogAppendLast, status, results) => match (status, results) {
            (Status::Ok, [tail]) => Finish::AppendSuccess { tail: position(*tail)? },
            (Status::Failed, _) => Finish::AppendDefiniteFailure,
            _ => Finish::AppendIndefiniteFailure,
        },
        (Op::LogReadAll, Status::Ok, [tail, known @ ..]) => {
            let hash = known.first().map(|hash| *hash as u64);
            if hash.is_none() != (hashes == Hashes::None) {
                return Err(MIXED.to_string());
            }
            let (stream_hash, xxh3) = match hashes {
                Hashes::OfAll => (hash, None),
                _ => (None, hash),
            };
            Finish::ReadSuccess { tail: position(*tail)?, stream_hash, xxh3 }
        }
        (Op::LogReadAll, ..) => Finish::ReadFailure,
        (_, Status::Ok, [tail]) => Finish::CheckTailSuccess { tail: position(*tail)? },
        _ => Finish::CheckTailFailure,
    })
}

fn position(value: i64) -> Result<u64, String> {
    value.try_into().map_err(|_| format!("the position {value}; expected one from 0 on"))
}
