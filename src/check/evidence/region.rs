//! Searches the region of a history near a failure: from the configurations that all before it can
//! have left, every step in every order, depth first, with a memory of the configurations that were
//! reached (Wing and Gong 1993, Lowe 2017).
//!
//! It is the plainest search there is, for people, and decides nothing. Its result is a [`Graph`];
//! partial linearizations and the search trace are both made from it.

use std::collections::HashMap;

use rustc_hash::FxHashSet;

use crate::check::data::empty_answers;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::own::{before, exhausted};
use crate::check::data::small::Few;
use crate::check::search::frontier::{Configuration, Search};
use crate::check::search::position::Position;
use crate::check::search::steps::{Step, Steps};
use crate::check::undecided::Exhausted;
use crate::check::undecided::Undecided;
use crate::check::verdict::Limits;
use crate::core::history::{History, NEVER, OperationId};
use crate::model::program::Before;
use crate::model::{Call, Expect, Model, Spec};

/// Operations that count as near the failure.
pub const NEAR_MAX: usize = 16;
/// Steps near the failure that can be followed: one bit each.
const STEPS_MAX: usize = 64;

/// Steps of a search through what came before, and for each operation: a search that is not hard
/// takes less than one of each.
const STEPS_MIN: u64 = 100_000;
const STEPS_EACH: u64 = 8;

/// Limits of the searches up to the failure: for the first response that no order explains, and for
/// the states before the operations near it. They end where `outer` ends.
pub fn past_limits(history: &History, outer: &Limits) -> Limits {
    let limits = Limits {
        configurations_max: 1 << 12,
        steps_max: STEPS_MIN + STEPS_EACH * history.len() as u64,
        memory_max: 256 << 20,
        ..Limits::default()
    };
    limits.within(outer)
}

/// Why there is nothing to show.
#[derive(Clone, Debug, PartialEq)]
pub enum NotShown {
    /// No order is left before, at the return of this operation.
    Earlier(OperationId),
    Undecided(Undecided),
    /// A search gave up before it came near.
    Before(Exhausted),
    /// Transactions have no one order.
    Transactions,
    /// Other orders may explain the history than those of linearizability.
    OtherOrders,
    /// An order is sought for at most so many operations.
    TooLong(usize),
    /// Some value was added twice.
    AddedTwice,
    /// The search for an order took too long, or found none though there is one.
    OrderTooLate,
    OrderMissed,
    /// The violation is not one of the order near one operation.
    NoMatterOfOrder,
    TooManyOrders,
    TooManySteps,
    /// The failure is not among the operations.
    NoFailure,
}

impl From<Exhausted> for NotShown {
    fn from(exhausted: Exhausted) -> NotShown {
        match exhausted {
            Exhausted::Deadline | Exhausted::Cancelled => NotShown::Undecided(exhausted.into()),
            _ => NotShown::Before(exhausted),
        }
    }
}

/// What is shown where the model is run: nothing, if it depends on orders that were not run.
pub fn as_far_as_run<T>(
    history: &History,
    spec: &Spec,
    show: impl FnOnce() -> Result<T, NotShown>,
) -> Result<T, NotShown> {
    match &history.runs {
        Some(runs) if spec.kind.is_run() => match runs.while_asked(show) {
            (shown, 0) => shown,
            _ => Err(NotShown::Undecided(Undecided::OrdersNotRun)),
        },
        _ => show(),
    }
}

/// The operations under way between two times are near a failure.
pub struct Window {
    pub begin: u64,
    pub end: u64,
    /// What ended before this had ended before any operation of the window was called.
    pub settled: u64,
}

/// What is near the last of `events`, a return.
pub fn window(history: &History, events: &[HistoryEvent]) -> Window {
    let end = events.last().expect("a return").time;
    // Operations are near that return in the last events, or not yet.
    let called = history.ids().map(|id| history.operation(id)).filter(|o| o.start <= end);
    let mut count = called.filter(|operation| operation.end > end).count();
    let mut first = events.len();
    while first > 0 && (count < NEAR_MAX || !events[first - 1].returns) {
        first -= 1;
        count += usize::from(events[first].returns);
    }
    let begin = events.get(first).map_or(0, |event| event.time);
    let under_way = history.ids().map(|id| history.operation(id)).filter(|o| o.end >= begin);
    let settled = under_way.map(|o| o.start).min().unwrap_or(begin).min(begin);
    Window { begin, end, settled }
}

/// Operations of the shortened history by their ids in the whole one.
pub struct Region {
    pub places: Vec<Vec<u32>>,
    /// What returned before this is not near.
    pub begin: u64,
    /// What returned after this need not have taken effect.
    pub end: u64,
}

impl Region {
    pub fn original_id(&self, id: OperationId) -> OperationId {
        let index = self.places[id.thread as usize][id.index as usize];
        OperationId { thread: id.thread, index }
    }
}

