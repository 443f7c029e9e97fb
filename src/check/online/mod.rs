//! Checks a history while it happens, and prunes what it need not hold.
//!
//! Every prune has one contract. It takes a history and a time, `settled`: no call that is under
//! way was invoked before it, and no response before it is still to come. It returns the history
//! without the operations that no later response can contradict; none where there are none, or
//! where it cannot tell.
//!
//! - `checkpoint`: Finds a checkpoint: a time before which a history can be replaced by the state
//!   that it left.
//! - `journal`: Checks a user's model while its journal is made: each operation once, when all that
//!   may come before its end is known.
//! - `prune_log`: Prunes the history of a log in an online check: drops operations that no future
//!   response can contradict.
//! - `prune_stack`: Prunes the history of a stack in an online check: drops operations that no
//!   future response can contradict.
//! - `prune_stream`: Prunes the history of a stream in an online check: replaces what came before a
//!   checkpoint by one `restore` that leaves the same.
//! - `prune`: Prunes the history of an online check: drops operations that no future response can
//!   contradict.
//! - `summarize`: Summarizes the history before a checkpoint by a few calls that leave the same
//!   state, where calls never rest and [`super::prune`] drops nothing.
//! - `window`: Checks a history while it happens: takes invocations and responses in the order of
//!   time and finds the first response after which no order explains what was seen.

pub mod checkpoint;
pub mod journal;
pub mod prune;
pub mod prune_log;
pub mod prune_stack;
pub mod prune_stream;
pub mod summarize;
pub mod window;
