//! Random thread priorities, which order the threads uniformly at random.
//! A priority is drawn when it is first needed, because the target may create threads at any time.

use super::{THREADS_MAX, bit, each};
use crate::core::random::Random;

/// Every drawn priority is at least this. Policies may set lower ones.
pub const DRAWN_MIN: u64 = 1 << 63;

#[derive(Clone, Debug)]
pub struct Priorities {
    random: Random,
    drawn: u64,
    values: [u64; THREADS_MAX],
}

impl Priorities {
    /// With priorities for the first `threads`.
    pub fn new(threads: usize, random: Random) -> Priorities {
        let mut all = Priorities { random, drawn: 0, values: [0; THREADS_MAX] };
        all.draw(if threads < THREADS_MAX { bit(threads) - 1 } else { u64::MAX });
        all
    }

    /// Draws priorities for those of `threads` that have none.
    #[inline]
    pub fn draw(&mut self, threads: u64) {
        for thread in each(threads & !self.drawn) {
            self.values[thread] = DRAWN_MIN | self.random.bits();
        }
        self.drawn |= threads;
    }

    /// Discards the priorities of `threads`: the next [`Priorities::draw`] gives them new ones.
    #[inline]
    pub fn redraw(&mut self, threads: u64) {
        self.drawn &= !threads;
    }

    /// The threads that have priorities.
    #[inline]
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    #[inline]
    pub fn get(&self, thread: usize) -> u64 {
        self.values[thread % THREADS_MAX]
    }

    pub fn set(&mut self, thread: usize, priority: u64) {
        self.drawn |= bit(thread);
        self.values[thread % THREADS_MAX] = priority;
    }

    /// The thread with the highest priority; `threads` is not empty, and all of them have one.
    #[inline]
    pub fn highest(&self, threads: u64) -> usize {
        let mut best = (0, 0);
        for thread in each(threads) {
            if self.values[thread] > best.0 {
                best = (self.values[thread], thread);
            }
        }
        best.1
    }

    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}
