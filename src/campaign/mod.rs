//! Several runs together: their statistics, and their findings grouped by bug.

pub mod ledger;
pub mod triage;
