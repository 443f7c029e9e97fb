//! Asks a program for a model, and compares with the same model in the library and with bundled
//! ones. The program is this one: a script calls it with the name of the test that answers.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Debug;
use std::hash::Hash;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlap::check::{
    Explanation, Limits, OfSearch, Undecided, Verdict, check, order, partials, search_trace,
};
use interlap::core::history::{Entry, History, OperationId};
use interlap::core::interner::Interner;
use interlap::core::operation::{Family, Op, Status};
use interlap::core::recorder::Answered;
use interlap::model::program::Program;
use interlap::model::{Consistency, Kind, Model, Spec};
use interlap::process;
use interlap::serve::{SOCKET, serve};
use serde_json::Value as Json;

use super::id_pool_model;

/// What `interlap new model` writes.
#[path = "../../ffi/templates/model.rs"]
mod template;

use super::agreement::{SMALL, Shares};
use super::own::{ends, is_explained};
use super::random::{Random, Shape, history};
use super::users::{Map, Owned, Queue};

/// The variable of the environment that says which model answers.
const MODEL: &str = "INTERLAP_TEST_MODEL";

/// Answers where a script has started this program for that.
#[test]
fn a_model_answers() {
    if env::var_os(SOCKET).is_none() {
        return;
    }
    let ended = match env::var(MODEL).as_deref() {
        Ok("id_pool") => id_pool_model::main(),
        Ok("semaphore") => template::main(),
        Ok("map") => serve(FromJson { model: Map, family: Family::Map }),
        Ok("queue") => serve(FromJson { model: Queue, family: Family::Queue }),
        Ok("counter") => serve(Counter),
        Ok("panic") => serve(Bad(|| panic!("no more ids"))),
        Ok("end") => serve(Bad(|| std::process::exit(7))),
        Ok("endless") => serve(Bad(|| {
            loop {
                std::hint::spin_loop();
            }
        })),
        Ok("slow") => serve(Bad(|| std::thread::sleep(Duration::from_secs(1)))),
        other => panic!("no model {other:?}"),
    };
    assert_eq!(ended, std::process::ExitCode::SUCCESS);
}

/// A program that has this model.
pub fn program(folder: &Path, model: &str) -> PathBuf {
    let path = folder.join(model);
    let own = env::current_exe().expect("this program");
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o755).open(&path);
    let file = file.as_mut().expect("room");
    let script = format!(
        "#!/bin/sh\n{MODEL}={model} exec {} --exact check::program::a_model_answers --nocapture > \
         /dev/null\n",
        own.display()
    );
    file.write_all(script.as_bytes()).expect("room");
    path
}

/// The model of a program, which runs from now on.
fn started(folder: &Path, model: &str) -> Spec {
    let path = program(folder, model);
    let program = Program::at(path.to_str().expect("UTF-8"));
    process::model::start(program).expect("it starts");
    Spec { program: Some(program), ..Spec::new(Kind::Own) }
}

/// A model whose operations are those of a family, as JSON.
struct FromJson<M> {
    model: M,
    family: Family,
}

type Made = Answered<Json, Json>;

/// A key that is shown as it is written.
#[derive(PartialEq, Eq, Hash)]
struct Shown(String);

impl Debug for Shown {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn numbers(value: Option<&Json>) -> Vec<i64> {
    match value {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::Array(all)) => all.iter().map(|one| one.as_i64().expect("a number")).collect(),
        Some(one) => vec![one.as_i64().expect("a number")],
    }
}

impl<M> FromJson<M> {
    fn owned(&self, made: &Made) -> Owned {
        let (name, args) = match &made.call {
            Json::Object(call) => call.iter().next().map(|(name, of)| (&**name, Some(of))),
            call => call.as_str().map(|name| (name, None)),
        }
        .expect("a call");
        let op = Op::from_name(self.family, name).expect("of the family");
        let (status, results) = match &made.answer {
            None => (Status::Pending, None),
            Some(Json::String(status)) => (Status::from_name(status).expect("one"), None),
            Some(Json::Object(of)) => {
                let (status, value) = of.iter().next().expect("one");
                (Status::from_name(status).expect("one"), Some(value))
            }
            Some(results) => (Status::Ok, Some(results)),
        };
        Owned { op, status, args: numbers(args), results: numbers(results) }
    }

    /// As it came, of a part of an operation.
    fn made(&self, owned: &Owned) -> Made {
        let list = |all: &[i64]| all.iter().copied().collect::<Json>();
        let call = serde_json::json!({ owned.op.name(): list(&owned.args) });
        let answer = match owned.status {
            status if status.is_open() => None,
            Status::Ok => Some(list(&owned.results)),
            status => Some(status.name().into()),
        };
        Answered { call, answer }
    }
}

impl<M: Model<Owned>> Model<Made> for FromJson<M> {
    type State = M::State;

    fn init(&self) -> M::State {
        self.model.init()
    }

    fn step(&self, state: &M::State, made: &Made, next: &mut Vec<M::State>) {
        self.model.step(state, &self.owned(made), next);
    }

