//! Searches a journal of operations under any sequential object: a user's model, transactions,
//! streams. Parts of the object that the model calls independent are judged alone, on several
//! threads at once.
//!
//! Which of several violations is the answer does not depend on the threads' speed: parts are in
//! the order of their first operation, and the first part that is violated is the answer. Once one
//! is, those after it are given up, and those before it are not.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::depth_first::{Boxed, DepthFirst, Instant};
use super::frontier::{Configuration, Frontier, MANY, Search, or_wider};
use super::position::Position;
use crate::check::data::bits::WORD;
use crate::check::data::witnesses::{UNEXPLAINED, UNEXPLAINED_IN_STEPS};
use crate::check::explanation::{Explanation, OfSearch, States};
use crate::check::undecided::Exhausted;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{NEVER, OperationId};
use crate::core::journal::Journal;
use crate::model::Model;

/// So many configurations are followed before one order is looked for.
const FEW: usize = 4_096;

/// How often a step is tried, on average, until one order is no longer looked for.
const TRIES: usize = 4;

/// States that a witness describes.
const STATES_MAX: usize = 4;

/// Operations that are judged together.
type Part = Vec<OperationId>;

/// A guess at the places of operations that add something; none of others.
pub type Wanted<'a> = &'a (dyn Fn(OperationId) -> Option<u64> + Sync);

pub fn check<O, M>(journal: &Journal<O>, model: &M, limits: &Limits) -> Verdict
where
    O: Clone + Debug + Sync,
    M: Model<O> + Sync,
{
    check_wanting(journal, model, limits, &|_| None)
}

/// The same, with a guess at which of several operations came first.
pub fn check_wanting<O, M>(
    journal: &Journal<O>,
    model: &M,
    limits: &Limits,
    wanted: Wanted,
) -> Verdict
where
    O: Clone + Debug + Sync,
    M: Model<O> + Sync,
{
    let parts = parts(journal, model);
    let (next, lowest) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let found: Mutex<Vec<(usize, Verdict)>> = Mutex::new(Vec::new());
    let jobs = limits.jobs.clamp(1, parts.len().max(1));
    let limits = Limits { memory_max: limits.memory_max / jobs, ..limits.clone() };
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= parts.len() || lowest.load(Ordering::Relaxed) < at {
                break;
            }
            let walked = searched(journal, &parts[at], (model, &limits), (&lowest, at), wanted);
            let verdict = match walked {
                Ok(None) => continue,
                Ok(Some(witness)) => {
                    lowest.fetch_min(at, Ordering::Relaxed);
                    Verdict::Violation(witness)
                }
                Err(exhausted) => Verdict::Inconclusive(exhausted.into()),
            };
            found.lock().expect("no thread panics while it holds it").push((at, verdict));
        }
    };
    std::thread::scope(|scope| {
        (1..jobs).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let mut found = found.into_inner().expect("every thread has ended");
    // A violation of one part is one, even where other parts were not decided.
    found.sort_by_key(|(at, verdict)| (!matches!(verdict, Verdict::Violation(_)), *at));
    found.into_iter().next().map_or(Verdict::Consistent, |(_, verdict)| verdict)
}

/// Every order is followed at once. Where there are many, one is looked for first: most histories
/// are good.
fn searched<O, M>(
    journal: &Journal<O>,
    part: &Part,
    (model, limits): (&M, &Limits),
    (lowest, at): (&AtomicUsize, usize),
    wanted: Wanted,
) -> Result<Option<Witness>, Exhausted>
where
    O: Clone + Debug,
    M: Model<O>,
{
    let few = Limits { configurations_max: FEW.min(limits.configurations_max), ..limits.clone() };
    let narrow = |limits| {
        let search = Search::new(model, limits).stop_below(lowest, at);
        walk::<O, M, 1>(journal, part, search, |_| {})
    };
    match narrow(&few) {
        Err(Exhausted::Configurations(_)) if limits.configurations_max > FEW => {}
        Err(Exhausted::Open(_)) => {}
        decided => return decided,
    }
    if has_order(journal, part, (model, limits), wanted) {
        return Ok(None);
    }
    or_wider(narrow(limits), || {
        let wide = Search::new(model, limits).stop_below(lowest, at);
        walk::<O, M, MANY>(journal, part, wide, |_| {})
    })
}

/// Whether an order is found soon.
fn has_order<O: Clone + Debug, M: Model<O>>(
    journal: &Journal<O>,
    part: &Part,
    (object, limits): (&M, &Limits),
    wanted: Wanted,
) -> bool {
    let mut threads: BTreeMap<u32, Vec<Boxed<O>>> = BTreeMap::new();
    let mut steps = Vec::new();
    for &id in part {
        let (timed, wanted) = (journal.get(id), wanted(id));
        split(object, &timed.operation, &mut steps);
        let instant = |(at, operation): (usize, O)| Instant {
            operation,
            before: at.checked_sub(1),
            takes: wanted.is_none(),
        };
        threads.entry(id.thread).or_default().push(Boxed {
            id,
            start: timed.start,
            end: timed.end,
            steps: steps.drain(..).enumerate().map(instant).collect(),
            wanted: wanted.unwrap_or(timed.end),
        });
    }
    let threads: Vec<Vec<Boxed<O>>> = threads.into_values().collect();
    if threads.iter().flatten().any(|operation| operation.steps.len() > WORD) {
        return false;
    }
    let (threads, drained) = (&threads[..], journal.drained);
    let tries = threads.iter().flatten().map(|of| of.steps.len()).sum::<usize>() * TRIES + FEW;
    DepthFirst { object, threads, stack: false, drained, tries, limits }.find().is_ok()
}

/// The operations by part, in the order of each part's first; all in one where one concerns all.
fn parts<O: Debug, M: Model<O>>(journal: &Journal<O>, model: &M) -> Vec<Part> {
    let mut of: HashMap<_, Part> = HashMap::new();
    for (id, timed) in journal.operations() {
        match model.part(&timed.operation) {
            Some(part) => of.entry(part).or_default().push(id),
            None => return vec![journal.operations().map(|(id, _)| id).collect()],
        }
    }
    let mut parts: Vec<Part> = of.into_values().collect();
    parts.sort_by_key(|part| part.iter().map(|id| (journal.get(*id).start, *id)).min());
    parts
}

/// A time between two events: all before `last` included, none from `next` on.
pub struct Cut<'a, O, S, const WORDS: usize = 1> {
    pub last: u64,
    pub next: u64,
    pub position: &'a Position<OperationId, O, S, WORDS>,
}

