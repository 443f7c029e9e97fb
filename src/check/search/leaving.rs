//! When the values of a queue leave that is asked how many it holds: what is not in yet cannot
//! leave before what is. So most ways in which an addition may come before or after the question
//! lead nowhere, and are given up at once.

use crate::check::data::events::Events;
use crate::check::data::values::{Values, taken_by};
use crate::check::exact::removals::any_open;
use crate::check::exact::sizes::any_claim;
use crate::core::history::{History, OperationId};
use crate::model::{Kind, Spec};
use rustc_hash::FxHashMap;

/// The timeboxes in which values are taken, as numbers of events.
#[derive(Default)]
pub struct Leaving {
    boxes: FxHashMap<i64, (u32, u32)>,
    by_start: Vec<(u32, u32)>,
    /// The returns of the calls that say how many are inside.
    counted: FxHashMap<OperationId, u32>,
}

impl Leaving {
    /// None where values need not leave in the order in which they come, are not told apart, or may
    /// leave unseen.
    pub fn new(history: &History, spec: &Spec) -> Option<Leaving> {
        if spec.kind != Kind::Fifo || !any_claim(history, spec) || any_open(history) {
            return None;
        }
        Values::from_history(history).ok()?;
        let mut leaving = Leaving::default();
        for (number, event) in (0..).zip(Events::new(history)) {
            let thread = &history.threads[event.id.thread as usize];
            if event.returns && event.operation.op.says_count(event.operation.status) {
                leaving.counted.insert(event.id, number);
            }
            for value in taken_by(thread, event.operation) {
                let box_of = leaving.boxes.entry(*value).or_insert((number, number));
                box_of.1 = number;
            }
        }
        leaving.by_start = leaving.boxes.values().copied().collect();
        leaving.by_start.sort_unstable();
        Some(leaving)
    }

    /// Whether just these values can be inside at an instant of a call that counts them.
    pub fn allows<'v>(
        &self,
        inside: impl Iterator<Item = &'v i64> + Clone,
        call: OperationId,
    ) -> bool {
        let never = (u32::MAX, u32::MAX);
        let boxes = inside.map(|value| *self.boxes.get(value).unwrap_or(&never));
        let Some(last) = boxes.clone().map(|(start, _)| start).max() else { return true };
        let counted = self.counted[&call];
        let is_between = |(start, end): &(u32, u32)| counted < *start && *end < last;
        let inside = boxes.filter(|of| is_between(of)).count();
        let first = self.by_start.partition_point(|(start, _)| *start < counted);
        let all = self.by_start[first..].iter().take_while(|(start, _)| *start < last);
        all.filter(|of| is_between(of)).take(inside + 1).count() == inside
    }
}
