//! Operators of the language, and of Naturals, Integers, Sequences, FiniteSets, TLC and Bags.

use std::slice;
use std::sync::Arc;

use super::native::{Operator, filter, int, is, of, range};
use super::problem::{Result, fail};
use super::sets::{Described, elements_of};
use super::value::{Value, comparable};

pub static OPERATORS: &[Operator] = &[
    of("", "<=>", 2, |a| is(a[0].bool()? == a[1].bool()?)),
    of("", "\\subseteq", 2, |a| is(a[0].is_subset(a[1])?)),
    of("", "\\cup", 2, union),
    of("", "\\cap", 2, |a| filter(a[0], |element| a[1].contains(element))),
    of("", "\\", 2, |a| match a[0].is_endless() {
        true => described(a, Described::Difference(a[0].clone(), a[1].clone())),
        false => filter(a[0], |element| Ok(!a[1].contains(element)?)),
    }),
    of("", "UNION", 1, |a| union(&a[0].elements()?.iter().collect::<Vec<_>>())),
    of("", "SUBSET", 1, |a| described(a, Described::Subsets(a[0].clone()))),
    of("", "DOMAIN", 1, |a| a[0].domain()),
    of("", "BOOLEAN", 0, |_| Value::set(vec![Value::Bool(false), Value::Bool(true)])),
    of("", "STRING", 0, |_| described(&[], Described::Texts)),
    of("", "[->]", 2, |a| described(a, Described::Functions(a[0].clone(), a[1].clone()))),
    of("Naturals", "Nat", 0, |_| described(&[], Described::Naturals)),
    of("Integers", "Int", 0, |_| described(&[], Described::Integers)),
    of("Naturals", "+", 2, |a| int(a[0].int()?.checked_add(a[1].int()?))),
    of("Naturals", "-", 2, |a| int(a[0].int()?.checked_sub(a[1].int()?))),
    of("Naturals", "*", 2, |a| int(a[0].int()?.checked_mul(a[1].int()?))),
    of("Naturals", "^", 2, |a| {
        let (base, exponent) = (a[0].int()?, a[1].int()?);
        match u32::try_from(exponent) {
            Ok(exponent) if base != 0 || exponent != 0 => int(base.checked_pow(exponent)),
            _ => fail(format!("{base} ^ {exponent} is not defined")),
        }
    }),
    of("Naturals", "\\div", 2, |a| {
        // Rounded down.
        let (of, by) = (a[0].int()?, a[1].int()?);
        if by == 0 {
            return fail("a division by 0");
        }
        let is_less = |whole: &i64| of % by != 0 && (of < 0) != (by < 0) && *whole <= 0;
        int(of.checked_div(by).map(|whole| whole - i64::from(is_less(&whole))))
    }),
    of("Naturals", "%", 2, |a| match a[1].int()? {
        by if by > 0 => int(a[0].int()?.checked_rem_euclid(by)),
        by => fail(format!("a remainder of a division by {by}")),
    }),
    of("Naturals", "..", 2, |a| Ok(Value::Range(a[0].int()?, a[1].int()?))),
    of("Naturals", "<", 2, |a| is(a[0].int()? < a[1].int()?)),
    of("Naturals", ">", 2, |a| is(a[0].int()? > a[1].int()?)),
    of("Naturals", "<=", 2, |a| is(a[0].int()? <= a[1].int()?)),
    of("Naturals", ">=", 2, |a| is(a[0].int()? >= a[1].int()?)),
    of("Integers", "-.", 1, |a| int(a[0].int()?.checked_neg())),
    of("Sequences", "Seq", 1, |a| described(a, Described::Sequences(a[0].clone()))),
    of("Sequences", "Len", 1, |a| Ok(Value::Int(a[0].length()? as i64))),
    of("Sequences", "\\o", 2, |a| joined(a[0], a[1])),
    of("Sequences", "Append", 2, |a| {
        if let (Value::Text(text), Value::Text(last)) = (a[0], a[1]) {
            return Ok(Value::text(&format!("{text}{last}")));
        }
        let mut last = a[1].clone();
        last.list()?;
        Ok(Value::Seq(a[0].items()?.iter().cloned().chain([last]).collect()))
    }),
    of("Sequences", "Head", 1, |a| match (a[0], a[0].length()?) {
        (_, 0) => fail("Head of an empty sequence"),
        (text @ Value::Text(_), _) => part(text, 0, 1),
        (seq, _) => Ok(seq.items()?[0].clone()),
    }),
    of("Sequences", "Tail", 1, |a| match a[0].length()? {
        0 => fail("Tail of an empty sequence"),
        length => part(a[0], 1, length),
    }),
    of("Sequences", "SubSeq", 3, |a| {
        let (length, first, last) = (a[0].length()?, a[1].int()?, a[2].int()?);
        match (first, last) {
            (first, last) if first > last => part(a[0], 0, 0),
            (first, last) if first >= 1 && last <= length as i64 => {
                part(a[0], first as usize - 1, last as usize)
            }
            _ => fail(format!("SubSeq from {first} to {last} of {length} elements")),
        }
    }),
    of("FiniteSets", "Cardinality", 1, |a| Ok(Value::Int(a[0].elements()?.len() as i64))),
    of("FiniteSets", "IsFiniteSet", 1, |a| match a[0] {
        Value::Described(_) => is(a[0].elements().is_ok()),
        other if other.is_set() => is(true),
        other => other.no("a set"),
    }),
    of("TLC", ":>", 2, |a| Value::function(vec![(a[0].clone(), a[1].clone())])),
    of("TLC", "@@", 2, |a| Value::function([a[0].pairs()?, a[1].pairs()?].concat())),
    of("TLC", "Permutations", 1, |a| {
        let count = a[0].elements()?.len();
        let all = Described::Functions(a[0].clone(), a[0].clone());
        let is_one = |of: &Value| Ok(range(of)?.elements()?.len() == count);
        filter(&Value::Described(Arc::new(all)), is_one)
    }),
    of("TLC", "ToString", 1, |a| Ok(Value::text(&a[0].to_string()))),
    of("TLC", "TLCEval", 1, |a| Ok(a[0].clone())),
    of("TLC", "Print", 2, |a| Ok(a[1].clone())),
    of("TLC", "PrintT", 1, |_| is(true)),
    of("TLC", "Assert", 2, |a| match a[0].bool()? {
        true => is(true),
        false => fail(format!("an assertion of the specification failed: {}", a[1])),
    }),
    of("Bags", "EmptyBag", 0, |_| Ok(Value::Seq(Arc::new([])))),
    of("Bags", "SetToBag", 1, |a| {
        Value::function(a[0].elements()?.iter().map(|of| (of.clone(), Value::Int(1))).collect())
    }),
    of("Bags", "BagToSet", 1, |a| a[0].domain()),
    of("Bags", "IsABag", 1, |a| {
        let is_count =
            |(_, count): &(Value, Value)| matches!(count, Value::Int(count) if *count > 0);
        is(a[0].pairs().is_ok_and(|pairs| pairs.iter().all(is_count)))
    }),
    of("Bags", "BagIn", 2, |a| is(copies(a[1], a[0])? > 0)),
    of("Bags", "CopiesIn", 2, |a| copies(a[1], a[0]).map(Value::Int)),
    of("Bags", "BagCardinality", 1, |a| {
        a[0].pairs()?.iter().try_fold(0, |sum, (_, n)| Ok(sum + n.int()?)).map(Value::Int)
    }),
    of("Bags", "(+)", 2, |a| {
        let elements = elements_of(&[a[0].domain()?, a[1].domain()?])?;
        bag(&elements, |of| Ok(copies(a[0], of)? + copies(a[1], of)?))
    }),
    of("Bags", "(-)", 2, |a| {
        bag(&a[0].domain()?.elements()?, |of| Ok(copies(a[0], of)? - copies(a[1], of)?))
    }),
    of("Bags", "SubBag", 1, |a| {
        let mut all = vec![Vec::new()];
        for (element, count) in a[0].pairs()? {
            let with = |bag: Vec<(Value, Value)>, copies| {
                let more = (copies > 0).then(|| (element.clone(), Value::Int(copies)));
                bag.into_iter().chain(more).collect::<Vec<_>>()
            };
            let count = count.int()?;
            all = all
                .into_iter()
                .flat_map(|bag: Vec<_>| (0..=count).map(move |copies| (bag.clone(), copies)))
                .map(|(bag, copies)| with(bag, copies))
                .collect();
        }
        Value::set(all.into_iter().map(Value::function).collect::<Result<_>>()?)
    }),
    of("Bags", "BagUnion", 1, |a| {
        let bags = a[0].elements()?;
        let domains = bags.iter().map(Value::domain).collect::<Result<Vec<_>>>()?;
        let count = |of: &Value| bags.iter().try_fold(0, |sum, bag| Ok(sum + copies(bag, of)?));
        bag(&elements_of(&domains)?, count)
    }),
    of("Bags", "\\sqsubseteq", 2, |a| {
        let fits = |of: &Value| Ok(copies(a[0], of)? <= copies(a[1], of)?);
        a[0].domain()?
            .elements()?
            .iter()
            .try_fold(true, |all, of| Ok(all && fits(of)?))
            .and_then(is)
    }),
];