/// Searches all of `journal` as one part, and calls `look` at every time between two events, and
/// after the last.
pub fn follow<O, M>(
    journal: &Journal<O>,
    model: &M,
    limits: &Limits,
    look: impl FnMut(Cut<O, M::State>),
) -> Result<Option<Witness>, Exhausted>
where
    O: Clone + Debug,
    M: Model<O>,
{
    let all = journal.operations().map(|(id, _)| id).collect();
    walk(journal, &all, Search::new(model, limits), look)
}

/// The invocations (false) and responses (true) of a part, oldest first; invocations first at equal
/// times.
fn events<O>(journal: &Journal<O>, part: &Part) -> Vec<(u64, bool, OperationId)> {
    let mut events = Vec::with_capacity(2 * part.len());
    for &id in part {
        let timed = journal.get(id);
        events.push((timed.start, false, id));
        if timed.end != NEVER {
            events.push((timed.end, true, id));
        }
    }
    events.sort_unstable();
    events
}

/// The steps in which an operation takes effect; often it is the only one.
pub fn split<O: Clone + Debug, M: Model<O>>(model: &M, operation: &O, steps: &mut Vec<O>) {
    steps.clear();
    model.split(operation, steps);
    if steps.is_empty() {
        steps.push(operation.clone());
    }
}

/// A configuration that all before some time can have led to: of each operation under way that has
/// begun to take effect, how many of its steps have.
pub struct Left<S> {
    pub done: Vec<(OperationId, usize)>,
    pub state: S,
}

/// All that are left; or the first operation whose answer no order has.
pub type Leaves<S> = Result<Vec<Left<S>>, OperationId>;

