//! What threads did, as thread flows: an interleaving comes in, a flow for each thread goes out,
//! its steps numbered by the order of execution over all of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::core::history::client_name;
use crate::finding::interleaving::{Interleaving, Place, Row, What};
use crate::report::words;

/// Steps of all threads that are told; of more, the last.
const STEPS_MAX: usize = 500;

/// The steps that matter and whose line is known. A call begins at the first line of it that
/// matters, and ends at the last.
pub fn threads(
    table: &Interleaving,
    drain: Option<u32>,
    location: &dyn Fn(&Place) -> Value,
) -> Vec<Value> {
    let mut told: Vec<&Row> = table.rows.iter().filter(|row| row.matters).collect();
    if told.len() > STEPS_MAX {
        told.retain(|row| row.is_news);
    }
    let told = &told[told.len().saturating_sub(STEPS_MAX)..];
    let mut flows: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for (at, row) in told.iter().enumerate() {
        let Some((text, importance, place)) = step(told, at) else { continue };
        let mut location = location(place);
        location["message"] = json!({"text": text});
        let inside = !matches!(row.what, What::Call(_) | What::Answer(_));
        flows.entry(row.thread).or_default().push(json!({
            "location": location,
            "executionOrder": at + 1,
            "nestingLevel": u8::from(inside),
            "importance": importance,
            "properties": {"step": row.step},
        }));
    }
    let flow = |(thread, locations): (u32, Vec<Value>)| {
        let name = client_name(thread, drain);
        json!({"id": name, "locations": locations})
    };
    flows.into_iter().map(flow).collect()
}

/// What is done in a row, how much it matters, and at which line.
fn step<'a>(rows: &[&'a Row], at: usize) -> Option<(String, &'static str, &'a Place)> {
    let row = rows[at];
    let act = |row: &&'a Row| row.place();
    let own = |other: &&&'a Row| other.thread == row.thread;
    let next = || rows[at..].iter().filter(own).find_map(act);
    let before = || rows[..at].iter().rev().filter(own).find_map(act);
    let (importance, place) = match &row.what {
        What::Act { place, .. } => {
            (if row.is_news { "important" } else { "unimportant" }, place.as_ref()?)
        }
        What::Call(_) => ("essential", next().or_else(before)?),
        What::Answer(_) | What::Stopped(_) => ("essential", before().or_else(next)?),
    };
    Some((words::row(row), importance, place))
}
