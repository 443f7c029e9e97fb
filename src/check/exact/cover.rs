//! Finds when a structure was surely not empty. A value covers the instants after the response of
//! its addition and before the invocation of its removal.
//!
//! An "empty" answer can be explained exactly if some instant of its box is covered by no value,
//! and then all of them can at once: at such an instant every value can be placed wholly before or
//! wholly after, which disturbs neither queue nor stack order.

use super::removals::Taken;
use crate::check::data::small::Few;
use crate::check::data::values::{Values, added_by};
use crate::core::history::History;
use crate::core::operation::Status;

/// Whether something is surely inside now, by group (a producer's queue, or the whole).
///
/// Of the values whose addition has returned the one that leaves last is inside until then: no
/// other need be remembered.
pub struct Inside(Few<Group>);

#[derive(Clone, Copy, Default)]
struct Group {
    /// The latest start of a removal.
    until: u64,
    /// When something was first inside of what has been inside without a break until now.
    since: u64,
}

impl Inside {
    pub fn new(groups: usize) -> Inside {
        Inside(Few::from_elem(Group::default(), groups))
    }

    /// The addition of a value has returned `now`.
    #[inline]
    pub fn added(&mut self, group: usize, now: u64, taken: Taken) {
        let group = &mut self.0[group];
        if group.until <= now {
            group.since = now;
        }
        group.until = group.until.max(taken.start);
    }

    /// Whether something was inside at every instant from `start` until `now`.
    #[inline]
    pub fn covers(&self, group: usize, start: u64, now: u64) -> bool {
        let group = self.0[group];
        group.until > now && group.since < start
    }

    /// The first group that was covered at every instant from `start` until `now`.
    #[inline]
    pub fn covered(&self, start: u64, now: u64) -> Option<usize> {
        (0..self.0.len()).find(|group| self.covers(*group, start, now))
    }
}

/// A few values of which one was inside at every instant from `start` to `end`. Only those count
/// for which `among` holds, given the thread that adds the value and the value.
pub fn covering(
    history: &History,
    values: &Values,
    table: &[Taken],
    (start, end): (u64, u64),
    among: impl Fn(usize, i64) -> bool,
) -> Vec<i64> {
    let mut intervals = Vec::new();
    for (at, thread) in history.threads.iter().enumerate() {
        let closed = |o: &&crate::core::history::Operation| o.status == Status::Ok && o.end <= end;
        for operation in thread.operations().iter().filter(closed) {
            for &value in added_by(thread, operation) {
                let until = table[values.added(at, value)].start;
                if until > start && among(at, value) {
                    intervals.push((operation.end, until, value));
                }
            }
        }
    }
    intervals.sort_unstable();
    let (mut chosen, mut reached, mut next) = (Vec::new(), start, 0);
    while reached <= end {
        let mut best = None;
        while next < intervals.len() && intervals[next].0 < reached {
            best = best.max(Some((intervals[next].1, intervals[next].2)));
            next += 1;
        }
        let Some((until, value)) = best else { break };
        chosen.push(value);
        reached = until.max(reached + 1);
    }
    chosen
}
