//! A run: starts harnesses one after the other, judges every round they send, keeps what is found.
//! A plan and limits come in; findings on disk and a summary go out. What happens on the way is
//! told to an [`Observer`]; nothing is printed here.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::check::{self, Limits, Verdict};
use crate::fault::Fault;
use crate::finding::{Finding, REPORT_FILE, Stored};
use crate::judge::{Judge, Judged};
use crate::model::Spec;
use crate::operation::Op;
use crate::plan::{Job, Plan};
use crate::report::text;
use crate::supervise::{Event, Harness};
use crate::trace::frame::{Growth, Hello, RoundEnd, RoundStart};
use crate::trace::rounds::Round;

/// What one round's check may spend, so that a hard one does not hold up the run.
const CONFIGURATIONS_MAX: usize = 1 << 16;
const STEPS_MAX: u64 = 2_000_000;

/// What is wanted of a run besides its plan.
pub struct Options {
    pub plan: Plan,
    /// The compiled adapter and the harness program.
    pub library: PathBuf,
    pub harness: PathBuf,
    pub duration_max: Option<Duration>,
    pub rounds_max: Option<u64>,
    /// Distinct findings after which the run ends.
    pub findings_max: usize,
    /// Time without any progress that counts as a hang.
    pub hang_max: Duration,
    /// Where findings go, a directory each.
    pub directory: PathBuf,
    /// Set from outside to end the run; what was found is kept.
    pub stop: Arc<AtomicBool>,
    /// End as soon as a finding with this signature is seen.
    pub wanted: Option<String>,
}

/// How far a run has got.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub rounds: u64,
    pub operations: u64,
    /// Operations that overlapped one of another thread.
    pub overlapping: u64,
    pub elapsed: Duration,
    /// Calls per second of the fastest round, from its first call to its last.
    pub calls_per_second_max: f64,
    pub findings: usize,
    /// Violations and faults seen, known ones included.
    pub sightings: u64,
    /// Harness processes that ended in a fault.
    pub faults: u64,
    /// Rounds that could not be decided within the limits, by reason.
    pub inconclusive: BTreeMap<String, u64>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Time,
    Rounds,
    Findings,
    /// The wanted finding was seen.
    Wanted,
    Stopped,
    /// The target does not follow its model even when called from one thread at a time.
    NotSequential,
}

/// What a run leaves behind.
pub struct Summary {
    pub hello: Box<Hello>,
    pub model: Spec,
    pub statistics: Statistics,
    /// Each distinct finding, in the order of their first sightings.
    pub findings: Vec<Stored>,
    pub ending: Ending,
}

/// Told what happens during a run.
pub trait Observer {
    fn started(&mut self, hello: &Hello, model: &Spec);
    fn progressed(&mut self, statistics: &Statistics);
    /// A finding that was not seen before in this run; its directory is written.
    fn found(&mut self, stored: &Stored);
    fn warned(&mut self, warning: &str);
}

/// Carries the plan out.
pub fn fuzz(options: &Options, observer: &mut dyn Observer) -> Result<Summary> {
    let scratch = tempfile::Builder::new()
        .prefix("interlap-")
        .tempdir()
        .context("cannot make a temporary directory")?;
    let mut run = Run {
        options,
        observer,
        started: Instant::now(),
        statistics: Statistics::default(),
        findings: Vec::new(),
        by_signature: HashMap::new(),
        hello: None,
        next_round: 0,
        ending: None,
        growth_told: false,
        judge: Judge::start(),
    };
    while run.ending.is_none() {
        let target_files = scratch.path().join(format!("target-{}", run.next_round));
        std::fs::create_dir(&target_files).context("cannot make a temporary directory")?;
        let job = Job {
            plan: options.plan.clone(),
            library: options.library.clone(),
            round_first: run.next_round,
            round_step: 1,
            round_end: options.rounds_max,
            directory: target_files.clone(),
        };
        let job_file = scratch.path().join("job.json");
        let harness = Harness::start(&options.harness, &job, &job_file, options.hang_max)?;
        run.attend(harness)?;
        // What cannot be deleted now goes with the whole scratch directory.
        let _ = std::fs::remove_dir_all(&target_files);
    }
    run.finish()
}

struct Run<'a> {
    options: &'a Options,
    observer: &'a mut dyn Observer,
    started: Instant,
    statistics: Statistics,
    findings: Vec<Stored>,
    by_signature: HashMap<String, usize>,
    hello: Option<(Box<Hello>, Spec)>,
    next_round: u64,
    ending: Option<Ending>,
    growth_told: bool,
    judge: Judge,
}

