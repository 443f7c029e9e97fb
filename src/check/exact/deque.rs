//! Checks a work-stealing deque: one thread pushes and takes, others steal. Exact for such
//! histories; others go to the general search.
//!
//! The owner is sequential and its answers are known. So where each value lies is known without
//! any search: the n-th value from the bottom at the time of its push, counted from the first one
//! ever. What is left to find out is only how far the thieves have come: the state of the search is
//! two numbers, however long the deque.
//!
//! On 24 operations of 3 threads it is 1.4 times as fast as the general search (bench `checking`).

use crate::check::data::small::Small;
use crate::check::data::values::{Values, added_by};
use crate::check::search::history;
use crate::check::search::steps::Steps;
use crate::check::verdict::{Limits, Verdict};
use crate::core::history::{History, NEVER};
use crate::core::operation::{Op, Status};
use crate::model::{Call, Model, Spec};

/// The one thread that pushes and takes, if there is one. A deque nobody pushed to has any.
fn owner(history: &History) -> Option<usize> {
    let owns = |op: Op| matches!(op, Op::DequePush | Op::DequeTake);
    let is_owner = |thread: &crate::core::history::Thread| {
        thread.operations().iter().any(|operation| owns(operation.op))
    };
    let mut owners = (0..history.threads.len()).filter(|at| is_owner(&history.threads[*at]));
    let first = owners.next().unwrap_or(0);
    (owners.next().is_none() && !history.threads.is_empty()).then_some(first)
}

/// Whether no two clients push or take.
pub fn is_owned(history: &History) -> bool {
    let owns = |op: Op| matches!(op, Op::DequePush | Op::DequeTake);
    let owners = history.threads.iter().filter(|thread| thread.ops().iter().any(owns));
    let mut clients = owners.map(|thread| thread.client);
    let first = clients.next();
    clients.all(|client| Some(client) == first)
}

/// What the owner did; its answers are known.
struct Owned<'a> {
    values: &'a Values,
    /// By value: the place at which it lies, and how many changes the owner had made once it did.
    place: Small<(u32, u32)>,
    /// By number of the owner's operations that changed the deque: the place after the last value.
    bottom: Small<u32>,
}

/// How far the owner and the thieves have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DequeState {
    /// Operations of the owner that have changed the deque.
    done: u32,
    /// The place of the first value.
    top: u32,
}

impl<'a> Owned<'a> {
    fn new(history: &History, values: &'a Values, owner: usize) -> Owned<'a> {
        let (mut place, mut bottom) =
            (Small::from_elem((u32::MAX, u32::MAX), values.len()), Small::from_elem(0, 1));
        let thread = &history.threads[owner];
        let mut at = 0u32;
        for operation in thread.operations() {
            for &value in added_by(thread, operation) {
                place[values.added(owner, value)] = (at, bottom.len() as u32);
                at += 1;
                bottom.push(at);
            }
            let takes = operation.op == Op::DequeTake;
            if takes && (operation.status == Status::Ok || operation.end == NEVER) {
                // A take of what was never there goes wrong in the search, not here.
                at = at.saturating_sub(1);
                bottom.push(at);
            }
        }
        Owned { values, place, bottom }
    }

    fn bottom(&self, state: &DequeState) -> u32 {
        self.bottom[state.done as usize]
    }
}

impl Model<Call<'_>> for Owned<'_> {
    type State = DequeState;

    fn init(&self) -> DequeState {
        DequeState { done: 0, top: 0 }
    }

    fn step(&self, state: &DequeState, call: &Call, next: &mut Vec<DequeState>) {
        let (top, bottom) = (state.top, self.bottom(state));
        let lies_at = |wanted: u32| {
            let number = call.results.first().and_then(|value| self.values.get(*value));
            let place = number.map(|number| self.place[number]);
            place.is_some_and(|(place, since)| place == wanted && since <= state.done)
        };
        let owned = DequeState { done: state.done + 1, top };
        let stolen = DequeState { done: state.done, top: top + 1 };
        match call.op {
            Op::DequePush => next.push(owned),
            _ if call.status == Status::Empty => next.extend((top == bottom).then_some(*state)),
            _ if top >= bottom => {}
            Op::DequeTake => {
                let fits = call.status.is_open() || lies_at(bottom - 1);
                next.extend(fits.then_some(owned));
            }
            _ => {
                let fits = call.status.is_open() || lies_at(top);
                next.extend(fits.then_some(stolen));
            }
        }
    }

    fn is_empty(&self, state: &DequeState) -> bool {
        state.top == self.bottom(state)
    }

    fn reads(&self, call: &Call) -> bool {
        call.is_read()
    }
}

/// Decides a history of distinct values; none where several threads push or take.
pub fn check(history: &History, spec: &Spec, values: &Values, limits: &Limits) -> Option<Verdict> {
    let model = Owned::new(history, values, owner(history)?);
    let steps = Steps::new(history, spec, Some(values));
    Some(history::run(history, spec, &steps, &model, limits))
}
