//! Reads and writes histories of Jepsen and Knossos, as EDN or as lines of Jepsen's log.
//! Porcupine's tests use the log. Known are registers (`read`, `write`, `cas`), locks (`acquire`,
//! `release`), queues (`enqueue`, `dequeue`), strings under keys (`get`, `put`, `append`, with
//! `:key`), and transactions (`txn`, see [`super::transactions`]), which are only read.
//!
//! ```text
//! {:process 0, :type :invoke, :f :cas, :value [3 4]}           EDN, a map for each event
//! {:process 0, :type :ok, :f :cas, :value [3 4]}
//! INFO  jepsen.util - 0 :invoke :cas [3 4]                     a line of the log
//! ```
//! - `:info` leaves the effect open forever.
//! - `:fail` means that the operation had no effect. Only a `cas` of the log claims more: that it
//!   found another value. (So does Porcupine. For Knossos no failure claims anything.)
//! - A read that answers `nil` found `nil` in the log, and claims nothing in EDN, as in Knossos's
//!   models.
//! - A lock is a register that `acquire` changes from `nil` to `:held`, and `release` back.

use super::Imported;
use super::edn::{Edn, Reader};
use super::events::{self, HistoryEvent, Pairs, Record, at};
use super::transactions::Transactions;
use crate::core::history::History;
use crate::core::interner::{Interner, NIL, Value};
use crate::core::operation::{Family, Op, Status};
use crate::model::{Kind, Spec};

/// The first words of a log line about an operation.
const LOG: [&str; 3] = ["INFO", "jepsen.util", "-"];

/// The two notations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    Edn,
    Log,
}

/// One invocation or completion.
pub(super) struct Event {
    pub process: u32,
    pub kind: String,
    f: String,
    key: Option<Edn>,
    pub value: Edn,
}

/// Reads a history; `initial` is the initial value of a register. Errors begin with the line.
pub fn read(text: &str, notation: Notation, initial: &Value) -> Result<Imported, String> {
    let (mut pairs, mut transactions) = (Pairs::default(), Transactions::default());
    match notation {
        Notation::Edn => read_edn(text, &mut pairs, &mut transactions)?,
        Notation::Log => read_log(text, &mut pairs)?,
    }
    let records = pairs.records();
    if !transactions.is_empty() {
        if let Some(other) = records.first() {
            let error =
                format!("'{}' among transactions; expected :txn throughout", other.op.name());
            return Err(at(other.line, &error));
        }
        let records = transactions.records(initial);
        return Imported::from_records(&records, None, Some(Spec::new(Kind::Serializable)));
    }
    let family = records.first().map_or(Family::Register, |record| record.op.family());
    if let Some(other) = records.iter().find(|record| record.op.family() != family) {
        let (name, family) = (other.op.name(), family.name());
        let error = format!("'{name}' in the history of a {family}; expected one structure");
        return Err(at(other.line, &error));
    }
    Imported::from_records(&records, Some(initial), super::default_model(family))
}

/// Maps, or one list of maps.
fn read_edn(text: &str, pairs: &mut Pairs, transactions: &mut Transactions) -> Result<(), String> {
    let mut reader = Reader::new(text, 1);
    let inside = reader.pass(&['[', '(']);
    loop {
        reader.next_char();
        let line = reader.line;
        let located = |error: String| at(line, &error);
        if reader.discarded().map_err(located)? {
            continue;
        }
        if inside && reader.pass(&[']', ')']) {
            reader.next_char();
        }
        let Some(value) = reader.value().map_err(|error| at(reader.line, &error))? else {
            return Ok(());
        };
        let Some(event) = event(&value).map_err(located)? else { continue };
        match event.f.as_str() {
            ":txn" => transactions.take(&event, line).map_err(located)?,
            _ => take(event, Notation::Edn, line, pairs).map_err(located)?,
        }
    }
}

/// The event that a map describes; none if it is not of a client.
fn event(map: &Edn) -> Result<Option<Event>, String> {
    let field = |key: &str| {
        let missing = || format!("no {key}; expected {{:process 0, :type :invoke, :f :read, ...}}");
        map.get(key).ok_or_else(missing)
    };
    let process = match field(":process")? {
        Edn::Integer(process) => u32::try_from(*process)
            .map_err(|_| format!(":process {process}; expected a number from 0 to {}", u32::MAX))?,
        _ => return Ok(None),
    };
    let word = |key: &str| match field(key)? {
        Edn::Word(word) => Ok(word.clone()),
        other => Err(format!("{key} {}; expected a keyword", shown(other))),
    };
    let value = map.get(":value").cloned().unwrap_or(Edn::Word("nil".to_string()));
    let key = map.get(":key").cloned();
    Ok(Some(Event { process, kind: word(":type")?, f: word(":f")?, key, value }))
}

