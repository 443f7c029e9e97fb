//! The memory a harness records into, shared with the main program through a memory file: whatever
//! kills the harness (a signal, `_exit`, the kernel when memory runs out), all it recorded is still
//! there. This is the layout; the harness maps it, the main program reads it as a file.
//!
//! ```text
//! word 0 magic   1 stage   2 round   3 threads   4 signal   5 code   6 address   7 program counter
//! word 8 faulting thread (or NO_THREAD)   9 bytes in the outbox   10 part of the round
//! word 11 not 0: it had grown too much to be sure that its end is the target's fault
//! word 64 + 16t   offset of thread t's records in the file     65 + 16t   bytes recorded so far
//! byte 12288     the outbox: frames of finished rounds that are not on the pipe yet
//! ```
//! Words are 64-bit little endian. Thread `threads` is the one that drains. Each thread's words lie
//! apart from the others': were they on one cache line, every recorded call would wait, inside its
//! box, for the line to come from the other processor.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub const MAGIC: u64 = u64::from_le_bytes(*b"interlap");
/// Most threads of a round.
pub const THREADS_MAX: usize = 64;
pub const HEADER_BYTES: usize = 12288;
/// Room for frames behind the header.
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
const WORD_TABLE: usize = 64;
/// Two cache lines: some processors fetch them in pairs.
const WORDS_PER_THREAD: usize = 16;
pub const WORDS: usize = WORD_TABLE + WORDS_PER_THREAD * (THREADS_MAX + 1);

/// The word that says where a thread's records lie; the next one says how many bytes they have.
pub const fn word_of_thread(thread: usize) -> usize {
    WORD_TABLE + WORDS_PER_THREAD * thread
}

pub const NO_THREAD: u64 = u64::MAX;

/// What the harness was doing.
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
    /// The records are on their way; nothing of the target runs.
    Sent = 5,
    /// Between two parts of a round: its threads wait while the records of one are on their way.
    Pause = 6,
}

impl Stage {
    fn from_word(word: u64) -> Stage {
        use Stage::*;
        [Idle, Create, Calls, Drain, Destroy, Sent, Pause]
            .into_iter()
            .find(|stage| *stage as u64 == word)
            .unwrap_or(Idle)
    }

    /// In words: "crashed while ...".
    pub fn doing(self) -> &'static str {
        match self {
            Stage::Idle => "loading the target",
            Stage::Create => "creating the structure",
            Stage::Calls => "calling the structure",
            Stage::Drain => "draining the structure",
            Stage::Destroy => "destroying the structure",
            Stage::Sent => "between two rounds",
            Stage::Pause => "between two parts of a round",
        }
    }
}

/// A fatal signal, as the harness's handler noted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalNote {
    pub signal: i32,
    pub address: u64,
    pub program_counter: u64,
    /// Index of the thread in the round; none for one that interlap did not start.
    pub thread: Option<u32>,
}

/// The header, read at one instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub stage: Stage,
    pub round: u64,
    /// The part of the round that the records are of.
    pub part: u64,
    pub signal: Option<SignalNote>,
    /// When it ended, the process had grown too much to be sure that its fault was the target's.
    pub grown: bool,
    /// Bytes in the outbox.
    outbox: u64,
    /// Offset and length of each thread's records.
    pub records: Vec<(u64, u64)>,
}

impl Snapshot {
    pub fn read(file: &File) -> io::Result<Snapshot> {
        let mut bytes = [0; WORDS * 8];
        file.read_exact_at(&mut bytes, 0)?;
        let word = |at: usize| {
            u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
        };
        if word(WORD_MAGIC) != MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no record area"));
        }
        let threads = (word(WORD_THREADS) as usize).min(THREADS_MAX);
        let thread = word(WORD_THREAD);
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
            grown: word(WORD_GROWN) != 0,
            outbox: word(WORD_OUTBOX),
            records: (0..=threads)
                .map(|t| (word(word_of_thread(t)), word(word_of_thread(t) + 1)))
                .collect(),
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

    /// The frames that never reached the pipe: those of rounds that were over when the harness
    /// ended. The last ones on the pipe may be among them.
    pub fn outbox(&self, file: &File) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; (self.outbox as usize).min(OUTBOX_BYTES)];
        file.read_exact_at(&mut bytes, HEADER_BYTES as u64)?;
        Ok(bytes)
    }

    /// Whether the harness waits until what it sends is taken.
    pub fn waits_for_reader(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Pause)
    }

    /// A number that changes whenever a thread or a round makes progress.
    pub fn progress(&self) -> u64 {
        let recorded = self.records.iter().fold(0u64, |sum, (_, len)| sum.wrapping_add(*len));
        let recorded = recorded.wrapping_add(self.part << 20);
        recorded.wrapping_add(self.round << 40).wrapping_add((self.stage as u64) << 36)
    }
}

/// The signals that end a process.
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

/// As <signal.h> names it; "a signal" of those that no fault comes with.
pub fn signal_name(signal: i32) -> &'static str {
    SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name)
}
