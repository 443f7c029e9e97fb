//! `interlap fuzz`: command line to plan and adapter, then the run, then its summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::ci::{self, Reports};
use super::engine::{engine_for, jobs_for};
use super::workshop::{Workshop, harness_program};
use super::{Outcome, overview, print_json, shrink, stop_flag, triage};
use crate::adapter::catalog::Origin;
use crate::adapter::compile;
use crate::binary::symbols::SourceLines;
use crate::binary::uninstrumented;
use crate::campaign::ledger::Ledger;
use crate::campaign::triage::same_bug;
use crate::cli::arguments;
use crate::cli::arguments::EngineChoice;
use crate::core::measured::time;
use crate::core::plan::{
    Build, Control, Engine, MemoryModel, PlainPoints, Plan, Recorder, Shard, WHOLE_CALLS_MAX,
};
use crate::finding::known;
use crate::finding::known::{Known, Seen};
use crate::finding::{Finding, JSON_FILE, Stored};
use crate::fuzz::exercise::Gap;
use crate::fuzz::{self, Ending, Options, Point, Statistics, Summary, Uncontrolled};
use crate::process::rr::{Rr, probe};
use crate::report::coverage;
use crate::report::progress::{Progress, summary_line};
use crate::report::results::{Ended, Run};
use crate::report::triage as listed;

/// The least time for which [`leave_after`] tries.
const LEAVE_AFTER_MIN: Duration = Duration::from_secs(1);

pub fn run(args: &arguments::Fuzz) -> Result<Outcome> {
    overview::touch(args.html.as_ref())?;
    let reports = Reports::open(&args.ci, args.run.format.json)?;
    let known = Known { lines_may_come: !args.shrink.is_zero(), ..ci::known(&args.ci)? };
    let done = find(args, &known, &reports);
    if let Err(error) = &done {
        reports.write_failed("interlap fuzz", &args.target, error);
    }
    done
}

fn find(args: &arguments::Fuzz, known: &Known, reports: &Reports) -> Result<Outcome> {
    let (workshop, began) = (Workshop::open()?, SystemTime::now());
    let (plan, stop) = (plan(args, &workshop)?, stop_flag()?);
    check_rr(&plan)?;
    let attempt =
        |plan: Plan, spent: Option<Duration>| -> Result<(Options, Summary, Vec<String>)> {
            let leave_after = leave_after(args).filter(|_| spent.is_none());
            let options = options(args, plan, &workshop, &stop)?;
            let duration_max = Some(args.run.duration.saturating_sub(spent.unwrap_or_default()));
            let options = Options { known: known.clone(), duration_max, leave_after, ..options };
            let (summary, left) = carry_out(args, &options)?;
            Ok((options, summary, left))
        };
    let (options, mut summary, left) = with_any_engine(args, plan, attempt)?;
    shrink::findings(&mut summary, &options, args.shrink, &left, args.run.format.json);
    settle(&mut summary, known);
    let mut ledger = Ledger::new(&summary, &options.plan, options.shard, options.jobs);
    let about = overview::circumstances(&summary, &options.plan, &workshop, began);
    ledger.parts[0].circumstances = Some(about);
    let written = ledger.save(&args.out).and_then(|()| match &args.html {
        Some(path) => overview::write(path, &ledger, &summary.findings),
        None => Ok(()),
    });
    reports.write(vec![told(&summary, &options.plan)], summary.findings.iter().collect())?;
    if args.run.format.json {
        print_json(&Json::of(&summary, &options.plan, &ledger))?;
    } else if !reports.take_stdout() {
        print_summary(&summary, &ledger, &options.plan);
        let seen = known::seen(summary.findings.iter().map(|stored| &stored.finding));
        let unseen = known.unseen(options.plan.target_name(), &seen);
        seen.iter().for_each(|known| println!("{}", listed::seen(known)));
        unseen.iter().for_each(|name| println!("known, but not seen in this run: {name}"));
        args.html.iter().filter(|_| written.is_ok()).for_each(|path| overview::tell(path));
    }
    // What was found counts for more than what could not be written of it.
    match (written, outcome(&summary)) {
        (Err(error), Outcome::Found) => eprintln!("warning: {error:#}"),
        (written, _) => written?,
    }
    Ok(outcome(&summary))
}

