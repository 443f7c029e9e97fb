//! Finds how far a history can be explained that no order explains: every maximal partial
//! linearization near the first response that none explains. Each says which operations can have
//! taken effect, in which order, what each left, and what could not follow.
//!
//! They are the ends of the search that [`super::region`] makes, and [`super::search_trace`] shows.

use serde::{Deserialize, Serialize};

use super::key_part;
use super::region::{
    Graph, Near, NearStep, NotShown, Region, Window, as_far_as_run, past_limits, window,
};
use super::shown_state;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::own::own;
use crate::check::data::prefix::until;
use crate::check::data::values::Values;
use crate::check::decide::check;
use crate::check::online::prune::prune;
use crate::check::search::history::{Task, with_object};
use crate::check::search::steps::Steps;
use crate::check::verdict::{Limits, Verdict};
use crate::core::history::{History, NEVER, OperationId};
use crate::core::words::brief;
use crate::model::{Call, Expect, Expected, Kind, Spec};

/// Partial linearizations that are kept, and configurations that are looked at for them.
const KEPT_MAX: usize = 64;
const VISITED_MAX: usize = 100_000;
/// Characters of a state that are kept.
const STATE_MAX: usize = 4096;

/// All maximal partial linearizations near a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partials {
    /// The operation whose return no order explains, though one explains all that was known before.
    pub failed: OperationId,
    /// The operation at whose return no order is left, given all those answers; often the same.
    pub last: OperationId,
    /// The operations near it, in the order of their calls: those of which some had not returned
    /// long before. Others belong to what was before.
    pub near: Vec<OperationId>,
    /// Longest first. Of those that end in the same state with the same operations done, one.
    pub partials: Vec<Partial>,
    /// How many more there are.
    pub more: usize,
    /// Of sets and maps: the key on which no order explains the answers. All this is about the
    /// operations on it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<i64>,
}

/// A way in which it can have gone, until it could not go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// The state before, and those of the operations near that had taken effect by then.
    pub before: String,
    pub done_before: Vec<OperationId>,
    /// What took effect, in this order. An operation of several steps may come several times.
    pub steps: Vec<Effect>,
    /// The operations of which one should have been next, and none could be.
    pub stuck: Vec<OperationId>,
    /// What each of these should have answered.
    pub expected: Vec<Expected>,
}

/// An operation takes effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub operation: OperationId,
    /// What it left, in the model's words.
    pub state: String,
}

/// The partial linearizations of `history`, which no order explains; `witness` are the operations
/// that show it. Or why there are none to show. The search ends where `limits` are cancelled, and
/// at their deadline.
pub fn partials(
    history: &History,
    spec: &Spec,
    witness: &[OperationId],
    limits: &Limits,
) -> Result<Partials, NotShown> {
    let history = &*own(history, spec).map_err(NotShown::Undecided)?;
    if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) {
        return Err(NotShown::Transactions);
    }
    if !spec.is_linearizable() {
        return Err(NotShown::OtherOrders);
    }
    as_far_as_run(history, spec, || of_parts(history, spec, witness, limits))
}

fn of_parts(
    history: &History,
    spec: &Spec,
    witness: &[OperationId],
    limits: &Limits,
) -> Result<Partials, NotShown> {
    // Keys are independent: what was done on others says nothing about the failure.
    let Some(key) = key_part::key_of_all(history, spec, witness) else {
        return of_all(history, spec, witness, limits);
    };
    let part = key_part::on_key(history, spec, key);
    let own: Vec<OperationId> = witness.iter().filter_map(|id| part.own(*id)).collect();
    Ok(key_part::named(&part, of_all(&part.history, spec, &own, limits)?, key))
}