/// A step near the failure.
pub struct NearStep<'a> {
    pub id: OperationId,
    pub call: Call<'a>,
    /// The place of the step that must come before.
    pub before: Option<usize>,
    pub start: u64,
    pub end: u64,
}

/// What to search.
pub struct Near<'a, 'b> {
    pub history: &'a History,
    pub spec: &'b Spec,
    pub steps: &'b Steps<'a>,
    pub region: &'b Region,
    pub limits: &'b Limits,
}

/// The steps that are near, and the configurations before them; none of what was called later.
pub struct Past<'a, S> {
    pub steps: Vec<NearStep<'a>>,
    before: Reached<S>,
}

/// Of each configuration the steps that had taken effect, by their places, and the state.
type Reached<S> = Vec<(u64, S)>;

impl<'a> Near<'a, '_> {
    pub fn past<M: Expect<Call<'a>>>(&self, object: &M) -> Result<Past<'a, M::State>, NotShown> {
        let not_promised = empty_answers::not_promised(self.history, self.spec);
        let steps = self.near(&not_promised);
        let before = match self.told(object, &steps)? {
            Some(before) => before,
            None => self.followed(object, &steps, &not_promised)?,
        };
        Ok(Past { steps, before })
    }

    /// The steps that are near.
    fn near(&self, not_promised: &FxHashSet<OperationId>) -> Vec<NearStep<'a>> {
        let Region { begin, end, .. } = *self.region;
        let (mut steps, mut parts) = (Vec::new(), Few::new());
        let invoked = Events::new(self.history).filter(|event| !event.returns);
        for event in invoked.take_while(|event| event.time <= end) {
            let (id, operation) = (event.id, event.operation);
            if operation.end < begin || not_promised.contains(&id) {
                continue;
            }
            self.steps.fill(id, &mut parts);
            let (base, start) = (steps.len(), operation.start);
            let end = if operation.end > end { NEVER } else { operation.end };
            steps.extend(parts.drain(..).map(|Step { call, before }| {
                let before = before.map(|number| base + number);
                NearStep { id, call, before, start, end }
            }));
        }
        steps
    }

    /// The configurations before, of a model in a program: that follows all orders until then
    /// faster than it can be asked about each step.
    fn told<M: Expect<Call<'a>>>(
        &self,
        object: &M,
        steps: &[NearStep],
    ) -> Result<Option<Reached<M::State>>, NotShown> {
        if object.numbered(0).is_none() {
            return Ok(None);
        }
        let mut first: HashMap<OperationId, usize> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            first.entry(step.id).or_insert(at);
        }
        match before(self.history, self.region.begin, self.spec, self.limits) {
            Some(Before::Left(left)) => {
                are_few(steps)?;
                let bits = |(id, count): (OperationId, usize)| {
                    let first = *first.get(&id)?;
                    Some((first..first + count).map(|at| 1u64 << at).sum::<u64>())
                };
                let each = left.into_iter().map(|(done, state)| {
                    let done = done.into_iter().map(bits).sum::<Option<u64>>()?;
                    Some((done, object.numbered(state)?))
                });
                Ok(each.collect())
            }
            Some(Before::Unexplained(id)) => Err(NotShown::Earlier(self.region.original_id(id))),
            Some(Before::GaveUp(why)) => Err(exhausted(why, self.limits).into()),
            None => Ok(None),
        }
    }

    fn followed<M: Model<Call<'a>>>(
        &self,
        object: &M,
        steps: &[NearStep],
        not_promised: &FxHashSet<OperationId>,
    ) -> Result<Reached<M::State>, NotShown> {
        let mut search = Search::new(object, self.limits);
        let (mut position, mut parts) = (Position::new(object.init()), Few::new());
        // Of steps that are near, their places in the frontier.
        let mut places: Vec<Option<usize>> = vec![None; steps.len()];
        let mut next = 0;
        for event in Events::new(self.history).take_while(|event| event.time < self.region.begin) {
            let id = event.id;
            if not_promised.contains(&id) {
                continue;
            }
            if event.returns {
                if !position.respond(&mut search, id)? {
                    return Err(NotShown::Earlier(self.region.original_id(id)));
                }
                continue;
            }
            self.steps.fill(id, &mut parts);
            let steps_of = parts.iter().map(|step| (step.call, step.before));
            let own = position.invoke(&mut search, id, steps_of)?;
            if steps.get(next).is_some_and(|step| step.id == id) {
                own.iter().for_each(|place| {
                    places[next] = Some(*place);
                    next += 1;
                });
            }
        }
        are_few(steps)?;
        let done = |configuration: &Configuration<M::State>| {
            let all = places.iter().enumerate();
            let has = |place: &usize| configuration.done.contains(*place);
            let done = all.filter(|(_, place)| place.as_ref().is_some_and(has));
            done.map(|(at, _)| 1u64 << at).sum()
        };
        let all = position.frontier.configurations.into_iter();
        Ok(all.map(|configuration| (done(&configuration), configuration.state)).collect())
    }
}

