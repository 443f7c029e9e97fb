//! One round once more, alone in a fresh process: the number of a round comes in, what was seen in
//! it goes out. With the controlled engine that is what was seen before, if it depends on nothing
//! but the plan.

use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};

use super::Options;
use super::worker::{Lane, Note, Sighting, Worker};

/// Runs the round; what violates the model or faults in it.
pub fn again(options: &Options, round: u64) -> Result<Vec<Sighting>> {
    let scratch = super::scratch()?;
    again_in(options, round, scratch.path())
}

pub(super) fn again_in(options: &Options, round: u64, scratch: &Path) -> Result<Vec<Sighting>> {
    let scratch = scratch.join("again");
    std::fs::create_dir_all(&scratch).context("cannot make a temporary directory")?;
    let lane = Lane { first: round, step: 1, end: Some(round + 1) };
    let mut seen = Vec::new();
    let mut tell = |note| {
        if let Note::Seen(sighting) = note {
            seen.push(*sighting);
        }
        !options.stop.load(Ordering::Relaxed)
    };
    Worker::new(options, lane, &scratch, &mut tell).run()?;
    Ok(seen)
}
