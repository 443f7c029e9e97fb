//! The controlled engine: one thread of the target runs at a time, switched as the seed says.

pub mod engine;
pub mod environment;
