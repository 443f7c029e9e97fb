//! One round once more, alone in a fresh process: the number of a round comes in, what was seen in
//! it goes out. With the controlled engine that is what was seen before, if it depends on nothing
//! but the plan. And several rounds, of which nothing but what is found in them, and their number,
//! is of interest.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::Options;
use super::worker::{Lane, Note, Sighting, Worker};

/// Runs the round; what violates the model or faults in it.
pub fn rerun(options: &Options, round: u64) -> Result<Vec<Sighting>> {
    let scratch = super::scratch()?;
    rerun_in(options, round, scratch.path())
}

pub(super) fn rerun_in(options: &Options, round: u64, scratch: &Path) -> Result<Vec<Sighting>> {
    let mut seen = Vec::new();
    let mut take = |sighting: Option<Sighting>| {
        seen.extend(sighting);
        true
    };
    search(options, round..round + 1, scratch, &mut take)?;
    Ok(seen)
}

/// What a search has run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Searched {
    /// Rounds that were judged, those that ended in a fault included.
    pub rounds: u64,
    /// From when the target was loaded to when the last of them was judged.
    pub elapsed: Duration,
}

/// Runs rounds one after the other, in one process as long as the target does not end it, and
/// hands on what violates the model or faults in them. `take` says whether more is wanted; it is
/// also asked, without anything, now and then.
pub fn search(
    options: &Options,
    rounds: Range<u64>,
    scratch: &Path,
    take: &mut dyn FnMut(Option<Sighting>) -> bool,
) -> Result<Searched> {
    let scratch = scratch.join("again");
    std::fs::create_dir_all(&scratch).context("cannot make a temporary directory")?;
    let lane = Lane { first: rounds.start, step: 1, end: Some(rounds.end) };
    let (mut searched, mut started) = (Searched::default(), None::<Instant>);
    let mut tell = |note| {
        if let Note::Tally(tally) = &note
            && !tally.is_empty()
        {
            searched.rounds += tally.rounds + tally.faults;
            searched.elapsed = started.map_or(Duration::ZERO, |at| at.elapsed());
        }
        let wanted = match note {
            Note::Seen(sighting) => take(Some(*sighting)),
            Note::Hello(..) => {
                started = Some(Instant::now());
                take(None)
            }
            _ => take(None),
        };
        wanted && !options.stop.load(Ordering::Relaxed)
    };
    Worker::new(options, lane, &scratch, &mut tell).run()?;
    Ok(searched)
}
