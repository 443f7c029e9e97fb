//! Makes the last rows of the table: the fault that the engine prevented, or each thread's wait in
//! a deadlock. The trail ends before these, because they never happened.

use crate::finding::interleaving::{Action, Call, Memory, Row, RowKind};
use crate::finding::{Failure, FaultPlace};
use crate::trace::area::Stage;
use crate::trace::frame::{Deed, DetectedKind, When};
use crate::trace::trail::{Act, Event};

/// The event that freed the block of the fault.
pub(super) fn freeing<'a>(failure: &Failure, trail: &'a [Event]) -> Option<&'a Event> {
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
