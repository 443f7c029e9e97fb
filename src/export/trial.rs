//! Whether a reproducer reproduces: a directory with the program and the command that compiles it
//! come in, what became of some runs goes out.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::program::Sign;

/// How long a compiler may take.
const COMPILE_MAX: Duration = Duration::from_secs(180);
/// Added to what a run was given.
const RUN_MORE: Duration = Duration::from_secs(30);

/// What a command left behind.
struct Ended {
    status: Option<ExitStatus>,
    output: String,
}

/// Compiles, and says what the compiler says where it does not.
pub fn compile(command: &[String], directory: &Path) -> Result<Result<(), String>> {
    let ended = run(command, directory, COMPILE_MAX)?;
    Ok(match ended.status {
        Some(status) if status.success() => Ok(()),
        _ => Err(ended.output),
    })
}

/// Whether one run of the program, given so many seconds, shows the finding.
pub fn shows(directory: &Path, seconds: f64, sign: Sign) -> Result<bool> {
    let command = ["./reproducer".to_string(), seconds.to_string()];
    let ended = run(&command, directory, Duration::from_secs_f64(seconds) + RUN_MORE)?;
    let Some(status) = ended.status else { return Ok(false) };
    Ok(match sign {
        Sign::Answers | Sign::Hang => {
            status.code() == Some(1) && ended.output.contains("REPRODUCED")
        }
        Sign::Crash => status.code().is_none() || ended.output.contains("ERROR: AddressSanitizer"),
    })
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
