//! The controlled engine: every schedule a function of its seed. One thread of the target runs at a
//! time; the target is compiled with `-fsanitize=thread`, whose calls come to us instead of to a
//! race detector, and libraries' calls of locks, threads, memory and time come to us because this
//! program defines them.
//!
//! Its rooms, in order: each names only those before it (held by tests/tidy/harness.rs).
//!
//! - `core`: the engine: decides which thread runs, and switches to it
//! - `watch`: what is noticed and noted: faults, the trail, coverage, hangs, backtraces
//! - `state`: what the target has in memory: heap, store buffers, variables, and what it leaves
//! - `accesses`: the stream of accesses, and the list of those that listen
//! - `interpose`: where the target's code comes in: hooks, allocator, C library
//! - `job`: loads the target, and carries out the rounds of a job

mod accesses;
mod core;
mod interpose;
mod job;
mod state;
mod watch;

pub use self::core::layout::RESERVED_MIB;
pub use accesses::stamp;
pub use job::{is_stack_used_up, last_words, load, release, rounds, warning};
pub use state::growth;
