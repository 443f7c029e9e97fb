//! What rr recorded, with engines whose rounds cost little: a finding with its recorded round comes
//! in; what was tried goes out, and the same finding, shrunk by the engine that showed it. The
//! recording has no part in it.
//!
//! The controlled engine comes first, because what it shows is the same each time: parts of the
//! recorded round get many schedules each, the smallest parts first, and short rounds of the plan
//! are drawn anew. If none shows the finding, native threads try the same, as with findings of
//! their own.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::search::{Search, Shown};
use super::short::Short;
use super::{Smallest, alone, controlled, native, replaced, window};
use crate::core::plan::{Engine, Plan, Scenario};
use crate::finding::cross_engine::{RecordedAs, SMALLER, Tried};
use crate::finding::{Size, Stored};
use crate::fuzz::Options;

/// In this order.
const ENGINES: [Engine; 2] = [Engine::Controlled, Engine::Native];
/// The part of the time in which the controlled engine must show it, in percent.
const FIRST_PERCENT: u32 = 40;
/// Each part of the round gets this part of the time first; then twice as much, and so on.
const SLOT_PART: u32 = 50;
/// Schedules of one slot: more than there is time for.
const SCHEDULES_MAX: u64 = 1 << 24;
/// Steps for each call, and at least, after which a candidate counts as a livelock: many parts of a
/// round wait for what was left out.
const STEPS_OF_CALL: u64 = 2_000;
const STEPS_MIN: u64 = 20_000;

/// What came of it.
pub struct Sought {
    pub tried: Vec<Tried>,
    /// The finding as an engine showed it, with a name and a directory of its own.
    pub shown: Option<Stored>,
}

/// Looks for at most `budget`; `prepared` gives the options of a run of the finding's plan with
/// that engine, or says why there is none. Ends with the first engine that shows it.
pub fn elsewhere(
    stored: &Stored,
    prepared: &dyn Fn(Engine) -> Result<Options>,
    budget: Duration,
    tell: &mut dyn FnMut(Size),
) -> Sought {
    let (mut tried, mut left) = (Vec::new(), budget);
    for engine in ENGINES {
        let mut attempt = Tried { engine, rounds: 0, seconds: 0.0, trouble: None };
        let found = as_found_by(engine, stored);
        let searched = prepared(engine).and_then(|options| {
            let options = Options { plan: found.finding.plan.clone(), ..options };
            let started = Instant::now();
            let search = Search::new(&found.finding, &options, started + left)?;
            let smallest = shrink(&search, &found, tell);
            attempt.rounds = search.rounds();
            attempt.seconds = started.elapsed().as_secs_f64();
            left = left.saturating_sub(started.elapsed());
            Ok((smallest?, search.is_stopped()))
        });
        let (smallest, is_stopped) = searched.unwrap_or_else(|error| {
            // A compiler says more than a line.
            attempt.trouble = format!("{error:#}").lines().next().map(str::to_string);
            (None, false)
        });
        tried.push(attempt);
        if let Some(smallest) = smallest {
            return Sought { tried, shown: Some(beside(stored, smallest)) };
        }
        if is_stopped {
            break;
        }
    }
    Sought { tried, shown: None }
}

/// The finding as if that engine had found it: its plan would have drawn the same calls.
fn as_found_by(engine: Engine, stored: &Stored) -> Stored {
    let mut finding = stored.finding.clone();
    finding.plan.engine = engine;
    Stored {
        finding,
        hello: stored.hello.clone(),
        round: stored.round.clone(),
        output: stored.output.clone(),
        directory: stored.directory.clone(),
        interleaving: None,
    }
}

fn shrink(search: &Search, found: &Stored, tell: &mut dyn FnMut(Size)) -> Result<Option<Smallest>> {
    if found.round.start.sequential {
        return alone::shrink(search, found, tell);
    }
    if found.finding.plan.engine == Engine::Native {
        return native::shrink(search, found, tell);
    }
    let (mut short, until) = (Short::new(&found.finding.plan), Instant::now() + search.left());
    let first = first(search, found, &mut short)?;
    search.set_until(until);
    match first {
        Some(first) => controlled::go_on(search, first, short, tell),
        None => Ok(None),
    }
}

/// A part of the round, or a short one, with a schedule that shows the finding.
fn first(search: &Search, found: &Stored, short: &mut Short) -> Result<Option<Shown>> {
    let parts = window::of(&found.finding, &found.round);
    let (left, started) = (search.left(), Instant::now());
    let until = started + left * FIRST_PERCENT / 100;
    let mut slot = left / SLOT_PART;
    for pass in 0.. {
        let schedules = pass * SCHEDULES_MAX..(pass + 1) * SCHEDULES_MAX;
        for part in &parts {
            search.set_until(until.min(Instant::now() + slot));
            let plan = with_calls(search, found, part);
            if let Some(shown) = search.look(&plan, schedules.clone(), u64::MAX)? {
                return Ok(Some(shown));
            }
        }
        search.set_until(until.min(Instant::now() + slot));
        let control = &found.finding.plan.control;
        let drawn = short.look_below(search, control, found.round.history.len(), u64::MAX)?;
        search.set_until(until);
        if let Some(drawn) = drawn
            && let Some(listed) = controlled::listed(search, drawn)?
        {
            return Ok(Some(listed));
        }
        if search.is_over() {
            break;
        }
        slot *= 2;
    }
    Ok(None)
}

/// The plan of a part of the round.
fn with_calls(search: &Search, found: &Stored, part: &Scenario) -> Plan {
    let mut plan = Plan { scenarios: vec![part.clone()], ..found.finding.plan.clone() };
    plan.control.records = true;
    if !search.is_about_steps() {
        let enough = (STEPS_OF_CALL * part.calls() as u64).max(STEPS_MIN);
        plan.control.steps_max = plan.control.steps_max.min(enough);
    }
    plan
}

/// What was shown, as a finding beside the recorded one.
fn beside(stored: &Stored, smallest: Smallest) -> Stored {
    let mut shown = replaced(stored, smallest);
    let (name, signature) = (stored.finding.name.clone(), stored.finding.signature.clone());
    shown.finding.name = format!("{name}/{SMALLER}");
    shown.finding.recorded_as = Some(RecordedAs { name, signature });
    shown.directory = stored.smaller();
    shown
}
