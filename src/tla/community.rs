//! Operators of the community modules SequencesExt, FiniteSetsExt, Functions, Folds, TLCExt and
//! Bitwise, and those of the standard modules that take an operator.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::native::{Apply, HigherOrder, Operator, has, is, of, range};
use super::problem::{Result, fail};
use super::sets::{Described, subsets_of};
use super::standard::joined;
use super::value::{Value, equal};

pub static OPERATORS: &[Operator] = &[
    of("SequencesExt", "ToSet", 1, |a| range(a[0])),
    of("SequencesExt", "SetToSeq", 1, |a| Value::seq(a[0].elements()?.into_owned())),
    of("SequencesExt", "Reverse", 1, |a| {
        Ok(Value::Seq(a[0].items()?.iter().rev().cloned().collect()))
    }),
    of("SequencesExt", "Last", 1, |a| match a[0].items()?.last() {
        Some(last) => Ok(last.clone()),
        None => fail("Last of an empty sequence"),
    }),
    of("SequencesExt", "Front", 1, |a| {
        let front = a[0].items()?.split_last().map_or(&[][..], |(_, front)| front);
        Ok(Value::Seq(front.into()))
    }),
    of("SequencesExt", "Cons", 2, |a| {
        Value::seq(std::iter::once(a[0]).chain(a[1].items()?).cloned().collect())
    }),
    of("SequencesExt", "Contains", 2, |a| is(has(a[0].items()?, a[1])?)),
    of("SequencesExt", "IsPrefix", 2, |a| match (a[0], a[1]) {
        (Value::Text(one), Value::Text(other)) => is(other.starts_with(&**one)),
        (one, other) => is(other.items()?.starts_with(one.items()?)),
    }),
    of("SequencesExt", "IsStrictPrefix", 2, |a| {
        let (one, other) = (a[0].items()?, a[1].items()?);
        is(one.len() < other.len() && other.starts_with(one))
    }),
    of("SequencesExt", "SeqOf", 2, up_to),
    of("SequencesExt", "BoundedSeq", 2, up_to),
    of("SequencesExt", "TupleOf", 2, |a| tuples(a[0], a[1].int()?)),
    of("SequencesExt", "IsSuffix", 2, |a| is(a[1].items()?.ends_with(a[0].items()?))),
    of("SequencesExt", "Remove", 2, |a| {
        let mut kept = Vec::new();
        for item in a[0].items()? {
            if !equal(item, a[1])? {
                kept.push(item.clone());
            }
        }
        Value::seq(kept)
    }),
    of("SequencesExt", "RemoveAt", 2, |a| at(a, 0, |items, at| drop(items.remove(at)))),
    of("SequencesExt", "ReplaceAt", 3, |a| at(a, 0, |items, at| items[at] = a[2].clone())),
    of("SequencesExt", "InsertAt", 3, |a| at(a, 1, |items, at| items.insert(at, a[2].clone()))),
    of("SequencesExt", "FlattenSeq", 1, |a| {
        if a[0].length()? == 0 {
            return Ok(a[0].clone());
        }
        let (first, rest) = a[0].items()?.split_first().expect("it is not empty");
        rest.iter().try_fold(first.clone(), |all, part| joined(&all, part))
    }),
    of("FiniteSetsExt", "Max", 1, |a| extreme(a[0], Ordering::Greater)),
    of("FiniteSetsExt", "Min", 1, |a| extreme(a[0], Ordering::Less)),
    of("FiniteSetsExt", "SumSet", 1, |a| sum(&a[0].elements()?)),
    of("FiniteSetsExt", "kSubset", 2, |a| match usize::try_from(a[0].int()?) {
        Ok(size) => Value::set(subsets_of(&a[1].elements()?, size)?),
        Err(_) => Value::set(Vec::new()),
    }),
    of("Functions", "Range", 1, |a| range(a[0])),
    of("Functions", "Restrict", 2, |a| {
        let of = |argument: &Value| match a[0].get(argument)? {
            Some(value) => Ok((argument.clone(), value.clone())),
            None => fail(format!("{argument} is not in the domain of {}", a[0])),
        };
        Value::function(a[1].elements()?.iter().map(of).collect::<Result<_>>()?)
    }),
    of("Functions", "AntiFunction", 1, |a| {
        // Of several arguments with a value, CHOOSE has the first.
        let mut arguments = BTreeMap::new();
        for (argument, value) in a[0].pairs()? {
            arguments.entry(value).or_insert(argument);
        }
        Value::function(arguments.into_iter().collect())
    }),
    of("Functions", "IsInjective", 1, |a| {
        let values = range(a[0])?;
        is(values.elements()?.len() == a[0].pairs()?.len())
    }),
    of("TLCExt", "TLCCache", 2, |a| Ok(a[0].clone())),
    of("Bitwise", "&", 2, |a| bits(a, |one, other| one & other)),
    of("Bitwise", "|", 2, |a| bits(a, |one, other| one | other)),
    of("Bitwise", "^^", 2, |a| bits(a, |one, other| one ^ other)),
    // Of the bits up to the first that is 1.
    of("Bitwise", "Not", 1, |a| {
        bits(&[a[0], &Value::Int(0)], |number, _| {
            let up_to = u64::MAX.checked_shr(number.leading_zeros()).unwrap_or(0);
            (!number.cast_unsigned() & up_to).cast_signed()
        })
    }),
    of("Bitwise", "shiftR", 2, |a| bits(a, |of, by| if by < 63 { of >> by } else { 0 })),
];

