//! Reruns a round in a fresh process, or searches a range of rounds for sightings.
//! A rerun by the controlled engine shows the same finding if that depends on the plan alone.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::Options;
use super::worker::{JobRounds, Message, Sighting, Worker};

/// Runs the round. Returns its violations and faults.
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

/// The extent of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Searched {
    /// Rounds that were checked, including those that ended in a fault.
    pub rounds: u64,
    /// Those of them that were not decided.
    pub undecided: u64,
    /// Time from the loading of the target to the check of the last round.
    pub elapsed: Duration,
}

/// Runs rounds one after the other, in one process as long as the target does not end it, and
/// passes violations and faults to `take`, which returns whether to continue. `take` is also called
/// with none from time to time. The search ends with the time of `options` at the latest.
pub fn search(
    options: &Options,
    rounds: Range<u64>,
    scratch: &Path,
    take: &mut dyn FnMut(Option<Sighting>) -> bool,
) -> Result<Searched> {
    let scratch = scratch.join("again");
    std::fs::create_dir_all(&scratch).context("cannot make a temporary directory")?;
    let rounds = JobRounds { first: rounds.start, step: 1, end: Some(rounds.end) };
    let (mut searched, mut started) = (Searched::default(), None::<Instant>);
    let mut send = |message| {
        if let Message::Counts(counts) = &message
            && !counts.is_empty()
        {
            searched.rounds += counts.warm_up + counts.rounds + counts.faults;
            searched.undecided += counts.inconclusive.values().sum::<u64>();
            searched.elapsed = started.map_or(Duration::ZERO, |at| at.elapsed());
        }
        let wanted = match message {
            Message::Seen(sighting) => take(Some(*sighting)),
            Message::Hello(..) => {
                started = Some(Instant::now());
                take(None)
            }
            _ => take(None),
        };
        wanted && !options.time.is_grace_over() && !options.stop.load(Ordering::Relaxed)
    };
    Worker::new(options, rounds, &scratch, &mut send).run()?;
    Ok(searched)
}
