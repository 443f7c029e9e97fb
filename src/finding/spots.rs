//! Where in the sources a finding happened. A stored finding comes in, source lines go out, those
//! to look at first before the others; none where they are not known. Reads no file.

use super::interleaving::{Action, Place, Row, What as Done};
use super::{FaultPlace, Stored};
use crate::process::fault::FaultKind;

/// A source line of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot<'a> {
    pub what: Happened<'a>,
    pub place: &'a Place,
}

/// What happened at a source line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happened<'a> {
    Crashed,
    /// Of a fault of this kind.
    Place(&'a FaultPlace, FaultKind),
    Act(&'a Action),
}

/// "Queue::dequeue at queue.hpp:31".
impl std::fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Place { function, file, line, .. } = self.place.told();
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        match function.is_empty() {
            true => write!(f, "{file}:{line}"),
            false => write!(f, "{function} at {file}:{line}"),
        }
    }
}

/// The lines of a fault; then, where it is known what the threads did, stores that others saw too
/// late, the lines at which threads were stopped inside of a call, what else was news, and the rest
/// of what matters. Each line once.
pub fn of<'a>(stored: &'a Stored) -> Vec<Spot<'a>> {
    let mut spots: Vec<Spot<'a>> = Vec::new();
    let mut add = |what: Happened<'a>, place: &'a Place| {
        let is_new = |spot: &Spot| spot.place.file != place.file || spot.place.line != place.line;
        if spots.iter().all(is_new) {
            spots.push(Spot { what, place });
        }
    };
    stored.finding.what.lines().into_iter().for_each(|(what, place)| add(what, place));
    let rows = stored.interleaving.as_ref().map_or(&[][..], |table| &table.rows);
    let matters = |row: &Row| row.matters && row.place().is_some();
    let told: Vec<usize> = match rows.iter().any(matters) {
        true => (0..rows.len()).filter(|at| matters(&rows[*at])).collect(),
        false => inside(rows),
    };
    let acts = || told.iter().filter_map(|at| Some((*at, &rows[*at], act(&rows[*at])?)));
    let stops = stops(rows);
    acts().filter(|(_, row, _)| row.delayed).for_each(|(.., (what, place))| add(what, place));
    acts().filter(|(at, ..)| stops[*at]).for_each(|(.., (what, place))| add(what, place));
    acts().filter(|(_, row, _)| row.is_news).for_each(|(.., (what, place))| add(what, place));
    acts().for_each(|(.., (what, place))| add(what, place));
    spots
}

/// What was done where.
fn act(row: &Row) -> Option<(Happened<'_>, &Place)> {
    Some((Happened::Act(row.action()?), row.place()?))
}

/// The rows inside of the calls that are told, but for the adapter's glue: where nothing that was
/// done matters, for what made the answer wrong was over before they began.
fn inside(rows: &[Row]) -> Vec<usize> {
    let mut under_way: Vec<u32> = Vec::new();
    let mut found = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        match &row.what {
            Done::Call(_) if row.matters => under_way.push(row.thread),
            Done::Answer(_) => under_way.retain(|thread| *thread != row.thread),
            Done::Act { place: Some(place), .. } if !place.function.starts_with("interlap::") => {
                found.extend(under_way.contains(&row.thread).then_some(at));
            }
            _ => {}
        }
    }
    found
}

/// Of each row whether its thread is stopped behind it, inside of a call. A livelock has 100,000
/// rows and more, none of which may matter.
fn stops(rows: &[Row]) -> Vec<bool> {
    let mut stops = vec![false; rows.len()];
    let mut is_stop = false;
    for (row, stop) in rows.iter().zip(&mut stops).rev() {
        *stop = is_stop;
        if row.matters {
            is_stop = matches!(row.what, Done::Stopped(_));
        }
    }
    stops
}
