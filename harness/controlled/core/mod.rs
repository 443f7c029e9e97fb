//! The engine: decides which thread of the target runs, and switches to it. It calls other rooms
//! through `callbacks` only, and is a listener of accesses (`points`).
//!
//! - `engine`: runs a round; re-exports what other rooms use of the files here
//! - `access`: one access of the target, and the trait of its listeners
//! - `points`: scheduling points; `pace`: how many may pass without a decision
//! - `progress`: whether what looks like a livelock is none
//! - `switching`: asks the policy which thread is next; notices a deadlock
//! - `blocking`, `wakeups`, `wait_kinds`: blocks a thread; wakes it; why it waits, as types
//! - `waiting`: what is done where no thread can go on
//! - `lifetimes`: how threads begin and end; `calls`: where calls of the structure do
//! - `asking`: has a thread that does not run answer a question
//! - `carrier`: what virtual threads run on; `layout`: where things lie in memory
//! - `recorder`: records the schedule; `debugger_stops`: where debuggers stop
//! - `control`: whether the code that runs is the target's
//! - `callbacks`: the functions of other rooms that the engine calls
//! - `variables`, `current_round`: the state of the round under way; `shared`: what of it the hooks
//!   in C use

pub mod access;
mod asking;
mod blocking;
pub mod callbacks;
mod calls;
mod carrier;
pub mod control;
pub mod current_round;
mod debugger_stops;
pub mod engine;
pub mod layout;
mod lifetimes;
mod pace;
pub mod points;
mod progress;
mod recorder;
pub mod shared;
mod switching;
mod variables;
mod wait_kinds;
pub mod waiting;
mod wakeups;
