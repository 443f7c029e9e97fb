//! One job of a run: harness after harness over its own rounds, each round judged here. Numbers of
//! rounds come in; [`Note`]s of what matters go out. Runs on a thread of its own, which must live
//! as long as its harness. Does not know the other jobs, nor what is done with its notes.
//!
//! - `long`: Long rounds, which come in parts: each part is judged when it comes, and the round is
//!   over for us with the first return that no order explains.

mod long;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::job_recordings::JobRecordings;
use super::judge;
use super::judge::{Judge, Judged};
use super::online_round::OnlineRound;
use super::oversubscription::CallRates;
use super::statistics::Tally;
use super::{Options, Uncontrolled};
use crate::binary::symbols::SourceLines;
use crate::check::{self, Limits, Verdict};
use crate::core::history::History;
use crate::core::operation::Op;
use crate::core::plan::{Engine, Job};
use crate::finding::source_text;
use crate::finding::{Failure, Finding};
use crate::model::Spec;
use crate::process::fault::Fault;
use crate::process::rr::recording::Recording;
use crate::process::supervise::{Event, Harness};
use crate::trace::frame::{Bye, Growth, Hello, ProblemKind, RoundEnd, RoundStart};
use crate::trace::rounds::{Part, Round};

/// What one round's check may spend, so that a hard one does not hold up the run.
const CONFIGURATIONS_MAX: usize = 1 << 16;
const STEPS_MAX: u64 = 2_000_000;

/// Time without progress may be the machine's fault; processor time without a step is not, and
/// needs so many times less to be a hang.
const HANG_PART: u64 = 4;

/// The rounds of one job: every `step`th from `first` on, before `end` if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    pub first: u64,
    pub step: u64,
    pub end: Option<u64>,
}

impl Lane {
    /// The first of its rounds that is not before `round`.
    fn at_or_after(&self, round: u64) -> u64 {
        let steps = round.saturating_sub(self.first).div_ceil(self.step);
        self.first.saturating_add(steps.saturating_mul(self.step))
    }

    fn has(&self, round: u64) -> bool {
        self.end.is_none_or(|end| round < end)
    }
}

/// A violation or fault, with what was recorded of it.
#[derive(Clone)]
pub struct Sighting {
    pub finding: Finding,
    pub hello: Box<Hello>,
    pub round: Round,
    /// The last of what the target printed.
    pub output: String,
    /// How the round was scheduled, where it was.
    pub(super) policy: Option<String>,
    /// The calls did not even overlap.
    pub(super) sequential: bool,
    /// Of the rr engine; none where a shorter sighting of the same was told before.
    pub(super) recording: Option<Arc<Recording>>,
}

/// What a worker has to tell.
pub(super) enum Note {
    /// The target is loaded.
    Hello(Box<Hello>, Spec),
    Tally(Box<Tally>),
    /// A round as recorded; only where the run keeps them.
    Round(Box<Round>),
    /// A part of one, likewise.
    Part(Box<Part>),
    Seen(Box<Sighting>),
    Growth(Growth),
    Warning(String),
    /// The job's end; the last note.
    Ended(Result<()>),
}

/// Carries one job out.
pub(super) struct Worker<'a> {
    options: &'a Options,
    lane: Lane,
    /// A directory for this job alone.
    scratch: &'a Path,
    /// Takes a note; false when no more are wanted.
    tell: &'a mut dyn FnMut(Note) -> bool,
    /// Native threads must not take turns with the judge (see [`super::judge`]).
    judge: Option<Judge>,
    lines: SourceLines,
    hello: Option<(Box<Hello>, Spec)>,
    /// A long round that is under way.
    watch: Option<OnlineRound>,
    tally: Tally,
    wanted: bool,
    doubt_told: bool,
    recordings: JobRecordings,
    call_rates: CallRates,
}

