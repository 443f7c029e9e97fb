//! Says which "empty" answers a model promises to be true: all, those of removals that overlap no
//! other removal, or none (see [`Empty`]).

use super::small::Few;
use crate::model::{Empty, Spec};

/// Whether the model promises that this "empty" answer is true.
pub fn judged(spec: &Spec, lone: bool) -> bool {
    lone && spec.empty >= Empty::Lone || spec.empty >= Empty::Identity
}

/// Tells, while the events go by, whether an operation that takes out overlaps another such one.
pub struct Crowd {
    open: u32,
    called: u64,
    /// By thread: what `called` was after its last removal was called, and whether that removal
    /// began while no other was open.
    entered: Few<(u64, bool)>,
}

impl Crowd {
    pub fn new(threads: usize) -> Crowd {
        Crowd { open: 0, called: 0, entered: Few::from_elem((0, false), threads) }
    }

    #[inline]
    pub fn enter(&mut self, thread: u32) {
        self.called += 1;
        self.entered[thread as usize] = (self.called, self.open == 0);
        self.open += 1;
    }

    /// The thread's removal returns; says whether it overlapped no other.
    #[inline]
    pub fn leave(&mut self, thread: u32) -> bool {
        self.open -= 1;
        let (called, alone) = self.entered[thread as usize];
        alone && called == self.called
    }
}
