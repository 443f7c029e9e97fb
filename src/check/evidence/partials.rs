//! How far a history can be explained. One that no order explains comes in; every maximal partial
//! linearization near the first return that none explains goes out: the operations in the order in
//! which they can have taken effect, the state that each left, and what could not follow. Does not
//! decide anything: that is done. [`super::search_trace`] tells the search itself.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::check::data::empty_answers;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::prefix::until;
use crate::check::data::small::Few;
use crate::check::data::values::Values;
use crate::check::decide::check;
use crate::check::online::prune::prune;
use crate::check::search::frontier::{Exhausted, Frontier, Search};
use crate::check::search::history::{Task, with_object};
use crate::check::search::steps::{Step, Steps};
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::history::{History, NEVER, OperationId};
use crate::model::{Call, Expect, Kind, Model, Spec};

use super::key_part::{self, KeyPart};

/// Operations that count as near the failure.
pub(super) const NEAR_MAX: usize = 16;
/// Partial linearizations that are kept, and configurations that are looked at for them.
const KEPT_MAX: usize = 64;
const VISITED_MAX: usize = 100_000;
/// Characters of a state that are kept.
const STATE_MAX: usize = 4096;

/// What may be spent on each search for the first such return, and on the states before those
/// operations.
const PAST_LIMITS: Limits = Limits {
    configurations_max: 1 << 12,
    steps_max: 100_000,
    memory_max: 256 << 20,
    jobs: 1,
    cancelled: None,
};

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
    pub key: Option<String>,
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
    /// What each of these should have answered, in the model's words.
    #[serde(default)]
    pub expected: Vec<String>,
}

/// An operation takes effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub operation: OperationId,
    /// What it left, in the model's words.
    pub state: String,
}

/// The partial linearizations of `history`, of which `witness` says that no order explains it; or
/// why there are none to show.
pub fn partials(history: &History, spec: &Spec, witness: &Witness) -> Result<Partials, String> {
    if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) {
        return Err("transactions are explained by their snapshots, not by one order".to_string());
    }
    // Keys are independent: what was done on others says nothing about the failure.
    let Some(key) = key_part::key_of_all(history, spec, witness) else {
        return of_all(history, spec, witness);
    };
    let part = KeyPart::new(history, spec, key);
    let own = witness.operations.iter().filter_map(|id| part.own(*id)).collect();
    let witness = Witness { operations: own, ..witness.clone() };
    Ok(part.named(of_all(&part.history, spec, &witness)?, key))
}

fn of_all(history: &History, spec: &Spec, witness: &Witness) -> Result<Partials, String> {
    let (known, failed) = first_impossible(history, spec, witness)?;
    let events: Vec<HistoryEvent> = Events::new(&known).collect();
    let mut last = events.len() - 1;
    loop {
        match before(&known, spec, &events[..=last]) {
            Ok(partials) => return Ok(Partials { failed, ..partials }),
            Err(NotShown::Other(why)) => return Err(why),
            // An answer that is known by now leaves no order even earlier.
            Err(NotShown::Earlier(id)) => {
                let at = events[..last].iter().rposition(|event| event.returns && event.id == id);
                last = at.ok_or("the operations before cannot be told apart")?;
            }
        }
    }
}

/// Why there are no partial linearizations.
pub(super) enum NotShown {
    /// No order is left before, at the return of this operation.
    Earlier(OperationId),
    Other(String),
}

impl From<Exhausted> for NotShown {
    fn from(exhausted: Exhausted) -> NotShown {
        NotShown::Other(format!("the states before could not be found: {exhausted}"))
    }
}

/// The partial linearizations before the last of `events`, at which no order is left.
fn before(history: &History, spec: &Spec, events: &[HistoryEvent]) -> Result<Partials, NotShown> {
    let (begin, end, settled) = window(history, events);
    // What is forgotten may be part of what is wrong, where calls without an answer excuse it.
    match near(history, spec, (begin, end), settled) {
        Err(NotShown::Other(_)) => near(history, spec, (begin, end), 0),
        found => found,
    }
}

/// What is near the last of `events`, a return: what was under way between two times. The third is
/// that before which all that came had ended before them.
pub(super) fn window(history: &History, events: &[HistoryEvent]) -> (u64, u64, u64) {
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
    (begin, end, settled)
}

/// The partial linearizations of what was under way between two times, with what can matter of what
/// ended before `settled`.
fn near(
    history: &History,
    spec: &Spec,
    (begin, end): (u64, u64),
    settled: u64,
) -> Result<Partials, NotShown> {
    let (history, places) = prune(history, spec, settled);
    let (values, region) = (Values::of(&history).ok(), Region { places, begin, end });
    let steps = Steps::new(&history, spec, values.as_ref());
    let task = Near { history: &history, spec, steps: &steps, region: &region };
    with_object(&history, spec, task)
}

