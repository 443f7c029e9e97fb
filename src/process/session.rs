//! A process that has a user's model, and what was said to it: that is kept, so that of equal
//! operations and states it is asked once.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::serve::{Asked, Described, Question, Reply, SOCKET, VERSION, locked};
use crate::tla::covering::Covered;

/// How long a program may take to begin, and for an answer, or until it says that it goes on.
const BEGIN_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long a program that no longer talks may take to end.
const END_MAX: Duration = Duration::from_secs(1);
/// So many operations are asked about at once.
const ASKED_MAX: usize = 256;
/// How long it may take to find all states of a small specification.
const COVERED_MAX: Duration = Duration::from_secs(60);
/// How often it is asked whether to wait longer.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Operations, and steps from states, that are kept. A process that knows more is replaced by a new
/// one, so that nothing grows without end.
const KEPT_MAX: usize = 1 << 20;

/// A process of the program.
pub struct Session {
    pub talk: Mutex<Talk>,
    /// The type of the model.
    pub name: String,
    /// It asks for the clients of calls.
    pub threads: bool,
    /// Why one of the program's processes answers no more.
    failed: Arc<OnceLock<String>>,
}

/// What is said, and was.
pub struct Talk {
    process: Process,
    stream: BufReader<UnixStream>,
    /// By the question.
    operations: FxHashMap<Vec<u8>, Arc<Described>>,
    /// The operation of each step.
    steps: Vec<Arc<Described>>,
    next: FxHashMap<(u32, u32), Arc<[u32]>>,
}

/// Ends with this.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is only waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An operation, or one step of it.
#[derive(Clone)]
pub struct Spoken {
    pub whole: Arc<Described>,
    pub step: Option<u32>,
}

impl Spoken {
    /// The numbers of the operation's steps.
    pub fn steps(&self) -> std::ops::Range<u32> {
        self.whole.first..self.whole.first + self.whole.steps
    }

    /// The number of the step, and its place among those of the operation.
    pub fn step(&self) -> (u32, usize) {
        let step = self.step.unwrap_or(self.whole.first);
        (step, (step - self.whole.first) as usize)
    }
}

impl Debug for Spoken {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.whole.text)
    }
}

/// A history that a process knows.
pub struct Begun {
    pub session: Arc<Session>,
    /// The first steps of its operations.
    pub operations: Box<[u32]>,
    /// The state before it. It is that before each part of it, too.
    pub first: OnceLock<u32>,
}

impl Begun {
    pub fn first(&self) -> u32 {
        let ask = || match self.session.asked(Question::Init(self.operations.to_vec())) {
            Some(Reply::States(states)) => states.first().copied().unwrap_or(0),
            _ => 0,
        };
        *self.first.get_or_init(ask)
    }

    /// The reply to a question about a whole history, which may take long.
    pub fn ask(&self, question: &Question, goes_on: &dyn Fn() -> bool) -> Option<Reply> {
        let waits = |waited: Duration| goes_on() && waited < ANSWER_MAX;
        let session = &self.session;
        session.ask_while(&mut locked(&session.talk), &line_of(question), "", &waits)
    }
}

impl Session {
    /// Starts a process: `shown` is the model as people know it.
    ///
    /// # Errors
    /// If it does not begin to talk.
    pub fn start(
        mut command: Command,
        shown: &str,
        failed: &Arc<OnceLock<String>>,
    ) -> Result<Arc<Session>> {
        let folder = tempfile::tempdir().context("cannot make a folder for a socket")?;
        let socket = folder.path().join("model");
        let listener = UnixListener::bind(&socket).context("cannot make a socket")?;
        // Standard output is interlap's own.
        let output = std::io::stderr().as_fd().try_clone_to_owned()?;
        command.env(SOCKET, &socket).stdin(Stdio::null()).stdout(output);
        // Ctrl-C ends a run, which then still asks.
        command.process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start the model {shown}"))?;
        let mut process = Process(child);
        let stream = accept(&listener, &mut process.0)
            .with_context(|| format!("the model {shown} must call interlap::serve::serve"))?;
        stream.set_read_timeout(Some(LOOK_EVERY))?;
        let mut talk = Talk {
            process,
            stream: BufReader::new(stream),
            operations: FxHashMap::default(),
            steps: Vec::new(),
            next: FxHashMap::default(),
        };
        match talk.hear(&|waited| waited < ANSWER_MAX).map_err(anyhow::Error::msg)? {
            Reply::Hello { version: VERSION, model, threads } => Ok(Arc::new(Session {
                talk: Mutex::new(talk),
                name: model,
                threads,
                failed: failed.clone(),
            })),
            Reply::Hello { version, .. } => bail!(
                "the model {shown} is built with a library of interlap that speaks version \
                 {version}, and this is {VERSION}: build it with the same version"
            ),
            other => bail!("the model {shown} said {other:?} first"),
        }
    }

    /// What its steps went through, where that is counted.
    pub fn covered(&self) -> Option<Covered> {
        let waits = |waited: Duration| waited < COVERED_MAX;
        let question = line_of(&Question::Covered);
        match self.ask_while(&mut locked(&self.talk), &question, "", &waits) {
            Some(Reply::Covered(covered)) => covered,
            _ => None,
        }
    }

