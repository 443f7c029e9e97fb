//! Drops from a trail the waiting of stores in store buffers that no other thread could notice.

use std::collections::VecDeque;

use crate::trace::trail::{Act, Event};

/// The trail, in which a buffered store whose memory no other thread used before it was drained is
/// an ordinary store.
pub fn without_unnoticed_delays(trail: &[Event]) -> Vec<Event> {
    let mut events: Vec<Option<Event>> = trail.iter().copied().map(Some).collect();
    // Waiting stores of each thread, oldest first.
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
                if !trail[from..at].iter().any(|other| may_notice(other, event)) {
                    events[from] = Some(Event { act: Act::Store, ..trail[from] });
                    events[at] = None;
                }
            }
            _ => {}
        }
    }
    events.into_iter().flatten().collect()
}

/// Whether the event is another thread's and uses memory of the store.
fn may_notice(other: &Event, store: &Event) -> bool {
    let end = |event: &Event| event.address.saturating_add(event.size.max(1).into());
    let overlap = other.address < end(store) && store.address < end(other);
    other.thread != store.thread && overlap
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u32, act: Act, address: u64) -> Event {
        let (step, call, size, before, after, code) = (1, 1, 8, 0, 1, 0);
        Event { step, thread, call, act, address, size, before, after, code, around: [0; 4] }
    }

    #[test]
    fn only_delays_that_others_notice_are_kept() {
        let trail = [
            event(0, Act::Buffer, 0x100),
            event(0, Act::Buffer, 0x200),
            event(0, Act::Load, 0x300),
            event(1, Act::Load, 0x200),
            event(0, Act::Drain, 0x100),
            event(0, Act::Drain, 0x200),
            event(1, Act::Load, 0x100),
        ];
        let acts: Vec<Act> =
            without_unnoticed_delays(&trail).iter().map(|event| event.act).collect();
        use Act::{Buffer, Drain, Load, Store};
        assert_eq!(acts, [Store, Buffer, Load, Load, Drain, Load]);
        let unseen = [trail[1], trail[5]];
        assert_eq!(without_unnoticed_delays(&unseen).len(), 1);
    }
}
