//! `interlap targets`, `new` and `doctor`: lists the bundled targets, writes a template adapter,
//! and reports what this machine can do.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::adapters::Adapters;
use super::fuzz::chosen_rr;
use super::print_json;
use crate::adapter::availability::{MissingHeader, missing_headers};
use crate::adapter::catalog::{Adapter, Origin};
use crate::adapter::compile::{Language, Request};
use crate::adapter::{scaffold, specified};
use crate::cli::arguments;
use crate::cli::arguments::{Format, New};
use crate::cli::doctor;
use crate::core::columns;
use crate::core::outcome::Outcome;
use crate::core::plan::Recorder;
use crate::model::Specified;
use crate::process::rr::Rr;
use crate::report::output::Output;

/// A bundled target with its missing headers.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    adapter: Adapter,
    missing: Vec<MissingHeader>,
}

pub fn targets(format: Format, out: &mut Output) -> Result<Outcome> {
    let adapters = Adapters::open()?;
    let mut listed = Vec::new();
    for adapter in adapters.catalog().bundled() {
        let request = Request { source: adapter.source.clone(), ..Request::default() };
        let missing = missing_headers(adapters.toolchain(), &request)?;
        listed.push(Listed { adapter, missing });
    }
    if format.json {
        print_json(out, &listed)?;
        return Ok(Outcome::NothingFound);
    }
    let table = |origin: Origin| {
        let all = listed.iter().filter(|target| target.adapter.origin == origin);
        columns::table(&all.flat_map(rows).collect::<Vec<_>>(), 0..0, "  ")
    };
    writeln!(out, "Bundled targets (interlap fuzz NAME):\n\n{}", table(Origin::Bundled));
    writeln!(out, "The same structures with one seeded bug each, to see a finding:\n");
    write!(out, "{}", table(Origin::Broken));
    Ok(Outcome::NothingFound)
}

/// The target's name, model and description, and below them what else is known.
fn rows(target: &Listed) -> Vec<[String; 3]> {
    let head = &target.adapter.head;
    let model = head.model.as_deref().unwrap_or("by its methods");
    let first = [target.adapter.name.clone(), model.to_string(), head.description.clone()];
    let mut rows = vec![first];
    let mut detail = |text: String| rows.push([String::new(), String::new(), text]);
    if let Some(guarantee) = &head.guarantee {
        detail(format!("Guarantee: {guarantee}"));
    }
    if let Some(source) = &head.source {
        detail(format!("Source: {source}"));
    }
    if target.adapter.origin == Origin::Bundled {
        let engine = if head.hookable { "controlled, native" } else { "native" };
        detail(format!("Engine: {engine}"));
    }
    if let Some(bug) = &head.bug {
        detail(format!("Bug: {bug}"));
    }
    if head.native == Some(false) {
        detail("Native threads hardly reach it.".to_string());
    }
    for missing in &target.missing {
        detail(format!("Not available: <{}> is missing; {}", missing.header, missing.advice));
    }
    rows
}

pub fn new(args: &New, out: &mut Output) -> Result<Outcome> {
    if let Some(specification) = &args.spec {
        return new_from(specification, args, out);
    }
    let (family, name) = args.family.as_deref().zip(args.name.as_deref()).expect("both are given");
    if family == scaffold::MODEL {
        let path = scaffold::new_model(name, &args.dir)?;
        let path = path.display();
        writeln!(out, "Wrote {path}, a model of what `interlap new custom` writes:\n");
        writeln!(out, "  interlap new custom semaphore");
        writeln!(out, "  interlap fuzz semaphore.cpp --model-crate {path}\n");
        writeln!(out, "Then put your calls and your model in the place of those in src/main.rs.");
        return Ok(Outcome::NothingFound);
    }
    let language = if args.c { Language::C } else { Language::Cpp };
    let path = scaffold::new_adapter(language, family, name, &args.dir)?;
    let path = path.display();
    writeln!(out, "Wrote {path}. It runs as it is:\n\n  interlap fuzz {path}\n");
    writeln!(out, "Then put your structure in the place of the one in it.");
    Ok(Outcome::NothingFound)
}

/// Writes an adapter for what a specification is about.
fn new_from(specification: &Path, args: &New, out: &mut Output) -> Result<Outcome> {
    let name = match (&args.family, &args.name) {
        (Some(name), None) => name,
        (Some(family), Some(_)) => anyhow::bail!(
            "{family}: the specification says what kind of structure it is; give NAME alone"
        ),
        _ => {
            anyhow::bail!("a name is missing: interlap new --spec {} NAME", specification.display())
        }
    };
    let methods = Specified::methods(specification, args.cfg.as_deref())?;
    if methods.is_empty() {
        anyhow::bail!("{}: no action, of which each would be a method", specification.display());
    }
    let path = specified::new_adapter(specification, &methods, name, &args.dir)?;
    let (path, specification) = (path.display(), specification.display());
    writeln!(
        out,
        "Wrote {path}. Put calls of your structure into its methods; it compiles as it is:\n"
    );
    writeln!(out, "  interlap fuzz {path} --model {specification}\n");
    Ok(Outcome::NothingFound)
}

pub fn doctor(args: &arguments::Doctor, out: &mut Output) -> Result<Outcome> {
    let rr = Rr::new(&chosen_rr(&args.rr, &Recorder::default())?);
    let facts = doctor::examine(Adapters::open()?.toolchain(), &rr);
    if args.format.json {
        print_json(out, &facts)?;
    } else {
        write!(out, "{}", doctor::table(&facts));
    }
    Ok(Outcome::NothingFound)
}
