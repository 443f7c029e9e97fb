//! The versions of what transactions contradict each other about: who wrote each, and who read it.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Extent, Outcome, extents};
use crate::core::columns;
use crate::core::history::{History, OperationId};
use crate::core::interner::Interner;
use crate::core::operation::{Family, Op, Status};

/// Versions of a key that are told, the last ones.
const VERSIONS_MAX: usize = 8;
/// Transactions that are named of one version.
const READERS_MAX: usize = 3;

/// What a transaction found or left under a key: nothing, or a value. Of a list, each of its values
/// is a version.
type Content = Option<i64>;

/// A version, in words.
#[derive(Debug, PartialEq)]
pub struct Version {
    /// "key 1".
    pub key: String,
    /// "5", "absent".
    pub content: String,
    /// "by thread 1 (begun at 16)".
    pub written: String,
    /// "read by thread 2 (begun at 24)".
    pub read: String,
}

/// Who wrote and who read one version.
#[derive(Default)]
struct Users {
    /// With the end of the commit.
    writers: Vec<(u64, OperationId, Outcome)>,
    readers: Vec<OperationId>,
}

/// Those of the operations that are on a key which one of their transactions changed and another
/// one read, or changed if none read any; all, where they are not of transactions.
pub fn concerned(history: &History, operations: &[OperationId]) -> Vec<OperationId> {
    let keys = shared(history, operations);
    if keys.is_empty() {
        return operations.to_vec();
    }
    let is_on_one = |id: &&OperationId| key(history, **id).is_some_and(|key| keys.contains(&key));
    operations.iter().filter(is_on_one).copied().collect()
}

/// The versions of these keys, each key's in the order in which they were committed.
pub fn versions(history: &History, operations: &[OperationId], strings: &Interner) -> Vec<Version> {
    let keys = shared(history, operations);
    if keys.is_empty() {
        return Vec::new();
    }
    let Ok(transactions) = extents(history) else { return Vec::new() };
    let mut all: BTreeMap<(i64, Content), Users> = BTreeMap::new();
    for transaction in &transactions {
        note(history, transaction, &keys, &mut all);
    }
    let mut told = Vec::new();
    for key in keys {
        let of_key = all.iter().filter(|((of, _), _)| *of == key);
        let mut of_key: Vec<(&Content, &Users)> =
            of_key.map(|((_, content), users)| (content, users)).collect();
        let committed = |users: &Users| users.writers.iter().map(|(end, ..)| *end).min();
        // What nobody wrote was there at first.
        of_key.sort_by_key(|(content, users)| (committed(users), **content));
        let shown = of_key.split_off(of_key.len().saturating_sub(VERSIONS_MAX));
        told.extend(shown.into_iter().map(|(content, users)| Version {
            key: format!("key {}", strings.shown(key)),
            content: content.map_or("absent".to_string(), |value| strings.shown(value)),
            written: written(history, users),
            read: read(history, users),
        }));
    }
    told
}

/// The same as a table, a line each, under the name of the key; nothing if there are none.
pub fn table(history: &History, operations: &[OperationId], strings: &Interner) -> String {
    let row = |of: Version| [of.key, of.content, of.written, of.read];
    let rows: Vec<[String; 4]> =
        versions(history, operations, strings).into_iter().map(row).collect();
    columns::table(&rows, 0..0, "  ")
}

/// The key that an operation is on.
fn key(history: &History, id: OperationId) -> Option<i64> {
    let op = history.operation(id).op;
    let is_on_key = op.family() == Family::Store
        && !matches!(op, Op::StoreBegin | Op::StoreCommit | Op::StoreAbort);
    is_on_key.then(|| history.args(id).first().copied()).flatten()
}

fn is_read(history: &History, id: OperationId) -> bool {
    matches!(history.operation(id).op, Op::StoreRead | Op::StoreReadList)
}

