//! Elements of sets: of those that are listed, and of those that are only described.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use super::problem::{Result, fail};
use super::value::{Value, comparable, equal, field, list, sort};

/// A set that is not listed.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    Naturals,
    Integers,
    Texts,
    /// SUBSET.
    Subsets(Value),
    /// `[S -> T]`.
    Functions(Value, Value),
    /// `Seq(S)`.
    Sequences(Value),
    /// `S \cup T`, or UNION of a set of sets, one of which is without an end.
    Union(Vec<Value>),
    /// `S \ T`, of which S is without an end.
    Difference(Value, Value),
    /// `S \X T`.
    Product(Vec<Value>),
    /// `[a : S, b : T]`, by the names of the fields.
    Records(Vec<(Value, Value)>),
}

/// Most elements of a set that is listed.
const LISTED_MAX: usize = 1 << 22;

impl Value {
    /// The elements of a set, sorted.
    pub fn elements(&self) -> Result<Cow<'_, [Value]>> {
        match self {
            Value::Set(elements) => Ok(Cow::Borrowed(elements)),
            Value::Range(first, last) => match last.saturating_sub(*first) < LISTED_MAX as i64 {
                true => Ok((*first..=*last).map(Value::Int).collect()),
                false => fail(format!("{self} has too many elements to list them")),
            },
            Value::Described(of) => of.elements().map(Cow::Owned),
            other => other.no("a set"),
        }
    }

    /// Whether a set is without an end, by its form.
    pub fn is_endless(&self) -> bool {
        let Value::Described(of) = self else { return false };
        match &**of {
            Described::Naturals | Described::Integers | Described::Texts => true,
            Described::Sequences(of) => !matches!(of, Value::Set(of) if of.is_empty()),
            Described::Subsets(of) | Described::Difference(of, _) => of.is_endless(),
            Described::Functions(domain, range) => domain.is_endless() || range.is_endless(),
            Described::Product(sets) | Described::Union(sets) => sets.iter().any(Value::is_endless),
            Described::Records(fields) => fields.iter().any(|(_, set)| set.is_endless()),
        }
    }

    /// Whether the set has this element.
    pub fn contains(&self, element: &Value) -> Result<bool> {
        let is_model = matches!(element, Value::Model(_));
        match self {
            // A model value is in no set that is not listed.
            Value::Range(..) if is_model => Ok(false),
            Value::Described(of)
                if is_model && !matches!(**of, Described::Union(_) | Described::Difference(..)) =>
            {
                Ok(false)
            }
            Value::Set(elements) => {
                if let Some(first) = elements.first() {
                    comparable(element, first)?;
                }
                Ok(elements.binary_search(&*element.listed()?).is_ok())
            }
            Value::Range(first, last) => {
                Ok(first <= last && (*first..=*last).contains(&element.int()?))
            }
            Value::Described(of) => of.contains(element),
            other => other.no("a set"),
        }
    }

    /// Whether all elements of this set are in the other.
    pub fn is_subset(&self, other: &Value) -> Result<bool> {
        if !other.is_set() {
            return other.no("a set");
        }
        all_in(&self.elements()?, |_| other)
    }
}

impl Described {
    /// Whether it is all values of a kind.
    pub fn is_all(&self) -> bool {
        matches!(self, Described::Naturals | Described::Integers | Described::Texts)
    }

    fn elements(&self) -> Result<Vec<Value>> {
        let mut found = match self {
            Described::Sequences(of) if of.elements()?.is_empty() => {
                vec![Value::Seq(Arc::new([]))]
            }
            Described::Naturals
            | Described::Integers
            | Described::Texts
            | Described::Sequences(_)
            | Described::Difference(..) => {
                return fail(format!("{self} has no end: its elements cannot be listed"));
            }
            Described::Subsets(of) => subsets(&of.elements()?)?,
            Described::Union(sets) => return elements_of(sets),
            Described::Product(sets) => {
                let each = sets.iter().map(Value::elements).collect::<Result<Vec<_>>>()?;
                choices(&each)?.into_iter().map(|items| Value::Seq(items.into())).collect()
            }
            Described::Functions(domain, range) => {
                let (domain, range) = (domain.elements()?, range.elements()?);
                functions(&domain, &vec![range; domain.len()])?
            }
            Described::Records(fields) => {
                let names: Vec<Value> = fields.iter().map(|(name, _)| name.clone()).collect();
                let each = fields.iter().map(|(_, set)| set.elements());
                functions(&names, &each.collect::<Result<Vec<_>>>()?)?
            }
        };
        sort(&mut found)?;
        Ok(found)
    }

