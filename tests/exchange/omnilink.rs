//! Logs of OmniLink, written here as its own writer does: MessagePack maps, a file for each thread.

use std::path::Path;

use interlap::exchange::{self, Format, Imported, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{OPTIONS, is_good, read, through};

/// An operation in a box, with the fields that its specification names.
fn record(name: &str, stamps: (u64, u64), fields: Value) -> Value {
    let mut operation = fields;
    let own =
        json!({"_did_abort": false, "_op_start": stamps.0, "_op_end": stamps.1, "_meta": null});
    for (key, value) in own.as_object().expect("an object") {
        operation.as_object_mut().expect("an object").entry(key).or_insert(value.clone());
    }
    json!({"operation_name": name, "operation": operation})
}

fn end() -> Value {
    record("__TerminateThread", (1 << 40, (1 << 40) + 5), json!({}))
}

/// A directory of logs, a file for each list of records, with its last record.
fn logs(spec: &str, threads: &[Vec<Value>]) -> TempDir {
    let folder = tempfile::tempdir().expect("temp folder");
    for (at, records) in threads.iter().enumerate() {
        let mut bytes = Vec::new();
        for record in records.iter().chain([&end()]) {
            bytes.extend(rmp_serde::to_vec(record).expect("MessagePack"));
        }
        let path = folder.path().join(format!("tracing-{spec}-{}.log", 4711 + at));
        std::fs::write(path, bytes).expect("written");
    }
    std::fs::write(folder.path().join("viz.html"), "not a log").expect("written");
    folder
}

/// An action with its box and its parameters.
pub type Action<'a> = (&'a str, (u64, u64), Value);

/// A log for each thread.
pub fn any_logs(spec: &str, threads: &[Vec<Action>]) -> TempDir {
    let one =
        |(name, stamps, fields): &(&str, (u64, u64), Value)| record(name, *stamps, fields.clone());
    let threads: Vec<Vec<Value>> =
        threads.iter().map(|thread| thread.iter().map(one).collect()).collect();
    logs(spec, &threads)
}

/// The log of one thread of SetBench.
pub fn one_log() -> Vec<u8> {
    let insert = record("KVInsert", (100, 200), json!({"key": 3, "value": 7, "result": 0}));
    let erase = record("KVErase", (230, 240), json!({"key": 3, "result": 7}));
    let range = record("KVRangeQuery", (245, 248), json!({"lo": 3, "hi": 4, "count": 0}));
    let folder = logs("SetBench", &[vec![insert, erase, range]]);
    std::fs::read(folder.path().join("tracing-SetBench-4711.log")).expect("written")
}

fn with_model(path: &Path, model: &str) -> Imported {
    let options = Options { model: Some(model.parse().expect("a model")), ..OPTIONS };
    exchange::read(path, Format::Omnilink, &options).expect("good")
}

fn error(folder: &TempDir) -> String {
    exchange::read(folder.path(), Format::Omnilink, &OPTIONS).expect_err("wrong")
}

#[test]
fn setbench_is_a_set_or_a_map() {
    let history = |erased: i64, count: i64| {
        let insert = record("KVInsert", (100, 200), json!({"key": 3, "value": 7, "result": 0}));
        let present = record("KVContains", (210, 220), json!({"key": 3, "result": true}));
        let erase = record("KVErase", (230, 240), json!({"key": 3, "result": erased}));
        let again = json!({"key": 4, "value": 9, "result": 0});
        let again = record("KVInsertIfAbsent", (150, 160), again);
        let range = record("KVRangeQuery", (225, 228), json!({"lo": 3, "hi": 4, "count": count}));
        logs("SetBench", &[vec![insert, present, erase], vec![again, range]])
    };
    let good = history(7, 2);
    let imported = read(good.path());
    assert_eq!(imported.model.expect("one").to_string(), "range-set");
    assert_eq!(imported.history.len(), 5);
    assert!(is_good(&imported) && is_good(&through(&imported, Format::Jsonl)));
    assert!(!is_good(&read(history(7, 1).path())), "the range holds two keys");
    assert!(!is_good(&read(history(0, 2).path())), "the key was there");
    let map = with_model(good.path(), "map");
    assert!(is_good(&map));
    assert_eq!(
        map.notes.len(),
        2,
        "contains and ranges are no operations of a map: {:?}",
        map.notes
    );
    assert!(!is_good(&with_model(history(8, 2).path(), "map")), "the value was 7");
}

