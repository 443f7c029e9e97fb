//! Minimizes findings of the controlled engine: fewer calls, then fewer preemptions.
//! The result is a plan that lists calls and switches and gives the identical round each time.
//!
//! A candidate with fewer calls gets many schedules, half of them mutations of the schedule that
//! showed the finding with more calls. It counts if one of them shows the finding. Then the calls
//! stay, and the schedule with the fewest preemptions is searched: few delays first (Emmi,
//! Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011), then without turns of the best
//! (Jalbert, Sen: A Trace Simplification Technique for Effective Debugging of Concurrent Programs,
//! FSE 2010). If the result is still large, recombinations of its calls (see
//! [`super::recombine`]) and short rounds of its plan (see [`super::short_rounds`]) are searched.
//! If it is small, all schedules with few preemptions are tried (see [`super::context_bounding`]).

use std::time::Instant;

use anyhow::Result;

use super::minimize_calls::{Reducer, Trial};
use super::recombine::Recombiner;
use super::search::{Search, Shown};
use super::short_rounds::ShortRounds;
use super::{Smallest, context_bounding, minimize_preemptions};
use crate::core::plan::{Control, Engine, Heap, MemoryModel, PlainPoints, Plan, Races};
use crate::core::scenario;
use crate::finding::{Finding, Size, Stored};

/// Schedules for each candidate, level by level. Most candidates need few, and the first level
/// leaves a small scenario, so that more schedules are affordable at the next.
const SCHEDULES: [u64; 4] = [300, 2_000, 10_000, 50_000];
/// The same for the first candidate, which has all calls, where the recorded schedule does not fit.
const SCHEDULES_FIRST: u64 = 10_000;
/// So many schedules without a smaller round are enough if a reader already follows it easily.
const SCHEDULES_OF_SMALL: u64 = SCHEDULES[1];
/// Percentage of the time for removing turns of the first schedule.
const TURNS_PERCENT: u32 = 20;
/// Percentage of the time of a level for removing calls. The rest is for preemptions.
const CALLS_PERCENT: u32 = 60;
/// A candidate counts as a livelock after this many times the finding's steps, and at least so many
/// steps: many candidates of a broken structure never end.
const STEPS_FACTOR: u64 = 20;
const STEPS_MIN: u64 = 2_000;
/// Calls and preemptions that a reader follows easily. For larger results, more is tried.
const CALLS_FEW: usize = 6;
const PREEMPTIONS_FEW: u64 = 3;
/// With more calls than this, short rounds are searched first, for this percentage of the time: a
/// hit saves the removal of many calls.
const CALLS_MANY: usize = 12;
const SHORT_FIRST_PERCENT: u32 = 15;
/// Percentage of the remaining time for each search among short or recombined rounds, and the
/// number of failures after which these searches stop.
const SHORT_PERCENT: u32 = 25;
const SHORT_IDLE_MAX: u32 = 4;
/// Recombined candidates for one process, and schedules of each.
const CANDIDATES: usize = 512;
const SCHEDULES_OF_CANDIDATE: u64 = 40;
/// Steps after which a candidate counts as a livelock, if the finding is a livelock.
const LIVELOCK_STEPS: u64 = 5_000;

/// Tries each candidate with `each` schedules.
struct Schedules<'a> {
    search: &'a Search,
    each: u64,
}

impl Trial for Schedules<'_> {
    fn try_each(&mut self, plan: &Plan, _: &Shown) -> Result<Vec<Option<Shown>>> {
        self.search.keep_dependent(self.search.look_at_each(plan, self.each)?)
    }

    fn is_over(&self) -> bool {
        self.search.is_over()
    }
}

/// The smallest round that shows the finding; none if the finding does not recur.
pub(super) fn shrink(
    search: &Search,
    stored: &Stored,
    report: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let Some(best) = first(search, stored)? else { return Ok(None) };
    let found_with = stored.finding.shrunk.as_ref().map_or(&stored.finding.plan, |s| &s.plan);
    let found_with = Plan { engine: Engine::Controlled, ..found_with.clone() };
    let short = ShortRounds::new(&found_with);
    go_on(search, best, short, report)
}

