//! Runs the commands: [`run`] carries out a parsed command line and returns the exit status.
//!
//! - `adapters`: Finds and compiles adapters for the commands, and finds the harness program.
//! - `check`: `interlap check`: checks recorded histories against their models.
//! - `ci`: Reads known issues and writes JUnit and SARIF reports, for several commands.
//! - `convert`: `interlap convert`: writes a recorded history in another format.
//! - `covering`: `--coverage`: what judging exercised of a specification, in words and as a file.
//! - `cross_engine`: Searches for a finding that rr recorded with the other engines, whose rounds
//!   cost less.
//! - `debug`: `interlap replay --gdb`: runs a finding's round under gdb, which replaces this
//!   process and so has its terminal.
//! - `explain`: `interlap explain`: reruns a finding's round and shows what its threads did, as a
//!   table.
//! - `export`: `interlap export`: writes a directory with a reproducer, its README and a bug
//!   report.
//! - `follow`: `interlap check --follow`: reads a history while it is written, and ends with the
//!   first response that no order explains.
//! - `fuzz`: `interlap fuzz`: makes a plan of the command line, runs it, shrinks its findings and
//!   prints a summary.
//! - `list`: `interlap targets`, `new` and `doctor`: lists the bundled targets, writes a template
//!   adapter, and reports what this machine can do.
//! - `merge`: `interlap merge`: joins the findings and statistics of several runs of one target.
//! - `orders`: `interlap orders`: takes each memory order of a target weaker by steps, and runs the
//!   same rounds.
//! - `overview`: `interlap show` of a run's directory, the page of a run, and the circumstances of
//!   a run.
//! - `page`: Writes the pages of commands to files.
//! - `place`: Finds what a finding was compiled from where it lies now, and decides whether it may
//!   be compiled and run.
//! - `recording`: `interlap replay` of a recording by rr: replays it and compares the history, or
//!   opens it in a debugger, which replaces this process and so has its terminal.
//! - `regress`: Replays known findings before a run, in the run's own build of the adapter: those
//!   that show again are regressions.
//! - `replay`: `interlap replay` and `interlap show`: reruns a stored finding, or prints it.
//! - `shrink`: `interlap shrink`: minimizes a finding; also minimizes the findings of `interlap
//!   fuzz`.
//! - `source`: Reads recorded histories from a file of any format, for `interlap check` and
//!   `convert`.
//! - `stored`: `interlap list`: lists the rounds that runs kept in a store; and what `interlap
//!   check` makes of all of them, beside what was made of them before.
//! - `triage`: `interlap triage`: lists the findings of many runs, each bug once, and names the
//!   known ones.
//! - `trust`: Decides for the commands that compile and run what a finding names whether they may.

mod adapters;
mod check;
mod ci;
mod convert;
mod covering;
mod cross_engine;
mod debug;
mod explain;
mod export;
mod follow;
mod fuzz;
mod list;
mod merge;
mod orders;
mod overview;
mod page;
mod place;
mod recording;
mod regress;
mod replay;
mod shrink;
mod source;
mod stored;
mod triage;
mod trust;

use crate::core::machine::field;
use crate::core::outcome::{ERROR_STATUS, Outcome};
use crate::process::descent::descends_from_this;
use crate::process::model::serve_model;
use crate::report::output::{Output, note, warning};
use crate::report::words;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

use super::arguments::Command;

/// Carries out a command. Its outcome decides the exit status, even if standard output was closed.
pub fn run(command: &Command) -> ExitCode {
    if let Command::ServeModel { file, settings } = command {
        return serve_model(file, settings);
    }
    let mut out = Output::standard();
    let done = carry_out(command, &mut out);
    match done.and_then(|outcome| out.finish().map(|()| outcome)) {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(error) => {
            note!("error: {}", words::error(&error));
            ExitCode::from(ERROR_STATUS)
        }
    }
}

/// Carries out a command, and writes what it prints to `out`.
pub fn carry_out(command: &Command, out: &mut Output) -> Result<Outcome> {
    match command {
        Command::Fuzz(args) => fuzz::run(args, out),
        Command::Orders(args) => orders::run(args, out),
        Command::Merge(args) => merge::run(args, out),
        Command::Triage(args) => triage::run(args, out),
        Command::List(args) => stored::list(args, out),
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
        Command::ServeModel { .. } => unreachable!("it prints nothing"),
    }
}

/// Signals within this time after the first count as one: `timeout` sends its own twice.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// The signals that ask a command to end, by their names.
const ENDING: [(i32, &str); 3] =
    [(libc::SIGINT, "SIGINT"), (libc::SIGTERM, "SIGTERM"), (libc::SIGHUP, "SIGHUP")];

/// A flag that SIGINT, SIGTERM and the end of the terminal (SIGHUP) set; a second signal ends the
/// program at once. Those that a target sends are ignored: nobody wants the run to end.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // `nohup` ignores SIGHUP, and that stays so.
    let watched = ENDING.iter().map(|(signal, _)| *signal);
    let watched = watched.filter(|signal| *signal != libc::SIGHUP || !ignores(&status, *signal));
    let mut signals = SignalsInfo::<WithOrigin>::new(watched).context("cannot watch for Ctrl-C")?;
    std::thread::spawn(move || {
        let (mut first, mut is_told) = (None, false);
        for signal in signals.forever() {
            let sender = signal.process.map(|process| process.pid);
            if let Some(sender) = sender.filter(|sender| descends_from_this(*sender)) {
                if !std::mem::replace(&mut is_told, true) {
                    let named = ENDING.iter().find(|(number, _)| *number == signal.signal);
                    let name = named.map_or("a signal", |(_, name)| name);
                    warning!(
                        "a process of the target ({sender}) sent {name} to interlap: ignored, \
                         here and later"
                    );
                }
                continue;
            }
            flag.store(true, Ordering::Relaxed);
            if first.get_or_insert_with(Instant::now).elapsed() > ONE_SIGNAL {
                std::process::exit(ERROR_STATUS.into());
            }
        }
    });
    Ok(stop)
}

/// Whether a process with this `/proc/PID/status` ignores the signal.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = field(status, "SigIgn").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn print_json(out: &mut Output, value: &impl Serialize) -> Result<()> {
    writeln!(out, "{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_signal_is_read_from_the_mask() {
        let status = "Name:\tinterlap\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, libc::SIGHUP) && !ignores(status, libc::SIGINT));
        assert!(!ignores("", libc::SIGHUP));
    }
}
