//! Values of TLA+. A function whose domain is 1..n is a sequence, and a record is a function of
//! strings, so that equal values have one form.
//!
//! Sets that are infinite, or large, are kept as what describes them. Inside of other values, and
//! in states, sets are listed.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::problem::{Result, fail};
use super::sets::Described;

pub type Text = Arc<str>;

/// So many of a record's fields are looked at one by one.
const FIELDS_MAX: usize = 16;

#[derive(Clone, Debug)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Text(Text),
    /// Equal to itself alone, and comparable with everything.
    Model(Text),
    /// Sorted, without duplicates.
    Set(Arc<[Value]>),
    /// All integers from the first to the last.
    Range(i64, i64),
    Described(Arc<Described>),
    Seq(Arc<[Value]>),
    /// By argument, sorted. The domain is no 1..n.
    Function(Arc<[(Value, Value)]>),
}

impl Value {
    pub fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// The set of these.
    ///
    /// # Errors
    /// If two are of different types.
    pub fn set(mut elements: Vec<Value>) -> Result<Value> {
        elements.iter_mut().try_for_each(Value::list)?;
        sort(&mut elements)?;
        elements.dedup();
        Ok(Value::Set(elements.into()))
    }

    pub fn seq(mut elements: Vec<Value>) -> Result<Value> {
        elements.iter_mut().try_for_each(Value::list)?;
        Ok(Value::Seq(elements.into()))
    }

    /// The function with these values; of an argument that comes twice the first counts.
    ///
    /// # Errors
    /// If two arguments are of different types.
    pub fn function(mut pairs: Vec<(Value, Value)>) -> Result<Value> {
        for (argument, value) in &mut pairs {
            argument.list()?;
            value.list()?;
        }
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        pairs.dedup_by(|one, other| one.0 == other.0);
        for two in pairs.windows(2) {
            comparable(&two[0].0, &two[1].0)?;
        }
        let is_place = |(at, (argument, _)): (i64, &(Value, Value))| *argument == Value::Int(at);
        if (1..).zip(&pairs).all(is_place) {
            return Ok(Value::Seq(pairs.into_iter().map(|(_, value)| value).collect()));
        }
        Ok(Value::Function(pairs.into()))
    }

    /// Replaces a set that is described by one that is listed.
    #[inline]
    pub fn list(&mut self) -> Result<()> {
        if let Value::Described(_) | Value::Range(..) = self {
            *self = Value::Set(self.elements()?.into());
        }
        Ok(())
    }

    /// The same set, listed; any other value as it is.
    #[inline]
    pub fn listed(&self) -> Result<Cow<'_, Value>> {
        let mut listed = Cow::Borrowed(self);
        if let Value::Described(_) | Value::Range(..) = self {
            listed.to_mut().list()?;
        }
        Ok(listed)
    }

    /// What a message calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Text(_) => "a string",
            Value::Model(_) => "a model value",
            Value::Set(_) | Value::Range(..) | Value::Described(_) => "a set",
            Value::Seq(_) => "a sequence",
            Value::Function(_) => "a function",
        }
    }

    /// An error that says what was expected instead.
    pub fn no<T>(&self, expected: &str) -> Result<T> {
        fail(format!("{self} is {}; expected {expected}", self.kind()))
    }

    pub fn bool(&self) -> Result<bool> {
        match self {
            Value::Bool(is) => Ok(*is),
            other => other.no("TRUE or FALSE"),
        }
    }

    pub fn int(&self) -> Result<i64> {
        match self {
            Value::Int(number) => Ok(*number),
            other => other.no("an integer"),
        }
    }

    /// The elements of a sequence.
    pub fn items(&self) -> Result<&[Value]> {
        match self {
            Value::Seq(items) => Ok(items),
            other => other.no("a sequence"),
        }
    }

    /// How many elements a sequence has, or letters a string.
    pub fn length(&self) -> Result<usize> {
        match self {
            Value::Text(text) => Ok(text.chars().count()),
            seq => Ok(seq.items()?.len()),
        }
    }

    pub fn is_set(&self) -> bool {
        matches!(self, Value::Set(_) | Value::Range(..) | Value::Described(_))
    }

    /// The domain of a function.
    pub fn domain(&self) -> Result<Value> {
        match self {
            Value::Seq(items) => Ok(Value::Range(1, items.len() as i64)),
            Value::Function(pairs) => {
                Ok(Value::Set(pairs.iter().map(|(argument, _)| argument.clone()).collect()))
            }
            other => other.no("a function"),
        }
    }

    /// The value of a function, if the argument is in its domain.
    #[inline]
    pub fn get(&self, argument: &Value) -> Result<Option<&Value>> {
        Ok(self.place(argument)?.map(|place| self.at(place)))
    }

    /// The value at a place of a function that [`Value::place`] gave.
    pub fn at(&self, place: usize) -> &Value {
        match self {
            Value::Function(pairs) => &pairs[place].1,
            Value::Seq(items) => &items[place],
            _ => unreachable!("only functions have values"),
        }
    }

    /// Which of a function's values is that of the argument, if this is in its domain.
    #[inline]
    pub fn place(&self, argument: &Value) -> Result<Option<usize>> {
        match self {
            // The domain is empty, and so has no type.
            Value::Seq(items) if items.is_empty() => Ok(None),
            Value::Seq(items) => {
                let at = usize::try_from(argument.int()? - 1).ok();
                Ok(at.filter(|at| *at < items.len()))
            }
            Value::Function(pairs) => match same_name(argument, pairs) {
                None => equal_argument(argument, pairs),
                same => Ok(same),
            },
            other => other.no("a function"),
        }
    }

    /// A function's arguments and values.
    pub fn pairs(&self) -> Result<Vec<(Value, Value)>> {
        match self {
            Value::Seq(items) => Ok((1..).map(Value::Int).zip(items.iter().cloned()).collect()),
            Value::Function(pairs) => Ok(pairs.to_vec()),
            other => other.no("a function"),
        }
    }

    /// Bytes that it owns on the heap, shared or not.
    pub fn weight(&self) -> usize {
        let of = |values: &[Value]| -> usize {
            values.iter().map(|value| size_of::<Value>() + value.weight()).sum()
        };
        match self {
            Value::Text(text) | Value::Model(text) => text.len(),
            Value::Set(values) | Value::Seq(values) => of(values),
            Value::Function(pairs) => {
                let pair =
                    |(a, b): &(Value, Value)| 2 * size_of::<Value>() + a.weight() + b.weight();
                pairs.iter().map(pair).sum()
            }
            _ => 0,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) => 1,
            Value::Text(_) => 2,
            Value::Model(_) => 3,
            Value::Set(_) => 4,
            Value::Range(..) => 5,
            Value::Described(_) => 6,
            Value::Seq(_) => 7,
            Value::Function(_) => 8,
        }
    }
}