fn read_log(text: &str, pairs: &mut Pairs) -> Result<(), String> {
    for (number, line) in text.lines().enumerate() {
        let located = |error: String| at(number + 1, &error);
        if let Some(event) = log_event(line).map_err(located)? {
            take(event, Notation::Log, number + 1, pairs).map_err(located)?;
        }
    }
    Ok(())
}

/// Whether this is a log line about an operation.
pub fn is_log_line(line: &str) -> bool {
    line.split_whitespace().take(3).eq(LOG)
}

/// The event that a log line describes, if any.
fn log_event(line: &str) -> Result<Option<Event>, String> {
    if !is_log_line(line) {
        return Ok(None);
    }
    let mut rest = line;
    let mut word = || {
        rest = rest.trim_start();
        let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        rest = after;
        word
    };
    let process = [word(), word(), word(), word()][3];
    let (kind, f) = (word().to_string(), word().to_string());
    if process.starts_with(':') {
        return Ok(None);
    }
    let process = process.parse().map_err(|_| {
        format!("'{process}' is not a process; expected INFO jepsen.util - PROCESS :type :f VALUE")
    })?;
    let value = Reader::new(rest, 1).value()?.ok_or("no value; expected one after :f")?;
    Ok(Some(Event { process, kind, f, key: None, value }))
}

fn take(event: Event, notation: Notation, line: usize, pairs: &mut Pairs) -> Result<(), String> {
    let process = event.process;
    let op = operation(&event)?;
    if event.kind == ":invoke" {
        return pairs.start((process, 0), line, op, arguments(op, &event)?);
    }
    let record = pairs.pending(process, 0)?;
    if record.op != op {
        let (was, is) = (record.op.name(), op.name());
        return Err(format!(
            "the end of '{is}' while '{was}' of line {} is under way; expected the end of '{was}'",
            record.line
        ));
    }
    match event.kind.as_str() {
        ":ok" if notation == Notation::Edn && reads_nil(op, &event) => pairs.discard(process),
        ":ok" if op == Op::Dequeue && event.value.word() == Some("nil") => {
            pairs.finish(process, Status::Empty, Vec::new());
        }
        ":ok" => {
            let results = answer(op, &event, record)?;
            pairs.finish(process, Status::Ok, results);
        }
        ":info" => pairs.finish(process, Status::Unknown, Vec::new()),
        ":fail" => {
            let claims = notation == Notation::Log && pair(&event.value).is_some();
            match op == Op::RegisterCompareExchange && claims {
                true => pairs.finish(process, Status::Failed, Vec::new()),
                false => pairs.discard(process),
            }
        }
        kind => return Err(format!("type {kind}; expected :invoke, :ok, :fail or :info")),
    }
    Ok(())
}

/// The value of a lock that is taken.
fn held() -> Value {
    Value::Word(":held".to_string())
}

fn reads_nil(op: Op, event: &Event) -> bool {
    matches!(op, Op::RegisterRead | Op::KvGet) && event.value.word() == Some("nil")
}

fn operation(event: &Event) -> Result<Op, String> {
    match (event.f.as_str(), &event.key) {
        (":read", None) => Ok(Op::RegisterRead),
        (":write", None) => Ok(Op::RegisterWrite),
        (":cas" | ":acquire" | ":release", None) => Ok(Op::RegisterCompareExchange),
        (":enqueue", None) => Ok(Op::Enqueue),
        (":dequeue", None) => Ok(Op::Dequeue),
        (":get", Some(_)) => Ok(Op::KvGet),
        (":put", Some(_)) => Ok(Op::KvPut),
        (":append", Some(_)) => Ok(Op::KvAppend),
        (f, key) => Err(format!(
            "{f} {} :key; expected :read, :write, :cas, :acquire, :release, :enqueue or :dequeue \
             without one, or :get, :put or :append with one",
            if key.is_some() { "with a" } else { "without" }
        )),
    }
}

/// The arguments of an invocation.
fn arguments(op: Op, event: &Event) -> Result<Vec<Value>, String> {
    let mut args = Vec::new();
    if let Some(key) = &event.key {
        args.push(value(key)?);
    }
    match op {
        Op::RegisterRead | Op::KvGet | Op::Dequeue => {}
        Op::RegisterCompareExchange if event.f == ":acquire" => args.extend([Value::nil(), held()]),
        Op::RegisterCompareExchange if event.f == ":release" => args.extend([held(), Value::nil()]),
        Op::RegisterCompareExchange => match pair(&event.value) {
            Some([old, new]) => args.extend([value(old)?, value(new)?]),
            None => return Err(format!("cas of {}; expected [old new]", shown(&event.value))),
        },
        _ => args.push(value(&event.value)?),
    }
    Ok(args)
}

/// The results of a completion. It must repeat the arguments of the invocation.
fn answer(op: Op, event: &Event, invoked: &Record) -> Result<Vec<Value>, String> {
    if matches!(op, Op::RegisterRead | Op::KvGet | Op::Dequeue) {
        return Ok(vec![value(&event.value)?]);
    }
    let nothing = event.value.word() == Some("nil") && op == Op::RegisterCompareExchange;
    if nothing || arguments(op, event)? == invoked.args {
        return Ok(Vec::new());
    }
    Err(format!(
        "the end of a '{}' with the value {}; expected that of line {}, where it was invoked",
        op.name(),
        shown(&event.value),
        invoked.line
    ))
}

