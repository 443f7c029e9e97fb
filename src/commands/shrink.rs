//! `interlap shrink`, and what `interlap fuzz` does with what it found: a stored finding comes in,
//! the smallest one that was found in the given time takes its place on disk.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;

use super::{Outcome, explain, print_json, stop_flag};
use crate::check::{self, Witness};
use crate::cli;
use crate::commands::fuzz::rerun;
use crate::finding::{Finding, Stored};
use crate::fuzz::{self, Observer, Options, Summary};
use crate::model::Spec;
use crate::plan::{Engine, quoted};
use crate::report::progress::Progress;
use crate::report::text;
use crate::{replay, shrink};

/// What became of it, for a machine.
#[derive(Serialize)]
struct Json<'a> {
    /// Whether the finding recurred, and was replaced.
    shrunk: bool,
    seconds: f64,
    finding: &'a Finding,
}

pub fn run(args: &cli::Shrink) -> Result<Outcome> {
    let stored = Stored::load(&args.finding)?;
    let finding = &stored.finding;
    if finding.plan.engine == Engine::Rr {
        bail!(
            "{} is a recording by rr, which is of this round and no other, and shows it exactly; \
             `interlap replay {} --gdb` stops in it. To have it with fewer calls, hunt it with \
             `--engine native` or `--engine controlled`",
            finding.name,
            args.finding.display()
        );
    }
    let stop = stop_flag()?;
    let options = rerun(&finding.plan, &finding.signature, &args.finding, &args.run, stop)?;
    let json = args.run.format.json;
    let (started, mut progress) = (Instant::now(), Progress::new(None, json));
    let shrunk = smaller(&stored, &options, args.run.duration, &mut progress);
    progress.finish();
    let (shrunk, seconds) = (shrunk?, started.elapsed().as_secs_f64());
    let (done, now) = (shrunk.is_some(), shrunk.as_ref().unwrap_or(&stored));
    if json {
        print_json(&Json { shrunk: done, seconds, finding: &now.finding })?;
    } else if done {
        println!("{}", text::render(now));
    } else {
        println!("{}", not_seen_again(&stored, args.run.duration));
    }
    Ok(if done { Outcome::Found } else { Outcome::NotDecided })
}

fn not_seen_again(stored: &Stored, budget: Duration) -> String {
    let (name, seconds) = (&stored.finding.name, budget.as_secs_f64());
    match stored.finding.plan.engine {
        Engine::Native => format!(
            "{name} was not shrunk: neither its calls nor short rounds of its plan showed it \
             often enough in {seconds} s to be counted. Nothing was changed; try longer: \
             interlap shrink {} --for 5m",
            quoted(&stored.directory.display().to_string())
        ),
        _ => format!(
            "{name} was not shrunk: its round did not show it again in time. Nothing was changed."
        ),
    }
}

/// Whether a run shrinks what it found. Time is for what is new, and of what is the same each time,
/// for what was seen again.
pub fn is_wanted(stored: &Stored) -> bool {
    let finding = &stored.finding;
    let seen = finding.confirmed.unwrap_or(finding.plan.engine == Engine::Native);
    seen && finding.known.is_none() && shrink::is_shrinkable(stored)
}

/// Shrinks what a run found, for at most `budget` each, and tells it. What cannot be shrunk stays
/// as it was found. Those that were `left` are told in any case: a later sighting may be none that
/// is shrunk, and there may be no time.
pub fn findings(
    summary: &mut Summary,
    options: &Options,
    budget: Duration,
    left: &[String],
    json: bool,
) {
    if budget.is_zero() {
        return;
    }
    let mut progress = Progress::new(None, json);
    let stopped = || options.stop.load(Ordering::Relaxed);
    for stored in &mut summary.findings {
        let is_left = left.contains(&stored.finding.name);
        if stopped() || !is_wanted(stored) {
            if is_left {
                progress.whole(stored);
            }
            continue;
        }
        let why = match smaller(stored, options, budget, &mut progress) {
            Ok(Some(shrunk)) => {
                *stored = shrunk;
                None
            }
            Ok(None) => (!stopped()).then(|| not_seen_again(stored, budget)),
            Err(error) => Some(format!("{} was not shrunk: {error:#}", stored.finding.name)),
        };
        if is_left || why.is_none() {
            progress.whole(stored);
        }
        why.iter().for_each(|why| progress.warned(why));
    }
    progress.finish();
}

/// The finding made smaller, in the place of what was stored; none if it did not recur.
fn smaller(
    stored: &Stored,
    options: &Options,
    budget: Duration,
    progress: &mut Progress,
) -> Result<Option<Stored>> {
    let options = Options { plan: stored.finding.plan.clone(), ..options.clone() };
    let (started, name) = (Instant::now(), &stored.finding.name);
    let seconds = budget.as_secs();
    progress.status(|| format!("shrinking {name}: waiting for it to recur, {seconds} s left"));
    let mut tell = |size| {
        let left = budget.saturating_sub(started.elapsed()).as_secs();
        progress.status(|| format!("shrinking {name}: {size}, {left} s left"));
    };
    let Some(mut shrunk) = shrink::shrink(stored, &options, budget, &mut tell)? else {
        return Ok(None);
    };
    stored.keep_original()?;
    let (history, model) = (&shrunk.round.history, shrunk.finding.model.parse::<Spec>());
    let partials = |witness: &Witness| check::partials(history, &model.ok()?, witness).ok();
    shrunk.finding.explain(partials);
    if stored.finding.plan.engine == Engine::Native {
        fuzz::save(&shrunk)?;
        return Ok(Some(shrunk));
    }
    // A finding without its table is as good as one that has never been explained.
    explain::add(&mut shrunk, &options).ok();
    fuzz::save(&shrunk)?;
    replay::write(&shrunk, &options.library, &options.harness)?;
    Ok(Some(shrunk))
}
