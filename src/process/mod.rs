//! Harness processes: supervision, their faults, and the recorder rr.
//!
//! - `descent`: Tells whether a process was started by this one, or by a process that it started.
//! - `fault/`: A fault: the target ended its process, hangs, or was stopped by the controlled
//!   engine.
//! - `model`: Programs of users' models: how one is built and started, and asked (`serve` answers).
//! - `rr/`: The recorder rr: its command lines, recordings and replays.
//! - `session`: A process that has a user's model, and what was said to it: that is kept, so that
//!   of equal operations and states it is asked once.
//! - `supervise/`: Supervises a harness process and reports everything that happens to it as
//!   events.

pub mod descent;
pub mod fault;
pub mod model;
pub mod rr;
mod session;
pub mod supervise;
