//! The layout of the record area: the shared memory into which a harness records.
//! It is a memory file that the harness maps and the main program reads as a file. So the records
//! survive the harness, also if a signal, `_exit` or the kernel ends it.
//!
//! ```text
//! word 0 magic   1 stage   2 round   3 threads   4 signal   5 code   6 address   7 program counter
//! word 8 faulting thread (or NO_THREAD)   9 bytes in the outbox   10 part of the round
//! word 11 not 0: the process had grown so much that its death may not be the target's fault
//! word 12 why the harness had to end: a number of `Ended`, or 0
//! word 13 how many threads were asked for their stacks   14 how many have answered
//! word 15 checksum of the outbox: a packed [`Seal`]
//! word 64 + 16t   offset of thread t's records in the file     65 + 16t   bytes recorded so far
//! word 66 + 16t   raised as thread t goes into the target's enter and leave, and out of them
//! word 67 + 16t   when asked: 1 it runs, 2 it waits, else the address of the futex it waits for
//! word 68 + 16t   checksum of the complete records so far: a packed [`Seal`]
//! word 69 + 16t   when asked: addresses in the target's code on its stack, the innermost first
//! word 1104      addresses in the target's code on the stack of a fatal signal, or of the throw
//!                that led to it, the innermost first
//! word 1120      the mangled type of the exception that ended the process
//! word 1152      its text
//! byte 12288     the outbox: frames of finished rounds that are not on the pipe yet
//! ```
//! Words are 64-bit little endian. Thread `threads` is the one that drains. The words of different
//! threads are on different cache lines: otherwise every recorded call would wait, inside its
//! timebox, for the line to arrive from another processor.

use crate::core::method::Methods;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::records::{Reader, Seal};

pub const MAGIC: u64 = u64::from_le_bytes(*b"interlap");
/// Maximum number of threads of a round.
pub const THREADS_MAX: usize = crate::schedule::THREADS_MAX;
pub const HEADER_BYTES: usize = 12288;
/// Bytes for frames behind the header.
pub const OUTBOX_BYTES: usize = 1 << 20;

pub const WORD_MAGIC: usize = 0;
pub const WORD_STAGE: usize = 1;
pub const WORD_ROUND: usize = 2;
pub const WORD_THREADS: usize = 3;
pub const WORD_SIGNAL: usize = 4;
pub const WORD_CODE: usize = 5;
pub const WORD_ADDRESS: usize = 6;
pub const WORD_PC: usize = 7;
pub const WORD_THREAD: usize = 8;
pub const WORD_OUTBOX: usize = 9;
pub const WORD_PART: usize = 10;
pub const WORD_GROWN: usize = 11;
pub const WORD_ENDED: usize = 12;
pub const WORD_ASKED: usize = 13;
pub const WORD_ANSWERED: usize = 14;
pub const WORD_OUTBOX_SEAL: usize = 15;
const WORD_TABLE: usize = 64;
/// Two cache lines: some processors fetch them in pairs.
const WORDS_PER_THREAD: usize = 16;
pub const WORD_FAULT_STACK: usize = WORD_TABLE + WORDS_PER_THREAD * (THREADS_MAX + 1);
/// Its addresses at most.
pub const FAULT_STACK_MAX: usize = 16;
/// Texts that end in NUL.
pub const WORD_EXCEPTION_TYPE: usize = WORD_FAULT_STACK + FAULT_STACK_MAX;
pub const EXCEPTION_TYPE_WORDS: usize = 32;
pub const WORD_EXCEPTION_TEXT: usize = WORD_EXCEPTION_TYPE + EXCEPTION_TYPE_WORDS;
pub const EXCEPTION_TEXT_WORDS: usize = 64;
pub const WORDS: usize = WORD_EXCEPTION_TEXT + EXCEPTION_TEXT_WORDS;

/// The word with the offset of a thread's records. The next word has their length in bytes.
pub const fn word_of_thread(thread: usize) -> usize {
    WORD_TABLE + WORDS_PER_THREAD * thread
}