/// Minimizes from `best`, a round that shows the finding.
pub(super) fn go_on(
    search: &Search,
    best: Shown,
    mut short: ShortRounds,
    report: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let budget = search.left();
    let until = Instant::now() + budget;
    search.limit_patience(&best)?;
    search.require_dependence(&best.plan)?;
    let steps_max = search.is_about_steps().then_some(best.plan.control.steps_max);
    let mut recombiner = Recombiner::new(best.scenario(), best.plan.seed);
    let mut ladder = Ladder(vec![best.clone()]);
    let mut best = with_fewer_steps(search, with_its_draws(search, best)?)?;
    if best.scenario().calls() > CALLS_MANY {
        search.set_until(Instant::now() + budget * SHORT_FIRST_PERCENT / 100);
        let found = short.look(search, &best, PREEMPTIONS_FEW)?;
        search.set_until(until);
        let found = found.map(|found| listed(search, found)).transpose()?.flatten();
        if let Some(found) = found
            && search.depends(&found.plan)?
        {
            best = found;
        }
    }
    // More of a schedule stays valid when calls are removed if it has only turns that matter.
    search.set_until(Instant::now() + budget * TURNS_PERCENT / 100);
    minimize_preemptions::fewer_turns(search, &mut best)?;
    search.set_until(until);
    let trial = Schedules { search, each: 0 };
    let mut reducer = Reducer::new(trial, best, report);
    ladder.keep(&reducer.best);
    let mut idle = 0;
    for schedules in SCHEDULES {
        let before = reducer.best.size();
        level(search, &mut reducer, schedules, until)?;
        let enough = if is_small(before) { SCHEDULES_OF_SMALL } else { SCHEDULES_FIRST };
        let mut stuck = schedules >= enough && reducer.best.size() == before;
        // Fewer calls may need more preemptions: the ladder keeps the one that is easier to follow.
        ladder.keep(&reducer.best);
        while !search.is_over() && !is_small(ladder.smallest().size()) && idle < SHORT_IDLE_MAX {
            let better = match reducer.best.size().calls > CALLS_FEW {
                true => {
                    recombined(search, &mut recombiner, &mut reducer, until)?
                        || shorter(search, &mut short, &mut reducer, until)?
                }
                false => {
                    with_fewer_preemptions(search, &mut reducer)?
                        || recombined(search, &mut recombiner, &mut reducer, until)?
                }
            };
            ladder.keep(&reducer.best);
            (stuck, idle) = if better { (false, 0) } else { (stuck, idle + 1) };
            if !better && schedules < SCHEDULES_FIRST {
                break;
            }
        }
        if stuck || search.is_over() {
            break;
        }
    }
    let mut smallest = ladder.smallest().clone();
    if context_bounding::fewest(search, &mut smallest)? {
        ladder.keep(&smallest);
    }
    finish(search, ladder, steps_max)
}

/// Whether a reader follows it easily, so that no expensive search is needed.
fn is_small(size: Size) -> bool {
    excess(size) == 0
}

/// Calls and preemptions beyond what a reader follows easily.
fn excess(size: Size) -> u64 {
    let preemptions = size.preemptions.map_or(0, |n| n.saturating_sub(PREEMPTIONS_FEW));
    (size.calls.saturating_sub(CALLS_FEW) as u64).saturating_add(preemptions)
}

/// The order of results: how hard they are to follow.
fn rank(shown: &Shown) -> impl Ord + use<> {
    (excess(shown.size()), shown.size().weight())
}

/// Rounds that showed the finding, each easier to follow than those before; never empty.
struct Ladder(Vec<Shown>);

impl Ladder {
    fn smallest(&self) -> &Shown {
        self.0.last().expect("it starts with the round that was found")
    }

    fn keep(&mut self, shown: &Shown) {
        if rank(shown) <= rank(self.smallest()) {
            self.0.push(shown.clone());
        }
    }
}

