//! `interlap replay` of a recording by rr: replays it and compares the history, or opens it in a
//! debugger, which replaces this process and so has its terminal.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::fuzz::chosen_rr;
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::core::time_limit::TimeLimit;
use crate::finding::trust::Trusted;
use crate::finding::{Failure, Recorded, SCRIPT_FILE, Stored};
use crate::fuzz;
use crate::process::rr;
use crate::process::rr::replay::StopAt;
use crate::process::rr::{Rr, shell_line};
use crate::report::debugger;
use crate::report::directory;
use crate::report::output::note;
use crate::trace::rounds;

/// The result of a complete replay.
pub struct Replayed {
    /// Whether the recorded process wrote the finding's history again; none if it died before.
    pub identical: Option<bool>,
    pub seconds: f64,
}

/// The finding's rr, unless the user names another.
fn rr(stored: &mut Stored, _: Trusted, args: &arguments::Replay) -> Result<Rr> {
    let recorder = &mut stored.finding.plan.recorder;
    *recorder = chosen_rr(&args.rr, recorder)?;
    Ok(Rr::new(recorder))
}

fn recorded(stored: &Stored) -> Result<&Recorded> {
    let directory = stored.directory.display();
    let recorded = stored.finding.recorded.as_ref().filter(|_| stored.recording().is_dir());
    recorded.with_context(|| {
        format!(
            "{directory} has no recording; `interlap replay {directory} --history-only` checks \
             its history"
        )
    })
}

/// Replays the recording to its end, in the time that is left. Locates the operations in it if that
/// failed before.
pub fn run(
    stored: &mut Stored,
    trusted: Trusted,
    args: &arguments::Replay,
    left: Duration,
    stop: &AtomicBool,
) -> Result<Replayed> {
    let time = TimeLimit::from_now(left);
    let rr = rr(stored, trusted, args)?;
    let is_located = recorded(stored)?.is_located();
    let scratch = crate::core::files::scratch().context("cannot make a temporary directory")?;
    let (output, started) = (scratch.path().join("trace.mpk"), Instant::now());
    rr::replay::to_end(&rr, &stored.recording(), &output, left, stop)?;
    let seconds = started.elapsed().as_secs_f64();
    let identical = match stored.finding.what {
        Failure::Violation { .. } if stored.round.end.fault.is_none() => {
            let trace = rounds::read(&output).context("what the recorded process wrote")?;
            let wanted = stored.finding.round;
            let again = trace.rounds.iter().find(|round| round.start.round == wanted);
            // A sequential round is stored as if one thread had made all calls.
            let same = |round: &rounds::Round| {
                round.start.sequential || round.history == stored.round.history
            };
            Some(again.is_some_and(same))
        }
        _ => None,
    };
    if !is_located {
        fuzz::locate(stored, trusted, &time, stop);
        directory::write(stored)?;
        debugger::write_recorded(stored)?;
    }
    Ok(Replayed { identical, seconds })
}

/// Opens a debugger at an operation. Returns only with an error.
pub fn debug(stored: &mut Stored, trusted: Trusted, args: &arguments::Replay) -> Result<Outcome> {
    let (rr, asked) = (rr(stored, trusted, args)?, &args.stop);
    if asked.step.is_some() {
        bail!("--step: a recording has events and ticks, no steps; use --op");
    }
    recorded(stored)?;
    rr::replay::check(&rr, &stored.recording())?;
    debugger::write_recorded(stored)?;
    let commands = match (asked.op, &stored.finding.what) {
        (None, Failure::Fault { .. }) => at_fault(stored),
        (number, _) => at_operation(stored, number.unwrap_or(1), asked.reverse)?,
    };
    let (event, gdb) = commands;
    let script = stored.directory.join(SCRIPT_FILE);
    let mut words = rr.replay_words(event, Some(&script), &stored.recording());
    words.push("--".into());
    words.extend(gdb.into_iter().chain(asked.arguments.clone()));
    note!("{}", shell_line(&words));
    Err(Command::new(&words[0]).args(&words[1..]).exec())
        .with_context(|| format!("cannot start {}", rr.program()))
}

/// The event at which the replay begins, and the arguments with which gdb stops at an operation.
fn at_operation(
    stored: &Stored,
    number: usize,
    reverse: bool,
) -> Result<(Option<u64>, Vec<OsString>)> {
    let boxes = stored.boxes();
    let Some(call) = boxes.get(number - 1) else {
        bail!("the report shows {} operations; there is no number {number}", boxes.len());
    };
    let places = &recorded(stored)?.places;
    let begin = places.get(number - 1).and_then(|place| place.begin);
    let mut gdb = rr::replay::stop_arguments(&StopAt { call, reverse })?;
    // Commands of the finding's script. Where the operation begins, the target's code is next.
    gdb.extend(["-ex".into(), format!("interlap--reach {number}").into()]);
    if !reverse {
        gdb.extend(["-ex", "interlap--enter"].map(OsString::from));
    }
    Ok((begin.map(|begin| rr::script::event_before(begin.event)), gdb))
}

/// The same for a fault: gdb stops at the signal that ended the recording; of a hang, before the
/// process was ended.
fn at_fault(stored: &Stored) -> (Option<u64>, Vec<OsString>) {
    let recorded = stored.finding.recorded.as_ref();
    let hang = recorded.and_then(|recorded| recorded.before_end);
    let last = hang.or(recorded.and_then(|recorded| Some(recorded.last?.event)));
    let command = if hang.is_some() { "interlap-fault" } else { "continue" };
    (last.map(rr::script::event_before), ["-ex", "", "-ex", command].map(OsString::from).to_vec())
}
