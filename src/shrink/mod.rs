//! Shrinking: a finding comes in, the same finding with fewer calls, fewer threads and simpler
//! arguments goes out, as a plan that lists its calls. Of the controlled engine also with fewer
//! preemptions, and as the identical round each time (see [`controlled`]); of the native engine as
//! calls that show it so and so often (see [`native`]). What shows with one call at a time stays so
//! (see [`alone`]). What rr recorded stays as it is, and is looked for with these engines (see
//! [`elsewhere`]).
//!
//! What counts as the same finding is [`search::Identity`]'s to say. Prints nothing, writes
//! nothing.
//!
//! - `alone`: Shrinking what shows with one call at a time: a finding comes in, the same with fewer
//!   calls and simpler arguments goes out, as a plan that lists them on one thread.
//! - `bounded`: Few forced switches, all of them: the calls of a round come in, schedules of them
//!   that switch at one step, at two, at three go out, in this order, so that the first which shows
//!   the finding has the fewest.
//! - `calls`: Fewer calls, fewer threads, simpler arguments: the best scenario so far comes in,
//!   smaller ones are made of it in an order that gets far soon, and each that still shows the
//!   finding takes its place.
//! - `controlled`: Shrinking by the controlled engine: a finding comes in, the same with fewer
//!   calls and fewer preemptions goes out, as a plan that lists its calls and its switches and
//!   gives the identical round each time.
//! - `cross_engine`: What rr recorded, with engines whose rounds cost little: a finding with its
//!   recorded round comes in; what was tried goes out, and the same finding, shrunk by the engine
//!   that showed it.
//! - `deal`: Calls dealt out anew: the calls of a round come in, rounds of a few of them go out, on
//!   few threads, in any order.
//! - `native`: Shrinking with native threads, which run differently each time: a finding comes in,
//!   the same with fewer calls goes out, as a plan that lists them, and how often they show it.
//! - `schedule`: The same calls with fewer preemptions: the best round so far comes in, and is
//!   replaced by ones whose schedule takes the turn less often from a thread that could go on.
//! - `search`: Candidates, tried: a plan and the numbers of rounds come in, the rounds that show
//!   the finding go out.
//! - `short`: Short rounds: the plan of a finding comes in, a round of few calls, drawn anew, that
//!   shows the same goes out.
//! - `smaller`: Scenarios with less in them: a scenario comes in, one with fewer calls, fewer
//!   threads or simpler arguments goes out.
//! - `turns`: The schedule of a scenario, carried over to one with less in it: the turns that
//!   threads gave and what was left out come in, those that are left go out, at the places where
//!   they now are.
//! - `window`: Parts of a recorded round: the round and the operations that contradict each other
//!   come in, the calls that were made near them go out, as scenarios, the smallest first.

mod alone;
mod bounded;
mod calls;
mod controlled;
mod cross_engine;
mod deal;
mod native;
mod schedule;
mod search;
mod short;
mod smaller;
mod turns;
mod window;

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::core::measured::Measured;
use crate::core::plan::Engine;
use crate::core::scenario;
use crate::finding::{Finding, Shrunk, Size, Stored};
use crate::fuzz::Options;
use search::{Search, Shown};

pub use cross_engine::{Sought, elsewhere};

/// The smallest round that still shows a finding.
struct Smallest {
    shown: Shown,
    size: Size,
    /// How often its calls show it, where that is not each time.
    measured: Option<Measured>,
}

/// Shrinks a finding for at most `budget`; `tell` hears of every step. `options` are those of a run
/// of its plan. None where the finding does not recur, and of a recording by rr, which is of one
/// round and no other (see [`elsewhere`]).
pub fn shrink(
    stored: &Stored,
    options: &Options,
    budget: Duration,
    tell: &mut dyn FnMut(Size),
) -> Result<Option<Stored>> {
    let search = Search::new(&stored.finding, options, Instant::now() + budget)?;
    let smallest = match stored.finding.plan.engine {
        Engine::Rr => None,
        _ if stored.round.start.sequential => alone::shrink(&search, stored, tell)?,
        Engine::Controlled => controlled::shrink(&search, stored, tell)?,
        Engine::Native => native::shrink(&search, stored, tell)?,
    };
    Ok(smallest.map(|smallest| replaced(stored, smallest)))
}

/// What takes the finding's place.
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
        recorded_as: before.recorded_as.clone(),
        // Of native threads no round is the same again; they were measured instead.
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
    }
}

/// What the finding was when it was found.
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
