//! Prunes the history of a stack in an online check: drops operations that no future response can
//! contradict. The contract is that of [`super::prune`].
//!
//! A part of a stack's history is a stack's history, so that to leave out a value, with its push
//! and its pop, never makes a good history bad. That it makes no bad one good has to be shown: any
//! order of all the rest, whatever is to come, must have room for the value. Let a *past* value be
//! one that is popped before `settled`, and a *later* one one that is popped after it, or never.
//!
//! - While a past value is inside, no later one is pushed: it would have to leave first. So past
//!   values lie above all later ones.
//! - A value covers the time from the end of its push to the start of its pop. At an instant that
//!   no past value covers, none need be inside: of those that are, one whose pop can happen at
//!   that instant is popped there, the others are pushed there. They lie on top, so nothing is
//!   disturbed.
//! - Now take a value out of the past, with such an instant `from` in the box of its push and
//!   another, `to`, in that of its pop. If neither a later value is pushed nor the stack found
//!   empty between the two, the value has room there, right above what is inside at both. Later
//!   values that are pushed in between can all be pushed at `from` or at `to` instead, in the same
//!   order, if whichever cannot wait until `to` has returned before any is called that could not
//!   be called by `from`.
//! - A value whose push and pop overlap has room at any instant of both.
//! - An "empty" answer has room at such an instant before the first call of a later push.
//!
//! Whether a value is past or later is open where the box of its pop contains `settled`. What
//! covers as one that is past, and stands in the way as one that is later, is right either way.

use super::prune::{Dropped, over};
use crate::check::data::empty_answers::{OpenRemovals, must_be_true};
use crate::check::data::events::Events;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Status;
use crate::model::{Empty, Spec, added};
use rustc_hash::FxHashMap;

/// Passes over what is left. What a further one could drop is left to the next prune.
const PASSES_MAX: usize = 16;

/// Number of an event that does not happen.
const NONE: usize = usize::MAX;

/// A call, and the numbers of its two events. An instant has the number of the event before it.
#[derive(Clone, Copy)]
struct Timed {
    id: OperationId,
    call: usize,
    ends: usize,
}

#[derive(Clone, Copy, Default)]
struct Value {
    push: Option<Timed>,
    pop: Option<Timed>,
}

/// A value that was popped before `settled`, after its push had returned.
struct Past {
    push: Timed,
    pop: Timed,
    may_go: bool,
}

struct Stack {
    dropped: Dropped,
    /// Events before `settled`.
    limit: usize,
    past: Vec<Past>,
    /// "Empty" answers that must be true, and whether they may go.
    empties: Vec<(Timed, bool)>,
    /// By instant: how many values cover it that may be past.
    covers: Vec<u32>,
    /// By instant: the next call of a push of a value that may be later, the last return of one.
    next_call: Vec<usize>,
    last_return: Vec<usize>,
    /// The first call of such a push.
    first_call: usize,
}

/// By the [contract](super) of every prune.
pub fn prune(history: &History, spec: &Spec, settled: u64) -> Option<History> {
    let is_open = |o: &crate::core::history::Operation| o.status.is_open() && o.op.removes();
    if history.threads.iter().any(|thread| thread.operations().iter().any(is_open)) {
        return None;
    }
    let mut stack = Stack::new(history, spec, settled)?;
    for _ in 0..PASSES_MAX {
        if !stack.pass() {
            break;
        }
    }
    Some(super::prune::kept(history, &stack.dropped).0)
}

impl Stack {
    fn new(history: &History, spec: &Spec, settled: u64) -> Option<Stack> {
        // Of what overlaps it an "empty" answer may need to know that it does.
        let over = if spec.empty == Empty::Lone { over(history, spec, settled) } else { NEVER };
        let may_go = |id: OperationId| history.operation(id).end < over;
        let mut stack = Stack {
            dropped: Dropped::new(history),
            limit: 0,
            past: Vec::new(),
            empties: Vec::new(),
            covers: Vec::new(),
            next_call: Vec::new(),
            last_return: Vec::new(),
            first_call: NONE,
        };
        let values = stack.read(history, spec, settled, may_go)?;
        let limit = stack.limit;
        stack.covers = vec![0; limit];
        (stack.next_call, stack.last_return) = (vec![NONE; limit], vec![NONE; limit]);
        for Value { push, pop } in values.into_values() {
            stack.sort_in(push, pop, may_go)?;
        }
        stack.past.sort_unstable_by_key(|value| value.push.ends);
        for at in 1..limit {
            let before = stack.last_return[at - 1];
            if stack.last_return[at] == NONE {
                stack.last_return[at] = before;
            }
        }
        // A call is not before the instant that has its own number.
        let mut next = NONE;
        for at in (0..limit).rev() {
            let call = std::mem::replace(&mut stack.next_call[at], next);
            next = next.min(call);
        }
        Some(stack)
    }

