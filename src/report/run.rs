//! The summary of a run, in words and as JSON: its numbers, its findings, why it ended.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::progress::summary_line;
use super::results::{Ended, Run, not_decided, run_name};
use super::warnings;
use super::words::{self, NOTHING_FOUND};
use super::{again, coverage, exercise, overview, triage as listed};
use crate::campaign::ledger::Ledger;
use crate::campaign::triage::same_bug;
use crate::core::measured::time;
use crate::core::outcome::Outcome;
use crate::core::plan::{MemoryModel, PlainPoints, Plan, Races, quoted};
use crate::finding::known::{self, IssueCount};
use crate::finding::{Finding, Stored};
use crate::fuzz::exercise::Gap;
use crate::fuzz::{Again, Ending, Point, Regressions, Statistics, Summary};
use crate::model::Kind;
use crate::trace::frame::TargetInfo;
use crate::view::explanation::undecided;

/// The run in a few lines; if it is to be whole, with a table of the policies.
pub fn summary(summary: &Summary, ledger: &Ledger, plan: &Plan, is_whole: bool) -> String {
    let mut text = match untested(summary) {
        Some(why) => format!("{why}\n"),
        None => String::new(),
    };
    text += &numbers(ledger, !summary.findings.is_empty(), is_whole);
    let mut line = |words: String| writeln!(text, "{words}").expect("writing to a string");
    for (reason, rounds) in &summary.statistics.inconclusive {
        let rounds = words::counted(*rounds, "round");
        line(format!("not decided in {rounds}: {}", undecided::reason(reason)));
    }
    let new = summary.findings.iter().filter(|stored| stored.finding.known.is_none());
    for (stored, first) in listed::pair_with_first(new.collect()) {
        let finding = &stored.finding;
        let (after, seen) = (finding.after_seconds, finding.sightings);
        let (directory, signature) = (stored.directory.display(), &finding.signature);
        let lost = if stored.is_written() { "" } else { " (not written)" };
        let (after, seen, also) = (time(after), listed::times(seen), listed::same_bug_note(first));
        match &finding.regression {
            Some(of) => line(format!("{directory}{lost}: regression of {of}: {signature}{also}")),
            None => {
                line(format!("{directory}{lost}: {signature}, after {after}, seen {seen}{also}"))
            }
        }
    }
    ending(summary, plan).into_iter().for_each(&mut line);
    text
}

/// The numbers of one or several runs: rounds, coverage, and what was exercised. What was not
/// exercised is listed only if nothing was found.
pub fn numbers(ledger: &Ledger, has_findings: bool, with_policies: bool) -> String {
    let statistics = &ledger.statistics;
    let mut text = format!("{}\n", summary_line(statistics));
    if let Some(covered) = &statistics.coverage {
        if with_policies {
            text += &format!("{}\n", coverage::table(covered).trim_end());
        }
        coverage::remarks(covered).iter().for_each(|remark| text += &format!("{remark}\n"));
    }
    text + &exercised(ledger, has_findings)
}

/// What the rounds exercised and, without findings, what they did not.
pub fn exercised(ledger: &Ledger, has_findings: bool) -> String {
    let Some(exercised) = ledger.statistics.exercise.as_ref().filter(|all| all.rounds > 0) else {
        return String::new();
    };
    let mut text = format!("{}\n", exercise::line(exercised));
    if !has_findings {
        text += &exercise::gaps(exercised, &overview::gaps(ledger));
    }
    text
}

/// Why the run says next to nothing, if nothing was found.
fn untested(summary: &Summary) -> Option<String> {
    let why = summary.statistics.untested().filter(|_| summary.outcome() == Outcome::NotDecided);
    why.map(warnings::untested)
}

/// Why the run ended, if the findings do not say so.
fn ending(summary: &Summary, plan: &Plan) -> Option<String> {
    if let Some(libraries) = uninstrumented_libraries(summary)
        && summary.statistics.untested().is_none()
    {
        return Some(format!(
            "{NOTHING_FOUND}. (Threads were switched at locks and other calls, but never inside \
             {libraries}, which has no hooks; --engine native runs it on real threads.)"
        ));
    }
    let has_found = summary.outcome() == Outcome::Found;
    let why = match summary.ending {
        Ending::Findings => {
            "Stopped at the limit of distinct findings; --findings N lets it go on."
        }
        Ending::Stopped => "Stopped; what was found is kept.",
        Ending::NotSequential => {
            "Stopped: the target fails even when called from one thread at a time."
        }
        Ending::Time | Ending::Rounds | Ending::Wanted if has_found => return None,
        _ if !summary.findings.is_empty() => "Nothing new was found.",
        _ if summary.statistics.untested().is_some() => return None,
        _ if summary.statistics.coverage.is_some() => return Some(nothing_found(summary, plan)),
        Ending::Time | Ending::Rounds | Ending::Wanted => return Some(format!("{NOTHING_FOUND}.")),
    };
    Some(why.to_string())
}

