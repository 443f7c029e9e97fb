//! Harness processes: supervision, their faults, and the recorder rr.

pub mod fault;
pub mod rr;
pub mod supervise;
