//! Finds the modules of a specification, and makes the scope of each.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::config::Inside;
use super::definitions;
use super::lower::Lowering;
use super::native;
use super::parse;
use super::problem::{Problem, Result};
use super::scope::{Arg, Named, Names, Scope, find};
use super::syntax::{Expr, Instance, Module, Unit};
use super::validate;
use super::value::Value;

/// The module in this file, and all that it names, each once, with their texts. Others are beside
/// it, or are those that OmniLink would generate, without a text.
///
/// # Errors
/// If a file cannot be read, or is no module.
pub fn modules(path: &Path) -> Result<Vec<(Module, String)>> {
    let mut modules = vec![read(path)?];
    let mut at = 0;
    while at < modules.len() {
        for name in named(&modules[at].0) {
            let is_known = modules.iter().any(|(module, _)| has(module, &name));
            if is_known || native::MODULES.contains(&name.as_str()) {
                continue;
            }
            let beside = path.with_file_name(format!("{name}.tla"));
            let is_bundled = native::NOT_EVALUATED.contains(&name.as_str())
                || definitions::named(&name).is_some();
            if !beside.exists() && is_bundled {
                continue;
            }
            if !beside.exists()
                && let Some(text) = validate::module(&name, path)?
            {
                let module = parse::module(&text).map_err(|error| Problem::new(error.to_string()));
                modules.push((module?, String::new()));
                continue;
            }
            if !beside.exists() {
                let (by, file) = (&modules[at].0.name, beside.display());
                let message = format!("module {by} names module {name}: there is no {file}");
                return Err(Problem::new(message));
            }
            modules.push(read(&beside)?);
        }
        at += 1;
    }
    Ok(modules)
}

/// The module in this file, with its text.
///
/// # Errors
/// If it cannot be read, or is none.
pub fn read(path: &Path) -> Result<(Module, String)> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problem::new(format!("cannot read {shown}: {error}")))?;
    let module = parse::module(&text).map_err(|error| {
        let (line, column) = (error.place.line, error.place.column);
        Problem::new(format!("{shown}:{line}:{column}: {}", error.message))
    })?;
    Ok((module, text))
}

/// The specification and the modules that it extends.
pub fn extended(modules: &[Module]) -> Vec<&Module> {
    let mut all = vec![&modules[0]];
    let mut at = 0;
    while at < all.len() {
        for (name, _) in &all[at].extends {
            let more = modules.iter().find(|module| module.name == *name);
            let is_new = |more: &&Module| all.iter().all(|known| !std::ptr::eq(*known, *more));
            all.extend(more.filter(is_new));
        }
        at += 1;
    }
    all
}

/// Whether it is this module, or has it inside.
fn has(module: &Module, name: &str) -> bool {
    let is_inner = |unit: &Unit| matches!(unit, Unit::Module(inner) if has(inner, name));
    module.name == name || module.units.iter().any(is_inner)
}

/// The modules that a module extends or has instances of.
fn named(module: &Module) -> Vec<String> {
    let mut names: Vec<String> = module.extends.iter().map(|(name, _)| name.clone()).collect();
    for unit in &module.units {
        match unit {
            Unit::Instance(instance) => names.push(instance.module.clone()),
            Unit::Module(inner) => names.extend(named(inner)),
            Unit::Definition(of) => of.body.each(&mut |node| {
                let Expr::Let { units, .. } = &node.of else { return };
                let of_unit = |unit: &Unit| match unit {
                    Unit::Instance(instance) => Some(instance.module.clone()),
                    _ => None,
                };
                names.extend(units.iter().filter_map(of_unit));
            }),
            _ => {}
        }
    }
    names
}

/// What a specification has beside its modules.
#[derive(Default)]
pub struct Globals {
    /// Of the configuration.
    pub constants: HashMap<String, Value>,
    /// Of constants of which that says nothing.
    pub given: BTreeMap<String, Value>,
    /// Names that the configuration replaces by others.
    pub replaced: HashMap<String, String>,
    /// What names of one module stand for, by module and name.
    pub inside: HashMap<(String, String), Inside>,
    pub variables: Vec<String>,
}

impl Globals {
    /// The number of a variable.
    fn variable(&mut self, name: &str) -> u32 {
        let known = self.variables.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.variables.push(name.to_string());
            self.variables.len() - 1
        }) as u32
    }
}

