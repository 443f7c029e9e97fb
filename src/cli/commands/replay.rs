//! `interlap replay` and `interlap show`: reruns a stored finding, or prints it.

use std::time::Duration;

use anyhow::{Result, anyhow};
use serde::Serialize;

use super::adapters::start_model;
use super::fuzz::rerun_options;
use super::{debug, overview, page, place, print_json, recording, stop_flag, trust};
use crate::check::{self, Limits, Verdict};
use crate::cli::arguments;
use crate::core::interner::Interner;
use crate::core::measured::time;
use crate::core::outcome::Outcome;
use crate::core::plan::Engine;
use crate::core::time_limit::TimeLimit;
use crate::exchange::jsonl;
use crate::finding::trust::Trusted;
use crate::finding::{Failure, Finding, Stored};
use crate::fuzz::{self, Shown};
use crate::model::Spec;
use crate::report::again::sentences as again_in_words;
use crate::report::output::Output;
use crate::report::progress::Progress;
use crate::report::text;
use crate::view::explanation::undecided;

pub fn show(args: &arguments::Show, out: &mut Output) -> Result<Outcome> {
    if overview::is_run(&args.finding) {
        return overview::show(args, out);
    }
    let stored = Stored::load(&args.finding)?;
    if args.format.json {
        print_json(out, &stored.finding)?;
    } else if args.history {
        let (history, model) = (&stored.round.history, &stored.finding.model);
        write!(out, "{}", jsonl::write(history, model, &Interner::default()));
    } else if let Some(path) = &args.html {
        page::write(path, &crate::report::page::of_finding(&stored))?;
        writeln!(out, "{}: opens in any browser", path.display());
    } else {
        write!(out, "{}", text::render(&stored));
    }
    Ok(Outcome::NothingFound)
}

/// The result of a replay; the output of `--json`.
#[derive(Serialize)]
struct Replayed {
    signature: String,
    /// The verdict on the recorded history now; none for a fault.
    history: Option<&'static str>,
    /// Whether the plan showed the finding again; none if it was not run.
    recurred: Option<bool>,
    /// The signature of another finding that it showed instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
    /// Whether the history was identical, record by record; not for native threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    identical: Option<bool>,
    /// Operations of its round that ran, of how many; with the controlled engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<usize>,
    /// Whether its schedule was followed, step for step; with the controlled engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    followed: Option<bool>,
    rounds: u64,
    /// The rounds that tried further schedules of the same calls.
    further: u64,
    seconds: f64,
    outcome: Outcome,
}

pub fn run(args: &arguments::Replay, out: &mut Output) -> Result<Outcome> {
    let mut stored = Stored::load(&args.finding)?;
    // Before anything else: an error among other lines is easily overlooked.
    let trusted = match args.history_only {
        true => None,
        false => Some(permit(&mut stored, args).map_err(|error| {
            anyhow!("{error:#}; --history-only checks its history, and runs nothing")
        })?),
    };
    if let (true, Some(trusted)) = (args.stop.is_asked(), trusted) {
        return debug::run(&mut stored, trusted, args);
    }
    let json = args.run.format.json;
    if !json {
        write!(out, "{}", text::render(&stored));
    }
    let time = TimeLimit::from_now(args.run.duration);
    let history = check_again(&stored, &time)?;
    let signature = stored.finding.signature.to_string();
    let mut replayed = Replayed {
        signature,
        history: history.as_ref().map(|(name, _)| *name),
        recurred: None,
        other: None,
        identical: None,
        operations: None,
        planned: None,
        followed: None,
        rounds: 0,
        further: 0,
        seconds: 0.0,
        outcome: Outcome::NotDecided,
    };
    if let (Some((_, sentence)), false) = (&history, json) {
        writeln!(out, "{sentence}");
    }
    if let Some(trusted) = trusted {
        // The compiler's time does not count.
        let run = &arguments::Run { duration: time.remaining(), ..args.run };
        match stored.finding.plan.engine {
            Engine::Native | Engine::Controlled => {
                run_again(&stored, trusted, run, &mut replayed, out)?;
            }
            Engine::Rr => {
                run_recording_again(&mut stored, trusted, (args, run), &mut replayed, out)?;
            }
        }
    } else if replayed.history == Some("violation") {
        replayed.outcome = Outcome::Found;
    }
    if json {
        print_json(out, &replayed)?;
    }
    Ok(replayed.outcome)
}

/// What lets the finding be run. A recording needs no sources.
fn permit(stored: &mut Stored, args: &arguments::Replay) -> Result<Trusted> {
    let trusted = match stored.finding.plan.engine {
        Engine::Rr => trust::of(stored, args.trust)?,
        Engine::Native | Engine::Controlled => place::settle(stored, args.trust, &args.place)?,
    };
    start_model(stored.finding.model.parse().ok())?;
    Ok(trusted)
}

