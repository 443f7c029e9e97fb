//! Lots: a random number for each thread, drawn when it is first needed, so that threads may appear
//! at any time. The order of the lots is a uniformly random order of the threads. Knows nothing of
//! what policies make of that order.

use super::{THREADS_MAX, bit, each};
use crate::core::random::Random;

/// Every drawn lot is at least this; policies may set lower ones.
pub const LOWEST: u64 = 1 << 63;

#[derive(Clone, Debug)]
pub struct Lots {
    random: Random,
    drawn: u64,
    lots: [u64; THREADS_MAX],
}

impl Lots {
    /// With lots for the first `threads`.
    pub fn new(threads: usize, random: Random) -> Lots {
        let mut lots = Lots { random, drawn: 0, lots: [0; THREADS_MAX] };
        lots.draw(if threads < THREADS_MAX { bit(threads) - 1 } else { u64::MAX });
        lots
    }

    /// Lots for those of `threads` that have none.
    #[inline]
    pub fn draw(&mut self, threads: u64) {
        for thread in each(threads & !self.drawn) {
            self.lots[thread] = LOWEST | self.random.bits();
        }
        self.drawn |= threads;
    }

    /// They draw anew when next asked for.
    #[inline]
    pub fn forget(&mut self, threads: u64) {
        self.drawn &= !threads;
    }

    /// The threads that have lots.
    #[inline]
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    #[inline]
    pub fn of(&self, thread: usize) -> u64 {
        self.lots[thread % THREADS_MAX]
    }

    pub fn set(&mut self, thread: usize, lot: u64) {
        self.drawn |= bit(thread);
        self.lots[thread % THREADS_MAX] = lot;
    }

    /// Who of `threads`, which have lots and are not empty, has the highest.
    #[inline]
    pub fn highest(&self, threads: u64) -> usize {
        let mut best = (0, 0);
        for thread in each(threads) {
            if self.lots[thread] > best.0 {
                best = (self.lots[thread], thread);
            }
        }
        best.1
    }

    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}
