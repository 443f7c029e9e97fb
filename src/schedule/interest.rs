//! Which address of a round is the interesting one, for policies that order the accesses to one.
//! Accesses come in as they are made; out goes an address that several threads access, drawn
//! without knowing which there will be. Half of the time by use, so that the most contended ones
//! come most often; else by when they were first shared, so that seldom used ones have their turn.

use crate::core::random::Random;

/// Addresses looked at; those that come later are not drawn.
const SEEN_MAX: usize = 128;
/// Accesses of shared addresses before the one that is drawn are below a power of two, of which the
/// exponent is below this.
const USES_LOG: u64 = 6;
/// The same of addresses.
const FIRST_LOG: u64 = 4;

#[derive(Clone, Debug)]
pub struct Interest {
    /// 0: not known yet.
    address: u64,
    /// Addresses, and a thread that has accessed each; [`SHARED`] when others have, too.
    seen: Vec<(u64, u32)>,
    /// So many accesses of shared addresses, or so many addresses that become shared, come before.
    left: u64,
    by_use: bool,
}

const SHARED: u32 = u32::MAX;

impl Interest {
    pub fn new(random: &mut Random) -> Interest {
        let by_use = random.one_in(2);
        let log = random.below(if by_use { USES_LOG } else { FIRST_LOG });
        let left = random.below(1 << log);
        Interest { address: 0, seen: Vec::with_capacity(SEEN_MAX), left, by_use }
    }

    /// That address, from the start.
    #[cfg(test)]
    pub fn of(address: u64) -> Interest {
        Interest { address, seen: Vec::new(), left: 0, by_use: false }
    }

    /// 0: not known yet.
    #[inline]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// A thread accesses an address; whether that is the interesting one, and was not known to be.
    #[inline]
    pub fn find(&mut self, thread: usize, address: u64) -> bool {
        self.address == 0 && address != 0 && self.look(thread as u32, address)
    }

    fn look(&mut self, thread: u32, address: u64) -> bool {
        let Some((_, by)) = self.seen.iter_mut().find(|seen| seen.0 == address) else {
            if self.seen.len() < SEEN_MAX {
                self.seen.push((address, thread));
            }
            return false;
        };
        let first = *by != SHARED && *by != thread;
        if first {
            *by = SHARED;
        }
        let counts = if self.by_use { *by == SHARED } else { first };
        if counts && self.left == 0 {
            self.address = address;
        }
        self.left -= u64::from(counts && self.left > 0);
        self.address != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads 0 and 1 share 8, the hot one, and 16; 24 and 32 are each one's own.
    fn drawn(seed: u64) -> u64 {
        let mut interest = Interest::new(&mut Random::new(seed));
        for turn in 0..100u64 {
            let thread = (turn % 2) as usize;
            for address in [8, 8, 24 + 8 * thread as u64, if turn / 2 % 8 == 0 { 16 } else { 8 }] {
                let known = interest.address() != 0;
                let found = interest.find(thread, address);
                assert_eq!(!known && interest.address() != 0, found);
            }
        }
        interest.address()
    }

    #[test]
    fn any_shared_address_is_drawn_the_contended_more_often() {
        let mut counts = [0; 5];
        (0..1000).for_each(|seed| counts[drawn(seed) as usize / 8] += 1);
        assert!(counts[1] > 400 && counts[2] > 100, "{counts:?}");
        assert_eq!(counts[3..], [0, 0]);
    }

    #[test]
    fn nothing_is_shared_by_one_thread() {
        for seed in 0..100 {
            let mut interest = Interest::new(&mut Random::new(seed));
            let found = (0..1000u64).any(|turn| interest.find(3, 8 + turn % 200 * 8));
            assert!(!found && interest.address() == 0);
        }
    }
}
