//! Shows a verdict to people. Nothing here decides one.
//!
//! - `key_part`: Takes the operations on one key of a map or set out of a history.
//! - `order`: Finds one order that explains a history (`search::depth_first`), and the first states
//!   it leaves.
//! - `partials`: Finds how far a history can be explained that no order explains: every maximal
//!   partial linearization near the first response that none explains.
//! - `region`: Searches the region of a history near a failure: from the configurations that all
//!   before it can have left, every step in every order, depth first, with a memory of the
//!   configurations that were reached (Wing and Gong 1993, Lowe 2017).
//! - `search_trace`: Shows a small exact search step by step: near the failure of a bad history, of
//!   the beginning of a good one.

pub mod key_part;
pub mod order;
pub mod partials;
pub mod region;
pub mod search_trace;

use crate::model::Kind;

/// A state as its model describes it. (A set is kept as a map whose values are all 1.)
fn shown_state(kind: Kind, state: String) -> String {
    if kind == Kind::Set { state.replace(": 1", "") } else { state }
}
