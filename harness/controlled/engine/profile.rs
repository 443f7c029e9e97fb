//! What a first run of a round counts for the policies that want to know its length beforehand.

use interlap::schedule::{Profile, THREADS_MAX};

use super::ENGINE;

/// Addresses a profile counts.
pub(super) const PROFILED_MAX: usize = 256;

/// What a round that was run with `profiling` counted.
pub fn profile() -> Profile {
    let e = &ENGINE;
    // SAFETY: the round is over.
    let counts = unsafe { (*e.contended.get()).clone() };
    let per_thread = std::array::from_fn(|thread| e.threads[thread].steps.get());
    Profile { steps: e.decisions.get(), counts, per_thread }
}

/// Counts an access for the profile.
pub(super) fn count(me: usize, address: usize) {
    let e = &ENGINE;
    e.decisions.set(e.decisions.get() + 1);
    if address == 0 {
        return;
    }
    // SAFETY: nobody else uses it now; it has room for all it gets, so nothing is allocated.
    let counts = unsafe { &mut *e.contended.get() };
    let address = address as u64;
    if let Some((_, threads)) = counts.iter_mut().find(|(known, _)| *known == address) {
        threads[me] += 1;
    } else if counts.len() < PROFILED_MAX {
        let mut threads = [0; THREADS_MAX];
        threads[me] = 1;
        counts.push((address, threads));
    }
}
