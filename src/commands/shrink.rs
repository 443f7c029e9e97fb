//! `interlap shrink`, and what `interlap fuzz` does with what it found: a stored finding comes in,
//! the smallest one that was found in the given time takes its place on disk.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;

use super::{Outcome, explain, print_json, stop_flag};
use crate::cli;
use crate::commands::fuzz::rerun;
use crate::finding::{Finding, Stored};
use crate::fuzz::{self, Observer, Options, Summary};
use crate::plan::Engine;
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
    if finding.plan.engine != Engine::Controlled {
        bail!(
            "{} was found {}, where threads run differently each time, so that nothing can be \
             left out for certain; only findings of the controlled engine are shrunk. Hunt it with \
             `--engine controlled`, as its report says",
            finding.name,
            if finding.plan.engine == Engine::Rr { "under rr" } else { "with native threads" },
        );
    }
    if stored.round.start.sequential {
        bail!("{} shows when one call is made at a time; `interlap show` has them", finding.name);
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
        println!("{}", not_seen_again(&stored));
    }
    Ok(if done { Outcome::Found } else { Outcome::NotDecided })
}

fn not_seen_again(stored: &Stored) -> String {
    let name = &stored.finding.name;
    format!("{name} was not shrunk: its round did not show it again in time. Nothing was changed.")
}

/// Shrinks what a run of the controlled engine found, for at most `budget` each. What cannot be
/// shrunk stays as it was found.
pub fn findings(summary: &mut Summary, options: &Options, budget: Duration, json: bool) {
    // Time is for what is new.
    let wanted =
        |stored: &Stored| stored.finding.confirmed == Some(true) && stored.finding.known.is_none();
    let stopped = options.stop.load(Ordering::Relaxed);
    if budget.is_zero() || stopped || options.plan.engine != Engine::Controlled {
        return;
    }
    let mut progress = Progress::new(None, json);
    for stored in summary.findings.iter_mut().filter(|stored| wanted(stored)) {
        match smaller(stored, options, budget, &mut progress) {
            Ok(Some(shrunk)) => {
                *stored = shrunk;
                progress.shrunk(stored);
            }
            Ok(None) => {}
            Err(error) => {
                progress.warned(&format!("{} was not shrunk: {error:#}", stored.finding.name));
            }
        }
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
    let mut tell = |size| {
        let left = budget.saturating_sub(started.elapsed()).as_secs();
        progress.status(|| format!("shrinking {name}: {size}, {left} s left"));
    };
    let Some(mut shrunk) = shrink::shrink(stored, &options, budget, &mut tell)? else {
        return Ok(None);
    };
    // A finding without its table is as good as one that has never been explained.
    shrunk.interleaving = explain::table(&shrunk, &options).ok();
    stored.keep_original()?;
    fuzz::save(&shrunk)?;
    replay::write(&shrunk, &options.library, &options.harness)?;
    Ok(Some(shrunk))
}
