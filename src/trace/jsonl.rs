//! JSON Lines, the format for exchange: one operation a line, in any order between threads, each
//! thread's in its own. Text comes in, a history goes out, and back.
//!
//! ```text
//! {"interlap": 1, "model": "fifo", "drained": true}                       optional first line
//! {"thread": 0, "op": "enqueue", "args": [7], "start": 10, "end": 14}
//! {"thread": 1, "op": "dequeue", "start": 12, "end": 19, "status": "ok", "results": [7]}
//! {"thread": 1, "op": "dequeue", "start": 20, "end": null, "status": "pending"}
//! ```
//! `start` and `end` are integers of any unit; only their order counts. `status` is `ok` where
//! it is left out; `args` and `results` are empty. Operations, statuses and their arguments are
//! those of `ffi/interlap.h`.

use serde::{Deserialize, Serialize};

use crate::history::{Entry, History};
use crate::model::Spec;
use crate::operation::{Op, Status};

const FORMAT_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    interlap: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default)]
    drained: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    thread: u32,
    op: String,
    #[serde(default)]
    args: Vec<i64>,
    start: u64,
    end: Option<u64>,
    #[serde(default = "ok")]
    status: Status,
    #[serde(default)]
    results: Vec<i64>,
}

fn ok() -> Status {
    Status::Ok
}

/// A history from elsewhere, with the model it names or is to be judged by.
#[derive(Debug)]
pub struct Imported {
    pub history: History,
    pub model: Spec,
}

/// Reads `text`; `model` overrules the header's. Errors begin with the number of the line.
pub fn read(text: &str, model: Option<Spec>) -> Result<Imported, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let mut named = None;
    let mut history = History::default();
    if let Some((number, line)) = lines.peek().filter(|(_, line)| line.contains("\"interlap\"")) {
        let header: Header =
            serde_json::from_str(line).map_err(|error| at(*number, &error.to_string()))?;
        if header.interlap != FORMAT_VERSION {
            let known = format!("version {} of the format is not known", header.interlap);
            return Err(at(*number, &format!("{known}; {FORMAT_VERSION} is")));
        }
        let spec = header.model.map(|model| model.parse::<Spec>()).transpose();
        named = spec.map_err(|error| at(*number, &error))?;
        history.drained = header.drained;
        lines.next();
    }
    let model = model.or(named).ok_or("the file names no model; say which with --model")?;
    for (number, line) in lines {
        let line: Line =
            serde_json::from_str(line).map_err(|error| at(number, &error.to_string()))?;
        push(&mut history, &line, model).map_err(|error| at(number, &error))?;
    }
    Ok(Imported { history, model })
}

fn push(history: &mut History, line: &Line, model: Spec) -> Result<(), String> {
    let family = model.kind.family();
    let op = Op::from_name(family, &line.op).ok_or_else(|| {
        let known = Op::ALL.iter().filter(|op| op.family() == family).map(|op| op.name());
        let known = known.collect::<Vec<_>>().join(", ");
        format!("model {model} has no operation '{}'; it has {known}", line.op)
    })?;
    let end = match (line.end, line.status.is_open()) {
        (Some(end), _) => end,
        (None, true) => line.start,
        (None, false) => {
            return Err(
                "\"end\" may be null only with \"status\": \"pending\" or \"unknown\"".into()
            );
        }
    };
    let (args, results) = (&line.args, &line.results);
    let entry = Entry { op, status: line.status, start: line.start, end, args, results };
    history.push(line.thread, entry).map_err(|misfit| misfit.to_string())
}

fn at(line: usize, error: &str) -> String {
    format!("line {}: {error}", line + 1)
}

/// The history as text that [`read`] accepts.
pub fn write(history: &History, model: Spec) -> String {
    let header = Header {
        interlap: FORMAT_VERSION,
        model: Some(model.to_string()),
        drained: history.drained,
    };
    let mut text = json(&header);
    for thread in &history.threads {
        for operation in thread.operations() {
            text += &json(&Line {
                thread: thread.client,
                op: operation.op.name().to_string(),
                args: thread.args(operation).to_vec(),
                start: operation.start,
                end: (!operation.status.is_open()).then_some(operation.end),
                status: operation.status,
                results: thread.results(operation).to_vec(),
            });
        }
    }
    text
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data has a JSON form") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"interlap": 1, "model": "fifo", "drained": true}
{"thread": 0, "op": "enqueue", "args": [7], "start": 10, "end": 14}
{"thread": 1, "op": "dequeue", "start": 12, "end": 19, "status": "ok", "results": [7]}

{"thread": 1, "op": "dequeue", "start": 20, "end": null, "status": "pending"}
"#;

    #[test]
    fn a_history_round_trips() {
        let imported = read(TEXT, None).expect("good");
        assert_eq!(imported.history.len(), 3);
        assert!(imported.history.drained);
        let again = read(&write(&imported.history, imported.model), None).expect("good");
        assert_eq!(again.history, imported.history);
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let error = |text: &str| read(text, "fifo".parse().ok()).expect_err(text);
        assert!(error("{\"interlap\": 9}").contains("line 1: version 9"));
        assert!(error("\n{\"thread\": 0}").contains("line 2: missing field"));
        let unknown = r#"{"thread":0,"op":"push","args":[1],"start":1,"end":2}"#;
        assert!(error(unknown).contains("it has enqueue, dequeue"));
        let backwards = r#"{"thread":0,"op":"dequeue","start":3,"end":2,"status":"empty"}"#;
        assert!(error(backwards).contains("ends before it starts"));
        assert!(read("", None).expect_err("no model").contains("--model"));
    }
}
