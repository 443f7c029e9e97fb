//! What both programs share: histories, and what porcupine-rs makes of them.

pub mod memory;
pub mod peer;
pub mod simulate;
