//! Histories of other tools: read, checked with the verdicts of their authors, written and read
//! again.

mod commands;
mod jepsen;
mod omnilink;
mod porcupine;
mod recorded;
mod s2;
mod transactions;

pub use omnilink::one_log as omnilink_log;

use std::path::Path;

use interlap::check::{self, Limits, Verdict};
use interlap::core::interner::Value;
use interlap::exchange::{self, Format, Imported, Options};

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