/// The union of these sets: listed, unless one of them is without an end.
fn union(sets: &[&Value]) -> Result<Value> {
    if let [Value::Set(elements), Value::Set(more)] = sets
        && let [more] = &**more
    {
        return with(elements, more);
    }
    if let Some(other) = sets.iter().find(|set| !set.is_set()) {
        return other.no("a set");
    }
    if sets.iter().any(|set| set.is_endless()) {
        let sets = sets.iter().map(|set| (*set).clone()).collect();
        return Ok(Value::Described(Arc::new(Described::Union(sets))));
    }
    Ok(Value::Set(elements_of(sets)?.into()))
}

/// A set with one more element.
fn with(elements: &Arc<[Value]>, more: &Value) -> Result<Value> {
    let Err(at) = elements.binary_search(more) else { return Ok(Value::Set(elements.clone())) };
    let (before, behind) = elements.split_at(at);
    before.last().map_or(Ok(()), |last| comparable(last, more))?;
    behind.first().map_or(Ok(()), |first| comparable(more, first))?;
    Ok(Value::Set([before, slice::from_ref(more), behind].concat().into()))
}

/// A set that is described, if these are sets.
fn described(sets: &[&Value], of: Described) -> Result<Value> {
    match sets.iter().find(|set| !set.is_set()) {
        Some(other) => other.no("a set"),
        None => Ok(Value::Described(Arc::new(of))),
    }
}

/// Two sequences, or strings, one after the other.
pub fn joined(one: &Value, other: &Value) -> Result<Value> {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => Ok(Value::text(&format!("{one}{other}"))),
        (one, other) => {
            Ok(Value::Seq(one.items()?.iter().chain(other.items()?).cloned().collect()))
        }
    }
}

/// Part of a sequence or of a string.
fn part(of: &Value, first: usize, end: usize) -> Result<Value> {
    Ok(match of {
        Value::Text(text) => {
            let part: String = text.chars().skip(first).take(end - first).collect();
            Value::text(&part)
        }
        seq => Value::Seq(seq.items()?[first..end].into()),
    })
}

/// How many copies a bag has of an element.
fn copies(bag: &Value, element: &Value) -> Result<i64> {
    match bag {
        Value::Seq(items) if items.is_empty() => Ok(0),
        bag => bag.get(element)?.map_or(Ok(0), Value::int),
    }
}

fn bag(elements: &[Value], count: impl Fn(&Value) -> Result<i64>) -> Result<Value> {
    let mut pairs = Vec::new();
    for element in elements {
        let copies = count(element)?;
        if copies > 0 {
            pairs.push((element.clone(), Value::Int(copies)));
        }
    }
    Value::function(pairs)
}
