//! A specification in TLA+ as a model: a call is a step of the action that has its name.
//!
//! The action's parameters are the call's arguments, and one more, the last, the answer. Where that
//! is not known, the parameter is whatever makes the action possible. A call `X` without an action
//! of its name takes any number of steps of `X_Step`, and then one of `X_Done`.
//!
//! Constants may depend on the history: what there is that parameters of their names are.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Deserialize;
use serde_json::Value as Json;

use crate::core::contract::Model;
use crate::core::recorder::Answered;
use crate::tla::covering::{Covered, Covering, SMALL, reachable};
use crate::tla::methods::{DONE, Method, STEP};
use crate::tla::validate::{CALL, TRACES};
use crate::tla::{Action, Blocked, Constants, Problem, Source, Specification, State, Step, Value};

use super::called::{
    NONE, Record, answer_of, given, is_thread, logged, parts, says_nothing, thread_of, value,
};
use super::settings::Settings;

/// So many histories' constants are known at once.
const KNOWN_MAX: usize = 1_024;

/// A model that is a specification. Its methods panic with a [`Problem`] where that cannot be
/// evaluated.
pub struct Specified {
    source: Source,
    settings: Settings,
    /// What is answered in place of a value, by the names of constants.
    given: Constants,
    /// Constants of a history have values in it that are equal to nothing else.
    of_any: Arc<Specification>,
    /// Constants that depend on the history, with what is in them in all.
    of_history: Vec<(String, Option<Value>)>,
    /// By their values.
    known: Mutex<HashMap<Constants, Arc<Specification>>>,
    covering: Option<Arc<Covering>>,
}

/// A state of a specification whose constants are known.
#[derive(Clone, Debug)]
pub struct At {
    of: Arc<Specification>,
    /// None before the first step, as there may be several in which it begins.
    state: Option<State>,
}

impl PartialEq for At {
    fn eq(&self, other: &At) -> bool {
        Arc::ptr_eq(&self.of, &other.of) && self.state == other.state
    }
}

impl Eq for At {}

impl Hash for At {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
    }
}

/// A call as JSON has it, and the step that it is, which is found once.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Json")]
pub struct Call(Arc<OnceMade>);

#[derive(Debug)]
struct OnceMade {
    said: Said,
    made: OnceLock<Made>,
}

impl From<Json> for Call {
    fn from(json: Json) -> Call {
        Call(Arc::new(OnceMade { said: json.into(), made: OnceLock::new() }))
    }
}

/// JSON as its text: many are kept, and a tree takes ten times as much room.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Json")]
pub struct Said(Arc<str>);

impl From<Json> for Said {
    fn from(json: Json) -> Said {
        Said(json.to_string().into())
    }
}

impl Said {
    fn json(&self) -> Json {
        serde_json::from_str(&self.0).expect("it was JSON")
    }
}

/// A call of a history, with its answer.
pub type Operation = Answered<Call, Said>;

/// A call, as an action with its parameters.
#[derive(Clone, Debug)]
struct Made {
    /// The name of the action.
    action: Arc<str>,
    params: Arc<[String]>,
    args: Vec<Value>,
    /// None where it is not known, or the action has no parameter for it.
    answer: Option<Value>,
    /// Where the call takes several steps: the action of all but the last.
    repeated: Option<Arc<str>>,
    /// It is one of these.
    repeats: bool,
}

impl Specified {
    /// The specification in this file, with what is said of it beside it (see [`Settings`]).
    ///
    /// # Errors
    /// What cannot be read, or is not supported, with its place.
    pub fn load(path: &Path, settings: &str) -> Result<Specified, Problem> {
        let settings: Settings = settings.parse().map_err(Problem::new)?;
        let configuration = settings.configuration.as_deref();
        let mut source = Source::load(path, configuration, &settings.constants)?;
        let given = given(&source);
        source.names(&given);
        let mut open = source.open_constants(&given);
        let of_any = compiled(&source, &given, &open)?;
        let actions: Vec<&Action> =
            of_any.actions().filter_map(|name| of_any.action(name)?.as_deref().ok()).collect();
        let params = || actions.iter().flat_map(|action| action.params.iter());
        // Nothing says what the others are, which is an error where they are asked for.
        open.retain(|(name, _)| {
            name == TRACES || params().any(|param| held(name, param).is_some())
        });
        let of_any = compiled(&source, &given, &open)?;
        let (of_any, known) = (Arc::new(of_any), Mutex::default());
        let (of_history, covering) = (open, None);
        Ok(Specified { source, settings, given, of_any, of_history, known, covering })
    }