/// Checks the recorded history again. Returns the verdict and a sentence; none for a fault.
fn check_again(stored: &Stored, time: &TimeLimit) -> Result<Option<(&'static str, String)>> {
    let Failure::Violation { rule, .. } = &stored.finding.what else {
        return Ok(None);
    };
    let model: Spec = stored.finding.model.parse().map_err(anyhow::Error::msg)?;
    let history = &stored.round.history;
    let verdict = match stored.round.start.sequential {
        true => check::sequential(history, &model),
        false => {
            let limits = Limits { deadline: time.end(), ..Limits::default() };
            check::check(history, &model, &limits)
        }
    };
    Ok(Some(match verdict {
        Verdict::Violation(witness) if witness.rule == rule => {
            ("violation", "The recorded history, checked again: the same violation.".to_string())
        }
        Verdict::Violation(witness) => (
            "violation",
            format!("The recorded history, checked again: violated, but by {}.", witness.rule),
        ),
        Verdict::Consistent => (
            "consistent",
            "The recorded history, checked again: consistent. It was found to violate the model \
             when it was recorded; please report this."
                .to_string(),
        ),
        Verdict::Inconclusive(why) => (
            "inconclusive",
            format!(
                "The recorded history, checked again: not decided ({}).",
                undecided::reason(&why)
            ),
        ),
    }))
}

/// Replays the finding's recording.
fn run_recording_again(
    stored: &mut Stored,
    trusted: Trusted,
    (args, run): (&arguments::Replay, &arguments::Run),
    replayed: &mut Replayed,
    out: &mut Output,
) -> Result<()> {
    let was_located = stored.finding.recorded.as_ref().is_some_and(|r| r.is_located());
    let done = recording::run(stored, trusted, args, run.duration, &*stop_flag()?)?;
    replayed.identical = done.identical;
    let recurred = done.identical != Some(false);
    replayed.recurred = Some(recurred);
    replayed.outcome = if recurred { Outcome::Found } else { Outcome::NotDecided };
    (replayed.rounds, replayed.seconds) = (1, done.seconds);
    if run.format.json {
        return Ok(());
    }
    writeln!(
        out,
        "{}",
        match done.identical {
            Some(true) =>
                "The recording is intact: replayed, it gives the same history, record by record.",
            Some(false) =>
                "The recording can be replayed, but does not give the stored history; it may \
                        be that of another finding.",
            None => "The recording is intact: it can be replayed to its end.",
        }
    );
    if !was_located {
        write!(out, "{}", text::render(stored));
    }
    Ok(())
}

/// The message before a run: what is run, and how long it is likely to take.
fn announcement(finding: &Finding, most: Duration) -> String {
    let what = if finding.plan.scenarios.is_empty() { "the plan" } else { "these calls" };
    let measured = finding.shrunk.as_ref().and_then(|shrunk| shrunk.measured);
    let each = measured.and_then(|m| Some((time(m.seconds_each()?), time(m.seconds_for_one()?))));
    let expected = match each {
        Some((each, enough)) => format!(
            "; they showed it about once every {each}, so that {enough} are enough 19 times in 20"
        ),
        None => String::new(),
    };
    format!("Running {what} until it recurs, for at most {} s{expected}:", most.as_secs())
}

/// Runs the finding's round, or with native threads its plan until it recurs or time is up.
fn run_again(
    stored: &Stored,
    trusted: Trusted,
    run: &arguments::Run,
    replayed: &mut Replayed,
    out: &mut Output,
) -> Result<()> {
    let (json, finding) = (run.format.json, &stored.finding);
    if !json && finding.plan.engine == Engine::Native {
        writeln!(out, "{}", announcement(finding, run.duration));
    }
    let sightings = crate::core::files::scratch()?;
    let options = rerun_options(finding, trusted, sightings.path(), run, stop_flag()?)?;
    let mut progress = Progress::new(options.time.most(), true);
    let again = fuzz::again(stored, &options, &mut progress)?;
    progress.finish();
    if !json {
        writeln!(out, "{}", again_in_words(stored, &again));
    }
    if let Shown::Other(other) = &again.shown {
        replayed.other = Some(other.finding.signature.to_string());
    }
    replayed.recurred = Some(again.is_same());
    replayed.identical = again.own.filter(|_| again.is_same()).map(|own| own.is_identical);
    replayed.operations = again.own.map(|own| own.operations);
    replayed.planned = again.own.and_then(|own| own.planned);
    replayed.followed = again.own.map(|own| own.is_followed);
    (replayed.rounds, replayed.further) = (again.rounds, again.further);
    (replayed.seconds, replayed.outcome) = (again.seconds, again.outcome());
    Ok(())
}
