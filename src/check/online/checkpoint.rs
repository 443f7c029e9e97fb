//! Finds a checkpoint: a time before which a history can be replaced by the state that it left. For
//! histories in which calls never rest, of any sequential object. [`super::summarize`] replaces
//! what came before.
//!
//! The general search follows the events. Where only one configuration is left, or one that can go
//! on in all the ways in which the others can, its state and the calls under way that have not
//! taken effect decide all that follows. The same holds at a time at which several configurations
//! are left, if one of them alone leads to all the configurations at `settled`.
//!
//! Streams and transactions have checkpoints of their own (`prune_stream`, `prune_transactions`):
//! they share [`Position::only_way`], but not what makes two configurations equal. Of a stream,
//! appends of unknown outcome with the same arguments stand for each other; of transactions, a
//! checkpoint splits a transaction into its snapshot and its commit, or must fall where none is
//! under way.

use crate::check::data::small::Few;
use crate::check::search::frontier::{Configuration, Search};
use crate::check::search::position::Position;
use crate::check::search::steps::Step;
use crate::check::verdict::Limits;
use crate::core::history::{NEVER, OperationId};
use crate::model::{Call, Model};

/// Configurations that are tried alone.
const WAYS_MAX: usize = 16;
/// Where several configurations are left, checkpoints are tried at the last eighth of the events,
/// the last quarter and the last half: this is the least part.
const LEAST_PART: usize = 8;
/// Bytes of a state of which many copies can be made.
const STATE_MAX: usize = 1 << 16;

/// An operation and its steps.
pub struct Timed<'a> {
    pub id: OperationId,
    pub start: u64,
    /// [`NEVER`] where its outcome is unknown.
    pub end: u64,
    pub steps: Few<Step<'a>>,
}

/// A time between two events before which a history can be replaced by the state that it left.
pub struct Checkpoint<S> {
    /// The last event before.
    pub last: u64,
    /// What comes after it starts no earlier.
    pub next: u64,
    pub state: S,
    /// What was under way and had not taken effect, by its position among all operations.
    pub waiting: Vec<usize>,
}

/// A time between two events.
#[derive(Clone)]
struct Stop<'a, S> {
    /// Events before.
    at: usize,
    /// Operations go by their place among all.
    position: Position<usize, Call<'a>, S>,
}

struct Walk<'a, 'l, M: Model<Call<'a>>> {
    operations: &'l [Timed<'a>],
    /// Invocations (false) and responses (true) before `settled`, oldest first.
    events: Vec<(u64, bool, usize)>,
    settled: u64,
    search: Search<'l, Call<'a>, M>,
}

/// The latest checkpoint before `settled` that can be found and that `suits` says yes to.
pub fn latest<'a, M: Model<Call<'a>>>(
    operations: &[Timed<'a>],
    model: &M,
    settled: u64,
    limits: &Limits,
    suits: impl Fn(&Checkpoint<M::State>) -> bool,
) -> Option<Checkpoint<M::State>> {
    let mut walk = Walk::new(operations, model, settled, limits);
    let end = walk.events.len();
    let mut now = Stop { at: 0, position: Position::new(model.init()) };
    let (mut found, mut stops, mut part) = (None, Vec::new(), 2);
    while now.at < end {
        walk.advance(&mut now)?;
        if walk.search.model.weight(&now.configurations()[0].state) > STATE_MAX {
            return None;
        }
        if let Some(left) = walk.only_way(&now).filter(&suits) {
            found = Some((now.at, left));
        }
        if part <= LEAST_PART && now.at >= end - end / part && now.at < end {
            stops.push(now.clone());
            part *= 2;
        }
    }
    for stop in stops.into_iter().rev() {
        if found.as_ref().is_some_and(|(at, _)| *at >= stop.at) {
            break;
        }
        if let Some(left) = walk.sufficient(&stop, &now, &suits) {
            return Some(left);
        }
    }
    found.map(|(_, left)| left)
}

impl<S> Stop<'_, S> {
    fn configurations(&self) -> &[Configuration<S>] {
        &self.position.frontier.configurations
    }
}

