//! A specification that was compiled: how it begins, and what each of its actions leads to.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::covering::{Covering, Kind};
use super::eval::{Compiled, Machine};
use super::ir::{Ir, Spot};
use super::load::Globals;
use super::lower::Lowering;
use super::parse;
use super::problem::{Problem, Result, fail};
use super::source::{Source, compiled};
use super::value::Value;

/// The values of the variables, in the order of their declarations.
pub type State = Arc<[Value]>;

/// So many steps are compared with each other.
const FEW: usize = 16;

/// Values of constants, by name.
pub type Constants = BTreeMap<String, Value>;

#[derive(Debug)]
pub struct Specification {
    pub name: String,
    /// The action that is all steps, if something says so.
    pub(super) every: Option<Arc<Action>>,
    pub variables: Vec<String>,
    /// The variable of which only the next value is looked at: no state has it.
    pub(super) passing: Option<usize>,
    pub(super) compiled: Compiled,
    pub(super) init: Expression,
    /// By name; those that cannot be evaluated with the reason.
    pub(super) actions: BTreeMap<String, Result<Arc<Action>>>,
    /// By name.
    pub(super) invariants: Vec<(String, Expression)>,
    /// Of states that a search for all of them goes on from; none: it cannot be evaluated.
    pub(super) constraints: Option<Vec<Expression>>,
    /// What is shown of a state.
    pub(super) alias: Option<Expression>,
    /// The lines of each module.
    pub(super) lines: Arc<[Vec<String>]>,
    /// Where it is counted what steps go through.
    pub(super) covering: Option<Arc<Covering>>,
}

/// An expression, and how many slots its frame has.
#[derive(Debug)]
pub struct Expression {
    pub(super) ir: Ir,
    pub(super) slots: u32,
}

/// A definition that says what the next state is.
#[derive(Debug)]
pub struct Action {
    pub name: Arc<str>,
    pub params: Arc<[String]>,
    /// The first slots are the parameters.
    pub(super) of: Expression,
}

/// A step that an action allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub next: State,
    /// What the last parameter is, where that was left open.
    pub answer: Option<Value>,
}

/// Why an action is not possible.
#[derive(Clone, Debug, PartialEq)]
pub enum Blocked {
    /// The conjunct that is false, its line, and what it compares.
    Conjunct { text: String, line: u32, compared: Option<String> },
    /// The invariant that is false after it, and that state.
    Invariant { name: String, after: State },
}

impl Specification {
    /// Reads the module in this file, those that it names, and the configuration beside it, if
    /// there is one. `given`: values of constants that have none there.
    ///
    /// # Errors
    /// What cannot be read, or is not supported, with its place.
    pub fn load(path: &Path, given: &Constants) -> Result<Specification> {
        Source::load(path, None, "")?.compile(given, &Constants::new())
    }

    /// The specification with this text, without a configuration.
    ///
    /// # Errors
    /// As [`Specification::load`].
    pub fn from_text(text: &str) -> Result<Specification> {
        Source::from_text(text)?.compile(&Constants::new(), &Constants::new())
    }

    /// The same, where it is counted what steps go through.
    pub fn covered(self, covering: Arc<Covering>) -> Specification {
        Specification { covering: Some(covering), ..self }
    }

    /// An action of this name, if there is one; an error where it cannot be evaluated.
    pub fn action(&self, name: &str) -> Option<&Result<Arc<Action>>> {
        self.actions.get(name)
    }

