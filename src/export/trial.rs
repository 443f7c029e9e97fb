//! Whether a reproducer reproduces: a directory with the program and the command that compiles it
//! come in, what became of some runs goes out.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::finding::What;
use crate::process::fault::FaultKind;
use crate::trace::frame::DetectedKind;

/// Added to what a run was given.
const RUN_MORE: Duration = Duration::from_secs(30);
/// Seconds after which calls count as hanging, in trials.
const HANG_SECONDS: u32 = 4;

/// What a run may take.
#[derive(Clone, Copy)]
pub struct Limits {
    /// How long the program is told to try.
    pub seconds: f64,
    /// After this it is ended, and has shown nothing.
    pub most: Duration,
}

/// What a command left behind.
struct Ended {
    status: Option<ExitStatus>,
    output: String,
}

/// Compiles, and says what the compiler says where it does not.
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

/// Whether one run of the program shows the finding: not just anything that is wrong, but the same.
pub fn shows(directory: &Path, limits: Limits, what: &What) -> Result<bool> {
    let Limits { seconds, most } = limits;
    let command = ["./reproducer".to_string(), seconds.to_string(), HANG_SECONDS.to_string()];
    // It looks at the clock between rounds only.
    let most = most.min(Duration::from_secs_f64(seconds) + RUN_MORE);
    let ended = run(&command, directory, most + Duration::from_secs(HANG_SECONDS.into()))?;
    let Some(status) = ended.status else { return Ok(false) };
    let said = |words: &str| ended.output.contains(words);
    Ok(match what {
        What::Violation { .. } => status.code() == Some(1) && said("REPRODUCED"),
        What::Fault { kind, .. } => match kind {
            FaultKind::Signal(signal) => status.signal() == Some(*signal),
            FaultKind::Exit(code) => {
                status.code() == Some(*code) && !said("not seen in") && !said("do not return")
            }
            FaultKind::Killed => status.signal() == Some(libc::SIGKILL),
            FaultKind::OutOfMemory => status.signal() == Some(libc::SIGABRT) && said("bad_alloc"),
            FaultKind::Hang => status.code() == Some(1) && said("REPRODUCED"),
            FaultKind::Detected(kind) => match sanitizers(*kind) {
                Some(name) if said("ERROR: AddressSanitizer") => said(name),
                _ => status.code() == Some(1) && said("REPRODUCED"),
            },
        },
    })
}

/// What AddressSanitizer calls a wrong use of memory; none for what has nothing to do with it.
pub fn sanitizers(kind: DetectedKind) -> Option<&'static str> {
    match kind {
        DetectedKind::UseAfterFree => Some("heap-use-after-free"),
        DetectedKind::DoubleFree => Some("attempting double-free"),
        DetectedKind::BadFree => Some("attempting free on address which was not malloc()-ed"),
        DetectedKind::OutOfBounds => Some("buffer-overflow"),
        DetectedKind::Deadlock | DetectedKind::Livelock | DetectedKind::Hang => None,
    }
}

/// Runs a command to its end, or kills it; no status if it was killed.
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
