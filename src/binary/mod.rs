//! Reads a compiled library: source lines, types, uninstrumented instructions.
//! Addresses are those in the file: the caller subtracts where the library was loaded.
//!
//! - `atomics`: Finds the atomic accesses and fences of a hooked library, by the hooks that it
//!   calls.
//! - `debug_file`: Finds the file with a library's debugging information.
//! - `loops`: Finds the loop of a library that an instruction is in, by the jumps that lead back to
//!   it.
//! - `members/`: Names the member at a byte of a C or C++ object, and finds what a pointer there
//!   points to.
//! - `names`: Demangles symbols of C++ and Rust to names without parameters and long template
//!   arguments.
//! - `symbols`: Finds the function and source line of an address in a library's file.
//! - `uninstrumented`: Finds the uninstrumented atomic instructions and fences of a hooked library.

pub mod atomics;
pub mod debug_file;
mod loops;
pub mod members;
pub mod names;
pub mod symbols;
pub mod uninstrumented;
