//! Searches for a finding of rr with the other engines, whose rounds cost little.
//! The result is the same finding, shrunk by the engine that showed it. The recording is not used,
//! only its history.
//!
//! The controlled engine comes first, because its findings repeat exactly: excerpts of the recorded
//! round get many schedules each, the smallest first, and short rounds of the plan are drawn. If
//! none shows the finding, native threads try the same as for findings of their own.

use std::time::Instant;

use anyhow::Result;

use super::search::{Search, Shown};
use super::short_rounds::ShortRounds;
use super::{Smallest, controlled, excerpts, native, replaced, sequential};
use crate::core::plan::{Engine, Plan, Scenario};
use crate::finding::cross_engine::{Attempt, RecordedAs, SMALLER, Smaller};
use crate::finding::{Size, Stored};
use crate::fuzz::Options;

/// The engines, in this order.
const ENGINES: [Engine; 2] = [Engine::Controlled, Engine::Native];
/// Percentage of the time within which the controlled engine must show it.
const FIRST_PERCENT: u32 = 40;
/// The first slot of each excerpt is the budget divided by this. Slots double with each pass.
const SLOT_PART: u32 = 50;
/// Schedules reserved for one slot: more than fit into it.
const SCHEDULES_MAX: u64 = 1 << 24;
/// Steps per call, and least steps, after which a candidate counts as a livelock: many excerpts
/// wait for calls that they lack.
const STEPS_OF_CALL: u64 = 2_000;
const STEPS_MIN: u64 = 20_000;

/// The result of a search with other engines.
pub struct CrossEngineResult {
    pub tried: Vec<Attempt>,
    /// The finding as an engine showed it, with a name and a directory of its own.
    pub shown: Option<Stored>,
}

/// What the recorded finding stores of a smaller one.
pub fn smaller_of(shown: &Stored) -> Smaller {
    let finding = &shown.finding;
    let shrunk = finding.shrunk.as_ref().expect("what other engines show is shrunk");
    Smaller {
        engine: finding.plan.engine,
        name: finding.name.clone(),
        signature: finding.signature.clone(),
        size: shrunk.size,
        measured: shrunk.measured,
    }
}

/// Whether it is at least as good as the smaller finding before. One by the controlled engine is
/// better than one by native threads; then the size counts.
pub fn is_as_good_as(shown: &Stored, before: &Smaller) -> bool {
    let rank = |smaller: &Smaller| {
        let Size { calls, threads, preemptions } = smaller.size;
        let weight = (calls + threads) as u64 + preemptions.unwrap_or(0);
        (smaller.engine != Engine::Controlled, weight)
    };
    rank(&smaller_of(shown)) <= rank(before)
}

/// Searches until the time is over, and stops with the first engine that shows the finding.
/// `prepared` returns the options of a run of its plan with an engine and of that time, or the
/// reason why there are none.
pub fn with_other_engines(
    stored: &Stored,
    prepared: &dyn Fn(Engine) -> Result<Options>,
    report: &mut dyn FnMut(Size),
) -> CrossEngineResult {
    let mut tried = Vec::new();
    for engine in ENGINES {
        let mut attempt = Attempt { engine, rounds: 0, seconds: 0.0, trouble: None };
        let found = as_found_by(engine, stored);
        let searched = prepared(engine).and_then(|options| {
            let options = Options { plan: found.finding.plan.clone(), ..options };
            let started = Instant::now();
            let search = Search::with_other_engine(&found, &options)?;
            let smallest = shrink(&search, &found, report);
            attempt.rounds = search.rounds();
            attempt.seconds = started.elapsed().as_secs_f64();
            Ok((smallest?, search.is_stopped()))
        });
        let (smallest, is_stopped) = searched.unwrap_or_else(|error| {
            // A compiler prints many lines; the first one says what failed.
            attempt.trouble = format!("{error:#}").lines().next().map(str::to_string);
            (None, false)
        });
        tried.push(attempt);
        if let Some(smallest) = smallest {
            return CrossEngineResult { tried, shown: Some(beside(stored, smallest)) };
        }
        if is_stopped {
            break;
        }
    }
    CrossEngineResult { tried, shown: None }
}

/// The finding as if `engine` had found it. Its plan draws the same calls.
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
        made: stored.made,
    }
}

fn shrink(
    search: &Search,
    found: &Stored,
    report: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    if found.round.start.sequential {
        return sequential::shrink(search, found, report);
    }
    if found.finding.plan.engine == Engine::Native {
        return native::shrink(search, found, report);
    }
    let (mut short, until) =
        (ShortRounds::new(&found.finding.plan), Instant::now() + search.left());
    let first = first(search, found, &mut short)?;
    search.set_until(until);
    match first {
        Some(first) => controlled::go_on(search, first, short, report),
        None => Ok(None),
    }
}

/// An excerpt of the round, or a short round, with a schedule that shows the finding.
fn first(search: &Search, found: &Stored, short: &mut ShortRounds) -> Result<Option<Shown>> {
    let parts = excerpts::around_witness(&found.finding, &found.round);
    let (left, started) = (search.left(), Instant::now());
    let until = started + left * FIRST_PERCENT / 100;
    let mut slot = left / SLOT_PART;
    for pass in 0.. {
        let schedules = pass * SCHEDULES_MAX..(pass + 1) * SCHEDULES_MAX;
        for part in &parts {
            search.set_until(until.min(Instant::now() + slot));
            let plan = with_calls(search, found, part);
            if let Some(shown) = search.look(&plan, schedules.clone(), u64::MAX)?
                && search.depends(&shown.plan)?
            {
                return Ok(Some(shown));
            }
        }
        search.set_until(until.min(Instant::now() + slot));
        let control = &found.finding.plan.control;
        let drawn = short.look_below(search, control, found.round.history.len(), u64::MAX)?;
        search.set_until(until);
        if let Some(drawn) = drawn
            && let Some(listed) = controlled::listed(search, drawn)?
            && search.depends(&listed.plan)?
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

/// The plan of an excerpt of the round.
fn with_calls(search: &Search, found: &Stored, part: &Scenario) -> Plan {
    let mut plan = Plan { scenarios: vec![part.clone()], ..found.finding.plan.clone() };
    plan.control.records = true;
    if !search.is_about_steps() {
        let enough = (STEPS_OF_CALL * part.calls() as u64).max(STEPS_MIN);
        plan.control.steps_max = plan.control.steps_max.min(enough);
    }
    plan
}

/// The smallest round as a finding beside the recorded one.
fn beside(stored: &Stored, smallest: Smallest) -> Stored {
    let mut shown = replaced(stored, smallest);
    let (name, signature) = (stored.finding.name.clone(), stored.finding.signature.clone());
    shown.finding.name = format!("{name}/{SMALLER}");
    shown.finding.recorded_as = Some(RecordedAs { name, signature });
    shown.directory = stored.smaller();
    shown
}
