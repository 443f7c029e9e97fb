//! What travels in a trace, through a pipe or in a file: each message of it is a [`Frame`]. Knows
//! what frames say, not how they are written (see [`super::wire`]) nor what is in the records.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::trail::Event;
pub use super::wire::{FrameError, FrameReader, write, write_records};
use crate::core::history::Unit;
use crate::core::plan::{Clock, Plan};

/// Raised whenever a frame or the layout of records changes.
pub const TRACE_VERSION: u32 = 4;

/// Calls after which a long round of native threads pauses for a moment: all threads wait, what
/// they recorded is sent as a part of the round, and they go on.
pub const PART_CALLS: u64 = 1 << 18;

/// Most record bytes in one frame, so that neither side holds a whole long round twice.
pub const RECORDS_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// The first frame.
    Hello(Box<Hello>),
    /// A round's calls follow.
    Round(RoundStart),
    Records(Records),
    /// Of a round that comes in parts: every call so far has returned, and all records so far were
    /// sent. Stands in no file.
    Pause(Pause),
    /// The round is over.
    End(RoundEnd),
    /// The controlled engine ended the round, whose records are in the record area; nothing more
    /// follows.
    Fault(Detected),
    /// What the controlled engine counted up to what is about to end the process. Stands in no
    /// file.
    Cut(Box<Steps>),
    /// The harness cannot go on; nothing more follows.
    Problem(Problem),
    /// The harness ends by its own will.
    Bye(Bye),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub version: u32,
    pub plan: Plan,
    pub target: TargetInfo,
    pub clock: ClockInfo,
    /// Descriptor number of the harness's record area (see [`super::area`]).
    pub area_fd: Option<i32>,
    /// The harness's process, which is not the one that was started where a recorder runs it.
    #[serde(default)]
    pub process: Option<u32>,
    /// Where the target's code lies, so that a crash can be told by source line.
    pub code: Option<CodeRange>,
    /// What the engine cannot do for this target, a sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Libraries that the target is linked with and that lack the engine's hooks, where it has any.
    #[serde(default)]
    pub unhooked: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeRange {
    /// Where the library is loaded: addresses in its file count from here.
    pub base: u64,
    pub start: u64,
    pub end: u64,
}

/// What the target says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    pub library: String,
    pub version: String,
    pub model: String,
    /// Code of each operation offered.
    pub operations: Vec<u32>,
    pub thread_max: u32,
    pub capacity: u32,
    pub block_size: u32,
}

/// The clock in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockInfo {
    pub clock: Clock,
    /// Why it is not the time stamp counter.
    pub refused: Option<String>,
    /// Nanoseconds of one unit of a stamp; 0 where the units are steps or counts.
    pub nanoseconds_per_unit: f64,
}

impl ClockInfo {
    /// What people are shown of a stamp.
    pub fn shown(&self) -> Unit {
        let (factor, name) = match self.clock {
            Clock::Steps => (1.0, "steps of the schedule"),
            Clock::Counter => (1.0, "stamps of all threads"),
            _ => (self.nanoseconds_per_unit, "nanoseconds"),
        };
        Unit { factor, name, is_absolute: self.clock == Clock::Steps }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RoundStart {
    pub round: u64,
    /// Threads that call at once; one more drains.
    pub threads: u32,
    /// Calls each thread was to make.
    pub calls: u64,
    /// Only one call at a time: the test of the adapter against the sequential model.
    pub sequential: bool,
    /// The threads were made for this round.
    pub fresh: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    pub thread: u32,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub round: u64,
    /// The part that is over, counted from 0.
    pub part: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RoundEnd {
    pub round: u64,
    /// The structure was emptied by one thread after all others were done.
    pub drained: bool,
    /// The name of the fault that ended the harness in this round; none: it ran to its end.
    pub fault: Option<String>,
    /// What the controlled engine counted.
    pub steps: Option<Box<Steps>>,
}

/// What the controlled engine counted in a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The scheduling policy, as `crate::schedule` names it.
    pub policy: String,
    pub steps: u64,
    pub switches: u64,
    /// Hash of which thread ran at each step.
    pub schedule: u64,
    /// Atomic and volatile accesses and fences of the target that were seen, and its calls of
    /// locks and other things that block.
    pub atomics: u64,
    pub blocking: u64,
    /// Pairs of a writing and a reading place in the target's code, by different threads, that
    /// this process had not seen before: a hash each, equal in all processes.
    pub pairs: Vec<u64>,
    /// Blocks that were not freed when the structure had been destroyed, and their bytes.
    pub leaked_blocks: u64,
    pub leaked_bytes: u64,
    /// The schedule, where the plan wants it recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Schedule>,
    /// What the threads did, where the plan wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<Vec<Event>>,
}

/// A round's schedule, to be followed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The policy that repeats it: as `crate::schedule` writes a list of the switches that would
    /// not come about by themselves.
    pub list: String,
    /// Another that does, by places in the threads' calls: most of it fits when calls are left out.
    pub turns: String,
    /// How many of them take the turn from a thread that could go on.
    pub preemptions: u64,
}

/// A fault that the controlled engine saw coming, as opposed to one that ended the process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detected {
    pub kind: DetectedKind,
    pub round: u64,
    /// The thread at fault, if it is one thread's.
    pub thread: Option<u32>,
    /// What happened where, the fault itself first.
    pub places: Vec<Place>,
    pub steps: Box<Steps>,
}

