//! Decides whether some order of a history's operations, respecting their timeboxes, explains every
//! answer under a model: [`check`] takes a history and a model and returns a [`Verdict`].
//!
//! The rooms, each of which names only those before it:
//!
//! - `verdict`: the answer of a check, its witness, and what a check may spend.
//! - `data`: what all checkers share: events in order of time, numbers for values, small lists.
//! - `search`: the general search, for any model, exponential in the operations that overlap.
//! - `exact`: one specialised checker a structure, and their helpers.
//! - `transactions`: the checker of transactions, and names for their anomalies.
//! - `decide`: chooses the checker for a history.
//! - `sequential`: checks a history of one thread answer by answer.
//! - `online`: checks a history while it happens and prunes what it need not hold.
//! - `evidence`: shows a verdict: partial linearizations, the search step by step, an order.

mod data;
mod decide;
mod evidence;
mod exact;
mod online;
mod search;
mod sequential;
mod transactions;
mod verdict;

pub use data::events::{Events, HistoryEvent, Overlap, overlap};
pub use decide::{by_search as search, check};
pub use evidence::order::{Order, order};
pub use evidence::partials::{Effect, Partial, Partials, partials};
pub use evidence::search_trace::{
    Attempt, AttemptOutcome, SearchTrace, TraceNode, TraceStep, search_trace,
};
pub use online::window::{Online, OnlineViolation};
pub use sequential::sequential;
pub use verdict::{Explains, Limits, Verdict, Witness};
