//! One access of the target, as every source reports it and every listener hears it. The sources
//! are in `interpose` and `state::buffers`; `accesses` lists the listeners.

use interlap::schedule::Access;
use interlap::trace::trail::Act;

/// What kind of access it is, by where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Of memory that is neither atomic nor volatile, by a hook of the compiler, a copy, or a
    /// container of the C++ library.
    Plain,
    Volatile,
    Atomic,
    Fence,
    Allocate,
    Free,
    /// A call that acquires, or waits for other threads, by means of living memory.
    Lock,
    /// Another call at which other threads may run.
    Pause,
}

/// What it does to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    Read,
    Write,
    /// Reads and writes, atomically.
    Update,
}

impl Effect {
    #[inline(always)]
    pub fn writes(self) -> bool {
        matches!(self, Effect::Write | Effect::Update)
    }

    /// The same, as policies are told.
    #[inline(always)]
    pub fn pending(self) -> Access {
        match self {
            Effect::None => Access::None,
            Effect::Read => Access::Read,
            Effect::Write | Effect::Update => Access::Write,
        }
    }
}

/// `memory_order_relaxed` and `memory_order_seq_cst` of <stdatomic.h>.
pub const RELAXED: u32 = 0;
pub const SEQ_CST: u32 = 5;

#[derive(Clone, Copy, Debug)]
pub struct AccessEvent {
    pub thread: usize,
    /// 0: none.
    pub address: usize,
    pub size: usize,
    pub class: Class,
    pub effect: Effect,
    /// The memory order, as <stdatomic.h> numbers them.
    pub order: u32,
    /// Where the target's code goes on, a return address; 0: to be looked up on the stack.
    pub place: usize,
}

impl AccessEvent {
    /// Of no size and order, at a place to be looked up.
    pub fn new(thread: usize, class: Class, effect: Effect, address: usize) -> AccessEvent {
        AccessEvent { thread, address, size: 0, class, effect, order: RELAXED, place: 0 }
    }
}

/// What became of an access: what it did to memory, at most 8 bytes of it.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub act: Act,
    pub before: u64,
    /// Of a failed comparison what it expected.
    pub after: u64,
}

impl Made {
    /// Of what has no value.
    pub fn only(act: Act) -> Made {
        Made { act, before: 0, after: 0 }
    }
}

/// Something that follows the accesses of a round. All listeners hear each stage in one order, that
/// of the list in `accesses`. A stage is inlined; what is rare it leaves to a function that takes
/// the event by value, so that the event itself need not be in memory.
pub trait Listener {
    /// The thread is about to make the access. Other threads may run during this stage.
    #[inline(always)]
    fn arrives(_event: &AccessEvent) {}

    /// No other thread runs any more before the access is made.
    #[inline(always)]
    fn passes(_event: &AccessEvent) {}

    /// The access was made. Only where somebody [wants](Listener::wants_made) to hear it.
    #[inline(always)]
    fn made(_event: &AccessEvent, _made: Made) {}

    /// Whether accesses of the running thread are held back from memory.
    #[inline(always)]
    fn holds_back() -> bool {
        false
    }

    /// What the running thread, or every thread, holds back is to reach memory now.
    #[inline(always)]
    fn settles(_whose: Whose) {}

    /// Whether plain accesses of this round are to be heard: by far the most are not.
    fn wants_plain() -> bool {
        false
    }

    /// Whether accesses of this round are to be heard once they were made.
    fn wants_made() -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The running thread's.
    Own,
    All,
}
