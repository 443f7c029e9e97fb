//! Makes a history from invocations and responses in order, and lists those of a history.
//! It is shared by all formats.

use std::collections::HashMap;

use super::pieces::Split;
use crate::core::annotations::{AnnotationLine, Annotations};
use crate::core::history::{Entry, History, NEVER, OperationId};
use crate::core::interner::{Interner, NIL, Value};
use crate::core::operation::{Family, Op, Status};

/// The largest number of a client in a file. Those above are for clients that are added here.
const CLIENT_MAX: u32 = u32::MAX / 2;

/// Stamp of the first event. Lower stamps are for the write of an initial value.
const FIRST_STAMP: u64 = 2;

/// An operation as a file describes it.
#[derive(Clone, Debug)]
pub struct Record {
    pub client: u32,
    /// The line of its invocation, from 1; or the number of the record.
    pub line: usize,
    pub op: Op,
    pub status: Status,
    pub args: Vec<Value>,
    pub results: Vec<Value>,
    pub start: u64,
    pub end: u64,
    /// It has the timebox of the client's operation before.
    pub shared: bool,
}

/// Pairs each client's responses with its invocations. Every event gets the next stamp.
#[derive(Default)]
pub struct Pairs {
    open: HashMap<u32, (u64, Record)>,
    done: Vec<Record>,
    events: u64,
    annotations: Annotations,
    notes: Notes,
}

/// What is said of operations, by their starts.
pub type Notes = HashMap<u64, Vec<String>>;

impl Pairs {
    fn stamp(&mut self) -> u64 {
        self.events += 1;
        FIRST_STAMP + self.events - 1
    }

    /// An invocation of `client`; `call` is the file's number for the call, or 0.
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
                 expected its end first"
            ));
        }
        let start = self.stamp();
        let (status, results, end) = (Status::Pending, Vec::new(), NEVER);
        let record = Record { client, line, op, status, args, results, start, end, shared: false };
        self.open.insert(client, (call, record));
        Ok(())
    }

    /// An annotation, at the next stamp.
    pub fn annotation(&mut self, line: AnnotationLine) -> Result<(), String> {
        let at = self.stamp();
        self.annotations.add(line, at)
    }

    /// Something is said of the client's pending operation.
    pub fn note(&mut self, (client, call): (u32, u64), text: String) -> Result<(), String> {
        let start = self.pending(client, call)?.start;
        self.notes.entry(start).or_default().push(text);
        Ok(())
    }

    /// All that was said.
    pub fn take_annotations(&mut self) -> (Annotations, Notes) {
        (std::mem::take(&mut self.annotations), std::mem::take(&mut self.notes))
    }

    /// The client's pending operation.
    pub fn pending(&self, client: u32, call: u64) -> Result<&Record, String> {
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

    /// The client's pending operation, which is forgotten.
    pub fn take(&mut self, client: u32, call: u64) -> Result<Record, String> {
        self.pending(client, call)?;
        Ok(self.open.remove(&client).expect("it is pending").1)
    }

    /// The response of the client's call; `status` is open where its effect is unknown.
    pub fn finish(&mut self, client: u32, status: Status, results: Vec<Value>) {
        let end = self.stamp();
        if let Some((_, record)) = self.open.remove(&client) {
            let end = if status.is_open() { NEVER } else { end };
            self.done.push(Record { status, results, end, ..record });
        }
    }

    /// Drops the client's call, because it had no effect and its answer claims nothing.
    pub fn discard(&mut self, client: u32) {
        self.open.remove(&client);
    }

    /// Every operation in the order of invocations. Those without a response are pending.
    pub fn records(self) -> Vec<Record> {
        let pending = self.open.into_values().map(|(_, record)| record);
        let mut records: Vec<Record> = self.done.into_iter().chain(pending).collect();
        records.sort_unstable_by_key(|record| record.start);
        records
    }
}

/// How to split the strings of these operations into values.
pub fn split(records: &[Record]) -> Split {
    let written = records.iter().filter(|record| matches!(record.op, Op::KvPut | Op::KvAppend));
    let appends = records.iter().any(|record| record.op == Op::KvAppend);
    Split::coarsest(written.map(Record::written), appends)
}

