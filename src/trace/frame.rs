//! The messages of a trace, in a pipe or a file: each is a [`Frame`].
//! [`super::wire`] encodes them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::judged::{Judged, Judgement};
use super::trail::Event;
pub use super::wire::{FrameError, FrameReader, write, write_judged, write_records};
use crate::core::history::Unit;
use crate::core::memory_order::OrderedAccess;
use crate::core::operation::{Op, coded};
use crate::core::plan::{Clock, Plan};
use crate::core::sequential_runs::SequentialRuns;

/// Raised whenever a frame or the layout of records changes.
pub const TRACE_VERSION: u32 = 6;
/// The first version that can still be read: it lacks blocks of calls, methods and runs.
pub const TRACE_VERSION_FIRST: u32 = 4;

/// After so many calls, all threads of a long native round wait while their records are sent as a
/// part of the round.
pub const PART_CALLS: u64 = 1 << 18;

/// Maximum number of record bytes in one frame, so that neither side holds a long round twice.
pub const RECORDS_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// The first frame.
    Hello(Box<Hello>),
    /// A round's calls follow.
    Round(RoundStart),
    Records(Records),
    /// The end of a part of a round: all its calls have returned, and its records were sent. Not in
    /// files.
    Pause(Pause),
    /// What the structure answers to the calls of the round one at a time.
    Runs(Arc<SequentialRuns>),
    /// The round is over.
    End(RoundEnd),
    /// A round that was consistent, without its calls. Not in files.
    Judged(Box<Judged>),
    /// The last frame: the controlled engine has detected a fault. The round's records are in the
    /// record area.
    Fault(Detected),
    /// What the controlled engine had counted when something ended the process. Not in files.
    Cut(Box<Steps>),
    /// The last frame: the harness cannot go on.
    Problem(Problem),
    /// The last frame of a harness that ends as planned.
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
    /// The harness's process: under rr not the one that was started.
    #[serde(default)]
    pub process: Option<u32>,
    /// Where the target's code is mapped, to find the source line of a crash.
    pub code: Option<CodeRange>,
    /// What the engine cannot do for this target, a sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Uninstrumented libraries that the target is linked with, in the controlled engine.
    #[serde(default)]
    pub unhooked: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeRange {
    /// The library's load address; addresses in its file are relative to this.
    pub base: u64,
    pub start: u64,
    pub end: u64,
}

impl CodeRange {
    /// The address in the library's file, if it is one of its code.
    pub fn in_file(self, address: u64) -> Option<u64> {
        (self.start..self.end).contains(&address).then(|| address - self.base)
    }
}

/// The target's description of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    pub library: String,
    pub version: String,
    pub model: String,
    /// Those that it offers. In files operations of families are numbers, and methods signatures.
    #[serde(with = "coded")]
    pub operations: Vec<Op>,
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
    /// The unit in which people are shown stamps.
    pub fn shown(&self) -> Unit {
        let (factor, name) = match self.clock {
            Clock::Steps => (1.0, "steps of the schedule"),
            Clock::Counter => (1.0, "stamps of all threads"),
            _ => (self.nanoseconds_per_unit, "nanoseconds"),
        };
        Unit { factor, name, is_absolute: matches!(self.clock, Clock::Steps | Clock::Counter) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RoundStart {
    pub round: u64,
    /// Threads that call at once; one more drains.
    pub threads: u32,
    /// Calls each thread was to make.
    pub calls: u64,
    /// One call at a time: compares the adapter with the sequential object.
    pub sequential: bool,
    /// The threads were created for this round.
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
    /// The name of the fault that ended the harness in this round, if one did.
    pub fault: Option<String>,
    /// What the controlled engine counted.
    pub steps: Option<Box<Steps>>,
    /// What the harness made of the round, if it has decided it. Not in files.
    pub judgement: Option<Judgement>,
}

impl RoundEnd {
    /// Of a round that came to its end.
    pub fn new(round: u64, drained: bool) -> RoundEnd {
        RoundEnd { round, drained, fault: None, steps: None, judgement: None }
    }
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
    /// Numbers of atomic and volatile accesses and fences, and of calls that may block, with those
    /// accesses that may be of what threads share but are in no pair.
    pub atomics: u64,
    pub blocking: u64,
    /// Hashes of pairs of places in the target's code where one thread read what another wrote,
    /// which were new in this process. A pair has the same hash in all processes.
    pub pairs: Vec<u64>,
    /// Numbers of leaked blocks and bytes after the structure was destroyed.
    pub leaked_blocks: u64,
    pub leaked_bytes: u64,
    /// The schedule, where the plan asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Schedule>,
    /// The trail, where the plan asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<Vec<Event>>,
}

/// A round's schedule, as policies of `crate::schedule` that repeat it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Switches by the number of the step.
    pub list: String,
    /// Switches by the position of a thread in its calls: most stay valid when calls are removed.
    pub turns: String,
    /// How many of the switches are preemptions.
    pub preemptions: u64,
}

/// A fault that the controlled engine detected, as opposed to one that ended the process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detected {
    pub kind: DetectedKind,
    pub round: u64,
    /// The thread at fault, if there is one.
    pub thread: Option<u32>,
    /// What happened where; the fault itself is first.
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
    /// The adapter's library cannot be loaded: nothing defines the symbol that `what` is.
    Undefined,
    /// The controlled engine cannot control this target; the native engine may run it.
    Uncontrolled,
}