    fn contains(&self, element: &Value) -> Result<bool> {
        match self {
            Described::Naturals => Ok(element.int()? >= 0),
            Described::Integers => element.int().map(|_| true),
            Described::Texts => match element {
                Value::Text(_) => Ok(true),
                other => other.no("a string"),
            },
            Described::Subsets(of) => element.is_subset(of),
            Described::Difference(set, less) => {
                Ok(set.contains(element)? && !less.contains(element)?)
            }
            Described::Union(sets) => {
                for set in sets {
                    if set.contains(element)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Described::Sequences(of) => all_in(element.items()?, |_| of),
            Described::Product(sets) => {
                let items = element.items()?;
                Ok(items.len() == sets.len() && all_in(items, |at| &sets[at])?)
            }
            Described::Functions(domain, range) => {
                if !equal(&element.domain()?, domain)? {
                    return Ok(false);
                }
                let values: Vec<Value> = element.pairs()?.into_iter().map(|(_, of)| of).collect();
                all_in(&values, |_| range)
            }
            Described::Records(fields) => {
                let names = fields.iter().map(|(name, _)| name.clone()).collect();
                if !equal(&element.domain()?, &Value::set(names)?)? {
                    return Ok(false);
                }
                for (name, set) in fields {
                    if !element.get(name)?.map_or(Ok(false), |value| set.contains(value))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// The elements of all of these sets, sorted.
pub fn elements_of(sets: &[impl Borrow<Value>]) -> Result<Vec<Value>> {
    let listed = |set: &Value| if let Value::Set(of) = set { of.len() } else { 0 };
    let sets = sets.iter().map(Borrow::borrow);
    let mut all = Vec::with_capacity(sets.clone().map(listed).sum());
    for set in sets {
        all.extend_from_slice(&set.elements()?);
    }
    sort(&mut all)?;
    all.dedup();
    Ok(all)
}

/// Whether each item is in the set for its place.
fn all_in<'a>(items: &[Value], set: impl Fn(usize) -> &'a Value) -> Result<bool> {
    for (at, item) in items.iter().enumerate() {
        if !set(at).contains(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn subsets(of: &[Value]) -> Result<Vec<Value>> {
    if of.len() > LISTED_MAX.ilog2() as usize {
        return fail(format!("a set of {} elements has too many subsets to list them", of.len()));
    }
    let one = |bits: usize| {
        let chosen = of.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        Value::Set(chosen.map(|(_, value)| value.clone()).collect())
    };
    Ok((0..1 << of.len()).map(one).collect())
}

/// The subsets with so many elements.
pub fn subsets_of(of: &[Value], size: usize) -> Result<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for (at, value) in of.iter().enumerate() {
        let with = |begun: &Vec<Value>| [&begun[..], std::slice::from_ref(value)].concat();
        let longer: Vec<_> = all.iter().filter(|begun| begun.len() < size).map(with).collect();
        all.extend(longer);
        // Those that the rest is too short for.
        all.retain(|begun| begun.len() + of.len() - at > size);
        if all.len() > LISTED_MAX {
            return fail(format!("a set of {} elements has too many such subsets", of.len()));
        }
    }
    all.retain(|begun| begun.len() == size);
    Ok(all.into_iter().map(|set| Value::Set(set.into())).collect())
}

/// All lists with one of each of these.
fn choices(each: &[Cow<[Value]>]) -> Result<Vec<Vec<Value>>> {
    let count = each.iter().try_fold(1usize, |count, set| count.checked_mul(set.len()));
    if count.is_none_or(|count| count > LISTED_MAX) {
        return fail("a set has too many elements to list them");
    }
    let mut all = vec![Vec::new()];
    for set in each {
        let extend = |begun: Vec<Value>| {
            set.iter().map(move |value| [&begun[..], std::slice::from_ref(value)].concat())
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    Ok(all)
}

fn functions(domain: &[Value], each: &[Cow<[Value]>]) -> Result<Vec<Value>> {
    let with = |values: Vec<Value>| Value::function(domain.iter().cloned().zip(values).collect());
    choices(each)?.into_iter().map(with).collect()
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Described::Naturals => f.write_str("Nat"),
            Described::Integers => f.write_str("Int"),
            Described::Texts => f.write_str("STRING"),
            Described::Subsets(of) => write!(f, "SUBSET {of}"),
            Described::Functions(domain, range) => write!(f, "[{domain} -> {range}]"),
            Described::Sequences(of) => write!(f, "Seq({of})"),
            Described::Difference(set, less) => write!(f, "{set} \\ {less}"),
            Described::Union(sets) => {
                list(f, ["", " \\cup ", ""], sets, |f, set| write!(f, "{set}"))
            }
            Described::Product(sets) => {
                list(f, ["", " \\X ", ""], sets, |f, set| write!(f, "{set}"))
            }
            Described::Records(fields) => list(f, ["[", ", ", "]"], fields, |f, (name, set)| {
                write!(f, "{} : {set}", field(name).map_or("?", |name| name))
            }),
        }
    }
}