    /// The same, where it is counted what steps go through.
    ///
    /// # Errors
    /// As [`Specified::load`].
    pub fn covering(mut self) -> Result<Specified, Problem> {
        let of_any = compiled(&self.source, &self.given, &self.of_history)?;
        let methods = self.guessed();
        let is_step = |name: &str| {
            let whole = [STEP, DONE].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            let mut said = self.settings.actions.values();
            methods.iter().any(|method| method.action == whole) || said.any(|said| said == whole)
        };
        let covering = Arc::new(Covering::of(&of_any, &is_step));
        self.of_any = Arc::new(of_any.covered(covering.clone()));
        self.covering = Some(covering);
        Ok(self)
    }

    /// What methods the structure has that it is about.
    pub(super) fn guessed(&self) -> Vec<Method> {
        self.source.methods(&|name| self.of_any.action(name).is_some())
    }

    /// Whether it is for whole records of OmniLink's logs.
    pub(super) fn validates_logs(&self) -> bool {
        self.source.validates_logs()
    }

    /// What steps went through so far, where that is counted: a function that says it.
    pub fn covered(&self) -> impl Fn() -> Option<Covered> + use<> {
        let (covering, of) = (self.covering.clone(), self.of_any.clone());
        // With constants that depend on the history there are other states.
        let is_whole = self.of_history.is_empty();
        move || {
            let mut covered = covering.as_ref()?.covered();
            covered.reachable = is_whole.then(|| reachable(&of, SMALL)).flatten();
            Some(covered)
        }
    }

    /// The methods of the structure that a specification is about, each with the name by which it
    /// is called. Its constants need no values for that.
    ///
    /// # Errors
    /// As [`Specified::load`].
    pub fn methods(path: &Path, configuration: Option<&Path>) -> Result<Methods, Problem> {
        let source = Source::load(path, configuration, "")?;
        let given = given(&source);
        let of_any = compiled(&source, &given, &source.open_constants(&given))?;
        let methods = source.methods(&|name| of_any.action(name).is_some());
        let named = |method: Method| {
            let name = as_method(&method.action);
            let is_known = of_action(&name) == method.action;
            (if is_known { name } else { method.action.clone() }, method)
        };
        Ok(methods.into_iter().map(named).collect())
    }

    /// The name of the module.
    pub fn name(&self) -> &str {
        &self.of_any.name
    }

    /// Whether a parameter is the client of a call.
    pub fn asks_for_threads(&self) -> bool {
        let actions = self.of_any.actions().filter_map(|name| self.of_any.action(name));
        actions.flatten().any(|action| action.params.iter().any(is_thread))
    }

    /// The action of an operation, whose name ends so, if there is one.
    fn action(&self, operation: &str, end: &str) -> Result<Option<Named>, String> {
        let own = of_action(operation);
        let Settings { actions, .. } = &self.settings;
        let said = actions.get(operation).or_else(|| actions.get(&own));
        let names = said.map_or(vec![operation, &own], |said| vec![said]);
        for name in names.into_iter().map(|name| format!("{name}{end}")) {
            match self.of_any.action(&name) {
                Some(Ok(action)) => {
                    return Ok(Some((action.name.clone(), action.params.clone())));
                }
                Some(Err(problem)) => return Err(problem.to_string()),
                None => {}
            }
        }
        Ok(None)
    }

    /// The action of a call, and that which it repeats before, if it takes several steps.
    pub(super) fn actions_of(&self, name: &str) -> Result<(Named, Option<Named>), String> {
        if let Some(action) = self.action(name, "")? {
            return Ok((action, None));
        }
        match (self.action(name, STEP)?, self.action(name, DONE)?) {
            (Some(step), Some(done)) if step.1 == done.1 => Ok((done, Some(step))),
            (Some(_), Some(_)) => {
                Err(format!("the parameters of {name}{STEP} and {name}{DONE} are not the same"))
            }
            _ => {
                let actions: Vec<&str> = self.of_any.actions().collect();
                let (of, own, actions) = (self.name(), of_action(name), actions.join(", "));
                Err(format!(
                    "{of} has no action {own} for {name} (it has {actions}): add one, or say which \
                     it is (// interlap: action {name} = NAME), or leave out the calls of {name}"
                ))
            }
        }
    }

