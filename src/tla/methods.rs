//! Guesses the methods of the structure that a specification is about: one for each action of
//! `Next`, with the types of its parameters as far as they can be told.

use std::collections::BTreeMap;

use super::config::Config;
use super::formula::every_step;
use super::load;
use super::syntax::{Bound, Definition, Expr, Module, Node, Unit};
use super::value::Value;

/// How the names of the actions end by which a call takes several steps.
pub const STEP: &str = "_Step";
pub const DONE: &str = "_Done";

/// Names by which the answer is known among parameters.
const ANSWERS: [&str; 8] =
    ["answer", "result", "response", "reply", "ret", "returned", "was", "found"];

/// Operators whose arguments are integers, and those whose value is true or false.
const OF_INTEGERS: [&str; 10] = ["+", "-", "*", "\\div", "%", "..", "<", "<=", ">", ">="];
const TRUE_OR_FALSE: [&str; 9] = ["=", "#", "\\in", "\\notin", "<", "<=", ">", ">=", "~"];
/// Operators whose first argument is a sequence.
const OF_SEQUENCES: [&str; 6] = ["Len", "Head", "Tail", "Last", "Front", "\\o"];

#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The name of the action; of one in steps, without its end.
    pub action: String,
    pub params: Vec<(String, Type)>,
    pub answer: Option<Type>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Bool,
    Int,
    Text,
    List(Box<Type>),
    Set(Box<Type>),
    Optional(Box<Type>),
    /// Nothing tells.
    Any,
}

/// What is known of names.
struct Known<'m> {
    definitions: BTreeMap<&'m str, &'m Definition>,
    config: &'m Config,
}

/// The methods; `is_action`: whether a definition says what the next state is.
pub fn methods(
    modules: &[Module],
    config: &Config,
    is_action: &dyn Fn(&str) -> bool,
) -> Vec<Method> {
    let units = load::extended(modules).into_iter().flat_map(|module| &module.units);
    let definitions = units.filter_map(|unit| match unit {
        Unit::Definition(of) => Some((of.name.as_str(), of)),
        _ => None,
    });
    let known = Known { definitions: definitions.collect(), config };
    let mut calls = Vec::new();
    match known.every_step() {
        Some(next) => known.collect(next, &mut Vec::new(), is_action, &mut calls),
        None => known.outermost(is_action, &mut calls),
    }
    let mut methods: Vec<Method> = Vec::new();
    for (name, sets) in calls {
        let method = known.method(known.definitions[name], &sets);
        match methods.iter_mut().find(|known| known.action == method.action) {
            // Of two steps, one may tell more.
            Some(first) if first.answer.is_none() => *first = method,
            Some(_) => {}
            None => methods.push(method),
        }
    }
    methods
}

/// A call of an action: its name, and the set from which each argument is taken.
type Call<'m> = (&'m str, Vec<Option<&'m Node>>);

