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
use super::{Verdict, Witness, witness};
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
enum Want {
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

fn want(op: Op, status: Status) -> Want {
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
    let idle = Open { key: 0, end: NEVER, want: Want::Nothing };
    let mut sets = Sets { keys: Keys::of(history), open: vec![idle; history.threads.len()] };
    for event in Events::new(history) {
        let thread = event.id.thread as usize;
        if event.returns {
            if !sets.settle(thread) {
                return Verdict::Violation(unexplained(history, event.id));
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
    Verdict::Consistent
}

/// The failed operation, those on its key that overlap it, and the key's last two flips before.
fn unexplained(history: &History, failed: OperationId) -> Witness {
    let operation = history.operation(failed);
    let key = history.args(failed)[0];
    let (mut flips, mut around) = (Vec::new(), Vec::new());
    for id in history.ids().filter(|id| *id != failed && history.args(*id)[0] == key) {
        let other = history.operation(id);
        if other.end < operation.start {
            if matches!(want(other.op, other.status), Want::Flip(_)) {
                flips.push((other.end, id));
            }
        } else if other.start <= operation.end {
            around.push((other.start, id));
        }
    }
    flips.sort_unstable();
    around.sort_unstable();
    let flips = &flips[flips.len().saturating_sub(2)..];
    let before = match flips {
        [] => "no operation had changed that key before".to_string(),
        _ => {
            let calls: Vec<_> = flips.iter().map(|(_, id)| witness::call(history, *id)).collect();
            format!("the last changes of that key before it were: {}", calls.join("; "))
        }
    };
    let explanation = format!(
        "No order of the operations on key {key} explains {}: {before}, and the {} operations on \
         that key which overlap it cannot bring about what it saw.",
        witness::call(history, failed),
        around.len()
    );
    let ids = flips.iter().chain(&around).map(|(_, id)| *id);
    Witness { rule: "set-answer", explanation, operations: ids.chain([failed]).collect() }
}
