//! interlap: a fuzzer for concurrent data structures in native libraries.
#![forbid(unsafe_code)]

pub mod availability;
pub mod cache;
pub mod catalog;
pub mod check;
pub mod cli;
pub mod commands;
pub mod compile;
pub mod doctor;
pub mod exchange;
pub mod fault;
pub mod finding;
pub mod fuzz;
pub mod head;
pub mod history;
pub mod includes;
pub mod journal;
pub mod judge;
pub mod ledger;
pub mod model;
pub mod operation;
pub mod packages;
pub mod plan;
pub mod random;
pub mod replay;
pub mod report;
pub mod rr;
pub mod saturation;
pub mod scaffold;
pub mod schedule;
pub mod sources;
pub mod supervise;
pub mod symbols;
pub mod trace;
pub mod tsc;
pub mod unseen;
