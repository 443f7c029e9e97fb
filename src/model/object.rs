//! Calls on the bundled models, and what each call adds, removes or may change.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::Model;
use crate::core::history::OperationId;
use crate::core::operation::{Op, Status};

/// One call with its answer, as a sequential object sees it: without a timebox.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub op: Op,
    pub status: Status,
    pub args: &'a [i64],
    pub results: &'a [i64],
    /// Its thread is the producer of the values that the call adds.
    pub id: OperationId,
    /// For an "empty" answer that concerns one producer's queue only: that producer.
    pub queue: Option<u32>,
}

/// A model that can say which answer it expected.
pub trait Expect<O: Debug>: Model<O> {
    /// The answer that a closed call should have given in `state`.
    fn expected(&self, state: &Self::State, call: &O) -> Expected;

    /// The state that a program of the model knows by this number.
    fn numbered(&self, _state: u32) -> Option<Self::State> {
        None
    }
}

/// The answer that a call should have given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// An answer without a value.
    Status(Status),
    /// This answer, about a key that held the value.
    Held {
        status: Status,
        value: i64,
    },
    /// These values in turn; none of a structure that was empty.
    Values(Vec<i64>),
    /// A list of these keys, which may have none.
    List(Vec<i64>),
    /// Any of the values from the first to the second.
    Between(i64, i64),
    /// Of the model self; [`Status::Pending`] where the call could not be made.
    Answer(Status, Vec<i64>),
    /// One of these: a class has a choice.
    OneOf(Vec<Expected>),
    /// Of a user's model, in its words.
    Text(String),
    EmptyString,
    /// A string that none of the history's gets found.
    OtherString,
}

impl Expected {
    /// The model does not say.
    pub const UNKNOWN: Expected = Expected::Answer(Status::Unknown, Vec::new());
}

impl Expected {
    pub fn value(value: i64) -> Expected {
        Expected::Values(vec![value])
    }
}

impl<'a> Call<'a> {
    /// The values that the call adds to a queue, stack or deque, or may add where it is open.
    pub fn added(&self) -> &'a [i64] {
        added(self.op, self.status, self.args, self.results)
    }

    /// Whether a call with this answer leaves every state unchanged.
    pub fn is_read(&self) -> bool {
        match self.op {
            op if op.only_reads() => true,
            Op::SetInsert | Op::SetRemove | Op::MapInsertIfAbsent | Op::MapRemove => {
                self.status == Status::Failed
            }
            Op::MapCompareExchange | Op::RegisterCompareExchange => self.status == Status::Failed,
            Op::LogAppend | Op::LogAppendBatch | Op::LogAppendLast => self.status == Status::Failed,
            Op::MapPut => false,
            _ => matches!(self.status, Status::Empty | Status::Full | Status::Failed),
        }
    }
}

/// The values that an operation adds to a queue, stack or deque, or may add where it is open.
pub fn added<'a>(op: Op, status: Status, args: &'a [i64], results: &[i64]) -> &'a [i64] {
    match (op, status) {
        (_, Status::Full) => &[],
        (Op::Enqueue | Op::Push | Op::DequePush | Op::PriorityInsert, _) => args,
        // `Thread::push` has checked that a partial count is in range.
        (Op::EnqueueBulk, _) => &args[..results.first().map_or(args.len(), |&n| n as usize)],
        _ => &[],
    }
}

impl Op {
    /// Whether the operation never changes anything.
    pub fn only_reads(self) -> bool {
        use Op::*;
        self.reads_range()
            || self.counts_values()
            || matches!(self, SetContains | MapGet | RegisterRead | CounterRead)
            || matches!(self, LogRead | LogCheckTail | LogReadAll | KvGet | StoreRead)
    }

    /// Whether the operation reads more than one key of a set.
    pub fn reads_range(self) -> bool {
        use Op::*;
        matches!(self, SetRangeCount | SetRank | SetSize | SetSelect | SetRangeList)
    }

    /// Whether the operation adds values to a queue of any kind, a stack or a deque.
    #[inline]
    pub fn adds(self) -> bool {
        use Op::*;
        const ADDS: [bool; 256] = table(&[Enqueue, EnqueueBulk, Push, DequePush, PriorityInsert]);
        ADDS[self.code() as usize]
    }

    /// Whether the operation removes values from a queue of any kind, a stack or a deque.
    #[inline]
    pub fn removes(self) -> bool {
        use Op::*;
        const REMOVES: [bool; 256] =
            table(&[Dequeue, DequeueBulk, Pop, DequeTake, DequeSteal, PriorityPoll]);
        REMOVES[self.code() as usize]
    }
}

/// By code: whether an operation is one of these. A table, because a branch for each of `ops` would
/// slow down the checks of long histories.
const fn table(ops: &[Op]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < ops.len() {
        table[ops[at].code() as usize] = true;
        at += 1;
    }
    table
}

/// Appends the states after a call without an answer that removes up to `most` values, one after
/// the other. `taken` passes on each state after one removal.
pub fn taken_up_to<S: Clone + PartialEq>(
    state: &S,
    most: usize,
    taken: impl Fn(&S, &mut dyn FnMut(S)),
    next: &mut Vec<S>,
) {
    let mut level = vec![state.clone()];
    for _ in 0..most {
        let mut lower: Vec<S> = Vec::new();
        for state in &level {
            taken(state, &mut |after| {
                if !lower.contains(&after) {
                    lower.push(after);
                }
            });
        }
        if lower.is_empty() {
            break;
        }
        next.extend(lower.iter().cloned());
        level = lower;
    }
}

/// Maximum number of values that a removing call may remove.
pub fn removed_max(op: Op, args: &[i64]) -> usize {
    match op {
        Op::DequeueBulk => args[0].max(0) as usize,
        _ => 1,
    }
}
