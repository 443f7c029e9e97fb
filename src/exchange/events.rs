//! Starts and ends of calls, in the order in which they happened, made into a history; and a
//! history's in that order. Knows no file format.

use std::collections::HashMap;

use super::strings::{Cut, NIL, Strings, Value};
use crate::core::history::{Entry, History, NEVER, OperationId};
use crate::core::operation::{Family, Op, Status};

/// Stamp of the first event; a value that was there before is written before that.
const FIRST_STAMP: u64 = 2;

/// An operation as a file tells of it.
#[derive(Clone, Debug)]
pub struct Record {
    pub client: u32,
    /// The line on which it starts, from 1; or the number of the record.
    pub line: usize,
    pub op: Op,
    pub status: Status,
    pub args: Vec<Value>,
    pub results: Vec<Value>,
    pub start: u64,
    pub end: u64,
}

/// Pairs each client's ends with its starts. Every event is later than the one before.
#[derive(Default)]
pub struct Recorder {
    open: HashMap<u32, (u64, Record)>,
    done: Vec<Record>,
    events: u64,
}

impl Recorder {
    fn stamp(&mut self) -> u64 {
        self.events += 1;
        FIRST_STAMP + self.events - 1
    }

    /// `client` calls; `call` is a number of the file's own for the call, if it has one.
    pub fn start(
        &mut self,
        (client, call): (u32, u64),
        line: usize,
        op: Op,
        args: Vec<Value>,
    ) -> Result<(), String> {
        if let Some((_, record)) = self.open.get(&client) {
            let (name, line) = (record.op.name(), record.line);
            return Err(format!(
                "client {client} starts an operation while its {name} of line {line} is under way; \
                 expected that to end first"
            ));
        }
        let start = self.stamp();
        let (status, results, end) = (Status::Pending, Vec::new(), NEVER);
        let record = Record { client, line, op, status, args, results, start, end };
        self.open.insert(client, (call, record));
        Ok(())
    }

    /// What the client calls just now.
    pub fn under_way(&self, client: u32, call: u64) -> Result<&Record, String> {
        match self.open.get(&client) {
            Some((known, record)) if *known == call => Ok(record),
            Some((known, record)) => Err(format!(
                "the end of operation {call} of client {client}, whose operation {known} of line \
                 {} is under way",
                record.line
            )),
            None => Err(format!("client {client} ends an operation that it did not start")),
        }
    }

    /// The client's call answered, or its effect is unknown.
    pub fn finish(&mut self, client: u32, status: Status, results: Vec<Value>) {
        let end = self.stamp();
        if let Some((_, record)) = self.open.remove(&client) {
            let end = if status.is_open() { NEVER } else { end };
            self.done.push(Record { status, results, end, ..record });
        }
    }

    /// The client's call had no effect, and what it answered says nothing.
    pub fn forget(&mut self, client: u32) {
        self.open.remove(&client);
    }

    /// Every operation, the first to start first; what never ended is pending.
    pub fn records(self) -> Vec<Record> {
        let pending = self.open.into_values().map(|(_, record)| record);
        let mut records: Vec<Record> = self.done.into_iter().chain(pending).collect();
        records.sort_unstable_by_key(|record| record.start);
        records
    }
}

/// How the strings of these operations are to be cut.
pub fn cut(records: &[Record]) -> Cut {
    let written = records.iter().filter(|record| matches!(record.op, Op::KvPut | Op::KvAppend));
    Cut::of(written.map(Record::written), records.iter().any(|record| record.op == Op::KvAppend))
}

