//! `interlap orders`: takes each memory order of a target weaker by steps, and runs the same
//! rounds.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::adapters::Adapters;
use super::overview::link;
use super::{fuzz, page, print_json, stop_flag, trust};
use crate::campaign::orders::{self, Blind, Noticed, Orders, Trial};
use crate::cli::arguments;
use crate::core::memory_order::Weakening;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, MemoryModel, WARM_UP_ROUNDS};
use crate::core::time_limit::TimeLimit;
use crate::finding::known::KnownIssues;
use crate::finding::signature::Signature;
use crate::finding::trust::Trusted;
use crate::finding::{PAGE_FILE, Stored};
use crate::fuzz::engine::{EngineChoice, jobs_for, require_hooks};
use crate::fuzz::{self as runs, Ending, Observer, Options, Statistics, Summary, Warning};
use crate::model::Spec;
use crate::report::directory;
use crate::report::orders::{self as report, Json};
use crate::report::output::{Output, note};
use crate::report::overview;
use crate::report::progress::Progress;
use crate::trace::frame::Hello;

/// The seed, if the user names none: the same rounds each time.
const SEED: u64 = 1;
/// So many times as many rounds come first, with the orders as they are written.
const ROUNDS_FIRST: u64 = 4;

pub fn run(args: &arguments::Orders, out: &mut Output) -> Result<Outcome> {
    args.html.as_deref().map_or(Ok(()), page::touch)?;
    let (adapters, stop) = (Adapters::open()?, stop_flag()?);
    let options = options(args, &adapters, stop)?;
    runs::check_directory(&options.directory)?;
    if !args.format.json {
        note!("{}", report::command(&options.plan, args.rounds));
    }
    let (plan, library) = (&options.plan, &options.library);
    let stored = Orders::load(&options.directory, plan, library, args.rounds);
    let begun = match stored {
        Some(orders) => orders,
        None => match as_written(args, &options, &adapters)? {
            Ok(orders) => orders,
            Err(outcome) => return Ok(outcome),
        },
    };
    begun.save(&options.directory)?;
    options.time.begin();
    let done = walk(args, &options, begun)?;
    if args.format.json {
        print_json(out, &Json::new(&done))?;
    } else {
        write!(out, "{}", report::text(&done, &options.directory));
    }
    if let Some(path) = &args.html {
        let link = |found: &str| link(path, &options.directory.join(found).join(PAGE_FILE));
        page::write(path, &overview::orders::render(&done, link))?;
        if !args.format.json {
            super::overview::print_path(path, out);
        }
    }
    Ok(if done.is_complete() { Outcome::NothingFound } else { Outcome::NotDecided })
}

/// The options of a run with the orders as they are written.
fn options(
    args: &arguments::Orders,
    adapters: &Adapters,
    stop: Arc<AtomicBool>,
) -> Result<Options> {
    let (workload, control) = (&args.workload, &args.control);
    let mut plan = fuzz::plan(&args.target, &args.build, workload, control, adapters)?;
    plan.seed = workload.seed.unwrap_or(SEED);
    plan.control.memory_model = match control.memory_model {
        MemoryModel::Some | MemoryModel::C11 => MemoryModel::C11,
        _ => {
            bail!("--memory-model: leave it out; `interlap orders` takes c11, where orders matter")
        }
    };
    if !control.weaken.is_empty() {
        bail!("--weaken: `interlap orders` weakens each by itself; use it with `interlap fuzz`");
    }
    let adapter = adapters.find(&args.target)?;
    plan.engine = match EngineChoice::Controlled.engine(&adapter.name, &adapter.head, &plan)? {
        engine if workload.engine == EngineChoice::Auto => engine,
        engine if workload.engine == EngineChoice::Controlled => engine,
        _ => bail!("--engine: leave it out; the controlled engine alone can weaken orders"),
    };
    let known =
        args.known.as_deref().map_or_else(|| Ok(KnownIssues::default()), KnownIssues::load)?;
    let known = known.with_races(&adapter.head.races)?;
    let options = fuzz::options_for(adapters, plan, Trusted::by_user(), stop)?;
    let mut plan = options.plan.clone();
    require_hooks(&options.library, &mut plan.control)?;
    let directory = args.out.join(plan.target_name());
    Ok(Options {
        plan,
        jobs: jobs_for(Engine::Controlled, args.jobs).0,
        key: trust::key(),
        time: TimeLimit::of(args.duration),
        rounds_max: Some(args.rounds.saturating_add(WARM_UP_ROUNDS)),
        findings_max: 1,
        known,
        hang_max: arguments::HANG,
        directory,
        ..options
    })
}

