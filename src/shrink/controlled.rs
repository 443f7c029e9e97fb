//! Shrinking by the controlled engine: a finding comes in, the same with fewer calls and fewer
//! preemptions goes out, as a plan that lists its calls and its switches and gives the identical
//! round each time.
//!
//! What is left of the calls is scheduled anew, many times, half of them near the schedule that
//! showed it with more calls: it still shows the finding, or it does not count. Then the calls
//! stay, and the schedule with the fewest preemptions is looked for: few delays first (Emmi,
//! Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011), then turns of the best are left out
//! (Jalbert, Sen: A Trace Simplification Technique for Effective Debugging of Concurrent Programs,
//! FSE 2010). What is still not small is looked for among its calls, dealt out anew (see
//! [`super::deal`]), and among short rounds of its plan (see [`super::short`]). Of what is small,
//! all schedules of few switches are tried in the end (see [`super::bounded`]).

use std::time::{Duration, Instant};

use anyhow::Result;

use super::calls::{Reducer, Trial};
use super::deal::Dealer;
use super::search::{Search, Shown};
use super::short::Short;
use super::{Smallest, bounded, schedule};
use crate::core::plan::{Control, Engine, Heap, MemoryModel, PlainPoints, Plan};
use crate::core::scenario;
use crate::finding::{Finding, Size, Stored};

/// Schedules that each candidate gets, level by level: most need few, and what the first level
/// leaves is small, so that the next is affordable.
const SCHEDULES: [u64; 4] = [300, 2_000, 10_000, 50_000];
/// The same for the first candidate, which has all calls, where the recorded schedule does not fit.
const SCHEDULES_FIRST: u64 = 10_000;
/// The part of the time in which turns of the schedule may be left out first, in percent.
const TURNS_PERCENT: u32 = 20;
/// The part of the time that a level may leave out calls, in percent: fewer preemptions need the
/// rest.
const CALLS_PERCENT: u32 = 60;
/// A candidate's round may take so many times the steps that the finding's took, and at least so
/// many, before it counts as a livelock: many candidates of a broken structure never end.
const STEPS_FACTOR: u64 = 20;
const STEPS_MIN: u64 = 2_000;
/// So much can be followed at a glance; what is larger is looked for in short rounds, too.
const CALLS_FEW: usize = 6;
const PREEMPTIONS_FEW: u64 = 3;
/// Of more calls than this, a short round is looked for first, in this part of the time, in
/// percent: it spares leaving them out.
const CALLS_MANY: usize = 12;
const SHORT_FIRST_PERCENT: u32 = 15;
/// The part of the time that is left in which a short round must show the finding, in percent, and
/// how often none may be of use until it is given up.
const SHORT_PERCENT: u32 = 25;
const SHORT_IDLE_MAX: u32 = 4;
/// Rounds that are dealt for one process, and schedules of each.
const DEALS: usize = 512;
const SCHEDULES_OF_DEAL: u64 = 40;
/// Steps after which a candidate counts as a livelock, where that is what is shrunk.
const LIVELOCK_STEPS: u64 = 5_000;
/// Time for the last run, which is done even when all time is used up.
const FINISH_MAX: Duration = Duration::from_secs(60);

/// Gives each candidate so many schedules.
struct Schedules<'a> {
    search: &'a Search,
    each: u64,
}

impl Trial for Schedules<'_> {
    fn try_each(&mut self, plan: &Plan, _: &Shown) -> Result<Vec<Option<Shown>>> {
        self.search.those_that_depend(self.search.look_at_each(plan, self.each)?)
    }

    fn is_over(&self) -> bool {
        self.search.is_over()
    }
}

/// The smallest round that shows the finding; none where the finding does not recur.
pub(super) fn shrink(
    search: &Search,
    stored: &Stored,
    tell: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let Some(best) = first(search, stored)? else { return Ok(None) };
    let found_with = stored.finding.shrunk.as_ref().map_or(&stored.finding.plan, |s| &s.plan);
    let found_with = Plan { engine: Engine::Controlled, ..found_with.clone() };
    let short = Short::new(&found_with);
    go_on(search, best, short, tell)
}

