//! Options of `interlap orders`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Build, Control, Format, Workload, duration};

pub const EXAMPLES: &str = "\
Examples:
  interlap orders my_queue.cpp -I ../include          each atomic access and fence
  interlap orders my_queue.cpp --rounds 200000 --for 1h --html orders.html
  interlap orders my_queue.cpp --weight dequeue=5 --threads 3 --json
  interlap fuzz my_queue.cpp --memory-model c11 --weaken queue.hpp:12:store:release=relaxed
                                                      one of them, as long as you like

A table says of each order, as it is written, which weakest one shows nothing, and what a weaker one
shows. The seed is 1 if none is given. Run again, the command goes on where it was stopped.";

#[derive(Args, Debug)]
pub struct Orders {
    /// Name of a bundled target, or an adapter's source, as for `interlap fuzz`
    pub target: String,
    #[command(flatten)]
    pub build: Build,
    #[command(flatten)]
    pub workload: Workload,
    /// Rounds with each weaker order; four times as many come first, with all as they are written
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub rounds: u64,
    /// Time limit for all: 30s, 10m, 2h. What is not tried then is tried when the command is run
    /// again
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub duration: Duration,
    /// Harness processes at a time. Default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub jobs: Option<u64>,
    /// Directory for results: in a folder for each target orders.json, and a directory for what
    /// each weaker order shows
    #[arg(long, value_name = "DIR", default_value = "orders")]
    pub out: PathBuf,
    /// File of known issues (TOML), as for `interlap fuzz`: they do not count as found
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    /// Write the table as a page for a browser
    #[arg(long, value_name = "PAGE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub format: Format,
    // Options with a heading come last: what follows them would stand under it.
    #[command(flatten)]
    pub control: Control,
}