/// An instance and the names where it stands: what the constants and variables of its module stand
/// for. Without it, they are those of the specification.
type With<'a> = Option<(&'a Instance, Names<'a>)>;

/// The scope of a module; `parent`: that of the module around it.
pub fn scope<'a>(
    lowering: &mut Lowering<'a>,
    module: &'a Module,
    (with, parent): (With<'a>, Option<Names<'a>>),
) -> Result<Names<'a>> {
    let mut known = lowering.loaded.iter().chain(definitions::modules());
    let number = known.position(|known| std::ptr::eq(known, module));
    let number = number.map_or_else(|| parent.as_ref().map_or(0, |of| of.module), |at| at as u16);
    let (mut extends, mut standard) = (Vec::new(), Vec::new());
    if definitions::modules().iter().any(|known| std::ptr::eq(known, module)) {
        add_standard(&module.name, &mut standard);
    }
    for (name, _) in &module.extends {
        match (lowering.loaded.iter().find(|module| module.name == *name), &with) {
            (Some(extended), None) => extends.push(lowering.module(extended)?),
            (Some(extended), with) => {
                extends.push(scope(lowering, extended, (with.clone(), None))?)
            }
            (None, _) => add_standard(name, &mut standard),
        }
    }
    let own = {
        // What an instance is given may be bound in slots.
        let levels = parent.iter().chain(with.iter().map(|(_, at)| at)).map(|of| of.level);
        let level = levels.max().unwrap_or(0);
        Scope::of_module((parent, number, with.is_some(), level), extends, standard)
    };
    let mut recursive = Vec::new();
    for unit in &module.units {
        match unit {
            Unit::Constants(constants) => {
                for constant in constants {
                    let Globals { constants, given, .. } = &lowering.globals;
                    let value = constants.get(&constant.name).or(given.get(&constant.name));
                    let alone = value.cloned().map_or(Named::Unknown, Named::Constant);
                    own.bind(&constant.name, stands_for(&constant.name, &with).unwrap_or(alone));
                }
            }
            Unit::Variables(variables) => {
                for (name, _) in variables {
                    let named = stands_for(name, &with)
                        .unwrap_or_else(|| Named::Variable(lowering.globals.variable(name)));
                    own.bind(name, named);
                }
            }
            Unit::Recursive(names) => recursive.extend(names.iter().map(|of| &of.name)),
            Unit::Definition(of) => {
                let is_recursive = recursive.contains(&&of.name);
                own.bind(&of.name, Named::Definition { of, is_recursive });
            }
            Unit::Instance(instance) => lowering.bind_instance(instance, &own)?,
            Unit::Module(inner) => own.bind(&inner.name, Named::Module(inner)),
            Unit::Assume(_) => {}
        }
    }
    Ok(own)
}

fn add_standard(name: &str, standard: &mut Vec<&'static str>) {
    let defined = definitions::named(name);
    let native = native::MODULES.into_iter().find(|known| *known == name);
    let Some(known) = native.or(defined.map(|module| &*module.name)) else { return };
    if standard.contains(&known) {
        return;
    }
    standard.push(known);
    let extended = defined.iter().flat_map(|module| &module.extends).map(|(name, _)| &**name);
    let naturals = (known == "Integers").then_some("Naturals");
    extended.chain(naturals).for_each(|other| add_standard(other, standard));
}

/// What a constant or a variable of an instance's module stands for.
fn stands_for<'a>(name: &str, with: &With<'a>) -> Option<Named<'a>> {
    let (instance, scope) = with.as_ref()?;
    let given = instance.with.iter().find(|(own, _)| own == name);
    Some(match given {
        Some((_, node)) => Named::Alias(Arg::Node(node, scope.clone(), false)),
        None => Named::Given(scope.clone()),
    })
}

/// The scope of an instance's module.
pub fn open<'a>(
    lowering: &mut Lowering<'a>,
    instance: &'a Instance,
    at: &Names<'a>,
) -> Result<Names<'a>> {
    let with = Some((instance, at.clone()));
    if let Some((of, Named::Module(inner))) = find(at, &instance.module) {
        return scope(lowering, inner, (with, Some(of)));
    }
    match lowering.loaded.iter().find(|module| module.name == instance.module) {
        Some(module) => scope(lowering, module, (with, None)),
        None => {
            let of = Scope::inside(at, at.level);
            add_standard(&instance.module, &mut of.standard.borrow_mut());
            Ok(of)
        }
    }
}