impl<'a> Worker<'a> {
    pub fn new(
        options: &'a Options,
        lane: Lane,
        scratch: &'a Path,
        tell: &'a mut dyn FnMut(Note) -> bool,
    ) -> Worker<'a> {
        let judge = (options.plan.engine == Engine::Native).then(Judge::start);
        let (lines, tally) = (SourceLines::of(&options.library), Tally::default());
        let (hello, wanted, recordings) = (None, true, JobRecordings::for_plan(&options.plan));
        Worker {
            options,
            lane,
            scratch,
            tell,
            judge,
            lines,
            hello,
            watch: None,
            tally,
            wanted,
            doubt_told: false,
            recordings,
            call_rates: CallRates::new(),
        }
    }

    /// Does the job's rounds until there are no more or no more are wanted.
    pub fn run(&mut self) -> Result<()> {
        let mut next = Some(self.lane.first);
        while let Some(round) = next.filter(|round| self.lane.has(*round) && self.wanted) {
            let files = self.scratch.join(format!("target-{round}"));
            std::fs::create_dir_all(&files).context("cannot make a temporary directory")?;
            let job = Job {
                plan: self.options.plan.clone(),
                library: self.options.library.clone(),
                round_first: round,
                round_step: self.lane.step,
                round_end: self.lane.end,
                hang_milliseconds: self.options.hang_max.as_millis() as u64 / HANG_PART,
                milliseconds_max: self.recordings.milliseconds_max(),
                directory: files.clone(),
            };
            let (program, job_file) = (&self.options.harness, self.scratch.join("job.json"));
            let words = self.recordings.begin(self.scratch);
            let hang_max = self.recordings.hang_max(self.options.hang_max);
            self.tally.processes += 1;
            let harness = Harness::start(&words, program, &job, &job_file, hang_max)?;
            next = self.attend(harness, round)?.map(|round| self.lane.at_or_after(round));
            self.recordings.end();
            self.tell_tally();
            // What cannot be deleted now goes with the whole scratch directory.
            let _ = std::fs::remove_dir_all(&files);
        }
        Ok(())
    }

    /// Follows one harness, which begins with `first`, until it ends or is not needed any more;
    /// gives the round to go on with.
    fn attend(&mut self, mut harness: Harness, first: u64) -> Result<Option<u64>> {
        let mut next = first;
        while self.wanted {
            match harness.next_event()? {
                Event::Hello(hello) => self.meet(hello)?,
                Event::Rounds(rounds) => {
                    for round in rounds {
                        next = round.start.round + 1;
                        self.keep(&round);
                        self.judge(round, &mut harness)?;
                        if !self.wanted {
                            return Ok(None);
                        }
                        if self.recordings.is_claimed() {
                            return Ok(Some(next));
                        }
                    }
                }
                Event::Part(part) => {
                    next = part.start.round + u64::from(part.end.is_some());
                    if self.part(*part, &harness)? {
                        return Ok(Some(next + 1));
                    }
                }
                Event::Fault(_) if self.recordings.is_broken(&harness.output()) => {
                    let says = self.recordings.trouble(&harness.output(), next > first)?;
                    self.tell(Note::Warning(says));
                    return Ok(Some(next));
                }
                // A round that ends its process by itself does so in a fresh one, too.
                Event::Fault(fault) if self.is_doubtful(&fault) && fault.round > first => {
                    self.tell_doubtful(&fault);
                    return Ok(Some(fault.round));
                }
                Event::Fault(fault) => {
                    let next = fault.round + 1;
                    self.faulted(*fault)?;
                    return Ok(Some(next));
                }
                Event::Problem(problem) => match problem.kind {
                    ProblemKind::Uncontrolled => bail!(Uncontrolled::Refused(problem.what)),
                    ProblemKind::Adapter => {
                        bail!("adapter {}: {problem}", self.options.plan.build.adapter)
                    }
                },
                Event::Bye(Bye { next_round, grown }) => {
                    if let Some(growth) = grown {
                        self.tell(Note::Growth(growth));
                    }
                    return Ok(next_round);
                }
                Event::Quiet => self.look_at_call_rates(&harness),
            }
            self.tell_tally();
        }
        self.cut(&mut harness)?;
        Ok(None)
    }

    /// A round of native threads may crawl, and this one go on for as long as the run does.
    fn look_at_call_rates(&mut self, harness: &Harness) {
        if self.options.plan.engine == Engine::Native
            && self.watch.is_none()
            && let Some((round, threads, bytes)) = harness.under_way()
            && let Some(hint) = self.call_rates.look(round, threads, bytes)
        {
            self.tell(Note::Warning(hint));
        }
    }

    fn tell(&mut self, note: Note) {
        self.wanted &= (self.tell)(note);
    }

    /// Whether the end of a process may not be the fault of its last round.
    fn is_doubtful(&self, fault: &Fault) -> bool {
        let controlled = self.options.plan.engine == Engine::Controlled;
        fault.grown || (controlled && fault.was_killed())
    }

    fn tell_doubtful(&mut self, fault: &Fault) {
        if !std::mem::replace(&mut self.doubt_told, true) {
            let (round, what) = (fault.round, Failure::fault(fault, Vec::new()));
            let why = match fault.grown {
                true => "Its process had grown much in the rounds before",
                false => "Its process was killed, by the kernel for want of memory or by somebody",
            };
            self.tell(Note::Warning(format!(
                "round {round}: {what} {why}, so the round is carried out again in a fresh one; \
                 only what happens there counts"
            )));
        }
    }

    /// Also asks whether more is wanted when there is nothing to tell.
    fn tell_tally(&mut self) {
        let tally = std::mem::take(&mut self.tally);
        self.tell(Note::Tally(Box::new(tally)));
    }

    /// Passes a round on to the trace, where one is wanted.
    fn keep(&mut self, round: &Round) {
        if self.options.trace.is_some() {
            self.tell(Note::Round(Box::new(round.clone())));
        }
    }

    /// Takes note of the target; its operations must be the model's.
    fn meet(&mut self, hello: Box<Hello>) -> Result<()> {
        if let Some((known, _)) = &mut self.hello {
            // Each process has its code elsewhere.
            known.code = hello.code;
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
        self.hello = Some((hello.clone(), model));
        self.tell(Note::Hello(hello, model));
        Ok(())
    }

    fn judge(&mut self, round: Round, harness: &mut Harness) -> Result<()> {
        let (hello, model) = self.hello.as_ref().context("a harness says hello first")?;
        let counter = self.tally.counter.take().unwrap_or_default();
        let Judged { mut round, overlap, verdict, alone, counter } = match &self.judge {
            Some(judge) => judge.judge(round, *model, self.limits(), counter),
            None => judge::judge(round, model, &self.limits(), counter),
        };
        let tally = &mut self.tally;
        tally.counter = Some(counter);
        tally.rounds += 1;
        tally.overlap.operations += overlap.operations;
        tally.overlap.overlapping += overlap.overlapping;
        let rate = calls_per_second(&round.start, &round.history, hello);
        tally.calls_per_second_max = tally.calls_per_second_max.max(rate);
        if self.options.plan.engine == Engine::Native && !round.start.sequential {
            self.call_rates.add(round.start.threads, overlap.operations as u64, rate);
        }
        if let Some(steps) = &round.end.steps {
            tally.add_steps(steps, round.start.sequential);
        }
        let mut witness = match verdict {
            Verdict::Consistent => return Ok(()),
            Verdict::Inconclusive(reason) => {
                *tally.inconclusive.entry(reason).or_default() += 1;
                return Ok(());
            }
            Verdict::Violation(witness) => witness,
        };
        tally.violations += 1;
        let sequential = alone.is_some();
        if let Some(history) = alone {
            round.history = history;
            witness.explanation += " The calls did not overlap: the structure fails even without \
                                    concurrency, or the adapter or the model it names does not \
                                    fit it.";
        }
        let (plan, model) = (&self.options.plan, model.to_string());
        let finding = Finding::violation(&witness, &round.history, plan, &model);
        if self.recordings.wants(&finding.signature, round.history.len()) {
            harness.put_down_after(round.start.round)?;
        }
        self.seen(finding, round, harness.output(), sequential);
        Ok(())
    }

    fn faulted(&mut self, mut fault: Fault) -> Result<()> {
        self.tally.faults += 1;
        let Some((hello, model)) = &self.hello else {
            let adapter = &self.options.plan.build.adapter;
            let what = Failure::fault(&fault, Vec::new());
            bail!("adapter {adapter}: {what}\n{}", fault.output.trim_end());
        };
        fault.locate(&mut self.lines, hello.code);
        let model = *model;
        self.tally.add_fault(&fault);
        let watch = self.watch.take().filter(|watch| watch.start.round == fault.round);
        let is_long = watch.is_some();
        let (verdict, note) = match watch {
            _ if !fault.complete => {
                let why = "the target overwrote records".to_string();
                (Verdict::Inconclusive(why), None)
            }
            Some(watch) => self.end_by_fault(watch, &mut fault),
            None => (check::check(&fault.history, &model, &self.limits()), None),
        };
        let (plan, model) = (&self.options.plan, model.to_string());
        let lines = source_text::fault_lines(fault.sources());
        let finding = Finding::fault(&fault, lines, plan, &model);
        let output = std::mem::take(&mut fault.output);
        let round = round_of(fault);
        if !is_long {
            self.keep(&round);
        }
        if let Some(steps) = &round.end.steps {
            self.tally.add_steps(steps, false);
        }
        if let Verdict::Violation(mut witness) = verdict {
            witness.explanation += note.as_deref().unwrap_or_default();
            let finding = Finding::violation(&witness, &round.history, plan, &model);
            self.recordings.wants(&finding.signature, round.history.len());
            self.seen(finding, round.clone(), output.clone(), false);
        }
        self.recordings.wants(&finding.signature, round.history.len());
        self.seen(finding, round, output, false);
        Ok(())
    }

    fn seen(&mut self, mut finding: Finding, round: Round, output: String, sequential: bool) {
        finding.round = round.start.round;
        // What was counted before comes first, so that the finding is told with its time.
        self.tell_tally();
        let Some((hello, _)) = &self.hello else { return };
        let (hello, policy) = (hello.clone(), round.end.steps.as_ref().map(|s| s.policy.clone()));
        let recording = self.recordings.take();
        let sighting = Sighting { finding, hello, round, output, policy, sequential, recording };
        self.tell(Note::Seen(Box::new(sighting)));
    }

    fn limits(&self) -> Limits {
        Limits {
            configurations_max: CONFIGURATIONS_MAX,
            steps_max: STEPS_MAX,
            cancelled: Some(Arc::clone(&self.options.stop)),
            ..Limits::default()
        }
    }
}

