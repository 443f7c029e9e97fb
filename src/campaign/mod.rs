//! Several runs together: their statistics, and their findings grouped by bug.
//!
//! - `ledger`: The ledger of a run: its statistics and the names of its findings, stored as
//!   `run.json`.
//! - `orders`: Which memory orders of a target its calls need: each is taken weaker by steps, and
//!   the same rounds are run again.
//! - `triage/`: Groups the findings of one or many runs by signature, and the groups by bug.

pub mod ledger;
pub mod orders;
pub mod triage;
