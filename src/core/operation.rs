//! The operations: what can be called on a structure, with which arguments and answers.
//! Their codes are those of `ffi/interlap.h`; the harness asserts that the two agree.

use serde::{Deserialize, Serialize};

use super::method::{FIRST_CODE, Method};
use super::value::{Type, are};

/// The kind of a structure. Each family has a workload generator and a template for adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    Queue,
    Stack,
    Deque,
    Set,
    Map,
    Register,
    PriorityQueue,
    Counter,
    Log,
    /// Strings under keys; a character is a value.
    Kv,
    /// Transactions.
    Store,
    /// Methods that a target lists, of any meaning.
    Custom,
}

impl Family {
    pub const ALL: [Family; 12] = [
        Family::Queue,
        Family::Stack,
        Family::Deque,
        Family::Set,
        Family::Map,
        Family::Register,
        Family::PriorityQueue,
        Family::Counter,
        Family::Log,
        Family::Kv,
        Family::Store,
        Family::Custom,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Family::Queue => "queue",
            Family::Stack => "stack",
            Family::Deque => "deque",
            Family::Set => "set",
            Family::Map => "map",
            Family::Register => "register",
            Family::PriorityQueue => "priority-queue",
            Family::Counter => "counter",
            Family::Log => "log",
            Family::Kv => "kv",
            Family::Store => "store",
            Family::Custom => "custom",
        }
    }
}

/// The code of [`Op::Described`], which `interlap.h` lacks.
const DESCRIBED: u8 = 0xff;

macro_rules! operations {
    ($($variant:ident = $code:literal, $family:ident, $name:literal;)*) => {
        /// One operation. The discriminant is the `il_op` of `interlap.h`.
        /// Its name in JSON is that of the variant, which is unique across families.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        #[repr(u8)]
        pub enum Op {
            $($variant = $code,)*
            /// An operation of a user's own, which only histories in this process have. Its
            /// arguments are the numbers of its steps in `History::own`, its result that of a text.
            #[serde(skip)]
            Described = DESCRIBED,
            /// A method that a target lists. Its name in JSON is its signature.
            #[serde(untagged)]
            Method(Method) = FIRST_CODE,
        }

        impl Op {
            /// The operations of families.
            pub const ALL: &'static [Op] = &[$(Op::$variant,)*];

            /// The name used in traces, reports and on the command line; unique within a family.
            pub fn name(self) -> &'static str {
                match self {
                    $(Op::$variant => $name,)*
                    Op::Described => "operation",
                    Op::Method(method) => method.name(),
                }
            }

            pub fn family(self) -> Family {
                match self {
                    $(Op::$variant => Family::$family,)*
                    Op::Described | Op::Method(_) => Family::Custom,
                }
            }

            /// The `il_op` code; of every method that of the first.
            #[inline]
            pub const fn code(self) -> u8 {
                match self {
                    $(Op::$variant => $code,)*
                    Op::Described => DESCRIBED,
                    Op::Method(_) => FIRST_CODE,
                }
            }

            /// The operation of a family with this `il_op` code.
            pub fn from_code(code: u32) -> Option<Op> {
                match code { $($code => Some(Op::$variant),)* _ => None }
            }
        }
    };
}

