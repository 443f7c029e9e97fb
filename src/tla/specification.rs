//! A specification that was read: how it begins, and what each of its actions leads to.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::config::Config;
use super::eval::{Compiled, Machine};
use super::ir::{Ir, Routine, Spot};
use super::load::{self, Globals};
use super::lower::Lowering;
use super::parse;
use super::problem::{Problem, Result, fail};
use super::scope::{Named, Names, Scope, find};
use super::syntax::{Definition, Expr, Module, Node, Unit};
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
    pub variables: Vec<String>,
    compiled: Compiled,
    init: Expression,
    /// By name; those that cannot be evaluated with the reason.
    actions: BTreeMap<String, Result<Arc<Action>>>,
    /// The lines of each module.
    lines: Vec<Vec<String>>,
}

/// An expression, and how many slots its frame has.
#[derive(Debug)]
struct Expression {
    ir: Ir,
    slots: u32,
}

/// A definition that says what the next state is.
#[derive(Debug)]
pub struct Action {
    pub params: Vec<String>,
    /// The first slots are the parameters.
    of: Expression,
}

/// A step that an action allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub next: State,
    /// What the last parameter is, where that was left open.
    pub answer: Option<Value>,
}

/// Why an action is not possible: the conjunct that is false, and its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    pub text: String,
    pub line: u32,
}

impl Specification {
    /// Reads the module in this file, those that it names, and the configuration beside it, if
    /// there is one. `given`: values of constants that have none there.
    ///
    /// # Errors
    /// What cannot be read, or is not supported, with its place.
    pub fn load(path: &Path, given: &Constants) -> Result<Specification> {
        let (modules, beside) = (load::modules(path)?, path.with_extension("cfg"));
        let config = match beside.exists() {
            false => Config::default(),
            true => {
                let shown = beside.display();
                let text = std::fs::read_to_string(&beside)
                    .map_err(|error| Problem::new(format!("cannot read {shown}: {error}")))?;
                Config::read(&text).map_err(|why| Problem::new(format!("{shown}: {why}")))?
            }
        };
        let mut specification = Specification::compile(&modules, &config, given)?;
        let file = |module: &Module| path.with_file_name(format!("{}.tla", module.name));
        let files = std::iter::once(path.to_path_buf()).chain(modules[1..].iter().map(file));
        let text = |path| std::fs::read_to_string(path).unwrap_or_default();
        let lines = |path| text(path).lines().map(str::to_string).collect();
        specification.lines = files.map(lines).collect();
        Ok(specification)
    }

    /// The specification with this text, without a configuration.
    ///
    /// # Errors
    /// As [`Specification::load`].
    pub fn from_text(text: &str) -> Result<Specification> {
        let module = parse::module(text).map_err(|error| Problem::new(error.to_string()))?;
        Specification::compile(&[module], &Config::default(), &Constants::new())
    }

