//! Shows a small exact search step by step: near the failure of a bad history, of the beginning of
//! a good one. A trace has every configuration that was reached, every step that was tried from it,
//! in that order, and what the object would have answered where it refused one.
//!
//! Verdicts come from the checker of the model; the search is that of [`super::region`].

use std::collections::HashMap;

use super::key_part::{key_of, on_key};
use super::partials::Partials;
use super::region::{
    Graph, NEAR_MAX, Near, NearStep, NotShown, Region, Window, as_far_as_run, past_limits, window,
};
use super::shown_state;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::own::own;
use crate::check::data::prefix::until;
use crate::check::data::scope::refuse;
use crate::check::data::values::Values;
use crate::check::online::prune::prune;
use crate::check::search::history::{Task, with_object};
use crate::check::search::steps::Steps;
use crate::check::verdict::Limits;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Op;
use crate::core::words::brief;
use crate::model::{Call, Expect, Expected, Kind, Spec};

/// Configurations of a trace: what a page can hold and a person can follow.
const NODES_MAX: usize = 4_000;
/// Bytes of states in words.
const STATES_BYTES_MAX: usize = 400_000;
/// Characters of one state.
const STATE_MAX: usize = 1_000;

/// A search, step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchTrace {
    /// The steps that can take effect.
    pub steps: Vec<TraceStep>,
    /// States of the object in the model's words.
    pub states: Vec<String>,
    /// Answers that the object would have given to operations of a kind.
    pub answers: Vec<(Op, Expected)>,
    /// In the order in which they were reached first; the children of one follow it.
    pub nodes: Vec<TraceNode>,
    /// Those the search began from: several where what came before can have left different states.
    pub roots: Vec<usize>,
    /// The one at which everything that had to take effect had; the search ended there.
    pub found: Option<usize>,
    /// Whether there are more nodes than these.
    pub is_cut: bool,
}

/// A step: an operation, or a part of one that has several.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    pub operation: OperationId,
    /// Which part of how many, from 0.
    pub part: usize,
    pub parts: usize,
    /// Places in `steps` of what must come before.
    pub after: Vec<usize>,
    /// Whether it must take effect: it returned before the search's end.
    pub must: bool,
}

/// A configuration: which steps have taken effect, and what that left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceNode {
    /// Of a root: the steps that had taken effect. Others have their parent's, and one more.
    pub done: Vec<usize>,
    /// The node from which it was reached first, and the step.
    pub parent: Option<(usize, usize)>,
    /// Place in the trace's states.
    pub state: usize,
    pub tries: Vec<Attempt>,
}

/// A step tried in a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    pub step: usize,
    pub outcome: AttemptOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttemptOutcome {
    /// It took effect and led to this configuration.
    Leads(usize),
    /// The object would have answered this instead: place in the trace's answers.
    Refused(usize),
}

/// The search near the failure that `partials` is about, or of the beginning where there is none;
/// or why there is nothing to show. It ends where `limits` are cancelled, and at their deadline.
pub fn search_trace(
    history: &History,
    spec: &Spec,
    partials: Option<&Partials>,
    limits: &Limits,
) -> Result<SearchTrace, NotShown> {
    let history = &*own(history, spec).map_err(NotShown::Undecided)?;
    if let Some(why) = refuse(history, spec) {
        return Err(NotShown::Undecided(why));
    }
    if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) {
        return Err(NotShown::Transactions);
    }
    if !spec.is_linearizable() {
        return Err(NotShown::OtherOrders);
    }
    as_far_as_run(history, spec, || trace_near(history, spec, partials, limits))
}

fn trace_near(
    history: &History,
    spec: &Spec,
    partials: Option<&Partials>,
    limits: &Limits,
) -> Result<SearchTrace, NotShown> {
    let limits = &past_limits(history, limits);
    let Some(partials) = partials else {
        return trace(history, spec, (0, beginning(history)), 0, limits);
    };
    let key = partials.key.as_ref().and_then(|_| key_of(history, spec, partials.failed));
    let Some(key) = key else {
        return near_failure(history, spec, [partials.failed, partials.last], limits);
    };
    let part = on_key(history, spec, key);
    let own = |id: OperationId| part.own(id).ok_or(NotShown::NoFailure);
    let ends = [own(partials.failed)?, own(partials.last)?];
    let mut trace = near_failure(&part.history, spec, ends, limits)?;
    trace.steps.iter_mut().for_each(|step| step.operation = part.whole(step.operation));
    Ok(trace)
}

/// The search before the return of `last`, given all that was known when `failed` returned.
fn near_failure(
    history: &History,
    spec: &Spec,
    [failed, last]: [OperationId; 2],
    limits: &Limits,
) -> Result<SearchTrace, NotShown> {
    let known = until(history, history.operation(failed).end);
    if !known.has(last) {
        return Err(NotShown::NoFailure);
    }
    let end = known.operation(last).end;
    let mut events: Vec<HistoryEvent> = Events::new(&known).take_while(|e| e.time <= end).collect();
    let at = events.iter().rposition(|event| event.returns && event.id == last);
    events.truncate(at.ok_or(NotShown::NoFailure)? + 1);
    let Window { begin, end, settled } = window(&known, &events);
    trace(&known, spec, (begin, end), settled, limits)
        .or_else(|_| trace(&known, spec, (begin, end), 0, limits))
}

