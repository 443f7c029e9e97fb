//! A specification in TLA+ as a model: a call is a step of the action that has its name.
//!
//! The action's parameters are the call's arguments, and one more, the last, the answer. Where that
//! is not known, the parameter is whatever makes the action possible. A call `X` without an action
//! of its name takes any number of steps of `X_Step`, and then one of `X_Done`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::Value as Json;

use crate::core::contract::Model;
use crate::core::operation::{Family, Op, Status};
use crate::core::recorder::Answered;
use crate::tla::{Action, Constants, Problem, Specification, State, Step, Value};

/// The answer of a call that returns nothing, or an optional without a value.
const NO_VALUE: &str = "none";

/// Constants of these names stand for what is answered in place of a value, if nothing else says
/// what they are. They are equal to nothing else.
const NAMED: [(&str, &str); 8] = [
    ("none", NO_VALUE),
    ("null", NO_VALUE),
    ("nil", NO_VALUE),
    ("empty", "empty"),
    ("full", "full"),
    ("failed", "failed"),
    ("done", "done"),
    ("unknown", "unknown"),
];

/// How the names of the actions end by which a call takes several steps.
const STEP: &str = "_Step";
const DONE: &str = "_Done";

/// What operations of families answer in place of a value.
const STATUSES: [Status; 4] = [Status::Empty, Status::Full, Status::Failed, Status::Done];

/// A model that is a specification. Its methods panic with a [`Problem`] where that cannot be
/// evaluated.
pub struct Specified(Specification);

/// A state; none before the first step, as there may be several in which it begins.
type At = Option<State>;

/// A call as JSON has it, and the step that it is, which is found once.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Json")]
pub struct Call {
    json: Json,
    made: OnceLock<Made>,
}

impl From<Json> for Call {
    fn from(json: Json) -> Call {
        Call { json, made: OnceLock::new() }
    }
}

/// A call, as an action with its parameters.
#[derive(Clone, Debug)]
struct Made {
    action: Arc<Action>,
    args: Vec<Value>,
    /// None where it is not known, or the action has no parameter for it.
    answer: Option<Value>,
    /// Where the call takes several steps: the action of all but the last.
    repeated: Option<Arc<Action>>,
    /// It is one of these.
    repeats: bool,
}

impl Specified {
    /// The specification in this file.
    ///
    /// # Errors
    /// What cannot be read, or is not supported, with its place.
    pub fn load(path: &Path) -> Result<Specified, Problem> {
        Specification::load(path, &given()).map(Specified)
    }

