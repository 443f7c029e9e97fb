//! A search that can be watched. A history comes in, and how far it can be explained if no order
//! does; a small exact search near the failure goes out, or of the beginning where there is none:
//! every configuration that was reached, every step that was tried from it, in that order, and why
//! the object refused it. Decides nothing.
//!
//! It goes depth first and remembers where it has been (Wing and Gong 1993, Lowe 2017): the
//! plainest search there is, for people. Verdicts come from the checker of the model.

use std::collections::HashMap;

use super::key_part::{KeyPart, key_of};
use super::partials::{NEAR_MAX, Near, NearStep, NotShown, Partials, Region, brief, window, words};
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::prefix::until;
use crate::check::data::scope::refuse;
use crate::check::data::values::Values;
use crate::check::online::prune::prune;
use crate::check::search::frontier::{Configuration, Frontier};
use crate::check::search::history::{Task, with_object};
use crate::check::search::steps::Steps;
use crate::history::{History, NEVER, OperationId};
use crate::model::{Call, Expect, Kind, Spec};

/// Configurations that are told; what a page can hold and a person can follow.
const NODES_MAX: usize = 4_000;
/// Bytes of states in words.
const STATES_BYTES_MAX: usize = 400_000;
/// Characters of one state.
const STATE_MAX: usize = 1_000;

/// A search, as it went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchTrace {
    /// What can take effect.
    pub steps: Vec<TraceStep>,
    /// States of the object in the model's words, and answers it would have given.
    pub states: Vec<String>,
    pub answers: Vec<String>,
    /// In the order in which they were reached first; the children of one follow it.
    pub nodes: Vec<TraceNode>,
    /// Those it began from: more than one where what came before can have left different states.
    pub roots: Vec<usize>,
    /// The one at which everything that had to take effect had; the search ended there.
    pub found: Option<usize>,
    /// Why it is not all.
    pub cut: Option<String>,
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
    /// Whence it was reached first, and by which step.
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

/// The search near the failure that `partials` tells of, or of the beginning where there is none;
/// or why there is nothing to show.
pub fn search_trace(
    history: &History,
    spec: &Spec,
    partials: Option<&Partials>,
) -> Result<SearchTrace, String> {
    if let Some(why) = refuse(history, spec) {
        return Err(why);
    }
    if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) {
        return Err("transactions are judged by their snapshots, not by one order".to_string());
    }
    let Some(partials) = partials else {
        return trace(history, spec, (0, beginning(history)), 0);
    };
    let key = partials.key.as_ref().and_then(|_| key_of(history, spec, partials.failed));
    let Some(key) = key else {
        return near_failure(history, spec, partials.failed, partials.last);
    };
    let part = KeyPart::new(history, spec, key);
    let own = |id: OperationId| part.own(id).ok_or("the failure is not on its key");
    let mut trace = near_failure(&part.history, spec, own(partials.failed)?, own(partials.last)?)?;
    trace.steps.iter_mut().for_each(|step| step.operation = part.whole(step.operation));
    Ok(trace)
}

/// The search before the return of `last`, given all that was known when `failed` returned.
fn near_failure(
    history: &History,
    spec: &Spec,
    failed: OperationId,
    last: OperationId,
) -> Result<SearchTrace, String> {
    let known = until(history, history.operation(failed).end);
    let end = known.operation(last).end;
    let mut events: Vec<HistoryEvent> = Events::new(&known).take_while(|e| e.time <= end).collect();
    let at = events.iter().rposition(|event| event.returns && event.id == last);
    events.truncate(at.ok_or("the failure is not in the history")? + 1);
    let (begin, end, settled) = window(&known, &events);
    trace(&known, spec, (begin, end), settled).or_else(|_| trace(&known, spec, (begin, end), 0))
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
) -> Result<SearchTrace, String> {
    let (history, places) = prune(history, spec, settled);
    let (values, region) = (Values::of(&history).ok(), Region { places, begin, end });
    let steps = Steps::new(&history, spec, values.as_ref());
    if !steps.decidable() {
        return Err("some value was added twice, so its steps cannot be told apart".to_string());
    }
    let near = Near { history: &history, spec, steps: &steps, region: &region };
    with_object(&history, spec, BuildTrace(near)).map_err(|stop| match stop {
        NotShown::Earlier(_) => "no order explains what came before".to_string(),
        NotShown::Other(why) => why,
    })
}

struct BuildTrace<'a, 'b>(Near<'a, 'b>);

impl<'a> Task<'a> for BuildTrace<'a, '_> {
    type Output = Result<SearchTrace, NotShown>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Result<SearchTrace, NotShown> {
        let BuildTrace(near) = self;
        let (frontier, items, bits) = near.past(object)?;
        if items.len() > 64 {
            let why = "more than 64 steps overlap near the failure, too many to follow";
            return Err(NotShown::Other(why.to_string()));
        }
        let mut builder = TraceBuilder::new(near.spec.kind, object, &items, near.region);
        builder.begin(&frontier, &bits);
        Ok(builder.trace)
    }
}

