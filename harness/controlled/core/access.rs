//! One access of the target, as sources report it to listeners. The sources are in `interpose` and
//! `state::store_buffers`; `accesses` lists the listeners.

use interlap::schedule::Access;
use interlap::trace::trail::Act;

/// What kind of access it is, by where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Neither atomic nor volatile: from a hook of the compiler, a copy, or a container of the C++
    /// library.
    Plain,
    Volatile,
    Atomic,
    Fence,
    Allocate,
    Free,
    /// A call that acquires or waits, with an object in allocated memory.
    Lock,
    /// Another scheduling point.
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

    /// The same, as policies see it.
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
    /// Return address into the target's code; 0: to be looked up on the stack.
    pub place: usize,
}

impl AccessEvent {
    /// Without a size and order, at a place to be looked up.
    pub fn new(thread: usize, class: Class, effect: Effect, address: usize) -> AccessEvent {
        AccessEvent { thread, address, size: 0, class, effect, order: RELAXED, place: 0 }
    }
}

/// The effect of an access that was made, on at most 8 bytes of memory.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub act: Act,
    pub before: u64,
    /// For a failed comparison, the expected value.
    pub after: u64,
}

impl Made {
    /// An act without values.
    pub fn only(act: Act) -> Made {
        Made { act, before: 0, after: 0 }
    }
}

/// A listener to the accesses of a round. All listeners are called at each stage, in the order of
/// the list in `accesses`. A stage is inlined; rare work goes to a function that takes the event by
/// value, so that the event itself need not be in memory.
pub trait Listener {
    /// The thread is about to make the access. Other threads may run during this stage.
    #[inline(always)]
    fn arrives(_event: &AccessEvent) {}

    /// The access is made next: no other thread runs before it.
    #[inline(always)]
    fn passes(_event: &AccessEvent) {}

    /// The access was made. Called in rounds where a listener [wants](Listener::wants_made) it.
    #[inline(always)]
    fn made(_event: &AccessEvent, _made: Made) {}

    /// The thread synchronises with others through an object, which its address or a key names.
    #[inline(always)]
    fn synchronizes(_thread: usize, _how: Synchronizes, _object: usize) {}

    /// Whether stores of the running thread are held back from memory.
    #[inline(always)]
    fn holds_back() -> bool {
        false
    }

    /// The stores held back for the running thread, or for all threads, must reach memory now.
    #[inline(always)]
    fn settles(_whose: Whose) {}

    /// Whether this listener wants plain accesses in this round. Most rounds have none that does.
    fn wants_plain() -> bool {
        false
    }

    /// Whether this listener wants atomic accesses in this round, also those before which nobody is
    /// asked which thread goes on. Volatile ones and fences always come.
    fn wants_atomic() -> bool {
        false
    }

    /// Whether this listener wants [`Listener::made`] in this round.
    fn wants_made() -> bool {
        false
    }
}

/// What happens before what, where that is not by atomic accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronizes {
    /// What others released is before what the thread does next.
    Acquires,
    Releases,
    /// All that others did so far is before: what it reads may come from any of them.
    AcquiresAll,
    /// All that others did so far is before, and what this one did is before what they do next.
    MeetsAll,
    /// As a releasing store of the byte at the object's address.
    Stores,
    /// A call of the structure has a stamp: it begins or ends.
    Stamps,
    /// All so far is before what the thread of that number does.
    Starts,
    /// All that the thread of that number did, which has ended, is before what this one does next.
    Joins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The running thread's.
    Own,
    All,
}
