//! Observes the target while it runs. Nothing here changes a schedule.
//!
//! - `fault_report`: reports faults, which other files detect
//! - `trail`: records the events of a round, where the plan asks for them
//! - `coverage`: pairs of places that wrote and read the same memory
//! - `watchdog`: notices a thread that computes without end
//! - `backtrace`: where each thread is in the target's code
//! - `libraries`: whose code an address is

pub mod backtrace;
pub mod coverage;
pub mod fault_report;
pub mod libraries;
pub mod trail;
pub mod watchdog;
