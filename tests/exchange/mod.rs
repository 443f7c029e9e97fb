//! Histories of other tools: read, checked with the verdicts of their authors, written and read
//! again.

mod commands;
mod jepsen;
mod omnilink;
mod porcupine;
mod recorded;
mod s2;
mod transactions;

pub use omnilink::{Action, any_logs as omnilink_logs, one_log as omnilink_log};

use std::path::Path;

use interlap::check::{self, Limits, Verdict};
use interlap::core::interner::Value;
use interlap::exchange::{self, Format, Imported, Options, jsonl};

const OPTIONS: Options = Options { model: None, initial: None };

/// Limits for any history here.
fn limits() -> Limits {
    Limits { steps_max: 500_000_000, ..Limits::default() }
}

fn read(path: &Path) -> Imported {
    let format = exchange::detect(path).expect("a known format");
    exchange::read(path, format, &OPTIONS).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn read_text(text: &str, format: Format, options: &Options) -> Result<Imported, String> {
    let folder = tempfile::tempdir().expect("temp folder");
    let path = folder.path().join("history");
    std::fs::write(&path, text).expect("written");
    exchange::read(&path, format, options)
}

fn verdict(imported: &Imported) -> Verdict {
    let model = imported.model.expect("a model that explains its operations");
    check::check(&imported.history, &model, &limits())
}

/// Whether the history is consistent; panics if the check is inconclusive.
fn is_good(imported: &Imported) -> bool {
    match verdict(imported) {
        Verdict::Consistent => true,
        Verdict::Violation(_) => false,
        Verdict::Inconclusive(why) => panic!("not decided: {why:?}"),
    }
}

/// Written in `format` and read again.
fn through(imported: &Imported, format: Format) -> Imported {
    let model = imported.model.expect("a model").to_string();
    let text = exchange::write(&imported.history, &model, &imported.interner, format);
    let text = text.unwrap_or_else(|error| panic!("{format:?}: {error}"));
    read_text(&text, format, &OPTIONS).unwrap_or_else(|e| panic!("{format:?}: {e}\n{text}"))
}

/// All calls and answers in the order of starts and ends: all that a verdict may depend on. (Stamps
/// and numbers of clients may differ.)
fn calls_and_answers(imported: &Imported) -> String {
    let (history, strings) = (&imported.history, &imported.interner);
    strings.render(&exchange::jsonl::write_events(history, "any", strings))
}

fn nil() -> Option<Value> {
    Some(Value::nil())
}

#[test]
fn what_is_said_between_events_is_kept_and_decides_nothing() {
    let lines = [
        r#"{"interlap": 1, "model": "fifo"}"#,
        r#"{"note": "n1 is cut off", "span": 3}"#,
        r#"{"event": {"start": {"op": "enqueue", "args": [7]}}, "client_id": 0, "op_id": 5}"#,
        r#"{"event": {"note": "asks n2"}, "client_id": 0, "op_id": 5}"#,
        r#"{"note": "n2 leads"}"#,
        r#"{"event": {"finish": {}}, "client_id": 0, "op_id": 5}"#,
        r#"{"end_span": 3}"#,
    ];
    let history = jsonl::read(&lines.join("\n"), None).expect("good").history;
    let id = history.ids().next().expect("one");
    let (start, end) = (history.operation(id).start, history.operation(id).end);
    let annotations = history.annotations.as_ref().expect("some");
    let said: Vec<_> = annotations.all.iter().map(|of| (&*of.text, of.start, of.end)).collect();
    assert_eq!(said, [("n1 is cut off", start - 1, end + 1), ("n2 leads", start + 1, start + 1)]);
    assert_eq!((history.notes(id), history.len()), (&["asks n2".to_string()][..], 1));
    let of_none = lines[..3].join("\n") + "\n" + &lines[3].replace("\"op_id\": 5", "\"op_id\": 6");
    assert!(jsonl::read(&of_none, None).expect_err("no such call").starts_with("line 4: "));
    let twice = lines[..2].join("\n") + "\n" + lines[1];
    let mut reader = jsonl::EventReader::new(None);
    for (line, has_event) in lines.iter().zip([false, false, true, false, false, true, false]) {
        assert_eq!(reader.line(line).expect("good").is_some(), has_event, "{line}");
    }
    assert!(jsonl::read(&(twice + "\n" + lines[2]), None).is_err());
}
