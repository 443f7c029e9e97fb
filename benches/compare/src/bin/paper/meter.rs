//! Measures programs: CPU seconds and peak memory of all processes that one starts.
//!
//! Each program is run by a small process of its own, `paper meter`, for two reasons. Linux counts
//! what a process held before it became another program, so that a large one would make every
//! program look large. And it sums up what all children took together, whether their parent waited
//! for them or not, if they come to their ancestor when the parent is gone.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeVal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, SysconfVar, sysconf};
use serde_json::{Value, json};

/// What a program may take.
#[derive(Clone, Copy)]
pub struct Limits {
    pub cpu_seconds: u64,
    pub mebibytes: u64,
}

/// Which limit ended a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    Time,
    Memory,
}

/// What a program took, and what it said.
pub struct Metered {
    pub cpu_seconds: f64,
    /// The most memory that one of its processes held at once.
    pub mebibytes: f64,
    pub exceeded: Option<Exceeded>,
    pub output: String,
}

/// Runs a program with its limits; `output` is where its words are kept.
pub fn metered(command: &[String], folder: &Path, output: &Path, limits: Limits) -> Metered {
    let own = std::env::current_exe().expect("a program has a path");
    let answer = Command::new(own)
        .arg("meter")
        .args([limits.cpu_seconds.to_string(), limits.mebibytes.to_string()])
        .arg(output)
        .args(command)
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .expect("this program runs");
    let text = String::from_utf8_lossy(&answer.stdout);
    let Ok(said) = serde_json::from_str::<Value>(&text) else {
        panic!("{command:?} was not measured: {text}");
    };
    Metered {
        cpu_seconds: said["cpu_seconds"].as_f64().expect("a number"),
        mebibytes: said["mebibytes"].as_f64().expect("a number"),
        exceeded: match said["exceeded"].as_str() {
            Some("time") => Some(Exceeded::Time),
            Some("memory") => Some(Exceeded::Memory),
            _ => None,
        },
        output: std::fs::read_to_string(output).unwrap_or_default(),
    }
}

/// The small process: `paper meter SECONDS MEBIBYTES OUTPUT PROGRAM ARGUMENTS`.
pub fn run(mut arguments: impl Iterator<Item = String>) {
    let mut next = || arguments.next().expect("an argument of the meter");
    let cpu_seconds: u64 = next().parse().expect("seconds");
    let mebibytes: u64 = next().parse().expect("mebibytes");
    let limits = Limits { cpu_seconds, mebibytes };
    let (output, program) = (PathBuf::from(next()), next());
    set_child_subreaper(true).expect("Linux has this");
    let file = std::fs::File::create(&output).expect("the folder of the output is there");
    let errors = file.try_clone().expect("a file can be opened twice");
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::null()).stdout(file).stderr(errors).process_group(0);
    if let Err(error) = command.spawn() {
        panic!("{program}: {error}");
    }
    let exceeded = wait_for_all(limits);
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a process has children's usage");
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    let cpu = seconds(used.user_time()) + seconds(used.system_time());
    let exceeded = exceeded.map(|exceeded| match exceeded {
        Exceeded::Time => "time",
        Exceeded::Memory => "memory",
    });
    let mebibytes = used.max_rss() as f64 / 1024.0;
    println!("{}", json!({"cpu_seconds": cpu, "mebibytes": mebibytes, "exceeded": exceeded}));
}

/// Waits until no descendant is left, and ends them all if together they take too much.
fn wait_for_all(limits: Limits) -> Option<Exceeded> {
    let started = Instant::now();
    let wall = Duration::from_secs(20 * limits.cpu_seconds);
    let mut exceeded = None;
    let mut pause = Duration::from_micros(200);
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return exceeded,
            Err(Errno::EINTR) | Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => continue,
            Err(error) => panic!("waiting: {error}"),
            Ok(_) => (),
        }
        let all = descendants(std::process::id());
        let held: u64 = all.iter().map(|id| resident_mebibytes(*id)).sum();
        let spent: f64 = all.iter().map(|id| cpu_seconds(*id)).sum();
        if held > limits.mebibytes {
            exceeded = Some(Exceeded::Memory);
        } else if spent > limits.cpu_seconds as f64 {
            exceeded = Some(Exceeded::Time);
        }
        let stuck = started.elapsed() > wall;
        if exceeded.is_some() || stuck {
            // All are children of this process or of theirs, so none of the numbers is another's.
            for id in all {
                // One that has ended meanwhile is what was wanted.
                let _ = kill(Pid::from_raw(id as i32), Signal::SIGKILL);
            }
        }
        assert!(!stuck, "not over after {wall:?}, and yet within its CPU seconds");
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn descendants(id: u32) -> Vec<u32> {
    let text = std::fs::read_dir(format!("/proc/{id}/task")).map_or(String::new(), |tasks| {
        let children = tasks.flatten().map(|task| task.path().join("children"));
        children.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    });
    let children: Vec<u32> = text.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    let below = children.iter().flat_map(|child| descendants(*child));
    below.chain(children.iter().copied()).collect()
}

/// What a process holds now; nothing of one that has ended.
fn resident_mebibytes(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// What a process took until now; nothing of one that has ended.
fn cpu_seconds(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name of the program comes before, in brackets, and may have any characters.
    let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
    let fields: Vec<u64> = after.split(' ').map(|text| text.parse().unwrap_or(0)).collect();
    let ticks = fields.get(11).unwrap_or(&0) + fields.get(12).unwrap_or(&0);
    let a_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    ticks as f64 / a_second as f64
}
