//! The source lines of a finding, the most telling first.

use super::interleaving::{Action, Place, Row, RowKind};
use super::{FaultPlace, Stored};
use crate::process::fault::FaultKind;

/// A source line of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Location<'a> {
    pub what: Occurrence<'a>,
    pub place: &'a Place,
}

/// What happened at a source line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurrence<'a> {
    Crashed,
    /// An event that led to a fault of this kind.
    Place(&'a FaultPlace, FaultKind),
    Act(&'a Action),
}

/// "Queue::dequeue at queue.hpp:31".
impl std::fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Place { function, file, line, .. } = self.place.in_library();
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        match function.is_empty() {
            true => write!(f, "{file}:{line}"),
            false => write!(f, "{function} at {file}:{line}"),
        }
    }
}

/// The known lines of a finding, each once: first those of a fault, then those of its interleaving.
/// Of the latter, delayed stores come first, then preemptions, news, and the rest that matters.
pub fn rank<'a>(stored: &'a Stored) -> Vec<Location<'a>> {
    let mut locations: Vec<Location<'a>> = Vec::new();
    let mut add = |what: Occurrence<'a>, place: &'a Place| {
        let is_new = |location: &Location| {
            location.place.file != place.file || location.place.line != place.line
        };
        if locations.iter().all(is_new) {
            locations.push(Location { what, place });
        }
    };
    stored.finding.what.lines().into_iter().for_each(|(what, place)| add(what, place));
    let rows = stored.interleaving.as_ref().map_or(&[][..], |table| &table.rows);
    let matters = |row: &Row| row.matters && row.place().is_some();
    let chosen: Vec<usize> = match rows.iter().any(matters) {
        true => (0..rows.len()).filter(|at| matters(&rows[*at])).collect(),
        false => inside_calls(rows),
    };
    let acts = || chosen.iter().filter_map(|at| Some((*at, &rows[*at], act(&rows[*at])?)));
    let stops = is_stopped_after(rows);
    acts().filter(|(_, row, _)| row.delayed).for_each(|(.., (what, place))| add(what, place));
    acts().filter(|(at, ..)| stops[*at]).for_each(|(.., (what, place))| add(what, place));
    acts().filter(|(_, row, _)| row.is_news).for_each(|(.., (what, place))| add(what, place));
    acts().for_each(|(.., (what, place))| add(what, place));
    locations
}

/// The action of a row and its line.
fn act(row: &Row) -> Option<(Occurrence<'_>, &Place)> {
    Some((Occurrence::Act(row.action()?), row.place()?))
}

/// The rows inside calls that matter, without interlap's glue. Used if no action matters: what made
/// the answer wrong was over before these calls began.
fn inside_calls(rows: &[Row]) -> Vec<usize> {
    let mut under_way: Vec<u32> = Vec::new();
    let mut found = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        match &row.what {
            RowKind::Call(_) if row.matters => under_way.push(row.thread),
            RowKind::Answer(_) => under_way.retain(|thread| *thread != row.thread),
            RowKind::Act { place: Some(place), .. }
                if !place.function.starts_with("interlap::") =>
            {
                found.extend(under_way.contains(&row.thread).then_some(at));
            }
            _ => {}
        }
    }
    found
}

/// For each row whether its thread is preempted after it. One pass from the end: a livelock has
/// 100,000 rows and more.
fn is_stopped_after(rows: &[Row]) -> Vec<bool> {
    let mut stops = vec![false; rows.len()];
    let mut is_stop = false;
    for (row, stop) in rows.iter().zip(&mut stops).rev() {
        *stop = is_stop;
        if row.matters {
            is_stop = matches!(row.what, RowKind::Stopped(_));
        }
    }
    stops
}
