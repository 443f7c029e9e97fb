//! `interlap fuzz`: command line to plan and adapter, then the run, then its summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use serde::Serialize;

use super::{Outcome, print_json, stop_flag};
use crate::cache::Cache;
use crate::catalog::{Adapter, Catalog, Origin};
use crate::cli::{self, EngineChoice};
use crate::compile::{Flavour, Request, Toolchain};
use crate::finding::Finding;
use crate::fuzz::{self, Ending, Options, Statistics, Summary};
use crate::plan::{Build, Control, Engine, Plan};
use crate::report::progress::{Progress, summary_line};
use crate::sources::Sources;

pub fn run(args: &cli::Fuzz) -> Result<Outcome> {
    let workshop = Workshop::open()?;
    let plan = plan(args, &workshop)?;
    let library = workshop.compile(&plan)?;
    let options = Options {
        plan,
        library,
        harness: harness_program()?,
        duration_max: Some(args.run.duration),
        rounds_max: args.rounds,
        findings_max: args.findings as usize,
        hang_max: args.run.hang,
        directory: args.out.clone(),
        stop: stop_flag()?,
        wanted: None,
    };
    if !args.run.format.json {
        eprintln!("{}", options.plan);
    }
    let mut progress = Progress::new(options.duration_max, args.run.format.json);
    let summary = fuzz::fuzz(&options, &mut progress);
    progress.finish();
    let summary = summary?;
    if args.run.format.json {
        print_json(&Json::of(&summary, &options.plan))?;
    } else {
        print_summary(&summary);
    }
    Ok(outcome(&summary))
}

/// Found, if anything was; not decided, if no round was.
pub fn outcome(summary: &Summary) -> Outcome {
    let undecided: u64 = summary.statistics.inconclusive.values().sum();
    match (summary.findings.is_empty(), undecided) {
        (false, _) => Outcome::Found,
        (true, undecided) if undecided > 0 && undecided == summary.statistics.rounds => {
            Outcome::NotDecided
        }
        (true, _) => Outcome::NothingFound,
    }
}

/// Where adapters are found and compiled.
pub struct Workshop {
    toolchain: Toolchain,
    catalog: Catalog,
}

impl Workshop {
    pub fn open() -> Result<Workshop> {
        let sources = Sources::EMBEDDED;
        let toolchain = Toolchain::new(Cache::of_user()?, sources)?;
        let catalog = Catalog::new(sources, toolchain.tree());
        Ok(Workshop { toolchain, catalog })
    }

    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn find(&self, name_or_path: &str) -> Result<Adapter> {
        Ok(self.catalog.find(name_or_path)?)
    }

    /// The adapter's shared library, compiled if need be.
    pub fn compile(&self, plan: &Plan) -> Result<PathBuf> {
        let build = &plan.build;
        let adapter = self.find(&build.adapter)?;
        let request = Request {
            source: adapter.source,
            flavour: match plan.engine {
                Engine::Native => Flavour::Plain,
                Engine::Controlled => Flavour::Hooked,
            },
            include_dirs: build.include_dirs.clone(),
            libraries: build.libraries.clone(),
            flags: [adapter.head.flags, build.flags.clone()].concat(),
        };
        let compiled = self.toolchain.compile(&request)?;
        if !compiled.warnings.trim().is_empty() {
            eprintln!("{}", compiled.warnings.trim_end());
        }
        Ok(compiled.library)
    }
}

/// The harness lies beside this program.
pub fn harness_program() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program's own path")?;
    let harness = own.with_file_name("interlap-harness");
    match harness.is_file() {
        true => Ok(harness),
        false => anyhow::bail!(
            "{} is missing; build it with `cargo build --release` or install both programs with \
             `cargo install --path .`",
            harness.display()
        ),
    }
}

