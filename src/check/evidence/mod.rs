//! Shows a verdict to people. Nothing here decides one.
//!
//! - `key_part`: the operations on one key of a map or set.
//! - `order`: one order that explains a history.
//! - `partials`: the maximal partial linearizations near a failure.
//! - `partials_text`: partial linearizations in words.
//! - `search_trace`: a small search near the failure, step by step.

pub mod key_part;
pub mod order;
pub mod partials;
pub mod partials_text;
pub mod search_trace;
