//! Finds the events of a trail on which an explanation depends. They are shown, whatever is left
//! out.
//!
//! - A read that is outdated before its call returns, and the change by another thread.
//! - Of calls that are not as if one came after the other: the conflicts that make a cycle
//!   (Papadimitriou, The Serializability of Concurrent Database Updates, JACM 1979). In some
//!   conflict a call was first, and another call in another one.
//! - A store that waits in a store buffer, who misses it, and when it reaches memory.
//! - A read of an older store, and the newest one, which it does not see.
//! - A wait that does not end, and the last wake-up before it.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::older_stores;
use super::visibility::{CallSpan, bytes, changes_memory};
use crate::trace::trail::{Act, Event};

/// Of each side of a call's cycle, so many conflicts are shown.
const CONFLICTS_MAX: usize = 4;

/// For each event whether it is one of them. `is_contended` says which bytes several threads use.
pub fn events(
    trail: &[Event],
    calls: &[CallSpan],
    is_contended: &dyn Fn(u64) -> bool,
) -> Vec<bool> {
    let mut marks = vec![false; trail.len()];
    outdated_reads(trail, calls, &mut marks);
    let mut doings = FxHashMap::default();
    for (at, event) in trail.iter().enumerate() {
        doings.entry((event.thread, event.call)).or_insert((at, at)).1 = at;
    }
    for call in calls {
        let conflicts = Conflicts { trail, call, doings: &doings, is_contended };
        conflicts.cycle().into_iter().for_each(|at| marks[at] = true);
    }
    missed_stores(trail, &mut marks);
    missed_wakeups(trail, &mut marks);
    old_reads(trail, &mut marks);
    marks
}

/// Marks the last read of memory in a call before another thread changes that memory within the
/// call, and that change: the call may rely on an outdated value.
fn outdated_reads(trail: &[Event], calls: &[CallSpan], marks: &mut [bool]) {
    // Going backwards: the next change of each byte by each thread, the nearest one last.
    let mut changed: FxHashMap<u64, Vec<Change>> = FxHashMap::default();
    for (at, event) in trail.iter().enumerate().rev() {
        let call = calls.iter().find(|call| call.has(event));
        for byte in bytes(event) {
            if let (Some(call), Some(changes)) = (call, changed.get_mut(&byte))
                && !changes_memory(event)
                && let Some(change) =
                    changes.iter_mut().rfind(|change| change.thread != event.thread)
                && call.steps.contains(&change.step)
            {
                let thread = 1u64 << (event.thread % 64);
                if change.readers & thread == 0 {
                    (marks[at], marks[change.at]) = (true, true);
                }
                change.readers |= thread;
            }
            if changes_memory(event) {
                let changes = changed.entry(byte).or_default();
                changes.retain(|change| change.thread != event.thread);
                changes.push(Change { thread: event.thread, step: event.step, at, readers: 0 });
            }
        }
    }
}

/// A thread's next change of a byte.
struct Change {
    thread: u32,
    step: u64,
    /// Its index in the trail.
    at: usize,
    /// A bit for each thread that reads the byte before.
    readers: u64,
}

/// The conflicts of a call with what others do meanwhile.
struct Conflicts<'a> {
    trail: &'a [Event],
    call: &'a CallSpan,
    /// The first and the last event of each thread's call, or of a thread of the target.
    doings: &'a FxHashMap<(u32, u32), (usize, usize)>,
    is_contended: &'a dyn Fn(u64) -> bool,
}

/// Two conflicting accesses: the call's and another thread's, by their index.
#[derive(Clone, Copy, PartialEq)]
struct Conflict {
    own: usize,
    other: usize,
}

/// The nearest accesses of a byte: any, and one that changes it.
#[derive(Clone, Copy, Default)]
struct Nearest {
    any: Option<usize>,
    change: Option<usize>,
}

