//! `interlap merge`: joins the findings and statistics of several runs of one target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::adapters::harness_program;
use super::ci::{self, Reports};
use super::{overview, print_json};
use crate::adapter::cache::Cache;
use crate::campaign::ledger::Ledger;
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::finding::known;
use crate::finding::known::IssueCount;
use crate::finding::signature::Signature;
use crate::finding::{Finding, Stored};
use crate::report::debugger;
use crate::report::directory;
use crate::report::output::{Output, warning};
use crate::report::results::Run;
use crate::report::warnings;
use crate::report::words::NOTHING_FOUND;
use crate::report::{run, triage as listed};

pub fn run(args: &arguments::Merge, out: &mut Output) -> Result<Outcome> {
    overview::touch(args.html.as_ref())?;
    let reports = Reports::open(&args.ci, args.format.json)?;
    let known = ci::known(&args.ci)?;
    let mut joined: Option<Ledger> = None;
    let mut findings = BTreeMap::new();
    for directory in &args.directories {
        let ledger = Ledger::load(directory)?;
        for name in &ledger.findings {
            keep(&mut findings, Stored::load(&directory.join(name))?);
        }
        match &mut joined {
            None => joined = Some(ledger),
            Some(joined) => {
                for warning in joined.join(ledger)? {
                    warning!("{warning}");
                }
            }
        }
    }
    let Some(mut ledger) = joined else { anyhow::bail!("no runs to merge") };
    // Written only now: the directory may be one of those that were read.
    for stored in findings.values_mut() {
        if args.ci.known.is_some() {
            known.mark(stored);
        }
        // The smaller finding of a recording moves with the recorded one.
        let smaller = Stored::load(&stored.smaller()).ok();
        save(stored, args.out.join(&stored.finding.name))?;
        if let Some(mut smaller) = smaller {
            save(&mut smaller, stored.smaller())?;
        }
    }
    ledger.findings = findings.values().map(|stored| stored.finding.name.clone()).collect();
    let is_known = |stored: &&Stored| stored.finding.known.is_some();
    let known = findings.values().filter(is_known).count();
    (ledger.statistics.findings, ledger.statistics.known) = (findings.len(), known);
    ledger.save(&args.out)?;
    reports.write(vec![Run::of_ledger(&args.out, &ledger)], findings.values().collect(), out)?;
    if let Some(path) = &args.html {
        overview::write(path, &ledger, findings.values())?;
    }
    match args.format.json {
        true => print_json(out, &Json::new(&ledger, &findings, &args.out))?,
        false if reports.take_stdout() => {}
        false => {
            print(&ledger, &findings, out);
            args.html.iter().for_each(|path| overview::print_path(path, out));
        }
    }
    Ok(ledger.statistics.outcome(known < findings.len()))
}

/// Writes a finding that was read from elsewhere into this directory.
fn save(stored: &mut Stored, directory: PathBuf) -> Result<()> {
    let old = std::mem::replace(&mut stored.directory, directory);
    directory::write(stored)?;
    match debugger::library(&old).filter(|library| is_of_cache(library)) {
        Some(library) => debugger::write(stored, &library, &harness_program()?),
        None => Ok(()),
    }
}

/// Whether it was compiled here. Others may have written the path of their own library.
fn is_of_cache(library: &Path) -> bool {
    let Ok(cache) = Cache::for_user() else { return false };
    library.parent() == Some(&*cache.libraries())
}

/// Of two sightings of a finding, keeps the shorter history and the first time. It is known if it
/// is known in both runs.
fn keep(findings: &mut BTreeMap<Signature, Stored>, mut stored: Stored) {
    let signature = stored.finding.first_signature().clone();
    let Some(known) = findings.get_mut(&signature) else {
        findings.insert(signature, stored);
        return;
    };
    let sightings = known.finding.sightings + stored.finding.sightings;
    let issue = stored.finding.known.take().and(known.finding.known.take());
    let (one, two) = (&known.finding, &stored.finding);
    let first = if one.after_seconds <= two.after_seconds { one } else { two };
    let (after_rounds, after_seconds) = (first.after_rounds, first.after_seconds);
    if stored.round.history.len() < known.round.history.len() {
        std::mem::swap(known, &mut stored);
    }
    let finding = &mut known.finding;
    (finding.sightings, finding.known) = (sightings, issue);
    (finding.after_rounds, finding.after_seconds) = (after_rounds, after_seconds);
}

fn print(ledger: &Ledger, findings: &BTreeMap<Signature, Stored>, out: &mut Output) {
    let runs = ledger.parts.len();
    let numbers = run::numbers(ledger, !findings.is_empty(), true);
    write!(out, "{}, {runs} runs. {numbers}", ledger.target);
    let new = findings.values().filter(|stored| stored.finding.known.is_none());
    for (stored, first) in listed::pair_with_first(new.collect()) {
        let (directory, finding) = (stored.directory.display(), &stored.finding);
        let (seen, also) = (finding.sightings, listed::same_bug_note(first));
        writeln!(out, "{directory}: {}, seen {seen} times{also}", finding.signature);
    }
    seen(findings).iter().for_each(|known| writeln!(out, "{}", listed::issue_line(known)));
    match (findings.is_empty(), ledger.statistics.known == findings.len()) {
        (true, _) => match ledger.statistics.untested() {
            Some(why) => writeln!(out, "{}", warnings::untested(why)),
            None => writeln!(out, "{NOTHING_FOUND}."),
        },
        (false, true) => writeln!(out, "Nothing new was found."),
        (false, false) => {}
    }
}

fn seen(findings: &BTreeMap<Signature, Stored>) -> Vec<IssueCount> {
    known::count_issues(findings.values().map(|stored| &stored.finding))
}

/// The output of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    ledger: &'a Ledger,
    directory: &'a Path,
    /// Known issues that were seen.
    known: Vec<IssueCount>,
    details: Vec<&'a Finding>,
}

impl<'a> Json<'a> {
    fn new(
        ledger: &'a Ledger,
        findings: &'a BTreeMap<Signature, Stored>,
        directory: &'a Path,
    ) -> Json<'a> {
        let details = findings.values().map(|stored| &stored.finding).collect();
        Json { ledger, directory, known: seen(findings), details }
    }
}
