//! The stream of accesses: every source (the compiler's hooks, copies, containers of the C++
//! library, the allocator, interposed functions) reports each access here as an `AccessEvent`, and
//! passes it to the listeners in the order of one list. Sources and listeners do not name each
//! other: a new source calls [`announce`] and [`made`], a new listener is a line in the list.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::controlled::core::access::{AccessEvent, Class, Effect, Listener, Made, Whose};
use crate::controlled::core::engine;
use crate::controlled::core::points::Points;
use crate::controlled::state::heap::HeapChecks;
use crate::controlled::state::store_buffers::StoreBuffers;
use crate::controlled::watch::coverage::Coverage;
use crate::controlled::watch::trail::Trail;

/// Whether a listener wants plain accesses, and [`made`]: in most rounds none does. The hooks in C
/// read these.
#[unsafe(no_mangle)]
static il_wants_plain: AtomicU8 = AtomicU8::new(0);
#[unsafe(no_mangle)]
static il_wants_made: AtomicU8 = AtomicU8::new(0);

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
            let wants_plain = false $(|| <$listener>::wants_plain())*;
            let wants_made = false $(|| <$listener>::wants_made())*;
            il_wants_plain.store(wants_plain.into(), Ordering::Relaxed);
            il_wants_made.store(wants_made.into(), Ordering::Relaxed);
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
    // Last, because it reads memory after the effects of the others.
    Trail,
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
    engine::tick()
}
