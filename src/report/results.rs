//! Runs and their findings, as data for the reports to other programs.
//! The commands make them; [`super::junit`] and [`super::sarif`] write them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::progress::summary_line;
use crate::campaign::ledger::Ledger;
use crate::check::Undecided;
use crate::core::plan::Plan;
use crate::finding::{Failure, Finding, Stored};
use crate::fuzz::Statistics;
use crate::report::warnings;
use crate::report::{explanation, questions};
use crate::view::explanation::UNEXPLAINED;
use crate::view::explanation::undecided;

/// Runs with their findings.
pub struct Results<'a> {
    pub runs: Vec<Run>,
    /// Each finding once.
    pub findings: Vec<&'a Stored>,
    /// The source of the adapter that a finding's plan names.
    pub adapter: &'a dyn Fn(&Finding) -> PathBuf,
    /// The repository: files below it get relative paths.
    pub root: &'a Path,
}

/// A run.
pub struct Run {
    pub target: String,
    /// Model and engine: the same for each run of its kind.
    pub name: String,
    pub command: String,
    pub seconds: f64,
    pub ended: Ended,
    /// More about the run, in words.
    pub text: String,
}

impl Run {
    /// A run that is stored in a directory.
    pub fn of_ledger(directory: &Path, ledger: &Ledger) -> Run {
        let statistics = &ledger.statistics;
        let ended = match ledger.findings.is_empty() {
            true => not_decided(statistics),
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
    /// A checked history violates its model. (Histories are no findings.)
    Violated {
        rule: String,
        why: String,
    },
    /// No verdict, and why.
    NotDecided(String),
    /// The run failed, and why.
    Failed(String),
}

/// "fifo, controlled engine".
pub fn run_name(model: &str, plan: &Plan) -> String {
    format!("{model}, {} engine", plan.engine.name())
}

/// How a run without findings ended: why hardly anything was tested, and the reasons why rounds
/// were not decided, a line each.
pub fn not_decided(statistics: &Statistics) -> Ended {
    let Some(why) = statistics.untested() else { return Ended::Well };
    let line =
        |(why, rounds): (&Undecided, &u64)| format!("{rounds} rounds: {}", undecided::reason(why));
    let reasons = statistics.inconclusive.iter().map(line);
    let lines = std::iter::once(warnings::untested(why)).chain(reasons);
    Ended::NotDecided(lines.collect::<Vec<_>>().join("\n"))
}

/// A file as reports name it: without links and `..`, relative to the root if it lies below.
pub fn named<'a>(file: &'a Path, root: &Path) -> Cow<'a, Path> {
    match file.canonicalize() {
        Ok(file) => Cow::Owned(file.strip_prefix(root).unwrap_or(&file).to_path_buf()),
        Err(_) => Cow::Borrowed(file.strip_prefix(root).unwrap_or(file)),
    }
}

/// The broken rule, or the name of the fault.
pub fn rule(finding: &Finding) -> String {
    match &finding.what {
        Failure::Violation { rule, .. } => rule.clone(),
        Failure::Fault { kind, .. } => kind.name(),
    }
}

/// The failure in a sentence or two.
pub fn sentence(stored: &Stored) -> String {
    let sentences = explanation::of_finding(stored);
    let sentences = match &stored.finding.what {
        Failure::Violation { rule, .. } => format!("{UNEXPLAINED} ({rule}). {sentences}"),
        Failure::Fault { message, .. } => {
            let said = message.iter().map(|message| format!(" It said: {message}"));
            sentences + &said.collect::<String>()
        }
    };
    let question = questions::of_finding(stored).map(|question| format!(" {question}"));
    sentences + &question.unwrap_or_default()
}
