//! Supervises a harness process and reports everything that happens to it as events.
//! With a recorder, the child process is the recorder: it starts the harness, and ends as the
//! harness did, a little later.
//!
//! - `hang_decision`: Decides whether a process that makes no progress hangs, from what its threads
//!   did meanwhile.
//! - `hang`: Notices that a harness makes no progress, asks where it hangs, and ends it.
//! - `memory`: Watches how much memory a process takes while it makes no progress: a leak is no
//!   hang.
//! - `reading`: Decodes the pipe of a supervised harness on a thread of its own and sends whole
//!   rounds.
//! - `threads`: Reads what the threads of a process do from `/proc`.

mod hang;
mod hang_decision;
mod memory;
mod reading;
mod threads;

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
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use super::descent::note_started;
use super::fault::{Fault, FaultKind};
use crate::core::method::Methods;
use crate::core::plan::{Engine, Job, OWN_FAILURE};
use crate::trace::area::{Ended, Progress, Snapshot, Stage};
use crate::trace::frame::{Bye, Hello, Problem, Steps};
use crate::trace::rounds::{Finished, Part};
use hang_decision::Stillness;
use memory::MemoryWatch;
use reading::{Message, Pipes, read_frames};

pub use hang_decision::noticed_after;

/// Bytes of the target's output that are kept: the last ones.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
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
    Rounds(Vec<Finished>),
    /// The next part of a long round.
    Part(Box<Part>),
    /// An adapter that broke its contract, or a harness that cannot continue.
    Problem(Problem),
    /// The process ended normally.
    Bye(Bye),
    /// The target ended the process, or hangs.
    Fault(Box<Fault>),
    /// The process made no progress in this round for so long that it was killed, and nothing shows
    /// that the target is the cause.
    Stalled {
        round: u64,
        seconds: u64,
    },
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
    /// Of the target.
    methods: Methods,
    hang_max: Duration,
    progress: Progress,
    memory: MemoryWatch,
    /// The time since then.
    stillness: Stillness,
    looked: Instant,
    /// SIGPROF asks the harness where it hangs: the controlled engine reports that as a fault of
    /// its own, native threads note their stacks.
    engine: Engine,
    /// The time of that signal.
    signalled: Option<Instant>,
    /// Why it was killed that made no progress, and when; its last messages are still in the pipe.
    hung: Option<(Event, Instant)>,
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
            methods: Methods::default(),
            hang_max,
            progress: Progress::default(),
            memory: MemoryWatch::new(&job.plan),
            stillness: Stillness::default(),
            looked: Instant::now(),
            engine: job.plan.engine,
            signalled: None,
            hung: None,
            cut: None,
            round_first: job.round_first,
        })
    }

    /// The next event; [`Event::Quiet`] after an interval without any.
    pub fn next_event(&mut self) -> Result<Event> {
        match self.messages.recv_timeout(hang_decision::INTERVAL) {
            Ok(Message::Hello(hello)) => {
                self.process = hello.process;
                self.methods = Methods::among(hello.target.operations.iter().copied());
                Ok(Event::Hello(hello))
            }
            Ok(Message::Rounds(mut rounds)) => {
                self.note_progress();
                // The signal may have woken what hung.
                rounds.retain(|round| !self.is_over(round.round(), None));
                Ok(Event::Rounds(rounds))
            }
            Ok(Message::Part(part)) if self.is_over(part.start.round, Some(part.number)) => {
                Ok(Event::Quiet)
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

    /// The fault of a process that closed its pipe without a last frame.
    fn find_fault(&mut self) -> Result<Event> {
        if let Some((mut event, _)) = self.hung.take() {
            self.wait_for_output();
            if let Event::Fault(fault) = &mut event {
                fault.output = self.output();
            }
            return Ok(event);
        }
        let patience = Instant::now();
        let patience_max = if self.recorder { RECORDER_MAX } else { GRACE };
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if patience.elapsed() > patience_max => {
                    self.kill_group();
                    break reap(&mut self.child)?;
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
            Ok(snapshot) => fault.add_snapshot(area, &snapshot, &self.methods),
            Err(_) => {
                fault.kind = FaultKind::Harmed(Ended::Damaged);
                fault.stage = Stage::Calls;
                fault.complete = false;
            }
        }
        fault
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.area.get().and_then(|area| Snapshot::read(area).ok())
    }

    /// The current round: its number, its threads, and the bytes recorded so far.
    pub fn current_round(&self) -> Option<(u64, u32, u64)> {
        let now = self.snapshot()?;
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
        self.snapshot().is_some_and(|now| now.round == round && now.stage == Stage::Sent)
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
        reap(&mut self.child)?;
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
        let _ = reap(&mut self.child);
    }
}

/// Waits for the end of a process that was killed. A thread that has asked to be traced by this
/// process (`PTRACE_TRACEME`) must be waited for by its own number: until then the process does not
/// end.
fn reap(child: &mut Child) -> std::io::Result<ExitStatus> {
    let threads = format!("/proc/{}/task", child.id());
    loop {
        match child.try_wait()? {
            // A stop of a traced process is no end.
            Some(status) if status.stopped_signal().is_none() => return Ok(status),
            _ => {}
        }
        let tasks = std::fs::read_dir(&threads).into_iter().flatten().flatten();
        let numbers = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
        for thread in numbers.filter(|thread| *thread != child.id() as i32) {
            // Of a thread that this process does not trace it is an error that changes nothing.
            let _ = waitpid(Pid::from_raw(thread), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
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
