//! The program of a model: what the `main` of a crate that is named by `--model-crate` calls.
//! It answers questions about operations and states over a socket, a line of JSON each, and knows
//! both by numbers.
//!
//! - `known`: A user's model of operations that are known by numbers, as a program is asked about
//!   them.
//! - `question`: What is asked of the program of a model, and what it answers: lines of JSON.
//! - `wanted`: Guesses which of several calls came first by their values alone, whatever the model:
//!   of two that are given a value, the one whose value another call has to do with earlier.
mod known;
mod question;
mod wanted;

use std::env;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::check::{
    Exhausted, Explanation, Left, Limits, OfSearch, UNEXPLAINED_IN_STEPS, Undecided, Verdict,
    Witness, check_wanting, left_before,
};
use crate::core::history::OperationId;
use crate::core::recorder::Answered;
use crate::model::Model;
use crate::model::program::{Before, Bounds, GaveUp, Judged};
use crate::tla::Problem;
use crate::tla::covering::Covered;
use known::{ByNumber, Known, Whole, journal};
pub use question::{Asked, Described, Question, Reply, SOCKET, Told, VERSION};
use wanted::{Values, Wanted};

/// How often it is said that a history is still looked at.
const SAID_EVERY: Duration = Duration::from_secs(1);

/// Answers interlap's questions about a model until it asks no more. A panic of the model ends the
/// check, and is told; so is an operation that is of no type of the model's.
///
/// ```no_run
/// use interlap::core::recorder::Answered;
/// use interlap::model::Model;
/// use interlap::serve::serve;
/// use serde::Deserialize;
///
/// /// The methods `bool try_acquire()` and `void release()`.
/// #[derive(Clone, Debug, Deserialize)]
/// #[serde(rename_all = "snake_case")]
/// enum Call {
///     TryAcquire,
///     Release,
/// }
///
/// struct Semaphore;
///
/// impl Model<Answered<Call, Option<bool>>> for Semaphore {
///     type State = u32; // how many hold it
///
///     fn init(&self) -> u32 {
///         0
///     }
///
///     fn step(&self, held: &u32, made: &Answered<Call, Option<bool>>, next: &mut Vec<u32>) {
///         match (&made.call, made.answer) {
///             (Call::TryAcquire, Some(Some(true))) if *held < 2 => next.push(held + 1),
///             (Call::TryAcquire, Some(Some(false))) if *held == 2 => next.push(*held),
///             (Call::Release, _) if *held > 0 => next.push(held - 1),
///             _ => {}
///         }
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     serve(Semaphore) // interlap fuzz semaphore.cpp --model-crate .
/// }
/// ```
pub fn serve<C, A, M>(model: M) -> ExitCode
where
    C: Clone + Debug + DeserializeOwned + Sync,
    A: Clone + Debug + DeserializeOwned + Sync,
    M: Model<Answered<C, A>> + Sync,
{
    let name = std::any::type_name::<M>().rsplit("::").next().unwrap_or_default();
    serve_as(name, false, model, || None)
}

/// As [`serve`], of a model of which people read this name; `threads`: calls have the numbers of
/// their clients; `covered`: what its steps went through, if that is counted.
pub fn serve_as<C, A, M>(
    name: &str,
    threads: bool,
    model: M,
    covered: impl Fn() -> Option<Covered>,
) -> ExitCode
where
    C: Clone + Debug + DeserializeOwned + Sync,
    A: Clone + Debug + DeserializeOwned + Sync,
    M: Model<Answered<C, A>> + Sync,
{
    let Some(socket) = env::var_os(SOCKET) else {
        eprintln!(
            "this program is a model for interlap, which starts it:\n  \
             interlap fuzz ADAPTER --model-crate CRATE\n  interlap check FILE --model-crate CRATE"
        );
        return ExitCode::from(2);
    };
    let served = UnixStream::connect(socket).and_then(|stream| {
        send(&stream, &Reply::Hello { version: VERSION, model: name.to_string(), threads })?;
        Served::new(model).answer_all(&stream, &covered)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot talk to interlap: {error}");
            ExitCode::from(2)
        }
    }
}

/// A model with all that has a number.
struct Served<O, M: Model<O>>
where
    O: Debug,
{
    model: M,
    steps: Vec<O>,
    /// Operations by their first steps.
    wholes: FxHashMap<u32, Whole<O>>,
    states: Vec<M::State>,
    numbers: FxHashMap<M::State, u32>,
    /// A history that begins in a state, by the first steps of its operations.
    histories: FxHashMap<u32, Vec<u32>>,
    /// Steps that were taken, in histories that are looked at.
    taken: Arc<AtomicU64>,
}

