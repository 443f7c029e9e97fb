//! Histories: for each thread, its operations with their timeboxes and answers.
//! A trace or another tool's file is decoded into one; checkers, reports and the page read it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::annotations::Annotations;
use super::operation::{Op, Status};
use super::operation_set::Ops;
use super::own::Own;
use super::sequential_runs::SequentialRuns;

/// End stamp of an operation that never returned.
pub const NEVER: u64 = u64::MAX;
/// End stamp of an operation that returned at an instant that was not recorded, until
/// [`History::settle`] gives it one.
pub const LATE: u64 = NEVER - 1;

/// One operation, in 32 bytes. A single argument or result is stored inline; several values are
/// stored in the value pool of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Stamp at which the timebox opened. The unit is the recorder's; only the order counts.
    pub start: u64,
    /// Stamp at which the timebox closed; [`NEVER`] where the effect is open (pending, unknown).
    pub end: u64,
    /// The only value, or the index in the pool at which several values begin.
    value: i64,
    arg_count: u16,
    result_count: u16,
    pub op: Op,
    pub status: Status,
}

impl Operation {
    /// The only argument or result. Without meaning where the operation has none or several.
    #[inline]
    pub fn lone_value(&self) -> i64 {
        self.value
    }
}

/// Identifies an operation of a history: index of the thread, index within the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OperationId {
    pub thread: u32,
    pub index: u32,
}

/// The operations of one sequential client, oldest first.
///
/// Invariants, held by [`Thread::push`]: `start <= end`, each start is greater than the end before
/// it (strictly: program order must show in the stamps), and only the last operation is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    /// Number of the client that made the calls, as users know it. Several `Thread`s may share it:
    /// after an operation of unknown outcome a client continues as a new sequential thread, and
    /// calls that share a timebox are in a thread each, in program order.
    pub client: u32,
    operations: Vec<Operation>,
    values: Vec<i64>,
    /// The operations that occur in it.
    ops: Ops,
}

/// Why an operation cannot follow the ones before it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// The operation does not take these arguments, or cannot give this answer.
    #[error("{0}")]
    Shape(String),
    /// Its timebox contradicts the program order of the thread.
    #[error("{0}")]
    Order(String),
}

/// What every thread did in one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub threads: Vec<Thread>,
    /// Whether one thread removed everything at the end, after all other calls had returned, until
    /// the structure answered empty. A value that was added and never removed is then lost.
    pub drained: bool,
    /// At the end no thread could go on, so calls without a response wait for ever.
    pub waits: bool,
    /// What the structure, or a class beside it, answers to these calls one at a time, where that
    /// is the model.
    pub runs: Option<Arc<SequentialRuns>>,
    /// The model of its operations, where these are a user's own.
    pub own: Option<Arc<Own>>,
    /// What is said besides the operations.
    pub annotations: Option<Arc<Annotations>>,
    /// The client that ran alone: it created the structure, and drained it at the end.
    pub drain: Option<u32>,
}

/// The unit in which people are shown stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Units per stamp.
    pub factor: f64,
    pub name: &'static str,
    /// Stamps are shown as they are, because other outputs have the same numbers: the steps of a
    /// schedule. Otherwise they count from the first one that is shown.
    pub is_absolute: bool,
}

/// A call and its answer, before it is stored.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub op: Op,
    pub status: Status,
    pub start: u64,
    /// Ignored where `status` is open.
    pub end: u64,
    pub args: &'a [i64],
    pub results: &'a [i64],
}

impl Thread {
    pub fn new(client: u32) -> Thread {
        Thread { client, ..Thread::default() }
    }

