//! What is noticed and noted while the target runs. None of it changes a schedule.
//!
//! - `detect`: reports faults that others notice: the heap's checks, `core::switching` (deadlocks),
//!   `core::points` (livelocks), `watchdog` (hangs)
//! - `trail`: the events of a round, where the plan asks for them
//! - `coverage`: pairs of places that wrote and read the same memory
//! - `watchdog`: notices a thread that computes without end
//! - `backtrace`: where each thread stands in the target's code
//! - `libraries`: whose code an address is

pub mod backtrace;
pub mod coverage;
pub mod detect;
pub mod libraries;
pub mod trail;
pub mod watchdog;
