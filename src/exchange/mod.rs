//! Histories of other tools: a file comes in, a [`History`] with what its values stand for and the
//! model it is to be judged by goes out, and back. [`jsonl`] is our own format for exchange,
//! [`jepsen`] that of Jepsen, Knossos and Porcupine's tests, [`omnilink`] that of OmniLink, [`s2`]
//! that of S2. Our own traces are elsewhere; they are only told from the others here. Does not
//! judge.
//!
//! - `edn`: EDN, as Clojure prints it.
//! - `events`: Starts and ends of calls, in the order in which they happened, made into a history;
//!   and a history's in that order.
//! - `jepsen`: Histories of Jepsen and Knossos: invocations and completions in their order, as EDN,
//!   or as the lines of Jepsen's log that Porcupine's tests read.
//! - `jsonl`: JSON Lines, the format of our own for exchange: one operation a line, in any order
//!   between threads, each thread's in its own; or one event a line, in the order of time.
//! - `omnilink`: Logs of OmniLink: a directory with a file for each thread comes in, a history goes
//!   out.
//! - `s2`: The logs of S2's `collect-history`: JSON Lines, the start or the finish of an operation
//!   a line, in the order of time.
//! - `strings`: Values of other tools' histories that are no integers.
//! - `txn`: Transactions of Jepsen: an event invokes or completes a whole one.

pub mod edn;
pub mod events;
pub mod jepsen;
pub mod jsonl;
pub mod omnilink;
pub mod s2;
pub mod strings;
mod txn;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::core::history::History;
use crate::core::operation::Family;
use crate::model::{Kind, Spec};
use events::Record;
use jepsen::Notation;
use strings::{Strings, Value};

/// The formats of `docs/histories.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A trace of interlap
    Trace,
    /// JSON Lines, an operation a line
    Jsonl,
    /// JSON Lines, the start or the end of an operation a line
    Events,
    /// EDN of Jepsen, Knossos and Porcupine's key-value tests
    Edn,
    /// Lines of Jepsen's log, as in Porcupine's etcd tests
    JepsenLog,
    /// MessagePack logs of OmniLink: their directory, or one of the files
    Omnilink,
    /// JSON Lines of S2's collect-history
    S2,
}

/// A history from elsewhere.
#[derive(Debug)]
pub struct Imported {
    pub history: History,
    /// What to judge it by: what the caller said, or else the file, or else what suits the format;
    /// none where no model is known that explains its operations.
    pub model: Option<Spec>,
    /// What integers in it stand for something else.
    pub strings: Strings,
    /// What was left out because it makes no claim that a model here could judge.
    pub notes: Vec<String>,
}

/// How to read a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// Overrules what the file names.
    pub model: Option<Spec>,
    /// What a register of a format that does not say it holds at first; `nil` if none.
    pub initial: Option<Value>,
}

impl Imported {
    fn new(history: History, model: Option<Spec>) -> Imported {
        Imported { history, model, strings: Strings::default(), notes: Vec::new() }
    }

    fn of(
        records: &[Record],
        initial: Option<&Value>,
        model: Option<Spec>,
    ) -> Result<Imported, String> {
        let mut imported = Imported::new(History::default(), model);
        imported.history = events::history(records, initial, &mut imported.strings)?;
        Ok(imported)
    }
}

/// The first model that explains a family's operations.
fn default_model(family: Family) -> Option<Spec> {
    Kind::ALL.into_iter().find(|kind| kind.family() == family).map(Spec::new)
}

/// Reads the history in `path`, which is not a trace of ours. Errors say where in the file.
pub fn read(path: &Path, format: Format, options: &Options) -> Result<Imported, String> {
    if format == Format::Omnilink {
        return omnilink::read(path, options.model);
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        events::at(line, "bytes that are no UTF-8; expected text")
    })?;
    let initial = options.initial.clone().unwrap_or_else(Value::nil);
    let mut imported = match format {
        Format::Edn => jepsen::read(&text, Notation::Edn, &initial)?,
        Format::JepsenLog => jepsen::read(&text, Notation::Log, &initial)?,
        Format::S2 => s2::read(&text, options.model)?,
        _ => jsonl::read(&text, options.model)?,
    };
    let of_transactions = imported.model == Some(Spec::new(Kind::Serializable));
    if format == Format::Edn && of_transactions && options.model == Some(Spec::new(Kind::Snapshot))
    {
        return Err("nothing is known of when its transactions took their snapshots; expected \
                    --model serializable"
            .to_string());
    }
    imported.model = options.model.or(imported.model);
    Ok(imported)
}