    fn is_empty(&self, state: &M::State) -> bool {
        self.model.is_empty(state)
    }

    fn part(&self, made: &Made) -> Option<impl Eq + Hash + Debug> {
        let owned = self.owned(made);
        self.model.part(&owned).map(|part| Shown(format!("{part:?}")))
    }

    fn reads(&self, made: &Made) -> bool {
        self.model.reads(&self.owned(made))
    }

    fn split(&self, made: &Made, steps: &mut Vec<Made>) {
        let mut own = Vec::new();
        self.model.split(&self.owned(made), &mut own);
        steps.extend(own.iter().map(|step| self.made(step)));
    }

    fn describe_state(&self, state: &M::State) -> String {
        self.model.describe_state(state)
    }
}

/// A counter whose calls say what it was before, as logs of OmniLink have them.
struct Counter;

#[derive(Clone, Debug, serde::Deserialize)]
enum Action {
    Inc { prev: u64, by: Amount },
}

#[derive(Clone, Debug, serde::Deserialize)]
struct Amount {
    n: u64,
}

impl Model<Answered<Action, ()>> for Counter {
    type State = u64;

    fn init(&self) -> u64 {
        0
    }

    fn step(&self, state: &u64, made: &Answered<Action, ()>, next: &mut Vec<u64>) {
        let Action::Inc { prev, by } = &made.call;
        next.extend((prev == state).then_some(state + by.n));
    }

    fn right_answer(&self, state: &u64, _: &Answered<Action, ()>) -> Option<String> {
        Some(state.to_string())
    }
}

/// A model that cannot answer.
struct Bad(fn());

impl Model<Made> for Bad {
    type State = ();

    fn init(&self) {}

    fn step(&self, (): &(), _: &Made, next: &mut Vec<()>) {
        (self.0)();
        next.push(());
    }
}

/// The program gives the verdicts of the bundled model, and shows what the library shows.
fn compare<M>(model: M, name: &str, bundled: &str, shape: Shape, histories: usize)
where
    M: Model<Owned> + Send + Sync + Clone + 'static,
    M::State: Send + Sync,
{
    let folder = tempfile::tempdir().expect("temp folder");
    let (remote, bundled): (Spec, Spec) =
        (started(folder.path(), name), bundled.parse().expect(bundled));
    let (limits, mut random, mut shares) = (Limits::default(), Random::new(31), Shares::default());
    let mut rules = BTreeSet::new();
    'histories: for _ in 0..crate::how_many(histories) {
        let history = history(Shape { kind: bundled.kind, ..shape }, &mut random);
        use Consistency::{Linearizable, Quasi, Quiescent, Sequential};
        // Of longer ones not all other orders are looked at.
        let is_long = shape.operations.0 > SMALL.operations.1;
        let others = [Sequential, Quiescent, Quasi(1)].into_iter().filter(|_| !is_long);
        for consistency in [Linearizable].into_iter().chain(others) {
            let [theirs, ours] = [remote, bundled]
                .map(|of| is_explained(&check(&history, &Spec { consistency, ..of }, &limits)));
            // The general search need not come to an end.
            if is_long && theirs.is_none() {
                continue 'histories;
            }
            assert_eq!(theirs, ours, "{history:?}");
        }
        let Verdict::Violation(witness) = check(&history, &remote, &limits) else {
            shares.note(true);
            match order(&history, &remote, &limits) {
                Ok(order) => assert_eq!(order.operations.len(), order.states.len()),
                // One that is shown is not looked for as long as one that decides.
                Err(why) => assert!(is_long, "{why:?}: {history:?}"),
            }
            continue;
        };
        shares.note(false);
        let journal = super::users::journal(&history);
        let Verdict::Violation(library) = check(&journal, &model, &limits) else {
            panic!("consistent for the library: {history:?}")
        };
        assert_eq!(witness.rule, library.rule, "{history:?}");
        rules.insert(witness.rule);
        let (own, of_own) =
            (interlap::core::own::history(&journal, model.clone()), Spec::new(Kind::Own));
        let shown = partials(&history, &remote, &witness.operations, &limits);
        let named = |id: OperationId| OperationId { thread: journal.client(id), index: id.index };
        // The library may say which of several keys is wrong in another order.
        let of_journal = |id: &OperationId| own.ids().find(|own| named(*own) == *id);
        let witness: Vec<OperationId> = witness.operations.iter().filter_map(of_journal).collect();
        let wanted = partials(&own, &of_own, &witness, &limits);
        let ends_of = |found: Result<_, _>, name: &dyn Fn(OperationId) -> OperationId| {
            found.map_or(BTreeSet::new(), |found| ends(&found, name))
        };
        let trace = search_trace(&history, &remote, shown.as_ref().ok(), &limits);
        assert!(trace.is_ok() || shown.is_err(), "{history:?}");
        assert_eq!(ends_of(shown, &|id| id), ends_of(wanted, &named), "{history:?}");
    }
    shares.assert_healthy(name);
    let in_steps = rules.contains("not-interval-linearizable");
    assert_eq!(in_steps, bundled.kind == Kind::Fifo, "{rules:?}");
}

