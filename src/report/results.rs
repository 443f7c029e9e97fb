//! What the reports for other programs tell of: runs and what was found in them. Data only; made by
//! the commands, written by [`super::junit`] and [`super::sarif`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::progress::summary_line;
use crate::campaign::ledger::Ledger;
use crate::core::plan::Plan;
use crate::finding::{Finding, Stored, What};
use crate::report::words;

/// Runs with their findings.
pub struct Results<'a> {
    pub runs: Vec<Run>,
    /// Each bug once, with how often it was seen; those that are known say so.
    pub findings: Vec<&'a Stored>,
    /// The source of the adapter that a finding's plan names.
    pub adapter: &'a dyn Fn(&Finding) -> PathBuf,
    /// Files below it are named from there: the repository.
    pub root: &'a Path,
}

/// A run.
pub struct Run {
    pub target: String,
    /// What it did, the same for each run of its kind.
    pub name: String,
    pub command: String,
    pub seconds: f64,
    pub ended: Ended,
    /// More about it, in words.
    pub text: String,
}

impl Run {
    /// A run that is stored in a directory.
    pub fn of_ledger(directory: &Path, ledger: &Ledger) -> Run {
        let statistics = &ledger.statistics;
        let ended = match statistics.is_undecided() {
            true => Ended::NotDecided(undecided(&statistics.inconclusive)),
            false => Ended::Well,
        };
        let first = ledger.parts.first();
        let name = first.map_or(ledger.model.clone(), |part| run_name(&ledger.model, &part.plan));
        Run {
            target: ledger.target.clone(),
            name: format!("{name}, in {}", directory.display()),
            command: first.map_or(String::new(), |part| part.plan.to_string()),
            seconds: statistics.elapsed.as_secs_f64(),
            ended,
            text: summary_line(statistics),
        }
    }
}

/// How a run ended, whatever it found.
pub enum Ended {
    Well,
    /// What was judged violates its model; of histories, which are no findings.
    Violated {
        rule: String,
        why: String,
    },
    /// Nothing could be decided, and why.
    NotDecided(String),
    /// It could not be done, and why.
    Failed(String),
}

/// "fifo, controlled engine".
pub fn run_name(model: &str, plan: &Plan) -> String {
    format!("{model}, {} engine", plan.engine.name())
}

/// Why rounds were not decided, a line for each reason.
pub fn undecided(inconclusive: &BTreeMap<String, u64>) -> String {
    let line = |(reason, rounds): (&String, &u64)| format!("{rounds} rounds: {reason}");
    inconclusive.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A file as reports name it: from the root, if it lies below, without links and `..`.
pub fn named<'a>(file: &'a Path, root: &Path) -> Cow<'a, Path> {
    match file.canonicalize() {
        Ok(file) => Cow::Owned(file.strip_prefix(root).unwrap_or(&file).to_path_buf()),
        Err(_) => Cow::Borrowed(file.strip_prefix(root).unwrap_or(file)),
    }
}

/// What is wrong: the rule that is broken, or the name of the fault.
pub fn rule(finding: &Finding) -> String {
    match &finding.what {
        What::Violation { rule, .. } => rule.clone(),
        What::Fault { kind, .. } => kind.name(),
    }
}

/// What is wrong, in a sentence or two.
pub fn sentence(finding: &Finding) -> String {
    match &finding.what {
        What::Violation { rule, explanation, .. } => {
            format!("No order of the calls explains the answers ({rule}). {explanation}")
        }
        What::Fault { message, .. } => {
            let said = message.iter().map(|message| format!(" It said: {message}"));
            words::fault(&finding.what) + &said.collect::<String>()
        }
    }
}
