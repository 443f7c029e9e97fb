//! Reads and writes the histories of other tools, and detects the format of a file.
//! [`jsonl`] is our own exchange format, [`jepsen`] that of Jepsen, Knossos and Porcupine's tests,
//! [`omnilink`] that of OmniLink, [`s2`] that of S2. Our traces are detected here, and read by
//! `crate::trace`.
//!
//! - `calls`: Calls and answers as a user's own types read them from JSON: `"peek"`, `{"release":
//!   3}`, `{"put": [1, 2]}`; and `true`, `null` (of a void, or an optional without a value),
//!   `"empty"`.
//! - `edn`: A reader of EDN, the notation in which Clojure prints values.
//! - `events`: Makes a history from invocations and responses in order, and lists those of a
//!   history.
//! - `jepsen`: Reads and writes histories of Jepsen and Knossos, as EDN or as lines of Jepsen's
//!   log.
//! - `jsonl`: Reads and writes our own exchange format: JSON Lines.
//! - `omnilink`: Reads logs of OmniLink: a directory with a file for each thread.
//! - `pieces`: Cuts the strings of a key-value history into pieces that concatenate as the strings
//!   do: the pieces are its values.
//! - `s2`: Reads and writes the logs of S2's `collect-history`.
//! - `transactions`: Decodes transactions of Jepsen, whose events invoke or complete a whole
//!   transaction.
//! - `typed`: Values of methods as JSON, by their types: `true`, `7`, `"key"`, `null` (none), `[1,
//!   2]` (lists, sets, tuples), `[["a", 1]]` (maps), `{"x": 1}` (records), `[0, 7]` (the number of
//!   a variant's choice, and its value).

pub mod calls;
pub mod edn;
pub mod events;
pub mod jepsen;
pub mod jsonl;
pub mod omnilink;
mod pieces;
pub mod s2;
mod transactions;
mod typed;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::core::history::History;
use crate::core::interner::{Interner, Value};
use crate::core::operation::Family;
use crate::model::program::{Calls, Program};
use crate::model::{Kind, Spec};
use events::Record;
use jepsen::Notation;

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

impl Format {
    /// Whether histories can be written in it. The others hold what only their own tool knows.
    pub fn is_written(self) -> bool {
        !matches!(self, Format::Trace | Format::Omnilink)
    }
}

/// A history of another tool.
#[derive(Debug)]
pub struct Imported {
    pub history: History,
    /// The model to check against: the caller's, else the one that the file names, else the default
    /// of the format; none if no model has its operations.
    pub model: Option<Spec>,
    /// The values that are not integers.
    pub interner: Interner,
    /// Operations that were left out because no model here can check them.
    pub notes: Vec<String>,
}

/// How to read a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// Overrides the model that the file names.
    pub model: Option<Spec>,
    /// The initial value of registers, for formats that do not name it; none: `nil`.
    pub initial: Option<Value>,
}

impl Imported {
    fn new(history: History, model: Option<Spec>) -> Imported {
        Imported { history, model, interner: Interner::default(), notes: Vec::new() }
    }

    fn from_records(
        records: &[Record],
        initial: Option<&Value>,
        model: Option<Spec>,
    ) -> Result<Imported, String> {
        let mut imported = Imported::new(History::default(), model);
        imported.history = events::history(records, initial, &mut imported.interner)?;
        Ok(imported)
    }
}

/// The first model of a family.
fn default_model(family: Family) -> Option<Spec> {
    Kind::ALL.into_iter().find(|kind| kind.family() == family).map(Spec::new)
}

fn text(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        events::at(line, "bytes that are not UTF-8; expected text")
    })
}

/// Reads the history in `path`, in any format but `Format::Trace`. Errors name the place in the
/// file.
pub fn read(path: &Path, format: Format, options: &Options) -> Result<Imported, String> {
    if format == Format::Omnilink {
        return omnilink::read(path, options.model);
    }
    let text = text(path)?;
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
        return Err("the file does not say when its transactions took their snapshots; expected \
                    --model serializable"
            .to_string());
    }
    imported.model = options.model.or(imported.model);
    Ok(imported)
}

/// The calls and answers of a file in a format that may have any: those of other formats are
/// operations of a family. `of`: the model that judges them. Errors name the place in the file.
pub fn read_calls(path: &Path, format: Format, of: &Program) -> Option<Result<Calls, String>> {
    match format {
        Format::Omnilink => Some(omnilink::read_any(path, of.is_of_logs())),
        Format::Jsonl | Format::Events => {
            Some(text(path).and_then(|text| calls::read(&text, of.is_specification())))
        }
        _ => None,
    }
}

/// The history as text in `format`, or the reason why the format cannot express it.
pub fn write(
    history: &History,
    model: &str,
    interner: &Interner,
    format: Format,
) -> Result<String, String> {
    match format {
        Format::Jsonl => Ok(jsonl::write(history, model, interner)),
        Format::Events => Ok(jsonl::write_events(history, model, interner)),
        Format::Edn => jepsen::write(history, interner, Notation::Edn),
        Format::JepsenLog => jepsen::write(history, interner, Notation::Log),
        Format::Trace => Err("only a run of interlap has a trace; choose a text format".into()),
        Format::S2 => s2::write(history, interner),
        Format::Omnilink => {
            Err("OmniLink's logs can be read, not written; choose a text format".into())
        }
    }
}

/// The bytes of a file from which its format is detected.
const HEAD_BYTES: u64 = 1 << 16;

/// Detects a file's format from its first bytes.
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
            Some(b'"') if is_s2_event(first.unwrap_or_default()) => Ok(Format::S2),
            Some(b'"') if text.contains("\"event\"") => Ok(Format::Events),
            Some(b'"' | b'}') => Ok(Format::Jsonl),
            _ => Ok(Format::Edn),
        },
        [b'[' | b'(' | b'#', ..] => Ok(Format::Edn),
        _ if lines.any(jepsen::is_log_line) => Ok(Format::JepsenLog),
        _ => {
            Err("not in a known format; expected a trace, JSON Lines, EDN, lines of Jepsen's log \
                  or logs of OmniLink; name the format with --format"
                .to_string())
        }
    }
}

/// Whether the line is an event of S2. The events of our own format begin with small letters.
fn is_s2_event(line: &str) -> bool {
    let has = |word: &str| line.contains(word);
    has("\"event\"") && (has("\"Start\"") || has("\"Finish\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_from_their_first_bytes() {
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