fn bits(a: &[&Value], of: fn(i64, i64) -> i64) -> Result<Value> {
    match (a[0].int()?, a[1].int()?) {
        (one @ 0.., other @ 0..) => Ok(Value::Int(of(one, other))),
        (one, other) => fail(format!("Bitwise is about no negative numbers, as {one}, {other}")),
    }
}

/// By insertion, so that it ends whatever the operator says.
fn sorted(before: Apply, items: &[Value]) -> Result<Value> {
    let mut sorted: Vec<Value> = Vec::new();
    for item in items {
        let mut at = sorted.len();
        while at > 0 && before(&[item.clone(), sorted[at - 1].clone()])?.bool()? {
            at -= 1;
        }
        sorted.insert(at, item.clone());
    }
    Value::seq(sorted)
}

const fn taking(
    module: &'static str,
    name: &'static str,
    (arity, operator): (usize, (usize, usize)),
    run: fn(Apply, &[Value]) -> Result<Value>,
) -> HigherOrder {
    HigherOrder { module, name, arity, operator, run }
}

pub static HIGHER_ORDER: &[HigherOrder] = &[
    taking("Sequences", "SelectSeq", (2, (1, 1)), |test, a| {
        let mut kept = Vec::new();
        for item in a[0].items()? {
            if test(std::slice::from_ref(item))?.bool()? {
                kept.push(item.clone());
            }
        }
        Value::seq(kept)
    }),
    taking("TLC", "SortSeq", (2, (1, 2)), |before, a| sorted(before, a[0].items()?)),
    taking("SequencesExt", "SetToSortSeq", (2, (1, 2)), |before, a| {
        sorted(before, &a[0].elements()?)
    }),
    taking("Bags", "BagOfAll", (2, (0, 1)), |apply, a| {
        let mut counts: BTreeMap<Value, i64> = BTreeMap::new();
        for (element, count) in a[0].pairs()? {
            *counts.entry(apply(&[element])?).or_default() += count.int()?;
        }
        Value::function(counts.into_iter().map(|(of, count)| (of, Value::Int(count))).collect())
    }),
    taking("FiniteSetsExt", "FoldSet", (3, (0, 2)), |apply, a| {
        fold(apply, &a[0], a[1].elements()?.iter(), false)
    }),
    taking("FiniteSetsExt", "MapThenSumSet", (2, (0, 1)), |apply, a| {
        let mapped: Result<Vec<_>> =
            a[0].elements()?.iter().map(|of| apply(std::slice::from_ref(of))).collect();
        sum(&mapped?)
    }),
    taking("FiniteSetsExt", "Quantify", (2, (1, 1)), |apply, a| {
        let mut count = 0;
        for element in &*a[0].elements()? {
            count += i64::from(apply(std::slice::from_ref(element))?.bool()?);
        }
        Ok(Value::Int(count))
    }),
    taking("SequencesExt", "FoldSeq", (3, (0, 2)), |apply, a| {
        fold(apply, &a[0], a[1].items()?.iter(), false)
    }),
    taking("SequencesExt", "FoldLeft", (3, (0, 2)), |apply, a| {
        fold(apply, &a[0], a[1].items()?.iter(), true)
    }),
    taking("SequencesExt", "FoldRight", (3, (0, 2)), |apply, a| {
        fold(apply, &a[1], a[0].items()?.iter().rev(), false)
    }),
    taking("Functions", "FoldFunction", (3, (0, 2)), |apply, a| {
        fold(apply, &a[0], a[1].pairs()?.iter().map(|(_, value)| value), false)
    }),
    taking("Functions", "FoldFunctionOnSet", (4, (0, 2)), |apply, a| {
        let value = |at: &Value| match a[1].get(at)? {
            Some(value) => Ok(value.clone()),
            None => fail(format!("{at} is not in the domain of {}", a[1])),
        };
        let values = a[2].elements()?.iter().map(value).collect::<Result<Vec<_>>>()?;
        fold(apply, &a[0], values.iter(), false)
    }),
    taking("SequencesExt", "SelectInSeq", (2, (1, 1)), |test, a| {
        for (at, item) in (1..).zip(a[0].items()?) {
            if test(std::slice::from_ref(item))?.bool()? {
                return Ok(Value::Int(at));
            }
        }
        Ok(Value::Int(0))
    }),
];