    /// Empties it for a client, and keeps its memory.
    pub fn restart(&mut self, client: u32) {
        self.client = client;
        self.operations.clear();
        self.values.clear();
        self.ops = Ops::default();
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The operations that occur in the thread.
    pub fn ops(&self) -> Ops {
        self.ops
    }

    pub fn args<'a>(&'a self, operation: &'a Operation) -> &'a [i64] {
        &self.values(operation)[..operation.arg_count as usize]
    }

    pub fn results<'a>(&'a self, operation: &'a Operation) -> &'a [i64] {
        &self.values(operation)[operation.arg_count as usize..]
    }

    fn entry<'a>(&'a self, operation: &'a Operation) -> Entry<'a> {
        let Operation { op, status, start, end, .. } = *operation;
        Entry {
            op,
            status,
            start,
            end,
            args: self.args(operation),
            results: self.results(operation),
        }
    }

    /// The operations with their values.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.operations.iter().map(|operation| self.entry(operation))
    }

    /// Arguments, then results.
    fn values<'a>(&'a self, operation: &'a Operation) -> &'a [i64] {
        match operation.arg_count as usize + operation.result_count as usize {
            0 => &[],
            1 => std::slice::from_ref(&operation.value),
            count => &self.values[operation.value as usize..][..count],
        }
    }

    /// Reserves memory for this many more operations.
    pub fn reserve(&mut self, operations: usize) {
        self.operations.reserve_exact(operations);
    }

    /// Whether no further operation can follow, because the last one's effect is open.
    pub fn is_retired(&self) -> bool {
        self.operations.last().is_some_and(|last| last.end == NEVER)
    }

    /// Appends the client's next operation, or says why it cannot follow. A bulk dequeue of no
    /// values that answers "empty" says nothing about the queue, so it is stored as "ok".
    pub fn push(&mut self, mut entry: Entry) -> Result<(), Misfit> {
        // None was asked for, and none was got.
        let got_none = matches!(entry.status, Status::Empty | Status::Failed);
        if entry.op == Op::DequeueBulk && entry.args == [0] && got_none {
            entry.status = Status::Ok;
        }
        entry.op.validate(entry.args, entry.status, entry.results).map_err(Misfit::Shape)?;
        let end = if entry.status.is_open() { NEVER } else { entry.end };
        if entry.start > end || (end == NEVER && !entry.status.is_open()) {
            let (start, end) = (entry.start, entry.end);
            return Err(Misfit::Order(format!("box [{start}, {end}] ends before it starts")));
        }
        if let Some(last) = self.operations.last() {
            if last.end == NEVER {
                let text = "an operation after one whose outcome is open";
                return Err(Misfit::Order(text.to_string()));
            }
            if entry.start <= last.end {
                let (start, end) = (entry.start, last.end);
                let text = format!("starts at {start}, not after the end {end} of the one before");
                return Err(Misfit::Order(text));
            }
        }
        let count = |values: &[i64]| {
            u16::try_from(values.len())
                .map_err(|_| Misfit::Shape("more than 65,535 values in a call".to_string()))
        };
        let operation = Operation {
            start: entry.start,
            end,
            value: 0,
            arg_count: count(entry.args)?,
            result_count: count(entry.results)?,
            op: entry.op,
            status: entry.status,
        };
        let operation = Operation { value: self.keep_values(&entry), ..operation };
        self.operations.push(operation);
        self.ops.insert(entry.op);
        Ok(())
    }
}

impl Thread {
    /// Stores several values of an entry in the pool. Returns the operation's `value`.
    fn keep_values(&mut self, entry: &Entry) -> i64 {
        match (entry.args, entry.results) {
            ([], []) => 0,
            ([value], []) | ([], [value]) => *value,
            (args, results) => {
                let at = self.values.len();
                self.values.extend_from_slice(args);
                self.values.extend_from_slice(results);
                at as i64
            }
        }
    }
}

impl History {
    /// Gives operations that returned at unknown instants an end after all stamps: whatever the
    /// instant was, no recorded operation began later.
    pub fn settle(&mut self) {
        let is_late = |thread: &Thread| thread.operations.last().is_some_and(|o| o.end == LATE);
        if !self.threads.iter().any(is_late) {
            return;
        }
        let last = |thread: &Thread| {
            let last = thread.operations.last()?;
            Some(if last.end < LATE { last.end } else { last.start })
        };
        let end = self.threads.iter().filter_map(last).max().map_or(0, |last| last + 1);
        for thread in self.threads.iter_mut().filter(|thread| is_late(thread)) {
            thread.operations.last_mut().expect("it has one").end = end;
        }
    }

