//! Makes SARIF thread flows of an interleaving: a flow for each thread, whose steps are numbered by
//! the order of execution over all threads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::core::history::client_name;
use crate::finding::interleaving::{Interleaving, Place, Row, RowKind};
use crate::report::words;

/// Most steps of all threads; of more, the last are kept.
const STEPS_MAX: usize = 500;

/// The steps that matter and have a known line. A call has the first line in it that matters, an
/// answer the last.
pub fn threads(
    table: &Interleaving,
    drain: Option<u32>,
    location: &dyn Fn(&Place) -> Value,
) -> Vec<Value> {
    let mut steps: Vec<&Row> = table.rows.iter().filter(|row| row.matters).collect();
    if steps.len() > STEPS_MAX {
        steps.retain(|row| row.is_news);
    }
    let steps = &steps[steps.len().saturating_sub(STEPS_MAX)..];
    let mut flows: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for (at, row) in steps.iter().enumerate() {
        let Some((text, importance, place)) = step(steps, at) else { continue };
        let mut location = location(place);
        location["message"] = json!({"text": text});
        let inside = !matches!(row.what, RowKind::Call(_) | RowKind::Answer(_));
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

/// The text, importance and line of a row.
fn step<'a>(rows: &[&'a Row], at: usize) -> Option<(String, &'static str, &'a Place)> {
    let row = rows[at];
    let act = |row: &&'a Row| row.place();
    let own = |other: &&&'a Row| other.thread == row.thread;
    let next = || rows[at..].iter().filter(own).find_map(act);
    let before = || rows[..at].iter().rev().filter(own).find_map(act);
    let (importance, place) = match &row.what {
        RowKind::Act { place, .. } => {
            (if row.is_news { "important" } else { "unimportant" }, place.as_ref()?)
        }
        RowKind::Call(_) | RowKind::Repeats(_) => ("essential", next().or_else(before)?),
        RowKind::Answer(_) | RowKind::Stopped(_) => ("essential", before().or_else(next)?),
    };
    Some((words::row(row), importance, place))
}