    /// The name of the module.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    fn action(&self, name: &str) -> Result<Arc<Action>, String> {
        let found = self.0.action(name).or_else(|| self.0.action(&of_action(name)));
        let found = found.ok_or_else(|| {
            let actions: Vec<&str> = self.0.actions().collect();
            let (of, own, actions) = (self.name(), of_action(name), actions.join(", "));
            format!(
                "{of} has no action {own} for {name} (it has {actions}): add one, or leave out \
                 the calls of {name}"
            )
        });
        found?.clone().map_err(|problem| problem.to_string())
    }

    /// The action of a call, and that which it repeats before, if it takes several steps.
    fn actions_of(&self, name: &str) -> Result<(Arc<Action>, Option<Arc<Action>>), String> {
        let with = |end: &str| self.action(&format!("{}{end}", of_action(name)));
        let is_one = [name, &of_action(name)].iter().any(|name| self.0.action(name).is_some());
        match (with(STEP), with(DONE)) {
            (Ok(step), Ok(done)) if !is_one => Ok((done, Some(step))),
            _ => Ok((self.action(name)?, None)),
        }
    }

    /// The step that a call is.
    fn made(&self, made: &Answered<Call, Json>) -> Result<Made, String> {
        let (name, given) = parts(&made.call.json)?;
        let (action, repeated) = self.actions_of(name)?;
        if repeated.as_ref().is_some_and(|of| of.params != action.params) {
            return Err(format!(
                "the parameters of {name}{STEP} and {name}{DONE} are not the same"
            ));
        }
        let params = action.params.clone();
        let count = params.len();
        let is = |args, answer| Made { action, args, answer, repeated, repeats: false };
        if let Json::Object(fields) = given
            && fields.len() == count
            && let Some(args) = params.iter().map(|param| fields.get(param)).collect()
        {
            let args: Vec<&Json> = args;
            let args = args.into_iter().map(value).collect::<Result<_, _>>()?;
            return Ok(is(args, None));
        }
        let args: Vec<&Json> = match given {
            Json::Null => Vec::new(),
            // One argument may be a list.
            Json::Array(all) if all.len() == count || all.len() + 1 == count => {
                all.iter().collect()
            }
            one => vec![one],
        };
        let args: Vec<Value> = args.into_iter().map(value).collect::<Result<_, _>>()?;
        let answer = made.answer.as_ref().map(|answer| answer_of(name, answer)).transpose()?;
        match count.checked_sub(args.len()) {
            Some(1) => Ok(is(args, answer)),
            Some(0) if answer.as_ref().is_none_or(says_nothing) => Ok(is(args, None)),
            Some(0) => Err(format!(
                "{name} answers something: its action needs one more parameter, the last, for that"
            )),
            _ => Err(format!(
                "{name} has {} arguments, and its action {count} parameters: it needs one for \
                 each argument, and one for the answer",
                args.len()
            )),
        }
    }

    fn known<'a>(&self, of: &'a Answered<Call, Json>) -> &'a Made {
        let find = || self.made(of).unwrap_or_else(|error| stop(Problem::new(error)));
        of.call.made.get_or_init(find)
    }

    /// The steps from here, with this answer or with any.
    fn steps(&self, at: &At, made: &Made, answer: Option<&Value>) -> Vec<Step> {
        let args: Vec<Value> = made.args.iter().chain(answer).cloned().collect();
        let from = |state: &State| {
            let steps = self.0.steps(&made.action, state, &args);
            steps.unwrap_or_else(|problem| {
                stop(Problem::new(format!("{problem}, where {}", self.shown(state))))
            })
        };
        self.states(at).iter().flat_map(from).collect()
    }

    fn states(&self, at: &At) -> Vec<State> {
        match at {
            Some(state) => vec![state.clone()],
            None => self.0.begin().unwrap_or_else(|problem| stop(problem)),
        }
    }

    fn shown(&self, state: &State) -> String {
        let one = |(name, value): (&String, &Value)| format!("{name} = {value}");
        self.0.variables.iter().zip(state.iter()).map(one).collect::<Vec<_>>().join(", ")
    }
}

impl Model<Answered<Call, Json>> for Specified {
    type State = At;

    fn init(&self) -> At {
        None
    }

    fn split(&self, made: &Answered<Call, Json>, steps: &mut Vec<Answered<Call, Json>>) {
        let Some(action) = self.known(made).repeated.clone() else { return };
        let first = Made { action, repeats: true, ..self.known(made).clone() };
        let call = Call { json: made.call.json.clone(), made: first.into() };
        steps.extend([Answered { call, answer: made.answer.clone() }, made.clone()]);
    }

    fn repeats(&self, step: &Answered<Call, Json>) -> bool {
        self.known(step).repeats
    }

    fn step(&self, at: &At, made: &Answered<Call, Json>, next: &mut Vec<At>) {
        let made = self.known(made);
        let steps = self.steps(at, made, made.answer.as_ref());
        next.extend(steps.into_iter().map(|step| Some(step.next)));
    }

    /// The answers with which the action is possible; else the conjunct that is false.
    fn right_answer(&self, at: &At, made: &Answered<Call, Json>) -> Option<String> {
        let (made, states) = (self.known(made), self.states(at));
        // Where the action asks for the answer before it says it, none is known.
        let steps = states.iter().filter_map(|of| self.0.steps(&made.action, of, &made.args).ok());
        let mut answers: Vec<Value> = steps.flatten().filter_map(|step| step.answer).collect();
        answers.sort();
        answers.dedup();
        if !answers.is_empty() {
            let shown: Vec<String> = answers.iter().map(Value::to_string).collect();
            return Some(shown.join(" or "));
        }
        let args: Vec<Value> = made.args.iter().chain(&made.answer).cloned().collect();
        let blocked = states.iter().find_map(|state| self.0.blocked(&made.action, state, &args))?;
        Some(format!("refused: line {} is false: {}", blocked.line, blocked.text))
    }

