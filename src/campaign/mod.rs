//! Several runs together: their statistics, and their findings grouped by bug.
//!
//! - `ledger`: The ledger of a run: its statistics and the names of its findings, stored as
//!   `run.json`.
//! - `triage/`: Groups the findings of one or many runs by signature, and the groups by bug.

pub mod ledger;
pub mod triage;