/// What all before `time` leaves.
pub fn left_before<O, M>(
    journal: &Journal<O>,
    model: &M,
    limits: &Limits,
    time: u64,
) -> Result<Leaves<M::State>, Exhausted>
where
    O: Clone + Debug,
    M: Model<O>,
{
    let all = journal.operations().map(|(id, _)| id).collect();
    let (mut search, mut steps) = (Search::new(model, limits), Vec::new());
    let mut position = Position::<_, _, _, 1>::new(model.init());
    for event in events(journal, &all).into_iter().take_while(|(at, ..)| *at < time) {
        if !advance(journal, &mut search, &mut position, event, &mut steps)? {
            return Ok(Err(event.2));
        }
    }
    let Position { frontier, open } = position;
    let left = frontier.configurations.into_iter().map(|Configuration { done, state }| {
        let each = open.iter().map(|(id, steps)| (*id, steps.among(done).len()));
        Left { done: each.filter(|(_, count)| *count > 0).collect(), state }
    });
    Ok(Ok(left.collect()))
}

/// Goes on by an event; says whether any configuration is left.
fn advance<O: Clone + Debug, M: Model<O>, const WORDS: usize>(
    journal: &Journal<O>,
    search: &mut Search<O, M, WORDS>,
    position: &mut Position<OperationId, O, M::State, WORDS>,
    (_, returns, id): (u64, bool, OperationId),
    steps: &mut Vec<O>,
) -> Result<bool, Exhausted> {
    if returns {
        return position.respond(search, id);
    }
    let timed = journal.get(id);
    if timed.end != NEVER || !search.model.reads(&timed.operation) {
        split(search.model, &timed.operation, steps);
        let steps = (0usize..).zip(steps.drain(..)).map(|(at, step)| (step, at.checked_sub(1)));
        position.invoke(search, id, steps)?;
    }
    Ok(true)
}

fn walk<O: Clone + Debug, M: Model<O>, const WORDS: usize>(
    journal: &Journal<O>,
    part: &Part,
    mut search: Search<O, M, WORDS>,
    mut look: impl FnMut(Cut<O, M::State, WORDS>),
) -> Result<Option<Witness>, Exhausted> {
    let mut position = Position::new(search.model.init());
    let (mut steps, mut last) = (Vec::new(), 0);
    for event in events(journal, part) {
        let (time, _, id) = event;
        if last < time {
            look(Cut { last, next: time, position: &position });
        }
        last = time;
        if !advance(journal, &mut search, &mut position, event, &mut steps)? {
            return Ok(Some(unexplained(journal, search.model, &position, id)));
        }
    }
    look(Cut { last, next: NEVER, position: &position });
    if journal.drained && !search.can_be_empty(&position.frontier)? {
        return Ok(Some(left_over(journal, search.model, &position.frontier, part)));
    }
    Ok(None)
}

/// The states of the configurations that are left.
fn states<O: Debug, M: Model<O>, const WORDS: usize>(
    model: &M,
    frontier: &Frontier<O, M::State, WORDS>,
) -> States {
    let mut described: Vec<String> = Vec::new();
    for configuration in &frontier.configurations {
        let state = model.describe_state(&configuration.state);
        if !described.contains(&state) {
            described.push(state);
        }
    }
    let are_more = described.len() > STATES_MAX;
    described.truncate(STATES_MAX);
    States { described, are_more }
}

fn unexplained<O: Clone + Debug, M: Model<O>, const WORDS: usize>(
    journal: &Journal<O>,
    model: &M,
    position: &Position<OperationId, O, M::State, WORDS>,
    failed: OperationId,
) -> Witness {
    let open = position.under_way();
    let explanation = Explanation::Search(OfSearch::OfModel {
        operation: model.describe(&journal.get(failed).operation),
        client: journal.client(failed),
        under_way: open.len(),
        states: states(model, &position.frontier),
    });
    let operations: Vec<OperationId> = open.into_iter().chain([failed]).collect();
    let mut steps = Vec::new();
    let in_steps = operations.iter().any(|id| {
        split(model, &journal.get(*id).operation, &mut steps);
        steps.len() > 1
    });
    let rule = if in_steps { UNEXPLAINED_IN_STEPS } else { UNEXPLAINED };
    Witness::new(rule, explanation, operations)
}

fn left_over<O: Debug, M: Model<O>, const WORDS: usize>(
    journal: &Journal<O>,
    model: &M,
    frontier: &Frontier<O, M::State, WORDS>,
    part: &Part,
) -> Witness {
    let explanation = Explanation::Search(OfSearch::ModelNotEmpty(states(model, frontier)));
    let last = part.iter().max_by_key(|id| journal.get(**id).start).copied();
    Witness::new("lost", explanation, last.into_iter().collect())
}
