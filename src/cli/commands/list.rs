//! `interlap targets`, `new` and `doctor`: lists the bundled targets, writes a template adapter,
//! and reports what this machine can do.

use anyhow::Result;
use serde::Serialize;

use super::adapters::Adapters;
use super::fuzz::chosen_rr;
use super::print_json;
use crate::adapter::availability::{MissingHeader, missing_headers};
use crate::adapter::catalog::{Adapter, Origin};
use crate::adapter::compile::{Flavour, Request};
use crate::adapter::scaffold;
use crate::cli::arguments;
use crate::cli::arguments::{Format, New};
use crate::cli::doctor;
use crate::core::outcome::Outcome;
use crate::core::plan::Recorder;
use crate::process::rr::Rr;
use crate::report::output::Output;

/// A bundled target with its missing headers.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    adapter: &'a Adapter,
    missing: Vec<MissingHeader>,
}

pub fn targets(format: Format, out: &mut Output) -> Result<Outcome> {
    let adapters = Adapters::open()?;
    let mut listed = Vec::new();
    for adapter in adapters.catalog().bundled() {
        let request = Request {
            source: adapter.source.clone(),
            flavour: Flavour::Plain,
            include_dirs: Vec::new(),
            libraries: Vec::new(),
            flags: adapter.head.flags.clone(),
        };
        let missing = missing_headers(adapters.toolchain(), &request)?;
        listed.push(Listed { adapter, missing });
    }
    if format.json {
        print_json(out, &listed)?;
        return Ok(Outcome::NothingFound);
    }
    let print = |origin: Origin, out: &mut Output| {
        for target in listed.iter().filter(|target| target.adapter.origin == origin) {
            print_target(target, out);
        }
    };
    writeln!(out, "Bundled targets (interlap fuzz NAME):\n");
    print(Origin::Bundled, out);
    writeln!(out, "\nThe same structures with one seeded bug each, to see a finding:\n");
    print(Origin::Broken, out);
    Ok(Outcome::NothingFound)
}

fn print_target(target: &Listed, out: &mut Output) {
    let head = &target.adapter.head;
    let model = head.model.as_deref().unwrap_or("by its methods");
    writeln!(out, "  {:<26} {model:<18} {}", target.adapter.name, head.description);
    let mut detail = |text: &str| writeln!(out, "  {:<26} {text}", "");
    if let Some(guarantee) = &head.guarantee {
        detail(&format!("Guarantee: {guarantee}"));
    }
    if let Some(source) = &head.source {
        detail(&format!("Source: {source}"));
    }
    if target.adapter.origin == Origin::Bundled {
        let engine = if head.hookable { "controlled, native" } else { "native" };
        detail(&format!("Engine: {engine}"));
    }
    if let Some(bug) = &head.bug {
        detail(&format!("Bug: {bug}"));
    }
    if head.native == Some(false) {
        detail("Native threads hardly reach it.");
    }
    for missing in &target.missing {
        detail(&format!("Not available: <{}> is missing; {}", missing.header, missing.advice));
    }
}

pub fn new(args: &New, out: &mut Output) -> Result<Outcome> {
    let path = scaffold::new_adapter(&args.family, &args.name, &args.dir)?;
    let path = path.display();
    writeln!(out, "Wrote {path}. It runs as it is:\n\n  interlap fuzz {path}\n");
    writeln!(out, "Then put your structure in the place of the one in it.");
    Ok(Outcome::NothingFound)
}

pub fn doctor(args: &arguments::Doctor, out: &mut Output) -> Result<Outcome> {
    let rr = Rr::new(&chosen_rr(&args.rr, &Recorder::default())?);
    let facts = doctor::examine(Adapters::open()?.toolchain(), &rr);
    if args.format.json {
        print_json(out, &facts)?;
    } else {
        facts.iter().for_each(|fact| writeln!(out, "{fact}"));
    }
    Ok(Outcome::NothingFound)
}