/// All sequences of as many elements of a set, or fewer.
fn up_to(a: &[&Value]) -> Result<Value> {
    let mut all = Vec::new();
    for length in 0..=a[1].int()? {
        all.extend_from_slice(&tuples(a[0], length)?.elements()?);
    }
    Value::set(all)
}

/// All sequences of so many elements of a set.
fn tuples(of: &Value, length: i64) -> Result<Value> {
    Ok(Value::Described(Arc::new(Described::Functions(Value::Range(1, length), of.clone()))))
}

fn sum(of: &[Value]) -> Result<Value> {
    let add = |sum: i64, number: &Value| match sum.checked_add(number.int()?) {
        Some(sum) => Ok(sum),
        None => fail("a sum has more than 64 bits"),
    };
    of.iter().try_fold(0, add).map(Value::Int)
}

fn extreme(of: &Value, wanted: Ordering) -> Result<Value> {
    let mut best: Option<i64> = None;
    for element in &*of.elements()? {
        let number = element.int()?;
        if best.is_none_or(|best| number.cmp(&best) == wanted) {
            best = Some(number);
        }
    }
    best.map_or_else(|| fail("an empty set has no such element"), |best| Ok(Value::Int(best)))
}

/// Changes a sequence at a place, or so many behind its end.
fn at(a: &[&Value], behind: usize, change: impl Fn(&mut Vec<Value>, usize)) -> Result<Value> {
    let (mut items, place) = (a[0].items()?.to_vec(), a[1].int()?);
    if place < 1 || place > (items.len() + behind) as i64 {
        return fail(format!("{} has no place {place}", a[0]));
    }
    change(&mut items, place as usize - 1);
    Value::seq(items)
}

/// The values one after the other; `is_left`: the first argument is what came of those before.
fn fold<'v>(
    apply: Apply,
    base: &Value,
    mut values: impl Iterator<Item = &'v Value>,
    is_left: bool,
) -> Result<Value> {
    values.try_fold(base.clone(), |so_far, value| match is_left {
        true => apply(&[so_far, value.clone()]),
        false => apply(&[value.clone(), so_far]),
    })
}