    /// Numbers the events; drops what moves no value and whose answer is not promised. None where a
    /// value is pushed or popped twice.
    fn read(
        &mut self,
        history: &History,
        spec: &Spec,
        settled: u64,
        may_go: impl Fn(OperationId) -> bool,
    ) -> Option<FxHashMap<i64, Value>> {
        let mut values: FxHashMap<i64, Value> = FxHashMap::default();
        let mut removals = OpenRemovals::new(history.threads.len());
        let mut open: Vec<Option<Timed>> = vec![None; history.threads.len()];
        for (number, event) in Events::new(history).enumerate() {
            let (id, operation) = (event.id, event.operation);
            self.limit += usize::from(event.time < settled);
            let removes = operation.op.removes();
            if !event.returns {
                if removes {
                    removals.call(id.thread);
                }
                let timed = Timed { id, call: number, ends: NONE };
                open[id.thread as usize] = Some(timed);
                if operation.end == NEVER {
                    self.note(history, &mut values, timed)?;
                }
                continue;
            }
            let timed = Timed { ends: number, ..open[id.thread as usize].take()? };
            let is_judged = !removes || must_be_true(spec, removals.returns(id.thread));
            match operation.status {
                Status::Empty if is_judged => self.empties.push((timed, may_go(id))),
                Status::Empty | Status::Full => self.dropped.set(id, may_go(id)),
                _ => self.note(history, &mut values, timed)?,
            }
        }
        Some(values)
    }

    /// A call that pushes or pops a value.
    fn note(
        &mut self,
        history: &History,
        values: &mut FxHashMap<i64, Value>,
        timed: Timed,
    ) -> Option<()> {
        let operation = history.operation(timed.id);
        let (args, results) = (history.args(timed.id), history.results(timed.id));
        if operation.op.removes() {
            let before = values.entry(*results.first()?).or_default().pop.replace(timed);
            return before.is_none().then_some(());
        }
        let value = added(operation.op, operation.status, args, results).first()?;
        let before = values.entry(*value).or_default().push.replace(timed);
        before.is_none().then_some(())
    }

    fn sort_in(
        &mut self,
        push: Option<Timed>,
        pop: Option<Timed>,
        may_go: impl Fn(OperationId) -> bool,
    ) -> Option<()> {
        let limit = self.limit;
        let (Some(push), Some(pop)) = (push, pop) else {
            // A pop whose push is still under way ends late enough.
            if let Some(push) = push {
                self.stands_in_the_way(push);
            }
            return pop.is_none_or(|pop| pop.ends >= limit).then_some(());
        };
        if pop.ends < push.call {
            return None;
        }
        if pop.call < push.ends && may_go(pop.id) {
            self.dropped.set(push.id, true);
            self.dropped.set(pop.id, true);
            return Some(());
        }
        if pop.ends < limit {
            self.past.push(Past { push, pop, may_go: may_go(pop.id) });
        } else {
            self.stands_in_the_way(push);
        }
        for at in push.ends.min(limit)..pop.call.min(limit) {
            // Of one that is popped later for certain nothing is covered.
            self.covers[at] += u32::from(pop.call < limit);
        }
        Some(())
    }

    fn stands_in_the_way(&mut self, push: Timed) {
        self.first_call = self.first_call.min(push.call);
        if push.call < self.limit {
            self.next_call[push.call] = push.call;
        }
        if push.ends < self.limit {
            self.last_return[push.ends] = push.ends;
        }
    }

    /// Drops what it can. Returns whether it dropped anything.
    fn pass(&mut self) -> bool {
        let before = self.empties.len() + self.past.len();
        let empties = std::mem::take(&mut self.empties);
        for (answer, may_go) in empties {
            let ends = answer.ends.min(self.limit).min(self.first_call);
            let has_room = (answer.call..ends).any(|at| self.covers[at] == 0);
            if has_room && may_go {
                self.dropped.set(answer.id, true);
            } else {
                self.empties.push((answer, may_go));
            }
        }
        let found_empty = self.found_empty();
        let past = std::mem::take(&mut self.past);
        for value in past {
            if value.may_go && self.has_room(&value, &found_empty) {
                self.dropped.set(value.push.id, true);
                self.dropped.set(value.pop.id, true);
                self.covers[value.push.ends..value.pop.call].iter_mut().for_each(|c| *c -= 1);
            } else {
                self.past.push(value);
            }
        }
        self.empties.len() + self.past.len() < before
    }

    /// By instant: whether the stack may be found empty at it, and where it next may.
    fn found_empty(&self) -> Vec<usize> {
        let mut next = vec![NONE; self.limit];
        for (answer, _) in &self.empties {
            let last = answer.ends.min(self.limit);
            (answer.call..last).for_each(|at| next[at] = at);
        }
        let mut nearest = NONE;
        for at in (0..self.limit).rev() {
            nearest = if next[at] == at { at } else { nearest };
            next[at] = nearest;
        }
        next
    }

    /// Whether whatever order there is of all the rest has room for the value.
    fn has_room(&self, Past { push, pop, .. }: &Past, found_empty: &[usize]) -> bool {
        let uncovered = |at: &usize| self.covers[*at] == 0;
        let Some(from) = (push.call..push.ends).rev().find(uncovered) else { return false };
        let Some(to) = (pop.call..pop.ends).find(uncovered) else { return false };
        if found_empty[from] <= to {
            return false;
        }
        let (call, returned) = (self.next_call[from], self.last_return[to]);
        call > to || returned == NONE || returned <= from || returned < call
    }
}
