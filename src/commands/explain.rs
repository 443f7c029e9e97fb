//! `interlap explain`: a stored finding comes in, its round is run once more, and what its threads
//! did goes out as a table, which is kept with the finding.

use anyhow::{Context, Result, bail};

use super::{Outcome, print_json, stop_flag};
use crate::cli;
use crate::commands::fuzz::rerun;
use crate::explain;
use crate::finding::Stored;
use crate::fuzz::{self, Options};
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
    let table = table(&stored, &options)?.with_context(|| {
        format!("{} did not recur as it was found: was the target changed since?", finding.name)
    })?;
    if args.run.format.json {
        print_json(&table)?;
    } else {
        let drain = stored.round.start.threads;
        println!("{}\n", text::subject(&finding.plan, &stored.hello.target, &finding.model));
        print!("{}", interleaving::draw(&table, drain, args.all, usize::MAX));
    }
    stored.interleaving = Some(table);
    fuzz::save(&stored)?;
    Ok(Outcome::Found)
}

/// What the threads of a finding's round did, if it goes as it went.
pub fn table(stored: &Stored, options: &Options) -> Result<Option<Interleaving>> {
    let mut options = Options { plan: stored.finding.plan.clone(), ..options.clone() };
    options.plan.control.trail = true;
    let seen = fuzz::again(&options, stored.finding.round)?;
    let same = seen.into_iter().find(|seen| seen.round.history == stored.round.history);
    let mut lines = SourceLines::of(&options.library);
    Ok(same.and_then(|same| explain::interleaving(stored, &same.round, &mut lines)))
}