/// What a plan comes to; `attempt` hears how much of the run's time is gone where it is the second.
/// Where the choice of the engine is left open, native threads do what the controlled engine
/// cannot.
fn with_any_engine<T>(
    args: &arguments::Fuzz,
    plan: Plan,
    attempt: impl Fn(Plan, Option<Duration>) -> Result<T>,
) -> Result<T> {
    let native = Plan { engine: Engine::Native, ..plan.clone() };
    let may_change = args.workload.engine == EngineChoice::Auto && plan.engine != native.engine;
    let error = match attempt(plan, None) {
        Err(error) if may_change => error,
        done => return done,
    };
    if let Some(why) = error.downcast_ref::<Uncontrolled>() {
        eprintln!("warning: {error:#}; going on with native threads");
        return attempt(native, Some(why.spent()));
    }
    if !error.is::<compile::Error>() {
        return Err(error);
    }
    // What fails to compile for native threads, too, is told as if it had been tried first.
    let done = attempt(native, Some(Duration::ZERO))?;
    eprintln!(
        "warning: native threads were used, because the target does not compile with the hooks of \
         the controlled engine; `--engine controlled` shows why"
    );
    Ok(done)
}

/// How long the controlled engine is tried on a target of whose prebuilt libraries it sees little:
/// long enough for what their locks show, and the most of the time is left.
fn leave_after(args: &arguments::Fuzz) -> Option<Duration> {
    let part = (args.run.duration / 10).max(LEAVE_AFTER_MIN);
    (args.workload.engine == EngineChoice::Auto).then_some(part)
}

/// What is known, asked again: shrinking brings source lines, and fewer operations.
fn settle(summary: &mut Summary, known: &Known) {
    for stored in &mut summary.findings {
        if known.mark(stored)
            && let Err(error) = fuzz::save(stored)
        {
            eprintln!("warning: {error:#}");
        }
    }
    let is_known = |stored: &&Stored| stored.finding.known.is_some();
    summary.statistics.known = summary.findings.iter().filter(is_known).count();
}

/// The run in reports for other programs.
fn told(summary: &Summary, plan: &Plan) -> Run {
    let statistics = &summary.statistics;
    Run {
        target: plan.target_name().to_string(),
        name: ci::run_name(&summary.model.to_string(), plan),
        command: plan.to_string(),
        seconds: statistics.elapsed.as_secs_f64(),
        ended: match outcome(summary) {
            Outcome::NotDecided if no_round(summary) => {
                Ended::NotDecided("no round was over in time".to_string())
            }
            Outcome::NotDecided => Ended::NotDecided(triage::why(&statistics.inconclusive)),
            Outcome::Found | Outcome::NothingFound => Ended::Well,
        },
        text: format!(
            "{}\n{}",
            summary_line(statistics),
            ending(summary, plan).unwrap_or_default()
        ),
    }
}

fn options(
    args: &arguments::Fuzz,
    plan: Plan,
    workshop: &Workshop,
    stop: &Arc<AtomicBool>,
) -> Result<Options> {
    let (jobs, warning) = jobs_for(plan.engine, args.jobs);
    if let Some(warning) = warning {
        eprintln!("warning: {warning}");
    }
    if plan.engine != Engine::Native && plan.calls.is_some_and(|calls| calls > WHOLE_CALLS_MAX) {
        bail!(
            "--calls above {WHOLE_CALLS_MAX} needs --engine native, which judges a round as it goes"
        );
    }
    let library = workshop.compile(&plan)?;
    let mut plan = plan;
    if plan.engine == Engine::Controlled {
        all_is_seen(&library, &mut plan.control)?;
    }
    Ok(Options {
        library,
        plan,
        jobs,
        shard: args.shard,
        harness: harness_program()?,
        duration_max: Some(args.run.duration),
        rounds_max: args.rounds,
        findings_max: args.findings as usize,
        known: Known::default(),
        hang_max: args.run.hang,
        directory: args.out.clone(),
        trace: args.trace.clone(),
        stop: Arc::clone(stop),
        wanted: None,
        leave_after: None,
    })
}

