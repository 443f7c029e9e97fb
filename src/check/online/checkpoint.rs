//! Where the beginning of a history can be forgotten, for a check that goes along with a run and
//! never sees the calls rest. Operations that are explained come in, with a time that everything to
//! come lies after; a time goes out, with what the object holds then and what has happened. Works
//! for any sequential object. Does not know what can stand for what it holds.
//!
//! The general search follows the events. At a time to which it can have come in one way only, all
//! that it has done by then is done: what follows depends on the state alone, and on what was under
//! way and had not happened yet. So it does, too, at a time at which there are several ways, if one
//! of them alone leads to all the ways in which things can stand at `settled`: what is to come goes
//! on from one of those.

use crate::check::data::small::Few;
use crate::check::search::frontier::{Configuration, Frontier, Search};
use crate::check::search::steps::Step;
use crate::check::verdict::Limits;
use crate::history::{NEVER, OperationId};
use crate::model::{Call, Model};

/// So many ways are tried alone.
const WAYS_MAX: usize = 16;
/// How much of what is known may be left after a time at which there are several ways: the least
/// part that is tried. Each further one is twice as much.
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

/// A time between two events, and one way to come there.
pub struct Checkpoint<S> {
    /// The last event before.
    pub last: u64,
    /// What must come after starts no earlier.
    pub next: u64,
    pub state: S,
    /// What was under way and had not happened yet, by its position among all operations.
    pub waiting: Vec<usize>,
}

/// A time between two events, and all the ways to come there.
#[derive(Clone)]
struct Position<'a, S> {
    /// Events before.
    at: usize,
    frontier: Frontier<Call<'a>, S>,
    /// The operations under way, by their position among all, with the bits of their steps.
    open: Vec<(usize, u64)>,
}

struct Walk<'a, 'l, M: Model<Call<'a>>> {
    operations: &'l [Timed<'a>],
    /// Calls (false) and returns (true) before `settled`, oldest first.
    events: Vec<(u64, bool, usize)>,
    settled: u64,
    search: Search<'l, Call<'a>, M>,
}

