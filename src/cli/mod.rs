//! The command line: its arguments, and one file for each command.
//!
//! - `arguments/`: Parses the command line: every command's options, help texts and examples.
//! - `commands/`: Runs the commands: [`run`] carries out a parsed command line and returns the exit
//!   status.
//! - `doctor/`: Examines this machine for `interlap doctor`: facts, with advice where something can
//!   be improved.

pub mod arguments;
pub mod commands;
pub mod doctor;