/// A thread that waited in the loop of an atomic instruction that is not seen would wait for ever,
/// and be taken to hang. Where a fence is not, no store may wait for it.
pub(super) fn all_is_seen(library: &Path, control: &mut Control) -> Result<()> {
    let unseen = uninstrumented::of(library).with_context(|| library.display().to_string())?;
    let line = |at: u64| {
        let line = SourceLines::of(library).find(&[at]).remove(0);
        line.unwrap_or_else(|| format!("{at:#x} of {}", library.display()))
    };
    if let Some(first) = unseen.atomics.first() {
        bail!(Uncontrolled::Refused(format!(
            "cannot control: atomic instructions of the target are inline assembly, or were \
             compiled without hooks, so that no thread can be switched between them ({}, the \
             first: {}). Use the compiler's atomics (std::atomic, __atomic; some libraries have an \
             option for it)",
            unseen.atomics.len(),
            line(*first),
        )))
    }
    match (unseen.fences.first(), control.memory_model) {
        (Some(_), MemoryModel::Some) => control.memory_model = MemoryModel::Sc,
        (Some(first), MemoryModel::Tso | MemoryModel::TsoLate) => bail!(
            "--memory-model: fences of the target are inline assembly, which nobody sees ({}, the \
             first: {}). Use std::atomic_thread_fence, or --memory-model sc",
            unseen.fences.len(),
            line(*first),
        ),
        (_, MemoryModel::Sc) | (None, _) => {}
    }
    Ok(())
}

/// The run, and the names of the findings that are still to be told as a whole.
fn carry_out(args: &arguments::Fuzz, options: &Options) -> Result<(Summary, Vec<String>)> {
    fuzz::check_directory(&options.directory)?;
    if !args.run.format.json {
        eprintln!("{}", options.plan);
    }
    let mut progress = Progress::new(options.duration_max, args.run.format.json);
    // What is shrunk is told when that is done.
    if !args.shrink.is_zero() {
        progress = progress.leaving(shrink::is_wanted);
    }
    let summary = fuzz::fuzz(options, &mut progress);
    progress.finish();
    Ok((summary?, progress.left()))
}

/// Found, if anything was that is not known; not decided, if no round was, or none over in time.
pub fn outcome(summary: &Summary) -> Outcome {
    let undecided: u64 = summary.statistics.inconclusive.values().sum();
    let nothing_new = summary.findings.iter().all(|stored| stored.finding.known.is_some());
    match (nothing_new, undecided) {
        (false, _) => Outcome::Found,
        (true, undecided) if undecided > 0 && undecided == summary.statistics.rounds => {
            Outcome::NotDecided
        }
        (true, _) if no_round(summary) => Outcome::NotDecided,
        (true, _) => Outcome::NothingFound,
    }
}

/// Whether time was over before any round was.
fn no_round(summary: &Summary) -> bool {
    summary.ending == Ending::Time && summary.statistics.rounds == 0 && summary.findings.is_empty()
}