impl Conflicts<'_> {
    /// The accesses of the cycle, if there is one.
    fn cycle(&self) -> Vec<usize> {
        let meanwhile = |at: &usize| self.call.steps.contains(&self.trail[*at].step);
        let meanwhile: Vec<usize> = (0..self.trail.len()).filter(meanwhile).collect();
        // The call is first; another one is.
        let before = self.along(meanwhile.iter().copied());
        let after = self.along(meanwhile.iter().rev().copied());
        // What began after the call's conflict may be the same call as, or one that comes before,
        // what ended before its other conflict.
        let first = before.iter().map(|conflict| self.doing(conflict.other).0).min();
        let last = after.iter().map(|conflict| self.doing(conflict.other).1).max();
        let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
        let before = before.iter().filter(|c| self.doing(c.other).0 <= last).take(CONFLICTS_MAX);
        let after = after.iter().filter(|c| self.doing(c.other).1 >= first).take(CONFLICTS_MAX);
        match (before.clone().next(), after.clone().next()) {
            (Some(_), Some(_)) => before.chain(after).flat_map(|c| [c.own, c.other]).collect(),
            _ => Vec::new(),
        }
    }

    /// The first and the last event of the call that an event belongs to.
    fn doing(&self, at: usize) -> (usize, usize) {
        let event = &self.trail[at];
        self.doings[&(event.thread, event.call)]
    }

    /// The first conflict of each byte in this direction of time: an access of the call, and then
    /// another thread's.
    fn along(&self, events: impl Iterator<Item = usize>) -> Vec<Conflict> {
        let mut own: FxHashMap<u64, Nearest> = FxHashMap::default();
        let (mut found, mut conflicts) = (FxHashSet::default(), Vec::new());
        for at in events {
            let event = &self.trail[at];
            let changes = changes_memory(event);
            for byte in bytes(event).filter(|byte| (self.is_contended)(*byte)) {
                if event.thread == self.call.thread {
                    let nearest = own.entry(byte).or_default();
                    nearest.any = Some(at);
                    nearest.change = if changes { Some(at) } else { nearest.change };
                    continue;
                }
                let Some(nearest) = own.get(&byte) else { continue };
                let access = if changes { nearest.any } else { nearest.change };
                let Some(own) = access.filter(|_| found.insert(byte)) else { continue };
                let conflict = Conflict { own, other: at };
                if conflicts.last() != Some(&conflict) {
                    conflicts.push(conflict);
                }
            }
        }
        conflicts
    }
}

/// Marks the stores that others missed while they waited in a store buffer, the first such access
/// of another thread, and when they reached memory.
fn missed_stores(trail: &[Event], marks: &mut [bool]) {
    let mut waiting: FxHashMap<u32, VecDeque<usize>> = FxHashMap::default();
    for (at, event) in trail.iter().enumerate() {
        let waiting = waiting.entry(event.thread).or_default();
        match event.act {
            Act::Buffer => waiting.push_back(at),
            Act::Drain => {
                let Some(from) = waiting.pop_front() else { continue };
                let overlaps = |one: Range<u64>, other: Range<u64>| {
                    one.start.max(other.start) < one.end.min(other.end)
                };
                let misses = |other: &Event| {
                    other.thread != event.thread && overlaps(bytes(other), bytes(event))
                };
                let missed = (from..at).find(|at| misses(&trail[*at]));
                let all = [Some(from), missed, Some(at)];
                all.into_iter().flatten().for_each(|at| marks[at] = true);
            }
            _ => {}
        }
    }
}

/// Marks the reads of older stores, and the newest ones that they do not see.
fn old_reads(trail: &[Event], marks: &mut [bool]) {
    for (at, event) in trail.iter().enumerate() {
        let newest = match event.act {
            Act::ReadsOld => event.after,
            Act::StoresOld => event.before,
            _ => continue,
        };
        let unseen = older_stores::stored(&trail[..at], event, newest);
        [Some(at), unseen].into_iter().flatten().for_each(|at| marks[at] = true);
    }
}

