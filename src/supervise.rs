//! A harness process under supervision. A job comes in; rounds, and what became of the process, go
//! out as events. Whatever the target does to the harness (crash, exit, hang, fork, print) ends
//! here as an event. Does not judge what was recorded.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::fault::{Fault, FaultKind};
use crate::plan::{Job, OWN_FAILURE};
use crate::trace::area::{Snapshot, Stage};
use crate::trace::frame::{Bye, Frame, FrameReader, Hello};
use crate::trace::rounds::{Assembler, Round, RoundError};

/// Operations after which rounds are handed on even if more are waiting in the pipe.
const BATCH_OPERATIONS: usize = 16_384;
/// Last bytes of the target's output that are kept.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// How often the process is looked after when it sends nothing.
const LOOK: Duration = Duration::from_millis(50);
/// How long a process may take to load its target and say hello.
const HELLO_MAX: Duration = Duration::from_secs(60);

/// What a harness process has to say.
pub enum Event {
    /// The target is loaded.
    Hello(Box<Hello>),
    Rounds(Vec<Round>),
    /// The adapter broke its contract, or cannot go on: its message.
    Problem(String),
    /// The process ended by its own will.
    Bye(Bye),
    /// The target ended the process, or hangs.
    Fault(Box<Fault>),
    /// Nothing yet; look again.
    Quiet,
}

/// What the reading thread found in the pipe.
enum Piped {
    Hello(Box<Hello>),
    Rounds(Vec<Round>),
    Problem(String),
    Bye(Bye),
    Broken(RoundError),
}

/// A running harness. Killed, with every process the target left behind, when dropped.
pub struct Harness {
    child: Child,
    piped: Receiver<Piped>,
    output: Arc<Mutex<VecDeque<u8>>>,
    area: Arc<OnceLock<File>>,
    hang_max: Duration,
    progress: (u64, Instant),
    hello: Option<Box<Hello>>,
    library: PathBuf,
    round_first: u64,
}

