//! Writes results as SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS 2020).
//! Each finding is a result at its source line, suppressed if it is known. Its interleaving is a
//! code flow with a thread flow for each thread.
//!
//! Each location has a file, because viewers refuse a whole report with one that has none: if no
//! line is known, it is the adapter.
//!
//! - `flow`: Makes SARIF thread flows of an interleaving: a flow for each thread, whose steps are
//!   numbered by the order of execution over all threads.
//! - `uri`: Names files as SARIF artifact locations, relative to the root of the repository if they
//!   lie below it.

mod flow;
mod uri;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::results::{self, Ended, Results};
use super::{text, words};
use crate::finding::interleaving::Place;
use crate::finding::locations;
use crate::finding::{Failure, Finding, Stored};
use crate::view::explanation::UNEXPLAINED;
use uri::Files;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/\
                      sarif-schema-2.1.0.json";
/// Most related locations.
const RELATED_MAX: usize = 8;

/// The whole file.
pub fn render(results: &Results) -> Value {
    let rules: BTreeMap<String, Value> =
        results.findings.iter().map(|stored| rule(&stored.finding)).collect();
    let ids: Vec<&String> = rules.keys().collect();
    let files = Files::below(results.root);
    let result = |stored: &&Stored| {
        let mut result = finding_result(stored, results, &files);
        result["ruleIndex"] = json!(ids.binary_search(&&rule_id(&stored.finding)).ok());
        result
    };
    let found: Vec<Value> = results.findings.iter().map(result).collect();
    let mut run = json!({
        "tool": {"driver": {
            "name": "interlap",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.values().collect::<Vec<_>>(),
        }},
        "originalUriBaseIds": {uri::BASE: {"uri": files.base()}},
        "columnKind": "unicodeCodePoints",
        "invocations": results.runs.iter().map(invocation).collect::<Vec<_>>(),
        "results": found,
    });
    let mut targets: Vec<&str> = results.runs.iter().map(|run| &*run.target).collect();
    targets.dedup();
    if let [target] = targets[..] {
        run["automationDetails"] = json!({"id": format!("interlap/{target}/")});
    }
    json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
}

/// "fifo-order", "fault/use-after-free".
fn rule_id(finding: &Finding) -> String {
    let rule = results::rule(finding).replace(' ', "-");
    match finding.what {
        Failure::Violation { .. } => rule,
        Failure::Fault { .. } => format!("fault/{rule}"),
    }
}

fn rule(finding: &Finding) -> (String, Value) {
    let (id, name) = (rule_id(finding), results::rule(finding));
    let (short, full) = match finding.what {
        Failure::Violation { .. } => (
            format!("{UNEXPLAINED}: {name}"),
            "Calls of several threads were answered as no order of them explains under the \
             sequential model, where a call that ended before another began comes first.",
        ),
        Failure::Fault { .. } => (
            format!("Calls of several threads ended in a fault: {name}"),
            "The structure was called as its documentation allows, and ended its process, hangs, \
             or did what no schedule may bring about.",
        ),
    };
    let value = json!({
        "id": id,
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["concurrency"]},
    });
    (id, value)
}

fn invocation(run: &results::Run) -> Value {
    let (successful, why) = match &run.ended {
        Ended::Well | Ended::Violated { .. } => (true, None),
        Ended::NotDecided(why) => (true, Some(("warning", why))),
        Ended::Failed(why) => (false, Some(("error", why))),
    };
    let notices =
        why.into_iter().map(|(level, why)| json!({"level": level, "message": {"text": why}}));
    json!({
        "commandLine": run.command,
        "executionSuccessful": successful,
        "toolExecutionNotifications": notices.collect::<Vec<_>>(),
    })
}

fn finding_result(stored: &Stored, results: &Results, files: &Files) -> Value {
    let finding = &stored.finding;
    let mut first = match locations::rank(stored).first() {
        Some(first) => location(first.place, files),
        None => json!({"physicalLocation": {
            "artifactLocation": files.location(&(results.adapter)(finding)),
        }}),
    };
    let target = finding.plan.target_name();
    let functions = first["logicalLocations"].as_array().cloned().unwrap_or_default();
    let module = json!({"name": target, "fullyQualifiedName": target, "kind": "module"});
    first["logicalLocations"] = functions.into_iter().chain([module]).collect();
    let mut result = json!({
        "ruleId": rule_id(finding),
        "kind": "fail",
        "level": "error",
        "message": {"text": message(stored)},
        "locations": [first],
        "partialFingerprints": {"interlapSignature/v1": fingerprint(finding)},
        "occurrenceCount": finding.sightings,
        "properties": properties(stored),
    });
    if let Failure::Fault { .. } = &finding.what {
        let lines = finding.what.lines().into_iter().skip(1).take(RELATED_MAX);
        let related = lines.enumerate().map(|(at, (what, line))| {
            let (mut location, text) = (location(line, files), words::occurrence(what));
            (location["id"], location["message"]) = (json!(at + 1), json!({"text": text}));
            location
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(table) = &stored.interleaving {
        let drain = stored.round.history.drain;
        let flows = flow::threads(table, drain, &|place| location(place, files));
        if !flows.is_empty() {
            let text = "What the threads did, in the order of execution";
            let flow = json!({"message": {"text": text}, "threadFlows": flows});
            result["codeFlows"] = json!([flow]);
        }
    }
    if let Some(known) = &finding.known {
        let why = json!({"kind": "external", "status": "accepted",
                         "justification": known.to_string()});
        result["suppressions"] = json!([why]);
    }
    result
}

fn message(stored: &Stored) -> String {
    let finding = &stored.finding;
    let subject = text::subject(&finding.plan, &stored.hello.target, &finding.model);
    let directory = stored.directory.display();
    let sentence = results::sentence(stored);
    format!("{subject}. {sentence} See it again: interlap replay {directory}")
}

/// A hash of target and signature.
fn fingerprint(finding: &Finding) -> String {
    let text = format!("{}\n{}", finding.plan.target_name(), finding.signature);
    blake3::hash(text.as_bytes()).to_hex()[..32].to_string()
}

fn properties(stored: &Stored) -> Value {
    let finding = &stored.finding;
    let plan = finding.shrunk.as_ref().map_or(&finding.plan, |shrunk| &shrunk.plan);
    json!({
        "target": plan.target_name(),
        "model": finding.model,
        "engine": plan.engine,
        "signature": finding.signature.to_string(),
        "directory": stored.directory,
        "foundWith": plan.to_string(),
        "confirmed": finding.confirmed,
        "size": finding.shrunk.as_ref().map(|shrunk| shrunk.size),
        "known": finding.known,
        "regression": finding.regression,
    })
}

/// The library's source line, with its function.
fn location(place: &Place, files: &Files) -> Value {
    let place = place.in_library();
    let mut region = json!({"startLine": place.line.max(1)});
    if !place.text.is_empty() {
        region["snippet"] = json!({"text": place.text});
    }
    let mut location = json!({"physicalLocation": {
        "artifactLocation": files.location(&place.file),
        "region": region,
    }});
    if !place.function.is_empty() {
        let name = &place.function;
        let function = json!({"fullyQualifiedName": name, "kind": "function"});
        location["logicalLocations"] = json!([function]);
    }
    location
}