operations! {
    Enqueue = 0x10, Queue, "enqueue";
    Dequeue = 0x11, Queue, "dequeue";
    EnqueueBulk = 0x12, Queue, "enqueue_bulk";
    DequeueBulk = 0x13, Queue, "dequeue_bulk";
    QueueSize = 0x14, Queue, "size";
    QueueEmpty = 0x15, Queue, "empty";
    Push = 0x20, Stack, "push";
    Pop = 0x21, Stack, "pop";
    StackSize = 0x22, Stack, "size";
    StackEmpty = 0x23, Stack, "empty";
    DequePush = 0x30, Deque, "push";
    DequeTake = 0x31, Deque, "take";
    DequeSteal = 0x32, Deque, "steal";
    DequeSize = 0x33, Deque, "size";
    DequeEmpty = 0x34, Deque, "empty";
    SetInsert = 0x40, Set, "insert";
    SetRemove = 0x41, Set, "remove";
    SetContains = 0x42, Set, "contains";
    SetRangeCount = 0x43, Set, "range_count";
    SetRank = 0x44, Set, "rank";
    SetSize = 0x45, Set, "size";
    SetSelect = 0x46, Set, "select";
    SetRangeList = 0x47, Set, "range_list";
    MapGet = 0x50, Map, "get";
    MapPut = 0x51, Map, "put";
    MapInsertIfAbsent = 0x52, Map, "insert_if_absent";
    MapRemove = 0x53, Map, "remove";
    MapCompareExchange = 0x54, Map, "compare_exchange";
    RegisterRead = 0x60, Register, "read";
    RegisterWrite = 0x61, Register, "write";
    RegisterCompareExchange = 0x62, Register, "compare_exchange";
    PriorityInsert = 0x70, PriorityQueue, "insert";
    PriorityPoll = 0x71, PriorityQueue, "poll";
    PrioritySize = 0x72, PriorityQueue, "size";
    PriorityEmpty = 0x73, PriorityQueue, "empty";
    CounterAdd = 0x80, Counter, "add";
    CounterRead = 0x81, Counter, "read";
    LogAppend = 0x90, Log, "append";
    LogRead = 0x91, Log, "read";
    LogCheckTail = 0x92, Log, "check_tail";
    LogAppendBatch = 0x93, Log, "append_batch";
    LogReadAll = 0x94, Log, "read_all";
    LogRestore = 0x95, Log, "restore";
    LogAppendLast = 0x96, Log, "append_last";
    KvGet = 0xa0, Kv, "get";
    KvPut = 0xa1, Kv, "put";
    KvAppend = 0xa2, Kv, "append";
    StoreBegin = 0xb0, Store, "begin";
    StoreRead = 0xb1, Store, "read";
    StoreWrite = 0xb2, Store, "write";
    StoreRemove = 0xb3, Store, "remove";
    StoreCommit = 0xb4, Store, "commit";
    StoreAbort = 0xb5, Store, "abort";
    StoreAppend = 0xb6, Store, "append";
    StoreReadList = 0xb7, Store, "read_list";
}

/// The kind of a call's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Status {
    /// Done, or true.
    Ok = 0,
    /// Nothing to remove.
    Empty = 1,
    /// No room; nothing was added.
    Full = 2,
    /// Had no effect, or false.
    Failed = 3,
    /// Returned without a result: the call may have taken effect, may still do so at any later
    /// time, or never will.
    Unknown = 4,
    /// Took effect in its timebox; whether that changed anything, it does not say.
    Done = 6,
    /// Never returned. Its effect is as open as that of `Unknown`.
    Pending = 255,
}

impl Status {
    /// The status with this `il_status` code; `IL_UNSUPPORTED` is never recorded and has none.
    pub fn from_code(code: u32) -> Option<Status> {
        match code {
            0 => Some(Status::Ok),
            1 => Some(Status::Empty),
            2 => Some(Status::Full),
            3 => Some(Status::Failed),
            4 => Some(Status::Unknown),
            6 => Some(Status::Done),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Empty => "empty",
            Status::Full => "full",
            Status::Failed => "failed",
            Status::Unknown => "unknown",
            Status::Done => "done",
            Status::Pending => "pending",
        }
    }

    pub fn from_name(name: &str) -> Option<Status> {
        use Status::*;
        [Ok, Empty, Full, Failed, Unknown, Done, Pending].into_iter().find(|s| s.name() == name)
    }

    /// Whether the call's effect is open: it may have happened, may happen later, or never will.
    pub fn is_open(self) -> bool {
        matches!(self, Status::Unknown | Status::Pending)
    }
}

/// How many arguments or results are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Exactly(usize),
    Between(usize, usize),
    AtLeast(usize),
    Any,
}

