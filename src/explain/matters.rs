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

/// Whether an event matters, and whether it is news as well.
pub type Mark = (bool, bool);

pub fn of(trail: &[Event], calls: &[Under]) -> Vec<Mark> {
    let meanwhile = |event: &Event| calls.iter().any(|call| call.has(event));
    let mut uses: HashMap<u64, Use> = HashMap::new();
    for event in trail.iter().filter(|event| meanwhile(event)) {
        let thread = 1u64 << (event.thread % 64);
        for word in words(event) {
            let used = uses.entry(word).or_default();
            used.users |= thread;
            if changes(event) {
                used.writers |= thread;
            }
        }
    }
    let mut known = Known::default();
    let mut matters = |event: &Event| match event.act {
        Act::Fence | Act::Allocate => (false, false),
        Act::Acquire | Act::Release | Act::Block => (true, true),
        _ => {
            let contended = |word| uses.get(&word).is_some_and(Use::is_contended);
            let (is_news, contended) = (known.note(event), words(event).any(contended));
            // What the program takes for news itself is told, too.
            let looks = event.act == Act::Load;
            (contended && (is_news || looks), contended && is_news)
        }
    };
    let none = (false, false);
    trail.iter().map(|event| if meanwhile(event) { matters(event) } else { none }).collect()
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
            *knowing = if changes(event) { thread } else { *knowing | thread };
        }
        is_new
    }
}

fn changes(event: &Event) -> bool {
    match event.act {
        Act::Store | Act::Write | Act::Exchange | Act::Swap | Act::Free => true,
        Act::Load | Act::Read | Act::FailedSwap | Act::Fence | Act::Allocate => false,
        Act::Acquire | Act::Release | Act::Block => false,
    }
}

/// The words of memory it is about. New memory is nobody else's yet.
fn words(event: &Event) -> impl Iterator<Item = u64> {
    let locks = matches!(event.act, Act::Acquire | Act::Release | Act::Block);
    let none = event.address == 0 || event.act == Act::Allocate || locks;
    let bytes = if none { 0 } else { u64::from(event.size.max(1)) };
    let (first, end) = (event.address, event.address.saturating_add(bytes));
    (first >> WORD_LOG..end.div_ceil(1 << WORD_LOG)).take(if none { 0 } else { 1 << 12 })
}
