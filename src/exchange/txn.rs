//! Transactions of Jepsen: an event invokes or completes a whole one. Events come in, operations
//! out. Knows no notation but that of the values.
//!
//! ```text
//! {:process 0, :type :invoke, :f :txn, :value [[:r 1 nil] [:w 2 7]]}     rw-register (Elle)
//! {:process 0, :type :ok, :f :txn, :value [[:r 1 3] [:w 2 7]]}
//! {:process 1, :type :ok, :f :txn, :value [[:read :x 1] [:write :y 2]]}  multi-register (Knossos)
//! ```
//! `:r` that answers `nil` found nothing; `:read` of `nil` says nothing, as Knossos has it. What
//! `:info` wrote may be there at any later time; what `:fail` wrote never is.
//!
//! Nothing is known of when within its event a transaction takes its snapshot. A transaction that
//! happens at one instant needs no more than that event; [`Kind::Snapshot`] would.

use std::collections::{BTreeMap, BTreeSet};

use super::edn::Edn;
use super::events::Record;
use super::jepsen::{Event, shown, value};
use super::strings::Value;
use crate::core::history::NEVER;
use crate::core::operation::{Op, Status};

/// A part of a transaction.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    op: Op,
    key: Value,
    /// What is written, or was found; none of a read that says nothing.
    value: Option<Value>,
    /// What was read is told, be it that nothing was there.
    told: bool,
}

/// A transaction, from its invocation on.
struct Invoked {
    client: u32,
    line: usize,
    parts: Vec<Part>,
    /// Numbers of its events; it may take effect after the last where nothing tells of its end.
    start: u64,
    end: Option<u64>,
    outcome: Status,
}

/// Pairs completions with invocations.
#[derive(Default)]
pub struct Transactions {
    open: BTreeMap<u32, Invoked>,
    done: Vec<Invoked>,
    events: u64,
}

impl Transactions {
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.done.is_empty()
    }

    /// One event, of line `line`.
    pub fn take(&mut self, event: &Event, line: usize) -> Result<(), String> {
        self.events += 1;
        let (client, number) = (event.process, self.events);
        if event.kind == ":invoke" {
            let parts = parts(&event.value, false)?;
            let outcome = Status::Pending;
            let new = Invoked { client, line, parts, start: number, end: None, outcome };
            return match self.open.insert(client, new) {
                None => Ok(()),
                Some(before) => Err(format!(
                    "client {client} starts a transaction while that of line {} is under way; \
                     expected that to end first",
                    before.line
                )),
            };
        }
        let unknown = || format!("client {client} ends a transaction that it did not start");
        let mut invoked = self.open.remove(&client).ok_or_else(unknown)?;
        invoked.end = Some(number);
        invoked.outcome = match event.kind.as_str() {
            ":ok" => Status::Ok,
            ":fail" => Status::Failed,
            ":info" => Status::Unknown,
            kind => return Err(format!("type {kind}; expected :invoke, :ok, :fail or :info")),
        };
        if invoked.outcome == Status::Ok {
            let answered = parts(&event.value, true)?;
            let asked = || invoked.parts.iter().map(Part::asked);
            if !answered.iter().map(Part::asked).eq(asked()) {
                return Err(format!(
                    "the end of a transaction with {}; expected what line {} invoked",
                    shown(&event.value),
                    invoked.line
                ));
            }
            invoked.parts = answered;
        }
        self.done.push(invoked);
        Ok(())
    }

    /// All operations, those of each client in its order. `initial` is what every key holds first.
    pub fn records(mut self, initial: &Value) -> Vec<Record> {
        self.done.extend(std::mem::take(&mut self.open).into_values());
        if *initial != Value::nil() {
            let first = self.first(initial);
            self.done.push(first);
        }
        self.done.sort_unstable_by_key(|invoked| invoked.start);
        let most = self.done.iter().map(|invoked| invoked.parts.len()).max().unwrap_or(0) as u64;
        // Between two events there is room for all that a transaction does.
        let scale = 2 * (most + 2);
        self.done.iter().flat_map(|invoked| invoked.records(scale)).collect()
    }

    /// Puts the initial value under every key, before anything else.
    fn first(&self, initial: &Value) -> Invoked {
        let client = self.done.iter().map(|invoked| invoked.client).max().map_or(0, |n| n + 1);
        let parts = || self.done.iter().flat_map(|invoked| &invoked.parts);
        let keys: BTreeSet<String> = parts().map(|part| part.key.shown()).collect();
        let key = |name: &String| parts().find(|part| part.key.shown() == *name);
        let put = |part: &Part| Part {
            op: Op::StoreWrite,
            key: part.key.clone(),
            value: Some(initial.clone()),
            told: true,
        };
        let parts = keys.iter().filter_map(key).map(put).collect();
        Invoked { client, line: 0, parts, start: 0, end: Some(0), outcome: Status::Ok }
    }
}

