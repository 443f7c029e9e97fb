//! Mends an order in which an operation is due and cannot come: moves it, or one other operation,
//! so that all else may stay as it is.
//!
//! To go back step by step is to go through all orders of what came last, while one operation long
//! before is to blame: a transaction that began too early, a commit that came too late. Which one,
//! and where it belongs, is found by trying (repair in local search: Minton, Johnston, Philips,
//! Laird, Artificial Intelligence 1992). What is due and its thread's operations come first, then
//! those with the longest timeboxes, which may be in the most places. Of places that lead to the
//! same configuration one is tried.

use std::cmp::Reverse;
use std::fmt::Debug;

use rustc_hash::FxHashSet;

use super::depth_first::{At, DepthFirst, Taken};
use crate::model::Model;

/// How often one operation takes steps that may be taken again.
const AGAIN_MAX: usize = 8;

/// An operation: its thread, and its number there.
pub(super) type Of = (usize, usize);

/// Steps, each with the configuration that it leads to.
pub(super) type Run<S> = Vec<(Taken, At<S>)>;

/// The number of a configuration on the way, and other steps from there.
pub(super) type Mended<S> = Option<(usize, Run<S>)>;

/// The end of an order.
pub(super) struct Mend<'m, 'w, O: Debug, M: Model<O>> {
    pub search: &'m DepthFirst<'w, O, M>,
    /// What each step led from, and what the last led to.
    pub at: &'m [At<M::State>],
    pub taken: &'m [Taken],
    /// What must come next.
    pub due: Of,
    /// Whether a configuration was not looked at yet.
    pub is_new: &'m dyn Fn(&At<M::State>) -> bool,
    /// Steps that may still be tried.
    pub tries: usize,
}

impl<O: Debug, M: Model<O>> Mend<'_, '_, O, M> {
    /// Whether what is due can come at the end.
    pub fn is_possible(&mut self) -> bool {
        self.at.last().is_some_and(|last| self.complete(last, self.due).is_some())
    }

    /// The same order with one operation moved, and with what is due.
    pub fn find(&mut self) -> Mended<M::State> {
        let last = self.at.last()?;
        let mut movable = vec![(self.due, self.taken.len())];
        movable.extend(self.under_way(last));
        movable.extend(self.taken_whole(last));
        movable.sort_by_key(|(of, place)| {
            let operation = self.search.operation(*of);
            match of.0 == self.due.0 {
                true => (false, Reverse(*place as u64)),
                false => (true, Reverse(operation.end - operation.start)),
            }
        });
        let mut movable = movable.into_iter();
        movable.find_map(|(of, place)| self.earlier(of, place).or_else(|| self.later(of, place)))
    }

    /// Operations of other threads that are under way without a step: their place is the end.
    fn under_way(&self, last: &At<M::State>) -> Vec<(Of, usize)> {
        let due = self.search.operation(self.due).end;
        let next = last.places.iter().enumerate().filter(|(_, place)| place.done.is_empty());
        let next = next.map(|(thread, place)| (thread, place.index as usize));
        let is_open = |(thread, index): &Of| {
            let operation = self.search.threads[*thread].get(*index);
            *thread != self.due.0 && operation.is_some_and(|operation| operation.start <= due)
        };
        next.filter(is_open).map(|of| (of, self.taken.len())).collect()
    }

    /// Operations that took all of their steps and may have changed something, by the place of the
    /// first.
    fn taken_whole(&self, last: &At<M::State>) -> Vec<(Of, usize)> {
        let (mut all, mut begun) = (Vec::new(), FxHashSet::default());
        for (place, &(thread, index, step, _)) in self.taken.iter().enumerate() {
            let of = (thread, index);
            let is_first = begun.insert(of) && self.at[place].places[thread].done.is_empty();
            let is_over = last.places[thread].index as usize > index;
            let step = &self.search.operation(of).steps[step].operation;
            if is_first && is_over && !self.search.object.reads(step) {
                all.push((of, place));
            }
        }
        all
    }

    /// Moves an operation before steps that came before it.
    fn earlier(&mut self, of: Of, place: usize) -> Mended<M::State> {
        let start = self.search.operation(of).start;
        let mut behind = self.complete(&self.at[place], of);
        if place == self.taken.len()
            && let Some(run) = &behind
            && let Some(mended) = self.finish(of, run.clone(), place, &[])
        {
            return Some(mended);
        }
        for at in (0..place).rev() {
            let passed = self.taken[at];
            let must_come = self.search.operation((passed.0, passed.1)).end < start;
            if passed.0 == of.0 || must_come || self.tries == 0 {
                return None;
            }
            let run = self.complete(&self.at[at], of);
            if let Some(run) = &run
                && !self.is_same(run, passed, behind.as_ref())
                && let Some(mended) = self.finish(of, run.clone(), at, &self.without(of, at))
            {
                return Some(mended);
            }
            behind = run;
        }
        None
    }

