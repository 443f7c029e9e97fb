//! `interlap fuzz`: makes a plan of the command line, runs it, shrinks its findings and prints a
//! summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};

use super::adapters::{Adapters, harness_program};
use super::ci::{self, Reports};
use super::{covering, overview, print_json, regress, shrink, stop_flag, trust};
use crate::adapter::compile::{self, Compiled, Request};
use crate::adapter::head::Head;
use crate::campaign::ledger::Ledger;
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::core::plan::{
    Build, Control, Engine, Plan, Recorder, Shard, WARM_UP_ROUNDS, WHOLE_CALLS_MAX,
};
use crate::core::time_limit::TimeLimit;
use crate::finding::Finding;
use crate::finding::Stored;
use crate::finding::known;
use crate::finding::known::KnownIssues;
use crate::finding::sources::Sources;
use crate::finding::trust::Trusted;
use crate::fuzz::engine::EngineChoice;
use crate::fuzz::engine::{jobs_for, require_hooks};
use crate::fuzz::{self, Options, Summary};
use crate::model::Spec;
use crate::model::program::Program;
use crate::process::rr::{Rr, probe};
use crate::report::directory;
use crate::report::output::{Output, note, warning};
use crate::report::progress::{Progress, Telling};
use crate::report::run;
use crate::report::triage as listed;
use crate::report::words;
use crate::shrink::is_worthwhile;
use crate::trace::kept::Keep;

pub fn run(args: &arguments::Fuzz, out: &mut Output) -> Result<Outcome> {
    overview::touch(args.html.as_ref())?;
    let reports = Reports::open(&args.ci, args.run.format.json)?;
    let known = KnownIssues { lines_may_come: !args.shrink.is_zero(), ..ci::known(&args.ci)? };
    let done = find(args, &known, &reports, out);
    if let Err(error) = &done {
        reports.write_failed("interlap fuzz", &args.target, error, out);
    }
    done
}

fn find(
    args: &arguments::Fuzz,
    known: &KnownIssues,
    reports: &Reports,
    out: &mut Output,
) -> Result<Outcome> {
    let (adapters, began) = (Adapters::open()?, SystemTime::now());
    covering::begin(&args.workload.model)?;
    let plan = planned(args, &adapters)?;
    let stop = stop_flag()?;
    check_rr(&plan)?;
    let head = adapters.find(&args.target)?.head;
    let known = &known.clone().with_races(&head.races)?;
    let can_be_controlled = EngineChoice::can_control(&head, &plan);
    let replayed = regress::before(args, &plan, known, &adapters, &stop)?;
    let attempt = |plan: Plan, spent: Option<Duration>| -> Result<(Options, Summary, Untold)> {
        let leave_after =
            args.workload.engine.leave_after(args.run.duration).filter(|_| spent.is_none());
        let options = options(args, plan, &adapters, &stop)?;
        let can_be_controlled = spent.is_none() && can_be_controlled;
        let spent = spent.unwrap_or_default() + replayed.spent;
        let time = TimeLimit::of(args.run.duration.saturating_sub(spent));
        let (known, regressions) = (known.clone(), Arc::clone(&replayed.found));
        let more = Options { known, regressions, time, leave_after, ..options };
        let options = Options { can_be_controlled, ..more };
        let (summary, untold) = carry_out(args, &options)?;
        Ok((options, summary, untold))
    };
    let (options, mut summary, untold) =
        args.workload.engine.run(plan, attempt, |why| warning!("{why}"))?;
    shrink::findings(&mut summary, &options, args.shrink, untold, args.run.format.json);
    mark_known(&mut summary, known);
    let mut ledger = Ledger::new(&summary, &options.plan, options.shard, options.jobs);
    let about = overview::circumstances(&summary, &options.plan, &adapters, began);
    ledger.parts[0].circumstances = Some(about);
    let written = ledger.save(&args.out).and_then(|()| match &args.html {
        Some(path) => overview::write(path, &ledger, &summary.findings),
        None => Ok(()),
    });
    reports.write(
        replayed.runs.into_iter().chain([run::result(&summary, &options.plan)]).collect(),
        summary.findings.iter().collect(),
        out,
    )?;
    if args.run.format.json {
        print_json(out, &run::Json::new(&summary, &options.plan, &ledger, &replayed.counts))?;
    } else if !reports.take_stdout() {
        write!(out, "{}", run::summary(&summary, &ledger, &options.plan, args.verbose));
        let seen = known::count_issues(summary.findings.iter().map(|stored| &stored.finding));
        let unseen = known.unseen(options.plan.target_name(), &seen);
        seen.iter().for_each(|known| writeln!(out, "{}", listed::issue_line(known)));
        unseen.iter().for_each(|name| writeln!(out, "known, but not seen in this run: {name}"));
        args.html
            .iter()
            .filter(|_| written.is_ok())
            .for_each(|path| overview::print_path(path, out));
    }
    let model = options.plan.model.as_deref().and_then(|model| model.parse().ok());
    let says = (!args.run.format.json && !reports.take_stdout()).then_some(&mut *out);
    let written = written.and(covering::end(&args.workload.model, model, says));
    // A finding counts more than an error in writing about it.
    match (written, summary.outcome()) {
        (Err(error), Outcome::Found) => warning!("{}", words::error(&error)),
        (written, _) => written?,
    }
    Ok(summary.outcome())
}