impl Run<'_> {
    /// Follows one harness until it ends or is not needed any more.
    fn attend(&mut self, mut harness: Harness) -> Result<()> {
        loop {
            match harness.next_event()? {
                Event::Hello(hello) => self.meet(hello)?,
                Event::Rounds(rounds) => {
                    for round in rounds {
                        self.judge(round, &harness)?;
                        if self.is_over() {
                            return Ok(());
                        }
                    }
                }
                Event::Fault(fault) => {
                    self.next_round = fault.round + 1;
                    return self.faulted(*fault);
                }
                Event::Problem(problem) => {
                    bail!("adapter {}: {problem}", self.options.plan.build.adapter)
                }
                Event::Bye(bye) => {
                    match bye.next_round {
                        Some(round) => self.next_round = round,
                        None => self.ending = Some(Ending::Rounds),
                    }
                    if let Some(growth) = bye.grown {
                        self.tell_growth(growth);
                    }
                    return Ok(());
                }
                Event::Quiet => {}
            }
            if self.is_over() {
                return Ok(());
            }
            self.statistics.elapsed = self.started.elapsed();
            self.observer.progressed(&self.statistics);
        }
    }

    /// Takes note of the target; its operations must be the model's.
    fn meet(&mut self, hello: Box<Hello>) -> Result<()> {
        if self.hello.is_some() {
            return Ok(());
        }
        let adapter = &self.options.plan.build.adapter;
        let wanted = self.options.plan.model.as_ref().unwrap_or(&hello.target.model);
        let model: Spec = wanted.parse().map_err(anyhow::Error::msg)?;
        for code in &hello.target.operations {
            let op = Op::from_code(*code).context("the harness checked the operations")?;
            if !model.accepts(op) {
                let (name, family) = (op.name(), op.family().name());
                bail!("adapter {adapter} offers {name} of a {family}; model {model} has none");
            }
        }
        let named = |name: &str| {
            let mut ops = hello.target.operations.iter().filter_map(|code| Op::from_code(*code));
            ops.any(|op| op.name() == name)
        };
        if let Some((name, _)) = self.options.plan.weights.iter().find(|(name, _)| !named(name)) {
            bail!("adapter {adapter} offers no operation '{name}' to give a weight to");
        }
        // Loading the target does not count: on a busy machine it can take a while.
        self.started = Instant::now();
        self.observer.started(&hello, &model);
        self.hello = Some((hello, model));
        Ok(())
    }

    fn judge(&mut self, round: Round, harness: &Harness) -> Result<()> {
        let (hello, model) = self.hello.as_ref().context("a harness says hello first")?;
        let Judged { round, overlap, verdict, alone } =
            self.judge.judge(round, *model, self.limits());
        self.statistics.rounds += 1;
        self.statistics.operations += overlap.operations as u64;
        self.statistics.overlapping += overlap.overlapping as u64;
        let rate = calls_per_second(&round, hello.clock.nanoseconds_per_unit);
        self.statistics.calls_per_second_max = self.statistics.calls_per_second_max.max(rate);
        let (hello, model) = (hello.clone(), model.to_string());
        match verdict {
            Verdict::Consistent => Ok(()),
            Verdict::Inconclusive(reason) => {
                *self.statistics.inconclusive.entry(reason).or_default() += 1;
                Ok(())
            }
            Verdict::Violation(mut witness) => {
                let mut round = round;
                if let Some(history) = alone {
                    round.history = history;
                    self.ending = Some(Ending::NotSequential);
                    witness.explanation += " The calls did not overlap: either the adapter or \
                                            the model it names does not fit the structure.";
                }
                let plan = &self.options.plan;
                let finding = Finding::violation(&witness, &round.history, plan, &model);
                self.keep(finding, hello, round, harness.output())
            }
        }
    }

    fn faulted(&mut self, fault: Fault) -> Result<()> {
        self.statistics.faults += 1;
        let Some((hello, model)) = self.hello.clone() else {
            let adapter = &self.options.plan.build.adapter;
            bail!("adapter {adapter}: {}\n{}", fault.sentence(), fault.output.trim_end());
        };
        let verdict = match fault.complete {
            true => check::check(&fault.history, &model, &self.limits()),
            false => Verdict::Inconclusive("the target overwrote records".to_string()),
        };
        let finding = Finding::fault(&fault, &self.options.plan, &model.to_string());
        let round = Round {
            start: RoundStart {
                round: fault.round,
                threads: fault.threads,
                calls: 0,
                sequential: false,
                fresh: false,
            },
            end: RoundEnd {
                round: fault.round,
                drained: false,
                fault: Some(fault.sentence()),
                steps: None,
            },
            history: fault.history,
        };
        if let Verdict::Violation(witness) = verdict {
            let plan = &self.options.plan;
            let finding = Finding::violation(&witness, &round.history, plan, &model.to_string());
            self.keep(finding, hello.clone(), round.clone(), fault.output.clone())?;
        }
        self.keep(finding, hello, round, fault.output)
    }

    /// Keeps a finding: a new one as it is; of one that is known, the shortest sighting.
    fn keep(
        &mut self,
        mut finding: Finding,
        hello: Box<Hello>,
        round: Round,
        output: String,
    ) -> Result<()> {
        self.statistics.sightings += 1;
        self.statistics.elapsed = self.started.elapsed();
        if self.options.wanted.as_ref().is_some_and(|wanted| *wanted == finding.signature) {
            self.ending = Some(Ending::Wanted);
        }
        finding.round = round.start.round;
        finding.after_rounds = self.statistics.rounds;
        finding.after_seconds = self.statistics.elapsed.as_secs_f64();
        let directory = self.options.directory.join(&finding.name);
        if let Some(&known) = self.by_signature.get(&finding.signature) {
            let first = &self.findings[known].finding;
            finding.sightings = first.sightings + 1;
            finding.after_rounds = first.after_rounds;
            finding.after_seconds = first.after_seconds;
            if round.history.len() >= self.findings[known].round.history.len() {
                self.findings[known].finding.sightings += 1;
                return Ok(());
            }
            let stored = Stored { finding, hello, round, output, directory };
            save(&stored)?;
            self.findings[known] = stored;
            return Ok(());
        }
        let stored = Stored { finding, hello, round, output, directory };
        save(&stored)?;
        self.observer.found(&stored);
        self.by_signature.insert(stored.finding.signature.clone(), self.findings.len());
        self.findings.push(stored);
        self.statistics.findings = self.findings.len();
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            configurations_max: CONFIGURATIONS_MAX,
            steps_max: STEPS_MAX,
            cancelled: Some(Arc::clone(&self.options.stop)),
        }
    }

    fn is_over(&mut self) -> bool {
        let time = |max: Duration| self.started.elapsed() >= max;
        let ending = if self.options.stop.load(Ordering::Relaxed) {
            Some(Ending::Stopped)
        } else if self.hello.is_none() {
            None
        } else if self.findings.len() >= self.options.findings_max {
            Some(Ending::Findings)
        } else if self.options.duration_max.is_some_and(time) {
            Some(Ending::Time)
        } else {
            None
        };
        self.ending = self.ending.or(ending);
        self.ending.is_some()
    }

    fn tell_growth(&mut self, growth: Growth) {
        if self.growth_told {
            return;
        }
        self.growth_told = true;
        let (mib, rounds) = (growth.bytes >> 20, growth.rounds);
        self.observer.warned(&format!(
            "the target's process grew by {mib} MiB in {rounds} rounds and was started anew: \
             destroy or leave may not free everything that create, enter and the calls took"
        ));
    }

    fn finish(mut self) -> Result<Summary> {
        self.statistics.elapsed = self.started.elapsed();
        for stored in &self.findings {
            save(stored)?;
        }
        let (hello, model) = self.hello.context("stopped before the target was loaded")?;
        let ending = self.ending.expect("the loop in fuzz runs until there is one");
        Ok(Summary { hello, model, statistics: self.statistics, findings: self.findings, ending })
    }
}

fn save(stored: &Stored) -> Result<()> {
    stored.save()?;
    let path = stored.directory.join(REPORT_FILE);
    std::fs::write(&path, text::render(stored))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Calls of the round's threads, without the drain, over the time from the first to the last.
fn calls_per_second(round: &Round, ns_per_unit: f64) -> f64 {
    let callers = round.history.threads.iter().filter(|t| t.client < round.start.threads);
    let (mut calls, mut first, mut last) = (0, u64::MAX, 0);
    for thread in callers {
        calls += thread.operations().len();
        first = first.min(thread.operations().first().map_or(u64::MAX, |o| o.start));
        last = last.max(thread.operations().last().map_or(0, |o| o.start));
    }
    let seconds = last.saturating_sub(first) as f64 * ns_per_unit / 1e9;
    if seconds > 0.0 { calls as f64 / seconds } else { 0.0 }
}