/// What the controlled engine tried without a finding, and what it did not try.
fn nothing_found(summary: &Summary, plan: &Plan) -> String {
    let control = &plan.control;
    let model = match summary.hello.unhooked.is_empty() {
        true => control.memory_model,
        false => MemoryModel::Sc,
    };
    let points = match control.plain_points {
        PlainPoints::None => "atomic accesses, locks and allocations",
        _ => "accesses",
    };
    let (stores, is_missing) = match model {
        MemoryModel::Some if control.all_seq_cst => (
            "others saw stores at once, as all atomic accesses are sequentially consistent",
            "a plain store never waits in a store buffer",
        ),
        MemoryModel::Some => (
            "in some rounds stores waited in store buffers as on x86, and in some loads read older \
             stores as C++ allows",
            "a load never reads what is stored later",
        ),
        MemoryModel::C11 => {
            ("loads read older stores as C++ allows", "a load never reads what is stored later")
        }
        MemoryModel::Tso | MemoryModel::TsoLate => (
            "stores waited in store buffers as on x86",
            "what only weaker processors reorder needs --memory-model c11",
        ),
        MemoryModel::Sc => (
            "others saw stores at once",
            "what only a processor's store buffer shows needs --engine native",
        ),
    };
    let plain = match control.plain_points {
        PlainPoints::None => "; what takes a switch between plain ones needs --plain-points",
        _ => "",
    };
    let races = match control.races {
        Races::Off => "",
        _ if summary.hello.unhooked.is_empty() => "; data races were looked for",
        _ => "; data races were not looked for, as code without hooks may order accesses unseen",
    };
    let itself = match summary.model.kind {
        Kind::Itself => {
            " By model self is right what the structure also does one call at a time, or in a call \
             that others woke; a class that says what is right finds more (INTERLAP_MODEL)."
        }
        _ => "",
    };
    format!(
        "{NOTHING_FOUND}. (Threads were switched between {points}, and {stores}; \
         {is_missing}{plain}{races}.{itself})"
    )
}

/// The uninstrumented libraries of a run without findings in which hardly any other code ran.
fn uninstrumented_libraries(summary: &Summary) -> Option<String> {
    let is_over = matches!(summary.ending, Ending::Time | Ending::Rounds | Ending::Wanted);
    let few = summary.statistics.coverage.as_ref().is_some_and(|covered| covered.has_few_pairs());
    let unhooked = &summary.hello.unhooked;
    let is_so = is_over && few && summary.findings.is_empty() && !unhooked.is_empty();
    is_so.then(|| unhooked.join(", "))
}

/// The run for JUnit and SARIF.
pub fn result(summary: &Summary, plan: &Plan) -> Run {
    let statistics = &summary.statistics;
    Run {
        target: plan.target_name().to_string(),
        name: run_name(&summary.model.to_string(), plan),
        command: plan.to_string(),
        seconds: statistics.elapsed.as_secs_f64(),
        ended: match summary.outcome() {
            Outcome::NotDecided => not_decided(statistics),
            Outcome::Found | Outcome::NothingFound => Ended::Well,
        },
        text: format!(
            "{}\n{}",
            summary_line(statistics),
            ending(summary, plan).unwrap_or_default()
        ),
    }
}

/// A known finding that does not show again, for JUnit and SARIF.
pub fn regression(stored: &Stored, done: &Again) -> Run {
    let directory = stored.directory.display().to_string();
    Run {
        target: stored.finding.plan.target_name().to_string(),
        name: format!("known finding {directory}"),
        command: format!("interlap replay {}", quoted(&directory)),
        seconds: done.seconds,
        ended: Ended::Well,
        text: again::sentences(stored, done),
    }
}

/// "12 known findings: none shows again."
pub fn regressions(counts: &Regressions) -> String {
    let Regressions { known, again, other_failures, undecided, others } = *counts;
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let verb = |count: usize| if count == 1 { "shows" } else { "show" };
    let mut text = format!("{known} known finding{}: ", s(known));
    text += &match again {
        0 => "none shows again".to_string(),
        again => format!("{again} {} again", verb(again)),
    };
    if other_failures > 0 {
        text += &format!(", {other_failures} {} another failure", verb(other_failures));
    }
    if undecided > 0 {
        text += &format!(", {undecided} not decided");
    }
    if others > 0 {
        text += &format!(" ({others} of other targets left out)");
    }
    text + "."
}

/// The run as JSON.
#[derive(Serialize)]
pub struct Json<'a> {
    target: &'a TargetInfo,
    model: String,
    command: String,
    plan: &'a Plan,
    #[serde(flatten)]
    statistics: &'a Statistics,
    /// Rounds that were decided, and those that were not.
    decided: u64,
    undecided: u64,
    /// The share of the calls that overlapped one of another thread.
    overlap: f64,
    /// Whether the controlled engine's rounds no longer bring anything new.
    #[serde(skip_serializing_if = "Option::is_none")]
    saturated: Option<bool>,
    /// Known issues that were seen.
    known: Vec<IssueCount>,
    /// Known findings that were replayed before the run.
    regressions: &'a Regressions,
    /// What never happened.
    never: Vec<Gap>,
    /// How the counts grew.
    curve: &'a [Point],
    findings: Vec<JsonFinding<'a>>,
    outcome: Outcome,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    directory: &'a Path,
    /// The same number for findings that are most likely one bug.
    bug: usize,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl<'a> Json<'a> {
    pub fn new(
        summary: &'a Summary,
        plan: &'a Plan,
        ledger: &Ledger,
        regressions: &'a Regressions,
    ) -> Json<'a> {
        let statistics = &summary.statistics;
        let all: Vec<&Stored> = summary.findings.iter().collect();
        let numbers = same_bug::numbers(&same_bug::group(&all));
        let finding = |(stored, bug): (&'a Stored, usize)| JsonFinding {
            directory: &stored.directory,
            bug,
            finding: &stored.finding,
        };
        Json {
            target: &summary.hello.target,
            model: summary.model.to_string(),
            command: plan.to_string(),
            plan,
            statistics,
            decided: statistics.decided(),
            undecided: statistics.undecided(),
            overlap: statistics.overlap(),
            saturated: statistics.coverage.as_ref().map(|coverage| coverage.is_saturated()),
            known: known::count_issues(summary.findings.iter().map(|stored| &stored.finding)),
            regressions,
            never: overview::gaps(ledger),
            curve: &summary.curve,
            findings: summary.findings.iter().zip(numbers).map(finding).collect(),
            outcome: summary.outcome(),
        }
    }
}
