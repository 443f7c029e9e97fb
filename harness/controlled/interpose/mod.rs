//! The functions of this program that the target calls: sources of accesses, of waits, and of what
//! must not differ between runs.
//!
//! - `hooks` (hooks.c, hooks.h): what the compiler calls at each access
//! - containers.c: lists and trees of the C++ library, with hooks in them
//! - annotations.c: annotations for race detectors, without effect
//! - `allocator` (allocator.c): malloc, free, new, delete and their kin
//! - `environment`: the interposed functions of the C library
//! - `gate`: wraps the target's functions, so that its code runs under control

pub mod allocator;
pub mod environment;
pub mod gate;
pub mod hooks;
