//! Checks a history while it happens, and prunes what it need not hold.
//!
//! - `checkpoint`: the latest time before which a history can be replaced by the state it left.
//! - `prune`: drops operations that no future response can contradict.
//! - `prune_log`: prunes the history of a log.
//! - `prune_stack`: prunes the history of a stack.
//! - `prune_stream`: prunes the history of a stream.
//! - `summarize`: replaces a history before a checkpoint by a few calls that leave the same state.
//! - `window`: the window of the history that is held, and its verdict.

pub mod checkpoint;
pub mod prune;
pub mod prune_log;
pub mod prune_stack;
pub mod prune_stream;
pub mod summarize;
pub mod window;
