//! What the target has in memory, and what it leaves there.
//!
//! - `heap`: the arena that its blocks come from; checks of accesses to it
//! - `buffers`: store buffers, in the rounds that have them
//! - `globals_snapshot`: its variables, put back as they were for each round
//! - `leaks`: blocks that a round lost
//! - `growth`: what a process keeps from round to round, so that it ends before that is too much

pub mod buffers;
pub mod globals_snapshot;
pub mod growth;
pub mod heap;
pub mod leaks;
