//! What a first run of a round counts for the policies that want to know who accesses what.

use interlap::schedule::{Profile, THREADS_MAX};

use super::ENGINE;

/// Addresses a profile counts.
const PROFILED_MAX: usize = 256;

/// Who accessed what, in the order of first access: addresses, found by their hash, and for each
/// its counts.
pub(super) struct Accesses {
    addresses: Vec<u64>,
    counts: Vec<[u32; THREADS_MAX]>,
    /// Numbers of addresses plus one, by hash; 0: free. Twice as many as there can be.
    slots: [u16; SLOTS],
}

const SLOTS_LOG: u32 = 9;
const SLOTS: usize = 1 << SLOTS_LOG;
const _: () = assert!(SLOTS >= 2 * PROFILED_MAX);

impl Accesses {
    pub const fn new() -> Accesses {
        Accesses { addresses: Vec::new(), counts: Vec::new(), slots: [0; SLOTS] }
    }

    /// Takes all memory that it will need.
    pub fn reserve(&mut self) {
        self.addresses.reserve_exact(PROFILED_MAX);
        self.counts.reserve_exact(PROFILED_MAX);
    }

    pub fn clear(&mut self) {
        if !self.addresses.is_empty() {
            self.addresses.clear();
            self.counts.clear();
            self.slots.fill(0);
        }
    }

    fn count(&mut self, thread: usize, address: u64) {
        let mut slot = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS_LOG)) as usize;
        let at = loop {
            match usize::from(self.slots[slot]).checked_sub(1) {
                Some(at) if self.addresses[at] == address => break at,
                Some(_) => slot = (slot + 1) % SLOTS,
                None if self.addresses.len() == PROFILED_MAX => return,
                None => {
                    self.addresses.push(address);
                    self.counts.push([0; THREADS_MAX]);
                    self.slots[slot] = self.addresses.len() as u16;
                    break self.addresses.len() - 1;
                }
            }
        };
        self.counts[at][thread] += 1;
    }
}

/// Whether the round under way is only counted. It switches no threads inside of calls.
#[inline]
pub fn is_profiling() -> bool {
    ENGINE.profiles.get()
}

/// What a round that was run with profiling counted.
pub fn profile() -> Profile {
    let e = &ENGINE;
    // SAFETY: the round is over.
    let accesses = unsafe { &*e.accesses.get() };
    let counts = accesses.addresses.iter().copied().zip(accesses.counts.iter().copied()).collect();
    Profile { counts }
}

/// Counts an access that a decision comes before.
#[cold]
pub(super) fn count(address: u64) {
    if address != 0 {
        // SAFETY: nobody else uses it now; it has room for all it gets, so nothing is allocated.
        unsafe { (*ENGINE.accesses.get()).count(ENGINE.current.get(), address) };
    }
}