fn plan(args: &arguments::Fuzz, workshop: &Workshop) -> Result<Plan> {
    let adapter = workshop.find(&args.target)?;
    let engine = engine_for(&args.workload, &adapter.head);
    if engine == Engine::Controlled && !adapter.head.hookable {
        let name = adapter.name;
        bail!(Uncontrolled::Refused(format!(
            "cannot control: the adapter of {name} says `Engine: native`, as this engine does not \
             show what it is about (code compiled before, without hooks, or orders that only a \
             processor brings about)"
        )));
    }
    // A user's adapter is named by its full path, so that the plan works from anywhere.
    let name = match adapter.origin {
        Origin::User => adapter.source.display().to_string(),
        Origin::Bundled | Origin::Broken => adapter.name.clone(),
    };
    let absolute = |dir: &PathBuf| {
        std::path::absolute(dir).with_context(|| format!("cannot resolve {}", dir.display()))
    };
    let workload = &args.workload;
    Ok(Plan {
        build: Build {
            adapter: name,
            include_dirs: args.build.include_dirs.iter().map(absolute).collect::<Result<_>>()?,
            libraries: args.build.libraries.clone(),
            flags: args.build.flags.iter().flat_map(|flag| compile::flag_words(flag)).collect(),
        },
        engine,
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
            memory_model: args.control.memory_model,
            steps_max: args.control.steps,
            records: false,
            trail: false,
        },
        recorder: recorder(&args.recorder)?,
        scenarios: Vec::new(),
    })
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

/// The rr that is asked for, or else what is known. A path is made to work from anywhere.
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

/// Whether rr can record here is asked before anything is compiled for it.
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

/// The run in a few lines, on standard output.
fn print_summary(summary: &Summary, ledger: &Ledger, plan: &Plan) {
    println!("{}", summary_line(&summary.statistics));
    if let Some(covered) = &summary.statistics.coverage {
        println!("{}", coverage::table(covered).trim_end());
        coverage::remarks(covered).iter().for_each(|remark| println!("{remark}"));
    }
    overview::print_exercise(ledger, !summary.findings.is_empty());
    for (reason, rounds) in &summary.statistics.inconclusive {
        println!("not decided in {rounds} rounds: {reason}");
    }
    let new = summary.findings.iter().filter(|stored| stored.finding.known.is_none());
    for (stored, first) in listed::with_first(new.collect()) {
        let finding = &stored.finding;
        let (after, seen) = (finding.after_seconds, finding.sightings);
        let (directory, signature) = (stored.directory.display(), &finding.signature);
        let is_there = stored.directory.join(JSON_FILE).is_file();
        let lost = if is_there { "" } else { " (not written)" };
        let (after, seen, also) = (time(after), listed::times(seen), listed::also(first));
        println!("{directory}{lost}: {signature}, after {after}, seen {seen}{also}");
    }
    ending(summary, plan).into_iter().for_each(|why| println!("{why}"));
}

/// Why the run ended, where that is not what was found.
fn ending(summary: &Summary, plan: &Plan) -> Option<String> {
    if no_round(summary) {
        let why = "Nothing was tried: no round was over in time. Give it more (--for), or see what \
                   holds it up with another --engine.";
        return Some(why.to_string());
    }
    if let Some(libraries) = unseen_libraries(summary) {
        return Some(format!(
            "Nothing found. (Threads were switched at locks and other calls, but never inside \
             {libraries}, which has no hooks; --engine native runs it on real threads.)"
        ));
    }
    let why = match summary.ending {
        Ending::Findings => "Stopped at the limit of distinct findings (--findings).",
        Ending::Stopped => "Stopped; what was found is kept.",
        Ending::NotSequential => {
            "Stopped: the target fails even when called from one thread at a time."
        }
        Ending::Time | Ending::Rounds | Ending::Wanted if outcome(summary) == Outcome::Found => {
            return None;
        }
        _ if !summary.findings.is_empty() => "Nothing new was found.",
        _ if summary.statistics.coverage.is_some() => return Some(nothing_found(summary, plan)),
        Ending::Time | Ending::Rounds | Ending::Wanted => "Nothing found.",
    };
    Some(why.to_string())
}

