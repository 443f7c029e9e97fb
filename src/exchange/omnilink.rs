//! Reads logs of OmniLink: a directory with a file for each thread.
//! A file is MessagePack, a map for each operation, and ends with `__TerminateThread`:
//!
//! ```text
//! tracing-SetBench-4711.log
//! {operation_name: "KVErase", operation: {key: 3, result: 0, _did_abort: false,
//!                                         _op_start: 93, _op_end: 97, _meta: nil}}
//! ```
//! Timeboxes are closed intervals, as ours are. Known are the operations of the specifications that
//! come with OmniLink for SetBench (read as a set, or as a map if the model is `map`),
//! ConcurrentQueue and Atomic (a register with initial value 1). The format is that of the writer,
//! `omnilink/lib/include/omnilink` of <https://github.com/DistCompiler/pgo>.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::Imported;
use super::events::Record;
use crate::core::interner::Value;
use crate::core::operation::{Family, Op, Status};
use crate::core::recorder::Answered;
use crate::model::program::Calls;
use crate::model::{Empty, Kind, PID, Spec};

/// SetBench's answer if there is no value.
const NO_VALUE: i64 = 0;

/// The last record of a thread.
const TERMINATED: &str = "__TerminateThread";

/// The initial value of Atomic's counter.
const ATOMIC_INITIAL: i64 = 1;

