//! Draws the interesting address of a round: one that several threads access.
//! It is drawn while accesses arrive, without knowing which will follow. Half of the rounds draw it
//! by number of accesses, which favours contended addresses; the others by the order in which
//! addresses become shared, which gives rarely used addresses a chance.

use crate::core::random::Random;

/// Only this many addresses, the first ones accessed, can be drawn.
const SEEN_MAX: usize = 128;
/// The number of accesses to shared addresses that are passed over is below 2 to the power of a
/// random number below this.
const USES_LOG: u64 = 6;
/// The same for addresses in the order in which they become shared.
const FIRST_LOG: u64 = 4;

#[derive(Clone, Debug)]
pub struct InterestingAddress {
    /// 0: not known yet.
    address: u64,
    /// Each address with the thread that has accessed it, or [`SHARED`] if several have.
    seen: Vec<(u64, u32)>,
    /// Accesses to shared addresses, or addresses that become shared, still to pass over.
    left: u64,
    by_use: bool,
}

const SHARED: u32 = u32::MAX;

impl InterestingAddress {
    pub fn new(random: &mut Random) -> InterestingAddress {
        let by_use = random.one_in(2);
        let log = random.below(if by_use { USES_LOG } else { FIRST_LOG });
        let left = random.below(1 << log);
        InterestingAddress { address: 0, seen: Vec::with_capacity(SEEN_MAX), left, by_use }
    }

    /// This address, from the start.
    #[cfg(test)]
    pub fn fixed(address: u64) -> InterestingAddress {
        InterestingAddress { address, seen: Vec::new(), left: 0, by_use: false }
    }

    /// 0: not known yet.
    #[inline]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Takes note of an access. Whether it made `address` the interesting one.
    #[inline]
    pub fn observe(&mut self, thread: usize, address: u64) -> bool {
        self.address == 0 && address != 0 && self.count(thread as u32, address)
    }

    fn count(&mut self, thread: u32, address: u64) -> bool {
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

    /// Threads 0 and 1 share 8, often accessed, and 16. Only one of them accesses 24, and 32.
    fn drawn(seed: u64) -> u64 {
        let mut interest = InterestingAddress::new(&mut Random::new(seed));
        for turn in 0..100u64 {
            let thread = (turn % 2) as usize;
            for address in [8, 8, 24 + 8 * thread as u64, if turn / 2 % 8 == 0 { 16 } else { 8 }] {
                let known = interest.address() != 0;
                let found = interest.observe(thread, address);
                assert_eq!(!known && interest.address() != 0, found);
            }
        }
        interest.address()
    }

    #[test]
    fn each_shared_address_is_drawn_and_contended_ones_more_often() {
        let mut counts = [0; 5];
        (0..1000).for_each(|seed| counts[drawn(seed) as usize / 8] += 1);
        assert!(counts[1] > 400 && counts[2] > 100, "{counts:?}");
        assert_eq!(counts[3..], [0, 0]);
    }

    #[test]
    fn addresses_of_one_thread_are_not_drawn() {
        for seed in 0..100 {
            let mut interest = InterestingAddress::new(&mut Random::new(seed));
            let found = (0..1000u64).any(|turn| interest.observe(3, 8 + turn % 200 * 8));
            assert!(!found && interest.address() == 0);
        }
    }
}