/// The round that a fault ended.
fn round_of(fault: Fault) -> Round {
    let (round, threads) = (fault.round, fault.threads);
    Round {
        start: RoundStart { round, threads, calls: 0, sequential: false, fresh: false },
        end: RoundEnd { round, drained: false, fault: Some(fault.kind.name()), steps: fault.steps },
        history: fault.history,
    }
}

/// Calls of the round's threads, without the drain, over the time from the first to the last.
fn calls_per_second(start: &RoundStart, history: &History, hello: &Hello) -> f64 {
    let callers = history.threads.iter().filter(|t| t.client < start.threads);
    let (mut calls, mut first, mut last) = (0, u64::MAX, 0);
    for thread in callers {
        calls += thread.operations().len();
        first = first.min(thread.operations().first().map_or(u64::MAX, |o| o.start));
        last = last.max(thread.operations().last().map_or(0, |o| o.start));
    }
    let seconds = last.saturating_sub(first) as f64 * hello.clock.nanoseconds_per_unit / 1e9;
    if seconds > 0.0 { calls as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_goes_on_with_its_own_rounds() {
        let lane = Lane { first: 5, step: 6, end: Some(18) };
        let next: Vec<u64> = [0, 5, 6, 11, 12, 17].map(|at| lane.at_or_after(at)).to_vec();
        assert_eq!(next, [5, 5, 11, 11, 17, 17]);
        assert!(lane.has(17) && !lane.has(23));
    }
}