/// The history as text in `format`; says why where that has no form for it.
pub fn write(
    history: &History,
    model: &str,
    strings: &Strings,
    format: Format,
) -> Result<String, String> {
    match format {
        Format::Jsonl => Ok(jsonl::write(history, model, strings)),
        Format::Events => Ok(jsonl::write_events(history, model, strings)),
        Format::Edn => jepsen::write(history, strings, Notation::Edn),
        Format::JepsenLog => jepsen::write(history, strings, Notation::Log),
        Format::Trace => Err("a trace is of a run of interlap; expected a format of text".into()),
        Format::S2 => s2::write(history, strings),
        Format::Omnilink => Err("OmniLink's logs are read only; expected a format of text".into()),
    }
}

/// As much of a file as its format is told from.
const HEAD_BYTES: u64 = 1 << 16;

/// Tells a file's format from its first bytes.
pub fn detect(path: &Path) -> Result<Format, String> {
    if path.is_dir() {
        return Ok(Format::Omnilink);
    }
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| error.to_string())?;
    format_of(&head)
}

fn format_of(head: &[u8]) -> Result<Format, String> {
    let text = String::from_utf8_lossy(head);
    match head.first() {
        None => return Err("the file is empty; expected a history".to_string()),
        Some(first) if *first >= 0x80 || *first < b'\t' => {
            let omnilink = text.chars().take(20).collect::<String>().contains("operation");
            return Ok(if omnilink { Format::Omnilink } else { Format::Trace });
        }
        _ => {}
    }
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with(';'));
    match first.unwrap_or_default().as_bytes() {
        [b'{', rest @ ..] => match rest.trim_ascii_start().first() {
            Some(b'"') if of_s2(first.unwrap_or_default()) => Ok(Format::S2),
            Some(b'"') if text.contains("\"event\"") => Ok(Format::Events),
            Some(b'"' | b'}') => Ok(Format::Jsonl),
            _ => Ok(Format::Edn),
        },
        [b'[' | b'(' | b'#', ..] => Ok(Format::Edn),
        _ if lines.any(jepsen::is_log_line) => Ok(Format::JepsenLog),
        _ => {
            Err("not in a known format; expected a trace, JSON Lines, EDN, lines of Jepsen's log \
                  or logs of OmniLink; --format says which"
                .to_string())
        }
    }
}

/// Whether the line is an event as S2 writes it: ours begin with small letters.
fn of_s2(line: &str) -> bool {
    let has = |word: &str| line.contains(word);
    has("\"event\"") && (has("\"Start\"") || has("\"Finish\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_from_their_first_bytes() {
        let of = |head: &[u8]| format_of(head).ok();
        assert_eq!(of(b"\n {\"thread\": 0}"), Some(Format::Jsonl));
        assert_eq!(of(b"{ \"event\": {}}"), Some(Format::Events));
        assert_eq!(of(b"{\"event\":{\"Start\":\"Read\"},\"client_id\":1}"), Some(Format::S2));
        assert_eq!(of(b"; of knossos\n[{:process 0}"), Some(Format::Edn));
        assert_eq!(of(b"#jepsen.history.Op{:index 0"), Some(Format::Edn));
        assert_eq!(of(b"INFO other\nINFO  jepsen.util - 0 :invoke"), Some(Format::JepsenLog));
        assert_eq!(of(b"\x82\xaeoperation_name\xaa"), Some(Format::Omnilink));
        assert_eq!(of(b"\x81\xa5Hello"), Some(Format::Trace));
        assert_eq!(of(b"hello"), None);
        assert!(format_of(b"").expect_err("empty").contains("empty"));
    }
}
