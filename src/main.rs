//! The program `interlap`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use interlap::cli::arguments::Cli;

fn main() -> ExitCode {
    interlap::cli::commands::run(&Cli::parse().command)
}
