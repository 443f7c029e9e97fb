//! Stores that waited in store buffers. A trail comes in; the same goes out, without the waiting
//! that no other thread could notice: most of it.

use std::collections::VecDeque;

use crate::trace::trail::{Act, Event};

/// The events, with stores for those of which no other thread did anything with the memory until
/// they were in it.
pub fn noticed(trail: &[Event]) -> Vec<Event> {
    let mut events: Vec<Option<Event>> = trail.iter().copied().map(Some).collect();
    // Stores that wait, by thread: each leaves before those that came later.
    let mut waiting: Vec<VecDeque<usize>> = Vec::new();
    for (at, event) in trail.iter().enumerate() {
        let thread = event.thread as usize;
        if waiting.len() <= thread {
            waiting.resize_with(thread + 1, VecDeque::new);
        }
        match event.act {
            Act::Buffer => waiting[thread].push_back(at),
            Act::Drain => {
                let Some(from) = waiting[thread].pop_front() else { continue };
                if !trail[from..at].iter().any(|other| is_concerned(other, event)) {
                    events[from] = Some(Event { act: Act::Store, ..trail[from] });
                    events[at] = None;
                }
            }
            _ => {}
        }
    }
    events.into_iter().flatten().collect()
}

/// Whether another thread has to do with memory of this store.
fn is_concerned(other: &Event, store: &Event) -> bool {
    let end = |event: &Event| event.address.saturating_add(event.size.max(1).into());
    let overlap = other.address < end(store) && store.address < end(other);
    other.thread != store.thread && overlap
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u32, act: Act, address: u64) -> Event {
        let (size, before, after) = (8, 0, 1);
        Event {
            step: 1,
            thread,
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
    fn only_waiting_that_others_notice_is_told() {
        let trail = [
            event(0, Act::Buffer, 0x100),
            event(0, Act::Buffer, 0x200),
            event(0, Act::Load, 0x300),
            event(1, Act::Load, 0x200),
            event(0, Act::Drain, 0x100),
            event(0, Act::Drain, 0x200),
            event(1, Act::Load, 0x100),
        ];
        let acts: Vec<Act> = noticed(&trail).iter().map(|event| event.act).collect();
        use Act::{Buffer, Drain, Load, Store};
        assert_eq!(acts, [Store, Buffer, Load, Load, Drain, Load]);
        let unseen = [trail[1], trail[5]];
        assert_eq!(noticed(&unseen).len(), 1);
    }
}