impl Record {
    /// The string that it puts or appends.
    fn written(&self) -> &str {
        match self.args.get(1) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// A register that holds a value at first is one that this is written to before anything else.
    fn first_write(client: u32, value: Value) -> Record {
        let (op, status) = (Op::RegisterWrite, Status::Ok);
        let (start, end) = (FIRST_STAMP - 2, FIRST_STAMP - 1);
        let (args, results) = (vec![value], Vec::new());
        Record { client, line: 0, op, status, args, results, start, end }
    }

    /// Appends the operation to its client's.
    pub fn push(
        &self,
        history: &mut History,
        strings: &mut Strings,
        cut: Cut,
    ) -> Result<(), String> {
        let (mut args, mut results) = (Vec::new(), Vec::new());
        if self.op.family() == Family::Kv {
            let (key, value) = self.args.split_first().ok_or("no key; expected one")?;
            args.push(strings.id(key)?);
            pieces(value, cut, strings, &mut args)?;
            pieces(&self.results, cut, strings, &mut results)?;
        } else {
            for (from, to) in [(&self.args, &mut args), (&self.results, &mut results)] {
                for value in from {
                    to.push(match value {
                        // A hash may be any number; the strings there stand elsewhere.
                        Value::Integer(hash) if self.op.is_of_streams() => *hash,
                        value => strings.id(value)?,
                    });
                }
            }
        }
        let Record { op, status, start, end, .. } = *self;
        let entry = Entry { op, status, start, end, args: &args, results: &results };
        history.push(self.client, entry).map_err(|misfit| misfit.to_string())
    }
}

/// The pieces of a string that is the only one of `values`; `nil` is the empty string, which is
/// what a key holds before anything is put.
fn pieces(
    values: &[Value],
    cut: Cut,
    strings: &mut Strings,
    to: &mut Vec<i64>,
) -> Result<(), String> {
    match values {
        [] => {}
        [Value::Text(text)] => {
            for piece in cut.pieces(text) {
                to.push(strings.id(&Value::Text(piece.to_string()))?);
            }
        }
        [value] if *value == Value::nil() => {}
        [value] => return Err(format!("the value {}; expected a string", value.shown())),
        more => return Err(format!("{} values; expected one string", more.len())),
    }
    Ok(())
}

/// The history of `records`, which are a client's in its order. `initial` is what a register holds
/// before the first call, where that is not 0.
pub fn history(
    records: &[Record],
    initial: Option<&Value>,
    strings: &mut Strings,
) -> Result<History, String> {
    let (cut, mut history) = (cut(records), History::default());
    let register = records.iter().any(|record| record.op.family() == Family::Register);
    if let Some(initial) = initial.filter(|value| register && **value != Value::Integer(0)) {
        let client = records.iter().map(|record| record.client).max().map_or(0, |most| most + 1);
        let write = Record::first_write(client, initial.clone());
        write.push(&mut history, strings, cut)?;
    }
    for record in records {
        record.push(&mut history, strings, cut).map_err(|error| at(record.line, &error))?;
    }
    Ok(history)
}

/// "line 7: ...".
pub fn at(line: usize, error: &str) -> String {
    format!("line {line}: {error}")
}

/// A start or an end, as it is told to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happening {
    pub id: OperationId,
    /// A number of its own for every sequential thread: a client whose operation has an unknown
    /// outcome goes on under another.
    pub client: u32,
    pub ends: bool,
}

/// Every start and end, oldest first. What never returned has no end; what returned without saying
/// what happened has its end last, as that is when it was last known to be able to take effect.
pub fn happenings(history: &History) -> Vec<Happening> {
    let clients = clients(history);
    let mut all = Vec::with_capacity(2 * history.len());
    for id in history.ids() {
        let (operation, client) = (history.operation(id), clients[id.thread as usize]);
        all.push((operation.start, Happening { id, client, ends: false }));
        if operation.status != Status::Pending {
            all.push((operation.end, Happening { id, client, ends: true }));
        }
    }
    // Calls before returns at the same stamp: operations that touch overlap.
    all.sort_by_key(|(stamp, happening)| (*stamp, happening.ends));
    all.into_iter().map(|(_, happening)| happening).collect()
}

fn clients(history: &History) -> Vec<u32> {
    let mut next = history.threads.iter().map(|thread| thread.client).max().map_or(0, |n| n + 1);
    let mut used = std::collections::HashSet::new();
    let mut number = |client| {
        if used.insert(client) {
            return client;
        }
        next += 1;
        next - 1
    };
    history.threads.iter().map(|thread| number(thread.client)).collect()
}

/// The operation that writes what a register holds at first, if there is one: a write that returned
/// before anything else was called. With it, what it writes; without it, that is 0.
pub fn initial(history: &History) -> (Option<OperationId>, i64) {
    let first = history.ids().min_by_key(|id| history.operation(*id).start);
    let Some(first) = first.filter(|id| history.operation(*id).op == Op::RegisterWrite) else {
        return (None, 0);
    };
    let end = history.operation(first).end;
    let alone = history.ids().all(|id| id == first || history.operation(id).start > end);
    match (alone, history.args(first), history.results(first)) {
        (true, [NIL], []) => (Some(first), NIL),
        _ => (None, 0),
    }
}