/// What was tried in vain under control, and what was not.
fn nothing_found(summary: &Summary, plan: &Plan) -> String {
    let control = &plan.control;
    let has_buffers = control.memory_model != MemoryModel::Sc && summary.hello.unhooked.is_empty();
    let points = match control.plain_points {
        PlainPoints::None => "atomic accesses, locks and allocations",
        _ => "accesses",
    };
    let (stores, is_missing) = match has_buffers {
        true => (
            "stores waited in store buffers as on x86",
            "what only weaker processors reorder is not shown",
        ),
        false => (
            "others saw stores at once",
            "what only a processor's store buffer shows needs --engine native",
        ),
    };
    let plain = match control.plain_points {
        PlainPoints::None => "; what takes a switch between plain ones needs --plain-points",
        _ => "",
    };
    format!(
        "Nothing found. (Threads were switched between {points}, and {stores}; \
         {is_missing}{plain}.)"
    )
}

/// The prebuilt libraries of a run in which next to nothing else was seen, and nothing found.
fn unseen_libraries(summary: &Summary) -> Option<String> {
    let is_over = matches!(summary.ending, Ending::Time | Ending::Rounds | Ending::Wanted);
    let few = summary.statistics.coverage.as_ref().is_some_and(|covered| covered.has_few_pairs());
    let unhooked = &summary.hello.unhooked;
    let is_so = is_over && few && summary.findings.is_empty() && !unhooked.is_empty();
    is_so.then(|| unhooked.join(", "))
}

/// The same for a machine.
#[derive(Serialize)]
pub struct Json<'a> {
    target: &'a crate::trace::frame::TargetInfo,
    model: String,
    command: String,
    plan: &'a Plan,
    #[serde(flatten)]
    statistics: &'a Statistics,
    /// Whether the controlled engine's rounds have ceased to bring anything new.
    #[serde(skip_serializing_if = "Option::is_none")]
    saturated: Option<bool>,
    /// Known issues that were seen.
    known: Vec<Seen>,
    /// What never happened.
    never: Vec<Gap>,
    /// How the counts grew.
    curve: &'a [Point],
    findings: Vec<JsonFinding<'a>>,
    outcome: Outcome,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    directory: &'a Path,
    /// The same number for findings that are most likely one bug.
    bug: usize,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl<'a> Json<'a> {
    pub fn of(summary: &'a Summary, plan: &'a Plan, ledger: &Ledger) -> Json<'a> {
        let statistics = &summary.statistics;
        let all: Vec<&Stored> = summary.findings.iter().collect();
        let numbers = same_bug::numbers(&same_bug::group(&all));
        let finding = |(stored, bug): (&'a Stored, usize)| JsonFinding {
            directory: &stored.directory,
            bug,
            finding: &stored.finding,
        };
        Json {
            target: &summary.hello.target,
            model: summary.model.to_string(),
            command: plan.to_string(),
            plan,
            statistics,
            saturated: statistics.coverage.as_ref().map(|coverage| coverage.is_saturated()),
            known: known::seen(summary.findings.iter().map(|stored| &stored.finding)),
            never: crate::report::overview::never(ledger),
            curve: &summary.curve,
            findings: summary.findings.iter().zip(numbers).map(finding).collect(),
            outcome: outcome(summary),
        }
    }
}

/// The options of a run that looks for one known finding.
pub fn rerun_options(
    plan: &Plan,
    wanted: &str,
    directory: &Path,
    run: &arguments::Run,
    stop: Arc<AtomicBool>,
) -> Result<Options> {
    Ok(Options {
        plan: plan.clone(),
        jobs: jobs_for(plan.engine, None).0,
        shard: Shard::ALL,
        library: Workshop::open()?.compile(plan)?,
        harness: harness_program()?,
        duration_max: Some(run.duration),
        rounds_max: None,
        findings_max: usize::MAX,
        known: Known::default(),
        hang_max: run.hang,
        directory: directory.to_path_buf(),
        trace: None,
        stop,
        wanted: Some(wanted.to_string()),
        leave_after: None,
    })
}
