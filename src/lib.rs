//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

pub mod check;
pub mod cli;
pub mod commands;
pub mod fault;
pub mod finding;
pub mod fuzz;
pub mod history;
pub mod model;
pub mod operation;
pub mod plan;
pub mod random;
pub mod report;
pub mod supervise;
pub mod trace;
pub mod tsc;
