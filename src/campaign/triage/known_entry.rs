//! Writes an entry for the file of known issues from a finding, as TOML to be edited.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::finding::locations;
use crate::finding::{Failure, Stored};

/// Most source lines that an entry proposes.
const LINES_MAX: usize = 6;

/// The finding's first source line, if it is known: "Stack::pop at stack.hpp:31".
pub fn first_line(stored: &Stored) -> Option<String> {
    locations::rank(stored).first().map(ToString::to_string)
}

/// An entry that matches the finding.
pub fn entry(name: &str, issue: Option<&str>, stored: &Stored) -> String {
    let finding = &stored.finding;
    let mut text = String::from("[[known]]\n");
    let mut put = |key: &str, value: &str| {
        // An empty pattern fits nothing.
        if !value.is_empty() {
            writeln!(text, "{key} = {}", quoted(value)).expect("writing to a string");
        }
    };
    put("name", name);
    issue.into_iter().for_each(|issue| put("issue", issue));
    put("target", finding.plan.target_name());
    let locations = locations::rank(stored);
    match &finding.what {
        Failure::Violation { rule, operations, .. } => {
            put("rule", rule);
            let name = |id: &_| stored.round.history.operation(*id).op.name();
            let names: BTreeSet<&str> = operations.iter().map(name).collect();
            if !names.is_empty() {
                writeln!(text, "operations = {}", list(names)).expect("writing to a string");
            }
        }
        Failure::Fault { kind, message, .. } => {
            put("fault", &kind.name());
            match (locations.first(), message) {
                (Some(location), _) => put("function", &location.place.function),
                (None, Some(message)) => put("message", message),
                (None, None) => {}
            }
        }
    }
    if !locations.is_empty() {
        text.push_str("# To match less, keep the lines that matter and delete the others:\n");
        for location in locations.iter().take(LINES_MAX) {
            let place = location.place.in_library();
            let file = place.file.file_name().unwrap_or_default().to_string_lossy();
            // On one line, or the rest of a name would be an entry of its own.
            let line = quoted(&one_line(&format!("{file}:{}", place.line)));
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

/// The text as a basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

/// The text on one line, for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