fn of_all(
    history: &History,
    spec: &Spec,
    witness: &[OperationId],
    outer: &Limits,
) -> Result<Partials, NotShown> {
    let limits = &past_limits(history, outer);
    if spec.kind == Kind::Own
        && let Some(last) = witness.last()
        && history.operation(*last).end != NEVER
    {
        // Its operations are calls with their answers, so that none is known later than its call:
        // the search ended at the first return that no order explains.
        let known = until(history, history.operation(*last).end);
        match of_known(&known, *last, spec, limits) {
            Err(NotShown::NoMatterOfOrder) => {}
            found => return found,
        }
    }
    let (known, failed) = first_impossible(history, spec, witness, limits)?;
    of_known(&known, failed, spec, limits)
}

/// The partial linearizations of what was `known` when `failed` returned.
fn of_known(
    known: &History,
    failed: OperationId,
    spec: &Spec,
    limits: &Limits,
) -> Result<Partials, NotShown> {
    let events: Vec<HistoryEvent> = Events::new(known).collect();
    let mut last = events.len() - 1;
    loop {
        match before(known, spec, &events[..=last], limits) {
            Ok(partials) => return Ok(Partials { failed, ..partials }),
            // An answer that is known by now leaves no order even earlier.
            Err(NotShown::Earlier(id)) => {
                let at = events[..last].iter().rposition(|event| event.returns && event.id == id);
                last = at.ok_or(NotShown::NoFailure)?;
            }
            Err(why) => return Err(why),
        }
    }
}

/// The partial linearizations before the last of `events`, at which no order is left.
fn before(
    history: &History,
    spec: &Spec,
    events: &[HistoryEvent],
    limits: &Limits,
) -> Result<Partials, NotShown> {
    let Window { begin, end, settled } = window(history, events);
    // What is forgotten may be part of what is wrong, where calls without an answer excuse it.
    match near(history, spec, (begin, end), settled, limits) {
        Err(why) if !matches!(why, NotShown::Earlier(_)) => {
            near(history, spec, (begin, end), 0, limits)
        }
        found => found,
    }
}

/// The partial linearizations of what was under way between two times, with what can matter of what
/// ended before `settled`.
fn near(
    history: &History,
    spec: &Spec,
    (begin, end): (u64, u64),
    settled: u64,
    limits: &Limits,
) -> Result<Partials, NotShown> {
    let (history, places) = prune(history, spec, settled);
    let (values, region) = (Values::from_history(&history).ok(), Region { places, begin, end });
    let steps = Steps::new(&history, spec, values.as_ref());
    let near = Near { history: &history, spec, steps: &steps, region: &region, limits };
    with_object(&history, spec, FindPartials(near))
}

/// What was known at the first return that no order explains, and whose it is.
fn first_impossible(
    history: &History,
    spec: &Spec,
    witness: &[OperationId],
    limits: &Limits,
) -> Result<(History, OperationId), NotShown> {
    let mut returns: Vec<(u64, OperationId)> =
        history.ids().map(|id| (history.operation(id).end, id)).collect();
    returns.retain(|(end, _)| *end != NEVER);
    returns.sort_unstable();
    let bad = |at: usize| match check(&until(history, returns[at].0), spec, limits) {
        Verdict::Violation(_) => Ok(true),
        Verdict::Consistent => Ok(false),
        Verdict::Inconclusive(why) => Err(NotShown::Undecided(why)),
    };
    let end = witness.iter().map(|id| history.operation(*id).end).max();
    let mut high = returns.partition_point(|(at, _)| Some(*at) <= end).saturating_sub(1);
    if returns.is_empty() || !bad(high)? {
        high = returns.len().saturating_sub(1);
        if returns.is_empty() || !bad(high)? {
            return Err(NotShown::NoMatterOfOrder);
        }
    }
    // Most often it is not long before: each look takes as long as the history until then.
    let (mut low, mut back) = (0, 1);
    while low + back < high {
        match bad(high - back)? {
            true => (high, back) = (high - back, 2 * back),
            false => {
                low = high - back + 1;
                break;
            }
        }
    }
    while low < high {
        let middle = (low + high) / 2;
        if bad(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok((until(history, returns[high].0), returns[high].1))
}

/// Finds the partial linearizations, whatever the object.
struct FindPartials<'a, 'b>(Near<'a, 'b>);

impl<'a> Task<'a> for FindPartials<'a, '_> {
    type Output = Result<Partials, NotShown>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Self::Output {
        let FindPartials(near) = self;
        let past = near.past(object)?;
        let mut visited = 0;
        let graph = past.explore(object, |_| {
            visited += 1;
            visited <= VISITED_MAX && near.limits.go_on().is_ok()
        })?;
        near.limits.go_on()?;
        if graph.found.is_some() {
            return Err(NotShown::NoMatterOfOrder);
        }
        if graph.stopped {
            return Err(NotShown::TooManyOrders);
        }
        let (spec, region, steps) = (near.spec, near.region, &past.steps[..]);
        let found = Found { kind: spec.kind, object, region, steps, graph: &graph };
        Ok(found.partials())
    }
}

/// A search near a failure that is over, with the object that it was about.
struct Found<'f, 'a, M: Expect<Call<'a>>> {
    kind: Kind,
    object: &'f M,
    region: &'f Region,
    steps: &'f [NearStep<'a>],
    graph: &'f Graph<M::State>,
}