impl Count {
    fn admits(self, n: usize) -> bool {
        match self {
            Count::Exactly(k) => n == k,
            Count::Between(least, most) => (least..=most).contains(&n),
            Count::AtLeast(k) => n >= k,
            Count::Any => true,
        }
    }
}

impl Op {
    /// The operation of this family with this name.
    pub fn from_name(family: Family, name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.family() == family && op.name() == name)
    }

    /// Whether the operation occurs only in histories of other tools: `interlap.h` lacks it, so no
    /// adapter can offer it.
    pub fn is_foreign(self) -> bool {
        self.is_of_streams() || self.is_of_lists()
    }

    /// Whether only transactions on lists have the operation: values are appended, and a read
    /// answers all that lie under its key (Elle's list-append).
    pub fn is_of_lists(self) -> bool {
        matches!(self, Op::StoreAppend | Op::StoreReadList)
    }

    /// Whether only streams have the operation: logs with conditional appends of batches, and with
    /// reads of the whole log (see `model::Stream`).
    pub fn is_of_streams(self) -> bool {
        use Op::{LogAppendBatch, LogAppendLast, LogReadAll, LogRestore};
        matches!(self, LogAppendBatch | LogAppendLast | LogReadAll | LogRestore)
    }

    fn arguments(self) -> Count {
        match self {
            op if op.counts_values() => Count::Exactly(0),
            Op::Method(_) => Count::Any,
            Op::Dequeue | Op::Pop | Op::DequeTake | Op::DequeSteal | Op::PriorityPoll => {
                Count::Exactly(0)
            }
            Op::RegisterRead | Op::SetSize | Op::CounterRead | Op::LogCheckTail => {
                Count::Exactly(0)
            }
            Op::StoreAbort | Op::LogReadAll => Count::Exactly(0),
            // A timestamp.
            Op::StoreBegin | Op::StoreCommit => Count::Between(0, 1),
            // Tail, hash and token.
            Op::LogRestore => Count::Exactly(3),
            // Three conditions, then the records; or how many, and the last one.
            Op::LogAppendBatch => Count::AtLeast(3),
            Op::LogAppendLast => Count::Exactly(5),
            Op::EnqueueBulk => Count::Any,
            Op::KvPut | Op::KvAppend => Count::AtLeast(1),
            // Its steps.
            Op::Described => Count::Any,
            Op::SetRangeCount | Op::SetRangeList | Op::StoreWrite | Op::StoreAppend => {
                Count::Exactly(2)
            }
            Op::MapPut | Op::MapInsertIfAbsent | Op::RegisterCompareExchange => Count::Exactly(2),
            Op::MapCompareExchange => Count::Exactly(3),
            _ => Count::Exactly(1),
        }
    }

    /// The answers that `interlap.h` allows: each status with its number of results.
    fn answers(self) -> &'static [(Status, Count)] {
        use Count::*;
        match self {
            Op::Enqueue | Op::Push | Op::DequePush | Op::PriorityInsert => {
                &[(Status::Ok, Exactly(0)), (Status::Full, Exactly(0))]
            }
            Op::Dequeue | Op::Pop | Op::DequeTake | Op::DequeSteal | Op::PriorityPoll => {
                &[(Status::Ok, Exactly(1)), (Status::Empty, Exactly(0))]
            }
            Op::EnqueueBulk => &[(Status::Ok, Between(0, 1)), (Status::Full, Exactly(0))],
            Op::DequeueBulk => {
                &[(Status::Ok, Any), (Status::Empty, Exactly(0)), (Status::Failed, Exactly(0))]
            }
            Op::QueueSize | Op::StackSize | Op::DequeSize | Op::PrioritySize => {
                &[(Status::Ok, Exactly(1))]
            }
            Op::QueueEmpty | Op::StackEmpty | Op::DequeEmpty | Op::PriorityEmpty => {
                &[(Status::Ok, Exactly(0)), (Status::Failed, Exactly(0))]
            }
            Op::SetInsert | Op::SetRemove => &[
                (Status::Ok, Exactly(0)),
                (Status::Failed, Exactly(0)),
                (Status::Done, Exactly(0)),
            ],
            Op::SetContains => &[(Status::Ok, Exactly(0)), (Status::Failed, Exactly(0))],
            Op::MapGet => &[(Status::Ok, Exactly(1)), (Status::Failed, Exactly(0))],
            Op::MapPut => &[(Status::Ok, Between(0, 1)), (Status::Failed, Exactly(0))],
            Op::MapRemove => &[
                (Status::Ok, Between(0, 1)),
                (Status::Failed, Exactly(0)),
                (Status::Done, Exactly(0)),
            ],
            Op::MapInsertIfAbsent | Op::MapCompareExchange | Op::RegisterCompareExchange => {
                &[(Status::Ok, Exactly(0)), (Status::Failed, Between(0, 1))]
            }
            Op::RegisterRead => &[(Status::Ok, Exactly(1))],
            Op::RegisterWrite | Op::CounterAdd => &[(Status::Ok, Between(0, 1))],
            Op::SetRangeCount | Op::SetRank | Op::SetSize => &[(Status::Ok, Exactly(1))],
            Op::SetSelect | Op::StoreRead => {
                &[(Status::Ok, Exactly(1)), (Status::Failed, Exactly(0))]
            }
            Op::SetRangeList | Op::KvGet | Op::StoreReadList => &[(Status::Ok, Any)],
            Op::CounterRead | Op::LogCheckTail => &[(Status::Ok, Exactly(1))],
            Op::LogAppend => &[(Status::Ok, Exactly(1)), (Status::Failed, Exactly(0))],
            Op::LogRead => &[(Status::Ok, Exactly(1)), (Status::Empty, Exactly(0))],
            Op::LogAppendBatch | Op::LogAppendLast => {
                &[(Status::Ok, Exactly(1)), (Status::Failed, Exactly(0))]
            }
            // The tail, and the hash where it is known.
            Op::LogReadAll => &[(Status::Ok, Between(1, 2))],
            Op::LogRestore => &[(Status::Ok, Exactly(0))],
            Op::KvPut | Op::KvAppend | Op::StoreAbort => &[(Status::Ok, Exactly(0))],
            Op::StoreBegin => &[(Status::Ok, Between(0, 1))],
            Op::StoreWrite | Op::StoreAppend => {
                &[(Status::Ok, Exactly(0)), (Status::Failed, Exactly(0))]
            }
            Op::StoreCommit => &[(Status::Ok, Between(0, 1)), (Status::Failed, Exactly(0))],
            Op::Described => &[(Status::Ok, Between(0, 1))],
            // A result, or the type of an exception.
            Op::Method(_) => &[(Status::Ok, Any), (Status::Failed, Any)],
            Op::StoreRemove => &[
                (Status::Ok, Exactly(0)),
                (Status::Empty, Exactly(0)),
                (Status::Failed, Exactly(0)),
            ],
        }
    }

    /// Whether the operation says how many values a queue, stack or deque holds, or whether any.
    pub fn counts_values(self) -> bool {
        use Op::*;
        matches!(self, QueueSize | StackSize | DequeSize | PrioritySize)
            || matches!(self, QueueEmpty | StackEmpty | DequeEmpty | PriorityEmpty)
    }

    /// Whether an answer says only how many values are inside, or that they are too few.
    #[inline]
    pub fn says_count(self, status: Status) -> bool {
        let is_too_few = (self == Op::DequeueBulk) & (status == Status::Failed);
        is_too_few || self.counts_values() && !status.is_open()
    }

    /// Whether the operation answers with a bool.
    pub fn is_question(self) -> bool {
        use Op::*;
        matches!(self, SetInsert | SetRemove | SetContains | MapInsertIfAbsent | MapRemove)
            || matches!(self, QueueEmpty | StackEmpty | DequeEmpty | PriorityEmpty)
            || matches!(self, MapCompareExchange | RegisterCompareExchange)
    }

    /// The words for a status without results: "true" for a set's `contains`, "absent" for a map's
    /// `get`.
    pub fn answer_word(self, status: Status) -> &'static str {
        use Op::*;
        match (status, self) {
            (Status::Ok, _) if self.is_question() => "true",
            (Status::Failed, _) if self.is_question() => "false",
            (Status::Ok, Described) => "",
            (Status::Ok, KvGet) => "the empty string",
            (Status::Ok, SetRangeList | DequeueBulk | StoreReadList) => "nothing",
            (Status::Failed, MapGet | StoreRead | SetSelect) => "absent",
            (Status::Failed, MapPut) => "was absent",
            (Status::Failed, DequeueBulk) => "too few inside",
            (Status::Failed, Method(_)) => "exception",
            (Status::Empty, StoreRemove) => "absent",
            (Status::Empty, LogRead) => "nothing yet",
            (Status::Pending, _) => "never returned",
            (status, _) => status.name(),
        }
    }

    /// Checks the number of arguments and results. An operation whose outcome is open has no
    /// results.
    pub fn validate(self, args: &[i64], status: Status, results: &[i64]) -> Result<(), String> {
        if !self.arguments().admits(args.len()) {
            return Err(format!("{} with {} arguments", self.name(), args.len()));
        }
        if let Op::Method(method) = self
            && !are(method.arguments(), args)
        {
            return Err(format!("{} with other arguments", method.text()));
        }
        if status.is_open() {
            return match results.len() {
                0 => Ok(()),
                n => Err(format!("{} answered {} with {n} results", self.name(), status.name())),
            };
        }
        let Some((_, count)) = self.answers().iter().find(|(s, _)| *s == status) else {
            return Err(format!("{} answered {}", self.name(), status.name()));
        };
        if !count.admits(results.len()) {
            let (name, n) = (self.name(), results.len());
            return Err(format!("{name} answered {} with {n} results", status.name()));
        }
        match self {
            Op::Method(method) => match status {
                Status::Failed if are(&[Type::String], results) => Ok(()),
                Status::Ok if are(std::slice::from_ref(method.result()), results) => Ok(()),
                _ => Err(format!("{} answered what is no such result", method.text())),
            },
            Op::DequeueBulk if status == Status::Ok && results.is_empty() && args[0] > 0 => {
                Err("dequeue_bulk answered ok with no value".to_string())
            }
            Op::DequeueBulk if status == Status::Ok && results.len() as i64 > args[0] => {
                let (n, most) = (results.len(), args[0]);
                Err(format!("dequeue_bulk answered {n} values where at most {most} were asked for"))
            }
            Op::EnqueueBulk if results.iter().any(|&n| n < 0 || n > args.len() as i64) => {
                Err(format!("enqueue_bulk of {} values answered {} added", args.len(), results[0]))
            }
            _ => Ok(()),
        }
    }
}

