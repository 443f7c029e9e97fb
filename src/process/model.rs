//! Programs of users' models: how one is built and started, and asked (`serve` answers).
//! What it said is kept, so that of equal operations and states it is asked once.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::hash::Hash;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::core::history::{Entry, History, NEVER, Operation, OperationId, Thread};
use crate::core::interner::Interner;
use crate::core::journal::Journal;
use crate::core::operation::{Op, Status};
use crate::core::own;
use crate::core::recorder::Answered;
use crate::exchange::calls;
use crate::model::program::{Bounds, Calls, GaveUp, Judged, Program, Running};
use crate::model::{Model, Specified};
use crate::serve::{Asked, Described, Judge, Question, Reply, SOCKET, VERSION, serve_as};

/// The command by which interlap's own program answers for a specification.
pub const SERVE: &str = "serve-specification";
/// Bytes of the stack of the thread that does so: operators may call themselves often.
const STACK: usize = 1 << 28;

/// How long a program may take to begin, and for an answer.
const BEGIN_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long a program that no longer talks may take to end.
const END_MAX: Duration = Duration::from_secs(1);
/// So many operations are asked about at once.
const ASKED_MAX: usize = 256;
/// How long a program may first look at a history, in milliseconds.
const SLICE_FIRST: u64 = 4_000;
/// How often it is asked whether to wait longer.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Operations, and steps from states, that are kept. A process that knows more is replaced by a new
/// one, so that nothing grows without end.
const KEPT_MAX: usize = 1 << 20;

/// Builds the program that a model names, if it is the folder of a crate, and starts it.
///
/// # Errors
/// If it cannot be built, or does not begin to talk.
pub fn start(program: &'static Program) -> Result<()> {
    if program.running().is_some() {
        return Ok(());
    }
    let path = Path::new(program.path());
    if path.is_dir() {
        build(path)?;
    }
    if program.is_specification() {
        Specified::load(path, program.settings())?;
    }
    let failed = Arc::default();
    let sessions = Mutex::new(vec![Session::start(program, &failed)?]);
    program.runs_as(Arc::new(Served { program, sessions, failed }));
    Ok(())
}

/// Answers for a specification, in a process of its own.
pub fn serve_specification(path: &Path, settings: &str) -> ExitCode {
    let (path, settings) = (path.to_path_buf(), settings.to_string());
    let answer = move || match Specified::load(&path, &settings) {
        Ok(model) => {
            let name = model.name().to_string();
            serve_as(&name, model)
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(answer);
    thread.map_or(None, |thread| thread.join().ok()).unwrap_or(ExitCode::from(2))
}

/// Not optimized unless the crate says so: to optimize interlap's library takes a minute, and what
/// a model says is asked once.
fn cargo(command: &[&str], folder: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(command).arg("--manifest-path").arg(folder.join("Cargo.toml"));
    cargo
}

/// What answers for a model.
fn command(of: &Program) -> Result<Command> {
    let path = Path::new(of.path());
    if path.is_dir() {
        return Ok(cargo(&["run", "--quiet"], path));
    }
    if !of.is_specification() {
        return Ok(Command::new(path));
    }
    let own = std::env::current_exe().context("cannot find this program's path")?;
    let mut command = Command::new(own);
    command.arg(SERVE).arg(path).arg(of.settings());
    Ok(command)
}

fn build(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let mut cargo = cargo(&["build"], folder);
    let status = cargo.stdout(Stdio::null()).status().with_context(|| {
        format!("cannot run cargo, which builds the model in {shown}: https://rustup.rs has it")
    })?;
    if !status.success() {
        bail!("the model in {shown} does not compile: `cargo build` ended with {status}");
    }
    Ok(())
}

/// A program that runs, as often as it is asked at once.
struct Served {
    program: &'static Program,
    sessions: Mutex<Vec<Arc<Session>>>,
    failed: Arc<OnceLock<String>>,
}

/// A process of the program.
struct Session {
    talk: Mutex<Talk>,
    /// The type of the model.
    name: String,
    /// Why one of the program's processes answers no more.
    failed: Arc<OnceLock<String>>,
}

/// What is said, and was.
struct Talk {
    process: Process,
    stream: BufReader<UnixStream>,
    /// By the question.
    operations: HashMap<Vec<u8>, Arc<Described>>,
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
struct Spoken {
    whole: Arc<Described>,
    step: Option<u32>,
}

impl Spoken {
    /// The numbers of the operation's steps.
    fn steps(&self) -> std::ops::Range<u32> {
        self.whole.first..self.whole.first + self.whole.steps
    }

    /// The number of the step, and its place among those of the operation.
    fn step(&self) -> (u32, usize) {
        let step = self.step.unwrap_or(self.whole.first);
        (step, (step - self.whole.first) as usize)
    }
}

impl Debug for Spoken {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.whole.text)
    }
}

/// A key, in the model's words.
#[derive(PartialEq, Eq, Hash)]
struct Key(u64, String);

impl Debug for Key {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.1)
    }
}

