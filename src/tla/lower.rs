//! Resolves the names of expressions: makes of them what is evaluated. What is bound has a slot of
//! its own in the frame: a slot is used once, since an action is left and come back to.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::definitions;
use super::eval;
use super::ir::{Binding, Change, Ir, Routine, Spot};
use super::load::{self, Globals};
use super::native;
use super::problem::{Problem, Result};
use super::scope::{Arg, Named, Names, Path, Same, Scope, find};
use super::syntax::{Bound, Definition, Expr, Instance, Module, Node, Place, Step, Unit};
use super::value::{Text, Value};

/// Expressions and operators may be inside of each other so deep.
const DEPTH_MAX: u32 = 400;

pub struct Lowering<'a> {
    /// The names of the modules, by number.
    pub modules: Vec<Arc<str>>,
    pub loaded: &'a [Module],
    pub globals: Globals,
    pub routines: Vec<Option<Routine>>,
    /// Routines, by definition, where that stands, whether it is primed, and the operators that
    /// it is given.
    pub known: HashMap<(*const Definition, *const Scope<'a>, bool, Vec<Same<'a>>), u32>,
    /// The values of definitions that are the same everywhere, by definition and where it stands.
    pub folded: HashMap<(*const Definition, *const Scope<'a>), Value>,
    /// Whether definitions may depend on the next state, by definition and where it stands.
    pub primed: HashMap<(*const Definition, *const Scope<'a>), bool>,
    /// The scopes of instances, by instance and where it stands.
    instances: HashMap<(*const Instance, *const Scope<'a>), Names<'a>>,
    opened: HashMap<*const Module, Names<'a>>,
    /// Scopes of which an address is kept.
    pub kept: Vec<Names<'a>>,
    /// Each string once, so that two of one text are mostly one.
    texts: HashSet<Text>,
    /// The next slot that is free.
    pub next: u32,
    depth: u32,
}

impl<'a> Lowering<'a> {
    pub fn new(loaded: &'a [Module], globals: Globals) -> Lowering<'a> {
        let names = loaded.iter().chain(definitions::modules());
        Lowering {
            modules: names.map(|module| module.name.as_str().into()).collect(),
            loaded,
            globals,
            routines: Vec::new(),
            known: HashMap::new(),
            folded: HashMap::new(),
            primed: HashMap::new(),
            instances: HashMap::new(),
            opened: HashMap::new(),
            kept: Vec::new(),
            texts: HashSet::new(),
            next: 0,
            depth: 0,
        }
    }

    /// The scope of a module of the specification.
    pub fn module(&mut self, module: &'a Module) -> Result<Names<'a>> {
        if let Some(known) = self.opened.get(&std::ptr::from_ref(module)) {
            return Ok(known.clone());
        }
        let scope = load::scope(self, module, (None, None))?;
        self.opened.insert(module, scope.clone());
        Ok(scope)
    }

    /// The scope of the specification itself.
    pub fn root(&self) -> Option<Names<'a>> {
        self.opened.get(&std::ptr::from_ref(self.loaded.first()?)).cloned()
    }

    /// The scope of an instance's module.
    pub fn open(&mut self, instance: &'a Instance, scope: &Names<'a>) -> Result<Names<'a>> {
        let key = (std::ptr::from_ref(instance), Rc::as_ptr(scope));
        if let Some(known) = self.instances.get(&key) {
            return Ok(known.clone());
        }
        let of = load::open(self, instance, scope)?;
        self.instances.insert(key, of.clone());
        self.kept.push(scope.clone());
        Ok(of)
    }

    /// Makes the names of an instance known.
    pub fn bind_instance(&mut self, instance: &'a Instance, scope: &Names<'a>) -> Result<()> {
        if let Some(name) = &instance.name {
            scope.bind(name, Named::Instance(instance));
            return Ok(());
        }
        let of = self.open(instance, scope)?;
        scope.standard.borrow_mut().extend(of.standard.borrow().iter());
        of.defined().into_iter().for_each(|name| scope.bind(name, Named::Same(of.clone())));
        Ok(())
    }

    pub fn slot(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    pub fn spot(&self, scope: &Names<'a>, place: Place) -> Spot {
        Spot { module: scope.module, place }
    }

    pub fn problem<T>(
        &self,
        scope: &Names<'a>,
        place: Place,
        message: impl Into<String>,
    ) -> Result<T> {
        Err(Problem::new(message).at(&self.modules[scope.module as usize], place))
    }

    /// An error if a name stands for something already.
    pub fn is_new(&self, name: &str, scope: &Names<'a>, place: Place) -> Result<()> {
        match find(scope, name) {
            None => Ok(()),
            // It is defined later.
            Some((at, Named::Definition { of, .. }))
                if at.module == scope.module
                    && (of.place > place || self.is_inside(of, at.module, place)) =>
            {
                Ok(())
            }
            Some((at, Named::Variable(_) | Named::Same(_)))
                if at.module == scope.module && self.is_later(name, at.module, place) =>
            {
                Ok(())
            }
            Some(_) => self.problem(scope, place, format!("{name} is defined here already")),
        }
    }

    /// Whether a module declares this variable behind this place.
    fn is_later(&self, name: &str, module: u16, place: Place) -> bool {
        let Some(module) = self.loaded.get(module as usize) else { return false };
        let is_it = |(own, at): &(String, Place)| own == name && *at > place;
        module
            .units
            .iter()
            .any(|unit| matches!(unit, Unit::Variables(all) if all.iter().any(is_it)))
    }

    /// Whether a definition is the last that begins before this place: its name is not known there.
    fn is_inside(&self, of: &Definition, module: u16, place: Place) -> bool {
        let Some(module) = self.loaded.get(module as usize) else { return false };
        let begins = |unit: &Unit| match unit {
            Unit::Definition(of) => Some(of.place),
            Unit::Instance(of) => Some(of.place),
            _ => None,
        };
        let last = module.units.iter().filter_map(begins).filter(|begin| *begin <= place).max();
        last == Some(of.place)
    }

    /// An expression, which is evaluated here if it is the same everywhere.
    pub fn node(&mut self, node: &'a Node, scope: &Names<'a>, primed: bool) -> Result<Ir> {
        if self.depth > DEPTH_MAX {
            let message = "this calls itself without end: RECURSIVE must say so";
            return self.problem(scope, node.place, message);
        }
        self.depth += 1;
        let before = self.next;
        let ir = self.expression(node, scope, primed);
        self.depth -= 1;
        let ir = ir?;
        if matches!(ir, Ir::Value(_)) || !ir.is_closed(before) {
            return Ok(ir);
        }
        Ok(eval::constant(&ir, self.next).map_or(ir, Ir::Value))
    }

    pub fn boxed(&mut self, node: &'a Node, scope: &Names<'a>, primed: bool) -> Result<Box<Ir>> {
        Ok(Box::new(self.node(node, scope, primed)?))
    }

    pub fn all<T: FromIterator<Ir>>(
        &mut self,
        nodes: impl IntoIterator<Item = &'a Node>,
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<T> {
        nodes.into_iter().map(|node| self.node(node, scope, primed)).collect()
    }

    pub fn expression(&mut self, node: &'a Node, scope: &Names<'a>, primed: bool) -> Result<Ir> {
        let spot = self.spot(scope, node.place);
        Ok(match &node.of {
            Expr::Number(number) => Ir::Value(Value::Int(*number)),
            Expr::String(text) => Ir::Value(self.text(text)),
            Expr::Boolean(is) => Ir::Value(Value::Bool(*is)),
            Expr::At => {
                let path = Path { instances: &[], name: "@", place: node.place };
                self.apply(path, &[], scope, primed)?
            }
            Expr::Apply { instances, name, args } => {
                let path = Path { instances, name, place: node.place };
                let args: Vec<Arg> =
                    args.iter().map(|arg| Arg::Node(arg, scope.clone(), primed)).collect();
                self.apply(path, &args, scope, primed)?
            }
            Expr::If { condition, then, otherwise } => {
                let condition = self.node(condition, scope, primed)?;
                let then = self.node(then, scope, primed)?;
                let otherwise = self.node(otherwise, scope, primed)?;
                Ir::If(Box::new([condition, then, otherwise]), spot)
            }
            Expr::Case { arms, other } => {
                let mut all = Vec::new();
                for (when, then) in arms {
                    all.push([self.node(when, scope, primed)?, self.node(then, scope, primed)?]);
                }
                let other = other.as_ref().map(|node| self.boxed(node, scope, primed));
                Ir::Case { arms: all.into(), other: other.transpose()?, spot }
            }
            Expr::Except { function, changes } => {
                let function = self.boxed(function, scope, primed)?;
                self.except(function, changes, (scope, spot), primed)?
            }
            Expr::Let { units, body } => self.let_in(units, body, scope, primed)?,
            Expr::Action { or_same, action, of } => {
                let (action, same) =
                    (self.node(action, scope, primed)?, self.unchanged(of, scope)?);
                match or_same {
                    true => Ir::Or(Box::new([action, same])),
                    false => Ir::And(Box::new([action, Ir::Not(Box::new(same), spot)])),
                }
            }
            Expr::Lambda { .. } => {
                return self.problem(scope, node.place, "LAMBDA stands where a value is expected");
            }
            Expr::Fairness { .. } => {
                let message = "fairness is about behaviours: it cannot be part of an action";
                return self.problem(scope, node.place, message);
            }
            Expr::Quantified { .. }
            | Expr::Choose { .. }
            | Expr::Filter { .. }
            | Expr::Map { .. }
            | Expr::Function { .. } => self.binding(node, scope, primed)?,
            _ => self.made_of(node, scope, primed)?,
        })
    }

    /// An expression that is made of others, with no names of its own.
    fn made_of(&mut self, node: &'a Node, scope: &Names<'a>, primed: bool) -> Result<Ir> {
        let spot = self.spot(scope, node.place);
        Ok(match &node.of {
            Expr::And(all) => Ir::And(self.all(all, scope, primed)?),
            Expr::Or(all) => Ir::Or(self.all(all, scope, primed)?),
            Expr::Labelled { body, .. } => self.node(body, scope, primed)?,
            Expr::Tuple(all) => Ir::Tuple(self.all(all, scope, primed)?),
            Expr::Set(all) => Ir::Set(self.all(all, scope, primed)?, spot),
            Expr::Product(sets) => {
                let sets: Vec<Ir> = self.all(sets, scope, primed)?;
                Ir::Records((1..).map(Value::Int).zip(sets).collect())
            }
            Expr::Functions { domain, range } => {
                let args: Vec<Ir> = self.all([&**domain, &**range], scope, primed)?;
                native_of("[->]", args, spot)
            }
            Expr::Record(fields) => Ir::Record(self.fields(fields, scope, primed)?),
            Expr::Records(fields) => Ir::Records(self.fields(fields, scope, primed)?),
            Expr::Index { function, at } => self.index(function, at, scope, primed)?,
            Expr::Field { record, name } => {
                let function = self.boxed(record, scope, primed)?;
                Ir::Index { function, at: Box::new(Ir::Value(self.text(name))), spot }
            }
            _ => unreachable!("it has names of its own"),
        })
    }

    fn text(&mut self, text: &str) -> Value {
        let known = self.texts.get(text).cloned();
        Value::Text(known.unwrap_or_else(|| {
            let text: Text = text.into();
            self.texts.insert(text.clone());
            text
        }))
    }

    fn fields(
        &mut self,
        fields: &'a [(String, Node)],
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<Box<[(Value, Ir)]>> {
        let mut all = Vec::new();
        for (at, (name, node)) in fields.iter().enumerate() {
            if fields[..at].iter().any(|(other, _)| other == name) {
                return self.problem(scope, node.place, format!("the field {name} comes twice"));
            }
            all.push((self.text(name), self.node(node, scope, primed)?));
        }
        Ok(all.into())
    }

    /// Binds names, each to a slot of its own.
    pub fn bounds(
        &mut self,
        bounds: &'a [Bound],
        (scope, inside): (&Names<'a>, &Names<'a>),
        (primed, place): (bool, Place),
    ) -> Result<Box<[Binding]>> {
        let mut all = Vec::new();
        for Bound { names, set, is_tuple } in bounds {
            let Some(set) = set else {
                let message = "a quantifier or CHOOSE without a set cannot be evaluated";
                return self.problem(scope, place, message);
            };
            let together = if *is_tuple { names.len() } else { 1 };
            for names in names.chunks(together.max(1)) {
                let set = self.node(set, scope, primed)?;
                let mut slots = Vec::new();
                for name in names {
                    self.is_new(name, inside, place)?;
                    slots.push(self.slot());
                    inside.bind(name, Named::Local(self.next - 1));
                }
                all.push(Binding { slots: slots.into(), is_tuple: *is_tuple, set });
            }
        }
        Ok(all.into())
    }

    /// An expression that binds names.
    fn binding(&mut self, node: &'a Node, scope: &Names<'a>, primed: bool) -> Result<Ir> {
        let (spot, inside) = (self.spot(scope, node.place), Scope::inside(scope, self.next));
        let (bounds, body) = node.binder().expect("all others are no bindings");
        let mut bounds = self.bounds(bounds, (scope, &inside), (primed, node.place))?.into_vec();
        let body = self.boxed(body, &inside, primed)?;
        match &node.of {
            Expr::Quantified { is_forall, .. } => {
                let (is_forall, bounds) = (*is_forall, bounds.into());
                return Ok(Ir::Quantified { is_forall, bounds, body, spot });
            }
            Expr::Map { .. } => return Ok(Ir::Map { bounds: bounds.into(), body, spot }),
            Expr::Function { .. } => return Ok(Ir::Function { bounds: bounds.into(), body, spot }),
            _ => {}
        }
        let (Some(bound), true) = (bounds.pop(), bounds.is_empty()) else {
            return self.problem(scope, node.place, "one name, or one tuple, is expected here");
        };
        let bound = Box::new(bound);
        Ok(match &node.of {
            Expr::Choose { .. } => Ir::Choose { bound, body, spot },
            _ => Ir::Filter { bound, body, spot },
        })
    }

    fn except(
        &mut self,
        function: Box<Ir>,
        changes: &'a [super::syntax::Change],
        (scope, spot): (&Names<'a>, Spot),
        primed: bool,
    ) -> Result<Ir> {
        let inside = Scope::inside(scope, self.next);
        let slot = self.slot();
        inside.bind("@", Named::Local(slot));
        let mut all = Vec::new();
        for change in changes {
            let mut path = Vec::new();
            for step in &change.path {
                path.push(match step {
                    Step::Index(node) => self.node(node, scope, primed)?,
                    Step::Field(name) => Ir::Value(self.text(name)),
                });
            }
            let to = self.node(&change.to, &inside, primed)?;
            all.push(Change { path: path.into(), to });
        }
        Ok(Ir::Except { function, changes: all.into(), slot, spot })
    }

    fn let_in(
        &mut self,
        units: &'a [Unit],
        body: &'a Node,
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<Ir> {
        let mut slots = Vec::new();
        let at = self.let_names(units, &mut slots, scope, (primed, body.place))?;
        let body = self.boxed(body, &at, primed)?;
        Ok(with_slots(slots, body))
    }

    /// The names that LET makes known, and the slots in which some are kept.
    pub fn let_names(
        &mut self,
        units: &'a [Unit],
        slots: &mut Vec<u32>,
        scope: &Names<'a>,
        (primed, place): (bool, Place),
    ) -> Result<Names<'a>> {
        let mut at = Scope::inside(scope, self.next);
        let mut recursive = Vec::new();
        for unit in units {
            match unit {
                Unit::Recursive(names) => recursive.extend(names.iter().map(|of| &of.name)),
                Unit::Instance(instance) => self.bind_instance(instance, &at)?,
                Unit::Definition(of) => {
                    self.is_new(&of.name, &at, of.place)?;
                    let is_recursive = recursive.contains(&&of.name);
                    if !of.params.is_empty() || !of.domain.is_empty() || is_recursive {
                        at.bind(&of.name, Named::Definition { of, is_recursive });
                        continue;
                    }
                    let slot = self.slot();
                    slots.push(slot);
                    let named = self.delayed(Arg::Node(&of.body, at.clone(), primed), slot)?;
                    // The frame of a routine that is defined later has what is bound here.
                    at = Scope::inside(&at, self.next);
                    at.bind(&of.name, named);
                }
                _ => {
                    let message = "only definitions and instances can stand in a LET";
                    return self.problem(scope, place, message);
                }
            }
        }
        Ok(at)
    }

    /// That an expression does not change.
    pub fn unchanged(&mut self, node: &'a Node, scope: &Names<'a>) -> Result<Ir> {
        if let Expr::Tuple(all) = &node.of {
            let all = all.iter().map(|one| self.unchanged(one, scope));
            return Ok(Ir::And(all.collect::<Result<_>>()?));
        }
        if let Expr::Apply { instances, name, args } = &node.of
            && args.is_empty()
            && instances.is_empty()
        {
            match find(scope, name) {
                Some((of, Named::Definition { of: definition, is_recursive: false }))
                    if definition.params.is_empty() && definition.domain.is_empty() =>
                {
                    return self.unchanged(&definition.body, &of);
                }
                Some((
                    _,
                    Named::Alias(of @ Arg::Node(..))
                    | Named::Delayed { of: of @ Arg::Node(..), .. },
                )) => {
                    if let Arg::Node(node, elsewhere, false) = of {
                        return self.unchanged(node, &elsewhere);
                    }
                }
                _ => {}
            }
        }
        let two = [self.node(node, scope, true)?, self.node(node, scope, false)?];
        Ok(Ir::Equal(Box::new(two), self.spot(scope, node.place)))
    }
}

pub fn with_slots(slots: Vec<u32>, body: Box<Ir>) -> Ir {
    if slots.is_empty() { *body } else { Ir::Let { slots: slots.into(), body } }
}

/// An operator of the language itself.
fn native_of(name: &str, args: Vec<Ir>, spot: Spot) -> Ir {
    let of = native::named(name).next().expect("the language has it");
    Ir::Native { of, args: args.into(), spot }
}
