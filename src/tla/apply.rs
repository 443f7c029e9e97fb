//! Resolves operators with their arguments. One that is not recursive is put in the place of its
//! call, with its arguments bound in slots; one that may call itself is a routine: see `recursion`.

use std::rc::Rc;
use std::sync::Arc;

use super::config::Inside;
use super::definitions;
use super::ir::{Ir, Lambda};
use super::lower::{Lowering, with_slots};
use super::native;
use super::problem::Result;
use super::scope::{Applied, Arg, Named, Names, Operator, Path, Scope, find, has_standard};
use super::syntax::{Bound, Definition, Expr, Node, Param, Place};

impl<'a> Lowering<'a> {
    /// An operator, or a name, with its arguments.
    pub fn apply(
        &mut self,
        path: Path<'a>,
        args: &[Arg<'a>],
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<Ir> {
        let mut inside = scope.clone();
        for (at, (name, prefix)) in path.instances.iter().enumerate() {
            if let Some((of, named @ (Named::Definition { .. } | Named::Delayed { .. }))) =
                find(&inside, name)
            {
                return self.part((path, at, prefix), (of, named), (args, scope, primed));
            }
            inside = self.instance(name, prefix, &inside, (scope, primed, path.place))?;
        }
        let Some((of, named)) = self.find(path, &inside) else {
            return self.standard(path, args, (scope, &inside), primed);
        };
        match named {
            Named::Definition { of: definition, is_recursive } => {
                let at = (primed, path.place);
                self.call((definition, is_recursive), args, (&of, scope), at)
            }
            Named::Operator(operator) => self.operator(&operator, args, primed),
            Named::Alias(Arg::Node(node, elsewhere, is_primed)) if !args.is_empty() => {
                let operator = self.as_operator(node, &elsewhere, is_primed)?;
                self.operator(&operator, args, primed)
            }
            _ if !args.is_empty() => {
                self.problem(scope, path.place, format!("{} takes no arguments", path.name))
            }
            named => self.name(path, named, scope, primed),
        }
    }

    /// What a name stands for, or what the configuration puts in its place: not inside of
    /// instances, as TLC has it, unless it says in which module.
    fn find(&self, path: Path<'a>, scope: &Names<'a>) -> Option<(Names<'a>, Named<'a>)> {
        let found = find(scope, path.name);
        let is_instance = found.as_ref().is_some_and(|(of, _)| of.is_instance);
        let is_bound = matches!(
            found,
            Some((
                _,
                Named::Local(_) | Named::Delayed { .. } | Named::Alias(_) | Named::Operator(_)
            ))
        );
        if let Some((of, _)) = found.as_ref().filter(|_| !is_bound)
            && let Some(inside) = self.inside(of.module, path.name)
        {
            return match inside {
                Inside::Value(value) => Some((of.clone(), Named::Constant(value))),
                Inside::Name(other) => find(&self.root()?, &other),
            };
        }
        if is_instance || is_bound {
            return found;
        }
        if let Some(other) = self.globals.replaced.get(path.name) {
            return find(scope, other).or_else(|| find(&self.root()?, other));
        }
        match (found, self.globals.constants.get(path.name)) {
            // The configuration says what a definition is, as of `None == CHOOSE n : n \notin S`.
            (Some((of, Named::Definition { .. })), Some(value)) => {
                Some((of, Named::Constant(value.clone())))
            }
            (found, _) => found,
        }
    }

    /// What the configuration says of a name of this module alone.
    fn inside(&self, module: u16, name: &str) -> Option<Inside> {
        let inside = &self.globals.inside;
        if inside.is_empty() {
            return None;
        }
        let module = self.modules.get(usize::from(module))?;
        inside.get(&(module.to_string(), name.to_string())).cloned()
    }

    fn name(
        &mut self,
        path: Path<'a>,
        named: Named<'a>,
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<Ir> {
        match named {
            Named::Variable(number) if primed => Ok(Ir::Next(number)),
            Named::Variable(number) => Ok(Ir::Now(number)),
            Named::Constant(value) => Ok(Ir::Value(value)),
            Named::Local(slot) => Ok(Ir::Local(slot)),
            Named::Alias(of) => self.arg(&of, primed),
            Named::Delayed { of: of @ Arg::Node(_, _, false), .. } if primed => self.arg(&of, true),
            Named::Delayed { slot, ir, .. } => Ok(match &*ir {
                Ir::Value(value) => Ir::Value(value.clone()),
                ir_of => {
                    let is_kept = !ir_of.reads_next();
                    Ir::Shared { slot, of: ir, is_kept }
                }
            }),
            Named::Unknown => {
                let name = path.name;
                let message = format!("the constant {name} has no value: give it one in the .cfg");
                self.problem(scope, path.place, message)
            }
            _ => {
                let message = format!("{} stands where a value is expected", path.name);
                self.problem(scope, path.place, message)
            }
        }
    }

    /// An expression that is evaluated when it is asked for, and kept in the slot.
    pub fn delayed(&mut self, of: Arg<'a>, slot: u32) -> Result<Named<'a>> {
        let ir = Arc::new(self.arg(&of, false)?);
        Ok(Named::Delayed { of, slot, ir })
    }

    pub fn arg(&mut self, arg: &Arg<'a>, primed: bool) -> Result<Ir> {
        match arg {
            Arg::Slot(slot) => Ok(Ir::Local(*slot)),
            Arg::Node(node, scope, is_primed) => self.node(node, scope, *is_primed || primed),
        }
    }

    /// The names of an instance's module.
    fn instance(
        &mut self,
        name: &str,
        args: &'a [Node],
        inside: &Names<'a>,
        (scope, primed, place): (&Names<'a>, bool, Place),
    ) -> Result<Names<'a>> {
        let Some((of, Named::Instance(instance))) = find(inside, name) else {
            return self.problem(scope, place, format!("{name} is no instance of a module"));
        };
        if instance.params.len() != args.len() {
            let message = format!("{name} takes {} arguments", instance.params.len());
            return self.problem(scope, place, message);
        }
        if args.is_empty() {
            return self.open(instance, &of);
        }
        let with = Scope::inside(&of, self.next);
        for (param, arg) in instance.params.iter().zip(args) {
            with.bind(&param.name, Named::Alias(Arg::Node(arg, scope.clone(), primed)));
        }
        self.open(instance, &with)
    }

    /// A definition with its arguments. `of`: where it stands.
    fn call(
        &mut self,
        (definition, is_recursive): (&'a Definition, bool),
        args: &[Arg<'a>],
        (of, scope): (&Names<'a>, &Names<'a>),
        (primed, place): (bool, Place),
    ) -> Result<Ir> {
        self.has_enough(definition, args, (scope, place))?;
        if !definition.domain.is_empty() {
            return self.function(definition, of, primed);
        }
        if is_recursive {
            return self.recursive(definition, args, (of, scope), (primed, place));
        }
        let key = (std::ptr::from_ref(definition), Rc::as_ptr(of));
        if let Some(value) = self.folded.get(&key) {
            return Ok(Ir::Value(value.clone()));
        }
        if args.is_empty() {
            let inside = Scope::inside(of, self.next);
            let body = self.node(&definition.body, &inside, primed)?;
            if let Ir::Value(value) = &body {
                self.folded.insert(key, value.clone());
                self.kept.push(of.clone());
            }
            return Ok(body);
        }
        let inside = Scope::inside(of, self.next);
        let slots = self.bind(&definition.params, args, &inside, (scope, primed, place))?;
        let inside = Scope::inside(&inside, self.next);
        let body = self.boxed(&definition.body, &inside, primed)?;
        Ok(with_slots(slots, body))
    }

    /// An error unless it has as many arguments as it takes.
    pub fn has_enough(
        &self,
        Definition { name, params, .. }: &Definition,
        args: &[Arg],
        (scope, place): (&Names<'a>, Place),
    ) -> Result<()> {
        if params.len() == args.len() {
            return Ok(());
        }
        let message = format!("{name} takes {} arguments, and has {}", params.len(), args.len());
        self.problem(scope, place, message)
    }

    /// The operator that is an argument, where the parameter is one.
    pub fn given(
        &mut self,
        param: &Param,
        arg: &Arg<'a>,
        (scope, primed, place): (&Names<'a>, bool, Place),
    ) -> Result<Option<Operator<'a>>> {
        match arg {
            _ if param.arity == 0 => Ok(None),
            Arg::Node(node, elsewhere, is_primed) => {
                self.as_operator(node, elsewhere, *is_primed || primed).map(Some)
            }
            Arg::Slot(_) => {
                self.problem(scope, place, format!("{} must be an operator", param.name))
            }
        }
    }

    /// Binds arguments to parameters; gives the slots in which some are kept.
    pub fn bind(
        &mut self,
        params: &'a [Param],
        args: &[Arg<'a>],
        inside: &Names<'a>,
        (scope, primed, place): (&Names<'a>, bool, Place),
    ) -> Result<Vec<u32>> {
        let mut slots = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            self.is_new(&param.name, inside, param.place)?;
            let named = match self.given(param, arg, (scope, primed, place))? {
                Some(operator) => Named::Operator(operator),
                None => self.value(arg, &mut slots)?,
            };
            inside.bind(&param.name, named);
        }
        Ok(slots)
    }

    /// What a name stands for that has this value, which may be kept in a slot.
    pub fn value(&mut self, arg: &Arg<'a>, slots: &mut Vec<u32>) -> Result<Named<'a>> {
        match arg {
            Arg::Slot(slot) => Ok(Named::Local(*slot)),
            Arg::Node(node, elsewhere, _) if is_simple(node, elsewhere) => {
                Ok(Named::Alias(arg.clone()))
            }
            arg => {
                let slot = self.slot();
                slots.push(slot);
                self.delayed(arg.clone(), slot)
            }
        }
    }

    fn as_operator(
        &mut self,
        node: &'a Node,
        scope: &Names<'a>,
        is_primed: bool,
    ) -> Result<Operator<'a>> {
        let of = match &node.of {
            Expr::Lambda { params, body } => Applied::Lambda { params, body },
            Expr::Apply { instances, name, args } if args.is_empty() => {
                if instances.is_empty()
                    && let Some((_, Named::Operator(of))) = find(scope, name)
                {
                    return Ok(of);
                }
                Applied::Name(Path { instances, name, place: node.place })
            }
            _ => return self.problem(scope, node.place, "an operator is expected here"),
        };
        Ok(Operator { of, scope: scope.clone(), is_primed, level: self.next })
    }

    fn operator(&mut self, of: &Operator<'a>, args: &[Arg<'a>], primed: bool) -> Result<Ir> {
        let (scope, primed) = (&of.scope, of.is_primed || primed);
        match of.of {
            Applied::Name(path) => self.apply(path, args, scope, primed),
            Applied::Lambda { params, body } => {
                if params.len() != args.len() {
                    let message = format!("this LAMBDA takes {} arguments", params.len());
                    return self.problem(scope, body.place, message);
                }
                let inside = Scope::inside(scope, self.next);
                let slots = self.bind(params, args, &inside, (scope, primed, body.place))?;
                let body = self.boxed(body, &inside, primed)?;
                Ok(with_slots(slots, body))
            }
        }
    }

    /// A function that is defined by `f[x \in S] == e`.
    fn function(&mut self, of: &'a Definition, scope: &Names<'a>, primed: bool) -> Result<Ir> {
        let (spot, inside) = (self.spot(scope, of.place), Scope::inside(scope, self.next));
        let bounds = self.bounds(&of.domain, (scope, &inside), (primed, of.place))?;
        let body = match mentions(&of.body, &of.name) {
            false => self.boxed(&of.body, &inside, primed)?,
            true => {
                let routine = self.routine(of, (scope, &[]), (primed, spot))?;
                let slots = bounds.iter().flat_map(|bound| bound.slots.iter());
                let args = slots.map(|slot| Ir::Local(*slot)).collect();
                let is_next = primed || self.reads_next(of, scope);
                Box::new(Ir::Call { routine, is_next, args, spot })
            }
        };
        Ok(Ir::Function { bounds, body, spot })
    }

    pub fn index(
        &mut self,
        function: &'a Node,
        at: &'a Node,
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<Ir> {
        let spot = self.spot(scope, at.place);
        if let Expr::Apply { instances, name, args } = &function.of
            && args.is_empty()
            && instances.is_empty()
            && let found = match find(scope, name) {
                None => self.bundled(scope, name)?,
                found => found,
            }
            && let Some((of, Named::Definition { of: definition, .. })) = found
            && let [Bound { names, set: Some(set), is_tuple: false }] = &definition.domain[..]
            && names.len() == 1
            && mentions(&definition.body, name)
        {
            // Its other values need not be known.
            let slot = self.slot();
            let argument = Arc::new(self.node(at, scope, primed)?);
            let is_kept = !argument.reads_next();
            let argument = || Ir::Shared { slot, of: argument.clone(), is_kept };
            let set = self.node(set, &of, primed)?;
            let routine = self.routine(definition, (&of, &[]), (primed, spot))?;
            let is_next = primed || self.reads_next(definition, &of);
            let call = Ir::Call { routine, is_next, args: [argument()].into(), spot };
            let fail = Ir::Fail(format!("the argument is not in the domain of {name}"), spot);
            let is_in = Ir::In(Box::new([argument(), set]), spot);
            let body = Box::new(Ir::If(Box::new([is_in, call, fail]), spot));
            return Ok(with_slots(vec![slot], body));
        }
        let function = self.boxed(function, scope, primed)?;
        Ok(Ir::Index { function, at: self.boxed(at, scope, primed)?, spot })
    }

    /// An operator of the language, or of a standard module.
    fn standard(
        &mut self,
        path: Path<'a>,
        args: &[Arg<'a>],
        (scope, inside): (&Names<'a>, &Names<'a>),
        primed: bool,
    ) -> Result<Ir> {
        let (name, spot) = (path.name, self.spot(scope, path.place));
        if let Some(ir) = self.special(path, args, scope, primed)? {
            return Ok(ir);
        }
        let (mut elsewhere, count) = (None, args.len());
        for of in native::named(name) {
            if has_standard(inside, of.module) && of.arity == count {
                let args = args.iter().map(|arg| self.arg(arg, primed)).collect::<Result<_>>()?;
                return Ok(Ir::Native { of, args, spot });
            }
            elsewhere = Some((of.module, of.arity));
        }
        for of in native::taking(name) {
            if has_standard(inside, of.module) && of.arity == count {
                return self.taking(of, args, (path, scope), primed);
            }
            elsewhere = Some((of.module, of.arity));
        }
        if let Some((of, Named::Definition { of: definition, is_recursive })) =
            self.bundled(inside, name)?
        {
            let at = (primed, path.place);
            return self.call((definition, is_recursive), args, (&of, scope), at);
        }
        let message = match elsewhere {
            None if native::BY_CHANCE.contains(&name) => format!(
                "the value of {name} depends on chance: write \\E x \\in S where each x is allowed"
            ),
            Some((module, _)) if !has_standard(inside, module) => {
                format!("{name} is not defined here: EXTENDS {module} has it")
            }
            Some((_, arity)) => format!("{name} takes {arity} arguments, and has {count}"),
            None => format!("{name} is not defined, or not supported"),
        };
        self.problem(scope, path.place, message)
    }

    /// What a bundled module defines that can be used here.
    fn bundled(
        &mut self,
        inside: &Names<'a>,
        name: &str,
    ) -> Result<Option<(Names<'a>, Named<'a>)>> {
        for module in definitions::modules() {
            if has_standard(inside, &module.name) {
                let of = self.module(module)?;
                match find(&of, name) {
                    Some((_, Named::Definition { of: definition, .. })) if definition.is_local => {}
                    None => {}
                    found => return Ok(found),
                }
            }
        }
        Ok(None)
    }

    fn taking(
        &mut self,
        of: native::Taking,
        args: &[Arg<'a>],
        (path, scope): (Path<'a>, &Names<'a>),
        primed: bool,
    ) -> Result<Ir> {
        let (at, count) = of.operator;
        let Arg::Node(node, elsewhere, is_primed) = &args[at] else {
            return self.problem(scope, path.place, "an operator is expected here");
        };
        let operator = self.as_operator(node, elsewhere, *is_primed || primed)?;
        let others = args.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<&Arg> = others.map(|(_, arg)| arg).collect();
        let args = others.into_iter().map(|arg| self.arg(arg, primed)).collect::<Result<_>>()?;
        let slots: Vec<u32> = (0..count).map(|_| self.slot()).collect();
        let given: Vec<Arg> = slots.iter().map(|slot| Arg::Slot(*slot)).collect();
        let body = self.operator(&operator, &given, primed)?;
        let operator = Box::new(Lambda { slots: slots.into(), body });
        Ok(Ir::Taking { of, operator, args, spot: self.spot(scope, path.place) })
    }

    /// What is no operator on values.
    fn special(
        &mut self,
        path: Path<'a>,
        args: &[Arg<'a>],
        scope: &Names<'a>,
        primed: bool,
    ) -> Result<Option<Ir>> {
        let spot = self.spot(scope, path.place);
        Ok(Some(match (path.name, args) {
            ("'", _) if primed => return self.problem(scope, path.place, "this is primed twice"),
            ("'", [of]) => self.arg(of, true)?,
            ("UNCHANGED", [Arg::Node(node, elsewhere, _)]) => self.unchanged(node, elsewhere)?,
            ("ENABLED", [of]) => Ir::Enabled(Box::new(self.arg(of, primed)?)),
            // The elements are not made members of a set, which would list them.
            ("UNION", [Arg::Node(node, elsewhere, is_primed)])
                if let Expr::Set(sets) = &node.of =>
            {
                let is_primed = *is_primed || primed;
                let sets = sets.iter().map(|set| self.node(set, elsewhere, is_primed));
                let args = sets.collect::<Result<_>>()?;
                let of = native::named("\\cup").next().expect("the language has it");
                Ir::Native { of, args, spot }
            }
            ("=>", [_, _]) => Ir::Implies(self.two(args, primed)?),
            ("~", [of]) => Ir::Not(Box::new(self.arg(of, primed)?), spot),
            ("=", [_, _]) => Ir::Equal(self.two(args, primed)?, spot),
            ("#", [_, _]) => Ir::Not(Box::new(Ir::Equal(self.two(args, primed)?, spot)), spot),
            ("\\in", [_, _]) => Ir::In(self.two(args, primed)?, spot),
            ("\\notin", [_, _]) => Ir::Not(Box::new(Ir::In(self.two(args, primed)?, spot)), spot),
            ("/\\", [_, _]) => Ir::And(self.two(args, primed)?),
            ("\\/", [_, _]) => Ir::Or(self.two(args, primed)?),
            ("[]" | "<>" | "~>" | "-+->", _) => {
                let message = format!("{} is about behaviours: it cannot be evaluated", path.name);
                return self.problem(scope, path.place, message);
            }
            _ => return Ok(None),
        }))
    }

    fn two(&mut self, args: &[Arg<'a>], primed: bool) -> Result<Box<[Ir; 2]>> {
        Ok(Box::new([self.arg(&args[0], primed)?, self.arg(&args[1], primed)?]))
    }
}

/// Whether to evaluate it again costs nothing.
fn is_simple<'a>(node: &'a Node, scope: &Names<'a>) -> bool {
    match &node.of {
        Expr::Number(_) | Expr::String(_) | Expr::Boolean(_) => true,
        Expr::Apply { name, args, .. } if name == "'" => {
            args.iter().all(|arg| is_simple(arg, scope))
        }
        Expr::Apply { instances, name, args } if args.is_empty() && instances.is_empty() => {
            matches!(
                find(scope, name),
                Some((_, Named::Local(_) | Named::Variable(_) | Named::Constant(_)))
            )
        }
        _ => false,
    }
}

/// Whether an expression uses this name.
fn mentions(node: &Node, name: &str) -> bool {
    let mut found = false;
    node.each(&mut |part| {
        found |= matches!(&part.of, Expr::Apply { name: own, .. } if own == name);
    });
    found
}
