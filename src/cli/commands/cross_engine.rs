//! Searches for a finding that rr recorded with the other engines, whose rounds cost less.
//! The smaller finding is written to a directory inside the recording's, and each of the two names
//! the other. The search is in [`crate::shrink`].

use std::time::Duration;

use anyhow::{Result, bail};

use super::adapters::Adapters;
use super::shrink::complete;
use crate::adapter::compile::Compiled;
use crate::core::plan::{Engine, Plan, quoted};
use crate::finding::Stored;
use crate::finding::cross_engine::{Attempt, CrossEngine, Smaller};
use crate::finding::sources::Sources;
use crate::fuzz::Options;
use crate::fuzz::engine::require_hooks;
use crate::report::directory;
use crate::report::progress::Progress;
use crate::shrink;

/// Searches for a recorded finding for at most `budget`. Returns the smaller finding, unless an
/// earlier search had a better one.
pub fn search(
    stored: &mut Stored,
    options: &Options,
    budget: Duration,
    progress: &mut Progress,
) -> Result<Option<Stored>> {
    let (name, time) = (stored.finding.name.clone(), shrink::time_for(stored, options, budget));
    let options = &Options { time, ..options.clone() };
    let left = || options.time.remaining().as_secs();
    progress.status(|| format!("looking for {name} with other engines, {} s left", left()));
    let mut report = |size| {
        progress.status(|| format!("shrinking {name}: {size}, {} s left", left()));
    };
    let prepared = |engine| prepared(engine, stored, options);
    let sought = shrink::with_other_engines(stored, &prepared, &mut report);
    let before =
        stored.finding.cross_engine.as_ref().and_then(|elsewhere| elsewhere.smaller.clone());
    let is_kept =
        |shown: &Stored| before.as_ref().is_none_or(|before| shrink::is_as_good_as(shown, before));
    let mut shown = sought.shown.filter(is_kept);
    if let Some(shown) = &mut shown {
        complete(shown, &prepared(shown.finding.plan.engine)?)?;
    }
    let smaller = shown.as_ref().map(shrink::smaller_of).or(before);
    stored.finding.cross_engine = Some(CrossEngine { tried: sought.tried, smaller });
    directory::write(stored)?;
    Ok(shown)
}

/// The options of a run of the finding's plan with that engine.
fn prepared(engine: Engine, stored: &Stored, options: &Options) -> Result<Options> {
    let mut plan = Plan { engine, ..stored.finding.plan.clone() };
    let adapters = Adapters::open()?;
    let is_hooked = engine == Engine::Controlled;
    if is_hooked && !adapters.find(&plan.build.adapter)?.head.hookable {
        bail!("its adapter says `Engine: native`");
    }
    let Compiled { library, inputs, .. } = adapters.compile(&plan, options.trusted)?;
    let sources = Sources::of_inputs(inputs);
    if is_hooked {
        require_hooks(&library, &mut plan.control)?;
    }
    Ok(Options { plan, library, sources, keep: None, wanted: None, ..options.clone() })
}

/// Updates the recorded finding above a smaller one that was shrunk again.
pub fn update_recorded(shown: &Stored) -> Result<()> {
    let Some(directory) = shown.directory.parent() else { return Ok(()) };
    // A copied finding may have none above it.
    let Ok(mut recorded) = Stored::load(directory) else { return Ok(()) };
    let Some(elsewhere) = &mut recorded.finding.cross_engine else { return Ok(()) };
    let is_other = |known: &Smaller| known.name != shown.finding.name;
    if elsewhere.smaller.as_ref().is_none_or(is_other) {
        return Ok(());
    }
    elsewhere.smaller = Some(shrink::smaller_of(shown));
    directory::write(&recorded)
}

/// The message that no engine showed the finding.
pub fn not_shown(stored: &Stored) -> String {
    let (name, elsewhere) = (&stored.finding.name, stored.finding.cross_engine.as_ref());
    let tried: &[Attempt] = elsewhere.map_or(&[], |elsewhere| &elsewhere.tried);
    let again = quoted(&stored.directory.display().to_string());
    let stands = match elsewhere.and_then(|elsewhere| elsewhere.smaller.as_ref()) {
        Some(before) => format!("what was shown before ({}) stays", before.name),
        None => "the recording stands, and shows it each time".to_string(),
    };
    format!(
        "{name} was not shown {}: {stands}; try longer: interlap shrink {again} --for 5m",
        attempts(tried)
    )
}

/// "in 20,300 rounds of the controlled engine in 4.0 s, nor in ...".
fn attempts(tried: &[Attempt]) -> String {
    let each: Vec<String> = tried.iter().map(|tried| format!("in {tried}")).collect();
    each.join(", nor ")
}