    /// The operations as the model knows them. Where it knows none such, the session fails.
    pub fn operations(&self, asked: impl Iterator<Item = Asked>) -> Vec<Spoken> {
        let (mut talk, mut all) = (locked(&self.talk), Vec::new());
        let mut asked = asked.peekable();
        while asked.peek().is_some() {
            let some = asked.by_ref().take(ASKED_MAX).map(|asked| (line_of(&asked), asked));
            let (names, some): (Vec<_>, Vec<_>) = some.unzip();
            let mut new = HashSet::new();
            let unknown = names.iter().zip(some);
            let unknown = unknown
                .filter(|(name, _)| !talk.operations.contains_key(*name) && new.insert(*name));
            let (named, some): (Vec<_>, Vec<_>) = unknown.unzip();
            if !some.is_empty() {
                let told = match self.ask(&mut talk, &line_of(&Question::Operations(some)), "") {
                    Some(Reply::Operations(told)) if told.len() == named.len() => told,
                    _ => named.iter().map(|_| Described::unknown()).collect(),
                };
                for (name, told) in named.into_iter().zip(told) {
                    let told = Arc::new(told);
                    talk.steps.extend((0..told.steps).map(|_| told.clone()));
                    talk.operations.insert(name.clone(), told);
                }
            }
            let known = |name| Spoken { whole: Arc::clone(&talk.operations[name]), step: None };
            all.extend(names.iter().map(known));
        }
        all
    }

    /// The states after a step.
    pub fn next(&self, state: u32, step: u32) -> Arc<[u32]> {
        let mut talk = locked(&self.talk);
        if let Some(known) = talk.next.get(&(state, step)) {
            return known.clone();
        }
        let of = talk.steps.get(step as usize).map_or(String::new(), |of| of.text.clone());
        let line = line_of(&Question::Step { state, step });
        let states: Arc<[u32]> = match self.ask(&mut talk, &line, &of) {
            Some(Reply::States(states)) => states.into(),
            _ => return Arc::default(),
        };
        talk.next.insert((state, step), states.clone());
        states
    }

    pub fn asked(&self, question: Question) -> Option<Reply> {
        self.ask(&mut locked(&self.talk), &line_of(&question), "")
    }

    /// The reply, if the model has one; `of` is the operation that it is about.
    fn ask(&self, talk: &mut Talk, line: &[u8], of: &str) -> Option<Reply> {
        self.ask_while(talk, line, of, &|waited| waited < ANSWER_MAX)
    }

    /// The same; `waits` says whether to wait longer, after this time.
    fn ask_while(
        &self,
        talk: &mut Talk,
        line: &[u8],
        of: &str,
        waits: &dyn Fn(Duration) -> bool,
    ) -> Option<Reply> {
        if self.failed.get().is_some() {
            return None;
        }
        let said = talk.stream.get_ref().write_all(line).map_err(|error| talk.ended(&error));
        let why = match said.and_then(|()| talk.hear(waits)) {
            Ok(Reply::Failed(why)) => why,
            Ok(reply) => return Some(reply),
            Err(why) => why,
        };
        // It may be in an endless loop.
        let _ = talk.process.0.kill();
        let at = if of.is_empty() { String::new() } else { format!(" (asked about {of})") };
        let _ = self.failed.set(format!("{why}{at}"));
        None
    }
}

impl Talk {
    pub fn is_full(&self) -> bool {
        self.next.len() + self.steps.len() > KEPT_MAX
    }

    fn hear(&mut self, waits: &dyn Fn(Duration) -> bool) -> Result<Reply, String> {
        let (mut begun, mut line) = (Instant::now(), Vec::new());
        loop {
            let read = self.stream.read_until(b'\n', &mut line);
            let is_late = |error: &std::io::Error| {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            };
            return match read {
                Ok(0) => Err(self.ended(&"it closed its socket")),
                Ok(_) => match serde_json::from_slice(&line) {
                    Ok(Reply::GoesOn) => {
                        begun = Instant::now();
                        line.clear();
                        continue;
                    }
                    reply => reply.map_err(|error| self.ended(&error)),
                },
                // What has come of the line is kept.
                Err(error) if is_late(&error) && waits(begun.elapsed()) => continue,
                Err(error) if is_late(&error) => Err(match begun.elapsed() {
                    // Nothing else waits less.
                    waited if waited < ANSWER_MAX => "the check was stopped".to_string(),
                    waited => format!("the model gave no answer for {} s", waited.as_secs()),
                }),
                Err(error) => Err(self.ended(&error)),
            };
        }
    }

    /// That the process is gone.
    fn ended(&mut self, error: &dyn fmt::Display) -> String {
        let begun = Instant::now();
        while begun.elapsed() < END_MAX {
            if let Ok(Some(status)) = self.process.0.try_wait() {
                return format!("the program of the model ended ({status})");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        format!("the program of the model cannot be talked to ({error})")
    }
}

fn line_of(said: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(said).expect("it has no maps but of strings");
    line.push(b'\n');
    line
}

/// The connection that the process makes.
fn accept(listener: &UnixListener, process: &mut Child) -> Result<UnixStream> {
    listener.set_nonblocking(true)?;
    let begun = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = process.try_wait()? {
            bail!("it ended ({status})");
        }
        if begun.elapsed() > BEGIN_MAX {
            bail!("it did not connect within {} s", BEGIN_MAX.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