/// The smallest round that shows the finding as this one does.
pub(super) fn go_on(
    search: &Search,
    best: Shown,
    mut short: Short,
    tell: &mut dyn FnMut(Size),
) -> Result<Option<Smallest>> {
    let budget = search.left();
    let until = Instant::now() + budget;
    search.hurry(&best)?;
    search.go_by(&best.plan)?;
    let steps_max = search.is_about_steps().then_some(best.plan.control.steps_max);
    let mut dealer = Dealer::new(best.scenario(), best.plan.seed);
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
    // Of a schedule that has only what matters, more is left when calls are left out.
    search.set_until(Instant::now() + budget * TURNS_PERCENT / 100);
    schedule::fewer_turns(search, &mut best)?;
    search.set_until(until);
    let trial = Schedules { search, each: 0 };
    let mut reducer = Reducer::new(trial, best, tell);
    ladder.keep(&reducer.best);
    let mut idle = 0;
    for schedules in SCHEDULES {
        let before = reducer.best.size();
        level(search, &mut reducer, schedules, until)?;
        let mut stuck = schedules >= SCHEDULES_FIRST && reducer.best.size() == before;
        // Fewer calls may need more preemptions: what is easier to follow is kept.
        ladder.keep(&reducer.best);
        while !search.is_over() && !is_small(ladder.smallest().size()) && idle < SHORT_IDLE_MAX {
            let better = match reducer.best.size().calls > CALLS_FEW {
                true => {
                    dealt(search, &mut dealer, &mut reducer, until)?
                        || shorter(search, &mut short, &mut reducer, until)?
                }
                false => {
                    calmer(search, &mut reducer)?
                        || dealt(search, &mut dealer, &mut reducer, until)?
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
    if bounded::fewest(search, &mut smallest)? {
        ladder.keep(&smallest);
    }
    finish(search, ladder, steps_max)
}

/// Whether it can be followed at a glance; then only what is easy is tried.
fn is_small(size: Size) -> bool {
    excess(size) == 0
}

/// Calls and preemptions beyond what can be followed at a glance.
fn excess(size: Size) -> u64 {
    let preemptions = size.preemptions.map_or(0, |n| n.saturating_sub(PREEMPTIONS_FEW));
    (size.calls.saturating_sub(CALLS_FEW) as u64).saturating_add(preemptions)
}

/// How hard it is to follow.
fn rank(shown: &Shown) -> impl Ord + use<> {
    (excess(shown.size()), shown.size().weight())
}

/// What showed the finding, each easier to follow than those before; never empty.
struct Ladder(Vec<Shown>);

impl Ladder {
    fn smallest(&self) -> &Shown {
        self.0.last().expect("what was found is its first")
    }

    fn keep(&mut self, shown: &Shown) {
        if rank(shown) <= rank(self.smallest()) {
            self.0.push(shown.clone());
        }
    }
}

/// Looks on for fewer preemptions of the reducer's best; whether there are.
fn calmer(search: &Search, reducer: &mut Reducer<Schedules>) -> Result<bool> {
    let before = reducer.best.cost();
    schedule::fewer_preemptions(search, &mut reducer.best, SCHEDULES_FIRST)?;
    if reducer.best.cost().0 > PREEMPTIONS_FEW {
        bounded::fewest(search, &mut reducer.best)?;
    }
    reducer.told();
    Ok(reducer.best.cost() < before)
}

/// Has the reducer go on with a few of the first round's calls, dealt out anew, if they show the
/// finding and become easier to follow than its best; whether it did.
fn dealt(
    search: &Search,
    dealer: &mut Dealer,
    reducer: &mut Reducer<Schedules>,
    until: Instant,
) -> Result<bool> {
    let (now, mut found) = (Instant::now(), None);
    search.set_until(now + until.saturating_duration_since(now) * SHORT_PERCENT / 100);
    while found.is_none() && !search.is_over() {
        let scenarios = dealer.deal(DEALS, CALLS_FEW.min(reducer.best.scenario().calls()));
        if scenarios.is_empty() {
            break;
        }
        let rounds = 0..scenarios.len() as u64 * SCHEDULES_OF_DEAL;
        let mut plan = Plan { scenarios, ..reducer.best.plan.clone() };
        plan.control.policy = None;
        match search.look(&plan, rounds, PREEMPTIONS_FEW) {
            Ok(shown) => found = shown,
            // Some calls are not for every thread.
            Err(_) if !dealer.in_place => dealer.in_place = true,
            Err(_) => break,
        }
    }
    search.set_until(until);
    match found {
        Some(found) => goes_on_with(search, reducer, found, until),
        None => Ok(false),
    }
}

/// Has the reducer go on with a short round, if one shows the finding and becomes easier to follow
/// than its best; whether it did.
fn shorter(
    search: &Search,
    short: &mut Short,
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
    goes_on_with(search, reducer, found, until)
}

/// The same with a round that was found.
fn goes_on_with(
    search: &Search,
    reducer: &mut Reducer<Schedules>,
    found: Shown,
    until: Instant,
) -> Result<bool> {
    if !search.depends(&found.plan)? {
        return Ok(false);
    }
    let before = std::mem::replace(&mut reducer.best, found);
    reducer.told();
    level(search, reducer, SCHEDULES[0], until)?;
    let is_better = rank(&reducer.best) < rank(&before);
    if !is_better {
        reducer.best = before;
        reducer.told();
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
    schedule::fewer_preemptions(search, &mut reducer.best, schedules)?;
    reducer.told();
    Ok(())
}

/// The finding's round with its calls listed; not yet smaller.
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

/// A round that was drawn, with its calls listed.
pub(super) fn listed(search: &Search, drawn: Shown) -> Result<Option<Shown>> {
    let (number, round) = (drawn.round(), &drawn.sighting.round);
    let mut plan = drawn.plan.clone();
    plan.scenarios = vec![scenario::from_history(&round.history, round.start.threads)];
    // Of the same seed and number, the round has the same schedule, unless the target refused some
    // calls, which are not listed.
    if let Some(same) = search.look(&plan, number..number + 1, u64::MAX)? {
        return Ok(Some(same));
    }
    plan.control.policy = None;
    search.look(&plan, 0..SCHEDULES_FIRST, u64::MAX)
}

/// The same with what its round drew, so that candidates need not draw it again: the kind of heap,
/// whether plain accesses are scheduling points, and the memory model. What shows it in a simpler
/// way comes first.
fn with_its_draws(search: &Search, mut shown: Shown) -> Result<Shown> {
    if shown.plan.control.heap == Heap::Some {
        shown = with_one_of(search, shown, &[Heap::Keep, Heap::Reuse], |c, heap| c.heap = heap)?;
    }
    if shown.plan.control.plain_points == PlainPoints::Some {
        let points = [PlainPoints::None, PlainPoints::All];
        shown = with_one_of(search, shown, &points, |c, points| c.plain_points = points)?;
    }
    use MemoryModel::{Sc, Some, Tso, TsoLate};
    let models: &[MemoryModel] = match shown.plan.control.memory_model {
        Some => &[Sc, TsoLate, Tso],
        Tso => &[Sc, TsoLate],
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

/// A livelock, as one of fewer steps: each candidate that shows it takes all of them.
fn with_fewer_steps(search: &Search, shown: Shown) -> Result<Shown> {
    let mut plan = shown.plan.clone();
    if !search.is_about_steps() || plan.control.steps_max <= LIVELOCK_STEPS {
        return Ok(shown);
    }
    plan.control.steps_max = LIVELOCK_STEPS;
    let same = search.look(&plan, shown.round()..shown.round() + 1, u64::MAX)?;
    Ok(same.unwrap_or(shown))
}

/// The smallest, run once more as it will be stored: it must be the identical round. A livelock
/// takes all its steps again; what only looked like one gives way to the next larger.
fn finish(search: &Search, ladder: Ladder, steps_max: Option<u64>) -> Result<Option<Smallest>> {
    search.set_until(Instant::now() + FINISH_MAX);
    for best in ladder.0.into_iter().rev() {
        let mut plan = best.plan.clone();
        plan.control.records = false;
        plan.control.steps_max = steps_max.unwrap_or(plan.control.steps_max);
        let last = search.look_anyway(&plan, best.round())?;
        let same = last.filter(|last| last.sighting.round.history == best.sighting.round.history);
        if let Some(shown) = same {
            // What a schedule costs is known of rounds that were recorded.
            return Ok(Some(Smallest { shown, size: best.size(), measured: None }));
        }
    }
    Ok(None)
}