/// The keys that one transaction of these operations changed and another read; else those that
/// several changed.
fn shared(history: &History, operations: &[OperationId]) -> BTreeSet<i64> {
    // By key, in which transactions it was changed, and read: known by thread and begin.
    let mut used: BTreeMap<i64, [BTreeSet<OperationId>; 2]> = BTreeMap::new();
    for id in operations {
        if let (Some(key), Some(begin)) = (key(history, *id), begin(history, *id)) {
            used.entry(key).or_default()[usize::from(is_read(history, *id))].insert(begin);
        }
    }
    let others = |one: &BTreeSet<OperationId>, other: &BTreeSet<OperationId>| {
        one.iter().any(|begin| other.iter().any(|own| own != begin))
    };
    let keys = |test: &dyn Fn(&[BTreeSet<OperationId>; 2]) -> bool| {
        used.iter().filter(|(_, users)| test(users)).map(|(key, _)| *key).collect::<BTreeSet<_>>()
    };
    let read = keys(&|[changed, read]| others(changed, read));
    if read.is_empty() { keys(&|[changed, _]| changed.len() > 1) } else { read }
}

/// The begin of the operation's transaction.
fn begin(history: &History, id: OperationId) -> Option<OperationId> {
    let before = (0..=id.index).rev().map(|index| OperationId { index, ..id });
    before.into_iter().find(|id| history.operation(*id).op == Op::StoreBegin)
}

/// Notes what a transaction read of these keys before it changed them, and what it left.
fn note(
    history: &History,
    transaction: &Extent,
    keys: &BTreeSet<i64>,
    all: &mut BTreeMap<(i64, Content), Users>,
) {
    let (mut found, mut left) = (BTreeSet::new(), BTreeMap::<i64, BTreeSet<Content>>::new());
    for id in transaction.operations() {
        let Some(key) = key(history, id).filter(|key| keys.contains(key)) else { continue };
        let (args, results) = (history.args(id), history.results(id));
        let own = left.get(&key);
        match (history.operation(id).op, history.operation(id).status) {
            (Op::StoreRead, Status::Ok | Status::Failed) if own.is_none() => {
                found.insert((key, results.first().copied()));
            }
            (Op::StoreReadList, Status::Ok) => {
                let others = results.iter().map(|value| Some(*value));
                let is_other = |value: &Content| own.is_none_or(|own| !own.contains(value));
                found.extend(others.filter(is_other).map(|value| (key, value)));
            }
            (Op::StoreWrite, Status::Ok) => {
                left.insert(key, BTreeSet::from([args.get(1).copied()]));
            }
            (Op::StoreAppend, Status::Ok) => {
                left.entry(key).or_default().insert(args.get(1).copied());
            }
            (Op::StoreRemove, Status::Ok) => drop(left.insert(key, BTreeSet::from([None]))),
            _ => {}
        }
    }
    for version in found {
        all.entry(version).or_default().readers.push(transaction.begin);
    }
    let end = match transaction.outcome {
        Outcome::Committed { end, .. } => end,
        _ => u64::MAX,
    };
    let left = left.into_iter();
    for (key, content) in left.flat_map(|(key, all)| all.into_iter().map(move |of| (key, of))) {
        let users = all.entry((key, content)).or_default();
        users.writers.push((end, transaction.begin, transaction.outcome));
    }
}

fn who(history: &History, begin: OperationId) -> String {
    format!("{} (begun at {})", history.client_name(begin), history.operation(begin).start)
}

fn written(history: &History, users: &Users) -> String {
    let one = |(_, begin, outcome): &(u64, OperationId, Outcome)| {
        let came_to = match outcome {
            Outcome::Committed { .. } => "",
            Outcome::Unknown { .. } => ", may have committed",
            Outcome::Aborted | Outcome::UnderWay => ", did not commit",
        };
        format!("by {}{came_to}", who(history, *begin))
    };
    match &users.writers[..] {
        [] => "at first".to_string(),
        writers => writers.iter().map(one).collect::<Vec<_>>().join("; "),
    }
}