    /// Compiles modules, of which the first is the specification.
    fn compile(modules: &[Module], config: &Config, given: &Constants) -> Result<Specification> {
        let (constants, replaced) = (config.constants.clone(), config.replaced.clone());
        let given = given.clone();
        let globals = Globals { constants, given, replaced, ..Globals::default() };
        let mut lowering = Lowering::new(modules, globals);
        let scope = lowering.module(&modules[0])?;
        assumed(&mut lowering, &scope, &modules[0])?;
        let init = initial(&mut lowering, &scope, config, modules)?;
        let mut actions = BTreeMap::new();
        for (of, inside) in definitions(modules, &mut lowering)? {
            let action = action(&mut lowering, of, &inside);
            if action.as_ref().map_or(true, |action| action.of.ir.reads_next()) {
                actions.entry(of.name.clone()).or_insert(action.map(Arc::new));
            }
        }
        let variables = std::mem::take(&mut lowering.globals.variables);
        Ok(Specification {
            name: modules[0].name.clone(),
            variables,
            compiled: compiled(lowering),
            init,
            actions,
            lines: Vec::new(),
        })
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
    /// If they cannot be evaluated.
    pub fn begin(&self) -> Result<Vec<State>> {
        let none = vec![Value::Bool(false); self.variables.len()];
        let mut machine = Machine::new(&self.compiled, &none, self.init.slots);
        let steps = self.steps_of(&mut machine, &self.init.ir, "the first state")?;
        Ok(steps.into_iter().map(|step| step.next).collect())
    }

    /// The steps of an action from a state. With one argument less than it has parameters, the last
    /// is what the step answers.
    ///
    /// # Errors
    /// If it cannot be evaluated there.
    pub fn steps(&self, action: &Action, state: &State, args: &[Value]) -> Result<Vec<Step>> {
        let mut machine = self.machine(action, state, args);
        self.steps_of(&mut machine, &action.of.ir, "the next state")
    }

    /// The conjunct that is false after most others were true; none if the action is possible.
    pub fn blocked(&self, action: &Action, state: &State, args: &[Value]) -> Option<Blocked> {
        let mut machine = self.machine(action, state, args);
        let mut is_possible = false;
        let ended = machine.act(&action.of.ir, &mut |_| {
            is_possible = true;
            Ok(false)
        });
        let (_, spot) = machine.blocked.filter(|_| ended.is_ok() && !is_possible)?;
        Some(Blocked { text: self.line(spot)?, line: spot.place.line })
    }

    fn line(&self, spot: Spot) -> Option<String> {
        let lines = self.lines.get(spot.module as usize)?;
        let line = lines.get((spot.place.line as usize).checked_sub(1)?)?;
        Some(line.trim().trim_start_matches("/\\").trim().to_string())
    }

    fn machine<'s>(&'s self, action: &Action, state: &'s State, args: &[Value]) -> Machine<'s> {
        let mut machine = Machine::new(&self.compiled, state, action.of.slots);
        for (slot, value) in machine.frame.iter_mut().zip(args) {
            *slot = Some(value.clone());
        }
        machine.free = (args.len() < action.params.len()).then_some(args.len() as u32);
        machine
    }

    fn steps_of(&self, machine: &mut Machine, ir: &Ir, what: &str) -> Result<Vec<Step>> {
        let (mut steps, mut seen) = (Vec::<Step>::new(), HashSet::new());
        machine.act(ir, &mut |machine| {
            if let Some(at) = machine.next.iter().position(Option::is_none) {
                return fail(format!("nothing says what {} is in {what}", self.variables[at]));
            }
            let next: State = machine.next.iter().flatten().cloned().collect();
            let answer = machine.free.and_then(|slot| machine.frame[slot as usize].clone());
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

/// What was compiled. To call a routine that could not be is an error.
fn compiled(lowering: Lowering) -> Compiled {
    let none = || {
        let message = "a RECURSIVE operator is called that cannot be evaluated";
        let body = Ir::Fail(message.to_string(), Spot::default());
        Routine { name: String::new(), first: 0, size: 0, body }
    };
    let routines = lowering.routines.into_iter().map(|of| of.unwrap_or_else(none)).collect();
    Compiled { modules: lowering.modules, routines }
}

/// An error if an assumption is false. One that cannot be evaluated here says nothing.
fn assumed<'a>(lowering: &mut Lowering<'a>, scope: &Names<'a>, module: &'a Module) -> Result<()> {
    for unit in &module.units {
        if let Unit::Assume(node) = unit
            && let Ok(Ir::Value(Value::Bool(false))) = lowering.node(node, scope, false)
        {
            return lowering.problem(scope, node.place, "this assumption is false");
        }
    }
    Ok(())
}

/// How it begins. Its variables count as primed: their first values are what comes next.
fn initial<'a>(
    lowering: &mut Lowering<'a>,
    scope: &Names<'a>,
    config: &Config,
    modules: &'a [Module],
) -> Result<Expression> {
    let names = match (&config.init, &config.specification) {
        (Some(name), _) | (None, Some(name)) => vec![name.as_str()],
        (None, None) => vec!["Init", "Spec"],
    };
    let definition = names.iter().find_map(|name| match find(scope, name) {
        Some((of, Named::Definition { of: definition, .. })) => Some((definition, of)),
        _ => None,
    });
    let Some((definition, of)) = definition else {
        return fail(format!("module {} does not define {}", modules[0].name, names[0]));
    };
    let mut first = Vec::new();
    begins(lowering, &definition.body, &of, &mut first)?;
    Ok(Expression { ir: Ir::And(first.into()), slots: lowering.next })
}

/// Adds what a formula says of the first state: all its conjuncts that are not about behaviours.
fn begins<'a>(
    lowering: &mut Lowering<'a>,
    node: &'a Node,
    scope: &Names<'a>,
    first: &mut Vec<Ir>,
) -> Result<()> {
    match &node.of {
        Expr::And(all) => {
            return all.iter().try_for_each(|one| begins(lowering, one, scope, first));
        }
        Expr::Labelled { body, .. } => return begins(lowering, body, scope, first),
        Expr::Apply { instances, name, args } if instances.is_empty() && args.is_empty() => {
            if let Some((of, Named::Definition { of: definition, .. })) = find(scope, name)
                && is_temporal(&definition.body, &of, 0)
            {
                return begins(lowering, &definition.body, &of, first);
            }
        }
        _ => {}
    }
    if !is_temporal(node, scope, 0) {
        first.push(lowering.node(node, scope, true)?);
    }
    Ok(())
}

/// Whether a formula, or what it names, is about behaviours.
fn is_temporal(node: &Node, scope: &Names, depth: u32) -> bool {
    let mut is = false;
    node.each(&mut |part| {
        is |= match &part.of {
            Expr::Fairness { .. } | Expr::Action { .. } => true,
            Expr::Apply { name, .. } if ["[]", "<>", "~>", "-+->"].contains(&&**name) => true,
            Expr::Apply { instances, name, .. } if instances.is_empty() && depth < 16 => {
                match find(scope, name) {
                    Some((of, Named::Definition { of: definition, is_recursive: false })) => {
                        is_temporal(&definition.body, &of, depth + 1)
                    }
                    _ => false,
                }
            }
            _ => false,
        };
    });
    is
}

/// Adds the definitions of a module, and of those of which it has instances without a name.
fn defined<'a>(
    modules: &'a [Module],
    lowering: &mut Lowering<'a>,
    (module, scope): (&'a Module, &Names<'a>),
    all: &mut Vec<(&'a Definition, Names<'a>)>,
) -> Result<()> {
    for unit in &module.units {
        match unit {
            Unit::Definition(of) if of.domain.is_empty() => all.push((of, scope.clone())),
            Unit::Instance(of) if of.name.is_none() => {
                if let Some(module) = modules.iter().find(|module| module.name == of.module) {
                    let scope = lowering.open(of, scope)?;
                    defined(modules, lowering, (module, &scope), all)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The definitions of the specification and of the modules that it extends, with their scopes.
fn definitions<'a>(
    modules: &'a [Module],
    lowering: &mut Lowering<'a>,
) -> Result<Vec<(&'a Definition, Names<'a>)>> {
    let (mut all, mut extended) = (Vec::new(), vec![&modules[0]]);
    let mut at = 0;
    while at < extended.len() {
        let module = extended[at];
        at += 1;
        let scope = lowering.module(module)?;
        for (name, _) in &module.extends {
            let more = modules.iter().find(|module| module.name == *name);
            let is_new = |more: &&Module| extended.iter().all(|known| !std::ptr::eq(*known, *more));
            extended.extend(more.filter(is_new));
        }
        defined(modules, lowering, (module, &scope), &mut all)?;
    }
    Ok(all)
}

fn action<'a>(
    lowering: &mut Lowering<'a>,
    of: &'a Definition,
    scope: &Names<'a>,
) -> Result<Action> {
    if let Some(param) = of.params.iter().find(|param| param.arity > 0) {
        return fail(format!("{} takes an operator ({}): it is no action", of.name, param.name));
    }
    lowering.next = of.params.len() as u32;
    let inside = Scope::inside(scope, lowering.next);
    for (slot, param) in (0..).zip(&of.params) {
        inside.bind(&param.name, Named::Local(slot));
    }
    let ir = lowering.node(&of.body, &inside, false)?;
    let params = of.params.iter().map(|param| param.name.clone()).collect();
    Ok(Action { params, of: Expression { ir, slots: lowering.next } })
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
