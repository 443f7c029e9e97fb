//! The controlled engine runs one thread of the target at a time, so that a schedule is a function
//! of its seed. The target is compiled with `-fsanitize=thread`, and this program defines the hooks
//! that this inserts. It also defines the C library's functions for locks, threads, memory and
//! time.
//!
//! Its rooms, in order: each names only those before it (held by tests/tidy/harness.rs).
//!
//! - `core`: the engine: decides which thread runs, and switches to it
//! - `watch`: reports faults and hangs; records the trail, coverage and backtraces
//! - `state`: what the target has in memory: heap, store buffers, variables, leaks
//! - `accesses`: the stream of accesses, and the list of its listeners
//! - `interpose`: functions that the target calls: hooks, allocator, C library
//! - `job`: loads the target, and runs the rounds of a job

mod accesses;
mod core;
mod interpose;
mod job;
mod state;
mod watch;

pub use self::core::layout::RESERVED_MIB;
pub use accesses::stamp;
pub use job::{
    enter, is_stack_used_up, last_words, leave, load, release, rounds, run_alone, warning,
};
pub use state::growth;
