//! The command line: its arguments, and one file for each command.
//!
//! - `arguments/`: The command line: every command's options, help texts and examples.
//! - `commands/`: What each command does: [`run`] carries a parsed command line out and gives the
//!   exit status.
//! - `doctor/`: What this machine can do (`interlap doctor`).

pub mod arguments;
pub mod commands;
pub mod doctor;
