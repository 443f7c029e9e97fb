//! `interlap check`: checks recorded histories against their models.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::ci::Reports;
use super::source::{self, RecordedHistory};
use super::{follow, page, print_json, stop_flag};
use crate::check::{self, Limits, NotShown, Partials, Verdict, Witness};
use crate::cli::arguments;
use crate::core::history::OperationId;
use crate::core::outcome::Outcome;
use crate::core::time_limit::TimeLimit;
use crate::finding::SHOWN_WHOLE;
use crate::model::Spec;
use crate::report::explanation::{partials, questions, undecided};
use crate::report::output::{Output, note};
use crate::report::results::{Ended, Run};
use crate::report::{text, timeline};

/// The output of `--json` for one history.
#[derive(Serialize)]
struct Json {
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
    /// The weaker models that allow it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weaker: Vec<Spec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partials: Option<Value>,
}

/// Most threads that check independent keys of a long history.
const JOBS_MAX: usize = 8;

pub fn run(args: &arguments::Check, out: &mut Output) -> Result<Outcome> {
    let ci = arguments::Ci { junit: args.junit.clone(), ..Default::default() };
    let reports = Reports::open(&ci, args.format.json)?;
    let done = check(args, &reports, out);
    if let Err(error) = &done {
        reports.write_failed("interlap check", &args.source.file.display().to_string(), error, out);
    }
    done
}

fn check(args: &arguments::Check, reports: &Reports, out: &mut Output) -> Result<Outcome> {
    let file = args.source.file.display();
    let deadline = args.duration.and_then(|most| TimeLimit::from_now(most).end());
    let limits = limits(args, deadline)?;
    let (histories, truncated) = match args.follow {
        true => (vec![follow::read(&args.source, &limits)?], None),
        false => {
            let (histories, truncated) = source::read(&args.source)?;
            (histories.into_iter().map(|recorded| (recorded, None)).collect(), truncated)
        }
    };
    // A page that cannot be written is an error before a long check.
    args.html.as_deref().map(page::touch).transpose()?;
    let mut outcome = Outcome::NothingFound;
    let (mut all, mut runs, mut shown) = (Vec::new(), Vec::new(), None::<page::Checked>);
    for (recorded, judged) in &histories {
        let started = Instant::now();
        let model = recorded.known_model()?;
        let judge = || check::check(&recorded.history, &model, &limits);
        let verdict = judged.clone().unwrap_or_else(judge);
        let partials = longest(recorded, model, &verdict, &limits);
        let weaker = match &verdict {
            Verdict::Violation(_) => check::weaker(&recorded.history, &model, &limits),
            _ => Vec::new(),
        };
        recorded.notes.iter().for_each(|note| note!("{file}: {note}"));
        outcome = match (&verdict, outcome) {
            (Verdict::Violation(_), _) | (_, Outcome::Found) => Outcome::Found,
            (Verdict::Inconclusive(_), _) => Outcome::NotDecided,
            (Verdict::Consistent, outcome) => outcome,
        };
        runs.push(Run {
            seconds: started.elapsed().as_secs_f64(),
            ..result(args, recorded, &verdict)
        });
        if args.format.json {
            all.push(Json { weaker, ..json(recorded, model, &verdict, partials.as_ref().ok()) });
        } else if !reports.take_stdout() {
            let question = questions::of_weaker(&weaker);
            print_verdict(recorded, model, &verdict, question, partials.as_ref().ok(), out);
        }
        let checked = page::Checked { recorded, model, verdict, partials, limits: limits.clone() };
        if shown.as_ref().is_none_or(|shown| checked.rank() > shown.rank()) {
            shown = Some(checked);
        }
    }
    if args.format.json {
        print_json(out, &all)?;
    }
    if let Some(path) = &args.html {
        write_page(path, shown, args)?;
    }
    if let Some(why) = truncated {
        let ended = Ended::NotDecided(why.clone());
        runs.push(Run { ended, ..run_of(args, "what comes behind".to_string()) });
        note!("{file}: {why}; what comes before was checked");
        outcome = if outcome == Outcome::Found { outcome } else { Outcome::NotDecided };
    }
    reports.write(runs, Vec::new(), out)?;
    Ok(outcome)
}

fn limits(args: &arguments::Check, deadline: Option<Instant>) -> Result<Limits> {
    Ok(Limits {
        configurations_max: args.configurations,
        steps_max: args.steps,
        memory_max: args.memory << 20,
        jobs: std::thread::available_parallelism().map_or(1, |jobs| jobs.get().min(JOBS_MAX)),
        cancelled: Some(stop_flag()?),
        deadline,
    })
}

