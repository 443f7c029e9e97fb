//! Options of the commands that take one finding: show, explain, shrink, replay, export.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Build, Format, Rr, Run, duration};

pub const REPLAY_EXAMPLES: &str = "\
Examples:
  interlap replay findings/treiber_aba-91c2
  interlap replay findings/treiber_aba-91c2 --for 5m
  interlap replay findings/treiber_aba-91c2 --history-only
  interlap replay findings/treiber_aba-91c2 --op B              stopped at operation B, in gdb
  interlap replay findings/treiber_aba-91c2 --op B --reverse    at its end; recordings of rr alone
  interlap replay findings/treiber_aba-91c2 --gdb --step 120    stopped at a step of the schedule
  interlap replay findings/treiber_aba-91c2 --gdb -- -batch -ex bt

Exit status: 0 if what ran is explained, as after a fix; 1 if it shows the finding, or another one;
2 on errors; 3 if that is not certain. With --history-only: 1 if the history violates its model.

gdb has commands for the finding then: interlap-ops, interlap-op, interlap-next, interlap-step,
interlap-preemptions; `help interlap-op` says what each does. docs/debugging.md has more.";

pub const SHRINK_EXAMPLES: &str = "\
Examples:
  interlap shrink findings/treiber_aba-91c2
  interlap shrink findings/treiber_aba-91c2 --for 10m

`interlap fuzz` has already spent some time on this (--shrink). The finding stays the same: a
violation keeps its rule and gains no kind of operation, a fault keeps its source lines. The trace
as it was found is kept (original.mpk). Ctrl-C keeps the smallest scenario so far.

A finding of the controlled engine becomes one round that is the same at each replay. A finding of
native threads becomes calls that show it in some rounds: each candidate runs as long as the best
one so far needs to show it 19 times in 20, and the report says how often the smallest one showed
it. A finding that does not recur is not changed: give it more time.

A recording of rr is not changed, since it shows its round exactly. Its calls are tried with the
controlled engine, then with native threads; the smaller finding is written to the directory
`smaller` beside the recording.";

pub const EXPLAIN_EXAMPLES: &str = "\
Examples:
  interlap explain findings/treiber_aba-91c2          what other threads can notice
  interlap explain findings/treiber_aba-91c2 --all    every access, allocation and lock
  interlap explain findings/treiber_aba-91c2 --json

Reruns the finding's round (controlled engine). Memory has names: `#3+8` is byte 8 of the third
block that was allocated. A minimized finding has its table in the report and on the page.";

pub const EXPORT_EXAMPLES: &str = "\
Examples:
  interlap export findings/treiber_aba-91c2                   into findings/treiber_aba-91c2/export
  interlap export findings/treiber_aba-91c2 --into ~/bug-17
  interlap export findings/treiber_aba-91c2 --no-try          compile and run nothing

Writes reproducer.c with its runtime schedule.c and the adapter, which plain g++ compiles, README.md
with the command and what to expect, and report.md, to paste into an issue. The order of threads is
forced as far as it is known: shrink a finding of the controlled engine first. What is written is
tried, and said to reproduce only as far as it did. docs/exporting.md has more.

Exit status: 1 if the program shows the bug, 3 if it does not or was not tried, 2 on errors.";

/// Whether what a finding brings may be compiled and run.
#[derive(Args, Clone, Copy, Debug)]
pub struct Trust {
    /// Compile and run what the finding names, although it was not made here, or is compiled with
    /// flags that can make the compiler itself run code
    #[arg(long = "trust")]
    pub given: bool,
}

/// Where the sources of a finding are now, if they are not where it was found.
#[derive(Args, Debug)]
pub struct Place {
    /// The adapter's source, where it is now; what lay beside it is looked for beside it. -I, -l
    /// and --cflag replace those that the finding was found with
    #[arg(long, value_name = "PATH")]
    pub adapter: Option<String>,
    #[command(flatten)]
    pub build: Build,
}

#[derive(Args, Debug)]
pub struct Shrink {
    /// Directory of a finding
    pub finding: PathBuf,
    #[command(flatten)]
    pub trust: Trust,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Args, Debug)]
pub struct Explain {
    /// Directory of a finding
    pub finding: PathBuf,
    /// Show every step, not only those that other threads can notice
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub trust: Trust,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Args, Debug)]
pub struct Export {
    /// Directory of a finding
    pub finding: PathBuf,
    /// Directory to write to: empty, or an earlier export that nobody changed
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Do not compile and run the program
    #[arg(long)]
    pub no_try: bool,
    #[command(flatten)]
    pub trust: Trust,
    #[command(flatten)]
    pub place: Place,
    /// How long all trials together may take: of programs that force the order of the finding, each
    /// compiled and run, and then of one that is left to chance
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub try_for: Duration,
    /// Time without progress that counts as a hang while the round is rerun
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub hang: Duration,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct Replay {
    /// Directory of a finding
    pub finding: PathBuf,
    /// Check the recorded history only; run nothing
    #[arg(long)]
    pub history_only: bool,
    #[command(flatten)]
    pub trust: Trust,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub rr: Rr,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub stop: Stop,
}

/// Where a debugger stops.
#[derive(Args, Debug)]
#[command(next_help_heading = "Debugger (findings of the controlled and the rr engine)")]
pub struct Stop {
    /// Run the round, or its recording, in gdb, stopped at the fault or at the first of the
    /// operations that contradict each other
    #[arg(long, conflicts_with_all = ["history_only", "json"])]
    pub gdb: bool,
    /// Stop in gdb at the invocation of an operation: its letter in the picture, or 1, 2, ...
    #[arg(long, value_name = "K", value_parser = operation, conflicts_with_all = ["history_only", "json"])]
    pub op: Option<usize>,
    /// Stop at its response, from where `reverse-continue` goes back; recordings of rr only
    #[arg(long, requires = "op")]
    pub reverse: bool,
    /// Stop at a step of the schedule; timeboxes of the controlled engine are given in steps
    #[arg(long, value_name = "N", conflicts_with_all = ["op", "history_only", "json"])]
    pub step: Option<u64>,
    /// More arguments for gdb
    #[arg(last = true, value_name = "GDB-ARGUMENT")]
    pub arguments: Vec<OsString>,
}

impl Stop {
    /// Whether a debugger is wanted.
    pub fn is_asked(&self) -> bool {
        self.gdb || self.op.is_some() || self.step.is_some() || !self.arguments.is_empty()
    }
}

#[derive(Args, Debug)]
pub struct Show {
    /// Directory of a finding, or of a run (`fuzz --out`)
    pub finding: PathBuf,
    /// Print the whole history as JSON Lines instead
    #[arg(long, conflicts_with = "json")]
    pub history: bool,
    /// Write the finding's page, or the run's page, to this file
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["json", "history"])]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub format: Format,
}

/// The number of an operation, from 1: 3 for `3`, `C` and `c`.
fn operation(text: &str) -> Result<usize, String> {
    let of_letter = match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => {
            Some(usize::from(letter.to_ascii_uppercase() - b'A') + 1)
        }
        _ => None,
    };
    let number = of_letter.or_else(|| text.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| "expected a letter of the finding's picture, or its number from 1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_letters_and_numbers() {
        assert_eq!((operation("A"), operation("c"), operation("12")), (Ok(1), Ok(3), Ok(12)));
        assert!(operation("0").is_err() && operation("AB").is_err() && operation("").is_err());
    }
}