    /// Whether calls of one client share a timebox.
    pub fn has_blocks(&self) -> bool {
        let mut before = None;
        let firsts =
            self.threads.iter().filter_map(|own| Some((own.client, own.operations.first()?)));
        firsts.into_iter().any(|(client, first)| {
            // A client that goes on after an operation of unknown outcome begins a thread, too.
            let this = (client, first.start);
            before
                .replace((this, first.end))
                .is_some_and(|(other, end)| other == this && end != NEVER)
        })
    }

    /// The clients, in the order of their numbers.
    pub fn clients(&self) -> Vec<u32> {
        let mut clients: Vec<u32> = self.threads.iter().map(|thread| thread.client).collect();
        clients.sort_unstable();
        clients.dedup();
        clients
    }

    /// The client's operations in program order.
    pub fn program_order(&self, client: u32) -> Vec<OperationId> {
        let threads = (0..).zip(&self.threads).filter(|(_, own)| own.client == client);
        let of_thread = |(thread, own): (u32, &Thread)| {
            (0..own.operations.len() as u32).map(move |index| OperationId { thread, index })
        };
        let mut ids: Vec<OperationId> = threads.flat_map(of_thread).collect();
        // Stable: of calls that share a timebox the first is in the first thread.
        ids.sort_by_key(|id| self.operation(*id).start);
        ids
    }

    /// Appends `entry` to `client`'s operations, or says why it cannot follow. A client whose last
    /// operation is open continues as a new thread.
    pub fn push(&mut self, client: u32, entry: Entry) -> Result<(), Misfit> {
        let open = |thread: &Thread| thread.client == client && !thread.is_retired();
        let at = match self.threads.iter().position(open) {
            Some(at) => at,
            None => {
                self.threads.push(Thread::new(client));
                self.threads.len() - 1
            }
        };
        self.threads[at].push(entry)
    }

    /// As [`History::push`], where the operation shares the timebox of the client's one before.
    pub fn push_shared(&mut self, client: u32, entry: Entry) -> Result<(), Misfit> {
        let start = |thread: &Thread| thread.operations.last().map(|last| last.start);
        let is_before =
            |thread: &Thread| thread.client == client && start(thread) == Some(entry.start);
        let Some(before) = self.threads.iter().rposition(is_before) else {
            let text = "shares no timebox with the operation before";
            return Err(Misfit::Order(text.to_string()));
        };
        let is_free = |thread: &Thread| thread.client == client && !thread.is_retired();
        let free = self.threads[before + 1..].iter().position(is_free);
        let at = free.map_or_else(
            || {
                self.threads.insert(before + 1, Thread::new(client));
                before + 1
            },
            |free| before + 1 + free,
        );
        self.threads[at].push(entry)
    }

    /// Appends a later part of the same round, client by client.
    pub fn append(&mut self, later: History) -> Result<(), Misfit> {
        self.drain = self.drain.or(later.drain);
        for thread in later.threads {
            let own = |own: &&mut Thread| own.client == thread.client && !own.is_retired();
            match self.threads.iter_mut().rfind(own) {
                Some(own) if own.operations.is_empty() => *own = thread,
                Some(own) => {
                    own.reserve(thread.operations.len());
                    thread.entries().try_for_each(|entry| own.push(entry))?;
                }
                None => self.threads.push(thread),
            }
        }
        Ok(())
    }

    /// A history with the same settings, no operations and no annotations.
    pub fn without_threads(&self) -> History {
        let History { drained, waits, drain, .. } = *self;
        let (runs, own) = (self.runs.clone(), self.own.clone());
        History { threads: Vec::new(), drained, waits, drain, runs, own, annotations: None }
    }

    /// The name of the operation's client for people: "thread 2", or "drain".
    pub fn client_name(&self, id: OperationId) -> String {
        self.name_of(self.threads[id.thread as usize].client)
    }