    /// The step that a call is.
    fn made(&self, made: &Operation) -> Result<Made, String> {
        let call = made.call.0.said.json();
        let (name, given) = parts(&call)?;
        if self.validates_logs() {
            return self.of_record(&Record::of(name, given)?);
        }
        let ((action, params), repeated) = self.actions_of(name)?;
        let (count, repeated) = (params.len(), repeated.map(|of| of.0));
        let of = |json| value(json, &self.given[NONE]);
        let says_nothing = |answer: &Value| says_nothing(answer, &self.given);
        // Parameters by their names, the answer with them.
        if let Json::Object(fields) = given
            && fields.len() == count
            && let Some(args) = params.iter().map(|param| fields.get(param)).collect()
        {
            let args: Vec<&Json> = args;
            let args = args.into_iter().map(of).collect::<Result<_, _>>()?;
            return Ok(Made { action, params, args, answer: None, repeated, repeats: false });
        }
        let own = params.iter().position(is_thread);
        // All but the answer, and the client.
        let least = count.saturating_sub(1 + usize::from(own.is_some()));
        let is = |args, answer| Made { action, params, args, answer, repeated, repeats: false };
        let args: Vec<&Json> = match given {
            Json::Null => Vec::new(),
            // One argument may be a list.
            Json::Array(all) if (least..=count).contains(&all.len()) => all.iter().collect(),
            one => vec![one],
        };
        let mut args: Vec<Value> = args.into_iter().map(of).collect::<Result<_, _>>()?;
        let answer =
            made.answer.as_ref().map(|answer| answer_of(name, &answer.json(), &self.given));
        let answer = answer.transpose()?;
        // The client may be an argument, too.
        let lacks = |at: usize| match count.checked_sub(args.len()) {
            Some(1) => at + 1 == count || answer.as_ref().is_some_and(says_nothing),
            lacking => lacking == Some(2),
        };
        let at = own.filter(|at| lacks(*at) && *at <= args.len());
        if let (Some(at), Some(thread)) = (at, thread_of(&call)) {
            args.insert(at, Value::Int(thread));
        }
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

    /// The step that a record of OmniLink's logs is, to which the modules that OmniLink generates
    /// give it as a whole.
    fn of_record(&self, record: &Record) -> Result<Made, String> {
        let ((action, params), repeated) = self.actions_of(&format!("{CALL}{}", record.name))?;
        let (args, repeated) = (vec![record.event()?], repeated.map(|of| of.0));
        Ok(Made { action, params, args, answer: None, repeated, repeats: false })
    }

    fn known<'a>(&self, of: &'a Operation) -> &'a Made {
        let find = || self.made(of).unwrap_or_else(|error| stop(Problem::new(error)));
        of.call.0.made.get_or_init(find)
    }

    /// The steps from here, with this answer or with any.
    fn steps(&self, at: &At, made: &Made, answer: Option<&Value>) -> Vec<Step> {
        let args: Vec<Value> = made.args.iter().chain(answer).cloned().collect();
        let action = action_in(&at.of, &made.action);
        let from = |state: &State| {
            let steps = at.of.steps(action, state, &args);
            steps.unwrap_or_else(|problem| {
                stop(Problem::new(format!("{problem}, where {}", at.of.shown(state))))
            })
        };
        states(at).iter().flat_map(from).collect()
    }

    /// The values that a history has of the constants that depend on it.
    fn constants(
        &self,
        operations: &mut dyn Iterator<Item = &Operation>,
    ) -> Result<Constants, Problem> {
        let (mut found, mut records) = (BTreeMap::new(), BTreeMap::<i64, Vec<Value>>::new());
        for (name, set) in &self.of_history {
            let values = set.as_ref().map(Value::elements).transpose()?;
            found.insert(name, BTreeSet::from_iter(values.into_iter().flat_map(Cow::into_owned)));
        }
        for operation in operations {
            let made = self.known(operation);
            if self.validates_logs() {
                let event = made.args.first().cloned().unwrap_or(Value::Bool(false));
                let pid = event.get(&Value::text("pid"))?.map_or(Ok(0), Value::int)?;
                records.entry(pid).or_default().push(event);
                continue;
            }
            for (param, value) in made.params.iter().zip(made.args.iter().chain(&made.answer)) {
                for (name, values) in &mut found {
                    match held(name, param) {
                        _ if matches!(value, Value::Model(_)) => {}
                        Some(Held::Value) => drop(values.insert(value.clone())),
                        Some(Held::Items) => values.extend(value.items()?.iter().cloned()),
                        None => {}
                    }
                }
            }
        }
        let set = |(name, values): (&String, BTreeSet<Value>)| {
            Ok((name.clone(), Value::set(values.into_iter().collect())?))
        };
        let mut constants: Constants = found.into_iter().map(set).collect::<Result<_, _>>()?;
        if self.validates_logs() {
            let of = |(pid, all)| Ok((Value::Int(pid), Value::seq(all)?));
            let all = records.into_iter().map(of).collect::<Result<_, Problem>>()?;
            constants.insert(TRACES.to_string(), Value::function(all)?);
        }
        Ok(constants)
    }

    /// The specification with these values.
    fn with(&self, constants: Constants) -> Result<Arc<Specification>, Problem> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&constants) {
            return Ok(known.clone());
        }
        let mut compiled = self.source.compile(&self.given, &constants)?;
        if let Some(covering) = &self.covering {
            compiled = compiled.covered(covering.clone());
        }
        let compiled = Arc::new(compiled);
        if known.len() == KNOWN_MAX {
            known.clear();
        }
        known.insert(constants, compiled.clone());
        Ok(compiled)
    }
}

