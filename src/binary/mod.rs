//! What a compiled library tells of itself: source lines, types, instructions without hooks.
//!
//! - `debug_file`: Finds the file with a library's debugging information: the library itself, or
//!   the file that it was moved to when the library was stripped, as distributions do.
//! - `members/`: What lies where in the structure under test: the debugging information of its
//!   library comes in; out go the types of C and C++ objects, the name of the member at a byte of
//!   one, and what a pointer there points to.
//! - `names`: Makes names of functions readable: a symbol of C++ or Rust becomes the name that its
//!   source has, without parameters and long template arguments.
//! - `symbols`: Finds the source lines of code: addresses in a library's file become `function at
//!   file:line`, as far as its debugging information knows.
//! - `uninstrumented`: Atomic instructions and fences that hooks do not see.

pub mod debug_file;
pub mod members;
mod names;
pub mod symbols;
pub mod uninstrumented;
