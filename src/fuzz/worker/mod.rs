//! Runs one job: starts a harness for its rounds, another one after each end, and checks each
//! round. It sends [`Message`]s to the collector. Its thread must live as long as its harness.
//!
//! - `checked`: Checks rounds and what faults left of one, and counts them.
//! - `long`: Checks long rounds part by part, and ends one with the first response that no order
//!   explains.

mod checked;
mod long;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::check_thread::CheckThread;
use super::job_recordings::JobRecordings;
use super::online_round::OnlineRound;
use super::oversubscription::CallRates;
use super::statistics::JobCounts;
use super::{Options, Uncontrolled, Warning};
use crate::adapter::compile::MISSING_DEFINITION;
use crate::binary::symbols::SourceLines;
use crate::binary::{atomics, names};
use crate::check::Limits;
use crate::core::memory_order::OrderedAccess;
use crate::core::plan::{Engine, Job, RacePlaces};
use crate::finding::source_text;
use crate::finding::trust::LocalOrigin;
use crate::finding::{Failure, Finding, Stored};
use crate::model::Spec;
use crate::process::fault::Fault;
use crate::process::rr::recording::Recording;
use crate::process::supervise::{Event, Harness};
use crate::trace::area::Stage;
use crate::trace::frame::{Bye, Growth, Hello, ProblemKind};
use crate::trace::kept::{JudgedRound, Made};
use crate::trace::rounds::{Finished, Part, Round};

/// Limits on the check of one round, so that a hard one does not delay the run.
const CONFIGURATIONS_MAX: usize = 1 << 16;
const STEPS_MAX: u64 = 2_000_000;

/// Processor time without a step is a hang after the time without progress divided by this, because
/// a busy machine cannot be the cause.
const HANG_PART: u64 = 4;

/// The rounds of one job: every `step`th from `first` on, before `end` if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobRounds {
    pub first: u64,
    pub step: u64,
    pub end: Option<u64>,
}

impl JobRounds {
    /// The first of its rounds that is not before `round`.
    fn at_or_after(&self, round: u64) -> u64 {
        let steps = round.saturating_sub(self.first).div_ceil(self.step);
        self.first.saturating_add(steps.saturating_mul(self.step))
    }

    fn includes(&self, round: u64) -> bool {
        self.end.is_none_or(|end| round < end)
    }
}

/// A violation or fault with its recorded round.
#[derive(Clone)]
pub struct Sighting {
    pub finding: Finding,
    pub hello: Box<Hello>,
    pub round: Round,
    /// The end of the target's output.
    pub output: String,
    /// The scheduling policy of the controlled engine.
    pub(super) policy: Option<String>,
    /// Whether no calls overlapped.
    pub(super) sequential: bool,
    /// By rr; none if a shorter sighting of the same signature was sent before.
    pub(super) recording: Option<Arc<Recording>>,
}

impl Sighting {
    /// As a finding of this run, with a directory of its own.
    pub fn stored(self, options: &Options) -> Stored {
        let Sighting { finding, hello, round, output, .. } = self;
        let directory = options.directory.join(&finding.name);
        let (interleaving, made) = (None, options.key.map(LocalOrigin::with));
        Stored { finding, hello, round, output, directory, interleaving, made }
    }
}

/// A message to the collector.
pub(super) enum Message {
    /// The target is loaded.
    Hello(Box<Hello>, Spec),
    Counts(Box<JobCounts>),
    /// A recorded round, if the run keeps a trace.
    Round(Box<Round>),
    /// A part of a long round, likewise.
    Part(Box<Part>),
    /// What was made of a round that is kept.
    Judged(JudgedRound),
    Seen(Box<Sighting>),
    Growth(Growth),
    /// The atomic accesses that were made, if the plan asks for them.
    Orders(Vec<OrderedAccess>),
    Warning(Warning),
    /// The job's end; the last message.
    Ended(Result<()>),
}

