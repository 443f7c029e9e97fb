//! What a compiled library tells of itself: source lines, types, instructions without hooks.

pub mod members;
pub mod symbols;
pub mod uninstrumented;
