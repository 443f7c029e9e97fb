//! `interlap shrink`: minimizes a finding; also minimizes the findings of `interlap fuzz`.
//! The smallest finding replaces the stored one. A recording of rr is not changed: the smaller
//! finding is written beside it (see [`cross_engine`]).

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use super::fuzz::rerun_options;
use super::{cross_engine, explain, place, print_json, stop_flag};
use crate::check::Limits;
use crate::cli::arguments;
use crate::core::measured::time;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, quoted};
use crate::finding::{Finding, Stored};
use crate::fuzz::{Observer, Options, Summary, Warning};
use crate::report::directory;
use crate::report::output::Output;
use crate::report::progress::{Progress, Telling};
use crate::report::text;
use crate::shrink;

/// The output of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    /// Whether the finding recurred, and was replaced.
    shrunk: bool,
    seconds: f64,
    finding: &'a Finding,
}

pub fn run(args: &arguments::Shrink, out: &mut Output) -> Result<Outcome> {
    let mut stored = load(&args.finding)?;
    let (trusted, stop) = (place::settle(&mut stored, args.trust, &args.place)?, stop_flag()?);
    let finding = &stored.finding;
    let (engine, directory) = (finding.plan.engine, &stored.directory);
    let options = rerun_options(finding, trusted, directory, &args.run, stop)?;
    let json = args.run.format.json;
    let (started, mut progress) = (Instant::now(), Progress::new(None, json));
    let shrunk = match engine {
        Engine::Rr => cross_engine::search(&mut stored, &options, args.run.duration, &mut progress),
        _ => smaller(&stored, &options, args.run.duration, &mut progress),
    };
    progress.finish();
    let (shrunk, seconds) = (shrunk?, started.elapsed().as_secs_f64());
    let (done, now) = (shrunk.is_some(), shrunk.as_ref().unwrap_or(&stored));
    if json {
        print_json(out, &Json { shrunk: done, seconds, finding: &now.finding })?;
    } else if done {
        writeln!(out, "{}", text::render(now));
    } else {
        writeln!(out, "{}", not_seen_again(&stored, args.run.duration));
    }
    Ok(if done { Outcome::Found } else { Outcome::NotDecided })
}

/// The finding in this directory; for a recording, the smaller finding of the controlled engine, if
/// there is one.
fn load(directory: &Path) -> Result<Stored> {
    let stored = Stored::load(directory)?;
    let elsewhere = stored.finding.cross_engine.as_ref();
    let smaller = elsewhere.and_then(|elsewhere| elsewhere.smaller.as_ref());
    match smaller.is_some_and(|smaller| smaller.engine == Engine::Controlled) {
        // It may have been removed since.
        true => Ok(Stored::load(&stored.smaller()).unwrap_or(stored)),
        false => Ok(stored),
    }
}

fn not_seen_again(stored: &Stored, budget: Duration) -> String {
    let (name, seconds) = (&stored.finding.name, time(budget.as_secs_f64()));
    match stored.finding.plan.engine {
        Engine::Native => format!(
            "{name} was not shrunk: neither its calls nor short rounds of its plan showed it \
             often enough in {seconds} to be counted. Nothing was changed; try longer: \
             interlap shrink {} --for 5m",
            quoted(&stored.directory.display().to_string())
        ),
        Engine::Rr => cross_engine::not_shown(stored),
        Engine::Controlled => format!(
            "{name} was not shrunk: its round did not show it again in time. Nothing was changed."
        ),
    }
}

/// The next finding's share of the time that is left for so many: what one does not need is for
/// those after it.
fn share(left: Duration, findings: usize) -> Duration {
    left / findings.max(1) as u32
}