/// Offsets behind the word of a thread.
pub const EDGES_AT: usize = 2;
pub const DOES_AT: usize = 3;
pub const SEAL_AT: usize = 4;
pub const STACK_AT: usize = 5;
/// Addresses of a stack at most.
pub const STACK_MAX: usize = WORDS_PER_THREAD - STACK_AT;

/// What a thread does that has answered; other numbers are addresses of futexes.
pub const DOES_RUN: u64 = 1;
pub const DOES_WAIT: u64 = 2;

/// Why a harness had to end, where neither a signal nor a frame could say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u64)]
pub enum Ended {
    /// What only the harness writes is not what it wrote: the target overwrote it.
    Damaged = 1,
    /// The pipe to the main program is closed: the target closed what it had not opened.
    Closed = 2,
    /// The target ended a thread that is not its own, inside of a call (`pthread_exit`).
    ThreadExit = 3,
    /// The harness did not get what it needs, such as a thread, after the target had lowered the
    /// process's limits or changed its user.
    Restricted = 4,
}

impl Ended {
    pub const ALL: [Ended; 4] =
        [Ended::Damaged, Ended::Closed, Ended::ThreadExit, Ended::Restricted];

    fn from_word(word: u64) -> Option<Ended> {
        Ended::ALL.into_iter().find(|ended| *ended as u64 == word)
    }
}

pub const NO_THREAD: u64 = u64::MAX;

/// The stage of a round that the harness is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u64)]
pub enum Stage {
    /// Loading the target, or between rounds.
    Idle = 0,
    Create = 1,
    Calls = 2,
    Drain = 3,
    Destroy = 4,
    /// Sending the records. No code of the target runs.
    Sent = 5,
    /// Between two parts of a round: its threads wait while the records of one part are sent.
    Pause = 6,
    /// The sequential model of the target is called.
    Model = 7,
}

impl Stage {
    fn from_word(word: u64) -> Stage {
        use Stage::*;
        [Idle, Create, Calls, Drain, Destroy, Sent, Pause, Model]
            .into_iter()
            .find(|stage| *stage as u64 == word)
            .unwrap_or(Idle)
    }

    /// The stage in words, to follow "crashed while".
    pub fn doing(self) -> &'static str {
        match self {
            Stage::Idle => "loading the target",
            Stage::Create => "creating the structure",
            Stage::Calls => "calling the structure",
            Stage::Drain => "draining the structure",
            Stage::Destroy => "destroying the structure",
            Stage::Sent => "between two rounds",
            Stage::Pause => "between two parts of a round",
            Stage::Model => "calling the sequential model",
        }
    }
}

/// A fatal signal, as recorded by the harness's handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalNote {
    pub signal: i32,
    pub address: u64,
    pub program_counter: u64,
    /// Index of the thread in the round; none for a thread that interlap did not start.
    pub thread: Option<u32>,
}

/// Where a thread is, that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    pub thread: u32,
    /// [`DOES_RUN`], [`DOES_WAIT`] or the address of a futex.
    pub does: u64,
    /// Addresses in the target's code, the innermost first.
    pub code: Vec<u64>,
}

/// Changes whenever a thread or a round makes progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    round: u64,
    stage: u64,
    part: u64,
    recorded: u64,
    edges: u64,
}

impl Progress {
    /// Whether threads made calls.
    pub fn is_of_calls(&self) -> bool {
        self.stage == Stage::Calls as u64
    }
}

/// A snapshot of the header.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub stage: Stage,
    pub round: u64,
    /// The part of the round that the records belong to.
    pub part: u64,
    pub signal: Option<SignalNote>,
    /// Addresses in the target's code on the stack of the signal, or of the throw that led to it.
    pub fault_stack: Vec<u64>,
    /// The mangled type of the exception that ended the process, and its text.
    pub exception: Option<(String, String)>,
    /// The process had grown so much that its death may not be the target's fault.
    pub grown: bool,
    pub ended: Option<Ended>,
    /// The thread that ended itself, for [`Ended::ThreadExit`].
    pub ended_thread: Option<u32>,
    /// Bytes in the outbox, and their seal.
    outbox: (u64, u64),
    /// Offset and length of each thread's records.
    pub records: Vec<(u64, u64)>,
    /// The seal of each thread's complete records.
    seals: Vec<u64>,
    /// How often each thread has begun or ended the target's enter and leave.
    edges: Vec<u64>,
    /// Whether all threads that were asked for their stacks have answered.
    pub is_answered: bool,
    /// The stacks of those that have.
    pub stacks: Vec<Stack>,
}

