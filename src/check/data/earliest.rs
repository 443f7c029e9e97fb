//! Finds the thread with the earliest event: by a scan, or by a heap where there are many threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::core::history::{History, NEVER};

/// Bits of a thread's number.
const THREAD_BITS: u32 = 4;
/// Up to so many threads, looking at each is faster than a heap.
const SCANNED_MAX: usize = 1 << THREAD_BITS;
/// Up to this, a stamp leaves room for the thread's number and a bit.
const STAMP_MAX: u64 = (NEVER >> (THREAD_BITS + 1)) - 1;

/// The stamps that are due, [`NEVER`] where none is any more. At equal stamps calls come before
/// returns, and the first thread before others.
pub enum EarliestThread {
    /// By thread: its stamp, a bit for a return and the thread's number, in this order of weight,
    /// so that comparisons without branches find the least. `fours`: groups of four that are in
    /// use.
    Scan { due: [u64; SCANNED_MAX], fours: usize },
    /// For many threads or large stamps: the same, without those that are never due.
    Heap(BinaryHeap<Reverse<(u64, bool, u32)>>),
}

impl EarliestThread {
    /// For the threads of a history; nothing is due of any yet.
    pub fn new(history: &History) -> EarliestThread {
        let last = history.threads.iter().filter_map(|thread| thread.operations().last());
        let last = last.map(|o| if o.end == NEVER { o.start } else { o.end }).max();
        let threads = history.threads.len();
        if threads > SCANNED_MAX || last > Some(STAMP_MAX) {
            return EarliestThread::Heap(BinaryHeap::with_capacity(threads));
        }
        EarliestThread::Scan { due: [NEVER; SCANNED_MAX], fours: threads.div_ceil(4) }
    }

    /// The thread whose event is the earliest. The caller must set its next stamp.
    #[inline(always)]
    pub fn next(&mut self) -> Option<usize> {
        match self {
            EarliestThread::Scan { due, fours } => {
                let mut least = NEVER;
                for four in due.as_chunks::<4>().0.iter().take(*fours) {
                    least = least.min(four[0].min(four[1]).min(four[2].min(four[3])));
                }
                (least != NEVER).then_some(least as usize % SCANNED_MAX)
            }
            EarliestThread::Heap(heap) => heap.pop().map(|Reverse((_, _, thread))| thread as usize),
        }
    }

    /// What is due in a thread now.
    #[inline(always)]
    pub fn set(&mut self, thread: usize, stamp: u64, returns: bool) {
        match self {
            EarliestThread::Scan { due, .. } => {
                let key = (stamp << 1 | u64::from(returns)) << THREAD_BITS | thread as u64;
                due[thread] = if stamp == NEVER { NEVER } else { key };
            }
            EarliestThread::Heap(heap) if stamp != NEVER => {
                heap.push(Reverse((stamp, returns, thread as u32)))
            }
            EarliestThread::Heap(_) => {}
        }
    }
}