/// Methods by their names.
pub type Methods = Vec<(String, Method)>;

/// The name of an action, and its parameters.
pub(super) type Named = (Arc<str>, Arc<[String]>);

/// What a parameter says of a constant of the history.
enum Held {
    /// It is one of its elements.
    Value,
    /// Its items are.
    Items,
}

/// Whether a constant is what there is of a parameter: `Keys` of `key`, `Elements` of `elements`,
/// which is a list.
fn held(constant: &str, param: &str) -> Option<Held> {
    let (constant, param) = (constant.to_lowercase(), param.to_lowercase());
    let singular = param.strip_suffix('y').map(|stem| format!("{stem}ies"));
    let plurals = [Some(format!("{param}s")), Some(format!("{param}es")), singular];
    match plurals.iter().flatten().any(|plural| *plural == constant) {
        true => Some(Held::Value),
        false => (constant == param && constant.ends_with('s')).then_some(Held::Items),
    }
}

/// The specification where those of these constants that have no value are equal to nothing else.
fn compiled(
    source: &Source,
    given: &Constants,
    open: &[(String, Option<Value>)],
) -> Result<Specification, Problem> {
    let unknown = open.iter().filter(|(_, value)| value.is_none());
    let any = |(name, _): &(String, _)| (name.clone(), Value::Model(name.as_str().into()));
    source.compile(given, &unknown.map(any).collect())
}

fn action_in<'s>(of: &'s Specification, name: &str) -> &'s Action {
    match of.action(name) {
        Some(Ok(action)) => action,
        Some(Err(problem)) => stop(problem.clone()),
        None => stop(Problem::new(format!("{name} says nothing of the next state"))),
    }
}

fn states(at: &At) -> Vec<State> {
    match &at.state {
        Some(state) => vec![state.clone()],
        None => at.of.begin().unwrap_or_else(|problem| stop(problem)),
    }
}

impl Model<Operation> for Specified {
    type State = At;

    fn init(&self) -> At {
        At { of: self.of_any.clone(), state: None }
    }

    fn init_for(&self, operations: &mut dyn Iterator<Item = &Operation>) -> At {
        if self.of_history.is_empty() {
            return self.init();
        }
        let known = self.constants(operations).and_then(|constants| self.with(constants));
        At { of: known.unwrap_or_else(|problem| stop(problem)), state: None }
    }

