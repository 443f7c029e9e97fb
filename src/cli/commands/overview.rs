//! `interlap show` of a run's directory, the page of a run, and the circumstances of a run.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::adapters::Adapters;
use super::{page, print_json};
use crate::adapter::availability::{installed, packages_in_use};
use crate::adapter::compile::{Language, Request};
use crate::campaign::ledger::{Circumstances, LEDGER_FILE, Ledger};
use crate::cli::arguments;
use crate::core::machine::Machine;
use crate::core::outcome::Outcome;
use crate::core::plan::Plan;
use crate::finding::trust::Trusted;
use crate::finding::{PAGE_FILE, Stored};
use crate::fuzz::Summary;
use crate::report::output::Output;
use crate::report::overview;
use crate::report::overview::Found;
use crate::report::run;

/// The characters that are escaped in a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The machine, compiler, packages and times of a run that is over.
pub fn circumstances(
    summary: &Summary,
    plan: &Plan,
    adapters: &Adapters,
    began: SystemTime,
) -> Circumstances {
    // The adapter may have been removed meanwhile.
    let Built { compiler, flags, packages } = built(plan, adapters).unwrap_or_default();
    let statistics = &summary.statistics;
    Circumstances {
        interlap: env!("CARGO_PKG_VERSION").to_string(),
        machine: Machine::here(),
        compiler,
        flags,
        packages,
        target: summary.hello.target.clone(),
        clock: summary.hello.clock.clone(),
        began: began.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        seconds: statistics.elapsed.as_secs_f64(),
        rounds: statistics.rounds,
        ended: summary.ending,
    }
}

/// What a target was built with.
#[derive(Default)]
struct Built {
    compiler: String,
    flags: Vec<String>,
    packages: Vec<String>,
}

fn built(plan: &Plan, adapters: &Adapters) -> Result<Built> {
    let (request, toolchain) = (adapters.request(plan, Trusted::by_user())?, adapters.toolchain());
    let flags = request.all_flags(&adapters.find(&plan.build.adapter)?.head);
    let request = Request { flags, ..request };
    let compiler = toolchain.compiler(Language::from_path(&request.source)?)?.identity();
    let packages = installed(&packages_in_use(toolchain, &request)?);
    Ok(Built { compiler, flags: request.flags, packages })
}

/// Writes the page of the ledger's runs.
pub fn write<'a>(
    path: &Path,
    ledger: &Ledger,
    findings: impl IntoIterator<Item = &'a Stored>,
) -> Result<()> {
    let found: Vec<Found> = findings.into_iter().map(|stored| found(path, stored)).collect();
    page::write(path, &overview::render(ledger, &found))
}

fn found(page: &Path, stored: &Stored) -> Found {
    let finding = &stored.finding;
    Found {
        name: finding.name.clone(),
        signature: finding.signature.to_string(),
        sightings: finding.sightings,
        after_seconds: finding.after_seconds,
        confirmed: finding.confirmed,
        link: link(page, &stored.directory.join(PAGE_FILE)),
    }
}

/// The relative link from one file to another, so that both can be moved together.
pub fn link(from: &Path, to: &Path) -> String {
    let absolute = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>()
    };
    let (from, to) = (absolute(from), absolute(to));
    let from: Vec<Component> = from.parent().into_iter().flat_map(Path::components).collect();
    let to: Vec<Component> = to.components().collect();
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[common..].iter().map(|_| "..".to_string());
    let encoded =
        |part: &Component| percent_encode(part.as_os_str().as_bytes(), ESCAPED).to_string();
    let down = to[common..].iter().map(encoded);
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Whether it is the directory of a run, not of a finding.
pub fn is_run(directory: &Path) -> bool {
    directory.join(LEDGER_FILE).is_file()
}

/// `interlap show` of a run.
pub fn show(args: &arguments::Show, out: &mut Output) -> Result<Outcome> {
    let directory = &args.finding;
    let ledger = Ledger::load(directory)?;
    if args.history {
        bail!("{} is a run; --history shows that of a finding in it", directory.display());
    }
    if args.format.json {
        print_json(out, &ledger)?;
        return Ok(Outcome::NothingFound);
    }
    let load = |name: &String| Stored::load(&directory.join(name));
    let findings: Vec<Stored> = ledger.findings.iter().map(load).collect::<Result<_>>()?;
    if let Some(path) = &args.html {
        write(path, &ledger, &findings)?;
        writeln!(out, "{}: opens in any browser", path.display());
        return Ok(Outcome::NothingFound);
    }
    write!(out, "{}. {}", ledger.target, run::numbers(&ledger, false, true));
    for stored in &findings {
        writeln!(out, "{}: {}", stored.directory.display(), stored.finding.signature);
    }
    Ok(Outcome::NothingFound)
}

/// Prints where the page of a run was written.
pub fn print_path(path: &Path, out: &mut Output) {
    writeln!(out, "{}: the page of this run, opens in any browser", path.display());
}

/// Fails if a page cannot be written there.
pub fn touch(path: Option<&PathBuf>) -> Result<()> {
    path.map_or(Ok(()), |path| page::touch(path)).context("--html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_and_survive_odd_names() {
        let link = |from: &str, to: &str| link(Path::new(from), Path::new(to));
        assert_eq!(link("run.html", "findings/x-1/page.html"), "findings/x-1/page.html");
        assert_eq!(link("./a/run.html", "findings/x"), "../findings/x");
        assert_eq!(link("/a/b/run.html", "/a/c d/#1"), "../c%20d/%231");
    }
}