/// What was known at the first return that no order explains, and whose it is.
fn first_impossible(
    history: &History,
    spec: &Spec,
    witness: &Witness,
) -> Result<(History, OperationId), String> {
    let mut returns: Vec<(u64, OperationId)> =
        history.ids().map(|id| (history.operation(id).end, id)).collect();
    returns.retain(|(end, _)| *end != NEVER);
    returns.sort_unstable();
    let bad = |at: usize| match check(&until(history, returns[at].0), spec, &PAST_LIMITS) {
        Verdict::Violation(_) => Ok(true),
        Verdict::Consistent => Ok(false),
        Verdict::Inconclusive(why) => {
            Err(format!("the first such return could not be found: {why}"))
        }
    };
    let end = witness.operations.iter().map(|id| history.operation(*id).end).max();
    let mut high = returns.partition_point(|(at, _)| Some(*at) <= end).saturating_sub(1);
    if returns.is_empty() || !bad(high)? {
        high = returns.len().saturating_sub(1);
        if returns.is_empty() || !bad(high)? {
            return Err("some order explains every answer; what is missing is in none".to_string());
        }
    }
    let mut low = 0;
    while low < high {
        let middle = (low + high) / 2;
        if bad(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok((until(history, returns[high].0), returns[high].1))
}

/// Operations of the shortened history by their names in the whole one.
pub(super) struct Region {
    pub places: Vec<Vec<u32>>,
    /// What returned before this is not near.
    pub begin: u64,
    /// What returned after this need not have taken effect.
    pub end: u64,
}

impl Region {
    pub fn name(&self, id: OperationId) -> OperationId {
        let index = self.places[id.thread as usize][id.index as usize];
        OperationId { thread: id.thread, index }
    }
}

/// A step near the failure.
pub(super) struct NearStep<'a> {
    pub id: OperationId,
    pub call: Call<'a>,
    /// The items that must come before.
    pub after: u64,
    pub start: u64,
    pub end: u64,
}

/// Finds the partial linearizations, whatever the object.
pub(super) struct Near<'a, 'b> {
    pub history: &'a History,
    pub spec: &'b Spec,
    pub steps: &'b Steps<'a>,
    pub region: &'b Region,
}

impl<'a> Task<'a> for Near<'a, '_> {
    type Output = Result<Partials, NotShown>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Self::Output {
        let (frontier, items, bits) = self.past(object)?;
        self.explore(object, &frontier, &items, &bits).map_err(NotShown::Other)
    }
}

/// The configurations before the steps that are near, those steps, and the bit of each in the
/// configurations; none of what was called later.
pub(super) type Past<'a, S> = (Frontier<Call<'a>, S>, Vec<NearStep<'a>>, Vec<u64>);

impl<'a> Near<'a, '_> {
    pub fn past<M: Model<Call<'a>>>(&self, object: &M) -> Result<Past<'a, M::State>, NotShown> {
        let mut search = Search::new(object, &PAST_LIMITS);
        let mut frontier = Frontier::new(object.init());
        let (mut items, mut bits): (Vec<NearStep>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut open: Vec<u64> = vec![0; self.history.threads.len()];
        let (not_promised, mut parts) =
            (empty_answers::not_promised(self.history, self.spec), Few::new());
        let Region { begin, end, .. } = *self.region;
        for event in Events::new(self.history).take_while(|event| event.time <= end) {
            let (id, operation) = (event.id, event.operation);
            if not_promised.contains(&id) {
                continue;
            }
            if event.returns {
                // Of the rest, which is near, every order is looked at.
                let is_past = event.time < begin;
                if is_past && !search.close(&mut frontier, open[id.thread as usize])? {
                    return Err(NotShown::Earlier(self.region.name(id)));
                }
                continue;
            }
            self.steps.fill(id, &mut parts);
            let is_past = operation.end < begin;
            let base = items.len();
            let mut own: Vec<u64> = Vec::new();
            for (at, Step { call, after }) in parts.drain(..).enumerate() {
                let before = |bits: &[u64]| -> u64 {
                    let before = bits.iter().enumerate().filter(|(at, _)| after >> at & 1 == 1);
                    before.map(|(_, bit)| bit).sum()
                };
                if event.time < begin {
                    let bit = search.open(&mut frontier, call, before(&own))?;
                    own.push(bit);
                } else {
                    own.push(0);
                }
                if !is_past {
                    let start = operation.start;
                    let end = if operation.end > end { NEVER } else { operation.end };
                    items.push(NearStep {
                        id,
                        call,
                        after: after.wrapping_shl(base as u32),
                        start,
                        end,
                    });
                    bits.push(own[at]);
                }
            }
            open[id.thread as usize] = own.iter().sum();
        }
        Ok((frontier, items, bits))
    }

    fn explore<M: Expect<Call<'a>>>(
        &self,
        object: &M,
        frontier: &Frontier<Call<'a>, M::State>,
        items: &[NearStep<'a>],
        bits: &[u64],
    ) -> Result<Partials, String> {
        if items.len() > 64 {
            return Err("too many steps are near the failure".to_string());
        }
        let mut walk = Walk {
            kind: self.spec.kind,
            object,
            items,
            visited: HashSet::new(),
            path: Vec::new(),
            ends: Vec::new(),
        };
        let mut found = Vec::new();
        for configuration in &frontier.configurations {
            let before = bits.iter().enumerate().filter(|(_, bit)| *bit & configuration.done != 0);
            let done = before.map(|(at, _)| 1u64 << at).sum();
            walk.from(done, &configuration.state)?;
            for end in walk.ends.drain(..) {
                found.push(self.partial(object, items, done, &configuration.state, end));
            }
        }
        found.sort_by_key(|partial| {
            std::cmp::Reverse(partial.done_before.len() + partial.steps.len())
        });
        let more = found.len().saturating_sub(KEPT_MAX);
        found.truncate(KEPT_MAX);
        let mut near: Vec<OperationId> =
            items.iter().map(|item| self.region.name(item.id)).collect();
        near.dedup();
        let last = items.iter().filter(|item| item.end != NEVER).max_by_key(|item| item.end);
        let last = last.map_or(near[0], |item| self.region.name(item.id));
        Ok(Partials { failed: last, last, near, partials: found, more, key: None })
    }

    /// A state in words.
    fn state<M: Model<Call<'a>>>(&self, object: &M, state: &M::State) -> String {
        brief(words(self.spec.kind, object.describe_state(state)), STATE_MAX)
    }

    fn partial<M: Model<Call<'a>>>(
        &self,
        object: &M,
        items: &[NearStep<'a>],
        done: u64,
        before: &M::State,
        (steps, mut stuck): End,
    ) -> Partial {
        let name = |at: usize| self.region.name(items[at].id);
        let mut done_before: Vec<_> =
            (0..items.len()).filter(|at| done >> at & 1 == 1).map(name).collect();
        done_before.dedup();
        // Of several steps of an operation the first that cannot be is its answer's.
        stuck.dedup_by_key(|(at, _)| items[*at].id);
        let effect = |(at, state): (usize, String)| Effect {
            operation: self.region.name(items[at].id),
            state,
        };
        Partial {
            before: self.state(object, before),
            done_before,
            steps: steps.into_iter().map(effect).collect(),
            stuck: stuck.iter().map(|(at, _)| name(*at)).collect(),
            expected: stuck.into_iter().map(|(_, expected)| expected).collect(),
        }
    }
}

