//! Finds which of several threads has the earliest event due: a tournament over the time at which
//! each goes on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::core::history::{History, NEVER};

/// Bits of a line's number.
const LINE_BITS: u32 = 4;
/// Up to so many lines, looking at each is faster than a heap.
const LINES_MAX: usize = 1 << LINE_BITS;
/// Up to this, a stamp leaves room for the line's number and a bit.
const STAMP_MAX: u64 = (NEVER >> (LINE_BITS + 1)) - 1;

/// The stamps that are due, [`NEVER`] where none is any more. At equal stamps calls come before
/// returns, and the first line before others.
pub enum EarliestThread {
    /// By line: its stamp, a bit for a return and the line's number, in this order of weight, so
    /// that comparisons without branches find the least. So many count, in fours.
    Scan { due: [u64; LINES_MAX], fours: usize },
    /// For many lines or large stamps: the same, without those that are never due.
    Heap(BinaryHeap<Reverse<(u64, bool, u32)>>),
}

impl EarliestThread {
    /// For the threads of a history; nothing is due of any yet.
    pub fn new(history: &History) -> EarliestThread {
        let last = history.threads.iter().filter_map(|thread| thread.operations().last());
        let last = last.map(|o| if o.end == NEVER { o.start } else { o.end }).max();
        let lines = history.threads.len();
        if lines > LINES_MAX || last > Some(STAMP_MAX) {
            return EarliestThread::Heap(BinaryHeap::with_capacity(lines));
        }
        EarliestThread::Scan { due: [NEVER; LINES_MAX], fours: lines.div_ceil(4) }
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
                (least != NEVER).then_some(least as usize % LINES_MAX)
            }
            EarliestThread::Heap(heap) => heap.pop().map(|Reverse((_, _, line))| line as usize),
        }
    }

    /// What is due in a line now.
    #[inline(always)]
    pub fn set(&mut self, line: usize, stamp: u64, returns: bool) {
        match self {
            EarliestThread::Scan { due, .. } => {
                let key = (stamp << 1 | u64::from(returns)) << LINE_BITS | line as u64;
                due[line] = if stamp == NEVER { NEVER } else { key };
            }
            EarliestThread::Heap(heap) if stamp != NEVER => {
                heap.push(Reverse((stamp, returns, line as u32)))
            }
            EarliestThread::Heap(_) => {}
        }
    }
}
