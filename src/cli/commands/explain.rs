//! `interlap explain`: reruns a finding's round and shows what its threads did, as a table.
//! The table is stored with the finding. Of a finding that may not be run, the stored one is shown.

use anyhow::{Context, Result, bail};

use super::fuzz::rerun_options;
use super::{place, print_json, stop_flag};
use crate::binary::symbols::SourceLines;
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, quoted};
use crate::explain;
use crate::finding::interleaving::Interleaving;
use crate::finding::{Failure, Stored};
use crate::fuzz::{self, Options, Sighting};
use crate::report::directory;
use crate::report::output::{Output, note};
use crate::report::{interleaving, text};
use crate::trace::trail::Event;

pub fn run(args: &arguments::Explain, out: &mut Output) -> Result<Outcome> {
    let mut stored = Stored::load(&args.finding)?;
    let finding = &stored.finding;
    if finding.plan.engine != Engine::Controlled {
        bail!(
            "{} was not found by the controlled engine, and only that one sees what threads do; {}",
            finding.name,
            instead(&stored)
        );
    }
    let outcome = match place::settle(&mut stored, args.trust, &args.place) {
        Ok(trusted) => {
            let (stop, finding) = (stop_flag()?, &stored.finding);
            let options = rerun_options(finding, trusted, &args.finding, &args.run, stop)?;
            add(&mut stored, &options)?;
            directory::write(&stored)?;
            Outcome::Found
        }
        // Its own table is shown, which takes no run.
        Err(error) if stored.interleaving.is_some() => {
            note!("{error:#}. Nothing was run: this table was stored with it");
            Outcome::NotDecided
        }
        Err(error) => return Err(error),
    };
    let table = stored.interleaving.as_ref().context("it was just added")?;
    if args.run.format.json {
        print_json(out, table)?;
    } else {
        let drain = stored.round.history.drain;
        let finding = &stored.finding;
        writeln!(out, "{}\n", text::subject(&finding.plan, &stored.hello.target, &finding.model));
        write!(out, "{}", interleaving::draw(table, drain, args.all, usize::MAX));
    }
    Ok(outcome)
}

/// The advice for a finding of another engine.
fn instead(stored: &Stored) -> String {
    let elsewhere = stored.finding.cross_engine.as_ref();
    let smaller = elsewhere.and_then(|elsewhere| elsewhere.smaller.as_ref());
    match smaller.is_some_and(|smaller| smaller.engine == Engine::Controlled) {
        true => {
            let directory = quoted(&stored.smaller().display().to_string());
            format!("what that engine showed of it: `interlap explain {directory}`")
        }
        false => {
            "`interlap show` has the calls, and its report says how to hunt it with that engine"
                .to_string()
        }
    }
}

/// The steps after which the rerun of a livelock ends: a trail keeps only the last steps, and the
/// livelock begins early.
const LIVELOCK_STEPS: u64 = 4096;

fn is_livelock(stored: &Stored) -> bool {
    stored.finding.signature.is_livelock()
}

/// Adds the table to a finding, and to a fault the places that the rerun saw.
pub fn add(stored: &mut Stored, options: &Options) -> Result<()> {
    let (table, seen) = rerun_with_trail(stored, options)?;
    let seen = seen.finding;
    stored.interleaving = Some(table);
    if let Failure::Fault { places, .. } = &mut stored.finding.what
        && let Failure::Fault { places: seen_places, .. } = seen.what
        && seen.signature == stored.finding.signature
    {
        *places = seen_places;
    }
    Ok(())
}

/// The table of a finding's round, and its trail with whether other threads can notice each event.
pub fn table_and_trail(
    stored: &Stored,
    options: &Options,
) -> Result<(Interleaving, Vec<(Event, bool)>)> {
    let (table, seen) = rerun_with_trail(stored, options)?;
    let trail = seen.round.end.steps.and_then(|steps| steps.trail).unwrap_or_default();
    Ok((table, explain::mark_visible(stored, &trail)))
}

/// Reruns the round with a trail. Returns the table and the sighting; an error if the history
/// differs, or the round ends the process.
fn rerun_with_trail(stored: &Stored, options: &Options) -> Result<(Interleaving, Sighting)> {
    let name = &stored.finding.name;
    let mut options = Options { plan: stored.finding.plan.clone(), ..options.clone() };
    options.plan.control.trail = true;
    let again = |options: &Options| -> Result<Option<Sighting>> {
        let seen = fuzz::rerun(options, stored.finding.round)?;
        let same = seen.into_iter().filter(|seen| seen.round.history == stored.round.history);
        Ok(same.max_by_key(|seen| seen.finding.signature == stored.finding.signature))
    };
    let mut same = None;
    if is_livelock(stored) {
        let mut short = options.clone();
        short.plan.control.steps_max = LIVELOCK_STEPS.min(short.plan.control.steps_max);
        same = again(&short)?;
    }
    if same.is_none() {
        same = again(&options)?;
    }
    let mut same = same.with_context(|| {
        format!(
            "{name} did not recur as it was found; `interlap replay` says whether it still does: \
             the target may have been changed since"
        )
    })?;
    let mut lines = SourceLines::for_library(&options.library);
    let seen = (&same.round, &mut same.finding.what);
    let table = explain::interleaving(stored, seen, &mut lines).with_context(|| {
        format!(
            "{name} ends the target's process, and what its threads did until then is lost with \
             it; `interlap replay {} --gdb` stops at the fault, with every thread",
            stored.directory.display()
        )
    })?;
    Ok((table, same))
}
