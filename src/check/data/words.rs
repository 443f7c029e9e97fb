//! Describes operations in words for witnesses, and finds the operations that moved a value.

use super::values::{added_by, taken_by};
use crate::check::verdict::Witness;
use crate::core::history::{History, OperationId};
use crate::core::operation::{Status, listed};

/// The rule of a witness that names no reason but that there is no order.
pub const UNEXPLAINED: &str = "not-linearizable";

/// "thread 3", or "the drain": the client that made the call.
pub fn thread(history: &History, id: OperationId) -> String {
    match history.client_name(id) {
        name if name == "drain" => "the drain".to_string(),
        name => name,
    }
}

/// "insert(7) by thread 3, which answered false".
pub fn call(history: &History, id: OperationId) -> String {
    format!("{}, which {}", called(history, id), answered(history, id))
}

/// "insert(7) by thread 3".
pub fn called(history: &History, id: OperationId) -> String {
    let (name, args) = (history.operation(id).op.name(), listed(history.args(id).iter()));
    format!("{name}({args}) by {}", thread(history, id))
}

/// "; the 3 calls still under way do not change that", where they might have.
pub fn still_under_way(history: &History, others: &[OperationId]) -> String {
    match others {
        [] => String::new(),
        [one] => {
            format!("; {}, still under way then, does not change that", called(history, *one))
        }
        _ => format!("; the {} calls still under way then do not change that", others.len()),
    }
}

/// "answered false", "answered 7".
pub fn answered(history: &History, id: OperationId) -> String {
    let operation = history.operation(id);
    let said = operation.op.answer_word(operation.status);
    match (operation.status, history.results(id)) {
        (Status::Pending, _) => said.to_string(),
        (Status::Unknown, _) => "returned without an answer".to_string(),
        (_, []) => format!("answered {said}"),
        (Status::Ok, results) => format!("answered {}", listed(results.iter())),
        (_, results) => format!("answered {said} ({})", listed(results.iter())),
    }
}

/// "insert(7) = false by thread 3".
pub fn short(history: &History, id: OperationId) -> String {
    let operation = history.operation(id);
    let answer = match (operation.status, history.results(id)) {
        (Status::Pending | Status::Unknown, _) => "?".to_string(),
        (Status::Ok, results) if !results.is_empty() => listed(results.iter()),
        (status, _) => operation.op.answer_word(status).to_string(),
    };
    let (args, by) = (listed(history.args(id).iter()), thread(history, id));
    format!("{}({args}) = {answer} by {by}", operation.op.name())
}

/// The operations that added `value`, or may have.
pub fn adders(history: &History, value: i64) -> Vec<OperationId> {
    let adds = |id: &OperationId| {
        let thread = &history.threads[id.thread as usize];
        added_by(thread, history.operation(*id)).contains(&value)
    };
    history.ids().filter(adds).collect()
}

/// The operations that took `value` out, the first to be called first.
pub fn takers(history: &History, value: i64) -> Vec<OperationId> {
    let takes = |id: &OperationId| {
        let thread = &history.threads[id.thread as usize];
        taken_by(thread, history.operation(*id)).contains(&value)
    };
    let mut ids: Vec<_> = history.ids().filter(takes).collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    ids
}

/// "enqueue", "push", ...: the verb of an operation, for sentences.
pub fn verb(history: &History, id: OperationId) -> &'static str {
    history.operation(id).op.name()
}

pub fn from_nowhere(history: &History, value: i64) -> Witness {
    let takers = takers(history, value);
    let (adders, taker) = (adders(history, value), takers[0]);
    let (by, what) = (thread(history, taker), verb(history, taker));
    let explanation = if adders.is_empty() {
        format!("{what} by {by} returned {value}, which was never added.")
    } else {
        let add = verb(history, adders[0]);
        format!("{what} of {value} by {by} had returned before {add} of {value} was called.")
    };
    let operations = adders.into_iter().chain([taker]).collect();
    Witness { rule: "from-nowhere", explanation, operations }
}

pub fn taken_twice(history: &History, value: i64) -> Witness {
    let takers = takers(history, value);
    let first = takers[0];
    let second = takers.get(1).copied().unwrap_or(first);
    let explanation = format!(
        "{value} was added once, yet both {} by {} and {} by {} returned it.",
        verb(history, first),
        thread(history, first),
        verb(history, second),
        thread(history, second)
    );
    let mut operations = adders(history, value);
    operations.extend([first, second]);
    operations.dedup();
    Witness { rule: "taken-twice", explanation, operations }
}

pub fn lost(history: &History, add: OperationId, value: i64) -> Witness {
    let explanation = format!(
        "{value} was added by {} ({} answered ok) and never taken out, although the structure \
         answered empty after every call had returned.",
        thread(history, add),
        verb(history, add)
    );
    Witness { rule: "lost", explanation, operations: vec![add] }
}

/// An "empty" answer during all of which the values of `inside` were in the structure in turn.
pub fn empty_while_full(history: &History, empty: OperationId, inside: &[i64]) -> Witness {
    let mut operations: Vec<_> = inside.iter().flat_map(|v| adders(history, *v)).collect();
    operations.push(empty);
    operations.extend(inside.iter().flat_map(|v| takers(history, *v)));
    let list = listed(inside.iter());
    let explanation = match inside {
        [value] => format!(
            "{} by {} answered empty, but {value} was inside during the whole call: its {} had \
             returned before, and its removal was not called until after.",
            verb(history, empty),
            thread(history, empty),
            verb(history, operations[0])
        ),
        _ => format!(
            "{} by {} answered empty, but at every instant of the call one of {list} was inside.",
            verb(history, empty),
            thread(history, empty)
        ),
    };
    Witness { rule: "empty-while-full", explanation, operations }
}

/// Values whose pushes and pops cannot be last in, first out; any one left out, the rest can.
pub fn unstacked(history: &History, values: &[i64]) -> Witness {
    let calls = |value: &i64| adders(history, *value).into_iter().chain(takers(history, *value));
    let mut operations: Vec<_> = values.iter().flat_map(calls).collect();
    operations.sort_by_key(|id| history.operation(*id).start);
    let pair = match values {
        [a, b] => passed_over(history, *a, *b).or_else(|| passed_over(history, *b, *a)),
        _ => None,
    };
    let explanation = pair.unwrap_or_else(|| {
        let list = listed(values.iter());
        format!(
            "No order within the timeboxes has the pushes and pops of {list} last in, first out. \
             Any one of these values left out, there is one for the rest."
        )
    });
    Witness { rule: "lifo-order", explanation, operations }
}

/// Why `lower` cannot have been popped when it was, if `upper` was surely above it throughout.
fn passed_over(history: &History, lower: i64, upper: i64) -> Option<String> {
    let (push, above) = (adders(history, lower)[0], adders(history, upper)[0]);
    let (pop, later) = (*takers(history, lower).first()?, takers(history, upper).first().copied());
    let before = |a, b| history.operation(a).end < history.operation(b).start;
    let surely =
        before(push, above) && before(above, pop) && later.is_none_or(|later| before(pop, later));
    let end = match later {
        Some(_) => format!("had returned before pop of {upper} was called"),
        None => format!("returned while {upper} was never popped"),
    };
    surely.then(|| {
        format!(
            "{upper} was pushed by {} after {lower} had been pushed by {}, and lay above it; yet \
             pop of {lower} by {} was called after that and {end}.",
            thread(history, above),
            thread(history, push),
            thread(history, pop)
        )
    })
}
