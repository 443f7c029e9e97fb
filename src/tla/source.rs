//! The modules and the configuration of a specification, as they are read, and how they are
//! compiled for values of its constants.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::config::Config;
use super::eval::Compiled;
use super::formula::{begins, every_step};
use super::ir::{Ir, Routine, Spot};
use super::load::{self, Globals};
use super::lower::Lowering;
use super::methods::{Method, methods};
use super::parse;
use super::problem::{Problem, Result, fail};
use super::scope::{Named, Names, Scope, find};
use super::specification::{Action, Constants, Expression, Specification};
use super::syntax::{Definition, Module, Unit};
use super::validate;
use super::value::Value;

/// The name of the action that is all steps, where a formula says which that is.
const EVERY: &str = "[][...]";

/// A specification before its constants have values.
#[derive(Debug)]
pub struct Source {
    /// The first is the specification.
    modules: Vec<Module>,
    config: Config,
    /// The lines of each module.
    lines: Arc<[Vec<String>]>,
}

impl Source {
    /// Reads the module in this file, those that it names, and a configuration: the one beside it,
    /// if there is one and no other is named. `more`: further lines of the configuration.
    ///
    /// # Errors
    /// What cannot be read, or is not supported, with its place.
    pub fn load(path: &Path, configuration: Option<&Path>, more: &str) -> Result<Source> {
        let (modules, texts): (Vec<_>, Vec<_>) = load::modules(path)?.into_iter().unzip();
        let beside = path.with_extension("cfg");
        let file = configuration.or_else(|| beside.exists().then_some(&*beside));
        let mut config = match file {
            None => Config::default(),
            Some(file) => {
                let shown = file.display();
                let text = std::fs::read_to_string(file)
                    .map_err(|error| Problem::new(format!("cannot read {shown}: {error}")))?;
                Config::read(&text).map_err(|why| Problem::new(format!("{shown}: {why}")))?
            }
        };
        config.add(more)?;
        let lines = |text: String| text.lines().map(str::to_string).collect();
        Ok(Source { modules, config, lines: texts.into_iter().map(lines).collect() })
    }

    /// The module with this text, without a configuration.
    ///
    /// # Errors
    /// As [`Source::load`].
    pub fn from_text(text: &str) -> Result<Source> {
        let module = parse::module(text).map_err(|error| Problem::new(error.to_string()))?;
        let lines = [text.lines().map(str::to_string).collect()].into();
        Ok(Source { modules: vec![module], config: Config::default(), lines })
    }

    /// Whether its operations are whole records of OmniLink's logs.
    pub fn validates_logs(&self) -> bool {
        self.modules.iter().any(|module| module.name == validate::OPERATIONS)
    }