    /// What is said of an operation.
    pub fn notes(&self, id: OperationId) -> &[String] {
        let notes = self.annotations.as_ref().and_then(|of| of.of_operations.get(&id));
        notes.map_or(&[], Vec::as_slice)
    }

    /// The name of a client for people.
    pub fn name_of(&self, client: u32) -> String {
        match self.own {
            Some(_) => format!("client {client}"),
            None => client_name(client, self.drain),
        }
    }

    pub fn len(&self) -> usize {
        self.threads.iter().map(|thread| thread.operations.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has such an operation.
    pub fn has(&self, id: OperationId) -> bool {
        let thread = self.threads.get(id.thread as usize);
        thread.is_some_and(|thread| (id.index as usize) < thread.operations.len())
    }

    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.threads[id.thread as usize].operations[id.index as usize]
    }

    /// Whether the call answered that nothing was done, as it may at any time.
    pub fn is_spurious(&self, id: OperationId) -> bool {
        let Operation { op, status, .. } = self.operation(id);
        let Op::Method(method) = op else { return false };
        *status == Status::Ok && method.spurious() == Some(self.results(id))
    }

    /// Whether the call answered "ok".
    pub fn is_done(&self, id: OperationId) -> bool {
        self.operation(id).status == Status::Ok
    }

    pub fn args(&self, id: OperationId) -> &[i64] {
        self.threads[id.thread as usize].args(self.operation(id))
    }

    pub fn results(&self, id: OperationId) -> &[i64] {
        self.threads[id.thread as usize].results(self.operation(id))
    }

    /// The history of these operations alone.
    pub fn only(&self, ids: &[OperationId]) -> History {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let mut only = self.without_threads();
        let threads = self.threads.iter().map(|thread| Thread::new(thread.client));
        only.threads.extend(threads);
        for id in ids {
            let entry = self.entry(id);
            let pushed = only.threads[id.thread as usize].push(entry);
            pushed.expect("their order is that of this history");
        }
        only
    }

    /// An operation with its values.
    pub fn entry(&self, id: OperationId) -> Entry<'_> {
        self.threads[id.thread as usize].entry(self.operation(id))
    }

    /// The id of every operation, thread by thread.
    pub fn ids(&self) -> impl Iterator<Item = OperationId> + '_ {
        self.threads.iter().enumerate().flat_map(|(thread, t)| {
            (0..t.operations.len() as u32)
                .map(move |index| OperationId { thread: thread as u32, index })
        })
    }
}

/// "thread 2", or "drain" for the client of that number.
pub fn client_name(client: u32, drain: Option<u32>) -> String {
    if drain == Some(client) { "drain".to_string() } else { format!("thread {client}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enqueue(start: u64, end: u64, status: Status) -> Entry<'static> {
        Entry { op: Op::Enqueue, status, start, end, args: &[7], results: &[] }
    }

    #[test]
    fn an_operation_is_32_bytes() {
        assert_eq!(std::mem::size_of::<Operation>(), 32);
    }

    #[test]
    fn stamps_of_one_thread_strictly_increase() {
        let mut history = History::default();
        history.push(3, enqueue(1, 4, Status::Ok)).expect("first");
        assert!(history.push(3, enqueue(4, 5, Status::Ok)).is_err());
        assert!(history.push(3, enqueue(6, 5, Status::Ok)).is_err());
        history.push(3, enqueue(5, 5, Status::Ok)).expect("a box may be one instant");
        assert_eq!(history.len(), 2);
    }

    #[test]
    fn a_client_continues_as_a_new_thread_after_an_open_operation() {
        let mut history = History::default();
        history.push(3, enqueue(1, 4, Status::Unknown)).expect("unknown");
        history.push(3, enqueue(5, 6, Status::Ok)).expect("the client continues");
        assert_eq!(history.threads.len(), 2);
        assert_eq!(history.threads[0].operations()[0].end, NEVER);
        assert_eq!(history.threads[1].client, 3);
    }
}