/// Decides again which findings are known: shrinking brings source lines, and fewer operations.
fn mark_known(summary: &mut Summary, known: &KnownIssues) {
    for stored in &mut summary.findings {
        if known.mark(stored)
            && let Err(error) = directory::write(stored)
        {
            warning!("{}", words::error(&error));
        }
    }
    let is_known = |stored: &&Stored| stored.finding.known.is_some();
    summary.statistics.known = summary.findings.iter().filter(is_known).count();
}

fn options(
    args: &arguments::Fuzz,
    plan: Plan,
    adapters: &Adapters,
    stop: &Arc<AtomicBool>,
) -> Result<Options> {
    let (jobs, warning) = jobs_for(plan.engine, args.jobs);
    if let Some(warning) = warning {
        warning!("{warning}");
    }
    if plan.engine != Engine::Native && plan.calls.is_some_and(|calls| calls > WHOLE_CALLS_MAX) {
        bail!(
            "--calls above {WHOLE_CALLS_MAX} needs --engine native, which checks a round as it goes"
        );
    }
    let (trusted, hang_max) = (Trusted::by_user(), args.run.hang_with(plan.engine));
    let Compiled { library, inputs, .. } = adapters.compile(&plan, trusted)?;
    let mut plan = plan;
    let in_store = args.store.as_deref().map(|store| Keep::store(store, args.every));
    let keep = in_store.or_else(|| args.trace.as_deref().map(Keep::trace));
    let chosen = plan.control.chosen();
    if plan.engine == Engine::Controlled {
        require_hooks(&library, &mut plan.control)?;
    } else if !chosen.is_empty() {
        let (engine, chosen) = (plan.engine.name(), chosen.join(", "));
        warning!("rounds of --engine {engine} go without {chosen}; add --engine controlled");
    }
    Ok(Options {
        library,
        plan,
        trusted,
        key: trust::key(),
        jobs,
        shard: args.shard,
        harness: harness_program()?,
        sources: Sources::of_inputs(inputs),
        time: TimeLimit::of(args.run.duration),
        rounds_max: args.rounds.map(|rounds| rounds.saturating_add(WARM_UP_ROUNDS)),
        findings_max: args.findings as usize,
        known: KnownIssues::default(),
        regressions: Arc::default(),
        hang_max,
        directory: args.out.clone(),
        keep,
        stop: Arc::clone(stop),
        wanted: None,
        leave_after: None,
        can_be_controlled: false,
    })
}

/// The names of the findings that are still to be told, and how.
type Untold = (Vec<String>, Telling);

/// Runs the plan.
fn carry_out(args: &arguments::Fuzz, options: &Options) -> Result<(Summary, Untold)> {
    fuzz::check_directory(&options.directory)?;
    if !args.run.format.json {
        note!("{}", options.plan);
    }
    let telling = if args.verbose { Telling::Whole } else { Telling::First };
    let mut progress = Progress::new(options.time.most(), args.run.format.json).telling(telling);
    // A finding that is shrunk is printed after that.
    if !args.shrink.is_zero() {
        progress = progress.deferring(is_worthwhile);
    }
    let summary = fuzz::fuzz(options, &mut progress);
    progress.finish();
    Ok((summary?, progress.deferred()))
}

fn planned(args: &arguments::Fuzz, adapters: &Adapters) -> Result<Plan> {
    let plan = plan(&args.target, &args.build, &args.workload, &args.control, adapters)?;
    Ok(Plan { recorder: recorder(&args.recorder)?, ..plan })
}

/// The plan of these options.
pub fn plan(
    target: &str,
    build: &arguments::Build,
    workload: &arguments::Workload,
    control: &arguments::Control,
    adapters: &Adapters,
) -> Result<Plan> {
    let adapter = adapters.find(target)?;
    let plan = Plan {
        build: Build {
            adapter: adapter.plan_name(),
            include_dirs: absolute(&build.include_dirs)?,
            libraries: build.libraries.clone(),
            flags: flags(&build.flags)?,
        },
        engine: Engine::Native,
        model: model(workload, &adapter.head)?,
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
            policy: control.policy.clone(),
            carrier: control.carrier,
            heap: control.heap,
            plain_points: control.plain_points,
            memory_model: control.memory_model,
            all_seq_cst: false,
            races: control.races,
            steps_max: control.steps,
            records: false,
            trail: false,
            weaken: control.weaken.clone(),
            notes_orders: false,
        },
        recorder: Recorder::default(),
        scenarios: Vec::new(),
    };
    let engine = workload.engine.engine(&adapter.name, &adapter.head, &plan)?;
    Ok(Plan { engine, ..plan })
}