/// The latest time before `settled` that can be found, and is one that `suits`, at which it is
/// enough to know what is left.
pub fn latest<'a, M: Model<Call<'a>>>(
    operations: &[Timed<'a>],
    model: &M,
    settled: u64,
    limits: &Limits,
    suits: impl Fn(&Checkpoint<M::State>) -> bool,
) -> Option<Checkpoint<M::State>> {
    let mut walk = Walk::new(operations, model, settled, limits);
    let end = walk.events.len();
    let mut position = Position { at: 0, frontier: Frontier::new(model.init()), open: Vec::new() };
    let (mut found, mut stops, mut part) = (None, Vec::new(), 2);
    while position.at < end {
        walk.advance(&mut position)?;
        if walk.search.model.weight(&position.frontier.configurations[0].state) > STATE_MAX {
            return None;
        }
        if let Some(left) = walk.only_way(&position).filter(&suits) {
            found = Some((position.at, left));
        }
        if part <= LEAST_PART && position.at >= end - end / part && position.at < end {
            stops.push(position.clone());
            part *= 2;
        }
    }
    for stop in stops.into_iter().rev() {
        if found.as_ref().is_some_and(|(at, _)| *at >= stop.at) {
            break;
        }
        if let Some(left) = walk.sufficient(&stop, &position, &suits) {
            return Some(left);
        }
    }
    found.map(|(_, left)| left)
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

    /// Goes on over all that happens at the next time; none where that is too much, or cannot be.
    fn advance(&mut self, position: &mut Position<'a, M::State>) -> Option<()> {
        let time = self.events.get(position.at)?.0;
        while let Some((_, returns, operation)) =
            self.events.get(position.at).copied().filter(|(at, ..)| *at == time)
        {
            position.at += 1;
            if returns {
                let at = position.open.iter().position(|(other, _)| *other == operation)?;
                let (_, mask) = position.open.swap_remove(at);
                if !self.search.close(&mut position.frontier, mask).ok()? {
                    return None;
                }
                continue;
            }
            let bits = self.open(position, operation)?;
            position.open.push((operation, bits));
        }
        Some(())
    }

    fn open(&mut self, position: &mut Position<'a, M::State>, operation: usize) -> Option<u64> {
        let Timed { steps, end, .. } = &self.operations[operation];
        let mut bits: Few<u64> = Few::new();
        for step in steps {
            let before = bits.iter().enumerate().filter(|(at, _)| step.after >> at & 1 == 1);
            let after = before.map(|(_, bit)| bit).sum();
            bits.push(self.search.open(&mut position.frontier, step.call, after).ok()?);
        }
        if let (&[bit], NEVER) = (&bits[..], *end) {
            position.frontier.need_not_happen(bit);
        }
        Some(bits.into_iter().sum())
    }

    /// The way from which all can go on that can go on from any, if there is one.
    fn only_way(&self, position: &Position<'a, M::State>) -> Option<Checkpoint<M::State>> {
        let ways = &position.frontier.configurations;
        let mut best = ways.first()?;
        for way in &ways[1..] {
            best = if self.covers(position, best, way) { best } else { way };
        }
        let is_enough = ways.iter().all(|way| self.covers(position, best, way));
        is_enough.then(|| self.checkpoint(position, best))?
    }

    /// Whether `one` can go on in all the ways in which `other` can: the state is the same, and
    /// what they differ in are reads that are right already and calls that may still happen.
    fn covers(
        &self,
        position: &Position<'a, M::State>,
        one: &Configuration<M::State>,
        other: &Configuration<M::State>,
    ) -> bool {
        one.state == other.state
            && position.open.iter().all(|(_, mask)| {
                let (here, there) = (one.done & mask, other.done & mask);
                let is_read = || {
                    self.search.model.reads(position.frontier.operation(mask & mask.wrapping_neg()))
                };
                here == there
                    || mask.is_power_of_two()
                        && match position.frontier.is_optional(*mask) {
                            true => here == 0,
                            false => here != 0 && is_read(),
                        }
            })
    }

    /// What is left at a position to which one came in this way; none where an operation has happened
    /// in part.
    fn checkpoint(
        &self,
        position: &Position<'a, M::State>,
        way: &Configuration<M::State>,
    ) -> Option<Checkpoint<M::State>> {
        let mut waiting = Vec::new();
        let next_call = self.events[position.at..].iter().find(|(_, returns, _)| !returns);
        let mut next = next_call.map_or(self.settled, |(time, ..)| *time);
        for (operation, mask) in &position.open {
            match way.done & mask {
                0 => {
                    waiting.push(*operation);
                    next = next.min(self.operations[*operation].start);
                }
                done if done == *mask => {}
                _ => return None,
            }
        }
        let last = self.events[position.at.checked_sub(1)?].0;
        Some(Checkpoint { last, next, state: way.state.clone(), waiting })
    }

    /// A way at `stop` that alone leads to all that there are at `end`.
    fn sufficient(
        &mut self,
        stop: &Position<'a, M::State>,
        end: &Position<'a, M::State>,
        suits: impl Fn(&Checkpoint<M::State>) -> bool,
    ) -> Option<Checkpoint<M::State>> {
        let mut ways: Vec<_> = stop.frontier.configurations.iter().collect();
        // What has not happened may happen yet, in any order.
        ways.sort_by_key(|way| way.done.count_ones());
        for way in ways.into_iter().take(WAYS_MAX) {
            let Some(left) = self.checkpoint(stop, way).filter(&suits) else { continue };
            let mut alone = stop.clone();
            alone.frontier.configurations = [way.clone()].into_iter().collect();
            let mut goes_on = true;
            while goes_on && alone.at < end.at {
                goes_on = self.advance(&mut alone).is_some();
            }
            let leads = |to: &Configuration<M::State>| {
                alone.frontier.configurations.iter().any(|way| self.covers(end, way, to))
            };
            if goes_on && end.frontier.configurations.iter().all(leads) {
                return Some(left);
            }
        }
        None
    }
}