impl Part {
    /// What the invocation says of it.
    fn asked(&self) -> (Op, &Value, Option<&Value>) {
        let written = self.value.as_ref().filter(|_| self.op == Op::StoreWrite);
        (self.op, &self.key, written)
    }
}

impl Invoked {
    /// Begin, parts and end, one after the other. The box of the whole is that of the events; those
    /// of the parts say nothing.
    fn records(&self, scale: u64) -> Vec<Record> {
        let mut records = Vec::with_capacity(self.parts.len() + 2);
        let mut at = self.start * scale;
        let mut push = |op, status, args, results, end: Option<u64>| {
            let (client, line, start) = (self.client, self.line, at);
            let end = end.unwrap_or(at + 1);
            records.push(Record { client, line, op, status, args, results, start, end });
            at += 2;
        };
        push(Op::StoreBegin, Status::Ok, Vec::new(), Vec::new(), None);
        for part in &self.parts {
            let key = part.key.clone();
            match (part.op, part.value.clone()) {
                (Op::StoreWrite, value) => {
                    let args = [key].into_iter().chain(value).collect();
                    push(Op::StoreWrite, Status::Ok, args, Vec::new(), None);
                }
                // Nothing is known of what was read.
                _ if self.outcome != Status::Ok || !part.told => {}
                (_, Some(value)) => push(Op::StoreRead, Status::Ok, vec![key], vec![value], None),
                (_, None) => push(Op::StoreRead, Status::Failed, vec![key], Vec::new(), None),
            }
        }
        let (op, status) = match self.outcome {
            Status::Failed => (Op::StoreAbort, Status::Ok),
            outcome => (Op::StoreCommit, outcome),
        };
        let last = self.end.filter(|_| !status.is_open()).map(|end| end * scale + scale - 1);
        push(op, status, Vec::new(), Vec::new(), Some(last.unwrap_or(NEVER)));
        records
    }
}

/// The parts that an event lists; of an answer what each read found.
fn parts(edn: &Edn, answered: bool) -> Result<Vec<Part>, String> {
    let Edn::List(all) = edn else {
        return Err(format!("a transaction of {}; expected [[:r 1 nil] [:w 2 7]]", shown(edn)));
    };
    all.iter().map(|edn| part(edn, answered)).collect()
}

fn part(edn: &Edn, answered: bool) -> Result<Part, String> {
    let wrong = || {
        format!(
            "{} in a transaction; expected [:r KEY VALUE] or [:w KEY VALUE], or the same with \
             :read and :write (lists and other types of Elle are not read)",
            shown(edn)
        )
    };
    let Edn::List(three) = edn else { return Err(wrong()) };
    let [f, key, held] = three.as_slice() else { return Err(wrong()) };
    let is_nil = held.word() == Some("nil");
    let (op, told) = match f.word() {
        Some(":r") => (Op::StoreRead, answered),
        Some(":read") => (Op::StoreRead, answered && !is_nil),
        Some(":w" | ":write") if !is_nil => (Op::StoreWrite, true),
        _ => return Err(wrong()),
    };
    let value = if is_nil || !told { None } else { Some(value(held)?) };
    Ok(Part { op, key: super::jepsen::value(key)?, value, told })
}
