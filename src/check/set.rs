//! The set checker: insert, remove and contains of keys that may repeat. A history comes in, the
//! first operation that no order explains goes out. One pass, a bit per key and a slot per thread.
//!
//! On each key the successful inserts and removes must alternate, so all that is free is when the
//! key flips. Flip lazily: only when an operation returns that needs it; and of the open operations
//! that can flip take the one that must return first. An operation that only sees the key's state
//! is satisfied as soon as it is open in that state. Laziness keeps the number of flips minimal
//! at every instant; exchanging two open flips of one kind never hurts when the one taken has the
//! earlier deadline. Keys are independent objects (Herlihy and Wing 1990; Horn and Kroening 2015).

use super::events::Events;
use super::hash::FastMap;
use super::values::Bits;
use super::{Verdict, evidence};
use crate::history::{History, NEVER, OperationId};
use crate::operation::{Op, Status};

/// Where each key's state lies.
enum Keys {
    /// Key less the lowest, where keys are close together.
    Dense {
        low: i64,
        present: Bits,
    },
    Sparse(FastMap<i64, bool>),
}

impl Keys {
    fn of(history: &History) -> Keys {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for thread in &history.threads {
            for operation in thread.operations() {
                let key = thread.args(operation)[0];
                (low, high) = (low.min(key), high.max(key));
            }
        }
        let span = high.wrapping_sub(low) as u64;
        if low <= high && span <= 16 * history.len() as u64 + 1024 {
            Keys::Dense { low, present: Bits::new(span as usize + 1) }
        } else {
            Keys::Sparse(FastMap::default())
        }
    }

    #[inline]
    fn present(&self, key: i64) -> bool {
        match self {
            Keys::Dense { low, present } => present.contains((key - low) as usize),
            Keys::Sparse(map) => map.get(&key).copied().unwrap_or(false),
        }
    }

    #[inline]
    fn toggle(&mut self, key: i64) {
        match self {
            Keys::Dense { low, present } => present.toggle((key - *low) as usize),
            Keys::Sparse(map) => {
                let present = map.entry(key).or_default();
                *present = !*present;
            }
        }
    }
}

/// What an operation asks of its key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Flip it from absent (false) or present (true).
    Flip(bool),
    /// Find it absent or present.
    See(bool),
    Nothing,
}

/// A thread's open operation.
#[derive(Clone, Copy)]
struct Open {
    key: i64,
    end: u64,
    want: Want,
}

pub(super) fn want(op: Op, status: Status) -> Want {
    match (op, status) {
        (Op::SetInsert, Status::Ok) => Want::Flip(false),
        (Op::SetRemove, Status::Ok) => Want::Flip(true),
        (Op::SetInsert, Status::Failed) => Want::See(true),
        (Op::SetRemove, Status::Failed) => Want::See(false),
        (Op::SetContains, Status::Ok | Status::Failed) => Want::See(status == Status::Ok),
        // Of unknown effect: may flip the key, and is never forced to.
        (Op::SetInsert, _) => Want::Flip(false),
        (Op::SetRemove, _) => Want::Flip(true),
        _ => Want::Nothing,
    }
}

struct Sets {
    keys: Keys,
    open: Vec<Open>,
}

impl Sets {
    /// Flips `key`: by the operation of thread `by`, or by the open one with the earliest end.
    #[inline]
    fn flip(&mut self, key: i64, by: Option<usize>) -> bool {
        let present = self.keys.present(key);
        let able = |open: &Open| open.key == key && open.want == Want::Flip(present);
        let by = by.or_else(|| {
            let able = self.open.iter().enumerate().filter(|(_, open)| able(open));
            able.min_by_key(|(_, open)| open.end).map(|(thread, _)| thread)
        });
        let Some(by) = by else { return false };
        self.open[by].want = Want::Nothing;
        self.keys.toggle(key);
        for open in &mut self.open {
            if open.key == key && open.want == Want::See(!present) {
                open.want = Want::Nothing;
            }
        }
        true
    }

    /// The operation of `thread` returns: what it wants must happen now if it has not yet.
    #[inline]
    fn settle(&mut self, thread: usize) -> bool {
        let Open { key, want, .. } = self.open[thread];
        match want {
            Want::Nothing => true,
            Want::See(_) => self.flip(key, None),
            Want::Flip(from) => {
                (self.keys.present(key) == from || self.flip(key, None))
                    && self.flip(key, Some(thread))
            }
        }
    }
}

pub fn check(history: &History) -> Verdict {
    match first_unexplained(history) {
        None => Verdict::Consistent,
        Some(failed) => Verdict::Violation(evidence::of(history, failed)),
    }
}

/// The first operation, in the order of returns, whose answer no order brings about.
pub(super) fn first_unexplained(history: &History) -> Option<OperationId> {
    let idle = Open { key: 0, end: NEVER, want: Want::Nothing };
    let mut sets = Sets { keys: Keys::of(history), open: vec![idle; history.threads.len()] };
    for event in Events::new(history) {
        let thread = event.id.thread as usize;
        if event.returns {
            if !sets.settle(thread) {
                return Some(event.id);
            }
            sets.open[thread].want = Want::Nothing;
        } else {
            let key = history.threads[thread].args(event.operation)[0];
            let mut want = want(event.operation.op, event.operation.status);
            if want == Want::See(sets.keys.present(key)) {
                want = Want::Nothing;
            }
            sets.open[thread] = Open { key, end: event.operation.end, want };
        }
    }
    None
}