/// Makes the rounds with the orders as they are written, and gives the table, in which nothing is
/// weakened yet; or how the command ends without one.
fn as_written(
    args: &arguments::Orders,
    options: &Options,
    adapters: &Adapters,
) -> Result<Result<Orders, Outcome>> {
    let mut first = options.clone();
    first.plan.control.notes_orders = true;
    let rounds = args.rounds.saturating_mul(ROUNDS_FIRST);
    first.rounds_max = Some(rounds.saturating_add(WARM_UP_ROUNDS));
    let mut progress = Progress::new(options.time.most(), args.format.json);
    let summary = runs::fuzz(&first, &mut progress);
    progress.finish();
    let summary = summary?;
    if let Some(found) = new(&summary) {
        note!("{}", report::found_as_written(&found.finding, &found.directory));
        return Ok(Err(Outcome::Found));
    }
    if summary.ending != Ending::Rounds {
        note!("{}", report::too_short(rounds));
        return Ok(Err(Outcome::NotDecided));
    }
    let unhooked = summary.hello.unhooked.clone();
    let blind =
        Blind { unhooked, accepts_races: !adapters.find(&args.target)?.head.races.is_empty() };
    let (plan, library) = (&options.plan, &options.library);
    let orders = Orders::new(plan, library, args.rounds, summary.orders, blind)?;
    Ok(Ok(orders))
}

/// The first finding that is not known.
fn new(summary: &Summary) -> Option<&Stored> {
    summary.findings.iter().find(|stored| stored.finding.known.is_none())
}

/// Makes all trials that are left, and shows how far it is.
fn walk(args: &arguments::Orders, options: &Options, begun: Orders) -> Result<Orders> {
    let progress = Mutex::new(Progress::new(options.time.most(), args.format.json));
    let since = Instant::now();
    let made = |orders: &Orders| {
        orders.save(&options.directory)?;
        let mut progress = progress.lock().expect("no thread has panicked");
        progress.status(|| report::progress(orders, since.elapsed(), options.time.remaining()));
        Ok(())
    };
    let done = orders::walk(begun, options.jobs, |weakening| trial(options, weakening), made);
    progress.into_inner().expect("no thread has panicked").finish();
    done
}

/// Runs the rounds with one order weaker; none: stopped before their end.
fn trial(options: &Options, weakening: &Weakening) -> Result<Option<Trial>> {
    let name = weakening.to_string().replace([':', '=', '/'], "-");
    let mut weaker =
        Options { jobs: 1, directory: options.directory.join(&name), ..options.clone() };
    weaker.plan.control.weaken = vec![weakening.clone()];
    std::fs::create_dir_all(&weaker.directory)
        .with_context(|| format!("cannot create {}", weaker.directory.display()))?;
    let summary = runs::fuzz(&weaker, &mut Saving)?;
    let noticed = new(&summary).map(|stored| Noticed {
        what: what(&stored.finding.signature),
        signature: stored.finding.signature.to_string(),
        round: stored.finding.round,
        directory: below(&options.directory, &stored.directory),
    });
    if noticed.is_none() {
        // It is there for what is found alone.
        let _ = std::fs::remove_dir(&weaker.directory);
    }
    let is_whole = noticed.is_some() || summary.ending == Ending::Rounds;
    let undecided = summary.statistics.undecided();
    Ok(is_whole.then_some(Trial { to: weakening.to, noticed, undecided }))
}

fn what(signature: &Signature) -> String {
    let kind = signature.fault_kind().map(|kind| kind.name().to_string());
    kind.unwrap_or_else(|| signature.to_string())
}

/// Writes findings, and says nothing: what is found with a weaker order is told in the table.
struct Saving;

impl Observer for Saving {
    fn started(&mut self, _: &Hello, _: &Spec) {}

    fn progressed(&mut self, _: &Statistics) {}

    fn save(&mut self, stored: &Stored, options: &Options) -> Result<()> {
        directory::write_with_script(stored, &options.library, &options.harness)
    }

    fn found(&mut self, _: &Stored) {}

    fn warned(&mut self, _: &Warning) {}
}

/// The path as seen from the folder.
fn below(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