impl Record {
    /// The string that a put or append writes.
    fn written(&self) -> &str {
        match self.args.get(1) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// The write that gives a register its initial value before anything else happens.
    fn first_write(client: u32, value: Value) -> Record {
        let (op, status) = (Op::RegisterWrite, Status::Ok);
        let (start, end) = (FIRST_STAMP - 2, FIRST_STAMP - 1);
        let (args, results) = (vec![value], Vec::new());
        Record { client, line: 0, op, status, args, results, start, end, shared: false }
    }

    /// Appends the operation to its client's.
    pub fn push(
        &self,
        history: &mut History,
        interner: &mut Interner,
        split: Split,
    ) -> Result<(), String> {
        if self.client > CLIENT_MAX {
            return Err(format!("client {}; expected at most {CLIENT_MAX}", self.client));
        }
        let (mut args, mut results) = (Vec::new(), Vec::new());
        if self.op.family() == Family::Kv {
            let (key, value) = self.args.split_first().ok_or("no key; expected one")?;
            args.push(interner.id(key)?);
            pieces(value, split, interner, &mut args)?;
            pieces(&self.results, split, interner, &mut results)?;
        } else {
            for (from, to) in [(&self.args, &mut args), (&self.results, &mut results)] {
                for value in from {
                    to.push(match value {
                        // A hash may be any number, even one that the interner uses.
                        Value::Integer(hash) if self.op.is_of_streams() => *hash,
                        // Words of methods stand for themselves.
                        Value::Integer(word) if matches!(self.op, Op::Method(_)) => *word,
                        value => interner.id(value)?,
                    });
                }
            }
        }
        let Record { op, status, start, end, .. } = *self;
        let entry = Entry { op, status, start, end, args: &args, results: &results };
        let pushed = match self.shared {
            true => history.push_shared(self.client, entry),
            false => history.push(self.client, entry),
        };
        pushed.map_err(|misfit| misfit.to_string())
    }
}

/// Appends the pieces of the only string in `values`. `nil` is the empty string, the value of a key
/// before the first put.
fn pieces(
    values: &[Value],
    split: Split,
    interner: &mut Interner,
    to: &mut Vec<i64>,
) -> Result<(), String> {
    match values {
        [] => {}
        [Value::Text(text)] => {
            for piece in split.pieces(text) {
                to.push(interner.id(&Value::Text(piece.to_string()))?);
            }
        }
        [value] if *value == Value::nil() => {}
        [value] => return Err(format!("the value {}; expected a string", value.shown())),
        more => return Err(format!("{} values; expected one string", more.len())),
    }
    Ok(())
}

/// The history of `records`; those of each client are in order. `initial` is the initial value of a
/// register, if it is not 0.
pub fn history(
    records: &[Record],
    initial: Option<&Value>,
    interner: &mut Interner,
) -> Result<History, String> {
    let (split, mut history) = (split(records), History::default());
    let register = records.iter().any(|record| record.op.family() == Family::Register);
    if let Some(initial) = initial.filter(|value| register && **value != Value::Integer(0)) {
        let clients = records.iter().map(|record| record.client);
        let client = clients.max().map_or(0, |most| most.saturating_add(1));
        let write = Record::first_write(client, initial.clone());
        write.push(&mut history, interner, split)?;
    }
    for record in records {
        record.push(&mut history, interner, split).map_err(|error| at(record.line, &error))?;
    }
    Ok(history)
}

/// "line 7: ...".
pub fn at(line: usize, error: &str) -> String {
    format!("line {line}: {error}")
}

/// An invocation or a response, for writing a history event by event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEvent {
    pub id: OperationId,
    /// Unique for every sequential thread: a client whose operation has an unknown outcome
    /// continues under another number.
    pub client: u32,
    pub is_response: bool,
}

/// Every invocation and response, oldest first. A pending operation has no response. An operation
/// of unknown outcome has its response at the end, because until then it may take effect.
pub fn events_in_order(history: &History) -> Vec<HistoryEvent> {
    let clients = clients(history);
    let mut all = Vec::with_capacity(2 * history.len());
    for id in history.ids() {
        let (operation, client) = (history.operation(id), clients[id.thread as usize]);
        all.push((operation.start, HistoryEvent { id, client, is_response: false }));
        if operation.status != Status::Pending {
            all.push((operation.end, HistoryEvent { id, client, is_response: true }));
        }
    }
    // Invocations before responses at the same stamp: operations that touch overlap.
    all.sort_by_key(|(stamp, event)| (*stamp, event.is_response));
    all.into_iter().map(|(_, event)| event).collect()
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

/// The operation that writes a register's initial value, and that value. It is a write that
/// returned before anything else was called; without one, the initial value is 0.
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
