//! What each command does: [`run`] carries a parsed command line out and gives the exit status.

mod check;
mod ci;
mod convert;
mod cross_engine;
mod debug;
mod engine;
mod explain;
mod export;
mod fuzz;
mod list;
mod merge;
mod overview;
mod page;
mod recording;
mod replay;
mod shrink;
mod source;
mod triage;
mod workshop;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;
use signal_hook::iterator::Signals;

use super::arguments::Command;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    NothingFound = 0,
    Found = 1,
    /// Limits were reached before an answer was.
    NotDecided = 3,
}

/// Exit status of a usage or input/output error.
pub const ERROR_STATUS: u8 = 2;

pub fn run(command: &Command) -> ExitCode {
    let outcome = match command {
        Command::Fuzz(args) => fuzz::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Triage(args) => triage::run(args),
        Command::Check(args) => check::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Shrink(args) => shrink::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Export(args) => export::run(args),
        Command::Show(args) => replay::show(args),
        Command::Targets(format) => list::targets(*format),
        Command::New(args) => list::new(args),
        Command::Doctor(args) => list::doctor(args),
    };
    match outcome {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(ERROR_STATUS)
        }
    }
}

/// Signals that follow the first so soon are the same wish: `timeout` sends its own twice.
const SAME_WISH: Duration = Duration::from_secs(1);

/// A flag that Ctrl-C and a polite kill set; a later second one ends the program at once.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Not SIGHUP: whoever calls with `nohup` has it ignored.
    let mut signals =
        Signals::new([libc::SIGINT, libc::SIGTERM]).context("cannot watch for Ctrl-C")?;
    std::thread::spawn(move || {
        let mut first = None;
        for _ in signals.forever() {
            flag.store(true, Ordering::Relaxed);
            if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                std::process::exit(ERROR_STATUS.into());
            }
        }
    });
    Ok(stop)
}

fn print_json(value: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
