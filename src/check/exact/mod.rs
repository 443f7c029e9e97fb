//! The specialised checkers, one file a structure, and their helpers. None of them searches, but
//! for `deque` and `ranges`, whose states are small.
//!
//! - `bulk_order`: the order of values within one bulk result.
//! - `counter`: the counter.
//! - `cover`: when a structure was surely not empty.
//! - `deque`: the work-stealing deque.
//! - `empty_count`: the "count" promise of an empty answer.
//! - `empty_lone`: the empty answers that overlap no other removal.
//! - `fifo`: one queue, or a pool.
//! - `keys`: the keys of a set in order, and sums over runs of them.
//! - `lifo`: the stack.
//! - `log`: the log.
//! - `per_producer`: the queue that keeps the order of each producer.
//! - `priority`: the priority queue.
//! - `ranges`: sets that also count, rank, select and list their keys.
//! - `ranks`: where the events that move each value stand among all events.
//! - `relaxed`: the queue that hands out one of its `k` oldest values.
//! - `removals`: when each value was taken out; values from nowhere, taken twice, or lost.
//! - `segments`: trees over a line of segments: what covers each, and what contains one.
//! - `set`: the set.
//! - `set_witness`: the few operations on a key that contradict each other.
//! - `slots`: which of many slots in a row are taken.

pub mod bulk_order;
pub mod counter;
pub mod cover;
pub mod deque;
pub mod empty_count;
pub mod empty_lone;
pub mod fifo;
pub mod keys;
pub mod lifo;
pub mod log;
pub mod per_producer;
pub mod priority;
pub mod ranges;
pub mod ranks;
pub mod relaxed;
pub mod removals;
pub mod segments;
pub mod set;
pub mod set_witness;
pub mod slots;