#[test]
fn concurrent_queue_is_a_queue_for_each_producer() {
    let history = |taken: [i64; 2]| {
        let add = |producer: u64, elements: [i64; 2]| {
            let fields = json!({"producer": producer, "elements": elements});
            record("EnqueueWithToken", (100, 200), fields)
        };
        let failed = json!({"producer": 1, "elements": [5], "_did_abort": true});
        let failed = record("EnqueueWithToken", (250, 260), failed);
        let empty = record("Dequeue", (300, 310), json!({"consumer": 2, "elements": []}));
        let take = record("Dequeue", (320, 330), json!({"consumer": 2, "elements": taken}));
        let size = record("SizeApprox", (340, 350), json!({"size": 4}));
        logs(
            "ConcurrentQueue",
            &[vec![add(1, [10, 11]), failed], vec![add(2, [20, 21]), empty, take, size]],
        )
    };
    let imported = read(history([20, 10]).path());
    assert_eq!(imported.model.expect("one").to_string(), "fifo-per-producer:empty=none");
    assert_eq!((imported.history.len(), imported.notes.len()), (3, 3), "{:?}", imported.notes);
    assert!(is_good(&imported), "between producers there is no order");
    assert!(!is_good(&read(history([11, 20]).path())), "10 was before 11");
}

#[test]
fn atomic_counts_from_one() {
    let inc =
        |start: u64, before: i64| record("Inc", (start, start + 10), json!({"prev_x": before}));
    let good = logs("Atomic", &[vec![inc(100, 1), inc(120, 3)], vec![inc(105, 2)]]);
    assert!(is_good(&read(good.path())));
    let lost = logs("Atomic", &[vec![inc(100, 1), inc(120, 2)], vec![inc(105, 2)]]);
    assert!(!is_good(&read(lost.path())));
    let one = logs("Atomic", &[vec![inc(100, 1)]]);
    assert!(is_good(&read(&one.path().join("tracing-Atomic-4711.log"))), "a single file");
}

#[test]
fn boxes_are_closed() {
    let erase = |stamps, result| record("KVErase", stamps, json!({"key": 1, "result": result}));
    let insert = record("KVInsert", (100, 200), json!({"key": 1, "value": 5, "result": 0}));
    let touching = logs("SetBench", &[vec![insert.clone()], vec![erase((200, 210), 0)]]);
    assert!(is_good(&read(touching.path())));
    let after = logs("SetBench", &[vec![insert], vec![erase((201, 210), 0)]]);
    assert!(!is_good(&read(after.path())));
}

#[test]
fn errors_name_their_file_and_record() {
    let contains = |stamps| record("KVContains", stamps, json!({"key": 3, "result": true}));
    let cases = [
        (vec![contains((5, 9)), contains((9, 12))], "record 2: timebox [9, 12] after an operation"),
        (vec![contains((9, 5))], "record 1: timebox [9, 5]"),
        (
            vec![record("Put", (1, 2), json!({}))],
            "record 1: operation Put; expected one of KVContains",
        ),
        (vec![record("KVErase", (1, 2), json!({"key": 3}))], "KVErase without result"),
        (
            vec![record("KVContains", (1, 2), json!({"key": 3, "result": 1}))],
            "result is not of the expected type, boolean",
        ),
        (
            vec![contains((1, 2)), record("Inc", (3, 4), json!({"prev_x": 1}))],
            "Inc in a log of a set",
        ),
        (vec![json!({"operation": {}})], "record 1: missing field `operation_name`"),
        (vec![record("__AbortThread", (1, 2), json!({"signal": "SIGSEGV"}))], "cannot be checked"),
        (vec![end()], "records after __TerminateThread"),
    ];
    for (records, expected) in cases {
        let error = error(&logs("SetBench", &[records]));
        let named = error.starts_with("tracing-SetBench-4711.log: record ");
        assert!(named && error.contains(expected), "{error}");
    }
    let whole = logs("SetBench", &[vec![contains((5, 9))]]);
    let path = whole.path().join("tracing-SetBench-4711.log");
    let bytes = std::fs::read(&path).expect("read");
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).expect("written");
        assert!(error(&whole).contains("record "), "cut at {cut}");
    }
    let empty = tempfile::tempdir().expect("temp folder");
    assert!(error(&empty).contains("expected files tracing-SPEC-THREAD.log"));
}