impl Problem {
    /// The controlled engine cannot control the target because of `what`.
    pub fn uncontrolled(what: impl fmt::Display) -> Problem {
        Problem { kind: ProblemKind::Uncontrolled, what: what.to_string() }
    }
}

impl From<String> for Problem {
    fn from(what: String) -> Problem {
        Problem { kind: ProblemKind::Adapter, what }
    }
}

/// "cannot control: ..." for [`ProblemKind::Uncontrolled`].
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.kind {
            ProblemKind::Adapter => f.write_str(&self.what),
            ProblemKind::Undefined => write!(f, "undefined symbol: {}", self.what),
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
    /// The thread creates, drains and destroys.
    Keeper,
    /// The target started the thread.
    OfTarget,
}

/// What a thread did or does at a place of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Accessed freed memory, `offset` bytes behind the start of its former block.
    AccessedFreed {
        writes: bool,
        address: u64,
        offset: u64,
    },
    /// Freed a block that was freed already.
    FreedAgain {
        block: u64,
    },
    /// Freed an address at which no block begins.
    FreedNoBlock {
        address: u64,
    },
    /// Accessed byte `offset` of a block of only `bytes` bytes.
    AccessedBehind {
        writes: bool,
        offset: u64,
        bytes: u64,
    },
    /// Accessed memory between two blocks of the heap.
    AccessedBetween {
        writes: bool,
    },
    /// Made one of two accesses that nothing orders. The first of them in a report was made last.
    Raced {
        writes: bool,
        kind: AccessKind,
        address: u64,
        size: u64,
    },
    /// Before the fault, freed the block at fault.
    HadFreed {
        block: u64,
    },
    HadAllocated {
        block: u64,
    },
    Waits(Wait),
    Runs,
    /// Was in its call; nobody could look at its stack.
    HasNotReturned,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wait {
    pub on: Awaited,
    pub address: u64,
    /// The thread that holds what it waits for, where that is known.
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
    /// The address concerned, if it may have a name.
    pub fn address(self) -> Option<u64> {
        match self {
            Deed::AccessedFreed { address, .. } => Some(address),
            Deed::FreedAgain { block } => Some(block),
            Deed::Raced { address, .. } => Some(address),
            Deed::Waits(wait) if !matches!(wait.on, Awaited::Join | Awaited::Signal) => {
                Some(wait.address)
            }
            _ => None,
        }
    }
}

/// How memory is accessed. To the language, volatile accesses are plain ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    Plain,
    Volatile,
    Atomic,
}

/// Something that happened at a place in the target's code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    pub who: Who,
    pub deed: Deed,
    /// Address of the code; none where it is not known.
    pub code: Option<u64>,
    /// Addresses in the calling functions, the innermost first, as far as they are known.
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
    /// A free of an address at which no block begins.
    BadFree,
    /// An access outside of all blocks.
    OutOfBounds,
    /// Two accesses that nothing orders.
    DataRace,
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
            DetectedKind::DataRace => "data race",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bye {
    /// The round with which another process goes on; none: all rounds are done.
    pub next_round: Option<u64>,
    /// How much the process has grown, if it ends for that.
    pub grown: Option<Growth>,
    /// The atomic accesses that were made, if the plan asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<OrderedAccess>,
}

impl Bye {
    /// All rounds are done, or another process goes on with this one.
    pub fn new(next_round: Option<u64>, grown: Option<Growth>) -> Bye {
        Bye { next_round, grown, orders: Vec::new() }
    }
}

/// How much a harness process has grown in its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    pub bytes: u64,
    /// Files left open, where the engine counts them.
    #[serde(default)]
    pub descriptors: u64,
    pub rounds: u64,
}