impl<C, A, M> Served<Answered<C, A>, M>
where
    C: Clone + Debug + DeserializeOwned + Sync,
    A: Clone + Debug + DeserializeOwned + Sync,
    M: Model<Answered<C, A>> + Sync,
{
    fn new(model: M) -> Served<Answered<C, A>, M> {
        Served {
            model,
            steps: Vec::new(),
            wholes: FxHashMap::default(),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            histories: FxHashMap::default(),
            taken: Arc::default(),
        }
    }

    fn answer_all(
        &mut self,
        stream: &UnixStream,
        covered: &dyn Fn() -> Option<Covered>,
    ) -> io::Result<()> {
        let panicked = note_panics();
        let (is_asked, taken) = (Mutex::new(false), self.taken.clone());
        std::thread::scope(|scope| {
            let (_ends, ended) = mpsc::channel();
            scope.spawn(|| say_that_it_goes_on(stream, &is_asked, &taken, ended));
            for line in BufReader::new(stream).lines() {
                let question: Question = serde_json::from_str(&line?)?;
                *locked(&is_asked) = true;
                let reply = catch_unwind(AssertUnwindSafe(|| match question {
                    Question::Covered => Reply::Covered(covered()),
                    question => self.answer(question),
                }));
                let reply = reply.unwrap_or_else(|_| Reply::Failed(locked(&panicked).clone()));
                let mut is_asked = locked(&is_asked);
                *is_asked = false;
                send(stream, &reply)?;
            }
            Ok(())
        })
    }

    fn answer(&mut self, question: Question) -> Reply {
        match question {
            Question::Operations(asked) => {
                let each = asked.into_iter().map(|asked| match asked {
                    Asked::Open(call) => self.operation(call, None),
                    Asked::Answered(call, answer) => self.operation(call, Some(answer)),
                });
                match each.collect() {
                    Ok(described) => Reply::Operations(described),
                    Err(error) => Reply::Failed(format!("the model does not know the {error}")),
                }
            }
            Question::Init(operations) => {
                let mut made = operations.iter().map(|first| &self.wholes[first].operation);
                let first = self.model.init_for(&mut made);
                let first = self.number(first);
                self.histories.insert(first, operations);
                Reply::States(vec![first])
            }
            Question::Step { state, step } => {
                let mut next = Vec::new();
                let (state, step) = (&self.states[state as usize], &self.steps[step as usize]);
                self.model.step(state, step, &mut next);
                Reply::States(next.into_iter().map(|state| self.number(state)).collect())
            }
            Question::IsEmpty(state) => {
                Reply::Is(self.model.is_empty(&self.states[state as usize]))
            }
            Question::RightAnswer { state, step } => {
                let (state, step) = (&self.states[state as usize], &self.steps[step as usize]);
                Reply::Text(self.model.right_answer(state, step))
            }
            Question::Describe(state) => {
                Reply::Text(Some(self.model.describe_state(&self.states[state as usize])))
            }
            Question::Judge { history, bounds } => self.judge(history, &bounds),
            Question::Before { time, history, bounds } => {
                let left = self.left(time, history, &bounds);
                Reply::Before(left.map_or_else(|told| told, |left| self.told(left)))
            }
            Question::Covered => Reply::Covered(None),
        }
    }

    fn judge(&self, history: Told, bounds: &Bounds) -> Reply {
        let (journal, named, state) = journal(history);
        let wholes = &self.wholes;
        let values = |id: OperationId| match journal.get(id).operation {
            Known::Whole(first) | Known::Step(first) => &wholes[&first].values,
        };
        let wanted = OnceLock::new();
        let values_tell = self.model.values_tell_order();
        let guess = || values_tell.then(|| Wanted::new(&journal, values));
        let when = |id| wanted.get_or_init(guess).as_ref()?.place(id);
        let verdict = check_wanting(&journal, &self.since(state), &limits(bounds), &when);
        Reply::Judged(judged(verdict, named))
    }

    /// The configurations before a time, or what is told in their place.
    fn left(
        &self,
        time: u64,
        history: Told,
        bounds: &Bounds,
    ) -> Result<Vec<Left<M::State>>, Before> {
        let (journal, named, state) = journal(history);
        let left = left_before(&journal, &self.since(state), &limits(bounds), time);
        let mut left = left
            .map_err(|exhausted| Before::GaveUp(gave_up(&exhausted)))?
            .map_err(|failed| Before::Unexplained(named(failed)))?;
        left.iter_mut().flat_map(|left| &mut left.done).for_each(|(id, _)| *id = named(*id));
        Ok(left)
    }

    fn told(&mut self, left: Vec<Left<M::State>>) -> Before {
        let number = |left: Left<M::State>| (left.done, self.number(left.state));
        Before::Left(left.into_iter().map(number).collect())
    }

    /// The model of operations by their numbers, from a state on in which a history begins.
    fn since(&self, state: u32) -> ByNumber<'_, Answered<C, A>, M> {
        let Served { model, wholes, steps, taken, .. } = self;
        let history = self.histories[&state].iter().map(|first| &wholes[first].operation);
        ByNumber { model, wholes, steps, taken, history: history.collect() }
    }

    /// The number of a state; equal ones have the same.
    fn number(&mut self, state: M::State) -> u32 {
        if let Some(known) = self.numbers.get(&state) {
            return *known;
        }
        let number = self.states.len() as u32;
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    /// An operation from now on.
    ///
    /// # Errors
    /// What the model does not know.
    fn operation(&mut self, call: Json, answer: Option<Json>) -> Result<Described, String> {
        let made = C::deserialize(&call).map_err(|error| format!("call {call}: {error}"))?;
        let known = answer.as_ref().map(|answer| {
            A::deserialize(answer).map_err(|error| format!("answer {answer} to {call}: {error}"))
        });
        let whole = Answered { call: made, answer: known.transpose()? };
        let mut steps = Vec::new();
        self.model.split(&whole, &mut steps);
        let (text, part) = (self.model.describe(&whole), part(&self.model, &whole));
        if steps.is_empty() {
            steps.push(whole.clone());
        }
        let values = Values::of(&call, answer.as_ref());
        let reads = steps.iter().map(|step| self.model.reads(step)).collect();
        let repeats = steps.iter().map(|step| self.model.repeats(step)).collect();
        let (first, count) = (self.steps.len() as u32, steps.len() as u32);
        self.wholes.insert(first, Whole { operation: whole, values, steps: count });
        self.steps.append(&mut steps);
        Ok(Described { first, steps: count, part, reads, repeats, text })
    }
}

