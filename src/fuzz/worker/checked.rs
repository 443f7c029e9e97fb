//! Checks rounds and what faults left of one, and counts them. A round that the harness has judged,
//! too, shows whether its memory can be trusted.

use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::{Message, Sighting, Worker};
use crate::check::{self, Exhausted, Undecided, Verdict};
use crate::core::history::{History, NEVER, Operation};
use crate::core::plan::Engine;
use crate::finding::source_text;
use crate::finding::{Circumstance, Failure, Finding};
use crate::fuzz::check_thread::{CheckedRound, check_round};
use crate::fuzz::{FailedAtLoad, Warning};
use crate::process::fault::Fault;
use crate::process::supervise::Harness;
use crate::trace::frame::{Hello, RoundEnd, RoundStart};
use crate::trace::judged::{Judged, Judgement};
use crate::trace::kept::JudgedRound;
use crate::trace::rounds::Round;

impl Worker<'_> {
    /// Counts a round that the harness judged, which is not judged again.
    pub(super) fn count_judged(&mut self, judged: &Judged) {
        let counts = &mut self.counts;
        counts.count_round(false);
        counts.overlap.add(judged.overlap);
        counts.counter.get_or_insert_default().add_judged(judged);
        counts.add_steps(&judged.steps, false);
    }

    /// Checks a round. Returns whether the harness agrees, if it judged the round, too.
    pub(super) fn check(&mut self, round: Round, harness: &mut Harness) -> Result<bool> {
        let (hello, model) = self.hello.as_ref().context("a harness says hello first")?;
        let counter = self.counts.counter.take().unwrap_or_default();
        let (is_warm_up, model, limits) = (round.start.sequential, *model, self.limits());
        let (start, operations) = (round.start.clone(), round.history.len());
        let began = Instant::now();
        let checked = self.run_check(move || check_round(round, &model, &limits, counter));
        let counts = &mut self.counts;
        counts.count_round(is_warm_up);
        let Some(CheckedRound { mut round, overlap, verdict, alone, counter }) = checked else {
            counts.count_undecided(is_warm_up, Exhausted::Deadline.into());
            let late = Verdict::Inconclusive(Exhausted::Deadline.into());
            let judged = JudgedRound::new(&start, operations, &late).since(began);
            self.keep_judged(judged, None);
            return Ok(true);
        };
        counts.counter = Some(counter);
        if !is_warm_up {
            counts.overlap.add(overlap);
        }
        let rate = calls_per_second(&round.start, &round.history, hello);
        counts.calls_per_second_max = counts.calls_per_second_max.max(rate);
        if self.options.plan.engine == Engine::Native && !is_warm_up {
            self.call_rates.add(round.start.threads, overlap.operations as u64, rate);
        }
        if let Some(steps) = &round.end.steps {
            counts.add_steps(steps, is_warm_up);
        }
        let agrees = match (round.end.judgement, Judgement::of(&verdict)) {
            (Some(theirs), Some(ours)) => theirs == ours,
            _ => true,
        };
        if !agrees {
            let round = round.start.round;
            self.send(Message::Warning(Warning::Misjudged { round }));
        }
        let judged = JudgedRound::new(&start, operations, &verdict).since(began);
        self.keep_judged(judged, Some(&round));
        let counts = &mut self.counts;
        let witness = match verdict {
            Verdict::Consistent => return Ok(agrees),
            // One that was stopped has not answered.
            Verdict::Inconclusive(Undecided::OfModelProgram(why))
                if !self.options.stop.load(Ordering::Relaxed) =>
            {
                bail!("{why}")
            }
            Verdict::Inconclusive(reason) => {
                counts.count_undecided(is_warm_up, reason);
                return Ok(agrees);
            }
            Verdict::Violation(witness) => witness,
        };
        counts.violations += u64::from(!is_warm_up);
        let sequential = alone.is_some();
        let circumstance = sequential.then_some(Circumstance::NoOverlap);
        if let Some(history) = alone {
            round.history = history;
        }
        let (plan, model) = (&self.options.plan, model.to_string());
        let finding = Finding::violation(&witness, circumstance, &round.history, plan, &model);
        if self.recordings.wants(&finding.signature, round.history.len()) {
            harness.kill_after(round.start.round)?;
        }
        self.send_sighting(finding, round, harness.output(), sequential);
        Ok(agrees)
    }

    pub(super) fn check_fault(&mut self, mut fault: Fault) -> Result<()> {
        self.counts.faults += 1;
        let Some((hello, model)) = &self.hello else {
            let adapter = self.options.plan.build.adapter.clone();
            let what = Failure::fault(&fault, Vec::new());
            bail!(FailedAtLoad { adapter, fault: what, output: fault.output });
        };
        fault.locate(&mut self.lines, hello.code);
        let model = *model;
        self.counts.add_fault(&fault);
        let online = self.long_round.take().filter(|online| online.start.round == fault.round);
        let is_long = online.is_some();
        let (verdict, circumstance) = match online {
            // The target overwrote records.
            _ if !fault.complete => (None, None),
            Some(online) => {
                let (verdict, circumstance) = self.end_by_fault(online, &mut fault);
                (Some(verdict), circumstance)
            }
            None => (Some(check::check(&fault.history, &model, &self.limits())), None),
        };
        let (plan, model) = (&self.options.plan, model.to_string());
        let lines = source_text::fault_lines(fault.sources());
        let finding = Finding::fault(&fault, lines, plan, &model);
        let output = std::mem::take(&mut fault.output);
        let round = round_of(fault);
        if !is_long && (self.sends_rounds || self.keeps(round.start.round)) {
            self.send(Message::Round(Box::new(round.clone())));
        }
        self.keep_judged(JudgedRound::fault(&round), (!is_long).then_some(&round));
        if let Some(steps) = &round.end.steps {
            self.counts.add_steps(steps, false);
        }
        if let Some(Verdict::Violation(witness)) = verdict {
            let finding = Finding::violation(&witness, circumstance, &round.history, plan, &model);
            self.recordings.wants(&finding.signature, round.history.len());
            self.send_sighting(finding, round.clone(), output.clone(), false);
        }
        self.recordings.wants(&finding.signature, round.history.len());
        self.send_sighting(finding, round, output, false);
        Ok(())
    }

    pub(super) fn send_sighting(
        &mut self,
        mut finding: Finding,
        round: Round,
        output: String,
        sequential: bool,
    ) {
        finding.round = round.start.round;
        if finding.signature.is_data_race() {
            // It is the last of them itself.
            finding.races_known = self.races[..self.races.len().saturating_sub(1)].to_vec();
        }
        finding.sources = self.options.sources.clone();
        finding.can_be_controlled = self.options.can_be_controlled;
        // The counts come first: the finding stores how many rounds there were before it.
        self.send_counts();
        let Some((hello, _)) = &self.hello else { return };
        let (hello, policy) = (hello.clone(), round.end.steps.as_ref().map(|s| s.policy.clone()));
        let recording = self.recordings.take();
        let sighting = Sighting { finding, hello, round, output, policy, sequential, recording };
        self.send(Message::Seen(Box::new(sighting)));
    }
}

/// The round that a fault ended.
fn round_of(fault: Fault) -> Round {
    let (round, threads) = (fault.round, fault.threads);
    Round {
        start: RoundStart { round, threads, calls: 0, sequential: false, fresh: false },
        end: RoundEnd {
            fault: Some(fault.kind.name()),
            steps: fault.steps,
            ..RoundEnd::new(round, false)
        },
        history: fault.history,
    }
}

/// The rate of the round's calls without the drain, from the first call to the last answer.
pub(super) fn calls_per_second(start: &RoundStart, history: &History, hello: &Hello) -> f64 {
    let callers = history.threads.iter().filter(|t| t.client < start.threads);
    let (mut calls, mut first, mut last) = (0, u64::MAX, 0);
    for thread in callers {
        calls += thread.operations().len();
        first = first.min(thread.operations().first().map_or(u64::MAX, |o| o.start));
        let is_open = |o: &Operation| o.end == NEVER;
        last = last.max(
            thread.operations().last().map_or(0, |o| if is_open(o) { o.start } else { o.end }),
        );
    }
    let seconds = last.saturating_sub(first) as f64 * hello.clock.nanoseconds_per_unit / 1e9;
    if seconds > 0.0 { calls as f64 / seconds } else { 0.0 }
}
