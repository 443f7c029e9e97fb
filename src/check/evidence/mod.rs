//! Shows a verdict to people. Nothing here decides one.
//!
//! - `key_part`: the operations on one key of a map or set.
//! - `order`: one order that explains a history.
//! - `partials`: the maximal partial linearizations near a failure.
//! - `partials_text`: partial linearizations in words.
//! - `region`: the search near a failure that both are made from.
//! - `search_trace`: a small search near the failure, step by step.
//! - `words`: states of an object in words.

pub mod key_part;
pub mod order;
pub mod partials;
pub mod partials_text;
pub mod region;
pub mod search_trace;
pub mod words;
