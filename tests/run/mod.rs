//! Runs of the whole program on adapters that behave, and on adapters that do everything an adapter
//! should not.

mod adapters;
mod bad_targets;
mod bugs;
mod commands;
mod containers;
mod controlled;
mod controlled_environment;
mod cross_engine;
mod debugger;
mod determinism;
mod explaining;
mod exporting;
mod exporting_faults;
mod fake;
mod growth;
mod jobs;
mod long;
mod memory_model;
mod output;
mod overview;
mod pace;
mod prebuilt;
mod rr;
mod scenarios;
pub mod shrinking;
mod shrinking_alone;
mod shrinking_natively;
mod snapshots;
pub mod tool;
mod triage;
mod twins;
