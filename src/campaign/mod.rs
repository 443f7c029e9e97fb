//! Several runs together: their numbers, and their findings, each bug once.
//!
//! - `ledger`: The ledger of a run: what it did, in numbers, and the names of its findings, stored
//!   as `run.json` beside them; several joined into one.
//! - `triage/`: Findings of one run or of many, each bug once: directories come in, groups go out,
//!   the new ones first, each with its best sighting, and which of them are most likely one bug
//!   (see [`bugs`]).

pub mod ledger;
pub mod triage;