/// An error if there are more than can be followed.
fn are_few(steps: &[NearStep]) -> Result<(), NotShown> {
    if steps.len() > STEPS_MAX { Err(NotShown::TooManySteps) } else { Ok(()) }
}

impl<'a, S: Clone + Eq + std::hash::Hash> Past<'a, S> {
    /// Follows every order of the steps, until `goes_on` says no to a configuration's state, or one
    /// is reached at which all that must have taken effect has.
    pub fn explore<M: Model<Call<'a>, State = S>>(
        &self,
        object: &M,
        goes_on: impl FnMut(&S) -> bool,
    ) -> Result<Graph<S>, NotShown> {
        let graph = Graph { nodes: Vec::new(), roots: Vec::new(), found: None, stopped: false };
        let (reached, steps) = (HashMap::new(), &self.steps[..]);
        let all = steps.iter().enumerate();
        let repeats = all.map(|(at, step)| u64::from(object.repeats(&step.call)) << at).sum();
        let mut explorer = Explorer { object, steps, repeats, goes_on, graph, reached };
        for (done, state) in &self.before {
            explorer.begin(*done, state);
        }
        Ok(explorer.graph)
    }
}

/// The configurations that were reached, in the order in which they were.
pub struct Graph<S> {
    pub nodes: Vec<GraphNode<S>>,
    /// Those it began from.
    pub roots: Vec<usize>,
    /// The one at which all that must have taken effect had: the search ended there.
    pub found: Option<usize>,
    /// Whether it was stopped.
    pub stopped: bool,
}

/// A configuration: which steps have taken effect, and what that left.
pub struct GraphNode<S> {
    pub done: u64,
    pub state: S,
    /// From which node it was reached first, and by which step.
    pub parent: Option<(usize, usize)>,
    /// The steps that were tried, each with the node it led to; none where the object refused it.
    pub tries: Vec<(usize, Option<usize>)>,
}

impl<S> Graph<S> {
    /// Whether nothing leads on from a node.
    pub fn is_end(&self, node: usize) -> bool {
        self.nodes[node].tries.iter().all(|(_, to)| to.is_none())
    }

    fn is_over(&self) -> bool {
        self.found.is_some() || self.stopped
    }
}

struct Explorer<'w, 'a, M: Model<Call<'a>>, F> {
    object: &'w M,
    steps: &'w [NearStep<'a>],
    /// Those that take effect any number of times, until the step after them does.
    repeats: u64,
    goes_on: F,
    graph: Graph<M::State>,
    reached: HashMap<(u64, M::State), usize>,
}

impl<'a, M: Model<Call<'a>>, F: FnMut(&M::State) -> bool> Explorer<'_, 'a, M, F> {
    fn begin(&mut self, done: u64, state: &M::State) {
        if self.graph.is_over() || self.reached.contains_key(&(done, state.clone())) {
            return;
        }
        let root = self.node(done, state, None);
        self.graph.roots.push(root);
        self.visit(root, done, state);
    }

    fn node(&mut self, done: u64, state: &M::State, parent: Option<(usize, usize)>) -> usize {
        let node = self.graph.nodes.len();
        let state = state.clone();
        self.graph.stopped |= !(self.goes_on)(&state);
        self.reached.insert((done, state.clone()), node);
        self.graph.nodes.push(GraphNode { done, state, parent, tries: Vec::new() });
        node
    }

    fn visit(&mut self, node: usize, done: u64, state: &M::State) {
        let left = |at: &usize| done >> at & 1 == 0;
        let due = (0..self.steps.len()).filter(left).map(|at| self.steps[at].end).min();
        let Some(due) = due.filter(|due| *due != NEVER) else {
            self.graph.found = Some(node);
            return;
        };
        let mut next = Vec::new();
        for at in (0..self.steps.len()).filter(left) {
            let step = &self.steps[at];
            let before = step.before.map_or(0, |before| 1u64 << before);
            let ended = before & self.repeats;
            if step.start > due || before & !done & !self.repeats != 0 {
                continue;
            }
            self.object.step(state, &step.call, &mut next);
            if next.is_empty() {
                self.graph.nodes[node].tries.push((at, None));
            }
            for after in std::mem::take(&mut next) {
                let done = done | ended | (1 << at & !self.repeats);
                let known = self.reached.get(&(done, after.clone())).copied();
                let to = known.unwrap_or_else(|| self.node(done, &after, Some((node, at))));
                self.graph.nodes[node].tries.push((at, Some(to)));
                if known.is_none() && !self.graph.is_over() {
                    self.visit(to, done, &after);
                }
                if self.graph.is_over() {
                    return;
                }
            }
        }
    }
}