/// Searches for fewer preemptions of the reducer's best. Returns whether it found any.
fn with_fewer_preemptions(search: &Search, reducer: &mut Reducer<Schedules>) -> Result<bool> {
    let before = reducer.best.cost();
    minimize_preemptions::fewer_preemptions(search, &mut reducer.best, SCHEDULES_FIRST)?;
    if reducer.best.cost().0 > PREEMPTIONS_FEW {
        context_bounding::fewest(search, &mut reducer.best)?;
    }
    reducer.best_replaced();
    Ok(reducer.best.cost() < before)
}

/// Continues with a recombination of the first round's calls, if one shows the finding and can be
/// reduced to a better best. Returns whether it did.
fn recombined(
    search: &Search,
    recombiner: &mut Recombiner,
    reducer: &mut Reducer<Schedules>,
    until: Instant,
) -> Result<bool> {
    let (now, mut found) = (Instant::now(), None);
    search.set_until(now + until.saturating_duration_since(now) * SHORT_PERCENT / 100);
    while found.is_none() && !search.is_over() {
        let scenarios =
            recombiner.candidates(CANDIDATES, CALLS_FEW.min(reducer.best.scenario().calls()));
        if scenarios.is_empty() {
            break;
        }
        let rounds = 0..scenarios.len() as u64 * SCHEDULES_OF_CANDIDATE;
        let mut plan = Plan { scenarios, ..reducer.best.plan.clone() };
        plan.control.policy = None;
        match search.look(&plan, rounds, PREEMPTIONS_FEW) {
            Ok(shown) => found = shown,
            // Some threads may not make every call.
            Err(_) if !recombiner.in_place => recombiner.in_place = true,
            Err(_) => break,
        }
    }
    search.set_until(until);
    match found {
        Some(found) => continue_with(search, reducer, found, until),
        None => Ok(false),
    }
}

/// Continues with a short round, if one shows the finding and can be reduced to a better best.
/// Returns whether it did.
fn shorter(
    search: &Search,
    short: &mut ShortRounds,
    reducer: &mut Reducer<Schedules>,
    until: Instant,
) -> Result<bool> {
    let now = Instant::now();
    search.set_until(now + until.saturating_duration_since(now) * SHORT_PERCENT / 100);
    let found = short.look(search, &reducer.best, PREEMPTIONS_FEW)?;
    search.set_until(until);
    let Some(found) = found.map(|found| listed(search, found)).transpose()?.flatten() else {
        return Ok(false);
    };
    continue_with(search, reducer, found, until)
}

/// Reduces `found`, and keeps the result if it is better than the best. Returns whether it is.
fn continue_with(
    search: &Search,
    reducer: &mut Reducer<Schedules>,
    found: Shown,
    until: Instant,
) -> Result<bool> {
    if !search.depends(&found.plan)? {
        return Ok(false);
    }
    let before = std::mem::replace(&mut reducer.best, found);
    reducer.best_replaced();
    level(search, reducer, SCHEDULES[0], until)?;
    let is_better = rank(&reducer.best) < rank(&before);
    if !is_better {
        reducer.best = before;
        reducer.best_replaced();
    }
    Ok(is_better)
}

fn level(
    search: &Search,
    reducer: &mut Reducer<Schedules>,
    schedules: u64,
    until: Instant,
) -> Result<()> {
    let now = Instant::now();
    let left = until.saturating_duration_since(now);
    search.set_until(now + left * CALLS_PERCENT / 100);
    reducer.trial.each = schedules;
    reducer.reduce();
    search.set_until(until);
    minimize_preemptions::fewer_preemptions(search, &mut reducer.best, schedules)?;
    reducer.best_replaced();
    Ok(())
}

/// The finding's round with its calls listed, before any reduction.
fn first(search: &Search, stored: &Stored) -> Result<Option<Shown>> {
    let Finding { plan, round, .. } = &stored.finding;
    let alone = *round..*round + 1;
    let mut plan = plan.clone();
    plan.control.records = true;
    let Some(recorded) = search.look(&plan, alone.clone(), u64::MAX)? else { return Ok(None) };
    if !plan.scenarios.is_empty() {
        return Ok(Some(recorded));
    }
    let round = &recorded.sighting.round;
    if let (Some(steps), false) = (&round.end.steps, search.is_about_steps()) {
        let enough = (steps.steps * STEPS_FACTOR).max(STEPS_MIN);
        plan.control.steps_max = plan.control.steps_max.min(enough);
    }
    listed(search, Shown { plan, ..recorded })
}

