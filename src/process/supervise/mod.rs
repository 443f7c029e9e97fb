//! Supervises a harness process and reports everything that happens to it as events.
//! With a recorder, the child process is the recorder: it starts the harness, and ends as the
//! harness did, a little later.
//!
//! - `memory`: Watches how much memory a process takes while it makes no progress: a leak is no
//!   hang.
//! - `reading`: Decodes the pipe of a supervised harness on a thread of its own and sends whole
//!   rounds.

mod memory;
mod reading;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::descent::note_started;
use super::fault::{Fault, FaultKind, Hang};
use crate::core::plan::{Engine, Job, OWN_FAILURE};
use crate::trace::area::{Ended, Snapshot, Stage};
use crate::trace::frame::{Bye, Hello, Problem, Steps};
use crate::trace::rounds::{Part, Round};
use memory::MemoryWatch;
use reading::{Message, Pipes, read_frames};

/// Bytes of the target's output that are kept: the last ones.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Time between checks of a process that sends nothing.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time that a process has to answer a signal, and to close its pipe after its end.
const GRACE: Duration = Duration::from_secs(2);
/// Time for a recorder to finish its recording after the harness has ended.
const RECORDER_MAX: Duration = Duration::from_secs(60);
/// Time for a process to load its target and send its header.
const HELLO_MAX: Duration = Duration::from_secs(60);

/// An event of a harness process.
pub enum Event {
    /// The target is loaded.
    Hello(Box<Hello>),
    Rounds(Vec<Round>),
    /// The next part of a long round.
    Part(Box<Part>),
    /// An adapter that broke its contract, or a harness that cannot continue.
    Problem(Problem),
    /// The process ended normally.
    Bye(Bye),
    /// The target ended the process, or hangs.
    Fault(Box<Fault>),
    /// Nothing happened within the interval between checks.
    Quiet,
}

/// A running harness. Dropping it kills the process and all that the target has started.
pub struct Harness {
    child: Child,
    /// The child is a recorder, which starts the harness.
    recorder: bool,
    /// The harness's process, once it is known.
    process: Option<u32>,
    messages: Receiver<Message>,
    output: Arc<Mutex<VecDeque<u8>>>,
    /// Reads the target's output until its pipe is closed.
    output_reader: std::thread::JoinHandle<()>,
    area: Arc<OnceLock<File>>,
    hang_max: Duration,
    progress: (u64, Instant),
    memory: MemoryWatch,
    /// Whether SIGPROF makes the harness report where it hangs.
    reports_hangs: bool,
    /// The time of that signal.
    signalled: Option<Instant>,
    /// The hang for which it was killed, and when; its last messages are still in the pipe.
    hung: Option<(Hang, Instant)>,
    /// The engine's counts of a round that a signal cut short.
    cut: Option<Box<Steps>>,
    round_first: u64,
}

impl Harness {
    /// Starts a harness, under a recorder if its words are given. The calling thread must outlive
    /// the harness, which dies with it.
    pub fn start(
        recorder: &[OsString],
        program: &Path,
        job: &Job,
        job_file: &Path,
        hang_max: Duration,
    ) -> Result<Harness> {
        std::fs::write(job_file, serde_json::to_vec(job)?)
            .with_context(|| format!("cannot write {}", job_file.display()))?;
        let mut words = recorder.to_vec();
        words.extend([program.as_os_str().to_owned(), job_file.as_os_str().to_owned()]);
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", Path::new(&words[0]).display()))?;
        note_started(child.id());
        let (sender, messages) = sync_channel(1);
        let area = Arc::new(OnceLock::new());
        let (area_of_reader, pid) = (Arc::clone(&area), child.id());
        let pipes = Pipes {
            frames: child.stdout.take().expect("it is piped"),
            go_ahead: child.stdin.take(),
        };
        std::thread::spawn(move || read_frames(pipes, pid, &area_of_reader, &sender));
        let output = Arc::new(Mutex::new(VecDeque::new()));
        let (kept, stderr) = (Arc::clone(&output), child.stderr.take().expect("it is piped"));
        let output_reader = std::thread::spawn(move || keep_output(stderr, &kept));
        Ok(Harness {
            child,
            recorder: !recorder.is_empty(),
            process: None,
            messages,
            output,
            output_reader,
            area,
            hang_max,
            progress: (0, Instant::now()),
            memory: MemoryWatch::new(&job.plan),
            reports_hangs: job.plan.engine == Engine::Controlled,
            signalled: None,
            hung: None,
            cut: None,
            round_first: job.round_first,
        })
    }

