//! Harness processes: supervision, their faults, and the recorder rr.
//!
//! - `fault`: A fault: the target ended its process, hangs, or was stopped by the controlled
//!   engine.
//! - `rr/`: The recorder rr: its command lines, recordings and replays.
//! - `supervise/`: Supervises a harness process and reports everything that happens to it as
//!   events.

pub mod fault;
pub mod rr;
pub mod supervise;
