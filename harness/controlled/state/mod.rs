//! The target's memory, and what a round leaves in it.
//!
//! - `heap`: the arena of the target's blocks; checks of accesses to it
//! - `store_buffers`: store buffers, in the rounds that have them
//! - `happens_before`: which accesses C++ orders, and which two race
//! - `races`: looks for data races, in the rounds that do
//! - `weak_memory`: draws which store a load reads, in the rounds where it may be an older one
//! - `orders`: memory orders of accesses, taken weaker than they are written, and noted
//! - `globals_snapshot`: the target's variables, restored for each round
//! - `memory`: whether two states of it are the same
//! - `leaks`: blocks that a round lost
//! - `growth`: ends a process before what it keeps between rounds exhausts anything

pub mod globals_snapshot;
pub mod growth;
mod happens_before;
pub mod heap;
pub mod leaks;
pub mod memory;
pub mod orders;
pub mod races;
pub mod store_buffers;
pub mod weak_memory;
