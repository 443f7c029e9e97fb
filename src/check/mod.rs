//! Decides whether some order of a history's operations, respecting their timeboxes, explains every
//! answer under a model: [`check`] takes a history and a model and returns a [`Verdict`].
//!
//! Its parts:
//!
//! - `consistency`: Judges histories that other orders may explain than those of linearizability:
//!   sequential and quiescent consistency, quasi-linearizability.
//! - `data/`: What all checkers share: the events of a history in the order of time, numbers for
//!   values, collections that are fast while they are small, and the witnesses of several checkers.
//! - `decide`: Chooses the checker for a history: one row for each kind of model.
//! - `evidence/`: Shows a verdict to people.
//! - `exact/`: The specialised checkers, one file a structure, and their helpers.
//! - `explanation`: Says why no order explains the operations of a witness: as data, of which
//!   `view::explanation` makes sentences.
//! - `itself`: Checks a history against the structure itself, or a class beside it: by the general
//!   search over the orders in which its calls were made one at a time.
//! - `online/`: Checks a history while it happens, and prunes what it need not hold.
//! - `search/`: The general search: any model, any history, in time exponential in the number of
//!   operations that overlap.
//! - `sequential`: Checks a history of one thread: finds the first answer that the sequential
//!   object contradicts, with the answer it would have given.
//! - `transactions/`: The checker of transactions under snapshot isolation, and of serializable
//!   ones.
//! - `undecided`: Says why a check decided nothing: as data, of which `view::explanation` makes
//!   sentences.
//! - `verdict`: The answer of a check, its witness, and what a check may spend.
//! - `weaker`: Says which weaker promises allow a history that a model does not.

mod consistency;
mod data;
mod decide;
mod evidence;
mod exact;
mod explanation;
mod itself;
mod online;
mod search;
mod sequential;
mod transactions;
mod undecided;
mod verdict;
mod weaker;

pub use consistency::split_clients;
pub use data::events::{Events, HistoryEvent};
pub use data::overlap::{Overlap, overlap};
pub use data::witnesses::UNEXPLAINED_IN_STEPS;
pub use decide::{by_search as search, check};
pub use evidence::order::{Order, order};
pub use evidence::partials::{Effect, Partial, Partials, partials};
pub use evidence::region::NotShown;
pub use evidence::search_trace::{
    Attempt, AttemptOutcome, SearchTrace, TraceNode, TraceStep, search_trace,
};
pub use explanation::{
    Anomaly, ContradictedOrder, Cycle, Dependency, Explanation, Missing, NoOrderOfTransactions,
    OfOrder, OfRecords, OfSearch, OfTransactions, OfValues, Precedes, States,
};
pub use online::journal::{OnlineJournal, Progress, Since, Violated};
pub use online::window::{Online, OnlineViolation};
pub use search::journal::{Left, check_wanting, left_before};
pub use sequential::sequential;
pub use transactions::transaction::{Extent, Outcome, extents};
pub use undecided::{Exhausted, Undecided};
pub use verdict::{Explains, Limits, Verdict, Witness};
pub use weaker::weaker;
