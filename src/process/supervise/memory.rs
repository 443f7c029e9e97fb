//! Watches how much memory a process takes while it makes no progress: a leak is no hang.

use crate::core::plan::Plan;

/// A process is out of memory if it has taken this part of its limit, of [`FULL_OF`], and most of
/// that since it last made progress.
const FULL: u64 = 7;
const FULL_OF: u64 = 8;

/// The memory that a process has to itself, in bytes.
pub(super) struct MemoryWatch {
    max: u64,
    /// What it must take in the time of a hang to count as filling its memory.
    much: u64,
    seen: Option<Seen>,
}

/// Since progress ended.
#[derive(Clone, Copy)]
struct Seen {
    first: u64,
    /// When it was asked last whether it fills.
    asked: u64,
    most: u64,
}

impl MemoryWatch {
    pub fn new(plan: &Plan) -> MemoryWatch {
        MemoryWatch { max: plan.memory_mib_max << 20, much: plan.leak_bytes(), seen: None }
    }

    /// There was progress.
    pub fn begin_anew(&mut self) {
        self.seen = None;
    }

    pub fn look(&mut self, process: u32) {
        let now = own_bytes(process);
        let seen = self.seen.unwrap_or(Seen { first: now, asked: now, most: now });
        self.seen = Some(Seen { most: seen.most.max(now), ..seen });
    }

    /// Whether it took much since this was asked last.
    pub fn is_filling(&mut self) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        let grown = seen.most - seen.asked;
        seen.asked = seen.most;
        grown > self.much
    }

    /// Whether it took nearly all, most of it since progress ended.
    pub fn is_full(&self) -> bool {
        let is_full = |seen: Seen| {
            seen.most >= self.max / FULL_OF * FULL && seen.most - seen.first > self.max / 2
        };
        self.seen.is_some_and(is_full)
    }
}

/// What the process touched and shares with none; 0 where it is not known.
fn own_bytes(process: u32) -> u64 {
    let sizes = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let mut pages = sizes.split_whitespace().skip(1).map(|word| word.parse().unwrap_or(0));
    let (resident, shared): (u64, u64) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}
