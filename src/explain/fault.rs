//! The last thing that a thread did, where that was a fault that the engine saw coming: what is
//! known of it comes in, the row of the table that tells it goes out. The trail ends before, for
//! what the engine does not let happen is never noted as done.

use crate::finding::interleaving::{Row, What as Did};
use crate::finding::{FaultLine, What};
use crate::trace::frame::DetectedKind;
use crate::trace::trail::{Act, Event};

/// When the block was freed that the fault is about.
pub(super) fn freed<'a>(what: &What, trail: &'a [Event]) -> Option<&'a Event> {
    let What::Fault { places, .. } = what else { return None };
    let at = block(places.first()?)?.strip_prefix("0x")?;
    let address = u64::from_str_radix(at, 16).ok()?;
    let of_block = |event: &&Event| {
        let end = event.address.saturating_add(event.size.max(1).into());
        event.act == Act::Free && (event.address..end).contains(&address)
    };
    trail.iter().rfind(of_block)
}

/// Gives what a fault's places name by numbers the names that `named` knows.
pub(super) fn name(what: &mut What, named: &dyn Fn(&str) -> String) {
    let What::Fault { places, lines, .. } = what else { return };
    // What is told at a line is how a place begins.
    for place in places {
        let mut of_place = lines.iter_mut().filter(|line| place.starts_with(&line.what));
        let (told, line) = match of_place.next() {
            Some(line) => (line.what.clone(), Some(line)),
            None => (place.clone(), None),
        };
        let with_names = named(&told);
        *place = format!("{with_names}{}", &place[told.len()..]);
        line.into_iter().for_each(|line| line.what = with_names.clone());
    }
}

/// None where it is not one thread's doing, or nobody knows whose.
pub(super) fn row(what: &What, step: u64) -> Option<Row> {
    let What::Fault { kind, thread, places, lines, .. } = what else { return None };
    let thread = (*thread)?;
    let at = places.first().and_then(|first| block(first));
    let text = words(kind.detected()?, at.unwrap_or("memory"))?;
    // The others are of those that freed or allocated the block before.
    let of_fault =
        |line: &&FaultLine| places.first().is_none_or(|first| first.starts_with(&line.what));
    let place = lines.first().filter(of_fault).map(|line| line.place.clone());
    Some(Row::new(step, thread, Did::Act { text, times: 1, place }))
}

/// Of a deadlock, what each thread waits for in the end.
pub(super) fn ends(what: &What, step: u64) -> Vec<Row> {
    let What::Fault { kind, places, lines, .. } = what else { return Vec::new() };
    if kind.detected() != Some(DetectedKind::Deadlock) {
        return Vec::new();
    }
    let waits = |place: &String| {
        let line = lines.iter().find(|line| place.starts_with(&line.what))?;
        let (who, rest) = line.what.split_once(" waits for ")?;
        let thread = who.strip_prefix("thread ")?.split(' ').next()?.parse().ok()?;
        let text = format!("waits for ever for {rest}");
        let place = Some(line.place.clone());
        Some(Row::new(step, thread, Did::Act { text, times: 1, place }))
    };
    places.iter().filter_map(waits).collect()
}

/// The memory that it is about: "#4.next" of "freed memory at #4.next, byte 8 of a block".
fn block(place: &str) -> Option<&str> {
    let (_, at) = place.split_once(" at ").filter(|(before, _)| {
        before.ends_with("freed memory") || before.ends_with("freed the block")
    })?;
    at.split(',').next()
}

fn words(kind: DetectedKind, at: &str) -> Option<String> {
    use DetectedKind::*;
    match kind {
        UseAfterFree => Some(format!("accesses {at}, which was freed")),
        DoubleFree => Some(format!("frees {at}, which was freed before")),
        BadFree => Some("frees what is no block".to_string()),
        OutOfBounds => Some("accesses memory outside of every block".to_string()),
        Hang => Some("computes without an end".to_string()),
        // Nobody's alone.
        Deadlock | Livelock => None,
    }
}