/// Goes along every order, and writes down how.
struct TraceBuilder<'w, 'a, M: Expect<Call<'a>>> {
    kind: Kind,
    object: &'w M,
    items: &'w [NearStep<'a>],
    trace: SearchTrace,
    reached: HashMap<(u64, M::State), usize>,
    states: HashMap<String, usize>,
    answers: HashMap<String, usize>,
    states_bytes: usize,
}

impl<'w, 'a, M: Expect<Call<'a>>> TraceBuilder<'w, 'a, M> {
    fn new(kind: Kind, object: &'w M, items: &'w [NearStep<'a>], region: &Region) -> Self {
        let step = |(at, item): (usize, &NearStep<'a>)| {
            let same = |other: &&NearStep| other.id == item.id;
            let after = (0..items.len()).filter(|other| item.after >> other & 1 == 1).collect();
            TraceStep {
                operation: region.name(item.id),
                part: items[..at].iter().filter(same).count(),
                parts: items.iter().filter(same).count(),
                after,
                must: item.end != NEVER,
            }
        };
        let steps = items.iter().enumerate().map(step).collect();
        TraceBuilder {
            kind,
            object,
            items,
            trace: SearchTrace { steps, ..SearchTrace::default() },
            reached: HashMap::new(),
            states: HashMap::new(),
            answers: HashMap::new(),
            states_bytes: 0,
        }
    }

    fn begin(&mut self, frontier: &Frontier<Call<'a>, M::State>, bits: &[u64]) {
        for Configuration { done, state } in &frontier.configurations {
            let place = |(at, bit): (usize, &u64)| (bit & done != 0).then_some(at);
            let before: Vec<usize> = bits.iter().enumerate().filter_map(place).collect();
            let done = before.iter().map(|at| 1 << at).sum();
            if self.reached.contains_key(&(done, state.clone())) || self.is_over() {
                continue;
            }
            let node = self.node(done, state, None);
            self.trace.nodes[node].done = before;
            self.trace.roots.push(node);
            self.visit(node, done, state);
        }
    }

    fn is_over(&self) -> bool {
        self.trace.found.is_some() || self.trace.cut.is_some()
    }

    fn node(&mut self, done: u64, state: &M::State, parent: Option<(usize, usize)>) -> usize {
        let text = brief(words(self.kind, self.object.describe_state(state)), STATE_MAX);
        let bytes = text.len();
        let known = self.states.len();
        let state_at = place(&mut self.states, &mut self.trace.states, text);
        self.states_bytes += if self.states.len() > known { bytes } else { 0 };
        let node = self.trace.nodes.len();
        self.trace.nodes.push(TraceNode { parent, state: state_at, ..TraceNode::default() });
        self.reached.insert((done, state.clone()), node);
        if node + 1 >= NODES_MAX || self.states_bytes > STATES_BYTES_MAX {
            self.trace.cut = Some(format!(
                "the search was followed for {} configurations; there are more",
                node + 1
            ));
        }
        node
    }

    fn visit(&mut self, node: usize, done: u64, state: &M::State) {
        let left = |at: &usize| done >> at & 1 == 0;
        let due = (0..self.items.len()).filter(left).map(|at| self.items[at].end).min();
        let Some(due) = due.filter(|due| *due != NEVER) else {
            self.trace.found = Some(node);
            return;
        };
        let mut next = Vec::new();
        for at in (0..self.items.len()).filter(left) {
            let item = &self.items[at];
            if item.start > due || item.after & !done != 0 {
                continue;
            }
            self.object.step(state, &item.call, &mut next);
            if next.is_empty() {
                let answer = brief(self.object.expected(state, &item.call), STATE_MAX);
                let answer = place(&mut self.answers, &mut self.trace.answers, answer);
                self.tried(node, at, AttemptOutcome::Refused(answer));
            }
            for after in std::mem::take(&mut next) {
                let done = done | 1 << at;
                let known = self.reached.get(&(done, after.clone())).copied();
                let to = known.unwrap_or_else(|| self.node(done, &after, Some((node, at))));
                self.tried(node, at, AttemptOutcome::Leads(to));
                if known.is_none() && !self.is_over() {
                    self.visit(to, done, &after);
                }
                if self.is_over() {
                    return;
                }
            }
        }
    }

    fn tried(&mut self, node: usize, step: usize, outcome: AttemptOutcome) {
        self.trace.nodes[node].tries.push(Attempt { step, outcome });
    }
}

/// The place of `text` in `all`, to which it is added where it is new.
fn place(known: &mut HashMap<String, usize>, all: &mut Vec<String>, text: String) -> usize {
    *known.entry(text.clone()).or_insert_with(|| {
        all.push(text);
        all.len() - 1
    })
}
