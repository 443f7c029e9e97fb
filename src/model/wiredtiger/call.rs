//! A call of WiredTiger's API and its answer, as JSON has them, and the part of it that a step is.

use serde::Deserialize;
use serde_json::Value as Json;

use super::store::{Key, Session};
use crate::model::called::{parts, thread_of};

/// Which part of a call a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Whole,
    /// Any number of these.
    Step,
    Done,
}

/// A call that the model knows. A timestamp that the caller chose is in the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Begin { is_snapshot: bool },
    BeginAt,
    Search(Key),
    Insert(Key, i64),
    Update(Key, i64),
    Remove(Key),
    Truncate { table: i64, first: i64, last: i64 },
    Reset,
    Prepare,
    Commit,
    CommitAt,
    CommitPrepared,
    RollBack,
    SetOldest,
    SetStable,
    RollBackToStable,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Json")]
pub struct Call {
    pub method: Method,
    pub session: Session,
    pub part: Part,
    pub text: String,
}

/// What is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Json")]
pub struct Answer {
    /// WiredTiger's code; of a search that found something, the value.
    pub code: i64,
    /// The timestamp of the call, and the one from which on it is durable.
    pub at: i64,
    pub durable: i64,
}

impl TryFrom<Json> for Call {
    type Error = String;

    fn try_from(json: Json) -> Result<Call, String> {
        let (name, given) = parts(&json)?;
        let given: Vec<i64> = match given {
            Json::Array(all) => all.iter().filter_map(Json::as_i64).collect(),
            one => one.as_i64().into_iter().collect(),
        };
        let method = match (name, &given[..]) {
            ("begin", []) => Method::Begin { is_snapshot: true },
            ("begin_read_committed", []) => Method::Begin { is_snapshot: false },
            ("begin_at", _) => Method::BeginAt,
            ("search", [table, key]) => Method::Search((*table, *key)),
            ("insert", [table, key, value]) => Method::Insert((*table, *key), *value),
            ("update", [table, key, value]) => Method::Update((*table, *key), *value),
            ("remove", [table, key]) => Method::Remove((*table, *key)),
            ("truncate", [table, first, last]) => {
                Method::Truncate { table: *table, first: *first, last: *last }
            }
            ("reset", []) => Method::Reset,
            ("prepare", _) => Method::Prepare,
            ("commit", []) => Method::Commit,
            ("commit_at", _) => Method::CommitAt,
            ("commit_prepared", _) => Method::CommitPrepared,
            ("rollback", []) => Method::RollBack,
            ("set_oldest", _) => Method::SetOldest,
            ("set_stable", _) => Method::SetStable,
            ("rollback_to_stable", []) => Method::RollBackToStable,
            _ => return Err(format!("WiredTiger has no call {json}")),
        };
        let session = thread_of(&json).and_then(|thread| Session::try_from(thread).ok());
        let session = session.ok_or("a call of WiredTiger's is one of a session")?;
        let text = if given.is_empty() { name.to_string() } else { format!("{name}{given:?}") };
        Ok(Call { method, session, part: Part::Whole, text })
    }
}

impl TryFrom<Json> for Answer {
    type Error = String;

    fn try_from(json: Json) -> Result<Answer, String> {
        let field = |name: &str| json.get(name).and_then(Json::as_i64).unwrap_or(0);
        match json.as_i64() {
            Some(code) => Ok(Answer { code, ..Answer::default() }),
            None if json.get("code").is_some() => {
                Ok(Answer { code: field("code"), at: field("at"), durable: field("durable") })
            }
            None => Err(format!("{json} has no code of WiredTiger's")),
        }
    }
}

impl Call {
    /// Whether others can see it half done.
    pub fn has_steps(&self) -> bool {
        !matches!(
            self.method,
            Method::Begin { is_snapshot: false }
                | Method::Reset
                | Method::SetOldest
                | Method::SetStable
                | Method::RollBackToStable
        )
    }
}
