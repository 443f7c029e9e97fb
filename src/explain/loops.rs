//! Makes the last rows of the table of a livelock: of each thread that runs, one turn of its loop.

use super::Position;
use crate::finding::Failure;
use crate::finding::interleaving::{Call, Row, RowKind};
use crate::trace::frame::{Deed, DetectedKind, When};
use crate::trace::trail::{Act, Event};

/// Of each thread, so many of its last events are compared.
const EVENTS_MAX: usize = 1 << 12;
/// Of a longer turn, so many rows are shown.
const ROWS_MAX: usize = 8;

/// The rows, copies of some of `rows`; none of a thread whose last events are no loop. `call` says
/// which call a thread is in.
pub(super) fn rows(
    failure: &Failure,
    trail: &[Event],
    rows: &[(Position, Row)],
    call: &dyn Fn(u32) -> Option<Call>,
) -> Vec<Row> {
    let Failure::Fault { kind, places, .. } = failure else { return Vec::new() };
    if kind.detected() != Some(DetectedKind::Livelock) {
        return Vec::new();
    }
    let runs = places.iter().filter(|place| {
        matches!(place.deed, Deed::Runs) && matches!(place.who.when, When::InCall(_))
    });
    let of_thread = |thread: u32| {
        let turn = turn(trail, thread);
        let act = |at: &usize| {
            let (_, row) = rows.iter().find(|(position, _)| position.is_act(*at))?;
            Some(Row { matters: true, is_news: true, decides: true, ..row.clone() })
        };
        let acts: Vec<Row> = turn.iter().filter_map(act).take(ROWS_MAX).collect();
        let step = acts.first()?.step;
        let head = Row::new(step, thread, RowKind::Repeats(call(thread)?));
        Some(std::iter::once(head).chain(acts))
    };
    runs.filter_map(|place| of_thread(place.who.thread)).flatten().collect()
}

/// The indices of the thread's last events that repeat those before them, from the lowest line of
/// code on; none if there are none such.
fn turn(trail: &[Event], thread: u32) -> Vec<usize> {
    let own = trail.iter().enumerate().rev().filter(|(_, event)| event.thread == thread);
    let mut own: Vec<(usize, &Event)> = own.take(EVENTS_MAX).collect();
    own.reverse();
    let is_same = |(_, one): &(usize, &Event), (_, other): &(usize, &Event)| {
        (one.act, one.address, one.code) == (other.act, other.address, other.code)
    };
    let repeats = |turn: &usize| {
        let (before, last) = own[own.len() - 2 * turn..].split_at(*turn);
        before.iter().zip(last).all(|(one, other)| is_same(one, other))
    };
    let Some(length) = (1..=own.len() / 2).find(repeats) else { return Vec::new() };
    let mut turn = own.split_off(own.len() - length);
    let first = (0..length).min_by_key(|at| turn[*at].1.code).unwrap_or(0);
    turn.rotate_left(first);
    // Of a long turn, plain accesses are the least telling.
    let is_plain = |event: &Event| matches!(event.act, Act::Read | Act::Write);
    if length > ROWS_MAX && turn.iter().any(|(_, event)| !is_plain(event)) {
        turn.retain(|(_, event)| !is_plain(event));
    }
    turn.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_begins_at_the_lowest_line_and_other_threads_do_not_matter() {
        let event = |thread, code| {
            let (act, address, size, before, after) = (Act::Load, 8 * code, 8, 0, 0);
            Event {
                step: 1,
                thread,
                call: 1,
                act,
                address,
                size,
                before,
                after,
                code,
                around: [0; 4],
            }
        };
        let codes = [9, 4, 5, 3, 4, 5, 3, 4];
        let trail: Vec<Event> =
            codes.iter().flat_map(|code| [event(0, *code), event(1, 100 + code)]).collect();
        let codes = |thread| -> Vec<u64> {
            turn(&trail, thread).into_iter().map(|at| trail[at].code).collect()
        };
        assert_eq!(codes(0), [3, 4, 5]);
        assert_eq!(codes(1), [103, 104, 105]);
        assert!(turn(&trail[..7], 0).is_empty());
    }
}
