//! What all checkers share: the events of a history in the order of time, numbers for values,
//! collections that are fast while they are small, and the witnesses of several checkers.
//!
//! - `bits`: Sets of small numbers, a bit each: the places of open steps.
//! - `earliest`: Finds the thread with the earliest event: by a scan, or by a heap where there are
//!   many threads.
//! - `empty_answers`: Says which "empty" answers a model promises to be true: all, those of
//!   removals that overlap no other removal, or none (see [`Empty`]).
//! - `events`: Lists the invocations and responses of a history in the order of time.
//! - `filter`: Finds the items of a slice that pass a test, in order.
//! - `merged`: Lists the operations of all threads in the order of their invocations, or of their
//!   responses.
//! - `overlap`: Counts the operations of a history that overlap one of another thread.
//! - `own`: Histories under a user's model: one in a program of its own is given a history of the
//!   model's own operations.
//! - `part`: Some operations of a history as a history of their own, and the names of each in both.
//! - `prefix`: The history as it was known at some time: without later calls, and without the
//!   answers of the calls under way then.
//! - `scope`: Says which histories a model can judge at all: a foreign operation and a history that
//!   is too long are refused before any checker sees them.
//! - `small`: Lists and maps that take no memory of their own while they are short.
//! - `values`: Numbers the values that a history adds to a queue, stack or deque: dense, those of
//!   one thread consecutive and in its program order.
//! - `witnesses`: Makes the witnesses that several checkers share, and finds the operations that
//!   moved a value.

pub mod bits;
pub mod earliest;
pub mod empty_answers;
pub mod events;
pub mod filter;
pub mod merged;
pub mod overlap;
pub mod own;
pub mod part;
pub mod prefix;
pub mod scope;
pub mod small;
pub mod values;
pub mod witnesses;
