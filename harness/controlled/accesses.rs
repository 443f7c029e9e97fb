//! The stream of accesses: every source of scheduling points (the compiler's hooks, copies,
//! containers of the C++ library, the allocator, interposed calls) reports each access here as an
//! `AccessEvent`, and the listeners hear it in the order of one list. A source names no listener,
//! and a listener no source: a new source calls [`comes`] and [`made`], a new listener is a line in
//! the list.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::controlled::core::access::{AccessEvent, Class, Effect, Listener, Made, Whose};
use crate::controlled::core::engine;
use crate::controlled::core::points::Points;
use crate::controlled::state::buffers::StoreBuffers;
use crate::controlled::state::heap::HeapChecks;
use crate::controlled::watch::coverage::Coverage;
use crate::controlled::watch::trail::Trail;

/// Whether [`comes`] is to be told of plain accesses, and [`made`] of accesses that were made: most
/// rounds have nobody who wants to hear of them. Read by the hooks in C.
#[unsafe(no_mangle)]
static il_wants_plain: AtomicU8 = AtomicU8::new(0);
#[unsafe(no_mangle)]
static il_wants_made: AtomicU8 = AtomicU8::new(0);

/// The stages of an access, each as calls of all listeners in their order. Static, so that a stage
/// is as fast as if it were written out by hand.
macro_rules! listeners {
    ($($listener:ty),* $(,)?) => {
        /// An access is about to be made: when this returns, it may be.
        #[inline(always)]
        pub fn comes(event: &AccessEvent) {
            $(<$listener>::arrives(event);)*
            $(<$listener>::passes(event);)*
        }

        /// An access was made.
        #[inline(always)]
        pub fn made(event: &AccessEvent, made: Made) {
            $(<$listener>::made(event, made);)*
        }

        /// What listeners hold back of stores reaches memory now.
        #[inline(always)]
        pub fn settle(whose: Whose) {
            $(<$listener>::settles(whose);)*
        }

        #[inline(always)]
        fn hold_back() -> bool {
            false $(|| <$listener>::holds_back())*
        }

        /// To be called before a round, when all listeners are ready for it.
        pub fn round_begins() {
            let wants_plain = false $(|| <$listener>::wants_plain())*;
            let wants_made = false $(|| <$listener>::wants_made())*;
            il_wants_plain.store(wants_plain.into(), Ordering::Relaxed);
            il_wants_made.store(wants_made.into(), Ordering::Relaxed);
        }
    };
}

listeners! {
    // Stores leave their buffers before and after the point at which others may run.
    StoreBuffers,
    // The policy: here other threads run.
    Points,
    // Reports what must not be made.
    HeapChecks,
    Coverage,
    // Last: what the others did to memory has been done.
    Trail,
}

/// A scheduling point that is no access, though what follows may concern the address.
pub fn pause(address: usize, effect: Effect) {
    comes(&AccessEvent::new(engine::current(), Class::Pause, effect, address));
}

/// The same as [`settle`] for the running thread, but others may run before: for what is no
/// scheduling point of its own.
#[inline(always)]
pub fn settle_at_point() {
    if hold_back() {
        pause(0, Effect::None);
        settle(Whose::Own);
    }
}

/// A stamp: later than all before it, stores included.
#[inline]
pub fn stamp() -> u64 {
    settle_at_point();
    engine::tick()
}