fn pair(value: &Edn) -> Option<&[Edn; 2]> {
    match value {
        Edn::List(values) => values.as_slice().try_into().ok(),
        _ => None,
    }
}

pub(super) fn value(edn: &Edn) -> Result<Value, String> {
    match edn {
        Edn::Integer(value) => Ok(Value::Integer(*value)),
        Edn::Text(text) => Ok(Value::Text(text.clone())),
        Edn::Word(word) => Ok(Value::Word(word.clone())),
        other => Err(format!("the value {}; expected a number, a string or a word", shown(other))),
    }
}

pub(super) fn shown(edn: &Edn) -> String {
    let all = |values: &[Edn]| values.iter().map(shown).collect::<Vec<_>>().join(" ");
    match edn {
        Edn::Integer(value) => value.to_string(),
        Edn::Text(text) => quoted(text),
        Edn::Word(word) => word.clone(),
        Edn::List(values) => format!("[{}]", all(values)),
        Edn::Map(_) => "{...}".to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// The history as text that [`read`] accepts, or the reason why the notation cannot express it. The
/// initial value of a register is written by a first operation, unless it is `nil`.
pub fn write(history: &History, interner: &Interner, notation: Notation) -> Result<String, String> {
    let (skipped, initial) = events::initial(history);
    let mut text = String::new();
    let register = history
        .ids()
        .next()
        .is_some_and(|id| history.operation(id).op.family() == Family::Register);
    let events = events::events_in_order(history);
    if register && initial != NIL {
        let process = events.iter().map(|event| event.client).max().map_or(0, |most| most + 1);
        for kind in [":invoke", ":ok"] {
            text += &line(notation, process, kind, ":write", None, &initial.to_string());
        }
    }
    for event in events.iter().filter(|event| Some(event.id) != skipped) {
        text += &written(history, interner, notation, event)?;
    }
    Ok(text)
}

fn written(
    history: &History,
    interner: &Interner,
    notation: Notation,
    event: &HistoryEvent,
) -> Result<String, String> {
    let HistoryEvent { id, client, is_response } = *event;
    let (operation, args, results) = (history.operation(id), history.args(id), history.results(id));
    let one = |value: &i64| match interner.value(*value) {
        Value::Text(text) => quoted(&text),
        other => other.shown(),
    };
    let text = |values: &[i64]| quoted(&interner.joined(values));
    let answered = is_response && operation.status == Status::Ok;
    let nil = || "nil".to_string();
    let (f, key, value) = match operation.op {
        Op::RegisterRead => (":read", None, if answered { one(&results[0]) } else { nil() }),
        Op::RegisterWrite if results.is_empty() => (":write", None, one(&args[0])),
        Op::RegisterCompareExchange if results.is_empty() => {
            (":cas", None, format!("[{} {}]", one(&args[0]), one(&args[1])))
        }
        Op::Enqueue => (":enqueue", None, one(&args[0])),
        Op::Dequeue => (":dequeue", None, if answered { one(&results[0]) } else { nil() }),
        Op::KvGet => (":get", Some(one(&args[0])), if answered { text(results) } else { nil() }),
        Op::KvPut => (":put", Some(one(&args[0])), text(&args[1..])),
        Op::KvAppend => (":append", Some(one(&args[0])), text(&args[1..])),
        op => {
            return Err(format!(
                "'{}' of a {} has no form in this format; expected read, write and cas that do not \
                 answer the value before, enqueue and dequeue, or get, put and append",
                op.name(),
                op.family().name()
            ));
        }
    };
    let kind = match operation.status {
        _ if !is_response => ":invoke",
        Status::Ok | Status::Empty => ":ok",
        Status::Failed | Status::Full => ":fail",
        _ => ":info",
    };
    if notation == Notation::Log && key.is_some() {
        return Err("the log has no form for keys; expected a register".to_string());
    }
    Ok(line(notation, client, kind, f, key.as_deref(), &value))
}

fn line(
    notation: Notation,
    process: u32,
    kind: &str,
    f: &str,
    key: Option<&str>,
    value: &str,
) -> String {
    match (notation, key, kind) {
        (Notation::Log, _, ":info") => {
            format!("INFO  jepsen.util - {process}\t{kind}\t{f}\t:timed-out\n")
        }
        (Notation::Log, ..) => format!("INFO  jepsen.util - {process}\t{kind}\t{f}\t{value}\n"),
        (_, None, _) => {
            format!("{{:process {process}, :type {kind}, :f {f}, :value {value}}}\n")
        }
        (_, Some(key), _) => {
            format!("{{:process {process}, :type {kind}, :f {f}, :key {key}, :value {value}}}\n")
        }
    }
}
