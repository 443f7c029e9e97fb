//! Compiles a reproducer, and runs it to see whether it shows the finding.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::finding::Failure;
use crate::process::fault::FaultKind;
use crate::trace::frame::DetectedKind;

/// Added to the time limit of a run.
const RUN_MORE: Duration = Duration::from_secs(30);
/// Seconds after which calls count as hanging in a trial.
const HANG_SECONDS: u32 = 4;

/// The time limits of a run.
#[derive(Clone, Copy)]
pub struct Limits {
    /// How long the program tries.
    pub seconds: f64,
    /// After this it is killed, and has shown nothing.
    pub most: Duration,
}

/// The end of a command.
struct Ended {
    /// None if it was killed.
    status: Option<ExitStatus>,
    output: String,
}

/// Compiles; the inner error is the compiler's messages.
pub fn compile(
    command: &[String],
    directory: &Path,
    limit: Duration,
) -> Result<Result<(), String>> {
    let ended = run(command, directory, limit)?;
    Ok(match ended.status {
        Some(status) if status.success() => Ok(()),
        _ => Err(ended.output),
    })
}

/// Whether one run of the program shows this failure, and no other.
pub fn shows(directory: &Path, limits: Limits, failure: &Failure) -> Result<bool> {
    let Limits { seconds, most } = limits;
    let command = ["./reproducer".to_string(), seconds.to_string(), HANG_SECONDS.to_string()];
    // The program looks at the clock only between rounds.
    let most = most.min(Duration::from_secs_f64(seconds) + RUN_MORE);
    let ended = run(&command, directory, most + Duration::from_secs(HANG_SECONDS.into()))?;
    let Some(status) = ended.status else { return Ok(false) };
    let said = |words: &str| ended.output.contains(words);
    Ok(match failure {
        Failure::Violation { .. } => status.code() == Some(1) && said("REPRODUCED"),
        Failure::Fault { kind, .. } => match kind {
            FaultKind::Signal(signal) => status.signal() == Some(*signal),
            FaultKind::Exception => {
                status.signal() == Some(libc::SIGABRT) && said("terminate called")
            }
            FaultKind::Exit(code) => {
                status.code() == Some(*code) && !said("not seen in") && !said("do not return")
            }
            FaultKind::Killed => status.signal() == Some(libc::SIGKILL),
            FaultKind::Harmed(_) => false,
            FaultKind::OutOfMemory => status.signal() == Some(libc::SIGABRT) && said("bad_alloc"),
            FaultKind::Hang => status.code() == Some(1) && said("REPRODUCED"),
            FaultKind::Detected(kind) => match sanitizer_error(*kind) {
                Some(name) if said("ERROR: AddressSanitizer") => said(name),
                _ => status.code() == Some(1) && said("REPRODUCED"),
            },
        },
    })
}

/// The error of AddressSanitizer for a misuse of memory; none for other faults.
pub fn sanitizer_error(kind: DetectedKind) -> Option<&'static str> {
    match kind {
        DetectedKind::UseAfterFree => Some("heap-use-after-free"),
        DetectedKind::DoubleFree => Some("attempting double-free"),
        DetectedKind::BadFree => Some("attempting free on address which was not malloc()-ed"),
        DetectedKind::OutOfBounds => Some("buffer-overflow"),
        DetectedKind::Deadlock
        | DetectedKind::Livelock
        | DetectedKind::Hang
        | DetectedKind::DataRace => None,
    }
}

/// Runs a command, and kills it after `limit`.
fn run(command: &[String], directory: &Path, limit: Duration) -> Result<Ended> {
    let path = directory.join("output.txt");
    let output = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let again = output.try_clone().context("cannot share a file")?;
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .current_dir(directory)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(again)
        .spawn()
        .with_context(|| format!("cannot run {}", command[0]))?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for a program")? {
            break Some(status);
        }
        if started.elapsed() > limit {
            child.kill().context("cannot end a program")?;
            child.wait().context("cannot wait for a program")?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let bytes = std::fs::read(&path).unwrap_or_default();
    Ok(Ended { status, output: String::from_utf8_lossy(&bytes).into_owned() })
}