/// The field of a record whose name is this very string, as those of a specification are, or this
/// very model value: letters are not compared.
fn same_name(name: &Value, pairs: &[(Value, Value)]) -> Option<usize> {
    use Value::{Model, Text};
    let is_same = |(other, _): &(Value, Value)| match (name, other) {
        (Text(one), Text(other)) | (Model(one), Model(other)) => Arc::ptr_eq(one, other),
        _ => false,
    };
    match name {
        Text(_) | Model(_) => pairs.iter().take(FIELDS_MAX).position(is_same),
        _ => None,
    }
}

fn equal_argument(argument: &Value, pairs: &[(Value, Value)]) -> Result<Option<usize>> {
    comparable(argument, &pairs[0].0)?;
    let listed = argument.listed()?;
    Ok(pairs.binary_search_by(|pair| pair.0.cmp(&listed)).ok())
}

/// Sorts, and fails where two are of different types.
pub fn sort(values: &mut [Value]) -> Result<()> {
    values.sort();
    values.windows(2).try_for_each(|pair| comparable(&pair[0], &pair[1]))
}

/// Whether two values are equal.
///
/// # Errors
/// If they are of different types, or a set cannot be listed.
pub fn equal(one: &Value, other: &Value) -> Result<bool> {
    use Value::{Described, Range, Set};
    match (one, other) {
        (Described(one), Described(other)) if one == other => Ok(true),
        (Described(one), Described(other)) if one.is_all() && other.is_all() => Ok(false),
        (Range(..) | Described(_), Range(..) | Described(_) | Set(_))
        | (Set(_), Range(..) | Described(_)) => Ok(one.elements()? == other.elements()?),
        _ => {
            comparable(one, other)?;
            Ok(one == other)
        }
    }
}

/// Fails for values of different types, also inside of both.
#[inline]
pub fn comparable(one: &Value, other: &Value) -> Result<()> {
    match (one, other) {
        (Value::Int(_), Value::Int(_)) => Ok(()),
        _ => of_one_type(one, other),
    }
}

