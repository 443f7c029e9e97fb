//! The program `interlap`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    end_with_the_reader();
    interlap::cli::commands::run(&interlap::cli::arguments::Cli::parse().command)
}

/// `interlap targets | head`: a reader that has seen enough is no error. (Rust turns the signal off
/// that would end the program quietly, and `println!` panics instead.)
fn end_with_the_reader() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.to_string().contains("Broken pipe") {
            std::process::exit(0);
        }
        report(panic);
    }));
}