    fn split(&self, made: &Operation, steps: &mut Vec<Operation>) {
        let Some(action) = self.known(made).repeated.clone() else { return };
        let first = Made { action, repeats: true, ..self.known(made).clone() };
        let call = Call(Arc::new(OnceMade { said: made.call.0.said.clone(), made: first.into() }));
        steps.extend([Answered { call, answer: made.answer.clone() }, made.clone()]);
    }

    fn repeats(&self, step: &Operation) -> bool {
        self.known(step).repeats
    }

    fn step(&self, at: &At, made: &Operation, next: &mut Vec<At>) {
        let made = self.known(made);
        let steps = self.steps(at, made, made.answer.as_ref());
        let to = |step: Step| At { of: at.of.clone(), state: Some(step.next) };
        next.extend(steps.into_iter().map(to));
    }

    /// The answers with which the action is possible; else what is false.
    fn right_answer(&self, at: &At, made: &Operation) -> Option<String> {
        let (made, states) = (self.known(made), states(at));
        // Of a call in steps, the last says what is answered.
        let whole = made.action.strip_suffix(STEP).filter(|_| made.repeats);
        let last = whole.map(|whole| format!("{whole}{DONE}"));
        let action = action_in(&at.of, last.as_deref().unwrap_or(&made.action));
        // Where the action asks for the answer before it says it, none is known.
        let steps = states.iter().filter_map(|state| at.of.steps(action, state, &made.args).ok());
        let mut answers: Vec<Value> = steps.flatten().filter_map(|step| step.answer).collect();
        answers.sort();
        answers.dedup();
        if !answers.is_empty() {
            let shown: Vec<String> = answers.iter().map(Value::to_string).collect();
            return Some(shown.join(" or "));
        }
        let args: Vec<Value> = made.args.iter().chain(&made.answer).cloned().collect();
        Some(match states.iter().find_map(|state| at.of.blocked(action, state, &args))? {
            Blocked::Conjunct { text, line, compared } => {
                let here = compared.map_or(String::new(), |compared| format!(" ({compared})"));
                format!("refused: line {line} is false: {text}{here}")
            }
            Blocked::Invariant { name, after } => {
                format!("refused: {name} would be false: {}", at.of.shown(&after))
            }
        })
    }

    fn describe(&self, made: &Operation) -> String {
        // Where it is no step of an action, it is said here, before anything is judged.
        let Made { args, answer, .. } = self.known(made);
        let call = made.call.0.said.json();
        let (name, given) = parts(&call).expect("it is known");
        if let (true, Ok(record)) = (self.validates_logs(), Record::of(name, given)) {
            let one = |(name, of): (&String, &Json)| {
                logged(of).map_or(String::new(), |value| format!("{name} = {value}"))
            };
            return format!("{name}({})", record.params().map(one).collect::<Vec<_>>().join(", "));
        }
        let args: Vec<String> = args.iter().map(Value::to_string).collect();
        let call = format!("{name}({})", args.join(", "));
        answer.as_ref().map_or(call.clone(), |answer| format!("{call} -> {answer}"))
    }

    fn describe_state(&self, at: &At) -> String {
        let shown: Vec<String> = states(at).iter().map(|state| at.of.shown(state)).collect();
        shown.join(" or ")
    }

    fn weight(&self, at: &At) -> usize {
        at.state.as_ref().map_or(0, |state| state.iter().map(Value::weight).sum())
    }
}

/// The model cannot go on.
fn stop(problem: Problem) -> ! {
    std::panic::panic_any(problem)
}

/// The name of an action as people write it: `try_acquire` is TryAcquire.
fn of_action(name: &str) -> String {
    let part = |part: &str| match part.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + rest,
        None => String::new(),
    };
    name.split('_').map(part).collect()
}

/// The reverse: TryAcquire is `try_acquire`.
fn as_method(action: &str) -> String {
    // KVInsert keeps its name: no other one leads back to it.
    let (mut name, mut ends_low) = (String::new(), false);
    for letter in action.chars() {
        if letter.is_uppercase() && ends_low {
            name.push('_');
        }
        ends_low = letter.is_lowercase() || letter.is_numeric();
        name.extend(letter.to_lowercase());
    }
    name
}
