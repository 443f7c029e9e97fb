//! Which events of a trail matter: those by which threads can notice each other while certain calls
//! are under way. A trail and those calls come in, a mark for each event goes out.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::trace::trail::{Act, Event};

/// Memory is told apart in words of so many bytes.
const WORD_LOG: u32 = 3;

/// What was done with a word meanwhile.
#[derive(Default)]
struct Use {
    /// A bit for each thread.
    users: u64,
    writers: u64,
}

impl Use {
    /// Several threads use it, and one of them changes it.
    fn is_contended(&self) -> bool {
        self.users.count_ones() > 1 && self.writers != 0
    }
}

/// A call: its thread, and the steps from its beginning to its end.
pub struct Under {
    pub thread: u32,
    pub steps: RangeInclusive<u64>,
}

impl Under {
    /// Whether its thread did that in it.
    pub fn has(&self, event: &Event) -> bool {
        self.thread == event.thread && self.steps.contains(&event.step)
    }
}

/// What there is to say of an event.
#[derive(Clone, Copy, Default)]
pub struct Mark {
    pub matters: bool,
    /// As well.
    pub is_news: bool,
    /// As well: it is the last look of its call at memory that another thread changes before the
    /// call is over, or that change. What was seen is gone by the time it may be relied on.
    pub crosses: bool,
}

pub fn of(trail: &[Event], calls: &[Under]) -> Vec<Mark> {
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
            // What the program takes for news itself is told, too.
            let looks = contended && event.act == Act::Load;
            Mark { matters: is_news || looks, is_news, crosses: contended && crosses }
        }
    };
    trail.iter().enumerate().map(mark).collect()
}

/// Of each event, whether it is such a look, or such a change.
fn crossing(trail: &[Event], calls: &[Under]) -> Vec<bool> {
    let mut marks = vec![false; trail.len()];
    // Of each word, from the end on, the next change by each thread, the nearest last.
    let mut changed: HashMap<u64, Vec<Change>> = HashMap::new();
    for (at, event) in trail.iter().enumerate().rev() {
        let call = calls.iter().find(|call| call.has(event));
        for word in words(event) {
            if let (Some(call), Some(changes)) = (call, changed.get_mut(&word))
                && !changes_memory(event)
                && let Some(change) = changes.iter_mut().rfind(|of| of.thread != event.thread)
                && call.steps.contains(&change.step)
            {
                let thread = 1u64 << (event.thread % 64);
                if change.seen & thread == 0 {
                    (marks[at], marks[change.at]) = (true, true);
                }
                change.seen |= thread;
            }
            if changes_memory(event) {
                let changes = changed.entry(word).or_default();
                changes.retain(|change| change.thread != event.thread);
                changes.push(Change { thread: event.thread, step: event.step, at, seen: 0 });
            }
        }
    }
    marks
}

/// A change of a word by a thread, the next one from where it is looked for.
struct Change {
    thread: u32,
    step: u64,
    /// Its number in the trail.
    at: usize,
    /// A bit for each thread that looks at it before.
    seen: u64,
}

/// What each thread knows of memory: to read again what one has read or written, and nobody has
/// changed since, tells nothing.
#[derive(Default)]
struct Known {
    /// Of each word, a bit for each thread that knows it.
    knowing: HashMap<u64, u64>,
}

impl Known {
    /// Whether the event changes memory, fails to, or tells its thread something new.
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
        Act::Store | Act::Write | Act::Exchange | Act::Swap | Act::Drain | Act::Free => true,
        // Its thread knows it, others learn of it when it is in memory.
        Act::Buffer => false,
        Act::Load | Act::Read | Act::FailedSwap | Act::Fence | Act::Allocate => false,
        Act::Acquire | Act::Release | Act::Block | Act::Wake | Act::Crash => false,
    }
}

/// The words of memory it is about. New memory is nobody else's yet.
fn words(event: &Event) -> impl Iterator<Item = u64> {
    let locks = matches!(event.act, Act::Acquire | Act::Release | Act::Block | Act::Wake);
    let nobodys = matches!(event.act, Act::Allocate | Act::Crash);
    let none = event.address == 0 || nobodys || locks;
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

    /// A look that tells its thread nothing new is told all the same where what was seen is changed
    /// before its call is over.
    #[test]
    fn looks_that_are_outdated_within_their_call_are_news() {
        let calls = [(0, 1..=9), (1, 1..=9), (0, 10..=20), (1, 21..=30), (0, 31..=40)];
        let calls = calls.map(|(thread, steps)| Under { thread, steps });
        let trail = [
            event(2, 0, Act::Read, 0x100),
            event(11, 0, Act::Read, 0x100),
            event(12, 0, Act::Read, 0x100),
            event(15, 0, Act::Read, 0x200),
            event(22, 1, Act::Write, 0x100),
            event(32, 0, Act::Read, 0x100),
        ];
        // The changes come when the calls that looked are over.
        let marks = of(&trail, &calls);
        assert_eq!(marks.iter().filter(|mark| mark.crosses).count(), 0);
        assert!(!marks[1].is_news && marks[5].is_news);
        // Now the third call is under way for longer.
        let calls = [(0, 1..=9), (0, 10..=25), (1, 21..=30), (0, 31..=40)];
        let calls = calls.map(|(thread, steps)| Under { thread, steps });
        let marks = of(&trail, &calls);
        let crosses: Vec<bool> = marks.iter().map(|mark| mark.crosses).collect();
        assert_eq!(crosses, [false, false, true, false, true, false]);
        assert!(!marks[1].is_news && marks[2].is_news && !marks[3].matters);
    }
}
