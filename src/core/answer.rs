//! Kinds of answers: how a call went, whatever its values.

use serde::{Deserialize, Serialize};

use super::history::{Operation, Thread};
use super::operation::{Op, Status};

/// A kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum AnswerKind {
    /// Done, or true; for bulk calls: with all values.
    Done = 0,
    /// For bulk calls: with fewer values than requested.
    Part = 1,
    /// Nothing was inside; of a listed method: false, or none.
    Empty = 2,
    Full = 3,
    /// Had no effect, or false.
    Failed = 4,
    Unknown = 5,
    /// Never returned.
    Pending = 6,
    /// Took effect, and does not say whether that changed anything.
    Unsaid = 7,
}

impl AnswerKind {
    pub const ALL: [AnswerKind; 8] = [
        AnswerKind::Done,
        AnswerKind::Part,
        AnswerKind::Empty,
        AnswerKind::Full,
        AnswerKind::Failed,
        AnswerKind::Unknown,
        AnswerKind::Pending,
        AnswerKind::Unsaid,
    ];

    #[inline]
    pub fn classify(thread: &Thread, operation: &Operation) -> AnswerKind {
        match operation.status {
            Status::Ok if is_partial(thread, operation) => AnswerKind::Part,
            Status::Ok if says_no(thread, operation) => AnswerKind::Empty,
            Status::Ok => AnswerKind::Done,
            Status::Empty => AnswerKind::Empty,
            Status::Full => AnswerKind::Full,
            Status::Failed => AnswerKind::Failed,
            Status::Unknown => AnswerKind::Unknown,
            Status::Pending => AnswerKind::Pending,
            Status::Done => AnswerKind::Unsaid,
        }
    }

    /// The words for people: "a value", "false", "full".
    pub fn words(self, op: Op) -> &'static str {
        use Op::*;
        match (self, op) {
            (AnswerKind::Unknown, _) => op.answer_word(Status::Unknown),
            (AnswerKind::Pending, _) => op.answer_word(Status::Pending),
            (AnswerKind::Empty, Method(method)) => method.answer_words(false),
            (AnswerKind::Empty, _) => op.answer_word(Status::Empty),
            (AnswerKind::Full, _) => op.answer_word(Status::Full),
            (AnswerKind::Failed, _) => op.answer_word(Status::Failed),
            (AnswerKind::Unsaid, _) => op.answer_word(Status::Done),
            (AnswerKind::Done, Method(method)) => method.answer_words(true),
            (AnswerKind::Part, EnqueueBulk) => "some of them",
            (AnswerKind::Part, _) => "fewer than asked for",
            (AnswerKind::Done, EnqueueBulk) => "all of them",
            (AnswerKind::Done, DequeueBulk) => "as many as asked for",
            (AnswerKind::Done, _) if op.is_question() => op.answer_word(Status::Ok),
            (AnswerKind::Done, MapGet | StoreRead | LogRead | RegisterRead) => "a value",
            (AnswerKind::Done, SetSelect) => "a key",
            (AnswerKind::Done, _) if op.removes() => "a value",
            (AnswerKind::Done, SetSize | SetRank | SetRangeCount | CounterRead) => "a number",
            (AnswerKind::Done, LogAppend | LogCheckTail) => "a position",
            (AnswerKind::Done, SetRangeList | LogReadAll) => "a list",
            (AnswerKind::Done, KvGet) => "a string",
            (AnswerKind::Done, _) => "ok",
        }
    }
}

/// Whether a listed method answered false, or none.
#[inline]
fn says_no(thread: &Thread, operation: &Operation) -> bool {
    match operation.op {
        Op::Method(method) => method.may_say_no() && thread.results(operation).first() == Some(&0),
        _ => false,
    }
}

/// Whether a bulk call added or removed fewer values than requested.
#[inline]
fn is_partial(thread: &Thread, operation: &Operation) -> bool {
    match operation.op {
        Op::EnqueueBulk => match thread.results(operation) {
            [added] => *added < thread.args(operation).len() as i64,
            _ => false,
        },
        Op::DequeueBulk => (thread.results(operation).len() as i64) < thread.args(operation)[0],
        _ => false,
    }
}