impl Snapshot {
    pub fn read(file: &File) -> io::Result<Snapshot> {
        let mut bytes = [0; WORDS * 8];
        file.read_exact_at(&mut bytes, 0)?;
        let word = |at: usize| {
            u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
        };
        let text = |words: std::ops::Range<usize>| {
            let bytes = bytes[8 * words.start..8 * words.end].split(|byte| *byte == 0).next();
            let text = String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
            (!text.is_empty()).then_some(text)
        };
        if word(WORD_MAGIC) != MAGIC || word(WORD_THREADS) > THREADS_MAX as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no record area"));
        }
        let threads = (word(WORD_THREADS) as usize).min(THREADS_MAX);
        let thread = word(WORD_THREAD);
        let stack = |thread: usize| {
            let at = word_of_thread(thread);
            let code = (0..STACK_MAX).map(|frame| word(at + STACK_AT + frame));
            let (code, thread) = (code.take_while(|code| *code != 0).collect(), thread as u32);
            Stack { thread, does: word(at + DOES_AT), code }
        };
        let (asked, has_answered) = (word(WORD_ASKED), |at: &Stack| at.does != 0);
        Ok(Snapshot {
            stage: Stage::from_word(word(WORD_STAGE)),
            round: word(WORD_ROUND),
            part: word(WORD_PART),
            signal: (word(WORD_SIGNAL) != 0).then(|| SignalNote {
                signal: word(WORD_SIGNAL) as i32,
                address: word(WORD_ADDRESS),
                program_counter: word(WORD_PC),
                thread: u32::try_from(thread).ok(),
            }),
            fault_stack: (WORD_FAULT_STACK..WORD_EXCEPTION_TYPE)
                .map(word)
                .take_while(|at| *at != 0)
                .collect(),
            exception: text(WORD_EXCEPTION_TYPE..WORD_EXCEPTION_TEXT)
                .map(|of| (of, text(WORD_EXCEPTION_TEXT..WORDS).unwrap_or_default())),
            grown: word(WORD_GROWN) != 0,
            ended: Ended::from_word(word(WORD_ENDED)),
            ended_thread: u32::try_from(thread).ok(),
            outbox: (word(WORD_OUTBOX), word(WORD_OUTBOX_SEAL)),
            records: (0..=threads)
                .map(|t| (word(word_of_thread(t)), word(word_of_thread(t) + 1)))
                .collect(),
            seals: (0..=threads).map(|t| word(word_of_thread(t) + SEAL_AT)).collect(),
            edges: (0..=threads).map(|t| word(word_of_thread(t) + EDGES_AT)).collect(),
            is_answered: asked != 0 && word(WORD_ANSWERED) >= asked,
            stacks: (0..=threads).map(stack).filter(has_answered).collect(),
        })
    }

    /// The records of one thread.
    pub fn thread_records(&self, file: &File, thread: usize) -> io::Result<Vec<u8>> {
        let (offset, len) = self.records[thread];
        if len > file.metadata()?.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "overwritten record area"));
        }
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Whether the records of a thread, as they were read, are what it wrote. A process that is
    /// alive may be beginning them anew: that is no change.
    pub fn is_unchanged(&self, file: &File, thread: usize, records: &[u8]) -> bool {
        let goes_on = || Snapshot::read(file).is_ok_and(|now| now.progress() != self.progress());
        Seal::fits(self.seals[thread], records) || goes_on()
    }

    /// The frames of finished rounds that the harness had not written to the pipe when it ended.
    /// The last frames on the pipe may be among them. An error if the target changed them.
    pub fn outbox(&self, file: &File) -> io::Result<Vec<u8>> {
        let (len, seal) = self.outbox;
        let mut bytes = vec![0; (len as usize).min(OUTBOX_BYTES)];
        file.read_exact_at(&mut bytes, HEADER_BYTES as u64)?;
        let fits = Seal::fits(seal, &bytes).then_some(bytes);
        fits.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "overwritten outbox"))
    }

    /// Whether the harness waits until the reader has taken what it sends.
    pub fn waits_for_reader(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Pause)
    }

    pub fn progress(&self) -> Progress {
        let recorded = self.records.iter().fold(0u64, |sum, (_, len)| sum.wrapping_add(*len));
        let edges = self.edges.iter().fold(0u64, |sum, edges| sum.wrapping_add(*edges));
        let (round, stage, part) = (self.round, self.stage as u64, self.part);
        Progress { round, stage, part, recorded, edges }
    }

    /// Whether code of the target is under way that interlap has called.
    pub fn is_in_target(&self, file: &File, methods: &Methods) -> bool {
        let at_edge = || self.edges.iter().any(|edges| edges % 2 == 1);
        let in_call = |thread| {
            let mut reader = Reader::new(0, methods.clone());
            let read = self.thread_records(file, thread);
            // What is damaged is so by the target.
            read.is_ok_and(|bytes| reader.feed(&bytes).is_err() || reader.is_inside_a_call())
        };
        match self.stage {
            Stage::Create | Stage::Drain | Stage::Destroy | Stage::Model => true,
            Stage::Calls => at_edge() || (0..self.records.len()).any(in_call),
            Stage::Idle | Stage::Sent | Stage::Pause => false,
        }
    }
}

