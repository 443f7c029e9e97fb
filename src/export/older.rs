//! Finds the accesses of a trail that do not meet the newest store of their location, in rounds
//! with the memory of C++. A reproducer's runtime is told how many stores are newer than the one
//! that is met; both keep the same list of stores, so no value and no address is named.

use std::collections::HashMap;

use crate::trace::trail::{Act, Event};

/// Of a compare-exchange that fails although it finds what it expects, as a weak one may.
pub const FAILS: u32 = 0;

/// By the index of the access in the trail: how many stores are newer than the one that it reads,
/// or behind which it stores. A load of an older store is one event, as `explain` leaves it.
pub fn newer_stores(trail: &[(Event, bool)]) -> HashMap<usize, u32> {
    let mut newer = HashMap::new();
    // What the stores of a location have overwritten, in modification order.
    let mut overwritten: HashMap<(u64, u32), Vec<u64>> = HashMap::new();
    // What the access under way of a thread reads.
    let mut reads: HashMap<u32, u32> = HashMap::new();
    for (at, (event, _)) in trail.iter().enumerate() {
        let values = overwritten.entry((event.address, event.size)).or_default();
        match event.act {
            Act::ReadsOld => {
                let place = values.iter().rev().position(|value| *value == event.before);
                let Some(place) = place else { continue };
                let read = place as u32 + 1;
                match is_load(&trail[at..]) {
                    true => newer.insert(at, read),
                    false => reads.insert(event.thread, read),
                };
            }
            Act::StoresOld => {
                values.push(event.after);
                newer.insert(at, 1);
            }
            Act::Store | Act::Write => values.push(event.before),
            Act::ReadModifyWrite | Act::CompareExchange => match reads.remove(&event.thread) {
                Some(read) => {
                    values.insert(values.len() + 1 - read as usize, event.after);
                    newer.insert(at, read);
                }
                None => values.push(event.before),
            },
            Act::FailedCompareExchange => {
                let fails = event.before == event.after && event.size <= 8;
                let read = reads.remove(&event.thread);
                newer.extend(read.filter(|_| !fails).or(fails.then_some(FAILS)).map(|of| (at, of)));
            }
            _ => {}
        }
    }
    newer
}

/// Whether the first of these events, which reads an older store, is all of its access.
pub fn is_load(trail: &[(Event, bool)]) -> bool {
    let [(read, _), rest @ ..] = trail else { return true };
    let same = |of: &Event| (of.thread, of.step, of.address, of.code);
    let next = rest.first().map(|(next, _)| next).filter(|next| same(next) == same(read));
    use Act::{CompareExchange, FailedCompareExchange, ReadModifyWrite};
    !next.is_some_and(|next| {
        matches!(next.act, CompareExchange | FailedCompareExchange | ReadModifyWrite)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newer_of(events: &[(Act, u64, u64)]) -> Vec<(usize, u32)> {
        let (thread, call, address, size) = (0, 1, 0x100, 8);
        let event = |step: usize, (act, before, after)| Event {
            // What reads an older store is of the step of the access that it belongs to.
            step: step as u64 / 2,
            thread,
            call,
            act,
            address,
            size,
            before,
            after,
            code: 7,
            around: [0; 4],
        };
        let events = events.iter().enumerate();
        let trail: Vec<_> = events.map(|(step, of)| (event(step, *of), true)).collect();
        let mut newer: Vec<_> = newer_stores(&trail).into_iter().collect();
        newer.sort_unstable();
        newer
    }

    #[test]
    fn stores_behind_the_one_that_is_read_are_counted() {
        use Act::{CompareExchange, ReadModifyWrite, ReadsOld, Store, StoresOld, Write};
        let stores = [(Write, 0, 1), (Store, 1, 2)];
        let read = |value| [stores[0], stores[1], (ReadsOld, value, 2)];
        assert_eq!(newer_of(&read(1)), [(2, 1)]);
        assert_eq!(newer_of(&read(0)), [(2, 2)]);
        assert_eq!(newer_of(&read(7)), []);
        // 3 comes before 2.
        let behind = [stores[0], stores[1], (StoresOld, 2, 3), stores[0], (ReadsOld, 3, 0)];
        assert_eq!(newer_of(&behind), [(2, 1), (4, 2)]);
        // 5 is stored right behind 0, which is the oldest.
        for act in [ReadModifyWrite, CompareExchange] {
            let update = [(ReadsOld, 0, 2), (act, 0, 5)];
            let events = [stores[0], stores[1], update[0], update[1], (ReadsOld, 1, 2)];
            let oldest = [&events[..], &[stores[0], (ReadsOld, 5, 2)]].concat();
            assert_eq!(newer_of(&oldest), [(3, 2), (4, 1), (6, 3)]);
        }
    }

    #[test]
    fn a_compare_exchange_may_fail_for_what_it_reads_or_for_nothing() {
        use Act::{FailedCompareExchange, ReadsOld, Store};
        let store = [(Store, 0, 1), (Store, 1, 2)];
        let old = [(ReadsOld, 1, 2), (FailedCompareExchange, 1, 2)];
        assert_eq!(newer_of(&[store, old].concat()), [(3, 1)]);
        assert_eq!(newer_of(&[(FailedCompareExchange, 0, 0)]), [(0, FAILS)]);
        assert_eq!(newer_of(&[(FailedCompareExchange, 0, 1)]), []);
        let nothing = [(ReadsOld, 1, 2), (FailedCompareExchange, 1, 1)];
        assert_eq!(newer_of(&[store, nothing].concat()), [(3, FAILS)]);
    }
}
