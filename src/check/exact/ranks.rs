//! Numbers the invocations and responses that move each value among all events, and finds the
//! "empty" answers that the model promises to be true.
//!
//! Numbered like that, instants are slots: the slot of a number is what lies between its event and
//! the next. At equal stamps calls come before returns, so what touches overlaps.

use super::cover::covering;
use super::removals;
use super::removals::Broken;
use crate::check::data::empty_answers::OpenRemovals;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::small::{Few, Small};
use crate::check::data::values::{Values, added_by, taken_by};
use crate::check::data::witnesses;
use crate::check::verdict::Witness;
use crate::core::history::History;
use crate::core::operation::Status;
use crate::model::{Empty, Spec};

/// Rank of an event that does not happen.
pub const NONE: u32 = u32::MAX;

/// Ranks of the calls and returns of a value's addition and removal.
#[derive(Clone, Copy)]
pub struct Ranks {
    pub add_call: u32,
    pub add_return: u32,
    pub take_call: u32,
    pub take_return: u32,
}

const UNSEEN: Ranks =
    Ranks { add_call: NONE, add_return: NONE, take_call: NONE, take_return: NONE };

impl Ranks {
    /// Whether the value is surely inside at some instant: what is not can pass through in one.
    #[inline]
    pub fn covers(&self) -> bool {
        self.add_return != NONE && (self.take_call == NONE || self.add_return < self.take_call)
    }
}

/// An "empty" answer that is judged: ranks of its call and return.
pub type Answer = (u32, u32);

/// What [`rank`] finds.
pub struct Ranked {
    /// By the value's number.
    pub ranks: Small<Ranks>,
    pub answers: Small<Answer>,
}

/// Ranks every event of operations that move at most one value each. What was taken must have been
/// added, and nothing taken twice.
pub fn rank(history: &History, spec: &Spec, values: &Values) -> Result<Ranked, Broken> {
    let mut kept = Small::from_elem(UNSEEN, values.len());
    let ranks = &mut kept[..];
    let mut answers = Small::new();
    let mut open_removals = OpenRemovals::new(history.threads.len());
    let mut called = Few::from_elem(0, history.threads.len());
    for (rank, event) in Events::new(history).enumerate() {
        let (rank, thread) = (rank as u32, event.id.thread as usize);
        let HistoryEvent { operation, returns, .. } = event;
        let owner = &history.threads[thread];
        if operation.op.adds() {
            let Some(value) = added_by(owner, operation).first() else { continue };
            let at = &mut ranks[values.added(thread, *value)];
            if returns {
                at.add_return = rank
            } else {
                at.add_call = rank
            }
            continue;
        }
        if !returns {
            open_removals.call(event.id.thread);
            called[thread] = rank;
        }
        if let Some(&value) = taken_by(owner, operation).first() {
            let nowhere = || Broken::certain(witnesses::from_nowhere(history, value));
            let at = &mut ranks[values.get(value).ok_or_else(nowhere)?];
            if !returns && at.take_call != NONE {
                return Err(Broken::certain(witnesses::taken_twice(history, value)));
            }
            *(if returns { &mut at.take_return } else { &mut at.take_call }) = rank;
            if returns && at.add_call == NONE {
                return Err(nowhere());
            }
        }
        if returns {
            let lone = open_removals.returns(event.id.thread);
            let judged = spec.empty == Empty::Strong || (spec.empty == Empty::Lone && lone);
            if operation.status == Status::Empty && judged {
                answers.push((called[thread], rank));
            }
        }
    }
    Ok(Ranked { ranks: kept, answers })
}

/// Why an "empty" answer cannot be right: values of which one was inside at each of its instants.
pub fn full_during(
    history: &History,
    values: &Values,
    (_, returned): Answer,
) -> Result<Witness, Broken> {
    let table = removals::removals(history, values)?.table;
    let event = Events::new(history).nth(returned as usize).expect("it was ranked");
    let span = (event.operation.start, event.operation.end);
    let inside = covering(history, values, &table, span, |_, _| true);
    Ok(witnesses::empty_while_full(history, event.id, &inside))
}
