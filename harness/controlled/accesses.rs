//! The stream of accesses: every source (the compiler's hooks, copies, containers of the C++
//! library, the allocator, interposed functions) reports each access here as an `AccessEvent`, and
//! passes it to the listeners in the order of one list. Sources and listeners do not name each
//! other: a new source calls [`announce`] and [`made`], a new listener is a line in the list.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::controlled::core::access::{
    AccessEvent, Class, Effect, Listener, Made, Synchronizes, Whose,
};
use crate::controlled::core::engine;
use crate::controlled::core::points::Points;
use crate::controlled::core::shared::SHARED;
use crate::controlled::state::heap::HeapChecks;
use crate::controlled::state::races::{self, Races};
use crate::controlled::state::store_buffers::StoreBuffers;
use crate::controlled::watch::coverage::Coverage;
use crate::controlled::watch::trail::Trail;

/// The target has forked: another process may share memory with this one.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Defines the stages of an access, each as static calls of all listeners in their order, which can
/// be inlined.
macro_rules! listeners {
    ($($listener:ty),* $(,)?) => {
        /// To be called before an access is made. Other threads may run meanwhile.
        #[inline(always)]
        pub fn announce(event: &AccessEvent) {
            $(<$listener>::arrives(event);)*
            $(<$listener>::passes(event);)*
        }

        /// An access was made.
        #[inline(always)]
        pub fn made(event: &AccessEvent, made: Made) {
            $(<$listener>::made(event, made);)*
        }

        /// The running thread synchronises with others through an object.
        #[inline(always)]
        pub fn synchronizes(how: Synchronizes, object: usize) {
            $(<$listener>::synchronizes(engine::current(), how, object);)*
        }

        /// Stores that listeners hold back reach memory now.
        #[inline(always)]
        pub fn settle(whose: Whose) {
            $(<$listener>::settles(whose);)*
        }

        #[inline(always)]
        fn hold_back() -> bool {
            false $(|| <$listener>::holds_back())*
        }

        /// To be called before a round, once all listeners are ready for it.
        pub fn round_begins() {
            SHARED.wants_plain.set(false $(|| <$listener>::wants_plain())*);
            SHARED.wants_made.set(false $(|| <$listener>::wants_made())*);
            let wants_atomic = SHARED.wants_made.get() $(|| <$listener>::wants_atomic())*;
            SHARED.wants_atomic.set(wants_atomic || HAS_FORKED.load(Ordering::Relaxed));
        }
    };
}

listeners! {
    // Lets stores leave their buffers both before and after other threads may run.
    StoreBuffers,
    // The scheduling point: other threads may run here.
    Points,
    HeapChecks,
    Coverage,
    // After the checks of the heap, which say more of a block that is freed.
    Races,
    // Last, because it reads memory after the effects of the others.
    Trail,
}

/// From now on all atomic accesses are reported, and so made as atomic ones: a process that is
/// forked may share the memory.
pub fn report_all() {
    races::read_last_stores();
    HAS_FORKED.store(true, Ordering::Relaxed);
    SHARED.wants_atomic.set(true);
}

/// A scheduling point without an access; what follows it may concern the address.
pub fn pause(address: usize, effect: Effect) {
    announce(&AccessEvent::new(engine::current(), Class::Pause, effect, address));
}

/// As [`settle`] for the running thread, with a scheduling point before if it holds stores back:
/// for functions that have no scheduling point of their own.
#[inline(always)]
pub fn settle_at_point() {
    if hold_back() {
        pause(0, Effect::None);
        settle(Whose::Own);
    }
}

/// A time stamp, later than all earlier accesses, buffered stores included.
#[inline]
pub fn stamp() -> u64 {
    settle_at_point();
    synchronizes(Synchronizes::Stamps, 0);
    engine::tick()
}