/// A history that a process knows.
struct Begun {
    session: Arc<Session>,
    /// The first steps of its operations.
    operations: Box<[u32]>,
    /// The state before it. It is that before each part of it, too.
    first: OnceLock<u32>,
}

impl Begun {
    fn first(&self) -> u32 {
        let ask = || match self.session.asked(Question::Init(self.operations.to_vec())) {
            Some(Reply::States(states)) => states.first().copied().unwrap_or(0),
            _ => 0,
        };
        *self.first.get_or_init(ask)
    }

    /// What the model makes of a whole history. It is given ever more time, so that a step that
    /// does not come back is told from a search that takes long.
    fn judge(
        &self,
        operations: Vec<Judge>,
        drained: bool,
        bounds: &Bounds,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Judged> {
        let (session, state) = (&self.session, self.first());
        let mut left = bounds.milliseconds;
        let mut slice = SLICE_FIRST;
        loop {
            let most = left.map_or(slice, |left| left.min(slice));
            let bounds = Bounds { milliseconds: Some(most), ..bounds.clone() };
            let question =
                Question::Judge { state, operations: operations.clone(), drained, bounds };
            let longest = Duration::from_millis(most) + ANSWER_MAX;
            let waits = |waited: Duration| goes_on() && waited < longest;
            let reply =
                session.ask_while(&mut locked(&session.talk), &line_of(&question), "", &waits)?;
            let Reply::Judged(judged) = reply else { return None };
            left = left.map(|left| left - most);
            if judged != Judged::GaveUp(GaveUp::Time) || left == Some(0) {
                return Some(judged);
            }
            slice *= 2;
        }
    }
}

/// The model of a process. Once that fails, it explains nothing.
#[derive(Clone)]
struct Remote(Arc<Begun>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running for Served {
    fn own(&self, calls: &Calls) -> Result<History, String> {
        let session = self.session().map_err(|error| format!("{error:#}"))?;
        let (mut journal, mut numbers) = (Journal::default(), Vec::new());
        let asked = calls.operations().map(|(_, timed)| {
            let Answered { call, answer } = timed.operation.clone();
            match answer {
                Some(answer) => Asked::Answered(call, answer),
                None => Asked::Open(call),
            }
        });
        let mut spoken = session.operations(asked.collect()).into_iter();
        let mut operations = Vec::new();
        (journal.drained, journal.annotations) = (calls.drained, calls.annotations.clone());
        for (id, timed) in calls.operations() {
            let end = (timed.end != NEVER).then_some(timed.end);
            let spoken = spoken.next().expect("as many");
            operations.push(spoken.whole.first);
            numbers.extend(spoken.steps());
            let pushed = journal.push(calls.client(id), spoken, timed.start, end);
            pushed.expect("as it was");
        }
        let (name, operations) = (session.name.clone(), operations.into());
        let begun = Arc::new(Begun { session, operations, first: OnceLock::new() });
        let mut history = own::named(&journal, Remote(begun.clone()), name);
        let own = history.own.as_mut().and_then(Arc::get_mut).expect("nobody else has it");
        own.process = Some((begun, numbers));
        Ok(history)
    }

    fn own_history(&self, history: &History, strings: &Interner) -> Result<History, String> {
        let no_value = |_| "an operation has no values of its types".to_string();
        let mut own = Calls::default();
        own.drained = history.drained;
        for id in history.ids().filter(|id| !history.is_spurious(*id)) {
            let made = calls::of_history(history, id, strings).map_err(no_value)?;
            let Operation { start, end, .. } = *history.operation(id);
            let end = made.answer.is_some().then_some(end);
            let pushed = own.push(id.thread, made, start, end);
            pushed.map_err(|misfit| misfit.to_string())?;
        }
        let mut own = self.own(&own)?;
        // Each is where it was. One that did nothing, as it may at any time, has no step.
        let made = std::mem::take(&mut own.threads);
        let mut made = made.iter().flat_map(Thread::entries);
        for (thread, of) in (0..).zip(&history.threads) {
            let mut whole = Thread::new(of.client);
            for (index, entry) in (0..).zip(of.entries()) {
                let op = Op::Described;
                let none = Entry { op, status: Status::Ok, args: &[], results: &[], ..entry };
                let is_spurious = history.is_spurious(OperationId { thread, index });
                let entry = if is_spurious { none } else { made.next().expect("as many") };
                whole.push(entry).expect("as it was");
            }
            own.threads.push(whole);
        }
        Ok(own)
    }

    fn judge(
        &self,
        history: &History,
        bounds: &Bounds,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Judged> {
        let own = history.own.as_ref()?;
        let operation = |id: OperationId| {
            let Operation { start, end, .. } = *history.operation(id);
            let step = own.asked(*history.args(id).first()?)?;
            Some((id.thread, id.index, step, start, (end != NEVER).then_some(end)))
        };
        let has_steps = |id: &OperationId| !history.args(*id).is_empty();
        let operations = history.ids().filter(has_steps).map(operation);
        let operations = operations.collect::<Option<Vec<_>>>()?;
        let begun = own.process.as_ref()?.0.clone().downcast::<Begun>().ok()?;
        begun.judge(operations, history.drained, bounds, goes_on)
    }

    fn failure(&self) -> Option<String> {
        self.failed.get().cloned()
    }
}

impl Served {
    /// A process that nobody asks now, or any if there are as many as processors.
    fn session(&self) -> Result<Arc<Session>> {
        let start = || Session::start(self.program, &self.failed);
        let mut sessions = locked(&self.sessions);
        let free = sessions.iter().position(|session| session.talk.try_lock().is_ok());
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        let at = match free {
            None if sessions.len() < most => {
                sessions.push(start()?);
                sessions.len() - 1
            }
            free => free.unwrap_or(0),
        };
        // One that knows too much goes when the last of its histories does.
        if locked(&sessions[at].talk).is_full() {
            sessions[at] = start()?;
        }
        Ok(sessions[at].clone())
    }
}

impl Session {
    fn start(program: &Program, failed: &Arc<OnceLock<String>>) -> Result<Arc<Session>> {
        let shown = program.path();
        let folder = tempfile::tempdir().context("cannot make a folder for a socket")?;
        let socket = folder.path().join("model");
        let listener = UnixListener::bind(&socket).context("cannot make a socket")?;
        let mut command = command(program)?;
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
            operations: HashMap::new(),
            steps: Vec::new(),
            next: FxHashMap::default(),
        };
        match talk.hear(&|waited| waited < ANSWER_MAX).map_err(anyhow::Error::msg)? {
            Reply::Hello { version: VERSION, model } => Ok(Arc::new(Session {
                talk: Mutex::new(talk),
                name: model,
                failed: failed.clone(),
            })),
            Reply::Hello { version, .. } => bail!(
                "the model {shown} is built with a library of interlap that speaks version \
                 {version}, and this is {VERSION}: build it with the same version"
            ),
            other => bail!("the model {shown} said {other:?} first"),
        }
    }

    /// The operations as the model knows them. Where it knows none such, the session fails.
    fn operations(&self, asked: Vec<Asked>) -> Vec<Spoken> {
        let mut talk = locked(&self.talk);
        let names: Vec<Vec<u8>> = asked.iter().map(line_of).collect();
        let (mut unknown, mut new) = (Vec::new(), HashSet::new());
        for (name, asked) in names.iter().zip(asked) {
            if !talk.operations.contains_key(name) && new.insert(name) {
                unknown.push((name, asked));
            }
        }
        let mut unknown = unknown.into_iter().peekable();
        while unknown.peek().is_some() {
            let (named, some): (Vec<_>, Vec<_>) = unknown.by_ref().take(ASKED_MAX).unzip();
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
        let known = |name: &Vec<u8>| Spoken { whole: talk.operations[name].clone(), step: None };
        names.iter().map(known).collect()
    }

    /// The states after a step.
    fn next(&self, state: u32, step: u32) -> Arc<[u32]> {
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

    fn asked(&self, question: Question) -> Option<Reply> {
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
    fn is_full(&self) -> bool {
        self.next.len() + self.steps.len() > KEPT_MAX
    }

    fn hear(&mut self, waits: &dyn Fn(Duration) -> bool) -> Result<Reply, String> {
        let (begun, mut line) = (Instant::now(), Vec::new());
        loop {
            let read = self.stream.read_until(b'\n', &mut line);
            let is_late = |error: &std::io::Error| {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            };
            return match read {
                Ok(0) => Err(self.ended(&"it closed its socket")),
                Ok(_) => serde_json::from_slice(&line).map_err(|error| self.ended(&error)),
                // What has come of the line is kept.
                Err(error) if is_late(&error) && waits(begun.elapsed()) => continue,
                Err(error) if is_late(&error) => {
                    Err(format!("the model gave no answer for {} s", begun.elapsed().as_secs()))
                }
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

impl Model<Spoken> for Remote {
    type State = u32;

    fn init(&self) -> u32 {
        self.0.first()
    }

    fn step(&self, state: &u32, operation: &Spoken, next: &mut Vec<u32>) {
        next.extend_from_slice(&self.0.session.next(*state, operation.step().0));
    }

    fn is_empty(&self, state: &u32) -> bool {
        matches!(self.0.session.asked(Question::IsEmpty(*state)), Some(Reply::Is(true)))
    }

    fn part(&self, operation: &Spoken) -> Option<impl Eq + Hash + Debug> {
        operation.whole.part.as_ref().map(|(hash, text)| Key(*hash, text.clone()))
    }

    fn repeats(&self, step: &Spoken) -> bool {
        step.whole.repeats.get(step.step().1).copied().unwrap_or(false)
    }

    fn reads(&self, operation: &Spoken) -> bool {
        operation.whole.reads.get(operation.step().1).copied().unwrap_or(false)
    }

    fn split(&self, operation: &Spoken, steps: &mut Vec<Spoken>) {
        let Described { first, steps: count, .. } = *operation.whole;
        if count > 1 {
            let step = |number| Spoken { step: Some(number), ..operation.clone() };
            steps.extend((first..first + count).map(step));
        }
    }

    fn right_answer(&self, state: &u32, operation: &Spoken) -> Option<String> {
        let (state, step) = (*state, operation.step().0);
        match self.0.session.asked(Question::RightAnswer { state, step }) {
            Some(Reply::Text(text)) => text,
            _ => None,
        }
    }

    fn describe(&self, operation: &Spoken) -> String {
        operation.whole.text.clone()
    }

    fn describe_state(&self, state: &u32) -> String {
        match self.0.session.asked(Question::Describe(*state)) {
            Some(Reply::Text(Some(text))) => text,
            _ => String::new(),
        }
    }
}