    fn describe(&self, made: &Answered<Call, Json>) -> String {
        // Where it is no step of an action, it is said here, before anything is judged.
        let Made { args, answer, .. } = self.known(made);
        let (name, _) = parts(&made.call.json).expect("it is known");
        let args: Vec<String> = args.iter().map(Value::to_string).collect();
        let call = format!("{name}({})", args.join(", "));
        answer.as_ref().map_or(call.clone(), |answer| format!("{call} -> {answer}"))
    }

    fn describe_state(&self, at: &At) -> String {
        let states = self.states(at);
        states.iter().map(|state| self.shown(state)).collect::<Vec<_>>().join(" or ")
    }

    fn weight(&self, at: &At) -> usize {
        at.as_ref().map_or(0, |state| state.iter().map(Value::weight).sum())
    }
}

/// The model cannot go on.
fn stop(problem: Problem) -> ! {
    std::panic::panic_any(problem)
}

/// The constants that a specification need not be told.
fn given() -> Constants {
    let of = |(name, value): (&str, &str)| {
        let (first, rest) = name.split_at(1);
        let names = [name.to_string(), name.to_uppercase(), first.to_uppercase() + rest];
        names.map(|name| (name, Value::Model(value.into())))
    };
    NAMED.into_iter().flat_map(of).collect::<BTreeMap<_, _>>()
}

/// The name of an action as people write it: `try_acquire` is TryAcquire.
fn of_action(name: &str) -> String {
    let part = |part: &str| match part.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + rest,
        None => String::new(),
    };
    name.split('_').map(part).collect()
}

/// The name of a call, and what it is given; null if nothing.
fn parts(call: &Json) -> Result<(&str, &Json), String> {
    match call {
        Json::String(name) => Ok((name, &Json::Null)),
        Json::Object(fields) if fields.len() == 1 => {
            let (name, given) = fields.iter().next().expect("it has one");
            Ok((name, given))
        }
        other => Err(format!("{other} is no call")),
    }
}

/// Arrays are sequences, objects are records.
fn value(json: &Json) -> Result<Value, String> {
    let of = |made: Result<Value, Problem>| made.map_err(|problem| problem.to_string());
    match json {
        Json::Null => Ok(Value::Model(NO_VALUE.into())),
        Json::Bool(is) => Ok(Value::Bool(*is)),
        Json::Number(number) => {
            let whole = number.as_i64().ok_or(format!("{number} is no integer of 64 bits"))?;
            Ok(Value::Int(whole))
        }
        Json::String(text) => Ok(Value::text(text)),
        Json::Array(items) => of(Value::seq(items.iter().map(value).collect::<Result<_, _>>()?)),
        Json::Object(fields) => {
            let field = |(name, of): (&String, &Json)| Ok((Value::text(name), value(of)?));
            of(Value::function(fields.iter().map(field).collect::<Result<_, String>>()?))
        }
    }
}

/// What was answered. Of an operation of a family, the word of a status says how it went; a string
/// of a key-value store is a value.
fn answer_of(name: &str, answer: &Json) -> Result<Value, String> {
    let is_status = |word: &str| {
        let is_it = |op: &&Op| op.name() == name && op.family() != Family::Kv;
        STATUSES.iter().any(|status| status.name() == word) && Op::ALL.iter().any(|op| is_it(&op))
    };
    match answer {
        Json::String(word) if is_status(word) => Ok(Value::Model(word.as_str().into())),
        answer => value(answer),
    }
}

fn says_nothing(answer: &Value) -> bool {
    matches!(answer, Value::Model(name) if **name == *NO_VALUE || **name == *"done")
}
