//! Values of methods as JSON, by their types: `true`, `7`, `"key"`, `null` (none), `[1, 2]` (lists,
//! sets, tuples), `[["a", 1]]` (maps), `{"x": 1}` (records), `[0, 7]` (the number of a variant's
//! choice, and its value). An optional inside of an optional is a list of at most one.

use serde_json::{Map, Value as Json, json};

use crate::core::value::{NoValue, Type, choice, count, string, string_words, word};
use crate::model::program::{MAP, SET};

/// Values of these types, one after the other, which are all the words; a void has none.
///
/// # Errors
/// If the words are no such values.
pub fn write(types: &[Type], words: &[i64]) -> Result<Vec<Json>, NoValue> {
    let mut rest = words;
    let types = types.iter().filter(|of| **of != Type::Void);
    let values = types.map(|of| one(of, &mut rest)).collect::<Result<_, _>>()?;
    if rest.is_empty() { Ok(values) } else { Err(NoValue) }
}

fn one(of: &Type, words: &mut &[i64]) -> Result<Json, NoValue> {
    let list = |types: &mut dyn Iterator<Item = &Type>, words: &mut &[i64]| {
        types.map(|of| one(of, words)).collect::<Result<Vec<Json>, NoValue>>()
    };
    Ok(match of {
        Type::Void => Json::Null,
        Type::Bool => Json::Bool(choice(words, 2)? == 1),
        Type::Int => word(words)?.into(),
        Type::Uint => (word(words)? as u64).into(),
        Type::String => string(words)?.into(),
        Type::Optional(inner) if is_optional(inner) => {
            let count = choice(words, 2)?;
            Json::Array(list(&mut (0..count).map(|_| &**inner), words)?)
        }
        Type::Optional(_) if choice(words, 2)? == 0 => Json::Null,
        Type::Optional(inner) => one(inner, words)?,
        Type::List(element) | Type::Set(element) => {
            let count = count(words)?;
            Json::Array(list(&mut (0..count).map(|_| &**element), words)?)
        }
        Type::Map(key, value) => {
            let count = count(words)?;
            let pair = |_| list(&mut [&**key, &**value].into_iter(), words).map(Json::Array);
            Json::Array((0..count).map(pair).collect::<Result<_, _>>()?)
        }
        Type::Tuple(types) => Json::Array(list(&mut types.iter(), words)?),
        Type::Record(members) => {
            let values = list(&mut members.iter().map(|(_, of)| of), words)?;
            let names = members.iter().map(|(name, _)| name.clone());
            Json::Object(names.zip(values).collect::<Map<_, _>>())
        }
        Type::Variant(types) => {
            let at = choice(words, types.len())?;
            Json::Array(vec![at.into(), one(&types[at], words)?])
        }
    })
}

/// The values of these types with sets and maps marked, as `{"#set": [1, 2]}`.
pub fn marked(types: &[Type], values: Vec<Json>) -> Vec<Json> {
    let types = types.iter().filter(|of| **of != Type::Void);
    types.zip(values).map(|(of, value)| mark(of, value)).collect()
}

fn mark(of: &Type, value: Json) -> Json {
    let each = |types: &mut dyn Iterator<Item = &Type>, values: Vec<Json>| {
        Json::Array(types.zip(values).map(|(of, value)| mark(of, value)).collect())
    };
    match (of, value) {
        (Type::Optional(inner), Json::Array(some)) if is_optional(inner) => {
            each(&mut std::iter::repeat(&**inner), some)
        }
        (Type::Optional(inner), value) if !value.is_null() => mark(inner, value),
        (Type::List(element), Json::Array(all)) => each(&mut std::iter::repeat(&**element), all),
        (Type::Set(element), Json::Array(all)) => {
            json!({ SET: each(&mut std::iter::repeat(&**element), all) })
        }
        (Type::Map(key, of), Json::Array(pairs)) => {
            let pair = Type::Tuple(vec![(**key).clone(), (**of).clone()]);
            json!({ MAP: each(&mut std::iter::repeat(&pair), pairs) })
        }
        (Type::Tuple(types), Json::Array(all)) => each(&mut types.iter(), all),
        (Type::Record(members), Json::Object(mut fields)) => {
            for (name, of) in members {
                if let Some(value) = fields.get_mut(name) {
                    *value = mark(of, value.take());
                }
            }
            Json::Object(fields)
        }
        (_, value) => value,
    }
}