    /// The constants that it declares, except operators.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        let units = load::extended(&self.modules).into_iter().flat_map(|module| &module.units);
        let declared = units.filter_map(|unit| match unit {
            Unit::Constants(all) => Some(all.iter().filter(|of| of.arity == 0)),
            _ => None,
        });
        declared.flatten().map(|of| of.name.as_str())
    }

    /// What the configuration gives a value.
    pub fn configured(&self) -> impl Iterator<Item = &str> {
        self.config.constants.keys().map(String::as_str)
    }

    /// Where the configuration says that a constant is a name alone (`Empty = Empty`), it is what
    /// that name stands for, or the constant's own.
    pub fn names(&mut self, named: &Constants) {
        for (constant, value) in &mut self.config.constants {
            if let Value::Model(name) = value
                && let Some(known) = named.get(&**name).or_else(|| named.get(constant))
            {
                *value = known.clone();
            }
        }
    }

    /// The constants without a value, except operators; and with them, those that the configuration
    /// says to be sets of names, which stand for values.
    pub fn open_constants(&self, given: &Constants) -> Vec<(String, Option<Value>)> {
        let open = |name: &str| {
            let Config { constants, replaced, .. } = &self.config;
            if replaced.contains_key(name) || given.contains_key(name) {
                return None;
            }
            let value = constants.get(name);
            let is_name = |value: &Value| matches!(value, Value::Model(_));
            let are_names = |value: &Value| {
                value.elements().is_ok_and(|all| !all.is_empty() && all.iter().all(is_name))
            };
            value.is_none_or(are_names).then(|| (name.to_string(), value.cloned()))
        };
        self.constants().filter_map(open).collect()
    }

    /// The methods that it is about, of those actions.
    pub fn methods(&self, is_action: &dyn Fn(&str) -> bool) -> Vec<Method> {
        methods(&self.modules, &self.config, is_action)
    }

    /// Compiles it. `given`: values of constants that have none in the configuration; `of_history`:
    /// of those that [`open_constants`](Source::open_constants) lists.
    ///
    /// # Errors
    /// What cannot be evaluated, or is not supported, with its place.
    pub fn compile(&self, given: &Constants, of_history: &Constants) -> Result<Specification> {
        let Source { modules, config, .. } = self;
        let Config { replaced, inside, .. } = config.clone();
        let mut constants = config.constants.clone();
        constants.extend(of_history.iter().map(|(name, value)| (name.clone(), value.clone())));
        let given = given.clone();
        let globals = Globals { constants, given, replaced, inside, ..Globals::default() };
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
        let invariants = config.invariants.iter().map(|name| {
            let invariant = named(&mut lowering, &scope, name)?;
            Ok((name.clone(), invariant))
        });
        let invariants = invariants.collect::<Result<_>>()?;
        let every = every(&mut lowering, &scope, config, &actions);
        // What bounds states may be of use to TLC alone; so may what only shows them.
        let constraints = config.constraints.iter();
        let constraints = constraints.map(|name| named(&mut lowering, &scope, name).ok()).collect();
        let alias = config.alias.as_ref().and_then(|name| named(&mut lowering, &scope, name).ok());
        let variables = std::mem::take(&mut lowering.globals.variables);
        Ok(Specification {
            name: modules[0].name.clone(),
            every,
            constraints,
            passing: variables.iter().position(|name| name == validate::ACTION),
            variables,
            compiled: compiled(lowering),
            init,
            actions,
            invariants,
            alias,
            lines: self.lines.clone(),
            covering: None,
        })
    }
}

/// The action that is all steps, if something says so.
fn every<'a>(
    lowering: &mut Lowering<'a>,
    scope: &Names<'a>,
    config: &Config,
    actions: &BTreeMap<String, Result<Arc<Action>>>,
) -> Option<Arc<Action>> {
    let known = |name: &str| actions.get(name).and_then(|action| action.as_ref().ok()).cloned();
    if config.next.is_some() || config.specification.is_none() {
        let name = config.next.as_deref().unwrap_or("Next");
        return known(name).filter(|action| action.params.is_empty());
    }
    let definition = |scope: &Names<'a>, name: &str| match find(scope, name)? {
        (of, Named::Definition { of: definition, is_recursive: false }) => Some((definition, of)),
        _ => None,
    };
    let (formula, inside) = definition(scope, config.specification.as_deref()?)?;
    let (node, inside) = every_step(&formula.body, &inside, &definition)?;
    lowering.next = 0;
    let ir = lowering.node(node, &inside, false).ok()?;
    let of = Expression { ir, slots: lowering.next };
    Some(Arc::new(Action { name: EVERY.into(), params: [].into(), of }))
}

/// The expression that a definition without parameters stands for.
fn named<'a>(lowering: &mut Lowering<'a>, scope: &Names<'a>, name: &str) -> Result<Expression> {
    match find(scope, name) {
        Some((of, Named::Definition { of: definition, .. })) if definition.params.is_empty() => {
            lowering.next = 0;
            let ir = lowering.node(&definition.body, &of, false)?;
            Ok(Expression { ir, slots: lowering.next })
        }
        _ => fail(format!("the configuration names {name}, which is not defined")),
    }
}

/// What was compiled. To call a routine that could not be is an error.
pub fn compiled(lowering: Lowering) -> Compiled {
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
    let mut all = Vec::new();
    for module in load::extended(modules) {
        let scope = lowering.module(module)?;
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
    let name = of.name.clone();
    Ok(Action { name: name.into(), params, of: Expression { ir, slots: lowering.next } })
}
