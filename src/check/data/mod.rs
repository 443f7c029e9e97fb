//! What all checkers share: the events of a history in the order of time, numbers for values,
//! collections that are fast while they are small, and words for operations.
//!
//! - `earliest`: which of several threads has the earliest event due.
//! - `empty_answers`: which "empty" answers a model promises to be true.
//! - `events`: the invocations and responses of a history in the order of time.
//! - `filter`: the items of a slice that pass a test, found without a branch for each.
//! - `hash`: a fast hash for keys that a checker makes itself.
//! - `merged`: the operations of all threads, ordered by invocation or by response.
//! - `prefix`: a history as it was known at some time.
//! - `scope`: which histories a model can judge at all.
//! - `small`: lists and maps that take no memory of their own while they are short.
//! - `values`: dense numbers for the values that a history adds.
//! - `words`: operations in words, for witnesses.

pub mod earliest;
pub mod empty_answers;
pub mod events;
pub mod filter;
pub mod hash;
pub mod merged;
pub mod prefix;
pub mod scope;
pub mod small;
pub mod values;
pub mod words;