/// The signals that kill a process.
pub const SIGNALS: [(i32, &str); 9] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGPIPE, "SIGPIPE"),
];

/// The name in <signal.h>; "a signal" for those that no fault raises.
pub fn signal_name(signal: i32) -> &'static str {
    SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::core::history::{Entry, History};
    use crate::core::method::Methods;
    use crate::core::operation::{Op, Status};
    use crate::trace::records::encode;

    /// The records of a thread whose only call ended like this.
    fn records(status: Status) -> Vec<u8> {
        let mut history = History::default();
        let entry = Entry { op: Op::Enqueue, status, start: 1, end: 3, args: &[7], results: &[] };
        history.push(0, entry).expect("it is the first");
        encode(&history, 0, &Methods::default())
    }

    /// Whether code of the target is under way, with these words and records of one thread.
    fn is_in_target(words: &[(usize, u64)], records: &[u8]) -> bool {
        let mut bytes = vec![0; HEADER_BYTES];
        let first = word_of_thread(0);
        let own = [(WORD_MAGIC, MAGIC), (WORD_THREADS, 1), (first, HEADER_BYTES as u64)];
        for (word, value) in own.iter().chain(&[(first + 1, records.len() as u64)]).chain(words) {
            bytes[8 * word..][..8].copy_from_slice(&value.to_le_bytes());
        }
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&[&bytes, records].concat()).expect("it is written");
        Snapshot::read(&file).expect("a record area").is_in_target(&file, &Methods::default())
    }

    #[test]
    fn code_of_the_target_is_under_way_in_a_call_and_at_its_edges() {
        let (calls, edges) = ((WORD_STAGE, Stage::Calls as u64), word_of_thread(0) + EDGES_AT);
        let (pending, returned) = (records(Status::Pending), records(Status::Ok));
        for (records, edges_passed, expected) in [
            (&pending, 2, true),
            (&returned, 2, false),
            (&returned, 3, true),
            (&Vec::new(), 1, true),
            (&Vec::new(), 2, false),
        ] {
            let is_so = is_in_target(&[calls, (edges, edges_passed)], records);
            assert_eq!(is_so, expected, "{records:?}, {edges_passed}");
        }
    }

    #[test]
    fn code_of_the_target_is_under_way_in_some_stages() {
        for (stage, expected) in [
            (Stage::Create, true),
            (Stage::Drain, true),
            (Stage::Destroy, true),
            (Stage::Idle, false),
            (Stage::Sent, false),
            (Stage::Pause, false),
        ] {
            let is_so = is_in_target(&[(WORD_STAGE, stage as u64)], &records(Status::Pending));
            assert_eq!(is_so, expected, "{stage:?}");
        }
    }
}
