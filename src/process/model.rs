//! Programs of users' models: how one is built and started, and asked (`serve` answers).

use std::fmt::{self, Debug, Formatter};
use std::hash::Hash;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value as Json};

use super::session::{Begun, Session, Spoken};
use crate::core::history::{Entry, History, NEVER, Operation, OperationId, Thread};
use crate::core::interner::Interner;
use crate::core::journal::Journal;
use crate::core::operation::{Op, Status};
use crate::core::own;
use crate::core::recorder::Answered;
use crate::exchange::calls;
use crate::model::program::{Before, Calls, Judged, Program, Running, THREAD, WIREDTIGER, Within};
use crate::model::wiredtiger::WiredTiger;
use crate::model::{Model, OtherType, Specified};
use crate::serve::{Asked, Described, Question, Reply, Told, locked, serve_as};
use crate::tla::covering::Covered;

/// The command by which interlap's own program answers for a model.
pub const SERVE: &str = "serve-model";
/// Bytes of the stack of the thread that does so: operators may call themselves often.
const STACK: usize = 1 << 28;

/// The variable of the environment by which it counts what steps go through.
const COVERS: &str = "INTERLAP_COVERS";
static IS_COVERING: AtomicBool = AtomicBool::new(false);

/// Programs that are started from now on count what the steps of specifications go through.
pub fn count_what_steps_go_through() {
    IS_COVERING.store(true, Ordering::Relaxed);
}

/// Builds the program that a model names, if it is the folder of a crate, and starts it.
///
/// # Errors
/// If it cannot be built, or does not begin to talk.
pub fn start(program: &'static Program) -> Result<()> {
    if program.running().is_some() {
        return Ok(());
    }
    let path = Path::new(program.path());
    if path.is_dir() && !program.is_bundled() {
        build(path)?;
    }
    let is_one = program.is_specification();
    let specified = is_one.then(|| Specified::load(path, program.settings())).transpose()?;
    let failed = Arc::default();
    let sessions = Mutex::new(vec![Session::start(command(program)?, program.path(), &failed)?]);
    let covered = Mutex::default();
    program.runs_as(Arc::new(Served { program, specified, sessions, failed, covered }));
    Ok(())
}

/// Answers for a specification, or a model of interlap's own, in a process of its own.
pub fn serve_model(path: &Path, settings: &str) -> ExitCode {
    if path == Path::new(WIREDTIGER) {
        return serve_as(WIREDTIGER, true, WiredTiger, || None);
    }
    let (path, settings) = (path.to_path_buf(), settings.to_string());
    let load = move || match std::env::var_os(COVERS) {
        Some(_) => Specified::load(&path, &settings)?.covering(),
        None => Specified::load(&path, &settings),
    };
    let answer = move || match load() {
        Ok(model) => {
            let (name, covered) = (model.name().to_string(), model.covered());
            serve_as(&name, model.asks_for_threads(), model, covered)
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
    if path.is_dir() && !of.is_own() {
        return Ok(cargo(&["run", "--quiet"], path));
    }
    if !of.is_own() {
        return Ok(Command::new(path));
    }
    let own = std::env::current_exe().context("cannot find this program's path")?;
    let mut command = Command::new(own);
    command.arg(SERVE).arg(path).arg(of.settings());
    if IS_COVERING.load(Ordering::Relaxed) {
        command.env(COVERS, "1");
    }
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
    /// The same specification, if it is one.
    specified: Option<Specified>,
    sessions: Mutex<Vec<Arc<Session>>>,
    failed: Arc<OnceLock<String>>,
    /// What the steps of processes went through that were replaced.
    covered: Mutex<Covered>,
}

/// A key, in the model's words.
#[derive(PartialEq, Eq, Hash)]
struct Key(u64, String);

impl Debug for Key {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.1)
    }
}

/// The model of a process. Once that fails, it explains nothing.
#[derive(Clone)]
struct Remote(Arc<Begun>);

impl Running for Served {
    fn own(&self, calls: &Calls) -> Result<History, String> {
        let made = calls.operations().map(|(id, timed)| {
            let end = (timed.end != NEVER).then_some(timed.end);
            Ok((
                timed.operation.read(),
                Boxed { client: calls.client(id), start: timed.start, end },
            ))
        });
        let mut journal = Journal::default();
        (journal.drained, journal.annotations) = (calls.drained, calls.annotations.clone());
        self.of_calls(made, journal)
    }