#[derive(Deserialize)]
struct Logged<F = Field> {
    operation_name: String,
    operation: BTreeMap<String, F>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Field {
    Flag(bool),
    Integer(i64),
    List(Vec<i64>),
    /// `_meta` may be anything.
    Other(serde::de::IgnoredAny),
}

/// A logged operation in our terms.
struct Decoded {
    op: Op,
    status: Status,
    args: Vec<i64>,
    results: Vec<i64>,
}

/// Reads a directory of logs, or the single log of a run with one thread.
pub fn read(path: &Path, model: Option<Spec>) -> Result<Imported, String> {
    let mut left_out = BTreeMap::new();
    let mut records = Vec::new();
    for (client, file) in files(path)?.iter().enumerate() {
        let name = file.file_name().unwrap_or_default().display().to_string();
        let bytes = std::fs::read(file).map_err(|error| format!("{name}: {error}"))?;
        let map = model.is_some_and(|model| model.kind.family() == Family::Map);
        let mut thread = Thread { client: client as u32, map, producer: None, records: Vec::new() };
        thread.read(&bytes, &mut left_out).map_err(|error| format!("{name}: {error}"))?;
        records.extend(thread.records);
    }
    let initial = Value::Integer(ATOMIC_INITIAL);
    let model = model.or_else(|| default_model(&records));
    let mut imported = Imported::from_records(&shifted(records), Some(&initial), model)?;
    let note = |(name, count)| format!("{count} of {name} left out: they claim nothing to check");
    imported.notes = left_out.into_iter().map(note).collect();
    Ok(imported)
}

/// Moves all stamps, so that lower ones remain for the write of a register's initial value.
fn shifted(mut records: Vec<Record>) -> Vec<Record> {
    let first = records.iter().map(|record| record.start).min().unwrap_or(0);
    for record in &mut records {
        (record.start, record.end) = (record.start - first + 2, record.end - first + 2);
    }
    records
}

/// The model that matches OmniLink's specification, which promises nothing of ConcurrentQueue's
/// "empty".
fn default_model(records: &[Record]) -> Option<Spec> {
    let ranges = records.iter().any(|record| record.op == Op::SetRangeCount);
    match records.first().map_or(Family::Set, |record| record.op.family()) {
        Family::Queue => Some(Spec { empty: Empty::None, ..Spec::new(Kind::FifoPerProducer) }),
        Family::Set if ranges => Some(Spec::new(Kind::RangeSet)),
        family => super::default_model(family),
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| error.to_string())?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("tracing-") && name.ends_with(".log") {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err("no logs of OmniLink there; expected files tracing-SPEC-THREAD.log".into()),
        false => Ok(files),
    }
}

/// Reads the records of a log, with their numbers from 1. Errors say which it was.
fn records<F: DeserializeOwned>(
    bytes: &[u8],
    mut each: impl FnMut(usize, Logged<F>) -> Result<(), String>,
) -> Result<(), String> {
    let mut rest = bytes;
    for number in 1.. {
        let located = |error: String| format!("record {number}: {error}");
        if rest.is_empty() {
            // A pending call, which the log lacks, may have had an effect.
            let error = "the log ends; expected __TerminateThread as the last record";
            return Err(located(error.to_string()));
        }
        let logged: Logged<F> = rmp_serde::from_read(&mut rest).map_err(|error| {
            let at = bytes.len() - rest.len();
            let expected = "expected a map of operation_name and operation";
            located(format!("{error}, before byte {at}; {expected}"))
        })?;
        match logged.operation_name.as_str() {
            TERMINATED if rest.is_empty() => return each(number, logged).map_err(located),
            TERMINATED => {
                return Err(located("records after __TerminateThread".to_string()));
            }
            "__AbortThread" => {
                let error = "the thread was aborted in a call that is not in the log, so the \
                             history cannot be checked";
                return Err(located(error.to_string()));
            }
            _ => each(number, logged).map_err(located)?,
        }
    }
    Ok(())
}

/// Reads the logs of any specification: an action with its parameters is a call,
/// `{"Inc": {"prev_x": 1}}`, and its answer is among them, so the answer is `null`. What aborted
/// had no effect, and is left out.
///
/// `whole`: nothing is left out, for OmniLink's own modules and a specification. `_pid` is the
/// number of the thread.
pub fn read_any(path: &Path, whole: bool) -> Result<Calls, String> {
    let mut calls = Calls::default();
    for (client, file) in (0..).zip(files(path)?) {
        let name = file.file_name().unwrap_or_default().display().to_string();
        let bytes = std::fs::read(&file).map_err(|error| format!("{name}: {error}"))?;
        let mut keep = |logged: Logged<Json>| {
            let Logged { operation_name: action, operation: mut of } = logged;
            let aborted = of.get("_did_abort") == Some(&Json::Bool(true));
            if !whole && (aborted || action == TERMINATED) {
                return Ok(());
            }
            let stamp = |field: &str| {
                let stamp = of.get(field).and_then(Json::as_u64);
                stamp.ok_or_else(|| format!("{action} without the stamp {field}"))
            };
            let (start, end) = (stamp("_op_start")?, stamp("_op_end")?);
            match whole {
                true => drop(of.insert(PID.to_string(), json!(client))),
                false => of.retain(|field, _| !field.starts_with('_')),
            }
            let made = Answered { call: json!({ action: of }), answer: Some(Json::Null) };
            let pushed = calls.push(client, made.into(), start, Some(end));
            pushed.map(|_| ()).map_err(|misfit| misfit.to_string())
        };
        let read = records(&bytes, |_, logged| keep(logged));
        read.map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(calls)
}

/// The log of one thread.
struct Thread {
    client: u32,
    /// Whether SetBench is read as a map.
    map: bool,
    /// The producer to whose queue the thread adds.
    producer: Option<i64>,
    records: Vec<Record>,
}

impl Thread {
    fn read(&mut self, bytes: &[u8], left_out: &mut BTreeMap<String, usize>) -> Result<(), String> {
        records(bytes, |number, logged: Logged| {
            if logged.operation_name == TERMINATED {
                return Ok(());
            }
            match self.decode(&logged)? {
                Some(decoded) => self.keep(number, &logged, decoded)?,
                None => *left_out.entry(logged.operation_name).or_default() += 1,
            }
            Ok(())
        })
    }

    fn keep(&mut self, line: usize, logged: &Logged, decoded: Decoded) -> Result<(), String> {
        let (start, end) = (logged.stamp("_op_start")?, logged.stamp("_op_end")?);
        let before = self.records.last().map_or(0, |last| last.end);
        if start > end || (start <= before && before > 0) {
            return Err(format!(
                "timebox [{start}, {end}] after an operation that ends at {before}; expected later \
                 stamps in each record"
            ));
        }
        let values = |list: Vec<i64>| list.into_iter().map(Value::Integer).collect();
        let Decoded { op, status, args, results } = decoded;
        if let Some(other) = self.records.first().filter(|other| other.op.family() != op.family()) {
            let (name, was) = (&logged.operation_name, other.op.family().name());
            return Err(format!("{name} in a log of a {was}"));
        }
        let (args, results) = (values(args), values(results));
        self.records.push(Record {
            client: self.client,
            line,
            op,
            status,
            args,
            results,
            start,
            end,
            shared: false,
        });
        Ok(())
    }

    /// The operation in our terms; none if no model here can check its claim. (Those operations
    /// leave the structure unchanged.)
    fn decode(&mut self, logged: &Logged) -> Result<Option<Decoded>, String> {
        if matches!(logged.operation.get("_did_abort"), Some(Field::Flag(true))) {
            return Ok(None);
        }
        let decoded = match logged.operation_name.as_str() {
            "KVContains" | "KVRangeQuery" if self.map => return Ok(None),
            "KVContains" => {
                let status = if logged.flag("result")? { Status::Ok } else { Status::Failed };
                Decoded { status, ..logged.call(Op::SetContains, &["key"])? }
            }
            "KVInsert" | "KVInsertIfAbsent" | "KVErase" => self.dictionary(logged)?,
            "KVRangeQuery" => {
                let results = vec![logged.integer("count")?];
                Decoded { results, ..logged.call(Op::SetRangeCount, &["lo", "hi"])? }
            }
            "EnqueueWithToken" => {
                let producer = logged.integer("producer")?;
                if *self.producer.get_or_insert(producer) != producer {
                    return Err(format!("producer {producer}; expected one for each thread"));
                }
                let args = logged.list("elements")?;
                Decoded { op: Op::EnqueueBulk, status: Status::Ok, args, results: Vec::new() }
            }
            "Dequeue" | "DequeueWithToken" => {
                let results = logged.list("elements")?;
                if results.is_empty() {
                    return Ok(None);
                }
                // The requested number is not logged.
                let args = vec![results.len() as i64];
                Decoded { op: Op::DequeueBulk, status: Status::Ok, args, results }
            }
            "SizeApprox" => return Ok(None),
            "Inc" => {
                let old = logged.integer("prev_x")?;
                let args = vec![old, old.checked_add(1).ok_or("prev_x is too large")?];
                let (op, status) = (Op::RegisterCompareExchange, Status::Ok);
                Decoded { op, status, args, results: Vec::new() }
            }
            name => {
                return Err(format!(
                    "operation {name}; expected one of KVContains, KVInsert, KVInsertIfAbsent, \
                     KVErase, KVRangeQuery, EnqueueWithToken, Dequeue, DequeueWithToken, \
                     SizeApprox, Inc"
                ));
            }
        };
        Ok(Some(decoded))
    }

    /// SetBench's updates. They answer the value before.
    fn dictionary(&self, logged: &Logged) -> Result<Decoded, String> {
        let before = logged.integer("result")?;
        let absent = before == NO_VALUE;
        let status = |ok| if ok { Status::Ok } else { Status::Failed };
        let name = logged.operation_name.as_str();
        if !self.map {
            let erases = name == "KVErase";
            let op = if erases { Op::SetRemove } else { Op::SetInsert };
            return Ok(Decoded { status: status(absent != erases), ..logged.call(op, &["key"])? });
        }
        let results = if absent { Vec::new() } else { vec![before] };
        let decoded = match name {
            "KVErase" => {
                Decoded { status: status(!absent), ..logged.call(Op::MapRemove, &["key"])? }
            }
            "KVInsert" => {
                Decoded { status: status(!absent), ..logged.call(Op::MapPut, &["key", "value"])? }
            }
            _ => {
                let call = logged.call(Op::MapInsertIfAbsent, &["key", "value"])?;
                Decoded { status: status(absent), ..call }
            }
        };
        Ok(Decoded { results, ..decoded })
    }
}

impl Logged {
    fn call(&self, op: Op, args: &[&str]) -> Result<Decoded, String> {
        let args = args.iter().map(|name| self.integer(name)).collect::<Result<_, _>>()?;
        Ok(Decoded { op, status: Status::Ok, args, results: Vec::new() })
    }

    fn field(&self, name: &str) -> Result<&Field, String> {
        let missing = || format!("{} without {name}", self.operation_name);
        self.operation.get(name).ok_or_else(missing)
    }

    fn wrong(&self, name: &str, expected: &str) -> String {
        format!("{}: {name} is not of the expected type, {expected}", self.operation_name)
    }

    fn integer(&self, name: &str) -> Result<i64, String> {
        match self.field(name)? {
            Field::Integer(value) => Ok(*value),
            _ => Err(self.wrong(name, "integer")),
        }
    }

    fn stamp(&self, name: &str) -> Result<u64, String> {
        u64::try_from(self.integer(name)?).map_err(|_| self.wrong(name, "stamp"))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        match self.field(name)? {
            Field::Flag(flag) => Ok(*flag),
            _ => Err(self.wrong(name, "boolean")),
        }
    }

    fn list(&self, name: &str) -> Result<Vec<i64>, String> {
        match self.field(name)? {
            Field::List(values) => Ok(values.clone()),
            _ => Err(self.wrong(name, "list of integers")),
        }
    }
}
