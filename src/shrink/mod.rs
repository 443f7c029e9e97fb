//! Minimizes findings: fewer calls, fewer threads, simpler arguments, fewer preemptions.
//! The result is a plan that lists its calls. The controlled engine gives the identical round each
//! time (see [`controlled`]); for native threads the result says how often its calls show the
//! finding (see [`native`]). A finding of a round with one call at a time stays one (see
//! [`sequential`]). A recording of rr stays as it is, and is searched for with the other engines
//! (see [`with_other_engines`]).
//!
//! [`crate::finding::Identity`] decides what counts as the same finding.
//!
//! - `carried_schedule`: Carries the schedule of a scenario over to a smaller scenario.
//! - `context_bounding`: Tries all schedules with few preemptions, the fewest first: iterative
//!   context bounding.
//! - `controlled`: Minimizes findings of the controlled engine: fewer calls, then fewer
//!   preemptions.
//! - `cross_engine`: Searches for a finding of rr with the other engines, whose rounds cost little.
//! - `excerpts`: Makes scenarios from excerpts of a recorded round: the calls near its witness.
//! - `minimize_calls`: Minimizes the calls, threads and arguments of a scenario by delta debugging.
//! - `minimize_preemptions`: Minimizes the preemptions of a round without changing its calls.
//! - `native`: Minimizes findings of native threads, whose rounds differ each time.
//! - `recombine`: Makes random small rounds from a few calls of a round, on few threads, in any
//!   order.
//! - `reductions`: Reductions of a scenario: fewer calls, fewer threads, simpler arguments.
//! - `search`: Runs candidates and returns the rounds that show the finding.
//! - `sequential`: Minimizes findings of sequential rounds, which make one call at a time.
//! - `short_rounds`: Searches newly drawn rounds of few calls for one that shows the finding.

mod carried_schedule;
mod context_bounding;
mod controlled;
mod cross_engine;
mod excerpts;
mod minimize_calls;
mod minimize_preemptions;
mod native;
mod recombine;
mod reductions;
mod search;
mod sequential;
mod short_rounds;

use std::time::Duration;

use anyhow::Result;

use crate::core::measured::Measured;
use crate::core::plan::Engine;
use crate::core::scenario;
use crate::core::time_limit::TimeLimit;
use crate::finding::{Finding, Shrunk, Size, Stored};
use crate::fuzz::Options;
use search::{Search, Shown};

pub use cross_engine::{CrossEngineResult, is_as_good_as, smaller_of, with_other_engines};

/// The part of the time for the search; the rest is for the last runs of what it finds, without
/// which nothing is kept.
const SEARCH_PERCENT: u32 = 90;
/// Runs of a round that hangs, after the search for the smallest one.
const HANGS_AT_THE_END: u32 = 3;

/// Whether a run shrinks the finding: if it is new and, with the controlled engine, recurred.
pub fn is_worthwhile(stored: &Stored) -> bool {
    let finding = &stored.finding;
    let recurs = finding.confirmed.unwrap_or(finding.plan.engine != Engine::Controlled);
    // A regression was shrunk when it was found, and may be another engine's.
    recurs && finding.known.is_none() && finding.regression.is_none()
}

/// The smallest round that still shows a finding.
struct Smallest {
    shown: Shown,
    size: Size,
    /// How often its calls show the finding, unless they show it each time.
    measured: Option<Measured>,
}

/// From now on, so long to shrink a finding. One that is a hang is waited for until the user's
/// limit at the end, and to explain what was found.
pub fn time_for(stored: &Stored, options: &Options, budget: Duration) -> TimeLimit {
    let hangs = stored.finding.signature.is_hang();
    let waits = if hangs { options.hang_max * HANGS_AT_THE_END } else { Duration::ZERO };
    let search = budget * SEARCH_PERCENT / 100;
    TimeLimit::from_now(search).with_more_grace(budget - search + waits)
}

/// Shrinks a finding in the time of `options`, which are for its plan; calls `report` after every
/// step. None if the finding does not recur, and for a recording (see [`with_other_engines`]).
pub fn shrink(
    stored: &Stored,
    options: &Options,
    report: &mut dyn FnMut(Size),
) -> Result<Option<Stored>> {
    let search = Search::new(&stored.finding, options)?;
    let smallest = match stored.finding.plan.engine {
        Engine::Rr => None,
        _ if stored.round.start.sequential => sequential::shrink(&search, stored, report)?,
        Engine::Controlled => controlled::shrink(&search, stored, report)?,
        Engine::Native => native::shrink(&search, stored, report)?,
    };
    Ok(smallest.map(|smallest| replaced(stored, smallest)))
}

/// The smallest round as the finding that replaces the original.
fn replaced(stored: &Stored, smallest: Smallest) -> Stored {
    let Smallest { shown, size, measured } = smallest;
    let (before, round) = (&stored.finding, shown.round());
    let shrunk = Shrunk { size, measured, ..shrunk_before(stored) };
    let finding = Finding {
        name: before.name.clone(),
        plan: shown.plan,
        round,
        after_rounds: before.after_rounds,
        after_seconds: before.after_seconds,
        sightings: before.sightings,
        known: before.known.clone(),
        races: before.races.clone(),
        regression: before.regression.clone(),
        can_be_controlled: before.can_be_controlled,
        recorded_as: before.recorded_as.clone(),
        // Native threads never repeat a round; their finding was measured instead.
        confirmed: measured.is_none().then_some(true),
        shrunk: Some(Box::new(shrunk)),
        ..shown.sighting.finding
    };
    Stored {
        finding,
        hello: shown.sighting.hello,
        round: shown.sighting.round,
        output: shown.sighting.output,
        directory: stored.directory.clone(),
        interleaving: None,
        made: stored.made,
    }
}

/// The finding as it was before any shrinking.
fn shrunk_before(stored: &Stored) -> Shrunk {
    let finding = &stored.finding;
    if let Some(shrunk) = &finding.shrunk {
        return (**shrunk).clone();
    }
    let (history, callers) = (&stored.round.history, stored.round.start.threads);
    let calls = scenario::from_history(history, callers).calls();
    let size = Size { calls, threads: callers as usize, preemptions: None };
    Shrunk {
        before: size,
        size,
        measured: None,
        signature: finding.signature.clone(),
        plan: finding.plan.clone(),
        round: finding.round,
    }
}
