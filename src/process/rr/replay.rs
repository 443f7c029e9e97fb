//! Replays a recording: as a whole, to get its standard output, or in a debugger.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use super::locate::Timebox;
use super::{Rr, probe, script};

/// Replays the whole recording. The standard output of the recorded process goes to the file
/// `output`.
pub fn to_end(
    rr: &Rr,
    recording: &Path,
    output: &Path,
    time_max: Duration,
    stop: &AtomicBool,
) -> Result<()> {
    let file = |path: &Path| {
        File::create(path).with_context(|| format!("cannot write {}", path.display()))
    };
    let said = output.with_extension("said");
    let mut command = rr.command("replay");
    command.arg("-a").arg(recording).stdout(file(output)?).stderr(file(&said)?);
    let status = run_limited(&mut command, time_max, stop)?;
    let text = String::from_utf8_lossy(&std::fs::read(&said)?).into_owned();
    if !status.success() || probe::is_fatal(&text) {
        let says = probe::message(&text).unwrap_or_else(|| format!("it ended with {status}"));
        bail!("rr cannot replay the recording: {says}\n{}", probe::advice_for(&says));
    }
    Ok(())
}

/// Asks rr for the first event of the recording.
///
/// # Errors
/// If it cannot read the recording, or does not take its options. A debugger would say less.
pub fn check(rr: &Rr, recording: &Path) -> Result<()> {
    let output = rr.command("dump").arg(recording).arg("1").output();
    let output = output.with_context(|| format!("cannot start {}", rr.program()))?;
    if !output.status.success() {
        let says = probe::message(&String::from_utf8_lossy(&output.stderr));
        let says = says.unwrap_or_else(|| format!("it ended with {}", output.status));
        let (program, advice) = (rr.program(), probe::advice_for(&says));
        bail!("{program} cannot read the recording: {says}\n{advice}");
    }
    Ok(())
}

/// Runs a command in a process group of its own for a limited time.
pub(super) fn run_limited(
    command: &mut Command,
    time_max: Duration,
    stop: &AtomicBool,
) -> Result<ExitStatus> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let stopped = stop.load(Ordering::Relaxed);
        if stopped || started.elapsed() > time_max {
            if let Some(group) = Pid::from_raw(child.id() as i32) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            match stopped {
                true => bail!("{name} was stopped before it was over"),
                false => bail!("{name} was not over after {} s", time_max.as_secs()),
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The call at which a debugger stops.
pub struct StopAt<'a> {
    pub call: &'a Timebox,
    /// Stop at its response, from where `reverse-continue` leads to its invocation.
    pub reverse: bool,
}

/// The arguments with which gdb stops there. rr connects gdb before the first `-ex` that may be a
/// `continue`, so the first is empty.
pub fn stop_arguments(stop: &StopAt) -> Result<Vec<OsString>> {
    let begin = script::at_begin(stop.call);
    // With its language set to Rust, gdb does not find the markers.
    let mut commands = vec![String::new(), "set language c".to_string()];
    if stop.reverse {
        let end = script::at_end(stop.call).context("this operation never ended")?;
        commands.extend([
            format!("tbreak {end}"),
            "continue".to_string(),
            format!("break {begin}"),
        ]);
    } else {
        commands.extend([format!("tbreak {begin}"), "continue".to_string()]);
    }
    commands.push("set language auto".to_string());
    Ok(commands.into_iter().flat_map(|command| ["-ex".into(), command.into()]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::shell_line;
    use super::*;

    const CALL: Timebox = Timebox { start: 30, end: Some(40) };

    #[test]
    fn a_debugger_stops_at_the_invocation_or_at_the_response() {
        let line = |reverse| {
            shell_line(&stop_arguments(&StopAt { call: &CALL, reverse }).expect("it ended"))
        };
        assert_eq!(
            line(false),
            "-ex '' -ex 'set language c' -ex 'tbreak *interlap_op_begin if $rdx == 30' \
             -ex continue -ex 'set language auto'"
        );
        let reverse = line(true);
        assert!(reverse.contains("tbreak *interlap_op_end if $rdx == 40"), "{reverse}");
        assert!(reverse.contains("-ex continue -ex 'break *interlap_op_begin"), "{reverse}");
        let pending = Timebox { end: None, ..CALL };
        assert!(stop_arguments(&StopAt { call: &pending, reverse: true }).is_err());
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let never = AtomicBool::new(false);
        let error =
            run_limited(&mut command, Duration::from_millis(20), &never).expect_err("too long");
        assert!(error.to_string().contains("not over"), "{error}");
        let stopped = AtomicBool::new(true);
        let mut command = Command::new("sleep");
        command.arg("1000");
        assert!(run_limited(&mut command, Duration::from_secs(1000), &stopped).is_err());
    }
}
