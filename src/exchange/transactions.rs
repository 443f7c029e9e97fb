//! Decodes transactions of Jepsen, whose events invoke or complete a whole transaction.
//!
//! ```text
//! {:process 0, :type :invoke, :f :txn, :value [[:r 1 nil] [:w 2 7]]}     rw-register (Elle)
//! {:process 0, :type :ok, :f :txn, :value [[:r 1 3] [:w 2 7]]}
//! {:process 1, :type :ok, :f :txn, :value [[:read :x 1] [:write :y 2]]}  multi-register (Knossos)
//! {:process 2, :type :ok, :f :txn, :value [[:append 1 5] [:r 1 [4 5]]]}  list-append (Elle)
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

/// A read, a write or an append of a transaction.
#[derive(Clone, Debug, PartialEq)]
struct MicroOp {
    op: Op,
    key: Value,
    held: Held,
}

/// What was written, appended or read.
#[derive(Clone, Debug, PartialEq)]
enum Held {
    /// A read that claims nothing.
    Unclaimed,
    /// A read that found nothing, or an empty list.
    Nil,
    One(Value),
    List(Vec<Value>),
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
    /// Whether they are on lists, as far as that is known.
    on_lists: Option<bool>,
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
            let ops = self.micro_ops(&event.value, false)?;
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
            let answered = self.micro_ops(&event.value, true)?;
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

    /// The operations that an event lists; `answered`: with what each read found.
    fn micro_ops(&mut self, edn: &Edn, answered: bool) -> Result<Vec<MicroOp>, String> {
        let Edn::List(all) = edn else {
            return Err(format!("a transaction of {}; expected [[:r 1 nil] [:w 2 7]]", shown(edn)));
        };
        let mut ops = Vec::with_capacity(all.len());
        for edn in all {
            let op = micro_op(edn, answered)?;
            let on_lists = match (op.op, &op.held) {
                (Op::StoreAppend, _) | (_, Held::List(_)) => Some(true),
                (Op::StoreWrite, _) | (_, Held::One(_)) => Some(false),
                _ => None,
            };
            if on_lists.is_some_and(|own| *self.on_lists.get_or_insert(own) != own) {
                return Err(format!(
                    "{} in a transaction; expected either lists in all of them, or values",
                    shown(edn)
                ));
            }
            ops.push(op);
        }
        Ok(ops)
    }

    /// All operations, those of each client in order. `initial` is the initial value of every key.
    pub fn records(mut self, initial: &Value) -> Vec<Record> {
        self.done.extend(std::mem::take(&mut self.open).into_values());
        let on_lists = self.on_lists == Some(true);
        if *initial != Value::nil() && !on_lists {
            let first = self.initial_writes(initial);
            self.done.push(first);
        }
        self.done.sort_unstable_by_key(|invoked| invoked.start);
        let most = self.done.iter().map(|invoked| invoked.ops.len()).max().unwrap_or(0) as u64;
        // Leaves enough stamps between two events for all operations of a transaction.
        let scale = 2 * (most + 2);
        self.done.iter().flat_map(|invoked| invoked.records(scale, on_lists)).collect()
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
            held: Held::One(initial.clone()),
        };
        let ops = keys.iter().filter_map(key).map(write).collect();
        Invoked { client, line: 0, ops, start: 0, end: Some(0), outcome: Status::Ok }
    }
}

impl MicroOp {
    /// The part of it that the invocation contains.
    fn invocation(&self) -> (Op, &Value, Option<&Held>) {
        (self.op, &self.key, Some(&self.held).filter(|_| self.op != Op::StoreRead))
    }
}

impl Invoked {
    /// Begin, reads and writes, and end. Begin and end have the stamps of the events; the timeboxes
    /// between have no meaning.
    fn records(&self, scale: u64, on_lists: bool) -> Vec<Record> {
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
            let answered = self.outcome == Status::Ok;
            match (op.op, op.held.clone()) {
                (Op::StoreRead, Held::Unclaimed) => {}
                (Op::StoreRead, _) if !answered => {}
                (Op::StoreRead, Held::List(list)) => {
                    push(Op::StoreReadList, Status::Ok, vec![key], list, None);
                }
                (Op::StoreRead, Held::Nil) if on_lists => {
                    push(Op::StoreReadList, Status::Ok, vec![key], Vec::new(), None);
                }
                (Op::StoreRead, Held::One(value)) => {
                    push(Op::StoreRead, Status::Ok, vec![key], vec![value], None);
                }
                (Op::StoreRead, Held::Nil) => {
                    push(Op::StoreRead, Status::Failed, vec![key], Vec::new(), None);
                }
                (write, Held::One(value)) => {
                    push(write, Status::Ok, vec![key, value], Vec::new(), None);
                }
                _ => unreachable!("one value is written or appended"),
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

fn micro_op(edn: &Edn, answered: bool) -> Result<MicroOp, String> {
    let wrong = || {
        format!(
            "{} in a transaction; expected [:r KEY VALUE], [:w KEY VALUE], [:append KEY VALUE], \
             or the same with :read and :write",
            shown(edn)
        )
    };
    let Edn::List(three) = edn else { return Err(wrong()) };
    let [f, key, held] = three.as_slice() else { return Err(wrong()) };
    let is_nil = held.word() == Some("nil");
    let op = match f.word() {
        Some(":r" | ":read") => Op::StoreRead,
        Some(":w" | ":write") => Op::StoreWrite,
        Some(":append") => Op::StoreAppend,
        _ => return Err(wrong()),
    };
    let held = match (op, held) {
        (Op::StoreRead, _) if !answered => Held::Unclaimed,
        (Op::StoreRead, _) if is_nil && f.word() == Some(":read") => Held::Unclaimed,
        (Op::StoreRead, _) if is_nil => Held::Nil,
        (Op::StoreRead, Edn::List(list)) => {
            Held::List(list.iter().map(value).collect::<Result<_, _>>()?)
        }
        (_, held) if !is_nil => Held::One(value(held)?),
        _ => return Err(wrong()),
    };
    Ok(MicroOp { op, key: value(key)?, held })
}
