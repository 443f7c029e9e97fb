//! A job under control. Names all other rooms, and registers their functions with the engine.
//!
//! - `load`: loads the target; registers the functions that the engine calls
//! - `rounds`: the rounds of a job, each from the same state
//! - `round`: one round: create, call, drain, destroy
//! - `alone`: calls the structure one call at a time, where it is its own model
//! - `turns`: makes calls one at a time
//! - `judge`: judges short rounds in this process
//! - `read_only`: a value that can only be read
//! - `last_words`: what is sent before a process under control ends

mod alone;
mod judge;
mod last_words;
mod load;
mod read_only;
mod round;
mod rounds;
mod turns;

pub use last_words::{enter, is_stack_used_up, last_words, leave, release, run_alone};
pub use load::{load, warning};
pub use rounds::rounds;