impl<'a, M: Expect<Call<'a>>> Found<'_, 'a, M> {
    fn partials(&self) -> Partials {
        let nodes = 0..self.graph.nodes.len();
        let mut partials: Vec<Partial> =
            nodes.filter(|at| self.graph.is_end(*at)).map(|at| self.partial(at)).collect();
        partials.sort_by_key(|partial| {
            std::cmp::Reverse(partial.done_before.len() + partial.steps.len())
        });
        let more = partials.len().saturating_sub(KEPT_MAX);
        partials.truncate(KEPT_MAX);
        let mut near: Vec<OperationId> =
            self.steps.iter().map(|step| self.region.original_id(step.id)).collect();
        near.dedup();
        let last = self.steps.iter().filter(|step| step.end != NEVER).max_by_key(|step| step.end);
        let last = last.map_or(near[0], |step| self.region.original_id(step.id));
        Partials { failed: last, last, near, partials, more, key: None }
    }

    /// The way to a node from which nothing leads on.
    fn partial(&self, end: usize) -> Partial {
        let name = |at: usize| self.region.original_id(self.steps[at].id);
        let (mut steps, mut at) = (Vec::new(), end);
        while let Some((parent, step)) = self.graph.nodes[at].parent {
            steps.push(Effect { operation: name(step), state: self.state(at) });
            at = parent;
        }
        steps.reverse();
        let done = self.graph.nodes[at].done;
        let mut done_before: Vec<_> =
            (0..self.steps.len()).filter(|step| done >> step & 1 == 1).map(name).collect();
        done_before.dedup();
        let end = &self.graph.nodes[end];
        let expected = |step: usize| self.object.expected(&end.state, &self.steps[step].call);
        let mut stuck: Vec<(usize, Expected)> = Vec::new();
        // Of several steps of an operation, the first of which something is known.
        for (step, _) in &end.tries {
            let same = |(other, _): &&mut (usize, _)| self.steps[*other].id == self.steps[*step].id;
            match stuck.last_mut().filter(same) {
                Some(last) if last.1 == Expected::UNKNOWN => *last = (*step, expected(*step)),
                Some(_) => {}
                None => stuck.push((*step, expected(*step))),
            }
        }
        let (stuck, expected): (Vec<usize>, Vec<Expected>) = stuck.into_iter().unzip();
        let stuck = stuck.into_iter().map(name).collect();
        Partial { before: self.state(at), done_before, steps, stuck, expected }
    }

    /// The state of a node in words.
    fn state(&self, node: usize) -> String {
        let state = self.object.describe_state(&self.graph.nodes[node].state);
        brief(shown_state(self.kind, state), STATE_MAX)
    }
}
