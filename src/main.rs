//! The program `interlap`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    interlap::commands::run(&interlap::cli::Cli::parse().command)
}
