//! Where the target's code comes in.

pub mod environment;
pub mod gate;
pub mod hooks;
