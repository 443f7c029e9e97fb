//! Harness processes: supervision, their faults, and the recorder rr.
//!
//! - `fault`: A fault: the target ended its process, hangs, or did what the controlled engine does
//!   not let pass.
//! - `rr/`: The recorder rr: its command lines, recordings and replays.
//! - `supervise/`: Supervises a harness process and turns all it sends and suffers into events.

pub mod fault;
pub mod rr;
pub mod supervise;