    /// The names of the actions.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().filter(|(_, action)| action.is_ok()).map(|(name, _)| name.as_str())
    }

    /// The states in which it may begin.
    ///
    /// # Errors
    /// If they cannot be evaluated, or an invariant is false in each.
    pub fn begin(&self) -> Result<Vec<State>> {
        let none = vec![Value::Bool(false); self.variables.len()];
        let mut machine = Machine::new(&self.compiled, &none, self.init.slots);
        let steps = self.steps_of(&mut machine, &self.init.ir, "the first state")?;
        let is_first = !steps.is_empty();
        let (first, mut broken) = (steps.into_iter().map(|step| step.next), None);
        let mut kept = Vec::new();
        for state in first {
            match self.broken(&state)? {
                None => kept.push(state),
                some => broken = some,
            }
        }
        match broken.filter(|_| kept.is_empty() && is_first) {
            Some(name) => fail(format!("the invariant {name} is false before the first step")),
            None => Ok(kept),
        }
    }

    /// The steps of an action from a state after which all invariants are true. With one argument
    /// less than it has parameters, the last is what the step answers.
    ///
    /// # Errors
    /// If it cannot be evaluated there.
    pub fn steps(&self, action: &Action, state: &State, args: &[Value]) -> Result<Vec<Step>> {
        let mut steps = self.all_steps(action, state, args)?;
        if !self.invariants.is_empty() {
            let mut kept = Vec::new();
            for step in steps {
                if self.broken(&step.next)?.is_none() {
                    kept.push(step);
                }
            }
            steps = kept;
        }
        Ok(steps)
    }

    fn all_steps(&self, action: &Action, state: &State, args: &[Value]) -> Result<Vec<Step>> {
        let mut machine = self.machine(action, state, args);
        machine.covering = self.covering.as_deref().map(|covering| (covering, &*action.name));
        self.steps_of(&mut machine, &action.of.ir, "the next state")
    }

    /// Whether the constraints of the configuration are true in this state.
    ///
    /// # Errors
    /// If one cannot be evaluated.
    pub(super) fn is_bounded(&self, state: &State) -> Result<bool> {
        let Some(constraints) = &self.constraints else {
            return fail("a constraint of the configuration is not supported");
        };
        for constraint in constraints {
            if !Machine::new(&self.compiled, state, constraint.slots).bool(&constraint.ir)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name of an invariant that is false in this state, if one is.
    fn broken(&self, state: &State) -> Result<Option<&String>> {
        for (name, invariant) in &self.invariants {
            if !Machine::new(&self.compiled, state, invariant.slots).bool(&invariant.ir)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The invariant that is false after each of its steps, or the conjunct that is false after
    /// most others were true; none if the action is possible.
    pub fn blocked(&self, action: &Action, state: &State, args: &[Value]) -> Option<Blocked> {
        let steps = self.all_steps(action, state, args).ok()?;
        if let Some(Step { next: after, .. }) = steps.first() {
            let name = self.broken(after).ok()??.clone();
            return Some(Blocked::Invariant { name, after: after.clone() });
        }
        let mut machine = self.machine(action, state, args);
        machine.explains = true;
        machine.act(&action.of.ir, &mut |_| Ok(false)).ok()?;
        let ((_, spot), compared) = (machine.blocked?, machine.compared);
        Some(Blocked::Conjunct { text: self.line(spot)?, line: spot.place.line, compared })
    }

    pub(super) fn line(&self, spot: Spot) -> Option<String> {
        let lines = self.lines.get(spot.module as usize)?;
        let line = lines.get((spot.place.line as usize).checked_sub(1)?)?;
        let mut text = line.trim();
        while let Some(rest) = text.strip_prefix("/\\").or_else(|| text.strip_prefix("\\/")) {
            text = rest.trim_start();
        }
        Some(text.to_string())
    }

    /// The state as the configuration's ALIAS has it; else its variables.
    pub fn shown(&self, state: &State) -> String {
        let alias = self.alias.as_ref().and_then(|alias| {
            let mut machine = Machine::new(&self.compiled, state, alias.slots);
            // It may be about the next state, too: there is none here.
            let value = machine.value(&alias.ir).ok()?;
            let fields = value.pairs().ok()?;
            let one = |(name, value): &(Value, Value)| match name {
                Value::Text(name) => format!("{name} = {value}"),
                name => format!("{name} = {value}"),
            };
            Some(fields.iter().map(one).collect::<Vec<_>>().join(", "))
        });
        let one = |(name, value): (&String, &Value)| format!("{name} = {value}");
        let all = self.variables.iter().zip(state.iter());
        alias.unwrap_or_else(|| all.map(one).collect::<Vec<_>>().join(", "))
    }

    fn machine<'s>(&'s self, action: &'s Action, state: &'s State, args: &[Value]) -> Machine<'s> {
        let mut machine = Machine::new(&self.compiled, state, action.of.slots);
        for (slot, value) in machine.frame.iter_mut().zip(args) {
            *slot = Some(value.clone());
        }
        machine.free = (args.len() < action.params.len()).then_some(args.len() as u32);
        machine
    }

    fn steps_of(&self, machine: &mut Machine, ir: &Ir, what: &str) -> Result<Vec<Step>> {
        let (mut steps, mut seen) = (Vec::<Step>::new(), FxHashSet::default());
        machine.act(ir, &mut |machine| {
            if let Some(at) = machine.next.iter().position(Option::is_none) {
                return fail(format!("nothing says what {} is in {what}", self.variables[at]));
            }
            let said = machine.next.iter();
            let mut next: State = said.map(|of| of.clone().expect("each is said")).collect();
            if let Some(at) = self.passing {
                Arc::make_mut(&mut next)[at] = Value::Bool(false);
            }
            let answer = machine.free.and_then(|slot| machine.frame[slot as usize].clone());
            if let Some((covering, of)) = machine.covering {
                // To look for all states goes through Next, which no call is a step of.
                if let Some(action) = covering.number(of, Kind::Action, ir) {
                    machine.path.push(action);
                    covering.took(&machine.path, &next);
                    machine.path.pop();
                }
            }
            let step = Step { next, answer };
            // There are few, mostly one; of first states there can be many.
            let is_new = match steps.len() {
                0..FEW => !steps.contains(&step),
                FEW => {
                    seen.extend(steps.iter().map(|of| (of.next.clone(), of.answer.clone())));
                    seen.insert((step.next.clone(), step.answer.clone()))
                }
                _ => seen.insert((step.next.clone(), step.answer.clone())),
            };
            if is_new {
                steps.push(step);
            }
            Ok(true)
        })?;
        Ok(steps)
    }
}

/// The value of an expression in the scope of a module, which has no variables in it.
///
/// # Errors
/// If it has none.
pub fn evaluate(module: &str, expression: &str) -> Result<Value> {
    let read = |error: parse::SyntaxError| Problem::new(error.to_string());
    let modules = [parse::module(module).map_err(read)?];
    let node = parse::expression(expression).map_err(read)?;
    let mut lowering = Lowering::new(&modules, Globals::default());
    let scope = lowering.module(&modules[0])?;
    let ir = lowering.node(&node, &scope, false)?;
    let slots = lowering.next;
    let compiled = compiled(lowering);
    let mut value = Machine::new(&compiled, &[], slots).value(&ir)?;
    value.list()?;
    Ok(value)
}
