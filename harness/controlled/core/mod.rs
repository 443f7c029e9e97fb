//! The engine: decides which thread of the target runs, and switches to it. Names no other room: it
//! calls them by `callbacks`, and hears of accesses as a listener (`points`).
//!
//! - `engine`: carries out a round; gathers what other rooms use of the files here
//! - `access`: one access of the target, and who may listen
//! - `points`: scheduling points; `pace`: how many may pass without a look at anything
//! - `switching`: asks the policy who is next; notices a deadlock
//! - `blocking`, `waiting`, `waits`: how a thread comes to wait; who wakes it; why, as types
//! - `lives`: how threads begin and end; `calls`: where calls of the structure do
//! - `asking`: a question to a thread that does not run
//! - `carrier`: what virtual threads run on; `layout`: where things lie in memory
//! - `recorder`: the schedule of a round, recorded; `stop`: where debuggers stop
//! - `control`: whether the code that runs is the target's
//! - `callbacks`: what the engine has other rooms do
//! - `variables`, `current_round`: what the engine knows of the round under way

pub mod access;
mod asking;
mod blocking;
pub mod callbacks;
mod calls;
mod carrier;
pub mod control;
pub mod current_round;
pub mod engine;
pub mod layout;
mod lives;
mod pace;
pub mod points;
mod recorder;
mod stop;
mod switching;
mod variables;
mod waiting;
mod waits;