#[test]
fn of_independent_parts_a_program_says_what_the_library_does() {
    compare(Map, "map", "map", Shape { hides: 0, voids: 0, ..SMALL }, 3_000);
}

#[test]
fn of_several_steps_a_program_says_what_the_library_does() {
    let shape = Shape { bulk: 30, threads: (2, 3), operations: (3, 6), hides: 0, ..SMALL };
    compare(Queue, "queue", "fifo", shape, 2_000);
}

/// What is shown of them has a past, which the program follows.
#[test]
fn of_longer_histories_a_program_says_what_the_library_does() {
    let shape = Shape { bulk: 10, threads: (3, 4), operations: (40, 50), hides: 0, ..SMALL };
    compare(Queue, "queue", "fifo", shape, 500);
}

#[test]
fn what_is_left_at_the_end_is_told_in_the_models_words() {
    let folder = tempfile::tempdir().expect("temp folder");
    let spec = started(folder.path(), "queue");
    let mut history = History { drained: true, ..History::default() };
    let (op, status) = (Op::Enqueue, Status::Ok);
    let entry = Entry { op, status, start: 1, end: 2, args: &[7], results: &[] };
    history.push(3, entry).expect("a call");
    let Verdict::Violation(witness) = check(&history, &spec, &Limits::default()) else {
        panic!("the queue holds 7")
    };
    let Explanation::Search(OfSearch::ModelNotEmpty(states)) = *witness.explanation else {
        panic!("{witness:?}")
    };
    assert_eq!((witness.rule, &states.described[..]), ("lost", &["[7]".to_string()][..]));
    assert_eq!(witness.operations, [OperationId { thread: 0, index: 0 }]);
}

fn one_call() -> History {
    calls_in_turn(1)
}

fn calls_in_turn(count: u64) -> History {
    let mut history = History::default();
    for at in 0..count {
        let (op, status, start) = (Op::Dequeue, Status::Empty, 1 + 2 * at);
        let entry = Entry { op, status, start, end: start + 1, args: &[], results: &[] };
        history.push(0, entry).expect("a call");
    }
    history
}

/// What a program that cannot answer has decided is not believed.
fn fails(model: &str, why: &str) {
    let folder = tempfile::tempdir().expect("temp folder");
    let spec = started(folder.path(), model);
    for _ in 0..2 {
        match check(&one_call(), &spec, &Limits::default()) {
            Verdict::Inconclusive(Undecided::OfModelProgram(said)) => {
                assert!(said.contains(why), "{said}");
            }
            verdict => panic!("{verdict:?}"),
        }
    }
}

#[test]
fn a_model_that_fails_decides_nothing() {
    fails("panic", "the model panicked at tests/check/program.rs");
    fails("panic", "no more ids");
    fails("end", "ended (exit status: 7)");
}

#[test]
#[ignore = "waits for 10 s: make test-long"]
fn a_model_that_does_not_come_back_decides_nothing() {
    fails("endless", "the model gave no answer for ");
}

#[test]
#[ignore = "waits for 15 s: make test-long"]
fn a_model_that_takes_many_slow_steps_is_waited_for() {
    let folder = tempfile::tempdir().expect("temp folder");
    let verdict = check(&calls_in_turn(15), &started(folder.path(), "slow"), &Limits::default());
    assert_eq!(verdict, Verdict::Consistent);
}

#[test]
fn a_program_that_was_not_started_decides_nothing() {
    let program = Some(Program::at("/never/started"));
    let spec = Spec { program, ..Spec::new(Kind::Own) };
    let verdict = check(&one_call(), &spec, &Limits::default());
    assert_eq!(verdict, Verdict::Inconclusive(Undecided::NoModelProgram));
    assert!(process::model::start(Program::at("/never/started")).is_err());
}

#[test]
fn states_that_are_shown_are_the_models() {
    let folder = tempfile::tempdir().expect("temp folder");
    let spec = started(folder.path(), "id_pool");
    let running = spec.program.and_then(Program::running).expect("started");
    let calls = interlap::exchange::calls::read(
        r#"{"thread": 0, "op": "acquire", "start": 1, "end": 2, "results": [1]}"#,
        false,
    );
    let own = running.own(&calls.expect("read")).expect("of the model");
    let Verdict::Violation(witness) = check(&own, &spec, &Limits::default()) else {
        panic!("the first id is 0")
    };
    let shown = partials(&own, &spec, &witness.operations, &Limits::default()).expect("shown");
    assert_eq!(shown.partials[0].before, "[3, 2, 1, 0]");
    let unknown = running.own_history(&one_call(), &Interner::default());
    assert!(unknown.is_ok(), "it is told where it is judged");
    let why = running.failure().expect("no such call");
    assert!(why.contains("does not know the call \"dequeue\""), "{why}");
}
