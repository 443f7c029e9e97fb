//! Which names can be used at a place of a specification, and what each stands for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ir::Ir;
use super::syntax::{Definition, Instance, Module, Node, Param, Place};
use super::value::Value;

pub type Names<'a> = Rc<Scope<'a>>;

/// The names of a module, or of a part of one.
pub struct Scope<'a> {
    pub parent: Option<Names<'a>>,
    /// Of a module: those that it extends.
    pub extends: Vec<Names<'a>>,
    /// Of a module: the standard ones that it extends.
    pub standard: RefCell<Vec<&'static str>>,
    names: RefCell<HashMap<&'a str, Named<'a>>>,
    /// The number of the module.
    pub module: u16,
    /// It is that of an instance of a module.
    pub is_instance: bool,
    /// The first slot that is free here.
    pub level: u32,
}

/// What a name stands for.
#[derive(Clone)]
pub enum Named<'a> {
    Variable(u32),
    Constant(Value),
    /// A constant without a value.
    Unknown,
    /// Bound in a slot.
    Local(u32),
    /// An expression that is evaluated once, when it is asked for.
    Delayed {
        of: Arg<'a>,
        slot: u32,
        ir: Arc<Ir>,
    },
    /// The same as this expression.
    Alias(Arg<'a>),
    /// What this name stands for elsewhere.
    Same(Names<'a>),
    /// A constant or a variable of an instance's module: what its name stands for elsewhere.
    Given(Names<'a>),
    Definition {
        of: &'a Definition,
        is_recursive: bool,
    },
    Operator(Operator<'a>),
    Instance(&'a Instance),
    Module(&'a Module),
}

/// An argument of an operator.
#[derive(Clone)]
pub enum Arg<'a> {
    /// An expression with its names, and whether its variables are primed.
    Node(&'a Node, Names<'a>, bool),
    /// What is bound in a slot.
    Slot(u32),
}

/// An operator that is an argument.
#[derive(Clone)]
pub struct Operator<'a> {
    pub of: Applied<'a>,
    pub scope: Names<'a>,
    pub is_primed: bool,
    /// All that is bound in its scope has slots before this one.
    pub level: u32,
}

#[derive(Clone, Copy)]
pub enum Applied<'a> {
    Lambda { params: &'a [Param], body: &'a Node },
    Name(Path<'a>),
}

/// What is the same of two operators only if they are the same.
pub type Same<'a> = (*const u8, *const Scope<'a>, bool, u32);

impl<'a> Operator<'a> {
    pub fn same(&self) -> Same<'a> {
        let written = match self.of {
            Applied::Lambda { body, .. } => std::ptr::from_ref(body).cast(),
            Applied::Name(path) => path.name.as_ptr(),
        };
        (written, Rc::as_ptr(&self.scope), self.is_primed, self.level)
    }
}

/// `A!B!name`.
#[derive(Clone, Copy)]
pub struct Path<'a> {
    pub instances: &'a [(String, Vec<Node>)],
    pub name: &'a str,
    pub place: Place,
}

impl<'a> Scope<'a> {
    /// The scope of a module, or of an instance of one.
    pub fn of_module(
        (parent, module, is_instance, level): (Option<Names<'a>>, u16, bool, u32),
        extends: Vec<Names<'a>>,
        standard: Vec<&'static str>,
    ) -> Names<'a> {
        let (standard, names) = (RefCell::new(standard), RefCell::default());
        Rc::new(Scope { parent, extends, standard, names, module, is_instance, level })
    }

    /// Names inside of `parent`, of which there are none yet.
    pub fn inside(parent: &Names<'a>, level: u32) -> Names<'a> {
        Rc::new(Scope {
            parent: Some(parent.clone()),
            extends: Vec::new(),
            standard: RefCell::default(),
            names: RefCell::default(),
            module: parent.module,
            is_instance: parent.is_instance,
            level,
        })
    }

    pub fn bind(&self, name: &'a str, to: Named<'a>) {
        self.names.borrow_mut().insert(name, to);
    }

    /// The names that an instance of this module makes known: what it defines itself, or extends.
    pub fn defined(&self) -> Vec<&'a str> {
        let is_defined = |named: &Named| match named {
            Named::Definition { of, .. } => !of.is_local,
            Named::Instance(of) => !of.is_local,
            Named::Same(_) | Named::Module(_) => true,
            _ => false,
        };
        let names = self.names.borrow();
        let own = names.iter().filter(|(_, named)| is_defined(named)).map(|(name, _)| *name);
        own.chain(self.extends.iter().flat_map(|module| module.defined())).collect()
    }

    fn get(&self, name: &str) -> Option<Named<'a>> {
        self.names.borrow().get(name).cloned()
    }
}

/// What a name stands for here, and the scope that says so.
pub fn find<'a>(scope: &Names<'a>, name: &str) -> Option<(Names<'a>, Named<'a>)> {
    let mut at = Some(scope);
    while let Some(scope) = at {
        match scope.get(name) {
            Some(Named::Same(elsewhere) | Named::Given(elsewhere)) => {
                return find(&elsewhere, name);
            }
            Some(named) => return Some((scope.clone(), named)),
            None => {}
        }
        if let Some(found) = scope.extends.iter().find_map(|module| exported(module, name)) {
            return Some(found);
        }
        at = scope.parent.as_ref();
    }
    None
}

/// What a name stands for in a module, unless it is local there.
fn exported<'a>(module: &Names<'a>, name: &str) -> Option<(Names<'a>, Named<'a>)> {
    match module.get(name) {
        Some(Named::Definition { of, .. }) if of.is_local => None,
        Some(Named::Instance(of)) if of.is_local => None,
        Some(Named::Same(elsewhere) | Named::Given(elsewhere)) => find(&elsewhere, name),
        Some(named) => Some((module.clone(), named)),
        None => module.extends.iter().find_map(|module| exported(module, name)),
    }
}

/// Whether the operators of a standard module can be used here; "": the language's own.
pub fn has_standard(scope: &Names, module: &str) -> bool {
    let mut at = Some(scope);
    while let Some(scope) = at {
        if extends_standard(scope, module) {
            return true;
        }
        at = scope.parent.as_ref();
    }
    module.is_empty()
}

fn extends_standard(scope: &Names, module: &str) -> bool {
    scope.standard.borrow().contains(&module)
        || scope.extends.iter().any(|extended| extends_standard(extended, module))
}