impl<'a, 'l, M: Model<Call<'a>>> Walk<'a, 'l, M> {
    fn new(
        operations: &'l [Timed<'a>],
        model: &'l M,
        settled: u64,
        limits: &'l Limits,
    ) -> Walk<'a, 'l, M> {
        let mut events = Vec::with_capacity(2 * operations.len());
        for (at, operation) in operations.iter().enumerate() {
            events.push((operation.start, false, at));
            events.push((operation.end, true, at));
        }
        events.retain(|(time, ..)| *time < settled);
        events.sort_unstable();
        Walk { operations, events, settled, search: Search::new(model, limits) }
    }

    /// Goes on over all events of the next time; none where a limit is reached, or no order is
    /// left.
    fn advance(&mut self, stop: &mut Stop<'a, M::State>) -> Option<()> {
        let (search, position) = (&mut self.search, &mut stop.position);
        let time = self.events.get(stop.at)?.0;
        while let Some((_, returns, operation)) =
            self.events.get(stop.at).copied().filter(|(at, ..)| *at == time)
        {
            stop.at += 1;
            let Timed { steps, end, .. } = &self.operations[operation];
            let steps = steps.iter().map(|step| (step.call, step.before));
            match (returns, *end) {
                (true, _) => position.respond(search, operation).ok()?.then_some(())?,
                (_, NEVER) => position.invoke_pending(search, operation, steps).ok()?,
                _ => drop(position.invoke(search, operation, steps).ok()?),
            }
        }
        Some(())
    }

    /// What is left at `position`, if one way to come there is enough to know.
    fn only_way(&self, stop: &Stop<'a, M::State>) -> Option<Checkpoint<M::State>> {
        let covers = |one: &_, other: &_| self.covers(stop, one, other);
        self.checkpoint(stop, stop.position.only_way(covers)?)
    }

    /// Whether `one` can go on in all the ways in which `other` can: the state is the same, and
    /// what they differ in are reads that are right already and calls that may still happen.
    fn covers(
        &self,
        stop: &Stop<'a, M::State>,
        one: &Configuration<M::State>,
        other: &Configuration<M::State>,
    ) -> bool {
        let Position { frontier, open } = &stop.position;
        one.state == other.state
            && open.iter().all(|(_, steps)| {
                let differs =
                    |place: &usize| one.done.contains(*place) != other.done.contains(*place);
                let Some(place) = steps.iter().find(differs) else { return true };
                let here = one.done.contains(place);
                steps.len() == 1
                    && match frontier.is_optional(place) {
                        true => !here,
                        false => here && self.search.model.reads(frontier.operation(place)),
                    }
            })
    }

    /// The checkpoint at a position that was reached in this way; none where an operation has taken
    /// effect in part.
    fn checkpoint(
        &self,
        stop: &Stop<'a, M::State>,
        way: &Configuration<M::State>,
    ) -> Option<Checkpoint<M::State>> {
        let mut waiting = Vec::new();
        let next_call = self.events[stop.at..].iter().find(|(_, returns, _)| !returns);
        let mut next = next_call.map_or(self.settled, |(time, ..)| *time);
        for (operation, steps) in &stop.position.open {
            if steps.is_disjoint(way.done) {
                waiting.push(*operation);
                next = next.min(self.operations[*operation].start);
            } else if !steps.is_subset(way.done) {
                return None;
            }
        }
        let last = self.events[stop.at.checked_sub(1)?].0;
        Some(Checkpoint { last, next, state: way.state.clone(), waiting })
    }

    /// A checkpoint at `stop`: a configuration that alone leads to all that are left at `end`.
    fn sufficient(
        &mut self,
        stop: &Stop<'a, M::State>,
        end: &Stop<'a, M::State>,
        suits: impl Fn(&Checkpoint<M::State>) -> bool,
    ) -> Option<Checkpoint<M::State>> {
        let mut ways: Vec<_> = stop.configurations().iter().collect();
        // Steps that have not taken effect may do so later, in any order: those with the fewest
        // first.
        ways.sort_by_key(|way| way.done.len());
        for way in ways.into_iter().take(WAYS_MAX) {
            let Some(left) = self.checkpoint(stop, way).filter(&suits) else { continue };
            let mut alone = stop.clone();
            alone.position.frontier.configurations = [way.clone()].into_iter().collect();
            let mut goes_on = true;
            while goes_on && alone.at < end.at {
                goes_on = self.advance(&mut alone).is_some();
            }
            let leads = |to: &Configuration<M::State>| {
                alone.configurations().iter().any(|way| self.covers(end, way, to))
            };
            if goes_on && end.configurations().iter().all(leads) {
                return Some(left);
            }
        }
        None
    }
}