/// Why a harness cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub kind: ProblemKind,
    /// In words.
    pub what: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The adapter broke its contract or cannot be used.
    Adapter,
    /// The controlled engine has no hold on this target; native threads need none.
    Uncontrolled,
}

impl Problem {
    /// The controlled engine has no hold on the target because of this.
    pub fn uncontrolled(what: impl fmt::Display) -> Problem {
        Problem { kind: ProblemKind::Uncontrolled, what: what.to_string() }
    }
}

impl From<String> for Problem {
    fn from(what: String) -> Problem {
        Problem { kind: ProblemKind::Adapter, what }
    }
}

/// As it is printed: "cannot control: ..." where the engine has no hold.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.kind {
            ProblemKind::Adapter => f.write_str(&self.what),
            ProblemKind::Uncontrolled => write!(f, "cannot control: {}", self.what),
        }
    }
}

/// A thread, and where it is in its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    pub thread: u32,
    pub when: When,
}

/// Where a thread is in its calls of the structure, which are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    BeforeCalls,
    InCall(u32),
    AfterCall(u32),
    /// It is the thread that creates, drains and destroys.
    Keeper,
    /// It is a thread that the target started.
    OfTarget,
}

/// What a thread did or does where a fault has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// It accessed freed memory, `offset` bytes behind the start of the block that it was.
    AccessedFreed {
        writes: bool,
        address: u64,
        offset: u64,
    },
    /// It freed a block that was freed already.
    FreedAgain {
        block: u64,
    },
    /// It freed an address at which no block begins.
    FreedNoBlock {
        address: u64,
    },
    /// It accessed byte `offset` of a block of so many bytes.
    AccessedBehind {
        writes: bool,
        offset: u64,
        bytes: u64,
    },
    /// It accessed memory between two blocks of the heap.
    AccessedBetween {
        writes: bool,
    },
    /// Before the fault, it freed the block that this is about.
    HadFreed {
        block: u64,
    },
    HadAllocated {
        block: u64,
    },
    Waits(Wait),
    Runs,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wait {
    pub on: Awaited,
    pub address: u64,
    /// The thread that holds it, if it is one that is held.
    pub holder: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Awaited {
    Mutex,
    ReadLock,
    WriteLock,
    Condition,
    Semaphore,
    Barrier,
    Once,
    Futex,
    /// The end of a thread.
    Join,
    Time,
    Signal,
    Other,
}

impl Deed {
    /// The memory that it is about, if that may have a name.
    pub fn address(self) -> Option<u64> {
        match self {
            Deed::AccessedFreed { address, .. } => Some(address),
            Deed::FreedAgain { block } => Some(block),
            Deed::Waits(wait) if !matches!(wait.on, Awaited::Join | Awaited::Signal) => {
                Some(wait.address)
            }
            _ => None,
        }
    }
}

/// Something that happened at a place in the target's code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    pub who: Who,
    pub deed: Deed,
    /// Address of the code, to be looked up; none where it is not known.
    pub code: Option<u64>,
    /// Where the functions around that one go on, the innermost first, as far as they are known.
    #[serde(default)]
    pub around: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DetectedKind {
    /// Every thread waits for another.
    Deadlock,
    /// Too many steps.
    Livelock,
    /// Much processor time without a step.
    Hang,
    UseAfterFree,
    DoubleFree,
    /// A free of what is no block, or the start of none.
    BadFree,
    /// An access between two blocks.
    OutOfBounds,
}

impl DetectedKind {
    /// Short stable name, part of a finding's signature.
    pub fn name(self) -> &'static str {
        match self {
            DetectedKind::Deadlock => "deadlock",
            DetectedKind::Livelock => "livelock",
            DetectedKind::Hang => "hang",
            DetectedKind::UseAfterFree => "use after free",
            DetectedKind::DoubleFree => "double free",
            DetectedKind::BadFree => "bad free",
            DetectedKind::OutOfBounds => "out of bounds",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bye {
    /// Round to go on with; none: all rounds asked for are done.
    pub next_round: Option<u64>,
    /// Why it ends early: the process has grown so much in so many rounds.
    pub grown: Option<Growth>,
}

/// The target's process keeps growing, round by round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    pub bytes: u64,
    /// Files left open, where they were counted.
    #[serde(default)]
    pub descriptors: u64,
    pub rounds: u64,
}