fn of_one_type(one: &Value, other: &Value) -> Result<()> {
    use Value::{Bool, Function, Int, Model, Seq, Set, Text};
    match (one, other) {
        (Model(_), _) | (_, Model(_)) => Ok(()),
        (Bool(_), Bool(_)) | (Int(_), Int(_)) | (Text(_), Text(_)) => Ok(()),
        (Seq(one), Seq(other)) if one.len() == other.len() => {
            one.iter().zip(other.iter()).try_for_each(|(a, b)| comparable(a, b))
        }
        (Function(one), Function(other)) if one.len() == other.len() => {
            one.iter().zip(other.iter()).try_for_each(|(a, b)| {
                comparable(&a.0, &b.0)?;
                if a.0 == b.0 { comparable(&a.1, &b.1) } else { Ok(()) }
            })
        }
        (Function(one), Function(other)) => comparable(&one[0].0, &other[0].0),
        (Function(one), Seq(other)) | (Seq(other), Function(one)) if !other.is_empty() => {
            comparable(&one[0].0, &Int(1))
        }
        (Function(_) | Seq(_), Function(_) | Seq(_)) => Ok(()),
        // Of sets that have not as many elements, it is not asked what these are.
        (Set(one), Set(other)) if one.len() != other.len() => Ok(()),
        (Set(one), Set(other)) => match (one.first(), other.first()) {
            (Some(a), Some(b)) => comparable(a, b),
            _ => Ok(()),
        },
        (one, other) if one.is_set() && other.is_set() => Ok(()),
        _ => fail(format!(
            "{one} is {}, and {other} is {}: they cannot be compared",
            one.kind(),
            other.kind()
        )),
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    /// FALSE before TRUE, integers by size, strings by their letters; the smaller set and the
    /// shorter sequence first, then by the first element that differs; functions as sequences of
    /// their arguments and values. CHOOSE takes the first.
    #[inline]
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Int(one), Value::Int(other)) => one.cmp(other),
            _ => self.order(other),
        }
    }
}

impl Value {
    fn order(&self, other: &Value) -> Ordering {
        use Value::{Bool, Function, Model, Range, Seq, Set, Text};
        match (self, other) {
            (Bool(one), Bool(other)) => one.cmp(other),
            (Text(one), Text(other)) | (Model(one), Model(other)) => {
                if Arc::ptr_eq(one, other) {
                    Ordering::Equal
                } else {
                    one.cmp(other)
                }
            }
            (Set(one), Set(other)) | (Seq(one), Seq(other)) => {
                if Arc::ptr_eq(one, other) {
                    return Ordering::Equal;
                }
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
            (Function(one), Function(other)) => {
                if Arc::ptr_eq(one, other) {
                    return Ordering::Equal;
                }
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
            (Seq(items), Function(pairs)) => with_function(items, pairs),
            (Function(pairs), Seq(items)) => with_function(items, pairs).reverse(),
            (Range(a, b), Range(c, d)) => (a, b).cmp(&(c, d)),
            (Value::Described(one), Value::Described(other)) => {
                if one == other {
                    Ordering::Equal
                } else {
                    one.to_string().cmp(&other.to_string())
                }
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Value::Bool(is) => is.hash(state),
            Value::Int(number) => number.hash(state),
            Value::Text(text) | Value::Model(text) => text.hash(state),
            Value::Set(values) | Value::Seq(values) => values.hash(state),
            Value::Function(pairs) => pairs.hash(state),
            // Listed, where it is kept.
            Value::Range(..) | Value::Described(_) => {}
        }
    }
}

impl fmt::Display for Value {
    /// As TLC prints it.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Bool(is) => f.write_str(if *is { "TRUE" } else { "FALSE" }),
            Value::Int(number) => write!(f, "{number}"),
            Value::Text(text) => {
                write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Value::Model(text) => f.write_str(text),
            Value::Set(values) => list(f, ["{", ", ", "}"], values, |f, of| write!(f, "{of}")),
            Value::Range(first, last) => write!(f, "{first}..{last}"),
            Value::Described(of) => write!(f, "{of}"),
            Value::Seq(values) => list(f, ["<<", ", ", ">>"], values, |f, of| write!(f, "{of}")),
            Value::Function(pairs) => match pairs.iter().all(|(name, _)| field(name).is_some()) {
                true => list(f, ["[", ", ", "]"], pairs, |f, (name, value)| {
                    write!(f, "{} |-> {value}", field(name).expect("all are names"))
                }),
                false => list(f, ["(", " @@ ", ")"], pairs, |f, (argument, value)| {
                    write!(f, "{argument} :> {value}")
                }),
            },
        }
    }
}

/// The order of a sequence and of a function that is none.
fn with_function(items: &[Value], pairs: &[(Value, Value)]) -> Ordering {
    let places = (1..).map(Value::Int).zip(items);
    let by_pair = || places.cmp(pairs.iter().map(|(argument, value)| (argument.clone(), value)));
    items.len().cmp(&pairs.len()).then_with(by_pair)
}

/// The name of a record's field.
pub fn field(name: &Value) -> Option<&Text> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match name {
        Value::Text(text) if !text.is_empty() && text.chars().all(is_letter) => Some(text),
        _ => None,
    }
}

pub fn list<T>(
    f: &mut fmt::Formatter,
    [open, between, close]: [&str; 3],
    values: &[T],
    one: impl Fn(&mut fmt::Formatter, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str(open)?;
    for (at, value) in values.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { between })?;
        one(f, value)?;
    }
    f.write_str(close)
}
