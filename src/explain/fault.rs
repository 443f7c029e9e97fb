//! The last thing that a thread did, where that was a fault that the engine saw coming: what is
//! known of it comes in, the row of the table that tells it goes out. The trail ends before, for
//! what the engine does not let happen is never noted as done.

use crate::finding::interleaving::{Action, Call, Memory, Row, What as Did};
use crate::finding::{FaultPlace, What};
use crate::trace::frame::{Deed, DetectedKind, When};
use crate::trace::trail::{Act, Event};

/// When the block was freed that the fault is about.
pub(super) fn freed<'a>(what: &What, trail: &'a [Event]) -> Option<&'a Event> {
    let What::Fault { places, .. } = what else { return None };
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

/// Gives the memory and the calls of a fault's places their names: `memory` by its address, `call`
/// by the place.
pub(super) fn name(
    what: &mut What,
    memory: &dyn Fn(u64) -> Memory,
    call: &dyn Fn(&FaultPlace) -> Option<Call>,
) {
    let What::Fault { places, .. } = what else { return };
    for place in places {
        place.memory = place.deed.address().map(memory);
        place.call = call(place);
    }
}

/// None where it is not one thread's doing, or nobody knows whose.
pub(super) fn row(what: &What, step: u64) -> Option<Row> {
    let What::Fault { kind, thread, places, .. } = what else { return None };
    let (thread, kind) = ((*thread)?, kind.detected()?);
    if matches!(kind, DetectedKind::Deadlock | DetectedKind::Livelock) {
        // Nobody's alone.
        return None;
    }
    let first = places.first();
    let at = first.and_then(|first| match first.deed {
        Deed::AccessedFreed { .. } | Deed::FreedAgain { .. } => first.memory.clone(),
        _ => None,
    });
    let place = first.and_then(|first| first.line.clone());
    let did = Action::Faults { kind, at };
    Some(Row::new(step, thread, Did::Act { did, times: 1, place }))
}

/// Of a deadlock, what each thread that calls waits for in the end.
pub(super) fn ends(what: &What, step: u64) -> Vec<Row> {
    let What::Fault { kind, places, .. } = what else { return Vec::new() };
    if kind.detected() != Some(DetectedKind::Deadlock) {
        return Vec::new();
    }
    let waits = |place: &FaultPlace| {
        let Deed::Waits(wait) = place.deed else { return None };
        if matches!(place.who.when, When::Keeper | When::OfTarget) {
            return None;
        }
        let at = place.memory.clone().unwrap_or(Memory::Address(wait.address));
        let (did, place_known) = (Action::WaitsForEver { wait, at }, place.line.clone()?);
        let act = Did::Act { did, times: 1, place: Some(place_known) };
        Some(Row::new(step, place.who.thread, act))
    };
    places.iter().filter_map(waits).collect()
}
