//! What plain writes left in memory. A trail comes in, the same with values that were not known
//! when it was noted goes out.
//!
//! A write is noted before it is made, and what it left is read at the next event. Of `*to = *from`
//! that may be too soon: the compiler tells of the write, then of the read, and copies then. What
//! was there when somebody next had to do with that memory is what the write left.

use std::collections::BTreeMap;

use crate::trace::trail::{Act, Event};

/// Bytes of memory that an event knows.
const KNOWN: u32 = 8;

/// The events, with what writes left that seem to have changed nothing.
pub fn settled(trail: &[Event]) -> Vec<Event> {
    let mut events = trail.to_vec();
    // Of each address, what the next event finds there, and how many bytes of it.
    let mut next: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    for event in events.iter_mut().rev() {
        let size = event.size.min(KNOWN);
        match event.act {
            Act::Allocate | Act::Free => {
                let end = event.address.saturating_add(u64::from(event.size.max(1)));
                let gone: Vec<u64> = next.range(event.address..end).map(|(at, _)| *at).collect();
                gone.iter().for_each(|at| {
                    next.remove(at);
                });
                continue;
            }
            Act::Fence | Act::Acquire | Act::Release => continue,
            Act::Block | Act::Wake | Act::Crash => continue,
            Act::Write if event.before == event.after => {
                if let Some((found, bytes)) = next.get(&event.address)
                    && *bytes >= size
                {
                    event.after = low(*found, size);
                }
            }
            _ => {}
        }
        next.insert(event.address, (event.before, size));
    }
    events
}

/// The first so many bytes.
fn low(value: u64, bytes: u32) -> u64 {
    value & (u64::MAX >> (64 - 8 * bytes.clamp(1, KNOWN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(act: Act, address: u64, size: u32, before: u64, after: u64) -> Event {
        Event {
            step: 1,
            thread: 0,
            call: 1,
            act,
            address,
            size,
            before,
            after,
            code: 0,
            around: [0; 4],
        }
    }

    #[test]
    fn what_is_found_next_was_written() {
        let junk = 0xa5a5_a5a5_a5a5_a5a5;
        let trail = [
            event(Act::Write, 0x100, 16, junk, junk),
            event(Act::Read, 0x200, 16, 7, 7),
            event(Act::Read, 0x100, 8, 7, 7),
            event(Act::Write, 0x100, 4, 7, 7),
            event(Act::Load, 0x100, 8, 9 << 32 | 8, 9 << 32 | 8),
        ];
        let after: Vec<u64> = settled(&trail).iter().map(|event| event.after).collect();
        assert_eq!(after, [7, 7, 7, 8, 9 << 32 | 8]);
    }

    /// Of a block that was freed and given out again, what is there later tells nothing.
    #[test]
    fn other_blocks_at_the_same_place_are_others() {
        let trail = [
            event(Act::Write, 0x108, 8, 3, 3),
            event(Act::Free, 0x100, 32, 0, 0),
            event(Act::Allocate, 0x100, 32, 0, 0),
            event(Act::Read, 0x108, 8, 5, 5),
        ];
        assert_eq!(settled(&trail)[0].after, 3);
    }
}
