//! `interlap check`: a recorded history, judged.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use super::ci::Reports;
use super::source::{self, Subject};
use super::{page, print_json, stop_flag};
use crate::check::{self, Limits, Partials, Verdict, Witness};
use crate::cli::arguments;
use crate::core::history::OperationId;
use crate::core::outcome::Outcome;
use crate::finding::SHOWN_WHOLE;
use crate::model::Spec;
use crate::report::output::{Output, note};
use crate::report::results::{Ended, Run};
use crate::report::{text, timeline};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    partials: Option<Partials>,
}

/// Threads that judge independent keys of a long history at once.
const JOBS_MAX: usize = 8;

pub fn run(args: &arguments::Check, out: &mut Output) -> Result<Outcome> {
    let ci = arguments::Ci { junit: args.junit.clone(), ..Default::default() };
    let reports = Reports::open(&ci, args.format.json)?;
    let done = judge(args, &reports, out);
    if let Err(error) = &done {
        reports.write_failed("interlap check", &args.source.file.display().to_string(), error, out);
    }
    done
}

fn judge(args: &arguments::Check, reports: &Reports, out: &mut Output) -> Result<Outcome> {
    let file = args.source.file.display();
    let (subjects, truncated) = source::read(&args.source)?;
    let limits = limits(args)?;
    // A page that cannot be written is told before a long check.
    args.html.as_deref().map(page::touch).transpose()?;
    let mut outcome = Outcome::NothingFound;
    let (mut all, mut runs, mut shown) = (Vec::new(), Vec::new(), None::<page::Judged>);
    for subject in &subjects {
        let started = Instant::now();
        let model = subject.known_model()?;
        let verdict = subject.rendered(check::check(&subject.history, &model, &limits));
        let partials = partials(subject, model, &verdict);
        subject.notes.iter().for_each(|note| note!("{file}: {note}"));
        outcome = match (&verdict, outcome) {
            (Verdict::Violation(_), _) | (_, Outcome::Found) => Outcome::Found,
            (Verdict::Inconclusive(_), _) => Outcome::NotDecided,
            (Verdict::Consistent, outcome) => outcome,
        };
        runs.push(Run {
            seconds: started.elapsed().as_secs_f64(),
            ..told(args, subject, &verdict)
        });
        if args.format.json {
            let partials = partials.clone();
            all.push(Judged { partials, ..judged(subject, model, verdict.clone()) });
        } else if !reports.take_stdout() {
            print_verdict(subject, model, &verdict, partials.as_ref(), out);
        }
        let seen = page::Judged { subject, model, verdict, partials };
        if shown.as_ref().is_none_or(|shown| seen.weight() > shown.weight()) {
            shown = Some(seen);
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

fn limits(args: &arguments::Check) -> Result<Limits> {
    Ok(Limits {
        configurations_max: args.configurations,
        steps_max: args.steps,
        memory_max: args.memory << 20,
        jobs: std::thread::available_parallelism().map_or(1, |jobs| jobs.get().min(JOBS_MAX)),
        cancelled: Some(stop_flag()?),
    })
}

fn write_page(path: &Path, shown: Option<page::Judged>, args: &arguments::Check) -> Result<()> {
    let Some(shown) = shown else {
        let file = args.source.file.display();
        note!("{file}: it holds no history, so no page was written");
        return Ok(());
    };
    page::write(path, &shown.page())?;
    note!("{}: the page of {}; opens in any browser", path.display(), shown.subject.name);
    Ok(())
}

/// A verdict in reports for other programs.
fn told(args: &arguments::Check, subject: &Subject, verdict: &Verdict) -> Run {
    let ended = match verdict {
        Verdict::Consistent => Ended::Well,
        Verdict::Inconclusive(why) => Ended::NotDecided(why.clone()),
        Verdict::Violation(witness) => {
            Ended::Violated { rule: witness.rule.to_string(), why: witness.explanation.clone() }
        }
    };
    Run {
        ended,
        text: format!("{} operations", subject.history.len()),
        ..run_of(args, subject.name.clone())
    }
}

fn run_of(args: &arguments::Check, name: String) -> Run {
    let file = &args.source.file;
    let target = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (command, ended) = (format!("interlap check {}", file.display()), Ended::Well);
    Run { target, name, command, seconds: 0.0, ended, text: String::new() }
}

/// How far a history can be explained that no order explains.
fn partials(subject: &Subject, model: Spec, verdict: &Verdict) -> Option<Partials> {
    let Verdict::Violation(witness) = verdict else { return None };
    let mut partials = check::partials(&subject.history, &model, witness).ok()?;
    partials.key = partials.key.map(|key| subject.strings.render(&key));
    for partial in &mut partials.partials {
        partial.before = subject.strings.render(&partial.before);
        for step in &mut partial.steps {
            step.state = subject.strings.render(&step.state);
        }
        for expected in &mut partial.expected {
            *expected = subject.strings.render(expected);
        }
    }
    Some(partials)
}

fn judged(subject: &Subject, model: Spec, verdict: Verdict) -> Judged {
    let mut judged = Judged {
        history: subject.name.clone(),
        model: model.to_string(),
        operations: subject.history.len(),
        verdict: "consistent",
        rule: None,
        explanation: None,
        witness: Vec::new(),
        partials: None,
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

fn print_verdict(
    subject: &Subject,
    model: Spec,
    verdict: &Verdict,
    partials: Option<&Partials>,
    out: &mut Output,
) {
    let (name, operations) = (&subject.name, subject.history.len());
    match verdict {
        Verdict::Consistent => {
            writeln!(out, "{name}: consistent with {model} ({operations} operations)")
        }
        Verdict::Inconclusive(reason) => writeln!(out, "{name}: not decided: {reason}"),
        Verdict::Violation(witness) => {
            writeln!(out, "{name}: violates {model} ({})", witness.rule);
            writeln!(out, "{}\n", witness.explanation);
            writeln!(out, "{}", subject.strings.render(&picture(subject, witness)));
        }
    }
    if let Some(partials) = partials {
        writeln!(out, "{}", subject.strings.render(&partials.sentences(&subject.history)));
    }
}

/// What cannot be explained, in time; of a short history all there is.
fn picture(subject: &Subject, witness: &Witness) -> String {
    let (history, told) = (&subject.history, &witness.operations);
    if history.len() > SHOWN_WHOLE {
        return timeline::draw(history, told, subject.unit);
    }
    let mut all: Vec<_> = history.ids().collect();
    all.sort_by_key(|id| (history.operation(*id).start, *id));
    let drawn = timeline::draw(history, &all, subject.unit);
    match text::witness_note(&all, told) {
        Some(about) => format!("{drawn}\n  {about}\n"),
        None => drawn,
    }
}
