//! `interlap merge`: the findings and statistics of several runs of one target, joined.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::workshop::harness_program;
use super::{Outcome, print_json};
use crate::cli;
use crate::finding::{Finding, Stored};
use crate::fuzz;
use crate::ledger::Ledger;
use crate::replay;
use crate::report::coverage;
use crate::report::progress::summary_line;

pub fn run(args: &cli::Merge) -> Result<Outcome> {
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
                    eprintln!("warning: {warning}");
                }
            }
        }
    }
    let Some(mut ledger) = joined else { anyhow::bail!("no runs to merge") };
    // Written only now, so that the directory may be one of those that were read.
    for stored in findings.values_mut() {
        let new = args.out.join(&stored.finding.name);
        let old = std::mem::replace(&mut stored.directory, new);
        fuzz::save(stored)?;
        if let Some(library) = replay::library(&old) {
            replay::write(stored, &library, &harness_program()?)?;
        }
    }
    ledger.findings = findings.values().map(|stored| stored.finding.name.clone()).collect();
    ledger.statistics.findings = findings.len();
    ledger.save(&args.out)?;
    match args.format.json {
        true => print_json(&Json::of(&ledger, &findings, &args.out))?,
        false => print(&ledger, &findings),
    }
    Ok(if findings.is_empty() { Outcome::NothingFound } else { Outcome::Found })
}

/// Of two sightings of one finding the shorter history is kept, and the first time.
fn keep(findings: &mut BTreeMap<String, Stored>, mut stored: Stored) {
    let signature = stored.finding.first_signature().to_string();
    let Some(known) = findings.get_mut(&signature) else {
        findings.insert(signature, stored);
        return;
    };
    let sightings = known.finding.sightings + stored.finding.sightings;
    let (one, two) = (&known.finding, &stored.finding);
    let first = if one.after_seconds <= two.after_seconds { one } else { two };
    let (after_rounds, after_seconds) = (first.after_rounds, first.after_seconds);
    if stored.round.history.len() < known.round.history.len() {
        std::mem::swap(known, &mut stored);
    }
    let finding = &mut known.finding;
    finding.sightings = sightings;
    (finding.after_rounds, finding.after_seconds) = (after_rounds, after_seconds);
}

fn print(ledger: &Ledger, findings: &BTreeMap<String, Stored>) {
    let runs = ledger.parts.len();
    println!("{}, {runs} runs. {}", ledger.target, summary_line(&ledger.statistics));
    if let Some(covered) = &ledger.statistics.coverage {
        println!("{}", coverage::table(covered).trim_end());
        coverage::remarks(covered).iter().for_each(|remark| println!("{remark}"));
    }
    for stored in findings.values() {
        let (directory, finding) = (stored.directory.display(), &stored.finding);
        println!("{directory}: {}, seen {} times", finding.signature, finding.sightings);
    }
    if findings.is_empty() {
        println!("Nothing found.");
    }
}

/// The same for a machine.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    ledger: &'a Ledger,
    directory: &'a Path,
    details: Vec<&'a Finding>,
}

impl<'a> Json<'a> {
    fn of(
        ledger: &'a Ledger,
        findings: &'a BTreeMap<String, Stored>,
        directory: &'a Path,
    ) -> Json<'a> {
        let details = findings.values().map(|stored| &stored.finding).collect();
        Json { ledger, directory, details }
    }
}