/// One job under way.
pub(super) struct Worker<'a> {
    options: &'a Options,
    rounds: JobRounds,
    /// A directory for this job alone.
    scratch: &'a Path,
    /// Sends a message; returns whether more are wanted.
    send: &'a mut dyn FnMut(Message) -> bool,
    /// For native threads, which must not compete with the checker (see [`super::check_thread`]).
    check_thread: Option<CheckThread>,
    lines: SourceLines,
    hello: Option<(Box<Hello>, Spec)>,
    /// The current long round.
    long_round: Option<OnlineRound>,
    counts: JobCounts,
    /// Whether it sends all rounds, kept or not.
    sends_rounds: bool,
    wanted: bool,
    is_doubt_reported: bool,
    recordings: JobRecordings,
    /// The data races that were seen.
    races: Vec<RacePlaces>,
    call_rates: CallRates,
}

impl<'a> Worker<'a> {
    pub fn new(
        options: &'a Options,
        rounds: JobRounds,
        scratch: &'a Path,
        send: &'a mut dyn FnMut(Message) -> bool,
    ) -> Worker<'a> {
        let check_thread = (options.plan.engine == Engine::Native).then(CheckThread::start);
        let (lines, counts) = (SourceLines::for_library(&options.library), JobCounts::default());
        let (hello, wanted, recordings) = (None, true, JobRecordings::for_plan(&options.plan));
        Worker {
            options,
            rounds,
            scratch,
            send,
            check_thread,
            lines,
            hello,
            long_round: None,
            counts,
            sends_rounds: false,
            wanted,
            is_doubt_reported: false,
            recordings,
            races: Vec::new(),
            call_rates: CallRates::new(),
        }
    }

    /// Sends the rounds, whether or not the run keeps them.
    pub fn keeping_rounds(self) -> Worker<'a> {
        Worker { sends_rounds: true, ..self }
    }

    /// Does the job's rounds until there are no more or no more are wanted.
    pub fn run(&mut self) -> Result<()> {
        let weakened = atomics::weakened(&self.options.library, &self.options.plan.control.weaken)?;
        let mut next = Some(self.rounds.first);
        while let Some(round) = next.filter(|round| self.rounds.includes(*round) && self.wanted) {
            let files = self.scratch.join(format!("target-{round}"));
            std::fs::create_dir_all(&files).context("cannot make a temporary directory")?;
            let job = Job {
                plan: self.options.plan.clone(),
                library: self.options.library.clone(),
                round_first: round,
                round_step: self.rounds.step,
                round_end: self.rounds.end,
                hang_milliseconds: self.options.hang_max.as_millis() as u64 / HANG_PART,
                milliseconds_max: self.recordings.milliseconds_max(),
                races_known: self.races.clone(),
                weakened: weakened.clone(),
                directory: files.clone(),
                judges: self.options.plan.engine == Engine::Controlled
                    && !self.sends_rounds
                    && self.options.keep.is_none(),
            };
            let (program, job_file) = (&self.options.harness, self.scratch.join("job.json"));
            let words = self.recordings.begin(self.scratch);
            let hang_max = self.options.hang_max;
            self.counts.processes += 1;
            let harness = Harness::start(&words, program, &job, &job_file, hang_max)?;
            next = self.follow(harness, round)?.map(|round| self.rounds.at_or_after(round));
            self.recordings.end();
            self.send_counts();
            // What cannot be deleted now is deleted with the scratch directory.
            let _ = std::fs::remove_dir_all(&files);
        }
        Ok(())
    }

    /// Follows one harness, which begins with round `first`, until it ends or nothing more is
    /// wanted. Returns the round to continue with.
    fn follow(&mut self, mut harness: Harness, first: u64) -> Result<Option<u64>> {
        let mut next = first;
        while self.wanted {
            match harness.next_event()? {
                Event::Hello(hello) => self.check_target(hello)?,
                Event::Rounds(rounds) => {
                    if !self.take_rounds(rounds, &mut harness, &mut next)? {
                        return Ok(self.wanted.then_some(next));
                    }
                }
                Event::Part(part) => {
                    next = part.start.round + u64::from(part.end.is_some());
                    if self.check_part(*part, &harness)? {
                        return Ok(Some(next + 1));
                    }
                }
                Event::Fault(_) if self.recordings.is_broken(&harness.output()) => {
                    let says = self.recordings.failure(&harness.output(), next > first)?;
                    self.send(Message::Warning(Warning::Other(says)));
                    return Ok(Some(next));
                }
                Event::Fault(fault) if fault.stage == Stage::Model => bail!(
                    "adapter {}: its sequential model (INTERLAP_MODEL) crashed or did not return \
                     when it was called one call at a time; that is a mistake of the model, not of \
                     the structure{}",
                    self.options.plan.build.adapter,
                    said(&harness.output())
                ),
                // A round that ends its process by itself also ends a fresh one.
                Event::Fault(fault) if self.is_doubtful(&fault) && fault.round > first => {
                    self.warn_of_doubt(&fault);
                    return Ok(Some(fault.round));
                }
                Event::Fault(fault) => {
                    // What else is wrong in a round shows when it is run again.
                    let next = fault.round + u64::from(!self.is_new_race(&fault));
                    self.check_fault(*fault)?;
                    return Ok(Some(next));
                }
                Event::Problem(problem) => match problem.kind {
                    ProblemKind::Uncontrolled => bail!(Uncontrolled::Refused(problem.what)),
                    ProblemKind::Adapter => {
                        bail!("adapter {}: {problem}", self.options.plan.build.adapter)
                    }
                    ProblemKind::Undefined => bail!(
                        "adapter {}: nothing defines {}; {MISSING_DEFINITION}",
                        self.options.plan.build.adapter,
                        names::readable(&problem.what)
                    ),
                },
                Event::Bye(bye) => return Ok(self.take_leave(bye)),
                Event::Stalled { round, seconds } => {
                    self.long_round = None;
                    self.send(Message::Warning(Warning::Stalled { round, seconds }));
                    return Ok(Some(round + 1));
                }
                Event::Quiet => self.observe_call_rates(&harness),
            }
            self.send_counts();
        }
        self.warn_if_stuck(&mut harness)?;
        self.end_long_round(&mut harness)?;
        Ok(None)
    }

    /// A harness has ended as planned: passes on what it has noted. Returns the round to continue
    /// with.
    fn take_leave(&mut self, Bye { next_round, grown, orders }: Bye) -> Option<u64> {
        if !orders.is_empty() {
            self.send(Message::Orders(orders));
        }
        if let Some(growth) = grown {
            self.send(Message::Growth(growth));
        }
        next_round
    }

    /// Takes finished rounds, and sets the one after them. Returns whether the harness is to go on.
    fn take_rounds(
        &mut self,
        rounds: Vec<Finished>,
        harness: &mut Harness,
        next: &mut u64,
    ) -> Result<bool> {
        for finished in rounds {
            *next = finished.round() + 1;
            let is_trusted = match finished {
                Finished::Judged(judged) => {
                    self.count_judged(&judged);
                    true
                }
                Finished::Whole(round) => {
                    if self.sends_rounds || self.keeps(round.start.round) {
                        self.send(Message::Round(Box::new(round.clone())));
                    }
                    self.check(round, harness)?
                }
            };
            if !is_trusted || !self.wanted || self.recordings.is_claimed() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The run ends while a round is under way: tells if that stands still, and where.
    fn warn_if_stuck(&mut self, harness: &mut Harness) -> Result<()> {
        let (Some(mut fault), Some((hello, _))) = (harness.stuck()?, &self.hello) else {
            return Ok(());
        };
        fault.locate(&mut self.lines, hello.code);
        let (round, lines) = (fault.round, source_text::fault_lines(fault.sources()));
        let (fault, patience) = (Box::new(Failure::fault(&fault, lines)), self.options.hang_max);
        self.counts.stuck += 1;
        self.send_counts();
        self.send(Message::Warning(Warning::Stuck { round, fault, patience }));
        Ok(())
    }

    /// A slow round of native threads may last as long as the run, so the current one counts, too.
    fn observe_call_rates(&mut self, harness: &Harness) {
        if self.options.plan.engine == Engine::Native
            && self.long_round.is_none()
            && let Some((round, threads, bytes)) = harness.current_round()
            && let Some(warning) = self.call_rates.observe(round, threads, bytes)
        {
            self.send(Message::Warning(warning));
        }
    }

    fn send(&mut self, message: Message) {
        self.wanted &= (self.send)(message);
    }

    /// Whether the fault is a data race, which does not end its round again.
    fn is_new_race(&mut self, fault: &Fault) -> bool {
        let code = self.hello.as_ref().and_then(|(hello, _)| hello.code);
        let race = code.and_then(|code| fault.race_places(code));
        let new = race.filter(|race| !self.races.contains(race));
        self.races.extend(new);
        new.is_some()
    }

    /// Whether something else than its last round may have ended the process.
    fn is_doubtful(&self, fault: &Fault) -> bool {
        let controlled = self.options.plan.engine == Engine::Controlled;
        fault.grown || (controlled && fault.was_killed())
    }

    fn warn_of_doubt(&mut self, fault: &Fault) {
        if !std::mem::replace(&mut self.is_doubt_reported, true) {
            let (round, grown) = (fault.round, fault.grown);
            let fault = Box::new(Failure::fault(fault, Vec::new()));
            self.send(Message::Warning(Warning::Doubtful { round, fault, grown }));
        }
    }

    /// Sends counts of nothing, too, to learn whether more is wanted.
    fn send_counts(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        self.send(Message::Counts(Box::new(counts)));
    }

    /// Whether a round is kept, whatever is made of it.
    fn keeps(&self, round: u64) -> bool {
        self.options.keep.as_ref().is_some_and(|keep| keep.keeps(round))
    }

    /// Tells what was made of a round, if it is kept. One that is not consistent always is.
    fn keep_judged(&mut self, judged: JudgedRound, round: Option<&Round>) {
        let Some(keep) = &self.options.keep else { return };
        if !keep.keeps(judged.round) {
            let Some(round) = round.filter(|_| judged.verdict != Made::Consistent) else { return };
            self.send(Message::Round(Box::new(round.clone())));
        }
        self.send(Message::Judged(judged));
    }

    /// Checks that the model accepts the target's operations, and that those with a weight exist.
    fn check_target(&mut self, hello: Box<Hello>) -> Result<()> {
        if let Some((known, _)) = &mut self.hello {
            // Each process has its code at another address.
            known.code = hello.code;
            return Ok(());
        }
        let adapter = &self.options.plan.build.adapter;
        let wanted = self.options.plan.model.as_ref().unwrap_or(&hello.target.model);
        let model: Spec = wanted.parse().map_err(anyhow::Error::msg)?;
        for op in &hello.target.operations {
            if !model.accepts(*op) {
                let (name, family) = (op.name(), op.family().name());
                bail!(
                    "adapter {adapter} offers {name} of a {family}; model {model} has none: name \
                     one that has it (--model), or rename methods that are no operations"
                );
            }
        }
        if model.kind.is_run() && self.options.plan.engine != Engine::Controlled {
            bail!(
                "model {model} makes the calls again in other orders, which only the controlled \
                 engine does; {adapter} is run by the {} one: use --engine controlled, or name \
                 another model (--model)",
                self.options.plan.engine.name()
            );
        }
        let named = |name: &str| hello.target.operations.iter().any(|op| op.name() == name);
        if let Some((name, _)) = self.options.plan.weights.iter().find(|(name, _)| !named(name)) {
            bail!("adapter {adapter} offers no operation '{name}' to give a weight to");
        }
        self.options.time.begin();
        self.hello = Some((hello.clone(), model));
        self.send(Message::Hello(hello, model));
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            configurations_max: CONFIGURATIONS_MAX,
            steps_max: STEPS_MAX,
            cancelled: Some(Arc::clone(&self.options.stop)),
            deadline: self.options.time.end_of_grace(),
            ..Limits::default()
        }
    }
}

/// What a process that died has said last, if anything.
fn said(output: &str) -> String {
    let last = output.trim().lines().last();
    last.map(|line| format!(": {line}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_continues_with_its_own_rounds() {
        let rounds = JobRounds { first: 5, step: 6, end: Some(18) };
        let next: Vec<u64> = [0, 5, 6, 11, 12, 17].map(|at| rounds.at_or_after(at)).to_vec();
        assert_eq!(next, [5, 5, 11, 11, 17, 17]);
        assert!(rounds.includes(17) && !rounds.includes(23));
    }
}
