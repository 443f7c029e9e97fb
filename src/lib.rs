//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

#[cfg(feature = "fuzzer")]
pub mod adapter;
#[cfg(feature = "fuzzer")]
pub mod binary;
#[cfg(feature = "fuzzer")]
pub mod campaign;
pub mod check;
#[cfg(feature = "fuzzer")]
pub mod cli;
pub mod core;
#[cfg(feature = "fuzzer")]
pub mod exchange;
#[cfg(feature = "fuzzer")]
pub mod explain;
#[cfg(feature = "fuzzer")]
pub mod export;
#[cfg(feature = "fuzzer")]
pub mod finding;
#[cfg(feature = "fuzzer")]
pub mod fuzz;
pub mod model;
#[cfg(feature = "fuzzer")]
pub mod process;
#[cfg(feature = "fuzzer")]
pub mod report;
#[cfg(feature = "fuzzer")]
pub mod schedule;
pub mod serve;
#[cfg(feature = "fuzzer")]
pub mod shrink;
pub mod tla;
#[cfg(feature = "fuzzer")]
pub mod trace;
pub mod view;
