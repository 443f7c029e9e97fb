//! The general search: any model, any history, in time exponential in the number of operations
//! that overlap.
//!
//! - `cells`: the search for maps and registers, where each key is one cell.
//! - `frontier`: the set of all configurations that a history can have led to so far.
//! - `history`: searches a history under a bundled model.
//! - `journal`: searches a journal under any sequential object, its independent parts in parallel.
//! - `keyed`: searches histories of keys, a frontier for each key.
//! - `minimize_witness`: minimizes the witness of a history that the search found no order for.
//! - `parallel`: judges independent keys on several threads.
//! - `producer_ranges`: a queue that keeps the order of each producer, as two numbers a producer.
//! - `steps`: the steps at which an operation takes effect.
//! - `strings`: a key's string, as states that differ only where some get can tell.
//! - `text_witness`: what a get found that it cannot have, or lacks that it must have.

pub mod cells;
pub mod frontier;
pub mod history;
pub mod journal;
pub mod keyed;
pub mod minimize_witness;
pub mod parallel;
pub mod producer_ranges;
pub mod steps;
pub mod strings;
pub mod text_witness;
