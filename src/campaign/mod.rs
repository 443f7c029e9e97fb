//! Several runs together: their numbers, and their findings, each bug once.

pub mod ledger;
pub mod triage;
