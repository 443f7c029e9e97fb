//! Resolves definitions that may call themselves: each is a routine, or one for each operator that
//! it is given.

use std::rc::Rc;

use super::ir::{Ir, Routine, Spot};
use super::lower::Lowering;
use super::problem::{Problem, Result};
use super::scope::{Applied, Arg, Named, Names, Operator, Path, Scope, find};
use super::syntax::{Definition, Expr, Node, Place};

/// With so many different operators a definition may call itself, one inside of the other.
const OPERATORS_MAX: usize = 16;

impl<'a> Lowering<'a> {
    /// A call of a definition that may call itself.
    pub fn recursive(
        &mut self,
        definition: &'a Definition,
        args: &[Arg<'a>],
        (of, scope): (&Names<'a>, &Names<'a>),
        (primed, place): (bool, Place),
    ) -> Result<Ir> {
        let (mut operators, mut values) = (Vec::new(), Vec::new());
        for (param, arg) in definition.params.iter().zip(args) {
            match self.given(param, arg, (scope, primed, place))? {
                Some(operator) => operators.push(operator),
                None => values.push(self.arg(arg, primed)?),
            }
        }
        let is_next = primed
            || self.reads_next(definition, of)
            || operators.iter().any(|operator| self.operator_reads_next(operator));
        let spot = self.spot(scope, place);
        let routine = self.routine(definition, (of, &operators), (primed, spot))?;
        Ok(Ir::Call { routine, is_next, args: values.into(), spot })
    }

    /// The number of the routine of a definition that may call itself, with these operators as
    /// arguments. What is bound where it stands, and where these do, is at the beginning of its
    /// frame, then come its parameters.
    pub fn routine(
        &mut self,
        of: &'a Definition,
        (scope, operators): (&Names<'a>, &[Operator<'a>]),
        (primed, spot): (bool, Spot),
    ) -> Result<u32> {
        let same = operators.iter().map(Operator::same).collect();
        let key = (std::ptr::from_ref(of), Rc::as_ptr(scope), primed, same);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        self.is_not_endless(of, spot)?;
        let number = self.routines.len() as u32;
        self.known.insert(key, number);
        self.kept.push(scope.clone());
        self.kept.extend(operators.iter().map(|operator| operator.scope.clone()));
        self.routines.push(None);
        let first = operators.iter().map(|operator| operator.level).fold(scope.level, u32::max);
        let before = std::mem::replace(&mut self.next, first);
        let (inside, mut operators) = (Scope::inside(scope, first), operators.iter());
        for param in &of.params {
            let named = match param.arity {
                0 => Named::Local(self.slot()),
                _ => Named::Operator(operators.next().expect("one for each").clone()),
            };
            inside.bind(&param.name, named);
        }
        for name in of.domain.iter().flat_map(|bound| &bound.names) {
            inside.bind(name, Named::Local(self.slot()));
        }
        let inside = Scope::inside(&inside, self.next);
        let body = self.expression(&of.body, &inside, primed)?;
        let (name, size) = (of.name.clone(), self.next);
        self.routines[number as usize] = Some(Routine { name, first, size, body });
        self.next = before;
        Ok(number)
    }

    /// An error if a definition gives itself another operator each time that it calls itself: each
    /// is a routine of its own.
    fn is_not_endless(&self, of: &'a Definition, spot: Spot) -> Result<()> {
        let is_open = |number: &u32| self.routines[*number as usize].is_none();
        let open =
            self.known.iter().filter(|(key, number)| std::ptr::eq(key.0, of) && is_open(number));
        if open.count() < OPERATORS_MAX {
            return Ok(());
        }
        let name = &of.name;
        let message = format!(
            "{name} gives itself another operator each time that it calls itself: it can only \
             pass on those that it was given"
        );
        Err(Problem::new(message).at(&self.modules[spot.module as usize], spot.place))
    }

    fn operator_reads_next(&mut self, operator: &Operator<'a>) -> bool {
        operator.is_primed
            || match operator.of {
                Applied::Lambda { body, .. } => self.names_next(body, &operator.scope),
                Applied::Name(path) => self.name_reads_next(path, &operator.scope),
            }
    }

    /// Whether what a definition says may depend on the next state, when it is not primed itself.
    pub fn reads_next(&mut self, of: &'a Definition, scope: &Names<'a>) -> bool {
        let key = (std::ptr::from_ref(of), Rc::as_ptr(scope));
        if let Some(known) = self.primed.get(&key) {
            return *known;
        }
        self.kept.push(scope.clone());
        // Unless something else says so, when it calls itself.
        self.primed.insert(key, false);
        let is_next = self.names_next(&of.body, scope);
        if is_next {
            // What calls it, and is called by it, took it for something else.
            self.primed.retain(|_, is_next| *is_next);
        }
        self.primed.insert(key, is_next);
        is_next
    }

    fn names_next(&mut self, node: &'a Node, scope: &Names<'a>) -> bool {
        let mut parts = Vec::new();
        node.each(&mut |part| parts.push(&part.of));
        parts.into_iter().any(|part| match part {
            Expr::Action { .. } | Expr::Fairness { .. } => true,
            Expr::Apply { instances, name, .. } => {
                self.name_reads_next(Path { instances, name, place: node.place }, scope)
            }
            _ => false,
        })
    }

    fn name_reads_next(&mut self, path: Path<'a>, scope: &Names<'a>) -> bool {
        if !path.instances.is_empty() || ["'", "UNCHANGED", "ENABLED"].contains(&path.name) {
            return true;
        }
        match find(scope, path.name) {
            Some((at, Named::Definition { of, .. })) => self.reads_next(of, &at),
            Some((_, Named::Delayed { ir, .. })) => ir.reads_next(),
            Some((_, Named::Alias(Arg::Node(node, at, is_primed)))) => {
                is_primed || self.names_next(node, &at)
            }
            Some((_, Named::Operator(_) | Named::Instance(_))) => true,
            _ => false,
        }
    }
}
