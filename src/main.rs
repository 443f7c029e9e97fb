//! The program `interlap`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use interlap::cli::arguments::Cli;
use mimalloc::MiMalloc;

/// The values of specifications, and histories that are read, are many small blocks.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    interlap::cli::commands::run(&Cli::parse().command)
}
