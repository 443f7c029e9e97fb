//! Shows a verdict to people. Nothing here decides one.
//!
//! - `key_part`: Takes the operations on one key of a map or set out of a history, and translates
//!   names of operations between the two.
//! - `order`: Finds one order that explains a history, and the first states it leaves.
//! - `partials_text`: Describes the longest partial linearizations in words, a step a line.
//! - `partials`: Finds how far a history can be explained that no order explains: every maximal
//!   partial linearization near the first response that none explains.
//! - `region`: Searches the region of a history near a failure: from the configurations that all
//!   before it can have left, every step in every order, depth first, with a memory of the
//!   configurations that were reached (Wing and Gong 1993, Lowe 2017).
//! - `search_trace`: Shows a small exact search step by step: near the failure of a bad history, of
//!   the beginning of a good one.
//! - `words`: States of an object in words, of a length that a person reads.

pub mod key_part;
pub mod order;
pub mod partials;
pub mod partials_text;
pub mod region;
pub mod search_trace;
pub mod words;
