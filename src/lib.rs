//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

pub mod cache;
pub mod check;
pub mod compile;
pub mod head;
pub mod history;
pub mod model;
pub mod operation;
pub mod packages;
pub mod sources;
