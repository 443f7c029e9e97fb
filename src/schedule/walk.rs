//! Policy walk: a sticky random walk, which switches threads with a given probability.
//! A switch goes to one of the other threads, uniformly. Uniform choice at every point (Thomson,
//! Donaldson, Betts: Concurrency Testing Using Controlled Schedulers, TOPC 2016) switches too often
//! for bugs that need a thread to get through most of an operation. The best probability differs
//! between bugs.

use super::{THREADS_MAX, View, bit, nth};
use crate::core::random::Random;

/// Maximum number of draws made ahead.
const AHEAD_MAX: u32 = 64;

#[derive(Clone, Debug)]
pub struct Walk {
    random: Random,
    /// The probability of a switch times 2^32.
    threshold: u64,
    /// Draws made ahead that keep the current thread.
    stays: u32,
    /// The draw after those is a switch.
    switches: bool,
}

impl Walk {
    pub fn new(percent: u32, random: Random) -> Walk {
        let threshold = (u64::from(percent.min(100)) << 32) / 100;
        Walk { random, threshold, stays: 0, switches: false }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        match view.only_runnable() {
            Some(thread) => thread,
            None => self.step(view.current, view.runnable, view.yields),
        }
    }

    /// One of `among`, which is not empty: `current` if it is one of them, does not yield, and the
    /// draw is not a switch.
    #[inline]
    pub fn step(&mut self, current: usize, among: u64, yields: bool) -> usize {
        if among & bit(current) != 0 && !yields && self.stays() {
            return current % THREADS_MAX;
        }
        let others = among & !bit(current);
        let from = if others != 0 { others } else { among };
        nth(from, self.random.below(from.count_ones().into()))
    }

    /// Whether the next draw keeps the current thread.
    #[inline]
    fn stays(&mut self) -> bool {
        if self.stays == 0 && !std::mem::take(&mut self.switches) {
            self.look_ahead();
        }
        let stays = self.stays > 0;
        self.stays = self.stays.saturating_sub(1);
        stays
    }

    fn look_ahead(&mut self) {
        while self.stays < AHEAD_MAX {
            let bits = self.random.bits();
            for draw in [bits >> 32, bits & 0xffff_ffff] {
                if draw < self.threshold {
                    self.switches = self.stays > 0;
                    return;
                }
                self.stays += 1;
            }
        }
    }

    /// See [`super::Policy::decided_ahead`].
    #[inline]
    pub fn decided_ahead(&self) -> u64 {
        self.stays.into()
    }

    pub fn skip(&mut self, decisions: u64) {
        self.stays -= decisions as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pending, Policy, Position, RoundSize, Spec};
    use super::*;

    fn switches(percent: u32, steps: u64) -> u64 {
        let size = RoundSize { threads: 4, operations: 9 };
        let mut policy = Policy::new(&Spec::Walk { percent }, 7, &size);
        let pending = [Pending::default(); THREADS_MAX];
        let (mut current, mut switches) = (0, 0);
        for step in 0..steps {
            let (runnable, position) = (0b1111, Position::default());
            let view = View { current, runnable, yields: false, step, position, pending: &pending };
            let next = policy.next(&view);
            switches += u64::from(next != current);
            current = next;
        }
        switches
    }

    #[test]
    fn switches_as_often_as_it_says() {
        for percent in [0, 1, 3, 5, 10, 20, 50, 100] {
            let (expected, steps) = (u64::from(percent) * 1000, 100_000);
            let seen = switches(percent, steps);
            // Five standard deviations are below 5 * sqrt(100,000 / 4) = 800.
            let bound = if percent % 100 == 0 { 0 } else { 800.min(expected / 5) };
            assert!(seen.abs_diff(expected) <= bound, "{percent} %: {seen} of {steps}");
        }
    }

    #[test]
    fn others_are_equally_likely() {
        let mut walk = Walk::new(100, Random::new(3));
        let mut seen = [0u32; 6];
        for _ in 0..40_000 {
            seen[walk.step(2, 0b10_1101, false)] += 1;
        }
        assert_eq!((seen[1], seen[2], seen[4]), (0, 0, 0));
        for thread in [0, 3, 5] {
            assert!(seen[thread].abs_diff(13_333) < 500, "{seen:?}");
        }
    }
}