    /// Moves an operation behind steps that came after it, at last behind what is due.
    fn later(&mut self, of: Of, place: usize) -> Mended<M::State> {
        let end = self.search.operation(of).end;
        let rest = self.without(of, place);
        let mut passed: Run<M::State> = Vec::new();
        let mut before = self.complete(&self.at[place], of);
        for (number, &step) in rest.iter().enumerate() {
            let may_not_come = self.search.operation((step.0, step.1)).start > end;
            if step.0 == of.0 || may_not_come || self.tries == 0 {
                return None;
            }
            let at = self.step(passed.last().map_or(&self.at[place], |(_, at)| at), step)?;
            let run = self.complete(&at, of);
            passed.push((step, at));
            let is_same = before.is_some_and(|before| self.is_same(&before, step, run.as_ref()));
            if let Some(run) = run.as_ref().filter(|_| !is_same) {
                let moved = passed.iter().chain(run).cloned().collect();
                let mended = self.finish(of, moved, place, &rest[number + 1..]);
                if mended.is_some() {
                    return mended;
                }
            }
            before = run;
        }
        let may_follow = of.0 != self.due.0 && self.search.operation(self.due).start <= end;
        if may_follow && place < self.taken.len() {
            return self.finish(of, passed, place, &[]);
        }
        None
    }

    /// The steps from a place on, except those of an operation.
    fn without(&self, of: Of, place: usize) -> Vec<Taken> {
        let others = self.taken[place..].iter().filter(|taken| (taken.0, taken.1) != of);
        others.copied().collect()
    }

    /// Whether a step after `first` leads where `behind`, the same operation after it, leads.
    fn is_same(
        &mut self,
        first: &Run<M::State>,
        step: Taken,
        behind: Option<&Run<M::State>>,
    ) -> bool {
        let (Some((_, first)), Some((_, behind))) =
            (first.last(), behind.and_then(|run| run.last()))
        else {
            return false;
        };
        self.step(first, step).is_some_and(|at| at == *behind)
    }

    /// Takes the rest of the steps where `run`, with what was moved, ends; and then what is due.
    fn finish(
        &mut self,
        moved: Of,
        mut run: Run<M::State>,
        place: usize,
        rest: &[Taken],
    ) -> Mended<M::State> {
        for &step in rest {
            let at = self.step(run.last().map_or(&self.at[place], |(_, at)| at), step)?;
            run.push((step, at));
        }
        if moved != self.due {
            let due = self.complete(run.last().map_or(&self.at[place], |(_, at)| at), self.due)?;
            run.extend(due);
        }
        let is_new = run.last().is_some_and(|(_, at)| (self.is_new)(at));
        is_new.then_some((place, run))
    }

    /// Takes a step, if it may come next.
    fn step(&mut self, from: &At<M::State>, taken: Taken) -> Option<At<M::State>> {
        self.tries = self.tries.checked_sub(1)?;
        let is_next = from.places[taken.0].index as usize == taken.1;
        let may_come = self.search.steps_of(from, taken.0).any(|(step, _)| step == taken.2);
        if is_next && may_come { self.search.next(from, taken) } else { None }
    }

    /// All steps of an operation, one after the other.
    fn complete(&mut self, from: &At<M::State>, of: Of) -> Option<Run<M::State>> {
        let most = self.search.operation(of).steps.len() + AGAIN_MAX;
        let mut run = Vec::new();
        let is_next = from.places[of.0].index as usize == of.1;
        (is_next && self.goes_on(from, of, most, &mut run)).then_some(run)
    }

    /// Takes the rest of an operation's steps, so many at most; last those that may come again.
    fn goes_on(
        &mut self,
        from: &At<M::State>,
        of: Of,
        most: usize,
        run: &mut Run<M::State>,
    ) -> bool {
        let search = self.search;
        let mut steps: Vec<_> = search.steps_of(from, of.0).collect();
        steps.sort_by_key(|(_, step)| search.object.repeats(&step.operation));
        for (number, step) in steps {
            let mut next = Vec::new();
            search.object.step(&from.state, &step.operation, &mut next);
            for (choice, state) in next.into_iter().enumerate() {
                if most == 0 || self.tries == 0 {
                    return false;
                }
                self.tries -= 1;
                let taken = (of.0, of.1, number, choice);
                let at = At { places: search.after(&from.places, taken), state };
                let is_over = at.places[of.0].index as usize > of.1;
                run.push((taken, at.clone()));
                if is_over || at != *from && self.goes_on(&at, of, most - 1, run) {
                    return true;
                }
                run.pop();
            }
        }
        false
    }
}
