//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

pub mod adapter;
pub mod binary;
pub mod campaign;
pub mod check;
pub mod cli;
pub mod core;
pub mod exchange;
pub mod explain;
pub mod export;
pub mod finding;
pub mod fuzz;
pub mod model;
pub mod process;
pub mod report;
pub mod schedule;
pub mod shrink;
pub mod trace;
