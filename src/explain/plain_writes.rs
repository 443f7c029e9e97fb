//! Adds the values of plain writes that were unknown when the trail was recorded.
//!
//! A write is recorded before it happens, and its value is read at the next event. For `*to =
//! *from` that may be too early: the compiler calls the hooks of the write and of the read, and
//! copies afterwards. The value that the next access to that memory finds is the one that was
//! written.

use std::collections::BTreeMap;

use crate::trace::trail::{Act, Event};

/// Bytes of a value that an event holds.
const VALUE_BYTES: u32 = 8;

/// The trail, with the values of writes that seem to have changed nothing.
pub fn with_values(trail: &[Event]) -> Vec<Event> {
    let mut events = trail.to_vec();
    // For each address the value that the next event finds there, and its size.
    let mut next: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    for event in events.iter_mut().rev() {
        let size = event.size.min(VALUE_BYTES);
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
        // A read of an older store has found another value than memory has.
        let found = if event.act == Act::ReadsOld { event.after } else { event.before };
        next.insert(event.address, (found, size));
    }
    events
}

/// The lowest bytes of a value.
fn low(value: u64, bytes: u32) -> u64 {
    value & (u64::MAX >> (64 - 8 * bytes.clamp(1, VALUE_BYTES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(act: Act, address: u64, size: u32, before: u64, after: u64) -> Event {
        let (step, thread, call, code) = (1, 0, 1, 0);
        Event { step, thread, call, act, address, size, before, after, code, around: [0; 4] }
    }

    #[test]
    fn the_value_found_next_was_written() {
        let junk = 0xa5a5_a5a5_a5a5_a5a5;
        let trail = [
            event(Act::Write, 0x100, 16, junk, junk),
            event(Act::Read, 0x200, 16, 7, 7),
            event(Act::Read, 0x100, 8, 7, 7),
            event(Act::Write, 0x100, 4, 7, 7),
            event(Act::Load, 0x100, 8, 9 << 32 | 8, 9 << 32 | 8),
        ];
        let after: Vec<u64> = with_values(&trail).iter().map(|event| event.after).collect();
        assert_eq!(after, [7, 7, 7, 8, 9 << 32 | 8]);
    }

    #[test]
    fn a_value_in_a_new_block_at_the_same_address_does_not_count() {
        let trail = [
            event(Act::Write, 0x108, 8, 3, 3),
            event(Act::Free, 0x100, 32, 0, 0),
            event(Act::Allocate, 0x100, 32, 0, 0),
            event(Act::Read, 0x108, 8, 5, 5),
        ];
        assert_eq!(with_values(&trail)[0].after, 3);
    }
}
