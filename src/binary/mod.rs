//! What a compiled library tells of itself: source lines, types, instructions without hooks.

pub mod debug_file;
pub mod members;
mod names;
pub mod symbols;
pub mod uninstrumented;