/// The model that was named, or the adapter's own if that is a program. Of a specification, the
/// adapter may say something.
fn model(workload: &arguments::Workload, head: &Head) -> Result<Option<String>> {
    let Some(named) = workload.model.named()? else {
        let own = head.model.as_ref().filter(|own| {
            let own = own.parse::<Spec>().ok().and_then(|model| model.program);
            own.is_some_and(Program::is_bundled)
        });
        return Ok(own.cloned());
    };
    let model = named.under(&head.settings);
    let model = model.map_err(|error| anyhow!("a line `// interlap:` of the adapter: {error}"))?;
    Ok(Some(model.to_string()))
}

/// The flags of the command line, with absolute paths.
pub fn flags(given: &[String]) -> Result<Vec<String>> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    let flags = given.iter().flat_map(|flag| compile::flag_words(flag)).collect();
    Ok(Request { flags, ..Request::default() }.anchored(&here).flags)
}

/// The folders with absolute paths.
pub fn absolute(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let each = folders.iter().map(|folder| {
        std::path::absolute(folder).with_context(|| format!("cannot resolve {}", folder.display()))
    });
    each.collect()
}

fn recorder(args: &arguments::Recorder) -> Result<Recorder> {
    if args.rr_for.is_zero() {
        bail!("--rr-for must be longer than nothing");
    }
    Ok(Recorder {
        ticks: args.rr_ticks.clone(),
        milliseconds: args.rr_for.as_millis() as u64,
        ..chosen_rr(&args.rr, &Recorder::default())?
    })
}

/// The user's choice of rr, else the `known` one. A path becomes absolute.
pub fn chosen_rr(args: &arguments::Rr, known: &Recorder) -> Result<Recorder> {
    let mut chosen = known.clone();
    if let Some(program) = &args.rr {
        chosen.program = match program.contains('/') {
            true => std::path::absolute(program)
                .with_context(|| format!("cannot resolve {program}"))?
                .to_string_lossy()
                .into_owned(),
            false => program.clone(),
        };
    }
    if !args.rr_args.is_empty() {
        chosen.args = args.rr_args.clone();
    }
    Ok(chosen)
}

/// Fails if the plan needs rr and rr cannot record here.
fn check_rr(plan: &Plan) -> Result<()> {
    if plan.engine != Engine::Rr {
        return Ok(());
    }
    match probe::probe(&Rr::new(&plan.recorder)) {
        Ok(_) => Ok(()),
        Err(refusal) => bail!(
            "rr cannot record here: {refusal}\n`--engine controlled` needs no rr: its findings \
             are replayed from their seed."
        ),
    }
}

/// A seed that differs from run to run, short enough to type.
fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanoseconds = since.map_or(0, |time| time.as_nanos() as u64);
    crate::core::random::mix(nanoseconds ^ u64::from(std::process::id())) % 1_000_000_000
}

/// The options of a run that searches for one stored finding.
pub fn rerun_options(
    finding: &Finding,
    trusted: Trusted,
    directory: &Path,
    run: &arguments::Run,
    stop: Arc<AtomicBool>,
) -> Result<Options> {
    let options = options_for(&Adapters::open()?, finding.plan.clone(), trusted, stop)?;
    Ok(Options {
        time: TimeLimit::of(run.duration),
        hang_max: run.hang_with(finding.plan.engine),
        directory: directory.to_path_buf(),
        wanted: Some(finding.signature.clone()),
        ..options
    })
}

/// The options of a run of a stored plan, without limits.
pub fn options_for(
    adapters: &Adapters,
    plan: Plan,
    trusted: Trusted,
    stop: Arc<AtomicBool>,
) -> Result<Options> {
    let Compiled { library, inputs, .. } = adapters.compile(&plan, trusted)?;
    Ok(Options {
        jobs: jobs_for(plan.engine, None).0,
        plan,
        trusted,
        // What is found again is compared, or made smaller: it is marked as the finding was.
        key: None,
        shard: Shard::ALL,
        library,
        harness: harness_program()?,
        sources: Sources::of_inputs(inputs),
        time: TimeLimit::none(),
        rounds_max: None,
        findings_max: usize::MAX,
        known: KnownIssues::default(),
        regressions: Arc::default(),
        hang_max: Duration::MAX,
        directory: PathBuf::new(),
        keep: None,
        stop,
        wanted: None,
        leave_after: None,
        can_be_controlled: false,
    })
}
