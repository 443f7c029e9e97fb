//! Reads of older stores than the last one: makes one event of each such load, and finds who has
//! stored what it reads and what it does not see.

use crate::trace::trail::{Act, Event};

/// The trail, in which a load of an older store is one event, not two.
pub fn without_second_events(trail: &[Event]) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::with_capacity(trail.len());
    for event in trail {
        let is_same = |last: &Event| {
            let same = |of: &Event| (of.thread, of.step, of.address, of.code);
            last.act == Act::ReadsOld && same(last) == same(event)
        };
        if event.act != Act::Load || !events.last().is_some_and(is_same) {
            events.push(*event);
        }
    }
    events
}

/// The last of these events that has stored this value where the other event reads.
pub fn stored(earlier: &[Event], event: &Event, value: u64) -> Option<usize> {
    earlier.iter().rposition(|of| {
        let stores = matches!(
            of.act,
            Act::Store | Act::Write | Act::ReadModifyWrite | Act::CompareExchange | Act::StoresOld
        );
        stores && (of.address, of.size, of.after) == (event.address, event.size, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(step: u64, act: Act, before: u64, after: u64) -> Event {
        let (thread, call, address, size) = (0, 1, 0x100, 8);
        Event { step, thread, call, act, address, size, before, after, code: 7, around: [0; 4] }
    }

    #[test]
    fn a_load_of_an_older_store_is_one_event() {
        let old = event(3, Act::ReadsOld, 0, 2);
        let failed = event(3, Act::FailedCompareExchange, 0, 1);
        let (load, next) = (event(3, Act::Load, 0, 0), event(4, Act::Load, 2, 2));
        assert_eq!(without_second_events(&[old, load, next]), [old, next]);
        assert_eq!(without_second_events(&[old, failed, next]), [old, failed, next]);
    }

    #[test]
    fn the_last_store_of_a_value_is_meant() {
        let stores = [(1, 0, 1), (2, 1, 2), (3, 2, 1)];
        let trail = stores.map(|(step, before, after)| event(step, Act::Store, before, after));
        let old = event(4, Act::ReadsOld, 2, 1);
        assert_eq!([stored(&trail, &old, 2), stored(&trail, &old, 1)], [Some(1), Some(2)]);
        assert_eq!(stored(&trail, &old, 0), None);
    }
}
