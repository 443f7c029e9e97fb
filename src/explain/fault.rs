//! Makes the last rows of the table: the fault that the engine prevented, or each thread's wait in
//! a deadlock. The trail ends before these, because they never happened.

use std::ops::Range;

use super::visibility;
use crate::finding::interleaving::{Action, Call, Memory, Row, RowKind};
use crate::finding::{Failure, FaultPlace, Synchronized};
use crate::trace::area::Stage;
use crate::trace::frame::{Deed, DetectedKind, When};
use crate::trace::trail::{Act, Event};

/// The events that a fault is about.
#[derive(Clone, Default)]
pub(super) struct Concerned<'a> {
    /// What freed the block of the fault.
    pub freeing: Option<&'a Event>,
    /// The memory of a data race, of which the second access was not made.
    raced: Range<u64>,
}

impl<'a> Concerned<'a> {
    pub fn new(failure: &Failure, trail: &'a [Event]) -> Concerned<'a> {
        let Failure::Fault { places, .. } = failure else { return Concerned::default() };
        let raced = match places.first().map(|place| place.deed) {
            Some(Deed::Raced { address, size, .. }) => address..address.saturating_add(size),
            _ => 0..0,
        };
        Concerned { freeing: freeing(failure, trail), raced }
    }

    pub fn has(&self, event: &Event) -> bool {
        self.is_freeing(event) || self.is_raced(event)
    }

    pub fn is_freeing(&self, event: &Event) -> bool {
        self.freeing.is_some_and(|freeing| std::ptr::eq(freeing, event))
    }

    fn is_raced(&self, event: &Event) -> bool {
        let bytes = visibility::bytes(event);
        bytes.start < self.raced.end && self.raced.start < bytes.end
    }

    /// Says of each place of a data race how its thread synchronized last. `row` is that of an
    /// event.
    pub fn name_synchronized(
        &self,
        failure: &mut Failure,
        trail: &[Event],
        row: &dyn Fn(usize) -> Option<Row>,
    ) {
        let Failure::Fault { places, .. } = failure else { return };
        for place in places.iter_mut().filter(|place| matches!(place.deed, Deed::Raced { .. })) {
            let synchronizes = |event: &Event| {
                event.thread == place.who.thread && is_for_others(event) && !self.is_raced(event)
            };
            let last = trail.iter().rposition(synchronizes).and_then(row);
            let (did, line) = match last.map(|row| row.what) {
                Some(RowKind::Act { did, place: line, .. }) => (Some(did), line),
                _ => (None, None),
            };
            place.synchronized = Some(Box::new(Synchronized { did, line }));
        }
    }
}

/// Whether other threads may be ordered by the event: by an atomic access, a lock, or the like.
fn is_for_others(event: &Event) -> bool {
    use Act::*;
    matches!(event.act, Load | Store | ReadModifyWrite | CompareExchange | FailedCompareExchange)
        || matches!(event.act, Fence | Acquire | Release | Wake | Start)
}

fn freeing<'a>(failure: &Failure, trail: &'a [Event]) -> Option<&'a Event> {
    let Failure::Fault { places, .. } = failure else { return None };
    let address = match places.first()?.deed {
        Deed::AccessedFreed { address, .. } => address,
        Deed::FreedAgain { block } => block,
        _ => return None,
    };
    let of_block = |event: &&Event| {
        let end = event.address.saturating_add(event.size.max(1).into());
        event.act == Act::Free && (event.address..end).contains(&address)
    };
    trail.iter().rfind(of_block)
}

/// Names the memory and the calls of a fault's places. `memory` names an address, `call` finds the
/// call of a place.
pub(super) fn name_places(
    failure: &mut Failure,
    memory: &dyn Fn(u64) -> Memory,
    call: &dyn Fn(&FaultPlace) -> Option<Call>,
) {
    let Failure::Fault { places, .. } = failure else { return };
    for place in places {
        place.memory = place.deed.address().map(memory);
        place.call = call(place);
    }
}

/// The row of the fault; none unless it is known to be one thread's.
pub(super) fn row(failure: &Failure, step: u64) -> Option<Row> {
    let Failure::Fault { kind, thread, places, .. } = failure else { return None };
    let (thread, kind) = ((*thread)?, kind.detected()?);
    if matches!(kind, DetectedKind::Deadlock | DetectedKind::Livelock) {
        return None;
    }
    let first = places.first();
    let at = first.and_then(|first| match first.deed {
        Deed::AccessedFreed { .. } | Deed::FreedAgain { .. } | Deed::Raced { .. } => {
            first.memory.clone()
        }
        _ => None,
    });
    let place = first.and_then(|first| first.line.clone());
    let did = Action::Faults { kind, at };
    Some(Row::new(step, thread, RowKind::Act { did, times: 1, place }))
}

/// The rows of a deadlock: what each thread waits for, but for the one that creates, drains and
/// destroys while it waits for the callers' end.
pub(super) fn final_waits(failure: &Failure, step: u64) -> Vec<Row> {
    let Failure::Fault { kind, places, stage, .. } = failure else { return Vec::new() };
    if kind.detected() != Some(DetectedKind::Deadlock) {
        return Vec::new();
    }
    let waits = |place: &FaultPlace| {
        let Deed::Waits(wait) = place.deed else { return None };
        if place.who.when == When::Keeper && *stage == Stage::Calls {
            return None;
        }
        let at = place.memory.clone().unwrap_or(Memory::Address(wait.address));
        let (did, place_known) = (Action::WaitsForEver { wait, at }, place.line.clone()?);
        let act = RowKind::Act { did, times: 1, place: Some(place_known) };
        Some(Row::new(step, place.who.thread, act))
    };
    places.iter().filter_map(waits).collect()
}