    /// The next event; [`Event::Quiet`] after an interval without any.
    pub fn next_event(&mut self) -> Result<Event> {
        match self.messages.recv_timeout(CHECK_INTERVAL) {
            Ok(Message::Hello(hello)) => {
                self.process = hello.process;
                Ok(Event::Hello(hello))
            }
            Ok(Message::Rounds(rounds)) => {
                self.note_progress();
                Ok(Event::Rounds(rounds))
            }
            Ok(Message::Part(part)) => {
                self.note_progress();
                Ok(Event::Part(part))
            }
            Ok(Message::Detected(detected)) => {
                self.wait_for_output();
                let fault = Fault::from_detected(*detected, self.output());
                Ok(Event::Fault(Box::new(self.with_records(fault))))
            }
            Ok(Message::Cut(steps)) => {
                self.cut = Some(steps);
                Ok(Event::Quiet)
            }
            Ok(Message::Damaged) => {
                self.kill()?;
                let fault = self.fault(FaultKind::Harmed(Ended::Damaged));
                Ok(Event::Fault(Box::new(fault)))
            }
            Ok(Message::Problem(problem)) => Ok(Event::Problem(problem)),
            Ok(Message::Bye(bye)) => Ok(Event::Bye(bye)),
            Err(RecvTimeoutError::Disconnected) => self.find_fault(),
            Err(RecvTimeoutError::Timeout) => self.check_progress(),
        }
    }

    /// The end of the target's output so far.
    pub fn output(&self) -> String {
        let bytes = self.output.lock().expect("no thread panics holding it");
        String::from_utf8_lossy(&bytes.iter().copied().collect::<Vec<u8>>()).into_owned()
    }

    /// Checks that the process is alive and makes progress.
    fn check_progress(&mut self) -> Result<Event> {
        if let Some((_, killed)) = &self.hung {
            let over = killed.elapsed() > GRACE;
            return if over { self.find_fault() } else { Ok(Event::Quiet) };
        }
        if self.child.try_wait()?.is_some() {
            // A process that the target forked may still hold the pipe open.
            self.kill_group();
            return Ok(Event::Quiet);
        }
        let snapshot = self.area.get().and_then(|area| Snapshot::read(area).ok());
        let (progress, waits_for_reader) = match &snapshot {
            Some(snapshot) => (snapshot.progress(), snapshot.waits_for_reader()),
            None => (0, false),
        };
        if progress != self.progress.0 || waits_for_reader {
            self.progress.0 = progress;
            self.note_progress();
        }
        let process = self.process.unwrap_or(self.child.id());
        self.memory.look(process);
        let patience = if snapshot.is_some() { self.hang_max } else { HELLO_MAX };
        if self.progress.1.elapsed() < patience {
            return Ok(Event::Quiet);
        }
        if self.memory.is_filling() {
            // It will end by itself, as what it is.
            (self.progress.1, self.signalled) = (Instant::now(), None);
            return Ok(Event::Quiet);
        }
        if self.reports_hangs && snapshot.is_some() && !self.had_time_to_answer() {
            return Ok(Event::Quiet);
        }
        let (running, waiting) = thread_states(process);
        self.kill()?;
        let hang = Hang { seconds: patience.as_secs(), running, waiting };
        self.hung = Some((hang, Instant::now()));
        Ok(Event::Quiet)
    }

    fn note_progress(&mut self) {
        (self.progress.1, self.signalled) = (Instant::now(), None);
        self.memory.forget();
    }

    /// Asks a hung harness where it hangs. Returns whether it has had time to answer.
    fn had_time_to_answer(&mut self) -> bool {
        if self.signalled.is_none()
            && let Some(pid) = Pid::from_raw(self.child.id() as i32)
        {
            let _ = kill_process(pid, Signal::PROF);
        }
        self.signalled.get_or_insert_with(Instant::now).elapsed() > GRACE
    }

