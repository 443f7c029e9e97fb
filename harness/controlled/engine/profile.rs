//! What a first run of a round counts for the policies that want to know its length beforehand.

use interlap::schedule::{Profile, THREADS_MAX};

use super::ENGINE;

/// Addresses a profile counts.
const PROFILED_MAX: usize = 256;

/// What a round counts for the policy of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiling {
    Nothing,
    /// How many steps there are.
    Steps,
    /// Also who accesses what, which takes longer.
    Accesses,
}

/// Who accessed what, in the order of first access: addresses, which are searched at each access,
/// and for each its counts.
pub(super) struct Accesses {
    addresses: Vec<u64>,
    counts: Vec<[u32; THREADS_MAX]>,
}

impl Accesses {
    pub const fn new() -> Accesses {
        Accesses { addresses: Vec::new(), counts: Vec::new() }
    }

    /// Takes all memory that it will need.
    pub fn reserve(&mut self) {
        self.addresses.reserve_exact(PROFILED_MAX);
        self.counts.reserve_exact(PROFILED_MAX);
    }

    pub fn clear(&mut self) {
        self.addresses.clear();
        self.counts.clear();
    }

    fn count(&mut self, thread: usize, address: u64) {
        let known = self.addresses.iter().position(|known| *known == address);
        let at = known.unwrap_or(self.addresses.len());
        if at == PROFILED_MAX {
            return;
        }
        if known.is_none() {
            self.addresses.push(address);
            self.counts.push([0; THREADS_MAX]);
        }
        self.counts[at][thread] += 1;
    }
}

/// Whether the round under way is only counted. It switches no threads inside of calls.
#[inline]
pub fn is_profiling() -> bool {
    ENGINE.profiling.get() != Profiling::Nothing
}

/// What a round that was run with profiling counted.
pub fn profile() -> Profile {
    let e = &ENGINE;
    // SAFETY: the round is over.
    let accesses = unsafe { &*e.accesses.get() };
    let counts = accesses.addresses.iter().copied().zip(accesses.counts.iter().copied()).collect();
    let per_thread = std::array::from_fn(|thread| e.threads[thread].steps.get());
    Profile { steps: e.decisions.get(), counts, per_thread }
}

/// Counts a decision, and the access it comes before.
pub(super) fn count(me: usize, address: usize) {
    let e = &ENGINE;
    e.decisions.set(e.decisions.get() + 1);
    if address != 0 && e.profiling.get() == Profiling::Accesses {
        // SAFETY: nobody else uses it now; it has room for all it gets, so nothing is allocated.
        unsafe { (*e.accesses.get()).count(me, address as u64) };
    }
}
