//! The command line: its arguments, and one file for each command.

pub mod arguments;
pub mod commands;
pub mod doctor;
