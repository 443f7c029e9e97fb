//! Where the target's code comes in: each call here is a source of accesses, of waits, or of what
//! must not differ from run to run.
//!
//! - `hooks` (hooks.c, hooks.h): what the compiler calls at each access
//! - containers.c: lists and trees of the C++ library, with hooks in them
//! - annotations.c: annotations for race detectors, without effect
//! - `allocator` (allocator.c): malloc, free, new, delete and their kin
//! - `environment`: the functions of the C library that threads meet, wait, start, end or sleep by
//! - `gate`: the functions of the target, which put it under control

pub mod allocator;
pub mod environment;
pub mod gate;
pub mod hooks;