/// Marks the waits that do not end, and the last wake-up before each.
fn missed_wakeups(trail: &[Event], marks: &mut [bool]) {
    let mut threads = FxHashSet::default();
    for (at, event) in trail.iter().enumerate().rev() {
        if threads.insert(event.thread) && event.act == Act::Block {
            let wakes = |other: &Event| (other.act, other.address) == (Act::Wake, event.address);
            let missed = trail[..at].iter().rposition(wakes);
            [Some(at), missed].into_iter().flatten().for_each(|at| marks[at] = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::visibility::mark;
    use super::*;

    fn event(step: u64, thread: u32, act: Act, address: u64) -> Event {
        let (size, before, after) = (8, 0, 0);
        Event { step, thread, call: 1, act, address, size, before, after, code: 0, around: [0; 4] }
    }

    #[test]
    fn reads_that_are_outdated_within_their_call_are_news() {
        let calls = [(0, 1..=9), (1, 1..=9), (0, 10..=20), (1, 21..=30), (0, 31..=40)];
        let calls = calls.map(|(thread, steps)| CallSpan { thread, steps });
        let trail = [
            event(2, 0, Act::Read, 0x100),
            event(11, 0, Act::Read, 0x100),
            event(12, 0, Act::Read, 0x100),
            event(15, 0, Act::Read, 0x200),
            event(22, 1, Act::Write, 0x100),
            event(32, 0, Act::Read, 0x100),
        ];
        // The changes come after the reading calls have returned.
        let marks = mark(&trail, &calls);
        assert_eq!(marks.iter().filter(|mark| mark.decides).count(), 0);
        assert!(!marks[1].is_news && marks[5].is_news);
        // Now the second call of thread 0 lasts longer.
        let calls = [(0, 1..=9), (0, 10..=25), (1, 21..=30), (0, 31..=40)];
        let calls = calls.map(|(thread, steps)| CallSpan { thread, steps });
        let marks = mark(&trail, &calls);
        let decides: Vec<bool> = marks.iter().map(|mark| mark.decides).collect();
        assert_eq!(decides, [false, false, true, false, true, false]);
        assert!(!marks[1].is_news && marks[2].is_news && !marks[3].matters);
    }

    #[test]
    fn a_call_and_another_that_are_not_one_after_the_other_decide() {
        let access =
            |step, thread, call, act, address| Event { call, ..event(step, thread, act, address) };
        // Both say that they come; each has not seen the other where it matters.
        let both = |other| {
            [
                access(1, 0, 1, Act::Store, 0x100),
                access(2, 1, other, Act::Store, 0x108),
                access(3, 1, other, Act::Load, 0x110),
                access(4, 1, other + 1, Act::Load, 0x100),
                access(5, 0, 1, Act::Load, 0x108),
                access(6, 0, 1, Act::Load, 0x110),
            ]
        };
        let marks = |trail: &[Event]| {
            let calls = [CallSpan { thread: 0, steps: 1..=6 }];
            let marks = events(trail, &calls, &|_| true);
            marks.iter().zip(1..).filter_map(|(mark, at)| mark.then_some(at)).collect::<Vec<_>>()
        };
        let mut trail = both(1);
        // The other thread's first call ends before its second: it can come first, and that last.
        assert!(marks(&trail).is_empty());
        trail[3].call = 1;
        assert_eq!(marks(&trail), [1, 2, 4, 5]);
    }

    #[test]
    fn a_store_that_others_miss_decides() {
        let trail = [
            event(1, 0, Act::Buffer, 0x100),
            event(2, 0, Act::Load, 0x200),
            event(3, 1, Act::Load, 0x104),
            event(4, 1, Act::Load, 0x100),
            event(5, 0, Act::Drain, 0x100),
        ];
        assert_eq!(events(&trail, &[], &|_| true), [true, false, true, false, true]);
    }
}
