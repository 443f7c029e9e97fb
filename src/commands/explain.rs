//! `interlap explain`: a stored finding comes in, its round is run once more, and what its threads
//! did goes out as a table, which is kept with the finding.

use anyhow::{Context, Result, bail};

use super::{Outcome, print_json, stop_flag};
use crate::cli;
use crate::commands::fuzz::rerun;
use crate::explain;
use crate::finding::Stored;
use crate::fuzz::{self, Options, Sighting};
use crate::interleaving::Interleaving;
use crate::plan::Engine;
use crate::report::{interleaving, text};
use crate::symbols::SourceLines;

pub fn run(args: &cli::Explain) -> Result<Outcome> {
    let mut stored = Stored::load(&args.finding)?;
    let finding = &stored.finding;
    if finding.plan.engine != Engine::Controlled {
        bail!(
            "{} was not found by the controlled engine, and only that one sees what threads do; \
             `interlap show` has the calls, and its report says how to hunt it with that engine",
            finding.name
        );
    }
    let (signature, stop) = (finding.signature.clone(), stop_flag()?);
    let options = rerun(&finding.plan, &signature, &args.finding, &args.run, stop)?;
    let table = table(&stored, &options)?;
    if args.run.format.json {
        print_json(&table)?;
    } else {
        let drain = stored.round.history.drain;
        println!("{}\n", text::subject(&finding.plan, &stored.hello.target, &finding.model));
        print!("{}", interleaving::draw(&table, drain, args.all, usize::MAX));
    }
    stored.interleaving = Some(table);
    fuzz::save(&stored)?;
    Ok(Outcome::Found)
}

/// Steps of a livelock that are told: it begins before most of them, and trails end with what was
/// done last.
const LIVELOCK_STEPS: u64 = 4096;

fn is_livelock(stored: &Stored) -> bool {
    stored.finding.signature.starts_with("livelock")
}

/// What the threads of a finding's round did, if it goes as it went and does not end the process.
pub fn table(stored: &Stored, options: &Options) -> Result<Interleaving> {
    let name = &stored.finding.name;
    let mut options = Options { plan: stored.finding.plan.clone(), ..options.clone() };
    options.plan.control.trail = true;
    let again = |options: &Options| -> Result<Option<Sighting>> {
        let seen = fuzz::again(options, stored.finding.round)?;
        Ok(seen.into_iter().find(|seen| seen.round.history == stored.round.history))
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
    let same = same.with_context(|| {
        format!(
            "{name} did not recur as it was found; `interlap replay` says whether it still does: \
             the target may have been changed since"
        )
    })?;
    let mut lines = SourceLines::of(&options.library);
    explain::interleaving(stored, (&same.round, &same.finding.what), &mut lines).with_context(|| {
        format!(
            "{name} ends the target's process, and what its threads did until then is lost with \
             it; `interlap replay {} --gdb` stops at the fault, with every thread",
            stored.directory.display()
        )
    })
}
