//! Finds what a finding was compiled from where it lies now, and decides whether it may be compiled
//! and run.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::adapters::Adapters;
use super::{fuzz, trust};
use crate::adapter::relocation::Relocation;
use crate::cli::arguments;
use crate::core::paths::normalised;
use crate::core::plan::Build;
use crate::finding::sources::Sources;
use crate::finding::trust::Trusted;
use crate::finding::{Finding, Stored};
use crate::report::output::note;

/// Puts the build of the finding's plan where its sources are now, and says which of them changed.
///
/// A mark shows that the finding was made here, not what lies where it was moved to. So files that
/// only the finding names must be those that it was compiled from, unless the user trusts it.
pub fn settle(
    stored: &mut Stored,
    by_user: arguments::Trust,
    place: &arguments::Place,
) -> Result<Trusted> {
    let trusted = trust::of(stored, by_user)?;
    let finding = &mut stored.finding;
    let before = PathBuf::from(&finding.plan.build.adapter);
    let adapter = match &place.adapter {
        Some(path) => Adapters::open()?.find(path)?.plan_name(),
        None => adapter_of(finding)?,
    };
    let relocation = Relocation::of(&before, Path::new(&adapter));
    let then = sources_then(finding);
    let kept = without_named(&finding.plan.build, place);
    let was_used = |path: &Path| then.paths().any(|source| source.starts_with(normalised(path)));
    let build = with_named(relocation.build(&kept, was_used)?, adapter, place)?;
    if let Some(shrunk) = &mut finding.shrunk {
        shrunk.plan.build = build.clone();
    }
    finding.plan.build = build;
    finding.sources = then.at(|path| relocation.path(path));
    let is_moved = Path::new(&finding.plan.build.adapter) != before;
    if is_moved && place.adapter.is_none() && !by_user.given {
        require_same(finding, trusted)?;
    }
    tell_changes(finding);
    Ok(trusted)
}

/// Whether an adapter is named by its path, as those of users are.
fn is_path(adapter: &str) -> bool {
    adapter.contains('/')
}

/// The adapter: where it was as seen from the finding, else where it was.
fn adapter_of(finding: &Finding) -> Result<String> {
    let stored = &finding.plan.build.adapter;
    if !is_path(stored) {
        return Ok(stored.clone());
    }
    let mut places = finding.sources.adapter().into_iter().chain([Path::new(stored)]);
    if let Some(found) = places.find(|path| path.is_file()) {
        return Ok(found.display().to_string());
    }
    bail!(
        "cannot find {stored}, the adapter of {}; say where it is now with --adapter PATH",
        finding.name
    )
}

/// The sources where they were when the finding was made: as they lie around the adapter.
fn sources_then(finding: &Finding) -> Sources {
    let (sources, stored) = (&finding.sources, &finding.plan.build.adapter);
    match sources.adapter() {
        Some(own) if is_path(stored) => {
            let back = Relocation::of(own, Path::new(stored));
            sources.at(|path| back.beside(path))
        }
        _ => sources.clone(),
    }
}

/// The build without what the user names instead, which is not missed.
fn without_named(build: &Build, place: &arguments::Place) -> Build {
    let arguments::Build { include_dirs, flags, .. } = &place.build;
    let mut kept = build.clone();
    if !include_dirs.is_empty() {
        kept.include_dirs.clear();
    }
    if !flags.is_empty() {
        kept.flags.clear();
    }
    kept
}

fn with_named(found: Build, adapter: String, place: &arguments::Place) -> Result<Build> {
    let arguments::Build { include_dirs, libraries, flags } = &place.build;
    let mut build = Build { adapter, ..found };
    if !include_dirs.is_empty() {
        build.include_dirs = fuzz::absolute(include_dirs)?;
    }
    if !libraries.is_empty() {
        build.libraries = libraries.clone();
    }
    if !flags.is_empty() {
        build.flags = fuzz::flags(flags)?;
    }
    Ok(build)
}

/// Compiles the finding where it was moved to; an error if that reads other files than then.
fn require_same(finding: &Finding, trusted: Trusted) -> Result<()> {
    let compiled = Adapters::open()?.compile(&finding.plan, trusted)?;
    let now = Sources::of_inputs(compiled.inputs);
    let Some(other) = now.first_not_in(&finding.sources) else { return Ok(()) };
    let (name, other, adapter) = (&finding.name, other.display(), &finding.plan.build.adapter);
    bail!(
        "{name} was moved, and {other} is not what it was compiled from: it may be code of \
         others. To compile and run it, name the adapter (--adapter {adapter}), or add --trust"
    )
}

fn tell_changes(finding: &Finding) {
    let changed = finding.sources.changed();
    let Some(first) = changed.first() else { return };
    let more = match changed.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    note!("changed since {} was found: {}{more}", finding.name, first.display());
}
