//! `interlap check`: checks recorded histories against their models.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::adapters::start_model;
use super::ci::Reports;
use super::source::{self, RecordedHistory};
use super::stored::Tally;
use super::{covering, follow, page, print_json, stop_flag};
use crate::check::{self, Limits, Verdict};
use crate::cli::arguments;
use crate::core::history::OperationId;
use crate::core::outcome::Outcome;
use crate::core::time_limit::TimeLimit;
use crate::model::Spec;
use crate::model::program::Program;
use crate::report::output::{Output, note};
use crate::report::results::{Ended, Run};
use crate::trace::kept::{self, Made};
use crate::view::checked::{Checked, Named};
use crate::view::explanation::{partials, undecided};

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
    /// What was made of it by the run that keeps it in a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<Made>,
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
    covering::begin(&args.source.model)?;
    start_model(args.source.model.named()?)?;
    let (histories, truncated) = read(args, &limits)?;
    // A page that cannot be written is an error before a long check.
    args.html.as_deref().map(page::touch).transpose()?;
    let mut outcome = Outcome::NothingFound;
    let (mut all, mut runs, mut shown) = (Vec::new(), Vec::new(), None::<Checked>);
    let mut tally = Tally::default();
    for (recorded, judged) in &histories {
        let started = Instant::now();
        let model = recorded.known_model()?;
        // What a file names is run only if it is interlap's own.
        start_model(Some(model).filter(|model| model.program.is_some_and(Program::is_own)))?;
        let judge = || check::check(&recorded.history, &model, &limits);
        let verdict = judged.clone().unwrap_or_else(judge);
        let checked = Checked::new(recorded.named(), model, verdict, &limits);
        recorded.notes.iter().for_each(|note| note!("{file}: {note}"));
        outcome = match (&checked.verdict, outcome) {
            (Verdict::Violation(_), _) | (_, Outcome::Found) => Outcome::Found,
            (Verdict::Inconclusive(_), _) => Outcome::NotDecided,
            (Verdict::Consistent, outcome) => outcome,
        };
        runs.push(Run { seconds: started.elapsed().as_secs_f64(), ..result(args, &checked) });
        let is_told = tally.add(&checked, recorded.stored);
        if args.format.json {
            all.push(Json { stored: recorded.stored, ..json(&checked) });
        } else if !reports.take_stdout() && is_told {
            write!(out, "{}", checked.text());
        }
        if shown.as_ref().is_none_or(|shown| checked.rank() > shown.rank()) {
            shown = Some(checked);
        }
    }
    if args.format.json {
        print_json(out, &all)?;
    } else if !reports.take_stdout() {
        write!(out, "{}", tally.text());
    }
    let says = (!args.format.json && !reports.take_stdout()).then_some(&mut *out);
    covering::end(&args.source.model, args.source.model.named()?, says)?;
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

/// Histories, with what is known of each.
type Histories = Vec<(RecordedHistory, Option<Verdict>)>;

/// The histories of a file or a store, and why the rest of it could not be read.
fn read(args: &arguments::Check, limits: &Limits) -> Result<(Histories, Option<String>)> {
    let store = &args.source.file;
    if args.follow {
        return Ok((vec![follow::read(&args.source, limits)?], None));
    }
    let runs = kept::runs(store).with_context(|| format!("cannot read {}", store.display()))?;
    let (mut all, mut truncated) = (Vec::new(), None);
    for run in &runs {
        let (histories, why) = source::read_run(run, &args.source)?;
        all.extend(histories);
        truncated = truncated.or(why.map(|why| format!("{}: {why}", run.name)));
    }
    if runs.is_empty() {
        (all, truncated) = source::read(&args.source)?;
        // A trace may end before its first round.
        if all.is_empty() && truncated.is_none() {
            bail!("{}: it holds no history; if it was cut off, record it again", store.display());
        }
    }
    Ok((all.into_iter().map(|recorded| (recorded, None)).collect(), truncated))
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

fn write_page(path: &Path, shown: Option<Checked>, args: &arguments::Check) -> Result<()> {
    let Some(shown) = shown else {
        let file = args.source.file.display();
        note!("{file}: it holds no history, so no page was written");
        return Ok(());
    };
    page::write(path, &shown.page())?;
    note!("{}: the page of {}; opens in any browser", path.display(), shown.of.name);
    Ok(())
}

/// A verdict in the JUnit report.
fn result(args: &arguments::Check, checked: &Checked) -> Run {
    let ended = match &checked.verdict {
        Verdict::Consistent => Ended::Well,
        Verdict::Inconclusive(why) => Ended::NotDecided(undecided::reason(why)),
        Verdict::Violation(witness) => {
            Ended::Violated { rule: witness.rule.to_string(), why: checked.sentences(witness) }
        }
    };
    Run {
        ended,
        text: format!("{} operations", checked.of.history.len()),
        ..run_of(args, checked.of.name.to_string())
    }
}

fn run_of(args: &arguments::Check, name: String) -> Run {
    let file = &args.source.file;
    let target = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (command, ended) = (format!("interlap check {}", file.display()), Ended::Well);
    Run { target, name, command, seconds: 0.0, ended, text: String::new() }
}

fn json(checked: &Checked) -> Json {
    let Named { name, history, strings, .. } = checked.of;
    let partials = checked.partials.as_ref().ok();
    let mut json = Json {
        history: name.to_string(),
        model: checked.model.to_string(),
        operations: history.len(),
        verdict: "consistent",
        rule: None,
        explanation: None,
        witness: Vec::new(),
        stored: None,
        weaker: checked.weaker.clone(),
        partials: partials.map(|all| partials::json(all, history, strings)),
    };
    match &checked.verdict {
        Verdict::Consistent => {}
        Verdict::Inconclusive(reason) => {
            (json.verdict, json.explanation) = ("inconclusive", Some(undecided::reason(reason)));
        }
        Verdict::Violation(witness) => {
            (json.verdict, json.rule) = ("violation", Some(witness.rule));
            (json.explanation, json.witness) =
                (Some(checked.sentences(witness)), witness.operations.clone());
        }
    }
    json
}
