//! The nouns that every part shares: histories, operations, plans, random numbers.
//!
//! - `history`: A history: what every thread called, when each call's timebox opened and closed,
//!   and what it answered.
//! - `journal`: A history of operations of a user's own kind, for models that a user writes.
//! - `machine`: The machine that this program runs on.
//! - `measured`: How often rounds show a finding, measured: the rounds that were run, those that
//!   showed it and the time come in; the share, with how sure it is, and the time to wait go out.
//! - `operation`: The vocabulary of operations: what can be called on a structure, with how many
//!   arguments, and which answers it may give.
//! - `outcome`: What a command's exit status says: nothing found, found, not decided, or an error.
//! - `plan`: A plan: all that determines a run, as one value.
//! - `random`: Random numbers that never change: the same seed gives the same calls in every build,
//!   on every machine.
//! - `scenario`: A recorded round as a scenario: what each thread called comes in, the same calls
//!   as part of a plan go out.
//! - `tsc`: Whether this machine's time stamp counter can stamp timeboxes: what the kernel says of
//!   it comes in, the reason to refuse it goes out.
//! - `words`: Calls and answers in words, as people write them.

pub mod history;
pub mod journal;
pub mod machine;
pub mod measured;
pub mod operation;
pub mod outcome;
pub mod plan;
pub mod random;
pub mod scenario;
pub mod tsc;
pub mod words;