impl Harness {
    /// Starts a harness. The calling thread must live as long as the harness is wanted: the
    /// harness dies with it.
    pub fn start(
        program: &Path,
        job: &Job,
        job_file: &Path,
        hang_max: Duration,
    ) -> Result<Harness> {
        std::fs::write(job_file, serde_json::to_vec(job)?)
            .with_context(|| format!("cannot write {}", job_file.display()))?;
        let mut child = Command::new(program)
            .arg(job_file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let (sender, piped) = sync_channel(1);
        let area = Arc::new(OnceLock::new());
        let (area_of_reader, pid) = (Arc::clone(&area), child.id());
        let pipes = Pipes {
            frames: child.stdout.take().expect("it is piped"),
            go_ahead: child.stdin.take(),
        };
        std::thread::spawn(move || read_frames(pipes, pid, &area_of_reader, &sender));
        let output = Arc::new(Mutex::new(VecDeque::new()));
        let (kept, stderr) = (Arc::clone(&output), child.stderr.take().expect("it is piped"));
        std::thread::spawn(move || keep_output(stderr, &kept));
        let progress = (0, Instant::now());
        let (library, round_first) = (job.library.clone(), job.round_first);
        let hello = None;
        Ok(Harness { child, piped, output, area, hang_max, progress, hello, library, round_first })
    }

    /// The next event; [`Event::Quiet`] after a moment without any.
    pub fn next_event(&mut self) -> Result<Event> {
        match self.piped.recv_timeout(LOOK) {
            Ok(Piped::Hello(hello)) => {
                self.hello = Some(hello.clone());
                Ok(Event::Hello(hello))
            }
            Ok(Piped::Rounds(rounds)) => {
                self.progress.1 = Instant::now();
                Ok(Event::Rounds(rounds))
            }
            Ok(Piped::Problem(text)) => Ok(Event::Problem(text)),
            Ok(Piped::Bye(bye)) => Ok(Event::Bye(bye)),
            Ok(Piped::Broken(RoundError::Frame(_))) => Ok(self.ended()?),
            Ok(Piped::Broken(RoundError::Damaged(what))) => Ok(Event::Problem(format!(
                "the harness sent a damaged trace ({what}); the target may have overwritten memory"
            ))),
            Ok(Piped::Broken(error @ RoundError::Adapter { .. })) => {
                Ok(Event::Problem(error.to_string()))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(self.ended()?),
            Err(RecvTimeoutError::Timeout) => self.look(),
        }
    }

    /// The last of what the target printed.
    pub fn output(&self) -> String {
        let bytes = self.output.lock().expect("no thread panics holding it");
        String::from_utf8_lossy(&bytes.iter().copied().collect::<Vec<u8>>()).into_owned()
    }

    /// No frame has come for a moment: is the process alive and getting on?
    fn look(&mut self) -> Result<Event> {
        if self.child.try_wait()?.is_some() {
            // A process that the target forked may still hold the pipe open.
            self.kill_group();
            return Ok(Event::Quiet);
        }
        let snapshot = self.area.get().and_then(|area| Snapshot::read(area).ok());
        let (progress, waits_for_us) = match &snapshot {
            Some(snapshot) => (snapshot.progress(), snapshot.stage == Stage::Sent),
            None => (0, false),
        };
        if progress != self.progress.0 || waits_for_us {
            self.progress = (progress, Instant::now());
        }
        let patience = if snapshot.is_some() { self.hang_max } else { HELLO_MAX };
        if self.progress.1.elapsed() < patience {
            return Ok(Event::Quiet);
        }
        let threads = thread_states(self.child.id());
        self.kill_group();
        self.child.wait()?;
        let seconds = patience.as_secs();
        let kind = FaultKind::Hang { seconds, threads };
        Ok(Event::Fault(Box::new(self.fault(kind))))
    }

    /// The pipe is closed without a farewell: the process has died or is about to.
    fn ended(&mut self) -> Result<Event> {
        let patience = Instant::now();
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if patience.elapsed() > Duration::from_secs(2) => {
                    self.kill_group();
                    break self.child.wait()?;
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        self.kill_group();
        let kind = FaultKind::of_status(status.signal(), status.code());
        if status_is_our_own(status, &self.output()) {
            anyhow::bail!("the harness failed:\n{}", self.output().trim_end());
        }
        Ok(Event::Fault(Box::new(self.fault(kind))))
    }

    /// Everything that is known about the process's end.
    fn fault(&self, kind: FaultKind) -> Fault {
        let area = self.area.get();
        let snapshot = area.and_then(|area| Snapshot::read(area).ok());
        let code = self.hello.as_ref().and_then(|hello| hello.code);
        let mut fault = Fault::new(kind, self.output(), self.round_first);
        if let (Some(area), Some(snapshot)) = (area, snapshot) {
            fault.add_snapshot(area, &snapshot);
            fault.locate(&self.library, code);
        }
        fault
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

/// An error of the harness itself, not of the target: exit status 2 or a panic, said on stderr.
fn status_is_our_own(status: ExitStatus, output: &str) -> bool {
    let said = output.lines().any(|line| line.starts_with(OWN_FAILURE));
    said && (status.code() == Some(2) || status.signal() == Some(libc::SIGABRT))
}

/// The reading thread's ends of the pipes. Closing `go_ahead` lets the harness begin: it waits
/// until its record area is held open here, so that no early death takes the records along.
struct Pipes {
    frames: ChildStdout,
    go_ahead: Option<ChildStdin>,
}

fn read_frames(mut pipes: Pipes, pid: u32, area: &OnceLock<File>, sender: &SyncSender<Piped>) {
    let mut frames = FrameReader::new(pipes.frames);
    let mut assembler = Assembler::default();
    let mut rounds = Vec::new();
    let mut operations = 0;
    loop {
        let piped = match frames.next_frame() {
            Ok(Some(Frame::Hello(hello))) => {
                open_area(pid, &hello, area);
                drop(pipes.go_ahead.take());
                Piped::Hello(hello)
            }
            Ok(Some(Frame::Problem(text))) => Piped::Problem(text),
            Ok(Some(Frame::Bye(bye))) => Piped::Bye(bye),
            Ok(Some(frame)) => match assembler.feed(frame) {
                Ok(round) => {
                    operations += round.as_ref().map_or(0, |round| round.history.len());
                    rounds.extend(round);
                    let more = frames.has_buffered() || assembler.is_inside_a_round();
                    if rounds.is_empty() || (more && operations < BATCH_OPERATIONS) {
                        continue;
                    }
                    operations = 0;
                    Piped::Rounds(std::mem::take(&mut rounds))
                }
                Err(error) => Piped::Broken(error),
            },
            Ok(None) => break,
            Err(error) => Piped::Broken(error.into()),
        };
        let last = matches!(piped, Piped::Problem(_) | Piped::Bye(_) | Piped::Broken(_));
        if !rounds.is_empty() && sender.send(Piped::Rounds(std::mem::take(&mut rounds))).is_err() {
            return;
        }
        if sender.send(piped).is_err() || last {
            return;
        }
    }
    let _ = sender.send(Piped::Rounds(rounds));
}

/// The record area is a memory file of the harness; held open here it outlives the harness.
fn open_area(pid: u32, hello: &Hello, area: &OnceLock<File>) {
    let path = hello.area_fd.map(|fd| format!("/proc/{pid}/fd/{fd}"));
    if let Some(file) = path.and_then(|path| File::open(path).ok()) {
        let _ = area.set(file);
    }
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

/// How many of a process's threads run and how many wait, in words.
fn thread_states(pid: u32) -> String {
    let (mut running, mut waiting) = (0, 0);
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // The state follows the command's name, which is in parentheses and may hold anything.
        match stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next()) {
            Some('R') => running += 1,
            Some(_) => waiting += 1,
            None => {}
        }
    }
    format!("{running} of its threads were running, {waiting} waiting")
}