fn is_optional(of: &Type) -> bool {
    matches!(of, Type::Optional(_) | Type::Void)
}

/// The words of values of these types. None where they are no such values.
pub fn read(types: &[Type], values: &[Json]) -> Option<Vec<i64>> {
    let mut words = Vec::new();
    let types: Vec<&Type> = types.iter().filter(|of| **of != Type::Void).collect();
    let all = types.iter().zip(values).all(|(of, value)| take(of, value, &mut words).is_some());
    (all && types.len() == values.len()).then_some(words)
}

/// Appends the words of one value.
fn take(of: &Type, value: &Json, words: &mut Vec<i64>) -> Option<()> {
    match of {
        Type::Void => value.as_null()?,
        Type::Bool => words.push(value.as_bool()?.into()),
        Type::Int => words.push(value.as_i64()?),
        Type::Uint => words.push(value.as_u64()? as i64),
        Type::String => string_words(value.as_str()?, words),
        Type::Optional(inner) if is_optional(inner) => {
            let some = value.as_array().filter(|some| some.len() < 2)?;
            words.push(some.len() as i64);
            some.iter().try_for_each(|value| take(inner, value, words))?;
        }
        Type::Optional(inner) => {
            words.push((!value.is_null()).into());
            if !value.is_null() {
                take(inner, value, words)?;
            }
        }
        Type::List(element) | Type::Set(element) => {
            words.push(value.as_array()?.len() as i64);
            value.as_array()?.iter().try_for_each(|value| take(element, value, words))?;
        }
        Type::Map(key, of) => {
            words.push(value.as_array()?.len() as i64);
            for pair in value.as_array()? {
                let [first, second] = pair.as_array()?.as_slice() else { return None };
                take(key, first, words).and_then(|()| take(of, second, words))?;
            }
        }
        Type::Tuple(types) => {
            let values = value.as_array().filter(|values| values.len() == types.len())?;
            types.iter().zip(values).try_for_each(|(of, value)| take(of, value, words))?;
        }
        Type::Record(members) => {
            let values = value.as_object().filter(|values| values.len() == members.len())?;
            members.iter().try_for_each(|(name, of)| take(of, values.get(name)?, words))?;
        }
        Type::Variant(types) => {
            let [at, value] = value.as_array()?.as_slice() else { return None };
            let at = at.as_u64()?;
            words.push(at as i64);
            take(types.get(at as usize)?, value, words)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::TypeParser;
    use serde_json::json;

    #[test]
    fn values_of_all_types_are_json_and_back() {
        let cases = [
            ("bool", json!(true)),
            ("int", json!(-7)),
            ("uint", json!(u64::MAX)),
            ("string", json!("nine \"bytes\"")),
            ("optional<int>", json!(null)),
            ("optional<int>", json!(3)),
            ("optional<optional<int>>", json!([])),
            ("optional<optional<int>>", json!([null])),
            ("optional<optional<int>>", json!([5])),
            ("list<set<int>>", json!([[1, 2], []])),
            ("map<string, int>", json!([["a", 1], ["", 2]])),
            ("tuple<int, bool>", json!([1, false])),
            ("record<x: int, y: tuple<>>", json!({"x": 1, "y": []})),
            ("variant<int, string>", json!([1, "s"])),
        ];
        for (text, value) in cases {
            let of = TypeParser::new(text).one().expect("a type");
            let types = [of, Type::Void];
            let words = read(&types, std::slice::from_ref(&value)).expect(text);
            assert_eq!(write(&types, &words).expect(text), [value], "{text}");
            assert!(write(&types, &[&words[..], &[0]].concat()).is_err(), "{text}");
            assert!(read(&types, &[json!({"other": 1})]).is_none(), "{text}");
            assert!(read(&types, &[]).is_none(), "{text}");
        }
        let of = TypeParser::new("list<map<int, optional<set<int>>>>").one().expect("a type");
        let marked = marked(&[of], vec![json!([[[1, [2]], [3, null]]])]);
        let expected = json!([{MAP: [[1, {SET: [2]}], [3, null]]}]);
        assert_eq!(marked, [expected]);
    }
}