/// A drawn round with its calls listed.
pub(super) fn listed(search: &Search, drawn: Shown) -> Result<Option<Shown>> {
    let (number, round) = (drawn.round(), &drawn.sighting.round);
    let mut plan = drawn.plan.clone();
    plan.scenarios = vec![scenario::from_history(&round.history, round.start.threads)];
    // With the same seed and number the round has the same schedule, unless the target refused some
    // calls, which are not listed.
    if let Some(same) = search.look(&plan, number..number + 1, u64::MAX)? {
        return Ok(Some(same));
    }
    plan.control.policy = None;
    search.look(&plan, 0..SCHEDULES_FIRST, u64::MAX)
}

/// The same with fixed settings where its round drew them, so that candidates do not draw others:
/// the kind of heap, plain scheduling points, and the memory model. Simpler settings are tried
/// first.
fn with_its_draws(search: &Search, mut shown: Shown) -> Result<Shown> {
    if shown.plan.control.heap == Heap::Some {
        shown = with_one_of(search, shown, &[Heap::Keep, Heap::Reuse], |c, heap| c.heap = heap)?;
    }
    if shown.plan.control.plain_points == PlainPoints::Some {
        let points = [PlainPoints::None, PlainPoints::All];
        shown = with_one_of(search, shown, &points, |c, points| c.plain_points = points)?;
    }
    if shown.plan.control.races == Races::Some {
        let races = [Races::Off, Races::All];
        shown = with_one_of(search, shown, &races, |c, races| c.races = races)?;
    }
    use MemoryModel::{C11, Sc, Some, Tso, TsoLate};
    let models: &[MemoryModel] = match shown.plan.control.memory_model {
        Some => &[Sc, TsoLate, Tso, C11],
        Tso => &[Sc, TsoLate],
        C11 => &[Sc],
        Sc | TsoLate => &[],
    };
    with_one_of(search, shown, models, |c, model| c.memory_model = model)
}

/// The same with the first of these that still shows the finding.
fn with_one_of<T: Copy>(
    search: &Search,
    shown: Shown,
    choices: &[T],
    set: fn(&mut Control, T),
) -> Result<Shown> {
    for choice in choices {
        let mut plan = shown.plan.clone();
        set(&mut plan.control, *choice);
        if let Some(same) = search.look(&plan, shown.round()..shown.round() + 1, u64::MAX)? {
            return Ok(same);
        }
    }
    Ok(shown)
}

/// A livelock with a lower limit on steps, because each candidate that shows it takes all of them.
fn with_fewer_steps(search: &Search, shown: Shown) -> Result<Shown> {
    let mut plan = shown.plan.clone();
    if !search.is_about_steps() || plan.control.steps_max <= LIVELOCK_STEPS {
        return Ok(shown);
    }
    plan.control.steps_max = LIVELOCK_STEPS;
    let same = search.look(&plan, shown.round()..shown.round() + 1, u64::MAX)?;
    Ok(same.unwrap_or(shown))
}

/// Runs the smallest once more as it will be stored. If that is not the identical round, the next
/// larger is tried; so too for a livelock that ends within the full limit on steps.
fn finish(search: &Search, ladder: Ladder, steps_max: Option<u64>) -> Result<Option<Smallest>> {
    search.finish();
    for best in ladder.0.into_iter().rev() {
        let mut plan = best.plan.clone();
        plan.control.records = false;
        plan.control.steps_max = steps_max.unwrap_or(plan.control.steps_max);
        let last = search.look_anyway(&plan, best.round())?;
        let same = last.filter(|last| last.sighting.round.history == best.sighting.round.history);
        if let Some(shown) = same {
            // The size is from the earlier run, whose schedule was recorded.
            return Ok(Some(Smallest { shown, size: best.size(), measured: None }));
        }
    }
    Ok(None)
}
