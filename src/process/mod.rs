//! A harness process under watch, what became of it, and the recorder rr.

pub mod fault;
pub mod rr;
pub mod supervise;