/// Operations of families as their codes, and methods as their signatures.
pub mod coded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::{Method, Op};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Coded {
        Code(u8),
        Method(Method),
    }

    pub fn serialize<S: Serializer>(ops: &[Op], serializer: S) -> Result<S::Ok, S::Error> {
        let coded = ops.iter().map(|op| match op {
            Op::Method(method) => Coded::Method(*method),
            op => Coded::Code(op.code()),
        });
        coded.collect::<Vec<Coded>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Op>, D::Error> {
        let coded = Vec::<Coded>::deserialize(deserializer)?;
        let ops = coded.into_iter().map(|coded| match coded {
            Coded::Method(method) => Ok(Op::Method(method)),
            Coded::Code(code) => Op::from_code(code.into())
                .ok_or_else(|| D::Error::custom(format!("no operation has the code {code:#x}"))),
        });
        ops.collect()
    }
}

/// Longer lists of values are shown with the first and the last few.
const LISTED_MAX: usize = 12;
const LISTED_LAST: usize = 3;

/// "1, 2, 3"; if there are many, "1, 2, 3, 4, 5, 6, 7, 8, …, 62, 63, 64 (64 in all)".
pub fn listed<T: ToString>(values: impl ExactSizeIterator<Item = T>) -> String {
    listed_within(values, LISTED_MAX, LISTED_LAST)
}

