//! Calls and answers in JSON as values of TLA+: what a specification is asked about.

use serde_json::{Map, Value as Json};

use super::program::{LOGS, MAP, SET, THREAD};
use crate::core::operation::{Family, Op, Status};
use crate::tla::{Constants, Problem, Source, Value};

/// Constants of these names stand for what is answered in place of a value, if nothing else says
/// what they are. They are equal to nothing else.
const NAMED: [(&[&str], &str); 6] = [
    (&[NONE, "null", "nil", "noValue", "noVal"], NONE),
    (&[EMPTY], EMPTY),
    (&["full"], "full"),
    (&["failed"], "failed"),
    (&["done"], "done"),
    (&["unknown"], "unknown"),
];
/// The answer of a call that returns nothing, or an optional without a value.
pub const NONE: &str = "none";
const EMPTY: &str = "empty";

/// The constants that a specification need not be told. Where it has none for no value, `Empty` is
/// also that: an optional without a value.
pub fn given(source: &Source) -> Constants {
    let spelled = |name: &str| {
        let (first, rest) = name.split_at(1);
        [name.to_string(), name.to_uppercase(), first.to_uppercase() + rest]
    };
    let all = |names: &[&str]| names.iter().flat_map(|name| spelled(name)).collect::<Vec<_>>();
    let none = all(NAMED[0].0);
    let mut known = source.constants().chain(source.configured());
    let has_none = known.any(|name| none.iter().any(|none| none == name));
    let mut given = Constants::new();
    for (names, value) in NAMED {
        let value = if value == NONE && !has_none { EMPTY } else { value };
        let named = |name| (name, Value::Model(value.into()));
        given.extend(all(names).into_iter().map(named));
    }
    given
}

/// The field of a record of OmniLink's logs that is the number of its thread. It is ours.
pub const PID: &str = "_pid";

/// What operations of families answer in place of a value.
const STATUSES: [Status; 4] = [Status::Empty, Status::Full, Status::Failed, Status::Done];

/// A record of OmniLink's logs: `{"key": 3, "_did_abort": false, "_pid": 0, ...}`.
pub struct Record<'a> {
    pub name: &'a str,
    fields: &'a Map<String, Json>,
    pid: i64,
}

impl<'a> Record<'a> {
    pub fn of(name: &'a str, given: &'a Json) -> Result<Record<'a>, String> {
        let pid = |fields: &Map<String, Json>| fields.get(PID)?.as_i64();
        match given {
            Json::Object(fields) if let Some(pid) = pid(fields) => Ok(Record { name, fields, pid }),
            _ => Err(format!(
                "{name} is no record of OmniLink's logs, which are what modules judge that \
                 OmniLink generates (...{LOGS}): name the specification itself, Queue.tla"
            )),
        }
    }

    /// The fields that are parameters.
    pub fn params(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.fields.iter().filter(|(name, _)| !name.starts_with('_'))
    }

    /// As OmniLink's modules have it.
    pub fn event(&self) -> Result<Value, String> {
        let fields = self.fields.iter().filter(|(name, _)| *name != PID);
        let fields = fields.map(|(name, of)| Ok((Value::text(name), logged(of)?)));
        let made = fields.collect::<Result<_, String>>().and_then(function)?;
        let (pid, name) = (Value::Int(self.pid), Value::text(self.name));
        let all = [("pid", pid), ("operation_name", name), ("operation", made)];
        function(all.map(|(name, value)| (Value::text(name), value)).into())
    }
}

/// The name of a call, and what it is given; null if nothing.
pub fn parts(call: &Json) -> Result<(&str, &Json), String> {
    let fields = call.as_object().into_iter().flatten();
    let mut named = fields.filter(|(name, _)| *name != THREAD);
    match (call, named.next(), named.next()) {
        (Json::String(name), ..) => Ok((name, &Json::Null)),
        (_, Some((name, given)), None) => Ok((name, given)),
        (other, ..) => Err(format!("{other} is no call")),
    }
}

pub fn thread_of(call: &Json) -> Option<i64> {
    call.get(THREAD)?.as_i64()
}

/// Whether a parameter of this name is the client of the call.
pub fn is_thread(param: &String) -> bool {
    ["thread", "self"].contains(&&**param)
}

fn function(pairs: Vec<(Value, Value)>) -> Result<Value, String> {
    Value::function(pairs).map_err(|problem| problem.to_string())
}

/// A value of OmniLink's logs.
pub fn logged(json: &Json) -> Result<Value, String> {
    value(json, &Value::text("null"))
}

/// Arrays are sequences, objects are records, unless they are marked as sets or maps. `none`: what
/// stands for no value.
pub fn value(json: &Json, none: &Value) -> Result<Value, String> {
    let all = |items: &[Json]| {
        items.iter().map(|item| value(item, none)).collect::<Result<Vec<Value>, String>>()
    };
    let of = |made: Result<Value, Problem>| made.map_err(|problem| problem.to_string());
    let function = |pairs: Result<Vec<(Value, Value)>, String>| of(Value::function(pairs?));
    match json {
        Json::Null => Ok(none.clone()),
        Json::Bool(is) => Ok(Value::Bool(*is)),
        Json::Number(number) => {
            let whole = number.as_i64().ok_or(format!("{number} is no integer of 64 bits"))?;
            Ok(Value::Int(whole))
        }
        Json::String(text) => Ok(Value::text(text)),
        Json::Array(items) => of(Value::seq(all(items)?)),
        Json::Object(fields) if let Some(Json::Array(items)) = fields.get(SET) => {
            of(Value::set(all(items)?))
        }
        Json::Object(fields) if let Some(Json::Array(pairs)) = fields.get(MAP) => {
            let pair = |pair: &Json| Ok((value(&pair[0], none)?, value(&pair[1], none)?));
            function(pairs.iter().map(pair).collect())
        }
        Json::Object(fields) => {
            let field = |(name, of): (&String, &Json)| Ok((Value::text(name), value(of, none)?));
            function(fields.iter().map(field).collect())
        }
    }
}

/// What was answered. Of an operation of a family, the word of a status says how it went; a string
/// of a key-value store is a value.
pub fn answer_of(name: &str, answer: &Json, given: &Constants) -> Result<Value, String> {
    let is_status = |word: &str| {
        let is_it = |op: &&Op| op.name() == name && op.family() != Family::Kv;
        STATUSES.iter().any(|status| status.name() == word) && Op::ALL.iter().any(|op| is_it(&op))
    };
    match answer {
        Json::String(word) if is_status(word) => {
            let known = given.get(word).cloned();
            Ok(known.unwrap_or_else(|| Value::Model(word.as_str().into())))
        }
        answer => value(answer, &given[NONE]),
    }
}

/// Whether it is what is answered by a call that returns nothing.
pub fn says_nothing(answer: &Value, given: &Constants) -> bool {
    *answer == given[NONE] || matches!(answer, Value::Model(name) if **name == *"done")
}
