//! A harness process under watch, what became of it, and the recorder rr.
//!
//! - `fault`: A fault: the target ended its process, hangs, or did what the controlled engine does
//!   not let pass.
//! - `rr/`: The recorder rr.
//! - `supervise/`: A harness process under supervision.

pub mod fault;
pub mod rr;
pub mod supervise;
