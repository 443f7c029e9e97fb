//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

pub mod availability;
pub mod cache;
pub mod catalog;
pub mod check;
pub mod compile;
pub mod doctor;
pub mod head;
pub mod history;
pub mod includes;
pub mod model;
pub mod operation;
pub mod packages;
pub mod scaffold;
pub mod sources;
