//! Operators of the language and of the standard modules that are evaluated here, not by their
//! definitions.

use super::problem::{Result, fail};
use super::value::{Value, equal};

/// An operator on values.
#[derive(Debug)]
pub struct Operator {
    /// The module that has it; "" of the language itself.
    pub module: &'static str,
    pub name: &'static str,
    pub arity: usize,
    pub run: fn(&[&Value]) -> Result<Value>,
}

pub type Native = &'static Operator;

/// An operator on values, one of whose arguments is an operator.
#[derive(Debug)]
pub struct HigherOrder {
    pub module: &'static str,
    pub name: &'static str,
    /// All arguments, that operator included.
    pub arity: usize,
    /// Which argument is the operator, and how many it takes.
    pub operator: (usize, usize),
    pub run: fn(Apply, &[Value]) -> Result<Value>,
}

pub type Taking = &'static HigherOrder;
pub type Apply<'a> = &'a mut dyn FnMut(&[Value]) -> Result<Value>;

/// The modules that are known here, whatever is beside the specification.
pub const MODULES: [&str; 13] = [
    "Naturals",
    "Integers",
    "Sequences",
    "FiniteSets",
    "TLC",
    "Bags",
    "SequencesExt",
    "FiniteSetsExt",
    "Functions",
    "Folds",
    "TLCExt",
    "Randomization",
    "Bitwise",
];

/// Operators of TLC and Randomization whose value depends on chance.
pub const BY_CHANCE: [&str; 4] =
    ["RandomElement", "RandomSubset", "RandomSetOfSubsets", "TestRandomSetOfSubsets"];

/// Modules that are about proofs, files, or the runs of TLC: nothing in them is evaluated.
pub const NOT_EVALUATED: [&str; 13] = [
    "TLAPS",
    "FiniteSetTheorems",
    "FunctionTheorems",
    "NaturalsInduction",
    "SequenceTheorems",
    "WellFoundedInduction",
    "CSV",
    "GraphViz",
    "IOUtils",
    "Json",
    "ShiViz",
    "Statistics",
    "SVG",
];

/// All operators of a name, by the modules that have them.
pub fn named(name: &str) -> impl Iterator<Item = Native> {
    let all = [super::standard::OPERATORS, super::community::OPERATORS];
    all.into_iter().flatten().filter(move |of| of.name == name)
}

/// The same of those that take an operator.
pub fn taking(name: &str) -> impl Iterator<Item = Taking> {
    super::community::HIGHER_ORDER.iter().filter(move |of| of.name == name)
}

pub const fn of(
    module: &'static str,
    name: &'static str,
    arity: usize,
    run: fn(&[&Value]) -> Result<Value>,
) -> Operator {
    Operator { module, name, arity, run }
}

pub fn int(number: Option<i64>) -> Result<Value> {
    match number {
        Some(number) => Ok(Value::Int(number)),
        None => fail("a number has more than 64 bits"),
    }
}

pub fn is(is: bool) -> Result<Value> {
    Ok(Value::Bool(is))
}

/// The elements of a set that are to be kept.
pub fn filter(set: &Value, keep: impl Fn(&Value) -> Result<bool>) -> Result<Value> {
    let mut kept = Vec::new();
    for element in &*set.elements()? {
        if keep(element)? {
            kept.push(element.clone());
        }
    }
    Ok(Value::Set(kept.into()))
}

/// The values of a function.
pub fn range(of: &Value) -> Result<Value> {
    Value::set(of.pairs()?.into_iter().map(|(_, value)| value).collect())
}

pub fn has(items: &[Value], wanted: &Value) -> Result<bool> {
    items.iter().try_fold(false, |found, item| Ok(found || equal(item, wanted)?))
}