fn plan(args: &cli::Fuzz, workshop: &Workshop) -> Result<Plan> {
    let adapter = workshop.find(&args.target)?;
    // A user's adapter is named by its full path, so that the plan works from anywhere.
    let adapter = match adapter.origin {
        Origin::User => adapter.source.display().to_string(),
        Origin::Bundled | Origin::Broken => adapter.name,
    };
    let absolute = |dir: &PathBuf| {
        std::path::absolute(dir).with_context(|| format!("cannot resolve {}", dir.display()))
    };
    let workload = &args.workload;
    Ok(Plan {
        build: Build {
            adapter,
            include_dirs: args.build.include_dirs.iter().map(absolute).collect::<Result<_>>()?,
            libraries: args.build.libraries.clone(),
            flags: args.build.flags.clone(),
        },
        engine: match workload.engine {
            EngineChoice::Auto | EngineChoice::Native => Engine::Native,
            EngineChoice::Controlled => Engine::Controlled,
        },
        model: workload.model.map(|model| model.to_string()),
        seed: workload.seed.unwrap_or_else(fresh_seed),
        threads: workload.threads,
        calls: workload.calls,
        keys: workload.keys,
        bulk: workload.bulk,
        weights: workload.weights.clone(),
        fresh_threads: workload.fresh_threads,
        clock: workload.clock,
        pin: !workload.no_pin,
        disturb: !workload.no_disturb,
        memory_mib_max: workload.memory,
        control: Control {
            policy: args.control.policy.clone(),
            carrier: args.control.carrier,
            heap: args.control.heap,
            plain_points: args.control.plain_points,
            steps_max: args.control.steps,
        },
    })
}

/// A seed that differs from run to run, short enough to type.
fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = since.map_or(0, |time| time.as_nanos() as u64);
    crate::random::mix(nanoseconds ^ u64::from(std::process::id())) % 1_000_000_000
}

/// The run in a few lines, on standard output.
fn print_summary(summary: &Summary) {
    println!("{}", summary_line(&summary.statistics));
    for (reason, rounds) in &summary.statistics.inconclusive {
        println!("not decided in {rounds} rounds: {reason}");
    }
    for stored in &summary.findings {
        let finding = &stored.finding;
        let (after, seen) = (finding.after_seconds, finding.sightings);
        let directory = stored.directory.display();
        println!("{directory}: {}, after {after:.1} s, seen {seen} times", finding.signature);
    }
    let why = match summary.ending {
        Ending::Findings => "Stopped at the limit of distinct findings (--findings).",
        Ending::Stopped => "Stopped; what was found is kept.",
        Ending::NotSequential => {
            "Stopped: the target fails even when called from one thread at a time."
        }
        Ending::Time | Ending::Rounds | Ending::Wanted if summary.findings.is_empty() => {
            "Nothing found."
        }
        Ending::Time | Ending::Rounds | Ending::Wanted => return,
    };
    println!("{why}");
}

/// The same for a machine.
#[derive(Serialize)]
pub struct Json<'a> {
    target: &'a crate::trace::frame::TargetInfo,
    model: String,
    command: String,
    plan: &'a Plan,
    rounds: u64,
    operations: u64,
    overlapping: u64,
    seconds: f64,
    faults: u64,
    inconclusive: &'a std::collections::BTreeMap<String, u64>,
    findings: Vec<JsonFinding<'a>>,
    outcome: Outcome,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    directory: &'a Path,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl<'a> Json<'a> {
    pub fn of(summary: &'a Summary, plan: &'a Plan) -> Json<'a> {
        let Statistics { rounds, operations, overlapping, elapsed, faults, .. } =
            &summary.statistics;
        let finding = |stored: &'a crate::finding::Stored| JsonFinding {
            directory: &stored.directory,
            finding: &stored.finding,
        };
        Json {
            target: &summary.hello.target,
            model: summary.model.to_string(),
            command: plan.to_string(),
            plan,
            rounds: *rounds,
            operations: *operations,
            overlapping: *overlapping,
            seconds: elapsed.as_secs_f64(),
            faults: *faults,
            inconclusive: &summary.statistics.inconclusive,
            findings: summary.findings.iter().map(finding).collect(),
            outcome: outcome(summary),
        }
    }
}

/// The options of a run that looks for one known finding.
pub fn rerun(
    plan: &Plan,
    wanted: &str,
    directory: &Path,
    run: &cli::Run,
    stop: Arc<AtomicBool>,
) -> Result<Options> {
    Ok(Options {
        plan: plan.clone(),
        library: Workshop::open()?.compile(plan)?,
        harness: harness_program()?,
        duration_max: Some(run.duration),
        rounds_max: None,
        findings_max: usize::MAX,
        hang_max: run.hang,
        directory: directory.to_path_buf(),
        stop,
        wanted: Some(wanted.to_string()),
    })
}