    /// The fault of a process that closed its pipe without a last frame.
    fn find_fault(&mut self) -> Result<Event> {
        if let Some((hang, _)) = self.hung.take() {
            let is_full = self.memory.is_full();
            let kind = if is_full { FaultKind::OutOfMemory } else { FaultKind::Hang };
            let mut fault = self.fault(kind);
            fault.hang = (!is_full).then_some(hang);
            return Ok(Event::Fault(Box::new(fault)));
        }
        let patience = Instant::now();
        let patience_max = if self.recorder { RECORDER_MAX } else { GRACE };
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if patience.elapsed() > patience_max => {
                    self.kill_group();
                    break self.child.wait()?;
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        self.kill_group();
        self.wait_for_output();
        let fault = self.fault(FaultKind::from_status(status.signal(), status.code()));
        let is_harmed = matches!(fault.kind, FaultKind::Harmed(_));
        if !is_harmed && is_harness_error(status, &fault.output) {
            anyhow::bail!("the harness failed:\n{}", self.output().trim_end());
        }
        Ok(Event::Fault(Box::new(fault)))
    }

    /// Waits for the last output of a process that has ended or is about to. The time is limited,
    /// because a process that the target started may hold the pipe open.
    fn wait_for_output(&self) {
        let patience = Instant::now();
        while !self.output_reader.is_finished() && patience.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The fault, with all that is known about the process's end.
    fn fault(&mut self, kind: FaultKind) -> Fault {
        let mut fault = Fault::new(kind, self.output(), self.round_first);
        fault.steps = self.cut.take();
        self.with_records(fault)
    }

    fn with_records(&self, mut fault: Fault) -> Fault {
        let Some(area) = self.area.get() else { return fault };
        match Snapshot::read(area) {
            Ok(snapshot) => fault.add_snapshot(area, &snapshot),
            Err(_) => {
                fault.kind = FaultKind::Harmed(Ended::Damaged);
                fault.stage = Stage::Calls;
                fault.complete = false;
            }
        }
        fault
    }

    /// The current round: its number, its threads, and the bytes recorded so far.
    pub fn current_round(&self) -> Option<(u64, u32, u64)> {
        let now = Snapshot::read(self.area.get()?).ok()?;
        let bytes = now.records.iter().fold(0u64, |sum, (_, bytes)| sum.wrapping_add(*bytes));
        let threads = now.records.len() as u32 - 1;
        (now.stage == Stage::Calls).then_some((now.round, threads, bytes))
    }

    /// Kills the harness after this round, which it has sent; its recorder finishes the recording.
    /// A recorder learns of a write when it returns, which may be long after it was read here. Had
    /// the harness been killed before, a replay would not write the round.
    pub fn kill_after(&mut self, round: u64) -> Result<()> {
        let patience = Instant::now();
        while self.recorder
            && self.is_sending(round)
            && self.child.try_wait()?.is_none()
            && patience.elapsed() < RECORDER_MAX
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill()
    }

    fn is_sending(&self, round: u64) -> bool {
        let snapshot = self.area.get().and_then(|area| Snapshot::read(area).ok());
        snapshot.is_some_and(|now| now.round == round && now.stage == Stage::Sent)
    }

    /// Kills the harness; its recorder finishes the recording.
    pub fn kill(&mut self) -> Result<()> {
        let patience = Instant::now();
        if self.recorder && self.kill_recorded() {
            while self.child.try_wait()?.is_none() && patience.elapsed() < RECORDER_MAX {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.kill_group();
        self.child.wait()?;
        Ok(())
    }

    /// Kills the recorded process, if its number still belongs to it.
    fn kill_recorded(&self) -> bool {
        let Some(process) = self.process else { return false };
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        let tracer = format!("TracerPid:\t{}", self.child.id());
        let is_traced = status.is_ok_and(|status| status.lines().any(|line| line == tracer));
        let pid = Pid::from_raw(process as i32).filter(|_| is_traced);
        pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
    }

    fn kill_group(&self) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.kill_group();
        let _ = self.child.wait();
    }
}

/// Whether it is an error of the harness itself, not of the target: exit status 2 or a panic, with
/// its message on stderr.
fn is_harness_error(status: ExitStatus, output: &str) -> bool {
    let said = output.lines().any(|line| line.starts_with(OWN_FAILURE));
    said && (status.code() == Some(2) || status.signal() == Some(libc::SIGABRT))
}

fn keep_output(mut stderr: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut buffer) {
        let mut kept = kept.lock().expect("no thread panics holding it");
        kept.extend(&buffer[..n]);
        let surplus = kept.len().saturating_sub(OUTPUT_BYTES_MAX);
        kept.drain(..surplus);
    }
}

/// How many of a process's threads run and how many wait.
fn thread_states(pid: u32) -> (u32, u32) {
    let (mut running, mut waiting) = (0, 0);
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // The state follows the command's name, which is in parentheses and may contain anything.
        match stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next()) {
            Some('R') => running += 1,
            Some(_) => waiting += 1,
            None => {}
        }
    }
    (running, waiting)
}
