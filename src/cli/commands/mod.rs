//! What each command does: [`run`] carries a parsed command line out and gives the exit status.
//!
//! - `check`: `interlap check`: a recorded history, judged.
//! - `ci`: Known issues and the reports for continuous integration, as several commands have them:
//!   options come in, files go out.
//! - `convert`: `interlap convert`: a recorded history, written down in another format.
//! - `cross_engine`: Looks for a finding that rr recorded with the other engines, whose rounds cost
//!   less.
//! - `debug`: `interlap replay --gdb`: a finding's round under gdb, which takes this process's
//!   place and so has its terminal.
//! - `explain`: `interlap explain`: a stored finding comes in, its round is run once more, and what
//!   its threads did goes out as a table, which is kept with the finding.
//! - `export`: `interlap export`: a stored finding comes in; a directory with a reproducer, its
//!   README and a bug report goes out.
//! - `fuzz`: `interlap fuzz`: command line to plan and adapter, then the run, then its summary.
//! - `list`: `interlap targets`, `new` and `doctor`: what there is, and what this machine can do.
//! - `merge`: `interlap merge`: the findings and statistics of several runs of one target, joined.
//! - `overview`: What the commands tell of whole runs: with what, where and when a run was done,
//!   its page, and `interlap show` of a directory of findings.
//! - `page`: The page of `interlap check --html`: judged histories come in, a file goes out.
//! - `recording`: `interlap replay` of what rr has recorded: the recording run through and compared
//!   with the history, or opened in a debugger, which takes this process's place and so has its
//!   terminal.
//! - `replay`: `interlap replay` and `interlap show`: a stored finding, seen again.
//! - `shrink`: `interlap shrink`, and what `interlap fuzz` does with its findings: makes them
//!   smaller.
//! - `source`: A recorded history, from a file of any format.
//! - `triage`: `interlap triage`: findings on disk come in, each bug once goes out, with the known
//!   ones named.
//! - `workshop`: Where adapters are found and compiled, and where the harness lies.

mod check;
mod ci;
mod convert;
mod cross_engine;
mod debug;
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

use crate::core::outcome::{ERROR_STATUS, Outcome};
use crate::report::output::{Output, note};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use signal_hook::iterator::Signals;

use super::arguments::Command;

/// Carries out a command. Its verdict decides the exit status, whether or not somebody reads what
/// it prints.
pub fn run(command: &Command) -> ExitCode {
    let mut out = Output::standard();
    let done = carry_out(command, &mut out);
    match done.and_then(|outcome| out.finish().map(|()| outcome)) {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(error) => {
            note!("error: {error:#}");
            ExitCode::from(ERROR_STATUS)
        }
    }
}

fn carry_out(command: &Command, out: &mut Output) -> Result<Outcome> {
    match command {
        Command::Fuzz(args) => fuzz::run(args, out),
        Command::Merge(args) => merge::run(args, out),
        Command::Triage(args) => triage::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::Convert(args) => convert::run(args, out),
        Command::Replay(args) => replay::run(args, out),
        Command::Shrink(args) => shrink::run(args, out),
        Command::Explain(args) => explain::run(args, out),
        Command::Export(args) => export::run(args, out),
        Command::Show(args) => replay::show(args, out),
        Command::Targets(format) => list::targets(*format, out),
        Command::New(args) => list::new(args, out),
        Command::Doctor(args) => list::doctor(args, out),
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

fn print_json(out: &mut Output, value: &impl Serialize) -> Result<()> {
    writeln!(out, "{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