/// "1, 2, 3"; if there are many, "1, 2, 3, 4, …, 64 (64 in all)".
pub fn listed_briefly<T: ToString>(values: impl ExactSizeIterator<Item = T>) -> String {
    listed_within(values, 6, 1)
}

fn listed_within<T: ToString>(
    values: impl ExactSizeIterator<Item = T>,
    most: usize,
    last: usize,
) -> String {
    let count = values.len();
    let first = if count > most { most - last - 1 } else { count };
    let mut words = Vec::new();
    for (at, value) in values.enumerate() {
        if at < first || at + last >= count {
            words.push(value.to_string());
        } else if at == first {
            words.push("…".to_string());
        }
    }
    let all = if count > most { format!(" ({count} in all)") } else { String::new() };
    words.join(", ") + &all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_shows_its_first_and_last_values() {
        let list = |count: i64| listed((1..=count).collect::<Vec<_>>().iter());
        assert_eq!([list(0), list(1), list(3)], ["", "1", "1, 2, 3"]);
        assert_eq!(list(12), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12");
        assert_eq!(list(64), "1, 2, 3, 4, 5, 6, 7, 8, …, 62, 63, 64 (64 in all)");
        let brief = |count: i64| listed_briefly((1..=count).collect::<Vec<_>>().iter());
        assert_eq!([&brief(6)[..], &brief(7)], ["1, 2, 3, 4, 5, 6", "1, 2, 3, 4, …, 7 (7 in all)"]);
    }

    /// `contains(7) -> failed` would be read as a call that went wrong.
    #[test]
    fn answers_read_as_the_methods_give_them() {
        let said = |op: Op, status| op.answer_word(status);
        assert_eq!(said(Op::SetContains, Status::Ok), "true");
        assert_eq!(said(Op::MapRemove, Status::Failed), "false");
        assert_eq!(said(Op::MapGet, Status::Failed), "absent");
        assert_eq!(said(Op::KvGet, Status::Ok), "the empty string");
        assert_eq!(said(Op::Enqueue, Status::Full), "full");
        assert_eq!(said(Op::StoreCommit, Status::Failed), "failed");
        // The same words for two statuses of one operation would hide which it was.
        for &op in Op::ALL {
            let statuses = op.answers().iter().map(|(status, _)| *status);
            let statuses = statuses.chain([Status::Unknown, Status::Pending]);
            let words: Vec<&str> = statuses.map(|status| op.answer_word(status)).collect();
            let different: std::collections::BTreeSet<&&str> = words.iter().collect();
            assert_eq!(different.len(), words.len(), "{op:?}: {words:?}");
        }
    }

    #[test]
    fn codes_and_names_are_unique_and_round_trip() {
        for &op in Op::ALL {
            assert_eq!(Op::from_code(op.code().into()), Some(op));
            assert_eq!(Op::from_name(op.family(), op.name()), Some(op));
        }
        assert_eq!(Op::from_code(0), None);
    }

    #[test]
    fn calls_are_validated_as_the_header_says() {
        assert!(Op::Dequeue.validate(&[], Status::Ok, &[7]).is_ok());
        assert!(Op::Dequeue.validate(&[], Status::Unknown, &[]).is_ok());
        assert!(Op::Dequeue.validate(&[], Status::Ok, &[]).is_err());
        assert!(Op::Dequeue.validate(&[], Status::Failed, &[]).is_err());
        assert!(Op::DequeueBulk.validate(&[2], Status::Ok, &[1, 2, 3]).is_err());
        assert!(Op::DequeueBulk.validate(&[2], Status::Ok, &[]).is_err());
        assert!(Op::DequeueBulk.validate(&[0], Status::Ok, &[]).is_ok());
        assert!(Op::EnqueueBulk.validate(&[1, 2], Status::Ok, &[3]).is_err());
        assert!(Op::MapPut.validate(&[1], Status::Ok, &[]).is_err());
    }
}