    fn own_history(&self, history: &History, strings: &Interner) -> Result<History, String> {
        let marks = self.program.is_specification();
        let made = history.ids().filter(|id| !history.is_spurious(*id)).map(|id| {
            let made = calls::of_history(history, id, strings, marks);
            let made = made.map_err(|_| "an operation has no values of its types")?;
            let Operation { start, end, .. } = *history.operation(id);
            let end = made.answer.is_some().then_some(end);
            Ok((made, Boxed { client: id.thread, start, end }))
        });
        let mut journal = Journal::default();
        journal.drained = history.drained;
        let mut own = self.of_calls(made, journal)?;
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

    fn judge(&self, history: &History, within: &Within) -> Option<Judged> {
        let (begun, history) = told(history)?;
        let question = Question::Judge { history, bounds: within.bounds.clone() };
        match begun.ask(&question, within.goes_on)? {
            Reply::Judged(judged) => Some(judged),
            _ => None,
        }
    }

    fn before(&self, history: &History, time: u64, within: &Within) -> Option<Before> {
        let (begun, history) = told(history)?;
        let question = Question::Before { time, history, bounds: within.bounds.clone() };
        match begun.ask(&question, within.goes_on)? {
            Reply::Before(before) => Some(before),
            _ => None,
        }
    }

    fn fit(&self, operations: &[Op]) -> Result<Vec<OtherType>, String> {
        self.specified.as_ref().map_or(Ok(Vec::new()), |of| of.fit(operations))
    }

    fn covered(&self) -> Option<Covered> {
        if !IS_COVERING.load(Ordering::Relaxed) {
            return None;
        }
        let mut all = locked(&self.covered).clone();
        locked(&self.sessions).iter().filter_map(|of| of.covered()).for_each(|of| all.join(of));
        (!all.parts.is_empty()).then_some(all)
    }

    fn failure(&self) -> Option<String> {
        self.failed.get().cloned()
    }
}

/// Whose a call is, and when it was.
struct Boxed {
    client: u32,
    start: u64,
    end: Option<u64>,
}

impl Served {
    /// Adds calls to a journal, as the model knows them. Of what they are in JSON, little is held
    /// at once.
    fn of_calls(
        &self,
        calls: impl Iterator<Item = Result<(Answered<Json, Json>, Boxed), String>>,
        mut journal: Journal<Spoken>,
    ) -> Result<History, String> {
        let session = self.session().map_err(|error| format!("{error:#}"))?;
        let (mut boxes, mut failed) = (Vec::new(), Ok(()));
        let asked = calls.map_while(|made| {
            let (Answered { mut call, answer }, of) = made.map_err(|why| failed = Err(why)).ok()?;
            if session.threads {
                call = with_thread(call, of.client);
            }
            boxes.push(of);
            Some(match answer {
                Some(answer) => Asked::Answered(call, answer),
                None => Asked::Open(call),
            })
        });
        let spoken = session.operations(asked);
        failed?;
        let (mut operations, mut numbers) = (Vec::new(), Vec::new());
        for (spoken, Boxed { client, start, end }) in spoken.into_iter().zip(boxes) {
            operations.push(spoken.whole.first);
            numbers.extend(spoken.steps());
            let pushed = journal.push(client, spoken, start, end);
            pushed.map_err(|misfit| misfit.to_string())?;
        }
        let (name, operations) = (session.name.clone(), operations.into());
        let begun = Arc::new(Begun { session, operations, first: OnceLock::new() });
        let mut history = own::named(&journal, Remote(begun.clone()), name);
        let own = history.own.as_mut().and_then(Arc::get_mut).expect("nobody else has it");
        own.process = Some((begun, numbers));
        Ok(history)
    }

    /// A process that nobody asks now, or any if there are as many as processors.
    fn session(&self) -> Result<Arc<Session>> {
        let start = || Session::start(command(self.program)?, self.program.path(), &self.failed);
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
            if IS_COVERING.load(Ordering::Relaxed)
                && let Some(covered) = sessions[at].covered()
            {
                locked(&self.covered).join(covered);
            }
            sessions[at] = start()?;
        }
        Ok(sessions[at].clone())
    }
}

/// A history as its process knows it.
fn told(history: &History) -> Option<(Arc<Begun>, Told)> {
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
    let state = begun.first();
    Some((begun, Told { state, operations, drained: history.drained }))
}

/// The call with the number of its client.
fn with_thread(call: Json, client: u32) -> Json {
    let mut fields = match call {
        Json::Object(fields) => fields,
        Json::String(name) => Map::from_iter([(name, Json::Null)]),
        other => return other,
    };
    fields.insert(THREAD.to_string(), client.into());
    Json::Object(fields)
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
