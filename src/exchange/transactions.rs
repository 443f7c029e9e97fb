//! Decodes transactions of Jepsen, whose events invoke or complete a whole transaction.
//!
//! ```text
//! {:process 0, :type :invoke, :f :txn, :value [[:r 1 nil] [:w 2 7]]}     rw-register (Elle)
//! {:process 0, :type :ok, :f :txn, :value [[:r 1 3] [:w 2 7]]}
//! {:process 1, :type :ok, :f :txn, :value [[:read :x 1] [:write :y 2]]}  multi-register (Knossos)
//! ```
//! `:r` that answers `nil` found nothing; `:read` of `nil` claims nothing, as in Knossos. Writes of
//! an `:info` may become visible at any later time, those of a `:fail` never.
//!
//! The events do not say when a transaction takes its snapshot. So the history can be checked for
//! strict serializability, where each transaction takes effect at one instant, but not against
//! [`Kind::Snapshot`](crate::model::Kind::Snapshot).

use std::collections::{BTreeMap, BTreeSet};

use super::edn::Edn;
use super::events::Record;
use super::jepsen::{Event, shown, value};
use crate::core::history::NEVER;
use crate::core::interner::Value;
use crate::core::operation::{Op, Status};

/// A read or a write of a transaction.
#[derive(Clone, Debug, PartialEq)]
struct MicroOp {
    op: Op,
    key: Value,
    /// The value that was written or read; none for a read that found nothing or claims nothing.
    value: Option<Value>,
    /// Whether a read claims what it found, a value or nothing.
    claims: bool,
}

/// A transaction, from its invocation on.
struct Invoked {
    client: u32,
    line: usize,
    ops: Vec<MicroOp>,
    /// Numbers of its events. Without an end it may take effect at any later time.
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

    /// Takes the next event.
    pub fn take(&mut self, event: &Event, line: usize) -> Result<(), String> {
        self.events += 1;
        let (client, number) = (event.process, self.events);
        if event.kind == ":invoke" {
            let ops = micro_ops(&event.value, false)?;
            let outcome = Status::Pending;
            let new = Invoked { client, line, ops, start: number, end: None, outcome };
            return match self.open.insert(client, new) {
                None => Ok(()),
                Some(before) => Err(format!(
                    "client {client} starts a transaction while that of line {} is under way; \
                     expected its end first",
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
            let answered = micro_ops(&event.value, true)?;
            let invocations = || invoked.ops.iter().map(MicroOp::invocation);
            if !answered.iter().map(MicroOp::invocation).eq(invocations()) {
                return Err(format!(
                    "the end of a transaction with {}; expected what line {} invoked",
                    shown(&event.value),
                    invoked.line
                ));
            }
            invoked.ops = answered;
        }
        self.done.push(invoked);
        Ok(())
    }

    /// All operations, those of each client in order. `initial` is the initial value of every key.
    pub fn records(mut self, initial: &Value) -> Vec<Record> {
        self.done.extend(std::mem::take(&mut self.open).into_values());
        if *initial != Value::nil() {
            let first = self.initial_writes(initial);
            self.done.push(first);
        }
        self.done.sort_unstable_by_key(|invoked| invoked.start);
        let most = self.done.iter().map(|invoked| invoked.ops.len()).max().unwrap_or(0) as u64;
        // Leaves enough stamps between two events for all operations of a transaction.
        let scale = 2 * (most + 2);
        self.done.iter().flat_map(|invoked| invoked.records(scale)).collect()
    }

    /// A transaction that writes the initial value of every key before anything else.
    fn initial_writes(&self, initial: &Value) -> Invoked {
        let clients = self.done.iter().map(|invoked| invoked.client);
        let client = clients.max().map_or(0, |most| most.saturating_add(1));
        let ops = || self.done.iter().flat_map(|invoked| &invoked.ops);
        let keys: BTreeSet<String> = ops().map(|op| op.key.written()).collect();
        let key = |name: &String| ops().find(|op| op.key.written() == *name);
        let write = |op: &MicroOp| MicroOp {
            op: Op::StoreWrite,
            key: op.key.clone(),
            value: Some(initial.clone()),
            claims: true,
        };
        let ops = keys.iter().filter_map(key).map(write).collect();
        Invoked { client, line: 0, ops, start: 0, end: Some(0), outcome: Status::Ok }
    }
}

impl MicroOp {
    /// The part of it that the invocation contains.
    fn invocation(&self) -> (Op, &Value, Option<&Value>) {
        let written = self.value.as_ref().filter(|_| self.op == Op::StoreWrite);
        (self.op, &self.key, written)
    }
}

impl Invoked {
    /// Begin, reads and writes, and end. Begin and end have the stamps of the events; the timeboxes
    /// between have no meaning.
    fn records(&self, scale: u64) -> Vec<Record> {
        let mut records = Vec::with_capacity(self.ops.len() + 2);
        let mut at = self.start * scale;
        let mut push = |op, status, args, results, end: Option<u64>| {
            let (client, line, start) = (self.client, self.line, at);
            let end = end.unwrap_or(at + 1);
            let shared = false;
            records.push(Record { client, line, op, status, args, results, start, end, shared });
            at += 2;
        };
        push(Op::StoreBegin, Status::Ok, Vec::new(), Vec::new(), None);
        for op in &self.ops {
            let key = op.key.clone();
            match (op.op, op.value.clone()) {
                (Op::StoreWrite, value) => {
                    let args = [key].into_iter().chain(value).collect();
                    push(Op::StoreWrite, Status::Ok, args, Vec::new(), None);
                }
                // The read claims nothing.
                _ if self.outcome != Status::Ok || !op.claims => {}
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

/// The reads and writes that an event lists; `answered`: with what each read found.
fn micro_ops(edn: &Edn, answered: bool) -> Result<Vec<MicroOp>, String> {
    let Edn::List(all) = edn else {
        return Err(format!("a transaction of {}; expected [[:r 1 nil] [:w 2 7]]", shown(edn)));
    };
    all.iter().map(|edn| micro_op(edn, answered)).collect()
}

fn micro_op(edn: &Edn, answered: bool) -> Result<MicroOp, String> {
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
    let (op, claims) = match f.word() {
        Some(":r") => (Op::StoreRead, answered),
        Some(":read") => (Op::StoreRead, answered && !is_nil),
        Some(":w" | ":write") if !is_nil => (Op::StoreWrite, true),
        _ => return Err(wrong()),
    };
    let value = if is_nil || !claims { None } else { Some(value(held)?) };
    Ok(MicroOp { op, key: super::jepsen::value(key)?, value, claims })
}
