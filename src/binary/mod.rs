//! What a compiled library tells of itself: source lines, types, instructions without hooks.
//!
//! - `members/`: What lies where in the structure under test: the debugging information of its
//!   library comes in; out go the types of C and C++ objects, the name of the member at a byte of
//!   one, and what a pointer there points to.
//! - `symbols`: Source lines of code.
//! - `uninstrumented`: Atomic instructions and fences that hooks do not see.

pub mod debug_file;
pub mod members;
mod names;
pub mod symbols;
pub mod uninstrumented;