/// A path's items with the states they left, and what could not follow, with the answers that it
/// should have had.
type End = (Vec<(usize, String)>, Vec<(usize, String)>);

/// Goes along every order of the items.
struct Walk<'w, 'a, M: Expect<Call<'a>>> {
    kind: Kind,
    object: &'w M,
    items: &'w [NearStep<'a>],
    visited: HashSet<(u64, M::State)>,
    path: Vec<(usize, String)>,
    ends: Vec<End>,
}

impl<'a, M: Expect<Call<'a>>> Walk<'_, 'a, M> {
    fn from(&mut self, done: u64, state: &M::State) -> Result<(), String> {
        if !self.visited.insert((done, state.clone())) {
            return Ok(());
        }
        if self.visited.len() > VISITED_MAX {
            return Err("there are too many orders of the operations near the failure".to_string());
        }
        let left = |at: &usize| done >> at & 1 == 0;
        let due = (0..self.items.len()).filter(left).map(|at| self.items[at].end).min();
        let Some(due) = due.filter(|due| *due != NEVER) else {
            return Err("what is wrong is not a matter of order".to_string());
        };
        let able = |at: &usize| {
            let item = &self.items[*at];
            item.start <= due && item.after & !done == 0
        };
        let (mut stuck, mut next, mut goes_on) = (Vec::new(), Vec::new(), false);
        for at in (0..self.items.len()).filter(left).filter(able) {
            self.object.step(state, &self.items[at].call, &mut next);
            stuck.push(at);
            for state in next.drain(..) {
                goes_on = true;
                let left = words(self.kind, self.object.describe_state(&state));
                let left = brief(left, STATE_MAX);
                self.path.push((at, left));
                self.from(done | 1 << at, &state)?;
                self.path.pop();
            }
        }
        if !goes_on {
            let expected = |at: usize| self.object.expected(state, &self.items[at].call);
            let stuck = stuck.into_iter().map(|at| (at, brief(expected(at), STATE_MAX)));
            self.ends.push((self.path.clone(), stuck.collect()));
        }
        Ok(())
    }
}

/// A set is kept as a map whose values are all 1.
pub(super) fn words(kind: Kind, state: String) -> String {
    if kind == Kind::Set { state.replace(": 1", "") } else { state }
}

/// At most so many characters of `state`; no number is cut in two.
pub(super) fn brief(state: String, most: usize) -> String {
    match state.char_indices().nth(most) {
        None => state,
        Some((end, _)) => {
            let end = state[..end].rfind(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(end);
            format!("{}...", &state[..end])
        }
    }
}
