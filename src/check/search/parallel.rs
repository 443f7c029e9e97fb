//! Judges independent keys on several threads. Each thread walks over all events and skips those of
//! other threads' keys, which costs little. The verdict is the same as that of one walk.
//!
//! Of several violations the witness is the one that comes first in the history, whoever finds it;
//! once one is found, no walk goes beyond it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::check::data::events::HistoryEvent;
use crate::check::undecided::Exhausted;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, NEVER};

/// Below so many operations for each, threads do not pay.
const OPERATIONS_MIN: usize = 50_000;

/// A violation, and when the operation that nothing explains returned, on which thread.
pub struct Failed {
    at: (u64, u32),
    witness: Witness,
}

/// Some of the keys.
pub struct Share<'a> {
    number: u64,
    of: u64,
    /// When the earliest violation so far was.
    earliest: &'a AtomicU64,
}

impl Share<'_> {
    #[inline]
    pub fn has(&self, key: i64) -> bool {
        self.of == 1 || scattered(key) % self.of == self.number
    }

    /// Whether a violation before `now` was found elsewhere.
    #[inline]
    pub fn is_beaten(&self, now: u64) -> bool {
        self.of > 1 && self.earliest.load(Ordering::Relaxed) < now
    }

    /// No order explains the operation that returns with `event`.
    pub fn failed(&self, event: HistoryEvent, witness: Witness) -> Failed {
        self.earliest.fetch_min(event.time, Ordering::Relaxed);
        Failed { at: (event.time, event.id.thread), witness }
    }
}

/// Neighbouring keys in different shares, whatever is between them.
fn scattered(key: i64) -> u64 {
    (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// The verdict of walks over all keys.
pub fn judge(
    history: &History,
    limits: &Limits,
    walk: impl Fn(&Limits, &Share) -> Result<Option<Failed>, Exhausted> + Sync,
) -> Verdict {
    let (earliest, jobs) = (AtomicU64::new(NEVER), limits.jobs.min(history.len() / OPERATIONS_MIN));
    let share = |number, of| Share { number, of, earliest: &earliest };
    if jobs <= 1 {
        return match walk(limits, &share(0, 1)) {
            Ok(None) => Verdict::Consistent,
            Ok(Some(failed)) => Verdict::Violation(failed.witness),
            Err(exhausted) => Verdict::Inconclusive(exhausted.into()),
        };
    }
    let limits = &Limits { memory_max: limits.memory_max / jobs, ..limits.clone() };
    let found = Mutex::new((None::<Failed>, None));
    std::thread::scope(|scope| {
        for number in 0..jobs as u64 {
            let (share, walk, found) = (share(number, jobs as u64), &walk, &found);
            scope.spawn(move || {
                let result = walk(limits, &share);
                let (failed, exhausted) = &mut *found.lock().expect("no thread panics with it");
                match result {
                    Ok(Some(new)) if failed.as_ref().is_none_or(|other| new.at < other.at) => {
                        *failed = Some(new);
                    }
                    Ok(_) => {}
                    Err(new) => *exhausted = Some(new),
                }
            });
        }
    });
    // A violation is one however much of the rest was not decided.
    match found.into_inner().expect("every thread has ended") {
        (Some(failed), _) => Verdict::Violation(failed.witness),
        (None, Some(exhausted)) => Verdict::Inconclusive(exhausted.into()),
        (None, None) => Verdict::Consistent,
    }
}
