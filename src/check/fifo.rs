//! The checker of one queue, or of a pool, which is one without order. A history of enqueues and
//! dequeues of distinct values comes in, the first broken rule goes out. Exact where no operation
//! moves more than one value and every dequeue has an answer; otherwise what it finds broken is,
//! and the general search must decide the rest. Does not know that search.
//!
//! The rules are the four bad patterns of Henzinger, Sezgin and Vafeiadis (CONCUR 2013) and of
//! Bouajjani, Emmi, Enea and Hamza (ICALP 2015): a value from nowhere, a value taken twice, two
//! values out of order, and an "empty" answer at no instant of which the queue could be empty.
//! Precedence of enqueues and of dequeues are interval orders, so a cycle of either kind contracts
//! to a pair of values.
//!
//! Of a pool the third pattern says nothing, and the others suffice: a value whose addition and
//! removal overlap can pass through in an instant; any other need only be inside from the end of
//! the one to the start of the other.

use super::cover::{Crowd, Inside, covering};
use super::events::{Event, Events};
use super::removals::{self, Broken, Removals, Taken};
use super::values::{Values, added_by, taken_by};
use super::{Witness, runs, witness};
use crate::history::{History, NEVER};
use crate::model::{Empty, Kind, Spec};
use crate::operation::Status;

/// The first broken rule of a queue, if any.
pub fn judge(history: &History, spec: &Spec, values: &Values) -> Result<(), Broken> {
    let Removals { table, any_bulk, .. } = removals::removals(history, values)?;
    if any_bulk && spec.kind == Kind::Fifo {
        runs::judge(history, spec, values)?;
    }
    removals::lost(history, values, &table)?;
    let mut pass = Pass::new(history, spec, values, &table);
    Events::new(history).try_for_each(|event| pass.event(event))
}

/// One walk over the events.
struct Pass<'a> {
    history: &'a History,
    empty: Empty,
    ordered: bool,
    values: &'a Values,
    table: &'a [Taken],
    /// Of all values whose enqueue has returned: the latest start of a dequeue, and the value.
    latest: (u64, i64),
    inside: Inside,
    crowd: Crowd,
}

impl<'a> Pass<'a> {
    fn new(history: &'a History, spec: &Spec, values: &'a Values, table: &'a [Taken]) -> Self {
        Pass {
            history,
            empty: spec.empty,
            ordered: spec.kind == Kind::Fifo,
            values,
            table,
            latest: (0, 0),
            inside: Inside::new(1, values.len()),
            crowd: Crowd::new(history.threads.len()),
        }
    }

    #[inline]
    fn event(&mut self, event: Event) -> Result<(), Broken> {
        let thread = &self.history.threads[event.id.thread as usize];
        match (event.operation.op.removes(), event.returns) {
            (false, false) => {
                self.adding(event.id.thread, added_by(thread, event.operation), event.time)
            }
            (false, true) => {
                self.have_added(event.id.thread, added_by(thread, event.operation), event.time);
                Ok(())
            }
            (true, false) => {
                self.crowd.enter(event.id.thread);
                for &value in taken_by(thread, event.operation) {
                    self.inside.taking(0, self.number(value));
                }
                Ok(())
            }
            (true, true) => {
                let lone = self.crowd.leave(event.id.thread);
                let judged = self.empty == Empty::Strong || (self.empty == Empty::Lone && lone);
                if event.operation.status == Status::Empty && judged {
                    return self.answered_empty(event);
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn number(&self, value: i64) -> usize {
        self.values.get(value).expect("the table of removals has checked it")
    }

    /// An enqueue is called: nothing that it adds may have left before what was inside by now.
    #[inline]
    fn adding(&mut self, thread: u32, values: &[i64], now: u64) -> Result<(), Broken> {
        for &value in values {
            let taken = self.table[self.values.added(thread as usize, value)];
            if taken.end < now {
                return Err(Broken::certain(witness::from_nowhere(self.history, value)));
            }
            if self.ordered && self.latest.0 > taken.end {
                let witness = out_of_order(self.history, self.latest.1, value);
                return Err(Broken { witness, excusable: self.latest.0 == NEVER });
            }
        }
        Ok(())
    }

    #[inline]
    fn have_added(&mut self, thread: u32, values: &[i64], now: u64) {
        for &value in values {
            let number = self.values.added(thread as usize, value);
            let taken = self.table[number];
            if taken.start > self.latest.0 {
                self.latest = (taken.start, value);
            }
            self.inside.added(0, number, now, taken);
        }
    }

    fn answered_empty(&self, event: Event) -> Result<(), Broken> {
        let start = event.operation.start;
        if !self.inside.covers(0, start) {
            return Ok(());
        }
        let span = (start, event.time);
        let inside = covering(self.history, self.values, self.table, span, |_, _| true);
        Err(Broken::excusable(witness::empty_while_full(self.history, event.id, &inside)))
    }
}

/// `first` was added before `second` was, but taken after it or never.
fn out_of_order(history: &History, first: i64, second: i64) -> Witness {
    let add = [witness::adders(history, first)[0], witness::adders(history, second)[0]];
    let take = witness::takers(history, first);
    let taken = witness::takers(history, second)[0];
    let late = match take.first() {
        Some(id) => {
            format!("the dequeue of {first} by {} was called", witness::thread(history, *id))
        }
        None => format!("{first} was ever dequeued"),
    };
    let explanation = format!(
        "{first} had been enqueued by {} before {} called enqueue of {second}, yet the dequeue of \
         {second} by {} had returned before {late}.",
        witness::thread(history, add[0]),
        witness::thread(history, add[1]),
        witness::thread(history, taken),
    );
    let operations = add.into_iter().chain([taken]).chain(take.first().copied()).collect();
    Witness { rule: "fifo-order", explanation, operations }
}
