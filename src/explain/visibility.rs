//! Marks the events of a trail that matter: those by which threads can notice each other while
//! certain calls are under way.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::trace::trail::{Act, Event};

/// Accesses are compared by words of 8 bytes.
const WORD_LOG: u32 = 3;

/// The threads that used a word while the calls were under way.
#[derive(Default)]
struct Use {
    /// A bit for each thread.
    users: u64,
    writers: u64,
}

impl Use {
    /// Whether several threads use the word and one of them changes it.
    fn is_contended(&self) -> bool {
        self.users.count_ones() > 1 && self.writers != 0
    }
}

/// The thread of a call, and its steps from invocation to response.
pub struct CallSpan {
    pub thread: u32,
    pub steps: RangeInclusive<u64>,
}

impl CallSpan {
    /// Whether the event is part of the call.
    pub fn has(&self, event: &Event) -> bool {
        self.thread == event.thread && self.steps.contains(&event.step)
    }
}

/// What matters about an event.
#[derive(Clone, Copy, Default)]
pub struct Mark {
    pub matters: bool,
    /// Whether it matters and does more than read what its thread already knows.
    pub is_news: bool,
    /// Whether it matters and is the last read of memory in its call before another thread changes
    /// that memory within the call, or is that change: the call may rely on an outdated value.
    pub crosses: bool,
}

pub fn mark(trail: &[Event], calls: &[CallSpan]) -> Vec<Mark> {
    let meanwhile = |event: &Event| calls.iter().any(|call| call.has(event));
    let mut uses: HashMap<u64, Use> = HashMap::new();
    for event in trail.iter().filter(|event| meanwhile(event)) {
        let thread = 1u64 << (event.thread % 64);
        for word in words(event) {
            let used = uses.entry(word).or_default();
            used.users |= thread;
            if changes_memory(event) {
                used.writers |= thread;
            }
        }
    }
    let mut known = Known::default();
    let crossing = crossing(trail, calls);
    let mark = |(at, event): (usize, &Event)| match event.act {
        _ if !meanwhile(event) => Mark::default(),
        Act::Fence | Act::Allocate => Mark::default(),
        Act::Acquire | Act::Release | Act::Block | Act::Wake | Act::Crash => {
            Mark { matters: true, is_news: true, crosses: false }
        }
        _ => {
            let contended = |word| uses.get(&word).is_some_and(Use::is_contended);
            let (is_news, contended) = (known.note(event), words(event).any(contended));
            let (is_news, crosses) = (contended && (is_news || crossing[at]), crossing[at]);
            // An atomic load matters even if it finds nothing new.
            let is_atomic_read = contended && event.act == Act::Load;
            Mark { matters: is_news || is_atomic_read, is_news, crosses: contended && crosses }
        }
    };
    trail.iter().enumerate().map(mark).collect()
}

/// For each event whether it is such a read or such a change (see [`Mark::crosses`]).
fn crossing(trail: &[Event], calls: &[CallSpan]) -> Vec<bool> {
    let mut marks = vec![false; trail.len()];
    // Going backwards: the next change of each word by each thread, the nearest one last.
    let mut changed: HashMap<u64, Vec<Change>> = HashMap::new();
    for (at, event) in trail.iter().enumerate().rev() {
        let call = calls.iter().find(|call| call.has(event));
        for word in words(event) {
            if let (Some(call), Some(changes)) = (call, changed.get_mut(&word))
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
                let changes = changed.entry(word).or_default();
                changes.retain(|change| change.thread != event.thread);
                changes.push(Change { thread: event.thread, step: event.step, at, readers: 0 });
            }
        }
    }
    marks
}

/// A thread's next change of a word.
struct Change {
    thread: u32,
    step: u64,
    /// Its index in the trail.
    at: usize,
    /// A bit for each thread that reads the word before.
    readers: u64,
}

/// The words that each thread has read or written and no other thread has changed since. Reading
/// one of them again is no news.
#[derive(Default)]
struct Known {
    /// For each word a bit for each thread that knows it.
    knowing: HashMap<u64, u64>,
}

impl Known {
    /// Whether the event is more than a read of words that its thread knows.
    fn note(&mut self, event: &Event) -> bool {
        let thread = 1u64 << (event.thread % 64);
        let mut is_new = !matches!(event.act, Act::Load | Act::Read);
        for word in words(event) {
            let knowing = self.knowing.entry(word).or_default();
            is_new |= *knowing & thread == 0;
            *knowing = if changes_memory(event) { thread } else { *knowing | thread };
        }
        is_new
    }
}

pub fn changes_memory(event: &Event) -> bool {
    match event.act {
        Act::Store
        | Act::Write
        | Act::ReadModifyWrite
        | Act::CompareExchange
        | Act::Drain
        | Act::Free => true,
        // Memory changes when the store is drained.
        Act::Buffer => false,
        Act::Load | Act::Read | Act::FailedCompareExchange | Act::Fence | Act::Allocate => false,
        Act::Acquire | Act::Release | Act::Block | Act::Wake | Act::Crash => false,
    }
}

/// The words of memory that the event uses; none of new memory, which no other thread knows yet.
fn words(event: &Event) -> impl Iterator<Item = u64> {
    let locks = matches!(event.act, Act::Acquire | Act::Release | Act::Block | Act::Wake);
    let is_unshared = matches!(event.act, Act::Allocate | Act::Crash);
    let none = event.address == 0 || is_unshared || locks;
    let bytes = if none { 0 } else { u64::from(event.size.max(1)) };
    let (first, end) = (event.address, event.address.saturating_add(bytes));
    (first >> WORD_LOG..end.div_ceil(1 << WORD_LOG)).take(if none { 0 } else { 1 << 12 })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(marks.iter().filter(|mark| mark.crosses).count(), 0);
        assert!(!marks[1].is_news && marks[5].is_news);
        // Now the second call of thread 0 lasts longer.
        let calls = [(0, 1..=9), (0, 10..=25), (1, 21..=30), (0, 31..=40)];
        let calls = calls.map(|(thread, steps)| CallSpan { thread, steps });
        let marks = mark(&trail, &calls);
        let crosses: Vec<bool> = marks.iter().map(|mark| mark.crosses).collect();
        assert_eq!(crosses, [false, false, true, false, true, false]);
        assert!(!marks[1].is_news && marks[2].is_news && !marks[3].matters);
    }
}
