//! What is noticed and noted while the target runs.

pub mod backtrace;
pub mod coverage;
pub mod detect;
pub mod libraries;
pub mod trail;
pub mod watchdog;