/// Shrinks the findings of a run, together for at most `budget`, and tells of them. One that cannot
/// be shrunk stays as it is, and so does a recording. Those in `left`, which were not told of when
/// they were found, are told of in any case.
pub fn findings(
    summary: &mut Summary,
    options: &Options,
    budget: Duration,
    (left, telling): (Vec<String>, Telling),
    json: bool,
) {
    if budget.is_zero() {
        return;
    }
    let (mut progress, begun) = (Progress::new(None, json).telling(telling), Instant::now());
    let worthwhile = |stored: &&Stored| shrink::is_worthwhile(stored);
    let mut to_come = summary.findings.iter().filter(worthwhile).count();
    let stopped = || options.stop.load(Ordering::Relaxed);
    for stored in &mut summary.findings {
        let is_left = left.contains(&stored.finding.name);
        if stopped() || !shrink::is_worthwhile(stored) {
            if is_left {
                progress.report(stored);
            }
            continue;
        }
        let left = share(budget.saturating_sub(begun.elapsed()), to_come);
        to_come -= 1;
        let is_recording = stored.finding.plan.engine == Engine::Rr;
        let done = match is_recording {
            true => cross_engine::search(stored, options, left, &mut progress),
            false => smaller(stored, options, left, &mut progress),
        };
        let (mut beside, mut why) = (None, None);
        match done {
            Ok(Some(shown)) if is_recording => beside = Some(shown),
            Ok(Some(shrunk)) => *stored = shrunk,
            Ok(None) if stopped() => {}
            Ok(None) => {
                why = Some(not_seen_again(stored, left));
                stored.finding.missed_for = Some(left.as_secs_f64());
                if let Err(error) = directory::write(stored) {
                    progress.warned(&Warning::Other(format!("{error:#}")));
                }
            }
            Err(error) => why = Some(format!("{} was not shrunk: {error:#}", stored.finding.name)),
        }
        if is_left || why.is_none() {
            progress.report(stored);
        }
        beside.iter().for_each(|shown| progress.report(shown));
        why.into_iter().for_each(|why| progress.warned(&Warning::Other(why)));
    }
    progress.finish();
}

/// Shrinks the finding and replaces the stored one; none if it did not recur.
fn smaller(
    stored: &Stored,
    options: &Options,
    budget: Duration,
    progress: &mut Progress,
) -> Result<Option<Stored>> {
    let (name, time) = (&stored.finding.name, shrink::time_for(stored, options, budget));
    let options = Options { plan: stored.finding.plan.clone(), time, ..options.clone() };
    let seconds = budget.as_secs();
    progress.status(|| format!("shrinking {name}: waiting for it to recur, {seconds} s left"));
    let mut report = |size| {
        let left = options.time.remaining().as_secs();
        progress.status(|| format!("shrinking {name}: {size}, {left} s left"));
    };
    let Some(mut shrunk) = shrink::shrink(stored, &options, &mut report)? else {
        return Ok(None);
    };
    stored.keep_original()?;
    complete(&mut shrunk, &options)?;
    if shrunk.finding.recorded_as.is_some() {
        cross_engine::update_recorded(&shrunk)?;
    }
    Ok(Some(shrunk))
}

/// Writes a shrunk finding, with partial linearizations, its table and the debugger's script.
/// `options` are those of a run of its plan, except the listed calls.
pub fn complete(shrunk: &mut Stored, options: &Options) -> Result<()> {
    let limits = Limits { deadline: options.time.end_of_grace(), ..Limits::default() };
    if let Ok(model) = shrunk.finding.model.parse() {
        shrunk.finding.add_evidence(&shrunk.round.history, &model, &limits);
    }
    if shrunk.finding.plan.engine != Engine::Native {
        // The table may be missing, as that of a finding that was never explained.
        explain::add(shrunk, options).ok();
    }
    directory::write_with_script(shrunk, &options.library, &options.harness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_share_one_budget() {
        let (mut left, mut granted) = (Duration::from_secs(10), Duration::ZERO);
        for to_come in (1..=5).rev() {
            let share = share(left, to_come);
            assert_eq!(share, Duration::from_secs(2));
            (left, granted) = (left - share, granted + share);
        }
        assert_eq!(granted, Duration::from_secs(10));
        // What one does not need is for those after it.
        assert_eq!(share(Duration::from_secs(9), 2), Duration::from_millis(4500));
    }
}
