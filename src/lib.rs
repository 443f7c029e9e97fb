//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

pub mod check;
pub mod history;
pub mod model;
pub mod operation;
pub mod plan;
pub mod random;
pub mod trace;
pub mod tsc;