fn read(history: &History, users: &Users) -> String {
    let named = users.readers.iter().take(READERS_MAX).map(|begin| who(history, *begin));
    let named: Vec<String> = named.collect();
    let rest = match users.readers.len().saturating_sub(READERS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match named.is_empty() {
        true => "not read".to_string(),
        false => format!("read by {}{rest}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::jsonl;

    fn shown(text: &str) -> (Vec<String>, Vec<usize>) {
        let imported = jsonl::read(text, Some("serializable".parse().expect("one")));
        let imported = imported.expect(text);
        let all: Vec<OperationId> = imported.history.ids().collect();
        let rows = versions(&imported.history, &all, &imported.interner).into_iter();
        let rows = rows.map(|of| format!("{} {} {} {}", of.key, of.content, of.written, of.read));
        let concerned = concerned(&imported.history, &all);
        let places = concerned.iter().filter_map(|id| all.iter().position(|one| one == id));
        (rows.collect(), places.collect())
    }

    /// A transaction's lines, each operation one unit after the other.
    fn transaction(thread: u32, from: u64, operations: &[&str]) -> String {
        let line = |(at, operation): (u64, &&str)| {
            let start = from + 2 * at;
            let (end, thread) = (start + 1, thread);
            format!("{{\"thread\": {thread}, \"start\": {start}, \"end\": {end}, {operation}}}\n")
        };
        (0..).zip(operations).map(line).collect()
    }

    const BEGIN: &str = r#""op": "begin""#;
    const COMMIT: &str = r#""op": "commit""#;

    #[test]
    fn of_keys_that_one_changed_and_another_read_all_versions_are_told() {
        let absent = r#""op": "read", "args": [1], "status": "failed""#;
        let write = r#""op": "write", "args": [1, 5]"#;
        let apart = r#""op": "write", "args": [9, 9]"#;
        let own = r#""op": "read", "args": [1], "results": [5]"#;
        let history = transaction(0, 1, &[BEGIN, absent, apart, COMMIT])
            + &transaction(1, 20, &[BEGIN, write, own, COMMIT])
            + &transaction(2, 40, &[BEGIN, own, r#""op": "abort""#])
            + &transaction(3, 50, &[BEGIN, r#""op": "remove", "args": [1]"#, r#""op": "abort""#]);
        let (rows, concerned) = shown(&history);
        assert_eq!(
            rows,
            [
                "key 1 5 by thread 1 (begun at 20) read by thread 2 (begun at 40)",
                "key 1 absent by thread 3 (begun at 50), did not commit read by thread 0 \
                 (begun at 1)",
            ]
        );
        assert_eq!(concerned, [1, 5, 6, 9, 12]);
    }

    #[test]
    fn each_value_of_a_list_is_a_version() {
        let append = |value: i64| format!(r#""op": "append", "args": [1, {value}]"#);
        let read = r#""op": "read_list", "args": [1], "results": [4, 5]"#;
        let history = transaction(0, 1, &[BEGIN, &append(4), COMMIT])
            + &transaction(1, 10, &[BEGIN, &append(5), read, COMMIT])
            + &transaction(2, 20, &[BEGIN, read, COMMIT]);
        let (rows, _) = shown(&history);
        assert_eq!(
            rows,
            [
                "key 1 4 by thread 0 (begun at 1) read by thread 1 (begun at 10), thread 2 \
                 (begun at 20)",
                "key 1 5 by thread 1 (begun at 10) read by thread 2 (begun at 20)",
            ]
        );
    }

    #[test]
    fn other_histories_have_no_versions() {
        let queue = r#"{"thread": 0, "op": "enqueue", "args": [1], "start": 1, "end": 2}"#;
        let imported = jsonl::read(queue, Some("fifo".parse().expect("one"))).expect("read");
        let all: Vec<OperationId> = imported.history.ids().collect();
        assert_eq!(versions(&imported.history, &all, &imported.interner), []);
        assert_eq!(concerned(&imported.history, &all), all);
    }
}
