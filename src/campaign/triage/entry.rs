//! An entry of known issues for a finding, as text to go on from: a stored finding comes in, TOML
//! goes out.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::finding::spots;
use crate::finding::{Stored, What};

/// Lines that an entry proposes.
const LINES_MAX: usize = 6;

/// The finding's first source line, as far as it is known: "Stack::pop at stack.hpp:31".
pub fn first_line(stored: &Stored) -> Option<String> {
    spots::of(stored).first().map(ToString::to_string)
}

/// An entry that fits the finding.
pub fn entry(name: &str, issue: Option<&str>, stored: &Stored) -> String {
    let finding = &stored.finding;
    let mut text = String::from("[[known]]\n");
    let mut put = |key: &str, value: &str| {
        writeln!(text, "{key} = {}", quoted(value)).expect("writing to a string");
    };
    put("name", name);
    issue.into_iter().for_each(|issue| put("issue", issue));
    put("target", finding.plan.target_name());
    let spots = spots::of(stored);
    match &finding.what {
        What::Violation { rule, operations, .. } => {
            put("rule", rule);
            let name = |id: &_| stored.round.history.operation(*id).op.name();
            let names: BTreeSet<&str> = operations.iter().map(name).collect();
            if !names.is_empty() {
                writeln!(text, "operations = {}", list(names)).expect("writing to a string");
            }
        }
        What::Fault { kind, message, .. } => {
            put("fault", &kind.name());
            match (spots.first(), message) {
                (Some(spot), _) => put("function", &spot.place.function),
                (None, Some(message)) => put("message", message),
                (None, None) => {}
            }
        }
    }
    if !spots.is_empty() {
        text.push_str("# More exactly, if this fits too much; what is not to the point can go:\n");
        for spot in spots.iter().take(LINES_MAX) {
            let place = spot.place.told();
            let file = place.file.file_name().unwrap_or_default().to_string_lossy();
            let line = quoted(&format!("{file}:{}", place.line));
            writeln!(text, "# line = {line}    # {}", one_line(&place.text))
                .expect("writing to a string");
        }
    }
    text
}

fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(quoted).collect();
    format!("[{}]", quoted.join(", "))
}

/// A basic string of TOML; what cannot stand in a pattern as it is fits anything.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

/// Text that may stand in a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
