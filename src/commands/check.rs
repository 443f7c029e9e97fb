//! `interlap check`: a recorded history, judged.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::{Outcome, print_json, stop_flag};
use crate::check::{self, Limits, Verdict, Witness};
use crate::cli;
use crate::history::{History, OperationId};
use crate::model::Spec;
use crate::report::timeline;
use crate::trace::{jsonl, rounds};

/// A history with what is needed to judge and show it.
struct Subject {
    name: String,
    history: History,
    model: Spec,
    drain: u32,
    ns_per_unit: f64,
}

#[derive(Serialize)]
struct Judged {
    history: String,
    model: String,
    operations: usize,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    witness: Vec<OperationId>,
}

pub fn run(args: &cli::Check) -> Result<Outcome> {
    let (subjects, truncated) = read(&args.file, args.model)?;
    let limits = Limits {
        configurations_max: args.configurations,
        steps_max: args.steps,
        memory_max: args.memory << 20,
        jobs: 1,
        cancelled: Some(stop_flag()?),
    };
    let mut outcome = Outcome::NothingFound;
    let mut all = Vec::new();
    for subject in &subjects {
        let verdict = check::check(&subject.history, &subject.model, &limits);
        outcome = match (&verdict, outcome) {
            (Verdict::Violation(_), _) | (_, Outcome::Found) => Outcome::Found,
            (Verdict::Inconclusive(_), _) => Outcome::NotDecided,
            (Verdict::Consistent, outcome) => outcome,
        };
        if args.format.json {
            all.push(judged(subject, verdict));
        } else {
            print_verdict(subject, &verdict);
        }
    }
    if args.format.json {
        print_json(&all)?;
    }
    if let Some(why) = truncated {
        eprintln!("{}: {why}; what comes before was checked", args.file.display());
        outcome = if outcome == Outcome::Found { outcome } else { Outcome::NotDecided };
    }
    Ok(outcome)
}

fn read(path: &Path, model: Option<Spec>) -> Result<(Vec<Subject>, Option<String>)> {
    let name = path.display().to_string();
    let open = || File::open(path).with_context(|| format!("cannot read {name}"));
    let mut first = [0; 1];
    let is_text =
        open()?.read(&mut first)? == 0 || first[0] == b'{' || first[0].is_ascii_whitespace();
    if is_text {
        let mut text = String::new();
        open()?.read_to_string(&mut text).with_context(|| format!("cannot read {name}"))?;
        let imported =
            jsonl::read(&text, model).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        let (history, model) = (imported.history, imported.model);
        let subject = Subject { name, history, model, drain: u32::MAX, ns_per_unit: 1.0 };
        return Ok((vec![subject], None));
    }
    let trace = rounds::read(path).with_context(|| name.clone())?;
    let hello = &trace.hello;
    let own = hello.plan.model.as_ref().unwrap_or(&hello.target.model);
    let model = model.map_or_else(|| own.parse().map_err(anyhow::Error::msg), Ok)?;
    let ns_per_unit = hello.clock.shown().0;
    let subject = |round: rounds::Round| Subject {
        name: format!("{name}, round {}", round.start.round),
        history: round.history,
        model,
        drain: round.start.threads,
        ns_per_unit,
    };
    Ok((trace.rounds.into_iter().map(subject).collect(), trace.truncated))
}

fn judged(subject: &Subject, verdict: Verdict) -> Judged {
    let mut judged = Judged {
        history: subject.name.clone(),
        model: subject.model.to_string(),
        operations: subject.history.len(),
        verdict: "consistent",
        rule: None,
        explanation: None,
        witness: Vec::new(),
    };
    match verdict {
        Verdict::Consistent => {}
        Verdict::Inconclusive(reason) => {
            (judged.verdict, judged.explanation) = ("inconclusive", Some(reason));
        }
        Verdict::Violation(Witness { rule, explanation, operations }) => {
            (judged.verdict, judged.rule) = ("violation", Some(rule));
            (judged.explanation, judged.witness) = (Some(explanation), operations);
        }
    }
    judged
}

fn print_verdict(subject: &Subject, verdict: &Verdict) {
    let (name, model, operations) = (&subject.name, subject.model, subject.history.len());
    match verdict {
        Verdict::Consistent => {
            println!("{name}: consistent with {model} ({operations} operations)")
        }
        Verdict::Inconclusive(reason) => println!("{name}: not decided: {reason}"),
        Verdict::Violation(witness) => {
            println!("{name}: violates {model} ({})", witness.rule);
            println!("{}\n", witness.explanation);
            let (history, drain) = (&subject.history, subject.drain);
            let drawn = timeline::draw(history, &witness.operations, drain, subject.ns_per_unit);
            println!("{drawn}");
        }
    }
}