impl<'m> Known<'m> {
    /// What all steps are, if something says so.
    fn every_step(&self) -> Option<&'m Node> {
        let definition = |name: &str| Some((*self.definitions.get(name)?, ()));
        let Config { next, specification, .. } = self.config;
        match specification.as_deref().filter(|_| next.is_none()).and_then(definition) {
            Some((formula, ())) => {
                let node = every_step(&formula.body, &(), &|(), name| definition(name))?.0;
                // Mostly it is a name.
                let named = node.name().and_then(definition);
                Some(named.map_or(node, |(of, ())| &of.body))
            }
            None => Some(&definition(next.as_deref().unwrap_or("Next"))?.0.body),
        }
    }

    /// The actions that a part of `Next` calls. Names are bound to sets on the way.
    fn collect(
        &self,
        node: &'m Node,
        bound: &mut Vec<(&'m str, &'m Node)>,
        is_action: &dyn Fn(&str) -> bool,
        calls: &mut Vec<Call<'m>>,
    ) {
        let before = bound.len();
        if let Expr::Quantified { bounds, .. } = &node.of {
            for Bound { names, set, .. } in bounds {
                let Some(set) = set else { continue };
                bound.extend(names.iter().map(|name| (name.as_str(), set)));
            }
        }
        match &node.of {
            Expr::Apply { instances, name, args } if instances.is_empty() && is_action(name) => {
                let body = self.definitions.get(name.as_str()).map(|of| &of.body);
                // A name for several actions.
                let groups = |body: &&Node| args.is_empty() && mentions(body, is_action);
                match body.filter(groups) {
                    Some(body) => self.collect(body, bound, is_action, calls),
                    None => {
                        let set = |arg: &Node| {
                            let name = name_of(arg)?;
                            bound.iter().rev().find(|(of, _)| *of == name).map(|(_, set)| *set)
                        };
                        calls.push((name, args.iter().map(set).collect()));
                    }
                }
            }
            _ => node.parts().into_iter().for_each(|part| {
                self.collect(part, bound, is_action, calls);
            }),
        }
        bound.truncate(before);
    }

    /// Without `Next`: the actions that no other one calls.
    fn outermost(&self, is_action: &dyn Fn(&str) -> bool, calls: &mut Vec<Call<'m>>) {
        let actions = || self.definitions.iter().filter(|(name, _)| is_action(name));
        for (name, of) in actions() {
            let calls_it =
                |(_, other): (_, &&Definition)| mentions(&other.body, &|own| own == *name);
            let is_called = actions().filter(|(own, _)| *own != name).any(calls_it);
            if !is_called {
                calls.push((name, vec![None; of.params.len()]));
            }
        }
    }

    fn method(&self, of: &Definition, sets: &[Option<&'m Node>]) -> Method {
        let typed = of.params.iter().enumerate().map(|(at, param)| {
            let set = sets.get(at).copied().flatten().and_then(|set| self.element(set, 0));
            let of = match (set, self.used(&of.body, &param.name)) {
                (Some(set @ Type::Optional(_)), _) => set,
                (Some(set), Type::Optional(_)) => Type::Optional(Box::new(set)),
                (set, used) => set.unwrap_or(used),
            };
            (param.name.clone(), of)
        });
        let mut params: Vec<(String, Type)> = typed.collect();
        let is_answer =
            |(name, _): &mut (String, Type)| ANSWERS.contains(&&**name) || is_said(&of.body, name);
        let answer = params.pop_if(is_answer).map(|(_, of)| of);
        let name = of.name.strip_suffix(STEP).or(of.name.strip_suffix(DONE));
        Method { action: name.unwrap_or(&of.name).to_string(), params, answer }
    }

    /// The type of a set's elements.
    fn element(&self, set: &Node, depth: u32) -> Option<Type> {
        let boxed = |set: &Node| self.element(set, depth + 1).map(Box::new);
        match &set.of {
            Expr::Set(all) => all.iter().find_map(|one| self.value(one)),
            Expr::Filter { bound, .. } => self.element(bound.set.as_ref()?, depth),
            Expr::Apply { name, args, .. } => match (name.as_str(), &args[..]) {
                ("BOOLEAN", _) => Some(Type::Bool),
                ("STRING", _) => Some(Type::Text),
                ("Nat" | "Int" | "..", _) => Some(Type::Int),
                ("SUBSET", [of]) => Some(Type::Set(boxed(of).unwrap_or(Box::new(Type::Any)))),
                ("Seq" | "SeqOf" | "BoundedSeq", [of, ..]) => {
                    Some(Type::List(boxed(of).unwrap_or(Box::new(Type::Any))))
                }
                ("\\", [of, _]) => self.element(of, depth),
                ("\\cup", [one, other]) => match (boxed(one), boxed(other)) {
                    (Some(of), None) | (None, Some(of)) => Some(Type::Optional(of)),
                    (one, _) => one.map(|of| *of),
                },
                (name, []) => match self.config.constants.get(name) {
                    Some(value) => value.elements().ok()?.first().and_then(type_of),
                    None => {
                        let of = self.definitions.get(name).filter(|_| depth < 8)?;
                        self.element(&of.body, depth + 1)
                    }
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn value(&self, node: &Node) -> Option<Type> {
        match &node.of {
            Expr::Number(_) => Some(Type::Int),
            Expr::String(_) => Some(Type::Text),
            Expr::Boolean(_) | Expr::And(_) | Expr::Or(_) => Some(Type::Bool),
            Expr::Quantified { .. } => Some(Type::Bool),
            Expr::Tuple(_) => Some(Type::List(Box::new(Type::Any))),
            Expr::Apply { name, .. } if TRUE_OR_FALSE.contains(&&**name) => Some(Type::Bool),
            Expr::Apply { name, .. } if OF_INTEGERS.contains(&&**name) => Some(Type::Int),
            Expr::Apply { name, .. } if ["Len", "Cardinality"].contains(&&**name) => {
                Some(Type::Int)
            }
            Expr::Apply { name, args, .. } if args.is_empty() => {
                self.config.constants.get(name).and_then(type_of)
            }
            _ => None,
        }
    }

    /// The type of a parameter by what is done with it.
    fn used(&self, body: &Node, param: &str) -> Type {
        let is_it = |node: &Node| name_of(node) == Some(param);
        let (mut found, mut is_optional) = (None, false);
        body.each(&mut |node| match &node.of {
            Expr::Apply { name, args, .. } => {
                let has = args.iter().position(is_it);
                match (name.as_str(), has) {
                    ("=" | "#", Some(at)) => {
                        let other = &args[1 - at];
                        is_optional |= is_no_value(other);
                        found = found.take().or_else(|| self.value(other));
                    }
                    ("\\in", Some(0)) => {
                        found = found.take().or_else(|| self.element(&args[1], 0));
                    }
                    ("~", Some(_)) => found = Some(Type::Bool),
                    (name, Some(_)) if OF_INTEGERS.contains(&name) => found = Some(Type::Int),
                    ("IsPrefix" | "IsStrictPrefix", Some(_)) => {
                        found = Some(Type::List(Box::new(Type::Any)));
                    }
                    (name, Some(0)) if OF_SEQUENCES.contains(&name) => {
                        found = Some(Type::List(Box::new(Type::Any)));
                    }
                    _ => {}
                }
            }
            Expr::Index { function, .. } if is_it(function) => {
                found = Some(Type::List(Box::new(Type::Any)));
            }
            _ => {}
        });
        let found = found.unwrap_or(Type::Any);
        if is_optional { Type::Optional(Box::new(found)) } else { found }
    }
}

/// The name that an expression is.
fn name_of(node: &Node) -> Option<&str> {
    match &node.of {
        Expr::Apply { instances, name, args } if instances.is_empty() && args.is_empty() => {
            Some(name)
        }
        _ => None,
    }
}

/// Whether it is a constant that stands for no value.
fn is_no_value(node: &Node) -> bool {
    let names = ["none", "null", "nil", "empty", "novalue"];
    name_of(node).is_some_and(|name| names.contains(&&*name.to_lowercase()))
}

fn mentions(node: &Node, is_it: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    node.each(&mut |part| found |= matches!(&part.of, Expr::Apply { name, .. } if is_it(name)));
    found
}

/// Whether the action says what the parameter is, which stands alone on the left.
fn is_said(body: &Node, param: &str) -> bool {
    let mut is = false;
    body.each(&mut |node| {
        if let Expr::Apply { name, args, .. } = &node.of {
            is |= name == "=" && args.first().and_then(name_of) == Some(param);
        }
    });
    is
}

fn type_of(value: &Value) -> Option<Type> {
    match value {
        Value::Int(_) => Some(Type::Int),
        Value::Text(_) => Some(Type::Text),
        Value::Bool(_) => Some(Type::Bool),
        _ => None,
    }
}