fn write_page(path: &Path, shown: Option<page::Checked>, args: &arguments::Check) -> Result<()> {
    let Some(shown) = shown else {
        let file = args.source.file.display();
        note!("{file}: it holds no history, so no page was written");
        return Ok(());
    };
    page::write(path, &shown.page())?;
    note!("{}: the page of {}; opens in any browser", path.display(), shown.recorded.name);
    Ok(())
}

/// A verdict in the JUnit report.
fn result(args: &arguments::Check, recorded: &RecordedHistory, verdict: &Verdict) -> Run {
    let ended = match verdict {
        Verdict::Consistent => Ended::Well,
        Verdict::Inconclusive(why) => Ended::NotDecided(undecided::reason(why)),
        Verdict::Violation(witness) => {
            Ended::Violated { rule: witness.rule.to_string(), why: recorded.sentences(witness) }
        }
    };
    Run {
        ended,
        text: format!("{} operations", recorded.history.len()),
        ..run_of(args, recorded.name.clone())
    }
}

fn run_of(args: &arguments::Check, name: String) -> Run {
    let file = &args.source.file;
    let target = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (command, ended) = (format!("interlap check {}", file.display()), Ended::Well);
    Run { target, name, command, seconds: 0.0, ended, text: String::new() }
}

/// The longest partial linearizations of a history that violates the model, or why there are none.
fn longest(
    recorded: &RecordedHistory,
    model: Spec,
    verdict: &Verdict,
    limits: &Limits,
) -> Result<Partials, NotShown> {
    let Verdict::Violation(witness) = verdict else { return Err(NotShown::NoFailure) };
    check::partials(&recorded.history, &model, &witness.operations, limits)
}

fn json(
    recorded: &RecordedHistory,
    model: Spec,
    verdict: &Verdict,
    partials: Option<&Partials>,
) -> Json {
    let mut json = Json {
        history: recorded.name.clone(),
        model: model.to_string(),
        operations: recorded.history.len(),
        verdict: "consistent",
        rule: None,
        explanation: None,
        witness: Vec::new(),
        weaker: Vec::new(),
        partials: partials.map(|all| partials::json(all, &recorded.history, &recorded.strings)),
    };
    match verdict {
        Verdict::Consistent => {}
        Verdict::Inconclusive(reason) => {
            (json.verdict, json.explanation) = ("inconclusive", Some(undecided::reason(reason)));
        }
        Verdict::Violation(witness) => {
            (json.verdict, json.rule) = ("violation", Some(witness.rule));
            (json.explanation, json.witness) =
                (Some(recorded.sentences(witness)), witness.operations.clone());
        }
    }
    json
}

fn print_verdict(
    recorded: &RecordedHistory,
    model: Spec,
    verdict: &Verdict,
    question: Option<String>,
    partials: Option<&Partials>,
    out: &mut Output,
) {
    let (name, operations) = (&recorded.name, recorded.history.len());
    match verdict {
        Verdict::Consistent => {
            writeln!(out, "{name}: consistent with {model} ({operations} operations)")
        }
        Verdict::Inconclusive(why) => {
            writeln!(out, "{name}: not decided: {}", undecided::reason(why));
        }
        Verdict::Violation(witness) => {
            writeln!(out, "{name}: violates {model} ({})", witness.rule);
            writeln!(out, "{}", recorded.sentences(witness));
            question.iter().for_each(|question| writeln!(out, "{question}"));
            writeln!(out);
            writeln!(out, "{}", picture(recorded, witness));
        }
    }
    if let Some(partials) = partials {
        writeln!(out, "{}", partials::text(partials, &recorded.history, &recorded.strings));
    }
}

/// The timeline of the witness, or of a short history as a whole.
fn picture(recorded: &RecordedHistory, witness: &Witness) -> String {
    let (history, operations) = (&recorded.history, &witness.operations);
    let missing = witness.explanation.missing(history);
    let drawn = |ids: &[OperationId]| {
        timeline::draw(history, ids, missing.as_ref(), recorded.unit, &recorded.strings)
    };
    if history.len() > SHOWN_WHOLE {
        return drawn(operations);
    }
    let mut all: Vec<_> = history.ids().collect();
    all.sort_by_key(|id| (history.operation(*id).start, *id));
    match text::witness_note(&all, operations) {
        Some(about) => format!("{}\n  {about}\n", drawn(&all)),
        None => drawn(&all),
    }
}
