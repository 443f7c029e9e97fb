//! The specialised checkers, one file a structure, and their helpers. None of them searches, but
//! for `deque`, whose states are small, and `ranges`.
//!
//! - `bulk_order`: Checks the order of values within one bulk result: finds the first result that
//!   hands out a producer's values out of order, or with a gap where the model forbids one.
//! - `counter`: Checks a counter.
//! - `cover`: Finds when a structure was surely not empty.
//! - `deque`: Checks a work-stealing deque: one thread pushes and takes, others steal.
//! - `empty_count`: Checks the "count" promise of an empty answer: per producer, at some instant of
//!   the call, no more enqueues had returned than successful dequeues had been called.
//! - `empty_lone`: Finds the "empty" answers that overlap no other removal, earliest first.
//! - `fifo_bulk`: Checks a queue whose bulk calls move their elements one after another.
//! - `fifo`: Checks a queue, or a pool, which is a queue without order.
//! - `keys`: Numbers the keys of a set in order, and sums over runs of them.
//! - `lifo`: Checks a stack.
//! - `log`: Checks a log: appends of distinct values, reads of positions and looks at the tail.
//! - `per_producer`: Checks a queue that keeps the order of each producer.
//! - `pool`: Checks a pool of which some removal has no answer, exactly.
//! - `priority`: Checks a priority queue.
//! - `ranges/`: Checks sets that also count, rank, select and list their keys.
//! - `ranks`: Numbers the invocations and responses that move each value among all events, and
//!   finds the "empty" answers that the model promises to be true.
//! - `relaxed`: Checks the rules of a queue that hands out one of its `k` oldest values.
//! - `removals`: Finds when each value was removed, and three violations that need no order: a
//!   value that was never added, one that was removed twice, and one that was lost.
//! - `segments`: Two trees over a line of segments.
//! - `set_witness`: Finds the few operations on a key of a set that contradict each other, given
//!   the operation that [`super::set`] could not explain.
//! - `set`: Checks a set: insert, remove and contains of keys that may repeat.
//! - `sizes`: Checks what queues, stacks and deques answer of how many values they hold, as far as
//!   that needs no order: at each instant it is certain of some values that they are inside, and
//!   possible of others.
//! - `slots`: Finds the first free one of many slots in a row.

pub mod bulk_order;
pub mod counter;
pub mod cover;
pub mod deque;
pub mod empty_count;
pub mod empty_lone;
pub mod fifo;
pub mod fifo_bulk;
pub mod keys;
pub mod lifo;
pub mod log;
pub mod per_producer;
pub mod pool;
pub mod priority;
pub mod ranges;
pub mod ranks;
pub mod relaxed;
pub mod removals;
pub mod segments;
pub mod set;
pub mod set_witness;
pub mod sizes;
pub mod slots;