/// Says so as long as steps are taken for what is asked: one that does not come back is told from
/// many.
fn say_that_it_goes_on(
    stream: &UnixStream,
    is_asked: &Mutex<bool>,
    taken: &AtomicU64,
    ended: mpsc::Receiver<()>,
) {
    let mut before = 0;
    while ended.recv_timeout(SAID_EVERY) == Err(RecvTimeoutError::Timeout) {
        let (is_asked, now) = (locked(is_asked), taken.load(Ordering::Relaxed));
        if *is_asked && now != before && send(stream, &Reply::GoesOn).is_err() {
            return;
        }
        before = now;
    }
}

/// What a mutex holds, whoever panicked while it was held.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn limits(bounds: &Bounds) -> Limits {
    let most = bounds.milliseconds.map(Duration::from_millis);
    Limits {
        configurations_max: bounds.configurations,
        steps_max: bounds.steps,
        memory_max: bounds.memory,
        jobs: bounds.jobs,
        cancelled: None,
        deadline: most.map(|most| Instant::now() + most),
    }
}

/// A verdict about operations that have other names outside.
fn judged(verdict: Verdict, named: impl Fn(OperationId) -> OperationId) -> Judged {
    match verdict {
        Verdict::Consistent => Judged::Linearizable,
        Verdict::Violation(Witness { rule, explanation, operations }) => {
            let mut operations: Vec<OperationId> = operations.into_iter().map(named).collect();
            let last = operations.pop().expect("a witness has operations");
            match *explanation {
                Explanation::Search(OfSearch::ModelNotEmpty(states)) => {
                    Judged::NotEmpty(last, states.described, states.are_more)
                }
                _ => Judged::Unexplained(last, operations, rule == UNEXPLAINED_IN_STEPS),
            }
        }
        Verdict::Inconclusive(Undecided::Exhausted(why)) => Judged::GaveUp(gave_up(&why)),
        Verdict::Inconclusive(_) => Judged::GaveUp(GaveUp::Time),
    }
}

fn gave_up(why: &Exhausted) -> GaveUp {
    match why {
        Exhausted::Open(most) => GaveUp::Open(*most),
        Exhausted::Configurations(_) => GaveUp::Configurations,
        Exhausted::Steps(_) => GaveUp::Steps,
        Exhausted::Memory(_) => GaveUp::Memory,
        Exhausted::Cancelled | Exhausted::Deadline => GaveUp::Time,
    }
}

/// A key by its hash and its text: it may borrow from the operation, so it is not kept.
fn part<O: Debug, M: Model<O>>(model: &M, operation: &O) -> Option<(u64, String)> {
    let key = model.part(operation)?;
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    Some((hasher.finish(), format!("{key:?}")))
}

fn send(mut stream: &UnixStream, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// What the last panic said, and where.
fn note_panics() -> Arc<Mutex<String>> {
    let said = Arc::new(Mutex::new(String::new()));
    let noted = said.clone();
    std::panic::set_hook(Box::new(move |panic| {
        if let Ok(mut noted) = noted.lock() {
            *noted = match panic.payload().downcast_ref::<Problem>() {
                Some(problem) => problem.to_string(),
                None => format!("the model {panic}").replace('\n', " "),
            };
        }
    }));
    said
}