/// When the first few operations had returned.
fn beginning(history: &History) -> u64 {
    let returns = Events::new(history).filter(|event| event.returns);
    returns.take(NEAR_MAX).last().map_or(0, |event| event.time)
}

fn trace(
    history: &History,
    spec: &Spec,
    (begin, end): (u64, u64),
    settled: u64,
    limits: &Limits,
) -> Result<SearchTrace, NotShown> {
    let (history, places) = prune(history, spec, settled);
    let (values, region) = (Values::from_history(&history).ok(), Region { places, begin, end });
    let steps = Steps::new(&history, spec, values.as_ref());
    if !steps.knows_producers() {
        return Err(NotShown::AddedTwice);
    }
    let near = Near { history: &history, spec, steps: &steps, region: &region, limits };
    with_object(&history, spec, BuildTrace(near))
}

struct BuildTrace<'a, 'b>(Near<'a, 'b>);

impl<'a> Task<'a> for BuildTrace<'a, '_> {
    type Output = Result<SearchTrace, NotShown>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Result<SearchTrace, NotShown> {
        let BuildTrace(near) = self;
        let past = near.past(object)?;
        let (mut states, mut nodes) = (Numbered::default(), Vec::new());
        let graph = past.explore(object, |state| {
            let text = shown_state(near.spec.kind, object.describe_state(state));
            let state = states.number(brief(text, STATE_MAX));
            nodes.push(TraceNode { state, ..TraceNode::default() });
            nodes.len() < NODES_MAX
                && states.bytes <= STATES_BYTES_MAX
                && near.limits.go_on().is_ok()
        })?;
        for (node, reached) in nodes.iter_mut().zip(&graph.nodes) {
            node.parent = reached.parent;
        }
        for root in &graph.roots {
            let done = graph.nodes[*root].done;
            nodes[*root].done = (0..past.steps.len()).filter(|at| done >> at & 1 == 1).collect();
        }
        let answers = Vec::new();
        let mut builder =
            TraceBuilder { object, steps: &past.steps, graph: &graph, nodes, answers };
        graph.roots.iter().for_each(|root| builder.add_tries(*root));
        let TraceBuilder { nodes, answers, .. } = builder;
        Ok(SearchTrace {
            steps: trace_steps(&past.steps, near.region),
            states: states.all,
            answers,
            is_cut: graph.stopped,
            nodes,
            roots: graph.roots,
            found: graph.found,
        })
    }
}

/// Texts, each with a number.
#[derive(Default)]
struct Numbered {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
    bytes: usize,
}

impl Numbered {
    fn number(&mut self, text: String) -> usize {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        self.bytes += text.len();
        self.numbers.insert(text.clone(), self.all.len());
        self.all.push(text);
        self.all.len() - 1
    }
}

fn trace_steps(steps: &[NearStep], region: &Region) -> Vec<TraceStep> {
    let step = |(at, step): (usize, &NearStep)| {
        let same = |other: &&NearStep| other.id == step.id;
        TraceStep {
            operation: region.original_id(step.id),
            part: steps[..at].iter().filter(same).count(),
            parts: steps.iter().filter(same).count(),
            after: step.before.into_iter().collect(),
            must: step.end != NEVER,
        }
    };
    steps.iter().enumerate().map(step).collect()
}

struct TraceBuilder<'w, 'a, M: Expect<Call<'a>>> {
    object: &'w M,
    steps: &'w [NearStep<'a>],
    graph: &'w Graph<M::State>,
    nodes: Vec<TraceNode>,
    answers: Vec<(Op, Expected)>,
}

impl<'a, M: Expect<Call<'a>>> TraceBuilder<'_, 'a, M> {
    /// Adds what was tried from a node and, in the order of the search, from those it led to first.
    fn add_tries(&mut self, node: usize) {
        let from = &self.graph.nodes[node];
        for &(step, to) in &from.tries {
            let outcome = match to {
                Some(to) => AttemptOutcome::Leads(to),
                None => {
                    let call = &self.steps[step].call;
                    let answer = (call.op, self.object.expected(&from.state, call));
                    let known = self.answers.iter().position(|known| *known == answer);
                    AttemptOutcome::Refused(known.unwrap_or_else(|| {
                        self.answers.push(answer);
                        self.answers.len() - 1
                    }))
                }
            };
            self.nodes[node].tries.push(Attempt { step, outcome });
            if let Some(to) = to
                && self.graph.nodes[to].parent == Some((node, step))
                && self.nodes[to].tries.is_empty()
            {
                self.add_tries(to);
            }
        }
    }
}
